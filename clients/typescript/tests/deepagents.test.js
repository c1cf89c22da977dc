// SPDX-License-Identifier: MIT
// The backend for deepagents, with the package itself where it is installed.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Session } from '../src/index.js';
import { deepagentsBackend } from '../src/deepagents.js';
import { guarded, runtime, serverFor } from './support.js';

const deepagents = await import('deepagents').catch(() => null);
const langchain = deepagents && await import('langchain');
const shell = deepagents ? runtime('shell') : { skip: 'the package deepagents is not installed' };

async function backendFor(t, options) {
  const server = serverFor(t, { settings: { 'limits.fsize': '4MiB' } });
  const session = new Session({ runtime: 'shell', server });
  return deepagentsBackend(session, options);
}

test('without the package an error says what to install',
  { ...guarded, skip: deepagents ? 'the package deepagents is installed' : false }, async () => {
    await assert.rejects(deepagentsBackend(new Session({ runtime: 'shell' })),
      /npm install deepagents/);
  });

test('commands', shell, async (t) => {
  const backend = await backendFor(t, { timeout: 5000 });
  assert.ok(deepagents.isSandboxBackend(backend));
  assert.match(backend.directory, /\/work$/);
  const said = await backend.execute('echo out; sleep 0.05; echo err >&2; sleep 0.05; pwd; exit 3');
  assert.deepEqual(said,
    { output: `out\nerr\n${backend.directory}\n`, exitCode: 3, truncated: false });
  const [a, b] = await Promise.all([backend.execute('echo a'), backend.execute('echo b')]);
  assert.deepEqual([a.output, b.output], ['a\n', 'b\n']);
  const late = await (await backendFor(t, { timeout: 100 })).execute('sleep 1000');
  assert.equal(late.exitCode, 124);
  assert.match(late.output, /lazaret: .*timed out/);
});

test('files up and down', shell, async (t) => {
  const backend = await backendFor(t);
  const bytes = new Uint8Array(3 << 20).map((_, i) => i * 3);
  assert.deepEqual(await backend.uploadFiles([['/tmp/new/a b', bytes], ['/usr/x', bytes],
    ['relative', bytes], ['/tmp/new', bytes]]), [
    { path: '/tmp/new/a b', error: null }, { path: '/usr/x', error: 'permission_denied' },
    { path: 'relative', error: 'invalid_path' }, { path: '/tmp/new', error: 'is_directory' }]);
  const down = await backend.downloadFiles(['/tmp/new/a b', '/none', '/tmp/new', 'relative']);
  assert.ok(Buffer.from(bytes).equals(down[0].content));
  assert.deepEqual(down.map(({ error }) => error),
    [null, 'file_not_found', 'is_directory', 'invalid_path']);
  assert.match((await backend.write('/tmp/big', 'x'.repeat(5 << 20))).error, /File too large/);
});

test('the tools for files', shell, async (t) => {
  const backend = await backendFor(t);
  const file = `${backend.directory}/src/it's.py`;
  assert.equal((await backend.write(file, 'one\ntwo\none\n')).path, file);
  assert.equal((await backend.write(file, 'one\ntwo\nthree\n')).path, file);
  assert.match((await backend.read(file, 1, 1)).content, /^ *2\ttwo\n$/);
  assert.match((await backend.read('/none')).error ?? '', /not found/i);
  assert.equal((await backend.readRaw(file)).data.content, 'one\ntwo\nthree\n');
  assert.deepEqual((await backend.edit(file, 'two', '2')).occurrences, 1);
  assert.match((await backend.edit(file, 'e', '', false)).error, /Multiple/);
  await backend.execute('while :; do echo noise; sleep 0.001; done &');
  assert.deepEqual((await backend.ls(backend.directory)).files.map(({ path }) => path)
    .filter((path) => path.includes('src')), [`${backend.directory}/src/`]);
  assert.deepEqual((await backend.grep('2', backend.directory, '*.py')).matches,
    [{ path: file, line: 2, text: '2' }]);
  assert.deepEqual((await backend.glob('**/*.py', backend.directory)).files.map(({ path }) => path),
    ["src/it's.py"]);
  assert.equal((await backend.delete(file)).path, file);
  assert.match((await backend.delete(file)).error, /not found/);
});

test('an agent works in it', shell, async (t) => {
  const backend = await backendFor(t);
  const file = `${backend.directory}/sum.sh`;
  const call = (id, name, args) => [{ id, name, args }];
  const model = new langchain.FakeToolCallingModel({ toolCalls: [
    call('1', 'write_file', { file_path: file, content: 'echo $((6 * 7)) >answer; cat answer\n' }),
    call('2', 'edit_file', { file_path: file, old_string: '7', new_string: '8' }),
    call('3', 'execute', { command: 'bash sum.sh; exit 4' }),
    call('4', 'read_file', { file_path: `${backend.directory}/answer` }),
    [],
  ] });
  const agent = deepagents.createDeepAgent({ model, backend });
  const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'Go.' }] });
  const told = messages.filter((one) => one.getType() === 'tool').map(({ content }) => content);
  assert.equal(told.length, 4, JSON.stringify(told));
  assert.match(told[2], /^48\n\n\[Command failed with exit code 4\]/);
  assert.match(JSON.stringify(told[3]), /48/);
});

test('only a session of the shell is taken', shell, async (t) => {
  await assert.rejects(deepagentsBackend(new Session({ runtime: 'lua', server: serverFor(t) })),
    /must be a Session of the runtime shell/);
});
