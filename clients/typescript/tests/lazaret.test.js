// SPDX-License-Identifier: MIT
// Sessions, pools, tools and output, with the real program.

import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { inspect } from 'node:util';

import * as lazaret from '../src/index.js';
import { MIB, deferred, live, lua, serverFor, temporary } from './support.js';

const one = { name: 'one', execute: () => 1 };
const FOREVER = 'while true do end';

test('a result has value, text and output', live, async (t) => {
  const result = await lua(t).execute("print('out') io.stderr:write('err') return {a = 1}, 'x'");
  assert.deepEqual(result.value, [{ a: 1 }, 'x']);
  assert.deepEqual([result.ok, result.stdout, result.stderr], [true, 'out\n', 'err']);
  assert.deepEqual(new Set(result.output.map((piece) => piece.stream)),
    new Set(['stdout', 'stderr']));
  assert.ok(result.text && result.isolation.backend && result.usage.wall_ms >= 0);
  assert.deepEqual([result.artifacts, result.denials, result.replaced], [[], [], null]);
  assert.equal(result.raw.verdict.reason, result.verdict);
});

test('a network list is of a session', live, async (t) => {
  const server = serverFor(t, { 'sandbox.backend': 'bwrap' });
  const code = "import socket\ndef tries(name):\n    try: return socket.gethostbyname(name)[:6]\n"
    + "    except OSError: return None\n[tries('a.example'), tries('b.example')]";
  const session = await lazaret.Session.open({ network: ['https://a.example'], server });
  const result = await session.execute(code);
  assert.deepEqual(result.value, ['198.18', null]);
  assert.deepEqual(result.denials.map(({ name, source }) => [name, source]),
    [['b.example', 'network']]);
  await session.setNetwork([{ host: 'b.example', to: ['10.0.0.0/8'] }]);
  assert.deepEqual((await session.execute(code)).value, [null, '198.18']);
  await assert.rejects(session.setNetwork(['b.example:22']), /port 22/);
  await assert.rejects(session.setNetwork('a.example'), TypeError);
  await session.close();
  assert.deepEqual((await lazaret.execute(code, { network: ['a.example'], server })).value,
    ['198.18', null]);
  const pool = await lazaret.Pool.open({ size: 1, network: ['b.example'], server });
  assert.deepEqual((await pool.execute(code)).value, [null, '198.18']);
  await pool.close();
});

test('credentials are of a session', live, async (t) => {
  const server = serverFor(t, { 'sandbox.backend': 'bwrap' });
  const value = `ghp_${randomBytes(18).toString('hex')}`;
  const code = "import os\nos.environ.get('API_TOKEN')";
  const mine = {
    host: 'a.example', header: 'Authorization: Bearer {secret}', secret: { value },
    placeholder: { env: 'API_TOKEN' },
  };
  const network = ['https://a.example'];
  const says = (one) => inspect(one, { depth: 10, showHidden: true });
  const isPlaceholder = (result) => {
    assert.match(result.value, /^ghp_/); // of the same shape, and another one
    assert.ok(!says(result).includes(value));
    assert.deepEqual(result.credentials, []);
  };
  const session = await lazaret.Session.open({ network, credentials: [mine], server });
  isPlaceholder(await session.execute(code));
  await session.close();
  const without = await lazaret.Session.open({ network, credentials: [], server });
  assert.equal((await without.execute(code)).value, null);
  await without.close();
  const pool = await lazaret.Pool.open({ size: 1, network, credentials: [mine], server });
  isPlaceholder(await pool.execute(code));
  await pool.close();
  isPlaceholder(await lazaret.execute(code, { network, credentials: [mine], server }));
  for (const wrong of [value, { ...mine, secret: { file: value } }, { ...mine, x: value }]) {
    const refused = await lazaret.Session.open({ network, credentials: [mine, wrong], server })
      .then(() => null, (error) => error);
    assert.match(refused?.message, /credentials\[1\]/);
    assert.ok(!says(refused).includes(value));
  }
  for (const given of [value, mine, [7]]) {
    assert.throws(() => new lazaret.Session({ network, credentials: given, server }), TypeError);
  }
});

