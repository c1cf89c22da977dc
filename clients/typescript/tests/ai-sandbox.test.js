// SPDX-License-Identifier: MIT
// The sandbox of the Vercel AI SDK, also with the package itself where it is installed.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Session } from '../src/index.js';
import { aiSandbox } from '../src/ai-sandbox.js';
import { MIB, runtime, serverFor, until } from './support.js';

const ai = await import('ai').catch(() => null);
const mocks = ai && await import('ai/test');
const shell = runtime('shell');

async function sandboxFor(t, options = {}) {
  const session = new Session({ runtime: 'shell', server: serverFor(t) });
  return { session, sandbox: await aiSandbox(session, options) };
}

/** All bytes of a stream. */
async function all(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

test('commands, each in a shell of its own', shell, async (t) => {
  const { session, sandbox } = await sandboxFor(t);
  assert.match(sandbox.description, /without network.* begin in \/.*\/work\. Files last/);
  const told = await sandbox.run({ command: 'pwd; echo $A; echo err >&2; cd /; A=2; exit 3',
    env: { A: "it's" } });
  assert.deepEqual(told, { exitCode: 3, stdout: told.stdout, stderr: 'err\n' });
  assert.match(told.stdout, /\/work\nit's\n$/);
  assert.match((await sandbox.run({ command: 'pwd; echo "<$A>"' })).stdout, /\/work\n<>\n$/);
  assert.equal((await sandbox.run({ command: 'pwd', workingDirectory: '/usr' })).stdout, '/usr\n');
  await session.execute('cd /usr');
  await sandbox.run({ command: 'mkdir -p sub/dir; rm -rf "$PWD"' });
  assert.match((await sandbox.run({ command: 'mkdir sub; pwd' })).stdout, /\/work\n$/);
  assert.match((await sandbox.run({ command: 'pwd', workingDirectory: 'sub' })).stdout,
    /\/work\/sub\n$/);
  assert.match((await sandbox.run({ command: 'if' })).stderr, /syntax error/);
});

test('commands that lazaret ends', shell, async (t) => {
  const { sandbox } = await sandboxFor(t, { timeout: 100 });
  const late = await sandbox.run({ command: 'echo begun; sleep 1000' });
  assert.deepEqual([late.exitCode, late.stdout], [124, 'begun\n']);
  assert.match(late.stderr, /^lazaret: .*timed out/);
  const killed = await sandbox.run({ command: 'kill -9 $PPID' });
  assert.equal(killed.exitCode, 137);
  assert.match((await sandbox.run({ command: 'echo on' })).stderr, /^lazaret: this is a new box/);
  assert.equal((await sandbox.run({ command: 'echo on' })).stderr, '');
});

test('a signal', shell, async (t) => {
  const { sandbox } = await sandboxFor(t);
  const reason = new Error('enough');
  const controller = new AbortController();
  const options = { abortSignal: controller.signal };
  const running = [sandbox.run({ command: 'sleep 1000', ...options }),
    sandbox.run({ command: 'touch /tmp/never', ...options }),
    sandbox.readTextFile({ path: '/etc/passwd', ...options })];
  setTimeout(() => controller.abort(reason), 100);
  for (const one of await Promise.allSettled(running)) assert.equal(one.reason, reason);
  assert.equal(await sandbox.stat({ path: '/tmp/never' }), null);
});

test('files of bytes', shell, async (t) => {
  const { sandbox } = await sandboxFor(t);
  const bytes = new Uint8Array(5 * MIB).map((_, i) => i * 7 + (i >> 9));
  const path = "new/it's here";
  for (const content of [bytes, bytes.subarray(0, 2 * MIB), new Uint8Array(0),
    Uint8Array.of(0, 10, 255)]) {
    await sandbox.writeBinaryFile({ path, content });
    assert.ok(Buffer.from(content).equals(await sandbox.readBinaryFile({ path })));
    assert.ok(Buffer.from(content).equals(await all(await sandbox.readFile({ path }))));
    await sandbox.writeFile({ path: '/tmp/stream', content: new Blob([content]).stream() });
    assert.ok(Buffer.from(content).equals(await sandbox.readBinaryFile({ path: '/tmp/stream' })));
  }
  assert.deepEqual(await sandbox.stat({ path: '/tmp/stream' }), { type: 'file', size: 3 });
});

test('files of text', shell, async (t) => {
  const { sandbox } = await sandboxFor(t);
  await sandbox.writeTextFile({ path: 'a', content: 'one\ntwo\nthree ä' });
  const lines = async (range) => sandbox.readTextFile({ path: 'a', ...range });
  assert.equal(await lines(), 'one\ntwo\nthree ä');
  assert.equal(await lines({ startLine: 2 }), 'two\nthree ä');
  assert.equal(await lines({ startLine: 1, endLine: 2 }), 'one\ntwo');
  assert.equal(await lines({ startLine: 3, endLine: 99 }), 'three ä');
  await sandbox.writeTextFile({ path: 'a', content: 'ä', encoding: 'utf-16le' });
  assert.deepEqual([...await sandbox.readBinaryFile({ path: 'a' })], [0xe4, 0]);
  assert.equal(await lines({ encoding: 'utf-16le' }), 'ä');
  await assert.rejects(sandbox.writeTextFile({ path: 'a', content: '', encoding: 'x' }), TypeError);
  await assert.rejects(lines({ encoding: 'x' }), RangeError);
});

test('directories, links and what is missing', shell, async (t) => {
  const server = serverFor(t, { settings: { 'limits.fsize': '4MiB' } });
  const sandbox = await aiSandbox(new Session({ runtime: 'shell', server }));
  await sandbox.run({ command:
    'mkdir -p "d/a b"; touch d/.h "d/x\ny"; ln -s none d/l; mkfifo d/p' });
  const listed = await sandbox.listDirectory({ path: 'd' });
  assert.deepEqual(listed.sort((a, b) => (a.name < b.name ? -1 : 1)), [
    { name: '.h', type: 'file' }, { name: 'a b', type: 'directory' },
    { name: 'l', type: 'symlink' }, { name: 'p', type: 'other' }, { name: 'x\ny', type: 'file' }]);
  assert.deepEqual((await sandbox.stat({ path: 'd' })).type, 'directory');
  assert.deepEqual((await sandbox.stat({ path: 'd/p' })).type, 'other');
  for (const method of ['readFile', 'readBinaryFile', 'readTextFile', 'stat', 'listDirectory']) {
    assert.equal(await sandbox[method]({ path: 'd/none' }), null);
    if (method !== 'listDirectory') assert.equal(await sandbox[method]({ path: 'd/l' }), null);
  }
  assert.equal(await sandbox.deleteFile({ path: 'd/l' }), true);
  assert.equal(await sandbox.deleteFile({ path: 'd/l' }), false);
  for (const [given, message] of [
    [() => sandbox.deleteFile({ path: 'd' }), /directory/],
    [() => sandbox.readBinaryFile({ path: 'd' }), /directory/],
    [() => sandbox.writeTextFile({ path: 'd', content: '' }), /directory/],
    [() => sandbox.listDirectory({ path: 'd/.h' }), /Not a directory/],
    [() => sandbox.readBinaryFile({ path: 'd/p' }), /Not a file/],
    [() => sandbox.readBinaryFile({ path: '/dev/zero' }), /Not a file/],
    [() => sandbox.writeTextFile({ path: '/usr/new', content: '' }), /Read-only|denied/],
    [() => sandbox.readTextFile({}), /a path is a text/],
    [() => sandbox.writeBinaryFile({ path: 'x', content: new Uint8Array(5 * MIB) }), /too large/],
  ]) {
    await assert.rejects(given, message);
  }
});

test('jobs in the background do not get into files', shell, async (t) => {
  const { sandbox } = await sandboxFor(t);
  await sandbox.run({ command: 'while :; do echo noise; sleep 0.001; done &' });
  for (let i = 0; i < 20; i++) {
    await sandbox.writeTextFile({ path: 'a', content: String(i) });
    assert.equal(await sandbox.readTextFile({ path: 'a' }), String(i));
  }
});

test('processes', shell, async (t) => {
  const { sandbox } = await sandboxFor(t);
  const command = 'echo "$A" $PWD; until [ -e go ]; do sleep 0.01; done; ' +
    'echo end; echo e >&2; exit 5';
  const spawned = await sandbox.spawn({ command, env: { A: '1' } });
  assert.ok(spawned.pid > 0 && !('stdin' in spawned));
  const reader = spawned.stdout.getReader();
  assert.match(Buffer.from((await reader.read()).value).toString(), /^1 \/.*\/work\n$/);
  reader.releaseLock();
  await sandbox.run({ command: 'touch go' }); // it runs meanwhile
  assert.equal((await all(spawned.stdout)).toString(), 'end\n');
  assert.equal((await all(spawned.stderr)).toString(), 'e\n');
  assert.deepEqual(await spawned.wait(), { exitCode: 5 });
  const left = await sandbox.listDirectory({ path: '/tmp' });
  assert.deepEqual(left.map(({ name }) => name), ['work']);
  const much = await sandbox.spawn({ command: 'head -c 5000000 /dev/zero' });
  assert.equal((await all(much.stdout)).length, 5_000_000);
  await assert.rejects(sandbox.spawn({ command: 'cat', stdin: true }), /standard input/);
});

test('processes that are ended', shell, async (t) => {
  const { sandbox } = await sandboxFor(t);
  const killed = await sandbox.spawn({ command: 'sleep 1000 & sleep 1000' });
  await killed.kill();
  await killed.kill();
  assert.deepEqual(await killed.wait(), { exitCode: 137 });
  const controller = new AbortController();
  const aborted = await sandbox.spawn({ command: 'sleep 1000', abortSignal: controller.signal });
  const reason = new Error('enough');
  controller.abort(reason);
  await assert.rejects(aborted.wait(), reason);
  await until(async () => (await sandbox.run({ command: 'pgrep sleep' })).stdout === '');
  const lost = await sandbox.spawn({ command: 'sleep 1000' });
  await sandbox.run({ command: 'kill -9 $PPID' });
  await assert.rejects(lost.wait(), /gone with its box/);
});

test('tools are named, and only a session of the shell is taken', shell, async (t) => {
  const server = serverFor(t);
  const tools = [{ name: 'price', parameters: [{ name: 'item', type: 'string' }],
    execute: ({ item }) => `${item}: 2.5` }];
  const session = new Session({ runtime: 'shell', tools, server });
  const sandbox = await aiSandbox(session);
  assert.equal((await sandbox.run({ command: 'price tea | cat' })).stdout, 'tea: 2.5\n');
  assert.match(sandbox.description, /Functions of the host are commands \(NAME --help\): price\./);
  assert.equal((await aiSandbox(session, { description: 'mine' })).description, 'mine');
  for (const wrong of [{}, new Session({ runtime: 'lua', server })]) {
    await assert.rejects(aiSandbox(wrong), /must be a Session of the runtime shell/);
  }
});

test('a model uses the sandbox by a tool of the SDK',
  ai ? shell : { skip: 'the package ai is not installed' }, async (t) => {
    const { sandbox } = await sandboxFor(t);
    const bash = ai.tool({
      description: ({ experimental_sandbox: given }) => `Runs a command. ${given.description}`,
      inputSchema: ai.jsonSchema({ type: 'object', properties: { command: { type: 'string' } } }),
      execute: ({ command }, { experimental_sandbox: given, abortSignal }) =>
        given.run({ command, abortSignal }),
    });
    const told = [];
    const model = new mocks.MockLanguageModelV3({
      doGenerate: async ({ prompt, tools }) => {
        const result = prompt.findLast(({ role }) => role === 'tool');
        told.push({ tools, output: result?.content[0].output });
        const input = JSON.stringify({ command: 'echo $((6 * 7))' });
        return {
          content: told.length === 2 ? [{ type: 'text', text: 'done' }]
            : [{ type: 'tool-call', toolCallId: '1', toolName: 'bash', input }],
          finishReason: { unified: told.length === 2 ? 'stop' : 'tool-calls', raw: undefined },
          usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
          warnings: [],
        };
      },
    });
    const { text } = await ai.generateText({ model, tools: { bash }, experimental_sandbox: sandbox,
      stopWhen: ai.stepCountIs(3), prompt: 'Go.' });
    assert.equal(text, 'done');
    assert.match(told[0].tools[0].description, /^Runs a command. Commands run by bash in a /);
    assert.deepEqual(told[1].output,
      { type: 'json', value: { exitCode: 0, stdout: '42\n', stderr: '' } });
  });
