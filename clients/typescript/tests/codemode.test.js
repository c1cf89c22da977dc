// SPDX-License-Identifier: MIT
// The Executor for @cloudflare/codemode: by its interface, and below its own tool where it is
// installed.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { LazaretExecutor, description, unwrap } from '../src/codemode.js';
import { guarded, live, runtime as ofRuntime, serverFor } from './support.js';

const codemode = await import('@cloudflare/codemode/browser').catch(() => null);
const withPackage = codemode ? live : { skip: '@cloudflare/codemode is not installed' };

const fns = {
  add: async ({ a, b }) => a + b,
  fail: async () => { throw new Error('no luck'); },
  echo: async (input) => input,
};
const providers = [{ name: 'codemode', fns }, { name: 'other', fns: { one: async () => 1 } }];

const PROGRAMS = {
  python: "x = codemode.add({'a': 1, 'b': 2})\nprint('added')\nx + other.one()",
  r: 'x <- codemode.add(list(a = 1, b = 2))\ncat("added\\n")\nx + other.one()',
  lua: "local x = codemode.add({a = 1, b = 2}) print('added') return x + other.one()",
};

for (const [runtime, code] of Object.entries(PROGRAMS)) {
  test(`${runtime} calls the functions of providers`, live, async (t) => {
    const executor = new LazaretExecutor({ runtime, server: serverFor(t) });
    assert.deepEqual(await executor.execute(code, providers), { result: 4, logs: ['added'] });
  });
}

test('an argument may have any names', live, async (t) => {
  const executor = new LazaretExecutor({ runtime: 'lua', server: serverFor(t) });
  const code = 'return codemode.echo({input = 1, codemode = {2}})';
  assert.deepEqual((await executor.execute(code, fns)).result, { input: 1, codemode: [2] });
});

test('positional arguments are passed on', live, async (t) => {
  const executor = new LazaretExecutor({ runtime: 'python', server: serverFor(t) });
  const provider = { name: 'state', positionalArgs: true, fns: { join: async (...a) => a.join() } };
  assert.equal((await executor.execute('state.join(1, "b")', [provider])).result, '1,b');
});

test('it never throws', live, async (t) => {
  const executor = new LazaretExecutor({ runtime: 'python', server: serverFor(t) });
  const rows = [
    ["print('before')\nraise ValueError('broken')", /broken/],
    ['codemode.fail({})', /no luck/],
    ['codemode.missing({})', /missing/],
    ['print(', /./],
    ['\0', /NUL/],
  ];
  for (const [code, error] of rows) {
    const result = await executor.execute(code, providers);
    assert.equal(result.result, undefined);
    assert.match(result.error, error, code);
  }
  assert.deepEqual((await executor.execute(rows[0][0], [])).logs, ['before']);
  const hasty = new LazaretExecutor({ runtime: 'lua', server: serverFor(t), timeout: 100 });
  assert.match((await hasty.execute('while true do end', [])).error, /./);
  const refused = [
    [[{ name: 'a b', fns }], {}, /cannot be the name/],
    [[providers[0], providers[0]], {}, /two providers/],
    [[{ name: 'a', fns, prelude: 'x' }], {}, /prelude/],
    [[], { connectors: [{}] }, /connectors/],
  ];
  for (const [given, options, error] of refused) {
    assert.match((await executor.execute('1', given, options)).error, error);
  }
  const nowhere = new LazaretExecutor({ runtime: 'cobol', server: serverFor(t) });
  assert.match((await nowhere.execute('async () => 1', [])).error, /cobol/);
});

test('a runtime is a name', guarded, () => {
  assert.throws(() => new LazaretExecutor({ runtime: 5 }), /name of a language/);
});

const javascript = ofRuntime('javascript');