test('each failure is an error of its class', live, async (t) => {
  const session = lua(t, one);
  const rows = [
    ["print('before')\nerror('broken', 0)", {}, 'ExecutionError', 'runtime'],
    ['print(1) return return', {}, 'SyntaxFailed', 'syntax_error'],
    [FOREVER, { timeout: 100 }, 'Timeout', 'timeout'],
    [FOREVER, { deadline: 100 }, 'Timeout', 'deadline'],
    ['one() one()', { maxToolCalls: 1 }, 'LimitExceeded', 'tool_limit'],
    ["s = string.rep('x', 1 << 30)", {}, 'LimitExceeded', 'memory_limit'],
    [`--${'x'.repeat(100_000)}`, {}, 'Blocked', 'blocked'],
  ];
  for (const [code, options, name, kind] of rows) {
    const error = await session.execute(code, options).then(() => null, (caught) => caught);
    assert.equal(error?.constructor, lazaret[name], kind);
    assert.deepEqual([error.kind, error.cause], [kind, undefined]);
    if (name === 'ExecutionError') {
      assert.deepEqual([error.message, error.line], ['broken', 2]);
      assert.ok(error.traceback.length);
      assert.equal(error.result.stdout, 'before\n');
    }
    const result = await session.execute(code, { ...options, check: false });
    assert.equal(result.ok, false);
  }
  const result = await session.execute("print(1) print(2)", { maxOutputLines: 1 });
  assert.equal(result.truncated, true);
});

test('tools are found by words', live, async (t) => {
  const session = lua(t, { ...one, name: 'readFile', description: 'Reads a text' },
    { ...one, name: 'send_mail' });
  const names = async (...words) => (await session.searchTools(...words)).map(({ name }) => name);
  assert.deepEqual(await names('read some files'), ['readFile']);
  assert.deepEqual(await names('mails, files', { limit: 1 }), ['send_mail']);
  assert.deepEqual(await names('weather'), []);
  await assert.rejects(session.searchTools('read', { limit: 0.5 }), RangeError);
});

test('tools say which calls need an approval', live, async (t) => {
  const config = join(temporary(t), 'lazaret.toml');
  writeFileSync(config, '[[approve]]\ntool = "some"\nwhen = { path = "/etc/*" }\n');
  const server = serverFor(t, { config });
  const named = (name) => ({ ...one, name, parameters: [{ name: 'path' }] });
  const session = await lazaret.Session.open({ runtime: 'lua', server,
    tools: [{ ...named('always'), approve: true }, named('some'), named('never')] });
  for (const found of [await session.tools(), await session.searchTools('always some never')]) {
    assert.deepEqual(
      Object.fromEntries(found.map((tool) => [tool.name, [tool.approve, tool.may_approve]])),
      { always: [true, undefined], some: [undefined, true], never: [undefined, undefined] });
  }
});

test('a tool is called when the host approves', live, async (t) => {
  const called = [];
  const asked = [];
  const erase = { name: 'erase', approve: true, parameters: [{ name: 'path', type: 'string' }],
    execute: ({ path }) => called.push(path) };
  const approve = async (approval) => {
    asked.push(approval);
    if (approval.args.path === 'c') throw new lazaret.ToolError('not on Mondays');
    return { a: true, b: false, d: 1 }[approval.args.path];
  };
  const server = serverFor(t);
  const session = await lazaret.Session.open({ runtime: 'lua', tools: [erase], server, approve });
  assert.equal((await session.execute("return erase('a')")).value, 1);
  assert.deepEqual([asked[0].tool, asked[0].args, asked[0].session, asked[0].signal.aborted],
    ['erase', { path: 'a' }, session.name, false]);
  assert.equal((await session.execute("return (pcall(erase, 'b'))")).value, false);
  await assert.rejects(session.execute("erase('c')"), /not approved: not on Mondays/);
  await assert.rejects(session.execute("erase('d')"), /not approved/); // only true is a yes
  assert.deepEqual([called, asked.length], [['a'], 4]);
  const silent = { runtime: 'lua', tools: [erase], server };
  await assert.rejects(lazaret.execute("erase('a')", silent), /decides on no approvals/);
  const controller = new AbortController();
  const gone = deferred();
  await assert.rejects(lazaret.execute("erase('a')", { ...silent, signal: controller.signal,
    approve: ({ signal }) => {
      signal.onabort = gone.resolve;
      controller.abort();
      return gone.promise; // it is resolved when nobody waits for the decision
    } }), lazaret.Cancelled);
  await gone.promise;
  assert.deepEqual(called, ['a']);
  assert.throws(() => new lazaret.Session({ approve: true }), TypeError);
  assert.throws(() => lazaret.tool({ ...erase, approve: 1 }), TypeError);
});

