// SPDX-License-Identifier: MIT
// Values, results and settings; the program is not needed.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';

import * as lazaret from '../src/index.js';
import { findProgram, toml } from '../src/program.js';
import { errorOf } from '../src/results.js';
import { decode, encode } from '../src/values.js';

const { CalendarDate, Frame, Result } = lazaret;
const again = (value) => decode(JSON.parse(encode(value)));

test('a Node.js that is too old is told so', () => {
  const code = `delete String.prototype.isWellFormed; await import('${new URL('../src/index.js', import.meta.url)}')`;
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
  assert.equal(status, 1);
  assert.match(stderr, /needs Node\.js 20 or later, and this is v/);
});

test('values come back as they were', () => {
  for (const value of [null, true, 2, 2.5, 1e300, 2 ** 60, -0, NaN, -Infinity, 'ä😀', [1, [2]],
    { a: { b: 1 } }, 2n ** 53n + 1n, -(2n ** 70n), new Uint8Array([0, 255]),
    new Date('2024-01-31T12:00:00.250Z'), new CalendarDate('2024-01-31'),
    new Map([[1, 'a'], [[2, 3], new Uint8Array(2)]]), { $int: '5' }, { $map: [1] },
    JSON.parse('{"__proto__":{"a":1}}'), new Frame([['2', [1, 2]], ['1', ['a', null]]])]) {
    assert.deepEqual(again(value), value);
  }
  assert.equal(Object.getPrototypeOf(again(JSON.parse('{"__proto__":{"a":1}}'))), Object.prototype);
});

test('values are written in the forms of the server', () => {
  class Point {
    constructor() {
      this.x = 1;
    }
  }
  const rows = [
    [undefined, 'null'], [{ a: undefined, b: [undefined] }, '{"b":[null]}'], [-0, '-0.0'],
    [1e20, '1e+20'], [5n, '5'], [2n ** 53n + 1n, '{"$int":"9007199254740993"}'],
    [Infinity, '{"$num":"Inf"}'],
    ['a\0', '{"$bytes":"YQA="}'], ['a\ud800', '{"$bytes":"Ye2ggA=="}'],
    [Buffer.from('hi'), '{"$bytes":"aGk="}'], [new ArrayBuffer(1), '{"$bytes":"AA=="}'],
    [new Float64Array([1, NaN]), '[1,{"$num":"NaN"}]'], [new Set([1, 'b']), '[1,"b"]'],
    [new Map([['a', 1]]), '{"$map":[["a",1]]}'], [{ $x: 1 }, '{"$map":[["$x",1]]}'],
    [{ $x: 1, y: 2 }, '{"$x":1,"y":2}'], [{ 'a\0': 1 }, '{"$map":[[{"$bytes":"YQA="},1]]}'],
    [new Date(NaN), 'null'], [new Point(), '{"x":1}'], [new URL('http://a/'), '"http://a/"'],
    [{ toJSON: () => ({ at: new Date(0) }) }, '{"at":{"$time":"1970-01-01T00:00:00.000Z"}}'],
    [Object('text'), '"text"'], [runInNewContext('new Map([[1, new Date(0)]])'),
      '{"$map":[[1,{"$time":"1970-01-01T00:00:00.000Z"}]]}'],
    [new Frame({ x: [1] }), '{"$frame":{"names":["x"],"columns":[[1]],"rows":1}}'],
  ];
  for (const [value, text] of rows) assert.equal(encode(value), text);
});

test('what has no form in JavaScript stays as it is', () => {
  for (const value of [{ $repr: '<f>' }, { $date: '2024-02-31' }, { $int: 'x' }, { $new: 1 },
    { $int: '9'.repeat(200_000) }, { $complex: [1, 2] }, { $bytes: '*' }, { $num: '4' },
    { $num: 'toString' }, { $time: '2024-02-31T00:00:00Z' }, { $map: 1 }, { $map: [[1]] },
    { $factor: null }, { $frame: { names: ['a', 'a'], columns: [[1], [2]], rows: 1 } },
    { $frame: { names: ['a'], columns: [[1]], rows: 2 } }]) {
    assert.deepEqual(decode(value), value);
  }
});

