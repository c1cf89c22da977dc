// SPDX-License-Identifier: MIT
// The code in README.md and in examples, the declarations, and what the package consists of.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';

import * as lazaret from '../src/index.js';
import { guarded, live, path, start } from './support.js';

const readme = readFileSync(path('../README.md'), 'utf8');
const blocks = [...readme.matchAll(/^```js\n(.*?)^```/gms)].map((match) => match[1]);

for (const [i, block] of blocks.entries()) {
  test(`block ${i + 1} of README.md prints what it says`, live, async (t) => {
    const child = start(t, block);
    assert.deepEqual(await child.closed, [0, null], child.errors);
    const said = [...block.matchAll(/console\.log\(.*\/\/ (.*)$/gm)].map((match) => match[1]);
    assert.ok(said.length);
    assert.equal(child.output, `${said.join('\n')}\n`);
  });
}

test('the example prints what it says', live, async (t) => {
  const program = readFileSync(path('../examples/sales.js'), 'utf8');
  assert.ok(program.split('\n').length <= 30);
  const child = start(t, program);
  assert.deepEqual(await child.closed, [0, null], child.errors);
  assert.equal(child.output, readFileSync(path('../examples/sales.txt'), 'utf8'));
});

test('README.md names every error', () => {
  const names = Object.keys(lazaret).filter((name) =>
    lazaret[name].prototype instanceof lazaret.LazaretError);
  assert.equal(names.length, 9);
  for (const name of names) assert.ok(readme.includes(`| \`${name}\` |`), name);
});

test('the declarations name what the package has', () => {
  const text = readFileSync(path('../src/index.d.ts'), 'utf8');
  const declared = [...text.matchAll(/^export (?:class|function) (\w+)/gm)].map((one) => one[1]);
  assert.deepEqual([...new Set(declared)].sort(), Object.keys(lazaret).sort());
});

const tsc = spawnSync('tsc', ['--version'], { encoding: 'utf8' });
test('the declarations are what a compiler accepts',
  { ...guarded, skip: tsc.status === 0 ? false : 'tsc is not installed' }, () => {
    const done = spawnSync('tsc', ['--project', path('tsconfig.json')], { encoding: 'utf8' });
    assert.equal(done.status, 0, done.stdout);
  });

test('the package has its sources only', () => {
  const about = JSON.parse(readFileSync(path('../package.json'), 'utf8'));
  assert.deepEqual([about.files, about.dependencies, about.devDependencies],
    [['src'], undefined, undefined]);
  for (const name of readdirSync(path('../src'))) {
    const text = readFileSync(path(`../src/${name}`), 'utf8');
    assert.ok(text.startsWith('// SPDX-License-Identifier: MIT\n'), name);
  }
});