test('wrong options are errors before anything runs', live, async (t) => {
  const session = lua(t);
  for (const [code, options, kind] of [[5, {}, TypeError], ['a\0', {}, TypeError],
    ['a\ud800', {}, TypeError], ['', { timeout: -1 }, RangeError],
    ['', { deadline: '5' }, RangeError], ['', { maxToolCalls: 0.5 }, RangeError],
    ['', { output: 5 }, TypeError]]) {
    await assert.rejects(session.execute(code, options), kind);
  }
  assert.equal(session.server.isAlive, true);
});

test('a crash is WorkerLost, and the next result says so', live, async (t) => {
  const session = new lazaret.Session({ server: serverFor(t) });
  await assert.rejects(session.execute('import os; os.abort()'), lazaret.WorkerLost);
  assert.equal((await session.execute('1')).replaced, 'crashed');
});

test('code that is ended early keeps its session', live, async (t) => {
  const session = lua(t);
  await assert.rejects(session.execute('x = 5 while true do end', { timeout: 0.1 }),
    (error) => error instanceof lazaret.Timeout && error.result.kept);
  const output = () => session.interrupt();
  await assert.rejects(session.execute('print(1) while true do end', { output }),
    (error) => error instanceof lazaret.Cancelled && error.result.kept);
  await session.interrupt(); // there is nothing
  const { value, replaced, kept } = await session.execute('return x');
  assert.deepEqual([value, replaced, kept], [5, null, true]);
});

test('a value that cannot be sent is omitted', live, async (t) => {
  const result = await lua(t).execute('local t = {} t[1] = t return t');
  assert.deepEqual([result.ok, result.valueOmitted, result.value], [true, true, null]);
  assert.match(result.text, /^table: /);
  assert.match(result.warnings[0], /^value_omitted: .*contains itself/);
});

test('values of Python', live, async (t) => {
  const tools = [{ name: 'same', parameters: [{ name: 'value' }], execute: ({ value }) => value }];
  const code = `
import datetime
value = [{1: b'a'}, 2**70, float('inf'), datetime.date(2024, 1, 31), {'\$int': 5}, -0.0, None,
         datetime.datetime(2024, 1, 31, 12, tzinfo=datetime.timezone.utc), [2**53, 1e300]]
back = same(value)
[value, back == value, [type(x).__name__ for x in back], str(back[5])]`;
  const { value: [value, isSame, names, zero] } = await lazaret.execute(code,
    { server: serverFor(t), tools });
  assert.deepEqual(value, [new Map([[1, new Uint8Array([97])]]), 2n ** 70n, Infinity,
    new lazaret.CalendarDate('2024-01-31'), { $int: 5 }, -0, null,
    new Date('2024-01-31T12:00:00Z'), [2 ** 53, 1e300]]);
  assert.deepEqual([isSame, zero], [true, '-0.0']);
  assert.deepEqual(names,
    ['dict', 'int', 'float', 'date', 'dict', 'float', 'NoneType', 'datetime', 'list']);
});

test('state lasts until restart, and a session describes itself', live, async (t) => {
  const session = lua(t, one);
  await session.execute('x = 5');
  assert.equal((await session.execute('return x')).value, 5);
  assert.equal((await session.execute('return 1')).session, session.name);
  await session.restart();
  assert.equal((await session.execute('return x')).value, null);
  assert.equal(await session.isAlive(), true);
  assert.deepEqual((await session.tools()).map(({ name }) => name), ['one']);
  assert.match((await session.describe()).text, /lua/);
  await Promise.all([session.close(), session.close()]);
  assert.equal(await session.isAlive(), false);
  await assert.rejects(session.execute('return 1'), /this session is closed/);
});

test('an unknown runtime is SetupFailed', live, async (t) => {
  const options = { runtime: 'nope', server: serverFor(t) };
  for (const use of [lazaret.Session.open(options), lazaret.execute('', options)]) {
    await assert.rejects(use, { name: 'SetupFailed', message: /nope/ });
  }
});

test('a busy session refuses, and closing it cancels', live, async (t) => {
  const started = deferred();
  const session = lua(t, { name: 'started', execute: started.resolve });
  const running = assert.rejects(session.execute(`started() ${FOREVER}`),
    (error) => error instanceof lazaret.Cancelled && error.result.verdict === 'cancelled');
  await started.promise;
  await assert.rejects(session.execute('return 1'), { name: 'RequestFailed', code: 'LAZ_EBUSY' });
  await session.close();
  await running;
});

