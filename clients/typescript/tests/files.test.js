// SPDX-License-Identifier: MIT
// Files for the code, and artifacts of it.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { LazaretError, Pool, Result, Session, execute } from '../src/index.js';
import { Artifact, PART_BYTES, artifactsOf, partsOf } from '../src/files.js';
import { MIB, live, lua, serverFor, temporary } from './support.js';

const COPY = `
local i = io.open('in', 'rb')
local o = io.open('artifacts/out', 'wb')
o:write(i:read('a'))
o:close()`;
const SAVE = "io.open('artifacts/x', 'w'):write('kept'):close()";
const BYTES = new Uint8Array(3_072_000).map((_, i) => i); // 3 MB, in many parts
const sha256 = (data) => createHash('sha256').update(data).digest('hex');
const text = (artifact) => Buffer.from(artifact.data).toString();

test('a file in and an artifact out', live, async (t) => {
  const session = lua(t);
  const all = [new Uint8Array(0), Uint8Array.of(0, 13, 10, 255), new Uint8Array(PART_BYTES), BYTES];
  for (const data of all) {
    await session.putFile('in', data);
    const { artifacts: [artifact, ...rest] } = await session.execute(COPY);
    assert.ok(Buffer.from(data).equals(artifact.data));
    assert.deepEqual([artifact.name, artifact.size, artifact.dropped, rest.length],
      ['out', data.length, false, 0]);
    assert.equal(artifact.sha256, sha256(data));
  }
});

test('a file of a path, and several artifacts', live, async (t) => {
  const path = join(temporary(t), 'some file');
  writeFileSync(path, 'a,b\n1,2\n');
  const code = `
import os
os.makedirs('artifacts/a/b')
open('artifacts/a/b/x.csv', 'w').write(open('in').read())
open('artifacts/\u00e9 .txt', 'w').close()`;
  const server = serverFor(t);
  for (const given of [path, pathToFileURL(path)]) {
    const { artifacts } = await execute(code, { server, files: { in: given } });
    assert.deepEqual(artifacts.map((one) => [one.name, one.type, text(one)]),
      [['a/b/x.csv', 'text/csv', 'a,b\n1,2\n'], ['\u00e9 .txt', 'text/plain', '']]);
  }
});

test('files at opening, which belong to the box', live, async (t) => {
  const files = { in: Buffer.from('first'), other: new Uint16Array([0x6161]).buffer };
  const server = serverFor(t);
  const session = await Session.open({ runtime: 'python', server, files });
  const read = async (name) => (await session.execute(`open('${name}').read()`)).value;
  assert.deepEqual([await read('in'), await read('other')], ['first', 'aa']);
  await assert.rejects(session.execute('import os; os.abort()'), { name: 'WorkerLost' });
  const result = await session.execute("__import__('os').path.exists('in')");
  assert.deepEqual([result.replaced, result.value], ['crashed', false]);
  await session.putFile('in', Buffer.from('again'));
  assert.equal(await read('in'), 'again');
  const tools = [{ name: 'one', execute: () => 1 }];
  const once = await execute(COPY, { runtime: 'lua', server, tools, files });
  assert.equal(text(once.artifacts[0]), 'first');
});

test('files of an execution', live, async (t) => {
  const files = { in: Buffer.from('first'), empty: new ArrayBuffer(0) };
  const session = lua(t);
  const { server } = await session.open();
  const pool = new Pool({ runtime: 'lua', size: 1, server });
  const path = join(temporary(t), 'some file');
  writeFileSync(path, 'of a path');
  assert.equal(text((await session.execute(COPY, { files })).artifacts[0]), 'first');
  assert.equal((await session.execute("return io.open('empty'):read('a')")).value, '');
  const { artifacts } = await session.execute(COPY, { files: { in: BYTES } });
  assert.ok(Buffer.from(BYTES).equals(artifacts[0].data));
  for await (const { type, result } of pool.stream(COPY, { files })) {
    if (type === 'result') assert.equal(text(result.artifacts[0]), 'first');
  }
  assert.equal((await pool.execute("return io.open('in') == nil")).value, true);
  const once = await execute(COPY, { runtime: 'lua', server, files: { in: pathToFileURL(path) } });
  assert.equal(text(once.artifacts[0]), 'of a path');
});

test('files of an execution that cannot be', live, async (t) => {
  const server = serverFor(t, { settings: { 'sandbox.tmp_size': '1MiB' } });
  const pool = new Pool({ runtime: 'lua', size: 1, server });
  for (const [name, data, code] of [['a/b', SOME, 'LAZ_EINVAL'], ['in', BYTES, 'LAZ_EOS']]) {
    const files = { kept: SOME, [name]: data };
    await assert.rejects(pool.execute('return 1', { files }), { name: 'RequestFailed', code });
    await assert.rejects(execute('return 1', { runtime: 'lua', server, files }),
      { name: 'RequestFailed', code });
  }
  await assert.rejects(pool.execute('1', { files: { 'a\0b': SOME } }), TypeError);
  await assert.rejects(pool.execute('1', { files: { a: 5 } }), TypeError);
  await assert.rejects(pool.execute('1', { files: null }), TypeError);
  await assert.rejects(pool.execute('1', { files: { a: '/nonexistent/a' } }), { code: 'ENOENT' });
  assert.equal((await pool.execute('return 1', { files: {} })).value, 1);
  await assert.rejects(execute('1', { runtime: 'cobol', server, files: { in: SOME } }),
    { name: 'SetupFailed' });
});

