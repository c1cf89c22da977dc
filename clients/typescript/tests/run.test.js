// SPDX-License-Identifier: MIT
// Standard input of code, programs in sessions of `shell` and `program`, unknown options.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { LazaretError, Pool, Session, execute } from '../src/index.js';
import { codeOf } from '../src/run.js';
import { MIB, live, lua, runtime, serverFor } from './support.js';

const READ = "return io.read('a')";
const BYTES = new Uint8Array(MIB).map((_, i) => i);

test('the standard input of code', live, async (t) => {
  const server = serverFor(t);
  const pool = new Pool({ runtime: 'lua', size: 1, server });
  const session = new Session({ runtime: 'lua', server });
  for (const run of [(code, options) => session.execute(code, options),
    (code, options) => pool.execute(code, options),
    (code, options) => execute(code, { runtime: 'lua', server, ...options })]) {
    assert.equal((await run(READ, { input: 'two\nlines ä' })).value, 'two\nlines ä');
    const code = "return #io.read('a') + #io.open('in'):read('a')";
    assert.equal((await run(code, { input: BYTES, files: { in: BYTES } })).value, 2 * MIB);
    assert.equal((await run(READ, { input: '' })).value, '');
    assert.equal((await run(READ, { input: 'a' })).value, 'a');
    assert.equal((await run(READ, { input: new DataView(new ArrayBuffer(2)) })).value.length, 2);
  }
  assert.equal((await session.execute(READ)).value, '');
  for await (const { type, result } of session.stream(READ, { input: 'x' })) {
    if (type === 'result') assert.equal(result.value, 'x');
  }
});

test('a standard input that does not fit into a message', live, async (t) => {
  const server = serverFor(t, { settings: { 'session.max_value_size': '4MiB' } });
  const session = new Session({ runtime: 'lua', server });
  const input = new Uint8Array(3.5 * MIB);
  assert.equal((await session.execute("return #io.read('a')", { input })).value, 3.5 * MIB);
  await assert.rejects(execute(READ, { runtime: 'lua', server, input }), RangeError);
});

test('a standard input that is none', live, async (t) => {
  const session = lua(t);
  for (const options of [{ input: 5 }, { input: null },
    { input: 'x', files: { '.stdin': BYTES } }]) {
    await assert.rejects(session.execute('return 1', options), TypeError);
  }
});

test('options that are unknown', live, async (t) => {
  const session = lua(t);
  const pool = new Pool({ runtime: 'lua', server: session._given });
  const unknown = (names) => ({ name: 'TypeError', message: new RegExp(`no option ${names};`) });
  await assert.rejects(session.execute('return 1', { timeOut: 5, tools: [] }),
    unknown('timeOut, tools'));
  await assert.rejects(session.execute('return 1', { wait: 5 }), unknown('wait'));
  await assert.rejects(pool.execute('return 1', { max_tool_calls: 5 }), unknown('max_tool_calls'));
  await assert.rejects(execute('return 1', { runtime: 'lua', size: 5 }), unknown('size'));
  await assert.rejects(execute('return 1', { tools: [], warm: true }), unknown('warm'));
  await assert.rejects(session.run(['ls'], { output: () => 1 }), unknown('output'));
  assert.throws(() => session.stream('return 1', { onProgress: () => 1 }), unknown('onProgress'));
  assert.equal((await pool.execute('return 1', { wait: 60_000, timeout: undefined })).value, 1);
});

test('a value that the prompt would not print', runtime('r'), async (t) => {
  const session = new Session({ runtime: 'r', server: serverFor(t) });
  assert.equal((await session.execute('x <- 5', { invisible: false })).value, null);
  assert.equal((await session.execute('x <- 5', { invisible: true })).value, 5);
});

// ---- programs -----------------------------------------------------------------------------------

const STRANGE = ["it's", '', ' two  words ', '$HOME `id` "x" \\', 'a\nb', '-n', '*', 'ä', "''"];

