#!/usr/bin/env node
// SPDX-License-Identifier: MIT
// Runs the program with what this process was given, and ends as it ends.

'use strict';

const { spawn } = require('node:child_process');
const { isatty } = require('node:tty');
const { program, lacks } = require('../index.cjs');

function fail(text) {
  process.stderr.write(`lazaret: ${text}\n`);
  process.exitCode = 127;
}

/** Signals are passed on: what a terminal sends to both arrives twice, at once, which the program takes for one. */
function forward(signals, child) {
  for (const signal of signals) process.on(signal, () => child()?.kill(signal));
}

function end(code, signal) {
  if (!signal) {
    process.exitCode = code;
    return;
  }
  // Node ignores some signals, and no longer does when a listener was there; SIGKILL can have none.
  if (signal !== 'SIGKILL') process.on(signal, () => {}).removeAllListeners(signal);
  process.kill(process.pid, signal);
  setInterval(() => {}, 1000); // until it has come
}

function run(path) {
  const terminals = [0, 1, 2].filter(isatty);
  let child;
  forward(['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'], () => child);
  child = spawn(path, process.argv.slice(2), { stdio: 'inherit' });
  child.on('error', (error) => fail(`${path}: ${lacks(path) ?? error.message}`));
  child.on('exit', (code, signal) => {
    // The loader ends with 1 and says which version of a symbol it has not found.
    const lack = code === 1 ? lacks(path) : undefined;
    if (lack) process.stderr.write(`lazaret: ${lack}\n`);
    // Node aborts when it ends by itself and cannot restore a terminal, which has been hung up.
    end(code, signal ?? (terminals.every(isatty) ? null : 'SIGHUP'));
  });
}

try {
  run(program());
} catch (error) {
  fail(error.message);
}
