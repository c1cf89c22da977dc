// SPDX-License-Identifier: MIT
// The package of a framework, which is imported when an adapter needs it, and no earlier.

import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The directory of a package, above one of its files. */
function directoryOf(file) {
  const directory = dirname(file);
  return existsSync(join(directory, 'package.json')) ? directory : directoryOf(directory);
}

/** The package as the program has it: this package may be a link to a directory without it. */
async function ofProgram(name, what) {
  for (const place of [process.argv[1], join(process.cwd(), 'program')]) {
    let directory;
    try {
      directory = directoryOf(createRequire(place).resolve(`${name}/package.json`));
    } catch {
      continue; // it is not there
    }
    const about = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
    const entry = about.exports['.'].import;
    return import(pathToFileURL(join(directory, entry.default ?? entry)).href);
  }
  throw new Error(`${what} is missing: npm install ${name}`);
}

/** Import a package, which is called `what` where it is missing. */
export async function framework(name, what) {
  try {
    return await import(name);
  } catch (error) {
    if (error?.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    return ofProgram(name, what);
  }
}