test('files that do not go with the code', live, async (t) => {
  const server = serverFor(t, { settings: { 'session.max_value_size': '2MiB' } });
  const most = 2 * MIB;
  const many = Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`f${i}`, SOME]));
  const [fits, doesNot] = [Math.floor((most - 1000) / 4) * 3, most / 4 * 3];
  const session = new Session({ runtime: 'lua', server });
  const sent = t.mock.method(server, '_send');
  for (const [size, isPut] of [[fits, false], [doesNot, true], [most - 9, true]]) {
    sent.mock.resetCalls();
    const files = { other: new Uint8Array(0), in: new Uint8Array(size) };
    const { artifacts } = await session.execute(COPY, { files });
    assert.equal(artifacts[0].size, size);
    assert.equal(sent.mock.calls.some((call) => call.arguments[0].type === 'put'), isPut);
  }
  const last = await session.execute("return io.open('f64'):read('a')", { files: many });
  assert.equal(last.value, 'some');
  await assert.rejects(session.execute('return 1', { files: { in: new Uint8Array(most + 1) } }),
    { name: 'RequestFailed' });
  const pool = new Pool({ runtime: 'lua', size: 1, server });
  for (const files of [{ in: new Uint8Array(doesNot) }, { in: '/dev/zero' }, many]) {
    const refused = { name: 'RangeError', message: new RegExp(`at most 64, .* ${most} bytes`) };
    await assert.rejects(pool.execute('1', { files }), refused);
    await assert.rejects(execute('1', { server, files }), refused);
  }
  const { artifacts } = await pool.execute(COPY, { files: { in: new Uint8Array(fits) } });
  assert.equal(artifacts[0].size, fits);
});

test('files at the same time', live, async (t) => {
  const session = lua(t);
  await Promise.all([session.putFile('in', BYTES), session.putFile('other', BYTES.slice(1))]);
  const { artifacts } = await session.execute(COPY);
  assert.ok(Buffer.from(BYTES).equals(artifacts[0].data));
});

test('names and sizes that are refused', live, async (t) => {
  const session = lua(t);
  for (const name of ['a/b', '..', '', 'a\nb']) {
    await assert.rejects(session.putFile(name, BYTES),
      { name: 'RequestFailed', code: 'LAZ_EINVAL' });
  }
  await assert.rejects(session.putFile('a\0b', BYTES), TypeError);
  await assert.rejects(session.putFile('a', 5), TypeError);
  await assert.rejects(session.putFile('a', '/nonexistent/file'), { code: 'ENOENT' });
  const refused = new Session({ runtime: 'lua', server: session.server, files: { 'a/b': BYTES } });
  for (let i = 0; i < 2; i++) await assert.rejects(refused.open(), { name: 'RequestFailed' });
  await refused.close();
  const small = serverFor(t, { settings: { 'sandbox.tmp_size': '1MiB' } });
  const other = new Session({ runtime: 'lua', server: small });
  await assert.rejects(other.putFile('in', BYTES), { name: 'RequestFailed' });
  await other.putFile('in', Buffer.from('less'));
  assert.equal(text((await other.execute(COPY)).artifacts[0]), 'less');
});

test('a file for a session that cannot start', live, async (t) => {
  const server = serverFor(t, { settings: { 'sandbox.read': ['/nonexistent'] } });
  await assert.rejects(execute('1', { server, files: { in: BYTES } }), { name: 'SetupFailed' });
});

test('a session that executes is busy', live, async (t) => {
  const session = lua(t, { name: 'put', execute: () =>
    session.putFile('in', BYTES).then(() => 'done', (error) => error.code) });
  assert.equal((await session.execute('return put()')).value, 'LAZ_EBUSY');
  await session.putFile('in', BYTES);
});

test('code that fails delivers what it has saved', live, async (t) => {
  const session = lua(t);
  await assert.rejects(session.execute(`${SAVE} error('broken')`), (error) => {
    assert.equal(text(error.result.artifacts[0]), 'kept');
    return error.name === 'ExecutionError';
  });
  for await (const { type, result } of session.stream(`${SAVE} return 1`)) {
    if (type === 'result') assert.equal(text(result.artifacts[0]), 'kept');
  }
});