for (const name of ['shell', 'program']) {
  const options = runtime(name);

  test(`a program in a session of ${name}`, options, async (t) => {
    const session = new Session({ runtime: name, server: serverFor(t) });
    assert.deepEqual(await session.run(['/usr/bin/printf', '[%s]', ...STRANGE]), { status: 0,
      stdout: STRANGE.map((one) => `[${one}]`).join(''), stderr: '', truncated: false });
    const said = await session.run(['sh', '-c', 'echo out; echo err >&2; exit 3']);
    assert.deepEqual([said.status, said.stdout, said.stderr], [3, 'out\n', 'err\n']);
    assert.equal((await session.run(['cat'], { input: 'given' })).stdout, 'given');
    assert.equal((await session.run(['wc', '-c'], { input: BYTES })).stdout.trim(), String(MIB));
    const { status, stderr } = await session.run(['no such program']);
    assert.equal(status, 127);
    assert.match(stderr, /no such program: command not found/);
    assert.equal((await session.run(['sh', '-c', 'kill -9 $$'])).status, 137);
  });

  test(`a directory and variables of a program in a session of ${name}`, options, async (t) => {
    const session = new Session({ runtime: name, server: serverFor(t) });
    const values = { A: "it's", B: '$A\n', C_1: '' };
    const print = ['sh', '-c', 'pwd; printf "<%s>" "$A" "$B" "${C_1-no}"'];
    const both = await session.run(print, { cwd: '/usr/bin', env: values, input: '' });
    assert.equal(both.stdout, "/usr/bin\n<it's><$A\n><>");
    const { stdout } = await session.run(print);
    assert.match(stdout, /\/work\n<><><no>$/);
    await session.run(['mkdir', '--', '-- -']);
    assert.match((await session.run(['pwd'], { cwd: '-- -' })).stdout, /\/work\/-- -\n$/);
    const missing = await session.run(['echo', 'reached'], { cwd: '/no such directory' });
    assert.notEqual(missing.status, 0);
    assert.deepEqual([missing.stdout, /no such directory/.test(missing.stderr)], ['', true]);
    assert.equal((await session.run(['sh', '-c', 'exit 9'], { env: { A: '1' } })).status, 9);
    assert.equal((await session.run(['nothing'], { env: { A: '1' } })).status, 127);
  });

  test(`a program of ${name} that is ended`, options, async (t) => {
    const session = new Session({ runtime: name, server: serverFor(t) });
    await assert.rejects(session.run(['sleep', '1000'], { timeout: 100 }), { name: 'Timeout' });
    const reason = new Error('enough');
    const controller = new AbortController();
    const running = session.run(['sleep', '1000'], { signal: controller.signal });
    setTimeout(() => controller.abort(reason), 100);
    await assert.rejects(running, { name: 'Cancelled', cause: reason });
    assert.equal((await session.run(['echo', 'on'])).stdout, 'on\n');
  });
}

test('a shell keeps what it has', runtime('shell'), async (t) => {
  const session = new Session({ runtime: 'shell', server: serverFor(t) });
  await session.execute('cd /usr; export A=mine; hello() { echo "hello $1"; }');
  assert.equal((await session.run(['pwd'], { cwd: 'bin', env: { A: 'other' } })).stdout,
    '/usr/bin\n');
  assert.equal((await session.run(['sh', '-c', 'echo $A $PWD'])).stdout, 'mine /usr\n');
  assert.equal((await session.run(['hello', 'you'])).stdout, 'hello you\n');
  await session.run(['cd', '/tmp']);
  assert.equal((await session.execute('pwd')).stdout, '/tmp\n');
});

test('what is no program, and no session for one', live, async (t) => {
  const session = new Session({ runtime: 'program', server: serverFor(t) });
  for (const words of ['ls', [], [5], ['a\0'], null]) {
    await assert.rejects(session.run(words), TypeError);
  }
  for (const options of [{ env: { 'A B': '' } }, { env: { A: 5 } }, { env: null }, { cwd: 5 },
    { cwd: '/a\0' }]) {
    await assert.rejects(session.run(['ls'], options), TypeError);
  }
  await assert.rejects(lua(t).run(['ls']), /runtime shell or program can run a program, .* lua/);
  assert.throws(() => codeOf(null, ['ls'], {}), /that of the configuration/);
});

test('a program is refused by a hook', live, async (t) => {
  const session = new Session({ runtime: 'program', server: serverFor(t),
    preExecuteHook: (code) => code !== '["id"]' });
  await assert.rejects(session.run(['id']), { name: 'Blocked' });
  assert.ok(await session.run(['true']).catch((error) => error) instanceof LazaretError === false);
});
