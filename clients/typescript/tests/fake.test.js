// SPDX-License-Identifier: MIT
// Servers that speak the protocol wrongly; the program is not needed.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { Server, execute } from '../src/index.js';
import { guarded, isGone, path, until } from './support.js';

/** A server that the stand-in is. */
function fake(t, mode, options = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'lazaret-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const program = join(directory, 'lazaret');
  const command = `exec '${process.execPath}' '${path('fake-server.js')}' ${mode}`;
  writeFileSync(program, `#!/bin/sh\n${command}\n`, { mode: 0o755 });
  const server = new Server({ program, ...options });
  t.after(() => server.close());
  return server;
}

for (const [mode, message, options] of [
  ['silent', /has not answered in 100 ms/, { startTimeout: 100 }],
  ['version', /speaks version 2 of the protocol, and this package version 1/],
  ['late', /first message is done, and not hello/],
  ['greeting', /what is not a message/],
  ['dies', /ended with status 3: line one \| no luck/],
]) {
  test(`a server that greets so: ${mode}`, guarded, async (t) => {
    const lines = [];
    const server = fake(t, mode, { ...options, log: (line) => lines.push(line) });
    for (let i = 0; i < 2; i++) {
      await assert.rejects(execute('1', { server }), { name: 'SetupFailed', message });
    }
    assert.equal(server.isAlive, false);
    if (mode === 'dies') assert.deepEqual(lines, ['line one', 'no luck']);
    await until(() => isGone(server.pid));
  });
}

for (const [mode, message] of [
  ['rubbish', /what is not a message/], ['text', /a message has a type/],
  ['members', /output has no valid text/], ['wrong', /answered a request by done/],
  ['half', /ended with status 0/], ['failed', /line 1 is not JSON/], ['killed', /by signal SIGKILL/],
]) {
  test(`a server that answers so: ${mode}`, guarded, async (t) => {
    const server = fake(t, mode);
    const all = await Promise.allSettled([1, 2, 3].map((i) => execute(String(i), { server })));
    for (const { reason } of all) {
      assert.equal(reason?.name, 'WorkerLost');
      assert.match(reason.message, message);
    }
    await assert.rejects(execute('1', { server }), { name: 'WorkerLost', message });
    await until(() => isGone(server.pid));
  });
}

for (const mode of ['twice', 'more', 'slices', 'tool']) {
  test(`what is strange but understood: ${mode}`, guarded, async (t) => {
    const { value } = await execute('1', { server: fake(t, mode) });
    assert.equal(value, mode === 'tool' ? "Error: this client has no tool 'nobody'" : 'äöü');
  });
}

test('artifacts that were corrupted or dropped', guarded, async (t) => {
  await assert.rejects(execute('1', { server: fake(t, 'corrupted') }),
    { name: 'WorkerLost', message: /SHA-256/ });
  const { artifacts } = await execute('1', { server: fake(t, 'dropped') });
  assert.deepEqual([artifacts[0].data, artifacts[0].dropped], [null, true]);
});

test('a server that was closed before it started', guarded, async () => {
  const server = new Server({ program: '/nonexistent' });
  await server.close();
  await assert.rejects(execute('1', { server }), { name: 'WorkerLost', message: /was closed/ });
});

test('a program that is not a program', guarded, async (t) => {
  await assert.rejects(execute('1', { server: new Server({ program: '/nonexistent' }) }),
    { name: 'SetupFailed', message: /not a program that can be executed/ });
  assert.throws(() => new Server({ path: '/x', program: 'y' }), TypeError);
  await assert.rejects(new Server({ path: join(tmpdir(), 'no', 'socket') }).start(),
    { name: 'SetupFailed', message: /cannot connect to/ });
});