test('bytes that are not wanted', live, async (t) => {
  const server = serverFor(t);
  const pool = new Pool({ runtime: 'lua', size: 1, server });
  const { artifacts: [artifact] } = await pool.execute(SAVE, { artifacts: false });
  assert.deepEqual([artifact.size, artifact.data, artifact.dropped], [4, null, false]);
  await assert.rejects(artifact.save('unused'), /not asked for/);
  assert.equal(text((await pool.execute(SAVE)).artifacts[0]), 'kept');
  const once = await execute(SAVE, { runtime: 'lua', server, artifacts: false });
  assert.equal(once.artifacts[0].data, null);
});

// ---- without the program ------------------------------------------------------------------------

const SOME = Buffer.from('some');
const LISTED = { name: 'x', type: 'text/plain', size: 4, sha256: sha256(SOME) };
const part = (number, data, more = false, name = 'x') =>
  ({ name, part: number, data: Buffer.from(data).toString('base64'), more });
const joined = (...messages) => artifactsOf({ artifacts: [LISTED] }, messages, true)[0];

test('an artifact that is lost', () => {
  const lost = { name: 'b.png', bytes: 8, why: 'it was too late' };
  assert.deepEqual(new Result({ artifacts: [], artifacts_lost: [lost] }).artifactsLost, [lost]);
  assert.deepEqual(new Result({}).artifactsLost, []);
});

test('parts of a file', async () => {
  for (const [size, count] of [[0, 1], [1, 1], [PART_BYTES, 1], [PART_BYTES + 1, 2]]) {
    const parts = [];
    for await (const message of partsOf('x', new Uint8Array(size))) parts.push(message);
    assert.deepEqual(parts.map((one) => [one.part, one.more]),
      Array.from({ length: count }, (_, i) => [i, i + 1 < count]));
    const sizes = parts.map(({ data }) => Buffer.from(data, 'base64').length);
    assert.equal(sizes.reduce((a, b) => a + b), size);
  }
});

test('parts of artifacts are joined and checked', () => {
  assert.equal(text(joined(part(0, 'so', true), part(1, 'me'))), 'some');
  for (const messages of [
    [],
    [part(0, 'so', true)],
    [part(1, 'some')],
    [part(0, 'so', true), part(2, 'me')],
    [part(1, 'me', true), part(0, 'so')],
    [part(0, 'some'), part(1, '')],
    [part(0, 'so')],
    [part(0, 'somE')],
    [part(0, 'some'), part(0, 'some', false, 'y')],
    [{ ...part(0, 'some'), data: '!' }],
    [{ ...part(0, 'some'), data: 5 }],
  ]) {
    assert.throws(() => joined(...messages), { name: 'WorkerLost', message: /protocol/ });
  }
  assert.throws(() => artifactsOf({ artifacts: [{ name: 'x' }] }, [], false), /lacks a member/);
});

test('an artifact that was dropped', async () => {
  const artifact = joined({ name: 'x', dropped: 4 });
  assert.deepEqual([artifact.data, artifact.dropped, artifact.size], [null, true, 4]);
  await assert.rejects(artifact.save('unused'), /too slow/);
  assert.deepEqual(artifactsOf({}, [], true), []);
});

const made = (data, name = 'plot.png') =>
  new Artifact({ name, type: '', size: 0, sha256: '' }, Buffer.from(data), false);

test('nothing is overwritten', async (t) => {
  const directory = join(temporary(t), 'a', 'results');
  const wanted = [['plot.png', 'one'], ['plot-2.png', 'two'], ['plot-3.png', 'three']];
  for (const [name, data] of wanted) {
    assert.equal(await made(data).save(directory), join(directory, name));
    assert.equal(readFileSync(join(directory, name), 'utf8'), data);
  }
  await made('', 'x').save(pathToFileURL(directory));
  assert.equal(await made('', 'x').save(directory), join(directory, 'x-2'));
  for (const name of ['x', 'x-2']) {
    assert.equal(await made('in', 'd.d/e/x').save(directory), join(directory, 'd.d/e', name));
  }
});

test('no link is followed', async (t) => {
  const directory = temporary(t);
  const target = join(temporary(t), 'target');
  symlinkSync(target, join(directory, 'plot.png'));
  assert.equal(await made('x').save(directory), join(directory, 'plot-2.png'));
  assert.ok(!existsSync(target));
  mkdirSync(target);
  symlinkSync(target, join(directory, 'd'));
  await assert.rejects(made('x', 'd/x').save(directory), /is not a directory/);
  assert.deepEqual(readdirSync(target), []);
  await made('x', 'own').save(join(directory, 'd')); // a link of this program's own
  assert.deepEqual(readdirSync(target), ['own']);
});

test('names that leave the directory', async (t) => {
  const directory = temporary(t);
  for (const name of ['../x', '/x', 'a/../x', 'a//x', '', 'a\0b', '.', 'a\\b']) {
    await assert.rejects(made('x', name).save(join(directory, 'in')), LazaretError);
  }
  assert.deepEqual(readdirSync(directory), []);
});
