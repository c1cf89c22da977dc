// SPDX-License-Identifier: MIT
// What the tests have in common.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { Server, Session } from '../src/index.js';
import { findProgram } from '../src/program.js';

export const INDEX = new URL('../src/index.js', import.meta.url).href;
export const MIB = 1 << 20;
const GUARD = 600_000; // milliseconds; a test that takes longer hangs

/** Why the tests that need the program are skipped; where it is a must, there is no reason. */
function whyMissing() {
  try {
    findProgram(undefined);
    return '';
  } catch (error) {
    if (process.env.LAZARET_TEST_NEED) throw error; // the whole file fails
    return error.message;
  }
}

/** Options of tests, and of those that need the program. */
export const guarded = { timeout: GUARD };
const missing = whyMissing();
export const live = missing ? { skip: missing } : guarded;

/** Options of tests of a runtime that is not built everywhere. */
export function runtime(name) {
  if (missing) return live;
  const { stdout } = spawnSync(findProgram(undefined), ['plugins'], { encoding: 'utf8' });
  return new RegExp(`^runtime +${name} `, 'm').test(stdout) ? guarded
    : { skip: `there is no runtime ${name}` };
}

const SETTINGS = { 'session.max_message_size': '32MiB', 'limits.memory': '128MiB',
  'session.interrupt_grace': 60 }; // a busy machine needs more than a second

/** A server, closed after the test. */
export function serverFor(t, options = {}) {
  const server = new Server({ settings: SETTINGS, ...options });
  t.after(() => server.close());
  return server;
}

/** A session of Lua with these tools, on a server of its own. */
export function lua(t, ...tools) {
  return new Session({ runtime: 'lua', tools, server: serverFor(t) });
}

/** A directory, removed after the test. */
export function temporary(t) {
  const directory = mkdtempSync(join(tmpdir(), 'lazaret-'));
  t.after(() => rmSync(directory, { recursive: true }));
  return directory;
}

export function path(relative) {
  return fileURLToPath(new URL(relative, import.meta.url));
}

/** A program in JavaScript, in a process group of its own, killed after the test. */
export function start(t, program, flags = []) {
  const code = program.replaceAll('@lazaret/client', INDEX);
  const child = spawn(process.execPath, [...flags, '--input-type=module', '-e', code],
    { detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  t.after(() => child.kill('SIGKILL'));
  child.output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    child.output += text;
  });
  child.errors = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    child.errors += text;
  });
  child.closed = once(child, 'close');
  return child;
}

/** Wait until something is true; the timeout of the test ends this otherwise. */
export async function until(is) {
  for (let found; ; await sleep(10)) {
    found = await is();
    if (found) return found;
  }
}

/** Has a process ended? What nobody has waited for still has a number. */
export function isGone(pid) {
  try {
    process.kill(pid, 0);
  } catch {
    return true;
  }
  try {
    return /\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return process.platform === 'linux';
  }
}

/** A promise and the function that resolves it. */
export function deferred() {
  let resolve;
  const promise = new Promise((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
