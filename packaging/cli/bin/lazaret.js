#!/usr/bin/env node
// SPDX-License-Identifier: MIT
// Runs the program with what this process was given, and ends as it ends.

'use strict';

const { spawn } = require('node:child_process');
const { program, lacks } = require('../index.cjs');

function fail(text) {
  process.stderr.write(`lazaret: ${text}\n`);
  process.exitCode = 127;
}

/** What was sent to this process alone is passed on; what a terminal sends has gone to both. */
function forward(child) {
  const terminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2']) {
    const isOfTerminal = signal === 'SIGINT' || signal === 'SIGQUIT';
    process.on(signal, () => {
      if (!terminal || !isOfTerminal) child.kill(signal);
    });
  }
}

function end(code, signal) {
  if (!signal) {
    process.exitCode = code;
    return;
  }
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  setInterval(() => {}, 1000); // until it has come
}

function run(path) {
  const child = spawn(path, process.argv.slice(2), { stdio: 'inherit' });
  forward(child);
  child.on('error', (error) => fail(`${path}: ${lacks(path) ?? error.message}`));
  child.on('exit', (code, signal) => {
    // The loader ends with 1 and says which version of a symbol it has not found.
    const lack = code === 1 ? lacks(path) : undefined;
    if (lack) process.stderr.write(`lazaret: ${lack}\n`);
    end(code, signal);
  });
}

try {
  run(program());
} catch (error) {
  fail(error.message);
}
