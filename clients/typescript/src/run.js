// SPDX-License-Identifier: MIT
// Programs with their arguments, as code of the runtimes `shell` and `program`.

import { isPlain } from './values.js';

/** The options of `run`. */
export const RUN_NAMES = ['input', 'cwd', 'env', 'timeout', 'deadline', 'signal'];

function checkText(text, what) {
  if (typeof text !== 'string' || !isPlain(text)) {
    throw new TypeError(`${what} must be a text without NUL and lone surrogates`);
  }
  return text;
}

/** A text as one word of a shell. */
export function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** A directory that is neither an option, nor `-`, nor searched for in CDPATH. */
function directory(cwd) {
  return cwd.startsWith('/') ? cwd : `./${cwd}`;
}

/** What comes before a command that has a directory or variables of its own. */
function preparation({ cwd, env = {} }) {
  const steps = cwd === undefined ? []
    : [`cd ${quoted(directory(checkText(cwd, 'cwd')))}`];
  if (typeof env !== 'object' || env === null) {
    throw new TypeError("env must be an object, as { NAME: 'value' }");
  }
  const sets = Object.entries(env).map(([name, value]) => {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      throw new TypeError(`${JSON.stringify(name)} is not the name of a variable`);
    }
    return `${name}=${quoted(checkText(value, `the variable ${name}`))}`;
  });
  return sets.length ? [...steps, `export ${sets.join(' ')}`] : steps;
}

/**
 * The code that runs a program: for the shell a line, which leaves its directory and variables as
 * they are; for `program` the words themselves, or a shell that becomes the program.
 */
export function codeOf(runtime, words, options) {
  if (runtime !== 'shell' && runtime !== 'program') {
    throw new TypeError(`only a session of the runtime shell or program can run a program, and ` +
      `the runtime of this one is ${runtime ?? 'that of the configuration'}`);
  }
  if (!Array.isArray(words) || !words.length) {
    throw new TypeError("a program is an array of texts, as ['ls', '-l']");
  }
  const line = words.map((word) => quoted(checkText(word, 'a word of a program'))).join(' ');
  const steps = preparation(options);
  if (runtime === 'shell') return steps.length ? `(${[...steps, line].join(' && ')})` : line;
  return JSON.stringify(steps.length
    ? ['/bin/sh', '-c', [...steps, `exec ${line}`].join(' && ')] : words);
}

/** What became of a program. */
export function outcomeOf({ evidence, stdout, stderr, truncated }) {
  return { status: evidence.exit_status, stdout, stderr, truncated };
}
