// SPDX-License-Identifier: MIT
// The Executor for @cloudflare/codemode: by its interface, and below its own tool where it is
// installed.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { LazaretExecutor, description, unwrap } from '../src/codemode.js';
import { guarded, live, serverFor } from './support.js';

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
  const nowhere = new LazaretExecutor({ runtime: 'javascript', server: serverFor(t) });
  assert.match((await nowhere.execute('async () => 1', [])).error, /javascript/);
});

test('a runtime has to be named', guarded, () => {
  assert.throws(() => new LazaretExecutor(), /none for JavaScript yet/);
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
