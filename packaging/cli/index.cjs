// SPDX-License-Identifier: MIT
// Where the program is: in the package of this system, an optional dependency, of whose absence npm says nothing.

'use strict';

const { accessSync, constants } = require('node:fs');
const { join, dirname } = require('node:path');

/** The systems that there are packages for: the platform and processor of Node, and the package. */
const PACKAGES = {
  'linux-x64': '@lazaret/cli-linux-x64',
  'linux-arm64': '@lazaret/cli-linux-arm64',
};

/** The version of the C library of GNU that this process runs with; undefined: another C library. */
function glibc() {
  process.report.excludeNetwork = true;
  return process.report.getReport().header.glibcVersionRuntime;
}

/** Why no program can be had, and what to do. */
function reason(system, name) {
  const sources = 'build it from the sources (scripts/quickstart)';
  if (!name) {
    return `there is no package with the program for ${system}, only for ` +
      `${Object.keys(PACKAGES).join(' and ')}: ${sources}`;
  }
  if (!glibc()) return `${name} needs the C library of GNU, which this system does not use: ${sources}`;
  return `the package ${name} is not installed. It is an optional dependency of @lazaret/cli: install again ` +
    'without --omit=optional (or optional=false in .npmrc), and on the system where it is to run, not with a ' +
    'copied node_modules or a lock file that was made on another one; files of packages go together, with ' +
    'npm install --offline';
}

/**
 * The path of the program `lazaret`.
 *
 * @returns {string}
 */
function program() {
  const system = `${process.platform}-${process.arch}`;
  const name = PACKAGES[system];
  try {
    const path = join(dirname(require.resolve(`${name}/package.json`)), 'bin', 'lazaret');
    accessSync(path, constants.X_OK);
    return path;
  } catch {
    throw new Error(reason(system, name));
  }
}

/** What the system lacks for a program that cannot be started, or undefined. */
function lacks(path) {
  const wanted = require(join(dirname(path), '..', 'package.json')).lazaret.glibc;
  const has = glibc();
  if (!has) return `it needs the C library of GNU (${wanted} or newer), which this system does not use`;
  const [major, minor] = has.split('.').map(Number);
  const [wantedMajor, wantedMinor] = wanted.split('.').map(Number);
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) return undefined;
  return `it needs glibc ${wanted} or newer, and this system has ${has}`;
}

module.exports = { program, lacks };