test('pools', live, async (t) => {
  const pool = new lazaret.Pool({ runtime: 'lua', size: 2, server: serverFor(t) });
  await pool.execute('x = 1');
  assert.equal((await pool.execute('return x', { wait: 60_000 })).value, null);
  assert.equal((await pool.status()).total, 2);
  const { server } = pool;
  const own = await lazaret.Pool.open({ runtime: 'lua', size: 1, tools: [one], server });
  assert.equal((await own.execute('return one()')).value, 1);
  assert.equal((await pool.execute('return one', { wait: 60_000 })).value, null);
  await pool.close();
  await own.close();
});

test('one-shot executions on the default server', live, async (t) => {
  t.after(() => lazaret.defaultServer().close());
  assert.equal((await lazaret.execute('return 1 + 1', { runtime: 'lua' })).value, 2);
  assert.equal((await lazaret.execute('return one()', { runtime: 'lua', tools: [one] })).value, 1);
  assert.equal(lazaret.defaultServer(), lazaret.defaultServer());
});

test('an aborted signal ends the code', live, async (t) => {
  const server = serverFor(t);
  const session = new lazaret.Session({ runtime: 'lua', server });
  const reason = new Error('enough');
  await assert.rejects(session.execute(FOREVER, { signal: AbortSignal.abort(reason) }),
    { name: 'Cancelled', cause: reason, result: null });
  for (const check of [true, false]) {
    const controller = new AbortController();
    const error = await session.execute(`print('x') ${FOREVER}`, {
      signal: controller.signal, check, output: () => controller.abort(reason),
    }).catch((caught) => caught);
    assert.deepEqual([error.name, error.cause, error.result.verdict, error.result.stdout],
      ['Cancelled', reason, 'cancelled', 'x\n']);
  }
  assert.equal((await session.execute('return 1')).value, 1);
  const late = new AbortController();
  const opening = new lazaret.Session({ runtime: 'lua', server });
  const refused = assert.rejects(opening.execute('return 1', { signal: late.signal }),
    lazaret.Cancelled);
  late.abort();
  await refused;
  assert.equal((await opening.execute('return 2')).value, 2);
});

test('a signal that many executions share', live, async (t) => {
  const warnings = [];
  const note = (warning) => warnings.push(warning.message);
  process.on('warning', note);
  t.after(() => process.off('warning', note));
  const { signal } = new AbortController();
  const server = serverFor(t);
  await Promise.all(Array.from({ length: 16 }, async () => {
    const session = new lazaret.Session({ runtime: 'lua', server });
    await session.execute('return 1', { signal });
    for await (const event of session.stream('return 1', { signal })) assert.ok(event.result.ok);
  }));
  assert.deepEqual(warnings, []);
});

test('errors of tools', live, async (t) => {
  const session = lua(t, { name: 'fail', execute: () => { throw new TypeError('no luck'); } },
    { name: 'tell', execute: async () => { throw new lazaret.ToolError('no luck'); } },
    { name: 'odd', execute: () => { throw { toString: null }; } },
    { name: 'loop', execute: () => { const a = []; a.push(a); return a; } },
    { name: 'wrong', execute: () => [() => 1] });
  const caught = await session.execute('return select(2, pcall(fail)), select(2, pcall(odd))');
  assert.match(String(caught.value), /TypeError: no luck.*the tool has failed/s);
  const rows = [
    ['fail()', TypeError, /TypeError: no luck/], ['tell()', lazaret.ToolError, /no luck/],
    ['loop()', RangeError, /contains itself/], ['wrong()', TypeError, /type function/],
  ];
  for (const [code, kind, message] of rows) {
    await assert.rejects(session.execute(code), (error) =>
      error instanceof lazaret.ExecutionError && error.cause instanceof kind &&
      message.test(error.message));
  }
  await assert.rejects(session.execute("pcall(fail) error('another')"),
    (error) => error.cause === undefined);
});

test('a call that takes too long is aborted', live, async (t) => {
  const reports = [];
  const session = lua(t, {
    name: 'forever', timeout: 100,
    execute: async (args, { signal, session: name }) => {
      if (!signal.aborted) await once(signal, 'abort');
      reports.push(name);
      return 'too late';
    },
  });
  assert.equal((await session.execute('return (pcall(forever))')).value, false);
  assert.deepEqual(reports, [session.name]);
});