test('JavaScript is run unless a runtime is named', javascript, async (t) => {
  const executor = new LazaretExecutor({ server: serverFor(t) });
  const all = [...providers, { name: 'own', fns: { one: async () => 1 },
    prelude: 'own.twice = async () => 2 * await own.one({});' }];
  const rows = [
    ['async () => { const x = await codemode.add({ a: 1, b: 2 }); console.log("added", [x]);\n' +
      'console.warn("careful"); return x + await other.one(); }',
    { result: 4, logs: ['added [ 3 ]', '[warn] careful'] }],
    ['async () => Promise.all([1, 2, 3].map((b) => codemode.add({ a: 1, b })))',
      { result: [2, 3, 4] }],
    ['```js\n1 + 1\n```', { result: 2 }],
    ['async function main() { return 5; }', { result: 5 }],
    ['(() => 3)(); 4', { result: 4 }],
    ['const x = 2; return x', { result: 2 }],
    ['async () => own.twice()', { result: 2 }],
    ['async () => codemode.echo({ bytes: new Uint8Array([1, 2]), arguments_object: 1 })',
      { result: { bytes: new Uint8Array([1, 2]), arguments_object: 1 } }],
    ['async () => { throw new Error("boom"); }', { result: undefined, error: 'boom' }],
    ['async () => codemode.fail({})', { result: undefined, error: 'no luck' }],
    ['async () => codemode.missing({})', { result: undefined, error: 'Tool "missing" not found' }],
    ['async () => { try { await codemode.fail({}); } catch (e) { return e.message; } }',
      { result: 'no luck' }],
  ];
  for (const [code, expected] of rows) {
    const result = await executor.execute(code, all);
    if (result.result?.bytes) result.result.bytes = new Uint8Array(result.result.bytes);
    assert.deepEqual(result, expected, code);
  }
  assert.match((await executor.execute('async () => {', all)).error, /Unexpected|token/);
  for (const name of ['console', 'Promise', 'lazaret']) {
    assert.match((await executor.execute('1', [{ name, fns }])).error, /is reserved/);
  }
});

test('code that was wrapped for JavaScript is as the model wrote it', guarded, () => {
  const wrapped = (body) => `async () => {\n${body}\n}`;
  const rows = [
    ['python', 'def f():\n    return (1)', 'def f():\n    return (1)'],
    ['python', 'x = 1\nreturn (x + 1)', 'x = 1\nx + 1'],
    ['python', 'return (f("(")\n)', 'f("(")\n'],
    ['python', 'return (x = y)', 'x = y'],
    ['lua', 'return (x = 1)', 'x = 1'],
    ['lua', 'return (x == 1)', 'return (x == 1)'],
    ['r', 'x = 2\nreturn (x)', 'x = 2\nx'],
  ];
  for (const [runtime, body, code] of rows) assert.equal(unwrap(wrapped(body), runtime), code);
  assert.equal(unwrap(wrapped('1'), 'javascript'), wrapped('1'));
  assert.equal(unwrap('x = 1', 'python'), 'x = 1');
});

test('JavaScript below the tool of the package', withPackage === live ? javascript : withPackage,
  async (t) => {
    const made = codemode.createBrowserCodeTool({
      tools: { add: { description: 'Adds.', execute: fns.add, inputSchema: { type: 'object',
        properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] } } },
      executor: new LazaretExecutor({ server: serverFor(t) }),
      description: description(),
    });
    assert.match(made.description, /add: \(input: AddInput\)/);
    const rows = [
      ['async () => { console.log("hello"); return codemode.add({ a: 1, b: 2 }); }',
        { result: 3, logs: ['hello'] }],
      ['const x = await codemode.add({ a: 1, b: 2 }); x * 2', { result: 6 }],
      ['export default async () => 1', { result: 1 }],
      ['function f() { return 2; }', { result: 2 }],
    ];
    for (const [code, result] of rows) assert.deepEqual(await made.execute({ code }), result, code);
    await assert.rejects(made.execute({ code: 'throw new Error("broken")' }),
      /Code execution failed: broken/);
  });

test('below the tool of the package', withPackage, async (t) => {
  const made = codemode.createBrowserCodeTool({
    tools: { add: { description: 'Adds.', execute: fns.add, inputSchema: { type: 'object',
      properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] } } },
    executor: new LazaretExecutor({ runtime: 'python', server: serverFor(t) }),
    description: description('python'),
  });
  assert.match(made.description, /add: \(input: AddInput\)/);
  const rows = [
    ['codemode.add({"a": 1, "b": 2})', { result: 3 }],
    ['x = codemode.add({"a": 1, "b": 2})', { result: null }],
    ['x = codemode.add({"a": 1, "b": 2})\nx * 2', { result: 6 }],
    ['def f(n):\n    return (n)\n\nprint("hello")\nf(codemode.add({"a": 1, "b": 2}))',
      { result: 3, logs: ['hello'] }],
  ];
  for (const [code, result] of rows) assert.deepEqual(await made.execute({ code }), result, code);
  await assert.rejects(made.execute({ code: 'raise ValueError("broken")' }),
    /Code execution failed: [^]*broken/);
});
