// SPDX-License-Identifier: MIT
// How the program `lazaret` is found, and what its command line is.

import { accessSync, constants, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { SetupFailed } from './results.js';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** The path of a program: with a slash that path, otherwise a name that is searched for. */
function which(name, path) {
  if (name.includes('/')) return isProgram(name) ? resolve(name) : undefined;
  return path.split(delimiter).filter(Boolean).map((directory) => join(directory, name))
    .find(isProgram);
}

/** The program of @lazaret/cli, and why there is none where that package is installed. */
function ofPackage() {
  const require = createRequire(import.meta.url);
  try {
    require.resolve('@lazaret/cli');
  } catch {
    return {};
  }
  try {
    return { path: require('@lazaret/cli').program() };
  } catch (error) {
    return { problem: error.message };
  }
}

/**
 * The path of the program: a given one, $LAZARET, beside this package, of @lazaret/cli, or on PATH.
 *
 * @param {string | undefined} program
 * @param {Record<string, string | undefined>} [env]
 */
export function findProgram(program, env = process.env) {
  const path = env.PATH ?? '';
  for (const [given, what] of [[program, 'program'], [env.LAZARET, '$LAZARET']]) {
    if (!given) continue;
    const found = which(given, path);
    if (!found) {
      throw new SetupFailed(`${what} is '${given}', which is not a program that can be executed`);
    }
    return found;
  }
  const beside = [join(PACKAGE, 'bin', 'lazaret'), join(PACKAGE, 'lazaret')].find(isProgram);
  if (beside) return beside;
  const command = ofPackage();
  const found = command.path ?? which('lazaret', path);
  if (!found) {
    throw new SetupFailed('the program lazaret was not found: install it, set the environment ' +
      'variable LAZARET to its path, or give new Server({ program })' +
      (command.problem ? `; ${command.problem}` : ''));
  }
  return found;
}

function quoted(text) {
  return JSON.stringify(text).replaceAll('\x7f', '\\u007f');
}

/** A value of a setting as it is written in a configuration file. */
export function toml(value) {
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  if (typeof value === 'string') return quoted(value);
  if (Array.isArray(value)) return `[${value.map(toml).join(', ')}]`;
  if (typeof value === 'object' && value !== null &&
      [null, Object.prototype].includes(Object.getPrototypeOf(value))) {
    const members = Object.entries(value).map(([key, one]) => `${quoted(key)} = ${toml(one)}`);
    return `{${members.join(', ')}}`;
  }
  throw new TypeError(`a setting cannot be ${String(value)}`);
}

/** The arguments of `lazaret serve`. */
export function serveArguments(config, settings) {
  const sets = Object.entries(settings).flatMap(([key, value]) =>
    ['--set', `${key}=${toml(value)}`]);
  return ['serve', ...(config === undefined ? [] : ['--config', String(config)]), ...sets];
}