test('calls run side by side, each in the context of its execution', live, async (t) => {
  const storage = new AsyncLocalStorage();
  const both = deferred();
  const arrived = [];
  const meet = {
    name: 'meet', parameters: [{ name: 'number' }],
    execute: async ({ number }) => {
      if (arrived.push(number) === 2) both.resolve();
      await both.promise;
      return [number, storage.getStore()];
    },
  };
  const session = new lazaret.Session({ tools: [meet], server: serverFor(t) });
  await session.open();
  const code = `
import asyncio
async def main():
    return await asyncio.gather(meet.aio(1), meet.aio(2))
asyncio.run(main())`;
  const result = await storage.run('here', () => session.execute(code));
  assert.deepEqual(result.value, [[1, 'here'], [2, 'here']]);
});

test('8 MiB out of and into a tool', live, async (t) => {
  const session = lua(t, { name: 'big', execute: () => 'b'.repeat(8 * MIB) },
    { name: 'length', parameters: [{ name: 'text' }], execute: ({ text }) => text.length },
    { name: 'huge', execute: () => 'b'.repeat(70 * MIB) });
  assert.equal((await session.execute('return #big()')).value, 8 * MIB);
  assert.equal((await session.execute(`return length(string.rep('l', ${8 * MIB}))`)).value,
    8 * MIB);
  assert.equal((await session.execute(`return string.rep('v', ${8 * MIB})`)).value,
    'v'.repeat(8 * MIB));
  await assert.rejects(session.execute('huge()'), /too long/);
  await assert.rejects(session.execute('x'.repeat(70 * MIB)), /too long for the server/);
});

test('64 MiB out of and into a tool, and as value', live, async (t) => {
  const settings = { 'session.max_message_size': '144MiB', 'session.max_value_size': '80MiB',
    'limits.memory': '1GiB' };
  const session = new lazaret.Session({
    runtime: 'lua',
    tools: [{ name: 'big', execute: () => 'b'.repeat(64 * MIB) },
      { name: 'length', parameters: [{ name: 'text' }], execute: ({ text }) => text.length }],
    server: serverFor(t, { settings }),
  });
  assert.equal((await session.execute('return #big()')).value, 64 * MIB);
  assert.equal((await session.execute(`return length(string.rep('l', ${64 * MIB}))`)).value,
    64 * MIB);
  const { value } = await session.execute(`return string.rep('v', ${64 * MIB})`);
  assert.equal(value.length, 64 * MIB);
});

test('output comes in order, and an error of its consumer ends the code', live, async (t) => {
  const session = lua(t);
  const got = [];
  await session.execute("print('a') print('b')", {
    output: async (stream, text) => {
      await null;
      got.push([stream, text]);
    },
  });
  assert.equal(got.map(([, text]) => text).join(''), 'a\nb\n');
  assert.ok(got.every(([stream]) => stream === 'stdout'));
  for (const output of [() => { throw new Error('no'); }, async () => { throw new Error('no'); }]) {
    await assert.rejects(session.execute(`print('x') ${FOREVER}`, { output }), /^Error: no$/);
  }
});

test('a flood neither stops tools nor fills the memory', live, async (t) => {
  const released = deferred();
  let size = 0;
  const session = new lazaret.Session({
    runtime: 'lua',
    tools: [{ name: 'release', execute: released.resolve }],
    server: serverFor(t, { settings: { 'session.max_output_size': '32MiB' } }),
  });
  const result = await session.execute(
    "for i = 1, 384 do io.write(string.rep('x', 65536)) end release()", {
      output: (stream, text) => {
        size += text.length;
        return released.promise;
      },
    });
  assert.ok(result.dropped > 0);
  assert.equal(size + result.dropped, 24 * MIB);
  assert.equal(result.stdout.length, 24 * MIB);
});

