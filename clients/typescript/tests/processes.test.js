// SPDX-License-Identifier: MIT
// Servers, sockets, signals, and the end of the program that uses the package.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { Server, Session, execute } from '../src/index.js';
import { findProgram } from '../src/program.js';
import { MIB, isGone, live, serverFor, start, temporary, until } from './support.js';

const FOREVER = 'while true do end';

test('a killed server is WorkerLost for all that wait', live, async (t) => {
  const server = serverFor(t);
  const kill = { name: 'kill', execute: () => void process.kill(server.pid, 'SIGKILL') };
  const session = new Session({ runtime: 'lua', tools: [kill], server });
  const other = await Session.open({ runtime: 'lua', server });
  const all = await Promise.allSettled([other.execute(FOREVER), other.describe(),
    session.execute(`kill() ${FOREVER}`)]);
  for (const { reason } of [all[0], all[2]]) {
    assert.equal(reason?.name, 'WorkerLost');
    assert.match(reason.message, /SIGKILL/);
  }
  assert.deepEqual([server.isAlive, await session.isAlive()], [false, false]);
  await assert.rejects(session.execute('return 1'), { name: 'WorkerLost' });
  await session.close();
});

test('configuration, settings, environment and log', live, async (t) => {
  const config = join(temporary(t), 'lazaret.toml');
  writeFileSync(config, '[session]\nruntime = "lua"\n[env.set]\nA = "1"\nB = "1"\n');
  const server = serverFor(t, { config, settings: { 'env.set.B': 'true "ä' } });
  assert.deepEqual((await execute("return os.getenv('A'), os.getenv('B')",
    { runtime: null, server })).value, ['1', 'true "ä']);
  assert.match(server.version, /^\d+\.\d+/);
  const lines = [];
  const wrong = serverFor(t,
    { settings: { 'session.timout': 1 }, log: (line) => lines.push(line) });
  await assert.rejects(wrong.start(), { name: 'SetupFailed', message: /session\.timout/ });
  assert.match(lines.join(), /session\.timout/);
  const bare = new Server({ env: { LAZARET: 'nonexistent' } });
  await assert.rejects(bare.start(), { name: 'SetupFailed', message: /\$LAZARET/ });
});

test('tools of a server', live, async (t) => {
  const server = serverFor(t);
  await server.register([{ name: 'one', execute: () => 1 }]);
  assert.equal((await execute('return one()', { runtime: 'lua', server })).value, 1);
});

test('a program ends by itself, and its server with it', live, async (t) => {
  const child = start(t, `
    import { Session, defaultServer } from '@lazaret/client';
    const session = new Session({ runtime: 'lua' });
    console.log((await session.execute('return 7')).value, defaultServer().pid);`);
  assert.deepEqual(await child.closed, [0, null], child.errors);
  const [value, pid] = child.output.split(' ').map(Number);
  assert.equal(value, 7);
  await until(() => isGone(pid));
});

for (const end of ['exit', 'SIGKILL', 'SIGINT']) {
  test(`a program leaves no server behind: ${end}`, live, async (t) => {
    const child = start(t, `
      import { Session, defaultServer } from '@lazaret/client';
      const session = await Session.open({ runtime: 'lua' });
      process.stdin.on('data', () => process.exit(4));
      await session.execute("print('x') ${FOREVER}",
        { output: () => console.log(defaultServer().pid) });`);
    await until(() => child.output.includes('\n'));
    if (end === 'exit') child.stdin.write('go on');
    else child.kill(end);
    assert.deepEqual(await child.closed, end === 'exit' ? [4, null] : [null, end]);
    await until(() => isGone(Number(child.output)));
  });
}

test('a thread that is ended in a flood leaves no server behind', live, async (t) => {
  const child = start(t, `
    import { Worker } from 'node:worker_threads';
    const worker = new Worker(\`
      import('@lazaret/client').then(async ({ Session, defaultServer }) => {
        const { parentPort } = await import('node:worker_threads');
        const session = await Session.open({ runtime: 'lua' });
        await session.execute("while true do io.write(string.rep('x', 65536)) end",
          { output: () => parentPort.postMessage(defaultServer().pid) });
      });\`, { eval: true });
    worker.once('message', async (pid) => {
      await worker.terminate();
      console.log(pid);
    });`);
  assert.deepEqual(await child.closed, [0, null], child.errors);
  await until(() => isGone(Number(child.output)));
});

test('a server that is killed while a large answer is written', live, async (t) => {
  const server = serverFor(t, { settings: { 'limits.memory': '1GiB' } });
  const big = () => {
    setImmediate(() => process.kill(server.pid, 'SIGKILL'));
    return 'b'.repeat(60 * MIB);
  };
  const session = new Session({ runtime: 'lua', tools: [{ name: 'big', execute: big }], server });
  await assert.rejects(session.execute('while true do big() end'), { name: 'WorkerLost' });
  await session.close();
});

test('Ctrl-C reaches the program alone', live, async (t) => {
  const child = start(t, `
    import { Session } from '@lazaret/client';
    const session = await Session.open({ runtime: 'lua' });
    const controller = new AbortController();
    process.once('SIGINT', () => controller.abort());
    await session.execute("print('ready') ${FOREVER}",
      { output: (stream, text) => process.stdout.write(text), signal: controller.signal })
      .catch(async (error) => {
        console.log(error.name, (await session.execute('return 7')).value);
      });`);
  await until(() => child.output === 'ready\n');
  process.kill(-child.pid, 'SIGINT');
  assert.deepEqual(await child.closed, [0, null], child.errors);
  assert.equal(child.output, 'ready\nCancelled 7\n');
});

test('a session that is no longer used is closed, but not one that runs', live, async (t) => {
  const child = start(t, `
    import { setImmediate } from 'node:timers/promises';
    import { Server, Session } from '@lazaret/client';
    const server = new Server({ settings: { 'pool.max_sessions': 1 } });
    const collect = async () => {
      for (let i = 0; i < 5; i++) {
        await setImmediate();
        gc();
      }
    };
    const options = { runtime: 'lua', tools: [{ name: 'collect', execute: collect }], server };
    const running = (await Session.open(options)).execute('collect() return 5');
    console.log((await running).value);
    for (let i = 0; ; i++) {
      await collect();
      const other = await Session.open({ runtime: 'lua', server }).catch(() => null);
      if (!other) continue;
      console.log('closed');
      break;
    }`, ['--expose-gc']);
  assert.deepEqual(await child.closed, [0, null], child.errors);
  assert.equal(child.output, '5\nclosed\n');
});

test('two clients at a socket', live, async (t) => {
  const socket = join(temporary(t), 'socket');
  const listening = spawn(findProgram(undefined), ['serve', '--listen', socket],
    { detached: true, stdio: 'ignore' });
  t.after(() => listening.kill('SIGKILL'));
  const connect = async () => {
    const server = new Server({ path: socket });
    return server.start().then(() => server, () => null);
  };
  const one = await until(connect);
  const two = await connect();
  const tools = [{ name: 'pid', execute: () => process.pid }];
  const first = new Session({ runtime: 'lua', tools, server: one });
  const second = new Session({ runtime: 'lua', server: two });
  assert.equal((await first.execute('return pid()')).value, process.pid);
  assert.equal((await second.execute('return 2')).value, 2);
  assert.equal(one.pid, undefined);
  await two.close();
  await assert.rejects(second.execute('return 1'), { name: 'WorkerLost' });
  const ended = once(listening, 'exit');
  listening.kill('SIGTERM');
  await ended; // before that it reports what still runs as cancelled
  await assert.rejects(first.execute('return 1'), { name: 'WorkerLost' });
});
