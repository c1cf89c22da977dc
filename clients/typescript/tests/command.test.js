// SPDX-License-Identifier: MIT
// The command of @lazaret/cli ends, and is ended, as the program is; the client finds the program in that package.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { guarded, temporary, until } from './support.js';

const CLI = fileURLToPath(new URL('../../../packaging/cli', import.meta.url));
const CLIENT = fileURLToPath(new URL('..', import.meta.url));
const NAME = `@lazaret/cli-linux-${process.arch}`;

const options = { ...guarded, skip: process.platform !== 'linux' || !['x64', 'arm64'].includes(process.arch) ||
  !process.report.getReport().header.glibcVersionRuntime ? 'no package has a program for this system' : false };
const hasScript = spawnSync('script', ['--version']).status === 0;
const onTerminal = { ...options, skip: options.skip || (hasScript ? false : 'script (util-linux) is missing') };

/** A directory whose node_modules has the packages; the program runs the command that it is given. */
function installed(t, { glibc = '2.0', program = '#!/bin/sh\nexec "$@"\n' } = {}) {
  const directory = realpathSync(temporary(t));
  const modules = join(directory, 'node_modules');
  cpSync(CLI, join(modules, '@lazaret/cli'), { recursive: true });
  cpSync(join(CLIENT, 'src'), join(modules, '@lazaret/client/src'), { recursive: true });
  cpSync(join(CLIENT, 'package.json'), join(modules, '@lazaret/client/package.json'));
  mkdirSync(join(modules, NAME, 'bin'), { recursive: true });
  writeFileSync(join(modules, NAME, 'package.json'), JSON.stringify({ name: NAME, lazaret: { glibc } }));
  writeFileSync(join(modules, NAME, 'bin/lazaret'), program, { mode: 0o755 });
  return { directory, command: join(modules, '@lazaret/cli/bin/lazaret.js'), program: join(modules, NAME, 'bin/lazaret'),
    package: join(modules, NAME) };
}

function run(command, words, more = {}) {
  return spawnSync(process.execPath, [command, ...words], { encoding: 'utf8', timeout: 120000, killSignal: 'SIGKILL', ...more });
}

/** The words of a program that ends with 9 when it is sent the signal; it says when it is ready, and who its parent is. */
function waiting(signal) {
  return [process.execPath, '-e', `process.on('${signal}', () => process.exit(9)); setInterval(() => {}, 1000);
    console.log('ready ' + process.ppid)`];
}

async function ready(child) {
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (piece) => {
    text += piece;
  });
  return Number((await until(() => /ready (\d+)\s/.exec(text)))[1]);
}

function quoted(words) {
  return words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
}

test('words, standard input and status are passed on', options, (t) => {
  const { command } = installed(t);
  const words = ['', 'a b', "it's", '$HOME', '*', '--', '-x'];
  const { stdout, stderr, status } = run(command, [process.execPath, '-e',
    `process.stdout.write(JSON.stringify(process.argv.slice(1)) + require('fs').readFileSync(0)); process.exitCode = 7`,
    '--', ...words], { input: 'input' });
  assert.equal(stderr, '');
  assert.equal(stdout, `${JSON.stringify(words)}input`);
  assert.equal(status, 7);
});

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGKILL', 'SIGPIPE', 'SIGXFSZ', 'SIGALRM']) {
  test(`the program ends by ${signal}, and so does the command`, options, (t) => {
    const { command } = installed(t);
    assert.equal(run(command, ['sh', '-c', `kill -${signal.slice(3)} $$`]).signal, signal);
  });
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2']) {
  test(`${signal} reaches the program`, options, async (t) => {
    const { command } = installed(t);
    const child = spawn(process.execPath, [command, ...waiting(signal)], { stdio: ['ignore', 'pipe', 'inherit'] });
    t.after(() => child.kill('SIGKILL'));
    const ended = once(child, 'exit');
    await ready(child);
    child.kill(signal);
    assert.deepEqual(await ended, [9, null]);
  });
}

test('SIGINT that the command alone is sent on a terminal reaches the program', onTerminal, async (t) => {
  const { command } = installed(t);
  const child = spawn('script', ['-qec', `exec ${quoted([process.execPath, command, ...waiting('SIGINT')])}`, '/dev/null'],
    { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  const ended = once(child, 'exit');
  process.kill(await ready(child), 'SIGINT');
  assert.deepEqual(await ended, [9, null]);
});

test('a terminal that is gone ends the command as it ends the program', onTerminal, async (t) => {
  const { command, directory } = installed(t);
  const status = join(directory, 'status');
  // The program ends by itself, so Node is what has to cope with a terminal that it cannot restore.
  const program = ['sh', '-c', 'trap "exit 9" HUP; echo "ready $PPID"; while :; do sleep 0.1; done'];
  // A hang-up is for the shell, which passes it on to its jobs.
  const shell = `trap 'kill -HUP $!' HUP; ${quoted([process.execPath, command, ...program])} <&0 & ` +
    `wait $!; wait $!; echo $? >${status}.new; mv ${status}.new ${status}`;
  const child = spawn('script', ['-qec', shell, '/dev/null'], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  await ready(child);
  child.kill('SIGKILL');
  await until(() => existsSync(status));
  assert.equal(readFileSync(status, 'utf8'), '129\n');
});

test('a package that is missing is said', options, (t) => {
  const { command, package: gone } = installed(t);
  rmSync(gone, { recursive: true });
  const { status, stderr } = run(command, ['--version']);
  assert.equal(status, 127);
  assert.match(stderr, new RegExp(`^lazaret: the package ${NAME} is not installed.*--omit=optional`));
});

test('a C library that is too old, or another one, is said', options, (t) => {
  const { command, package: gone } = installed(t, { glibc: '99.1', program: '#!/bin/sh\nexit 1\n' });
  const old = run(command, []);
  assert.equal(old.status, 1);
  assert.match(old.stderr, /^lazaret: it needs glibc 99\.1 or newer, and this system has \d+\.\d+\n$/);
  const other = `process.report.getReport = () => ({ header: {} }); require(${JSON.stringify(command)})`;
  assert.match(run('-e', [other]).stderr, /^lazaret: it needs the C library of GNU/);
  rmSync(gone, { recursive: true });
  assert.match(run('-e', [other]).stderr, new RegExp(`^lazaret: ${NAME} needs the C library of GNU`));
});

test('a status of 1 alone says nothing of the C library', options, (t) => {
  const { command } = installed(t);
  const { status, stderr } = run(command, ['sh', '-c', 'exit 1']);
  assert.deepEqual([status, stderr], [1, '']);
});

test('the client finds the program in the package, and says why it does not', options, (t) => {
  const { directory, program, package: gone } = installed(t);
  const find = (env) => {
    const code = `import { findProgram } from './node_modules/@lazaret/client/src/program.js';
      try { console.log(findProgram(undefined, ${JSON.stringify(env)})); } catch (error) { console.log(error.message); }`;
    return run('--input-type=module', ['-e', code], { cwd: directory }).stdout.trim();
  };
  assert.equal(find({ PATH: '/nonexistent' }), program);
  assert.equal(find({ LAZARET: '/bin/sh', PATH: '/nonexistent' }), '/bin/sh');
  rmSync(gone, { recursive: true });
  assert.match(find({ PATH: '/nonexistent' }), new RegExp(`was not found.*the package ${NAME} is not installed`));
});