test('a stream has output, calls and the result', live, async (t) => {
  const session = lua(t, { name: 'twice', parameters: [{ name: 'n' }], execute: ({ n }) => 2 * n });
  const events = [];
  for await (const event of session.stream("print('a') io.stdout:flush() return twice(4)")) {
    events.push(event.type === 'result' ? ['result', event.result.value]
      : [event.type, event.text ?? event.args]);
  }
  // Output comes by a pipe, beside the calls, so either may be the first; the result is the last.
  assert.deepEqual(events.pop(), ['result', 8]);
  assert.deepEqual(events.sort(), [['output', 'a\n'], ['tool_call', { n: 4 }]]);
  await assert.rejects(session.stream("error('x')").next(), lazaret.ExecutionError);
  const failed = await session.stream("error('x')", { check: false }).next();
  assert.equal(failed.value.result.verdict, 'error');
  for await (const event of session.stream(`print('x') ${FOREVER}`)) {
    assert.equal(event.text, 'x\n');
    break; // ends the code
  }
  assert.equal((await session.execute('return 1')).value, 1);
  const controller = new AbortController();
  await assert.rejects(async () => {
    for await (const event of session.stream(`print('x') ${FOREVER}`,
      { signal: controller.signal })) controller.abort(event);
  }, lazaret.Cancelled);
});

test('progress', live, async (t) => {
  const seen = [];
  const enough = { name: 'enough', execute: () => seen.length > 1 };
  const session = new lazaret.Session({ runtime: 'python', tools: [enough], server: serverFor(t) });
  const code = 'import time\nwhile not enough(): time.sleep(0.02)\n5';
  const { value, usage } = await session.execute(code, { onProgress: (one) => seen.push(one) });
  assert.equal(value, 5);
  assert.deepEqual(Object.keys(seen[0]).sort(),
    ['cpu_ms', 'max_rss_bytes', 'tool_calls', 'wall_ms']);
  assert.ok(seen[0].wall_ms < seen[1].wall_ms && seen[0].max_rss_bytes > 0);
  assert.ok(seen[0].tool_calls > 0 && seen[1].tool_calls <= usage.tool_calls);
  const forever = 'import time\nwhile True: time.sleep(0.02)';
  const refuse = () => { throw new Error('enough'); };
  await assert.rejects(session.execute(forever, { onProgress: refuse }), /^Error: enough$/);
  for await (const event of session.stream(forever, { progress: true })) {
    assert.equal(event.type, 'progress');
    break;
  }
  await assert.rejects(session.execute('1', { onProgress: 5 }), TypeError);
});

test('a consumer that is slow gets the progress that is next, and no more', live, async (t) => {
  const server = serverFor(t);
  const session = await lazaret.Session.open({ runtime: 'lua', server });
  const released = deferred();
  const begun = deferred();
  const seen = [];
  const running = session.execute(FOREVER, {
    check: false,
    onProgress: ({ wall_ms: ms }) => {
      seen.push(ms);
      begun.resolve();
      return released.promise;
    },
  });
  await begun.promise;
  const [{ onEvent }] = server._pending.values();
  for (let i = 1; i < 1000; i++) {
    onEvent({ type: 'progress', wall_ms: i / 1000, cpu_ms: 0, max_rss_bytes: 0, tool_calls: 0 }, 9);
  }
  server._post({ type: 'cancel', request: server._lastId });
  released.resolve();
  assert.equal((await running).verdict, 'cancelled');
  assert.deepEqual(seen.slice(1), [0.001]);
});

test('100 executions, 16 at once, are each answered once', live, async (t) => {
  const server = serverFor(t);
  const answers = [];
  const deliver = server._deliver;
  server._deliver = (message, size) => {
    if (message.type === 'result') answers.push(message.id);
    deliver.call(server, message, size);
  };
  const verdicts = [];
  const work = async (i, session) => {
    const controller = new AbortController();
    const [code, options] = [
      [`print('x') ${FOREVER}`, { signal: controller.signal, output: () => controller.abort() }],
      [FOREVER, { timeout: 50 }],
    ][i % 5] ?? [`return ${i}`, {}];
    const end = await session.execute(code, options)
      .then((result) => result.value, (error) => error.name);
    verdicts[i] = verdicts[i] === undefined ? end : 'twice';
  };
  let next = 0;
  await Promise.all(Array.from({ length: 16 }, async () => {
    const session = await lazaret.Session.open({ runtime: 'lua', server });
    while (next < 100) await work(next++, session);
    await session.close();
  }));
  assert.deepEqual(verdicts,
    Array.from({ length: 100 }, (_, i) => ['Cancelled', 'Timeout'][i % 5] ?? i));
  assert.equal(answers.length, 100);
  assert.deepEqual([server._pending.size, server._calls.size, server._held], [0, 0, 0]);
});