test('forms of other languages are read', () => {
  const frame = decode({ $frame: {
    names: ['x', 'f'],
    columns: [[1, { $na: 'double' }], { $factor: { levels: ['a'], values: ['a', null] } }],
    rows: 2,
  } });
  assert.deepEqual([...frame.rows()], [{ x: 1, f: 'a' }, { x: null, f: null }]);
  assert.deepEqual([frame.names, frame.length], [['x', 'f'], 2]);
  assert.equal(JSON.stringify(frame), '[{"x":1,"f":"a"},{"x":null,"f":null}]');
  assert.deepEqual(decode({ $time: '2024-01-31T12:00:00.1239+01:00' }),
    new Date('2024-01-31T11:00:00.123Z'));
  assert.deepEqual(decode({ $time: '2024-01-31 12:00:00' }), new Date(2024, 0, 31, 12));
});

test('what cannot be sent is an error, and ends', () => {
  const loop = [];
  loop.push(loop, loop);
  let wide = [];
  for (let i = 0; i < 50; i++) wide = [wide, wide];
  for (const [value, message] of [[loop, /contains itself/], [wide, /too long/],
    [() => 1, /type function/], [{ a: Symbol('s') }, /type symbol/], [/x/, /type RegExp/],
    [[Promise.resolve()], /type Promise/], [new Error('x'), /type Error/],
    [{ get a() { throw new TypeError('no'); } }, /no/], [new Date(8.64e15), /year/]]) {
    assert.throws(() => encode(value, 1e6), message);
  }
  assert.throws(() => encode('x'.repeat(100), 50), /too long/);
  assert.throws(() => new Frame({ a: [1], b: [] }), /0 values/);
});

test('each verdict has its error', () => {
  const rows = { error: 'ExecutionError', syntax_error: 'SyntaxFailed', timeout: 'Timeout',
    deadline: 'Timeout', cpu_limit: 'LimitExceeded', memory_limit: 'LimitExceeded',
    fsize_limit: 'LimitExceeded', tool_limit: 'LimitExceeded', output_limit: 'LimitExceeded',
    blocked: 'Blocked', cancelled: 'Cancelled', protocol_error: 'WorkerLost',
    crashed: 'WorkerLost', setup_failed: 'SetupFailed', another: 'LazaretError' };
  for (const [reason, name] of Object.entries(rows)) {
    const result = new Result({ verdict: { reason, detail: 'why' } });
    const error = errorOf(result);
    assert.equal(error.constructor, lazaret[name]);
    assert.ok(error instanceof lazaret.LazaretError);
    assert.deepEqual([error.message, error.name, error.result], ['why', name, result]);
    assert.equal(error.kind, reason === 'error' ? null : reason);
    assert.throws(() => result.throwForVerdict(), lazaret[name]);
  }
});

test('settings are written as TOML', () => {
  for (const [value, text] of [[true, 'true'], [5, '5'], [0.5, '0.5'], ['5s', '"5s"'],
    [['a', 1], '["a", 1]'], [{ 'A b': 'c' }, '{"A b" = "c"}'], ['\x7f', '"\\u007f"']]) {
    assert.equal(toml(value), text);
  }
  for (const value of [null, undefined, NaN, new Date()]) {
    assert.throws(() => toml(value), TypeError);
  }
});

test('a missing program is one clear sentence', () => {
  assert.throws(() => findProgram('/nonexistent/lazaret'),
    { name: 'SetupFailed', message: /^program is '\/nonexistent\/lazaret', which/ });
  assert.throws(() => findProgram(undefined, { LAZARET: 'nonexistent', PATH: '/' }),
    { message: /^\$LAZARET is 'nonexistent'/ });
  assert.throws(() => findProgram(undefined, { PATH: '/nonexistent' }),
    { message: /was not found: install it/ });
  assert.equal(findProgram('sh', { PATH: '/nonexistent:/bin' }), '/bin/sh');
});
