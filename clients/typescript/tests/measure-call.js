// SPDX-License-Identifier: MIT
// What a call costs over the library. Run by clients/measure: the tests do not measure time.
//
// The client, the library (a program in C, which says how long it took) and a ping-pong (a line to
// `cat` and back, over pipes) take turns, so that a busy machine disturbs all three.

import { spawn } from 'node:child_process';

import { Server, Session } from '../src/index.js';

const SAMPLES = Number(process.env.LAZARET_MEASURE_SAMPLES ?? 2000);
const CALLS = 20; // of a tool in one execution
const CODES = [['execution', 'return 1', 1],
  ['tool call', `for i = 1, ${CALLS} do one() end`, CALLS]];

/** A process that answers each line by a line. */
class Peer {
  constructor(command) {
    this._child = spawn(command, { stdio: ['pipe', 'pipe', 'inherit'] });
    this._child.stdout.setEncoding('utf8').on('data', (text) => this._resolve(text));
  }

  ask(line) {
    return new Promise((resolve) => {
      this._resolve = resolve;
      this._child.stdin.write(`${line}\n`);
    });
  }

  close() {
    this._child.stdin.end();
  }
}

async function microseconds(work) {
  const begun = process.hrtime.bigint();
  await work();
  return Number(process.hrtime.bigint() - begun) / 1000;
}

function at(times, part) {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * part)];
}

const library = new Peer(process.argv[2]);
const echo = new Peer('cat');
const server = new Server();
const session = await Session.open({ runtime: 'lua', server,
  tools: [{ name: 'one', execute: () => 1 }] });
for (const [name, code, calls] of CODES) {
  const times = [[], [], []];
  for (let i = 0; i < SAMPLES / calls; i++) {
    times[0].push(await microseconds(() => session.execute(code)) / calls);
    times[1].push(Number(await library.ask(code)) / calls);
    times[2].push(await microseconds(async () => {
      for (let n = 0; n < calls; n++) await echo.ask('x'.repeat(79));
    }) / calls);
  }
  for (const [what, part] of [['median', 0.5], ['10th percentile', 0.1]]) {
    const [client, inside, ping] = times.map((one) => at(one, part));
    console.log(`Session, ${name}, ${what}: client ${client.toFixed()} us, library ` +
      `${inside.toFixed()} us, ping-pong ${ping.toFixed()} us: ratio ` +
      `${((client - inside) / ping).toFixed(1)} (${times[0].length} samples of ${calls})`);
  }
}
library.close();
echo.close();
await session.close();
await server.close();
