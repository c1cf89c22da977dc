// SPDX-License-Identifier: MIT
// Declarations of tools; neither the program nor zod is needed. Where zod is found (for example by
// NODE_PATH), its versions are tried, too.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';

import { CalendarDate, Session, Tool, tool } from '../src/index.js';

const execute = (args) => args;

function declared(parameters) {
  const made = tool({ name: 'x', parameters, execute });
  return Object.fromEntries(made.declaration.parameters.map(({ name, ...rest }) => [name, rest]));
}

test('a list of parameters is taken as it is', () => {
  const made = tool({
    name: 'get-user', description: 'a\0', timeout: 0.5, maxConcurrent: 3, execute,
    parameters: [{ name: 'a', type: 'integer', enum: [1, 2n ** 60n] },
      { name: 'b', default: new CalendarDate('2024-01-31'), description: 'day' }],
  });
  assert.deepEqual(made.declaration, {
    name: 'get-user', description: 'a\ufffd', timeout_ms: 1, max_concurrent: 3,
    parameters: [{ name: 'a', type: 'integer', enum: [1, { $int: String(2n ** 60n) }] },
      { name: 'b', default: { $date: '2024-01-31' }, description: 'day' }],
  });
  assert.deepEqual(tool({ name: 'none', execute }).declaration.parameters, []);
});

test('what a tool returns is declared', () => {
  const returns = { type: 'object', properties: { name: { type: 'string' } } };
  assert.deepEqual(tool({ name: 'one', execute, returns }).declaration.returns, returns);
  for (const wrong of ['string', [], null]) {
    assert.throws(() => tool({ name: 'one', execute, returns: wrong }), /'returns' of tool 'one'/);
  }
});

test('a JSON Schema becomes parameters', async () => {
  const schema = {
    type: 'object',
    properties: {
      text: { type: 'string', description: 'it' },
      limit: { type: 'integer', default: 5 },
      maybe: { type: ['number', 'null'] },
      list: { $ref: '#/$defs/List' },
      order: { enum: ['up', 'down', null] },
      one: { const: 1 },
      either: { anyOf: [{ type: 'boolean' }, { type: 'null' }] },
      any: true,
      two: { type: ['string', 'number'] },
      elsewhere: { $ref: 'http://example.com/' },
    },
    required: ['text', 'limit', 'maybe', 'list', 'any'],
    $defs: { List: { type: 'array' } },
  };
  assert.deepEqual(declared(schema), {
    text: { type: 'string', description: 'it', required: true },
    limit: { type: 'integer', default: 5, required: false },
    maybe: { type: 'number', required: false },
    list: { type: 'array', required: true },
    order: { type: 'string', enum: ['up', 'down'], required: false },
    one: { type: 'number', enum: [1], required: false },
    either: { type: 'boolean', required: false },
    any: { required: true },
    two: { required: false },
    elsewhere: { required: false },
  });
  const made = tool({ name: 'x', parameters: schema, execute });
  assert.deepEqual(await made.call({ text: 'a', list: [{ $int: '9' }] }, {}),
    { text: 'a', list: [9n], maybe: null, any: null });
});

/** Schemas as those of zod 3 and of zod 4 look inside. */
const stand = {
  3: (type, def = {}, more = {}) => ({ _def: { typeName: `Zod${type}`, ...def }, ...more }),
  4: (name, def = {}, more = {}) => {
    const type = name.toLowerCase();
    return { _zod: { def: { type, ...def } }, ...more };
  },
};

for (const [version, zod] of Object.entries(stand)) {
  test(`stand-ins for zod ${version}`, async () => {
    const shape = {
      a: zod('Number', { checks: [] }, { isInt: true, description: 'it' }),
      b: zod('Optional', { innerType: zod('String') }),
      c: zod('Nullable', { innerType: zod('Default', {
        innerType: zod('Boolean'), defaultValue: version === '3' ? () => true : true }) }),
      d: zod('Literal', version === '3' ? { value: 'x' } : { values: ['x'] }),
      e: zod('Nullable', { innerType: zod('Array') }),
      f: zod('Set'),
      g: zod('Unheard'),
    };
    const schema = zod('Object', { shape: version === '3' ? () => shape : shape }, {
      parse(values) {
        if (values.a > 1) {
          throw Object.assign(new Error('long'), { issues: [{ path: ['a'], message: 'too big' }] });
        }
        return { ...values, parsed: true };
      },
    });
    assert.deepEqual(declared(schema), {
      a: { type: 'integer', description: 'it', required: true },
      b: { type: 'string', required: false },
      c: { type: 'boolean', default: true, required: false },
      d: { type: 'string', enum: ['x'], required: true },
      e: { type: 'array', required: false },
      f: { type: 'array', required: true },
      g: { required: true },
    });
    const made = tool({ name: 'x', parameters: schema, execute });
    assert.deepEqual(await made.call({ a: 1, f: [1, 1] }, {}),
      { a: 1, e: null, f: new Set([1]), parsed: true });
    await assert.rejects(made.call({ a: 2 }, {}),
      { name: 'ToolError', message: "Tool 'x': a: too big" });
  });
}

function zodOf(name) {
  try {
    return createRequire(import.meta.url)(name);
  } catch {
    return undefined;
  }
}

for (const name of ['zod', 'zod/v3']) {
  const z = zodOf(name)?.z;
  test(`schemas of ${name}`, { skip: z ? false : 'it is not installed' }, async () => {
    const schema = z.object({
      text: z.string().min(1).describe('it'), whole: z.number().int().default(4),
      choice: z.enum(['p', 'q']).optional(), big: z.bigint(), when: z.date().nullable(),
      either: z.union([z.literal('a'), z.literal('b')]),
      size: z.string().transform((s) => s.length),
      any: z.any(), items: z.array(z.object({ n: z.number() })).readonly(),
    }).strict();
    assert.deepEqual(declared(schema), {
      text: { type: 'string', description: 'it', required: true },
      whole: { type: 'integer', default: 4, required: false },
      choice: { type: 'string', enum: ['p', 'q'], required: false },
      big: { type: 'integer', required: true }, when: { required: true },
      either: { type: 'string', enum: ['a', 'b'], required: true },
      size: { type: 'string', required: true }, any: { required: false },
      items: { type: 'array', required: true },
    });
    const made = tool({ name: 'x', parameters: schema, execute });
    const args = { text: 't', big: 5, when: { $time: '2024-01-31T00:00:00Z' }, either: 'a',
      size: 'four', any: 0, items: [] };
    assert.deepEqual(await made.call(args, {}), { text: 't', whole: 4, big: 5n, either: 'a',
      when: new Date('2024-01-31'), size: 4, any: 0,
      items: [] });
    await assert.rejects(made.call({ ...args, text: '' }, {}), /^ToolError: Tool 'x': text: /);
  });
}

test('wrong tools are refused', () => {
  for (const options of [{ execute }, { name: '', execute }, { name: 'a' },
    { name: 'a', execute, parameters: { a: 'string' } },
    { name: 'a', execute, parameters: { type: 'array' } },
    { name: 'a', execute, parameters: stand[4]('String') }]) {
    assert.throws(() => tool(options), TypeError);
  }
  assert.throws(() => tool({ name: 'a', execute, timeout: -1 }), RangeError);
  assert.throws(() => tool({ name: 'a', execute, maxConcurrent: 0.5 }), RangeError);
  const one = { name: 'a', execute };
  assert.throws(() => new Session({ tools: [one, new Tool(one)] }), /two tools/);
  assert.throws(() => new Session({ tools: one }), /list of tools/);
  assert.throws(() => new Session({ runtime: 5 }), TypeError);
});
