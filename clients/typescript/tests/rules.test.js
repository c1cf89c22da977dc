// SPDX-License-Identifier: MIT
// What a program asks of its own executions: each option, in sessions, pools and one-shot calls.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import {
  Blocked, Pool, Server, Session, SetupFailed, defaultServer, execute,
} from '../src/index.js';
import { live, serverFor, start, temporary } from './support.js';

const EXECUTED = ['validate', 'maxCodeLength', 'traceparent', 'tracestate'];

function opened(Kind) {
  return async (codes, options) => {
    const executed = Object.fromEntries(EXECUTED.filter((name) => name in options)
      .map((name) => [name, options[name]]));
    const one = await Kind.open({ runtime: 'lua', ...options });
    try {
      const results = [];
      for (const code of codes) {
        results.push(await one.execute(code, { check: false, ...executed }));
      }
      return results;
    } finally {
      await one.close();
    }
  };
}

const WAYS = {
  session: opened(Session),
  pool: opened(Pool),
  'one-shot': async (codes, options) => {
    const results = [];
    for (const code of codes) {
      results.push(await execute(code, { runtime: 'lua', check: false, ...options }));
    }
    return results;
  },
};

function verdicts(results) {
  return results.map(({ verdict }) => verdict);
}

for (const [name, way] of Object.entries(WAYS)) {
  test(`limits of a ${name}`, live, async () => {
    const code = "local f = io.open('f', 'w') f:setvbuf('no') " +
      "return f:write(string.rep('x', 2000)) == f";
    for (const [limits, wanted] of [[{ fsize: 1000 }, false], [{ fsize: '1KiB' }, false],
      [{ fsize: Infinity, cpu: 5 }, true]]) {
      const [result] = await way([code], { limits });
      assert.equal(result.ok && result.value, wanted);
    }
    await assert.rejects(way(['return 1'], { limits: { cup: 1 } }),
      { name: 'SetupFailed', message: /limits.cup.*did you mean/ });
    for (const cpu of [0, -1, NaN, null]) {
      await assert.rejects(way(['return 1'], { limits: { cpu } }), RangeError);
    }
  });

  test(`audit log of a ${name}`, live, async (t) => {
    const auditLog = join(temporary(t), 'log', 'audit.jsonl');
    await way(['return 5'], { auditLog });
    const lines = readFileSync(auditLog, 'utf8').trim().split('\n');
    assert.ok(lines.some((line) => JSON.parse(line).code === 'return 5'));
    await assert.rejects(way(['return 5'], { auditLog: '' }), TypeError);
  });

  test(`trace of a ${name}`, live, async (t) => {
    const auditLog = join(temporary(t), 'audit.jsonl');
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    await way(['return 5'], { auditLog, traceparent, tracestate: 'vendor=1' });
    const text = readFileSync(auditLog, 'utf8');
    assert.match(text, new RegExp(`"traceparent":"${traceparent}"`));
    assert.match(text, /"tracestate":"vendor=1"/);
    await assert.rejects(way(['return 5'], { traceparent: 5 }), TypeError);
  });

  test(`errors of a ${name} are sanitized`, live, async (t) => {
    const code = "error('cannot open /home/me/secret', 0)";
    const [sanitized] = await way([code], { sanitizeErrors: true });
    assert.equal(sanitized.error.message, 'cannot open [path]');
    const [plain] = await way([code], { server: serverFor(t) });
    assert.equal(plain.error.message, 'cannot open /home/me/secret');
  });

  test(`number of executions of a ${name}`, live, async (t) => {
    const server = serverFor(t);
    const [one] = await way(['return 1'], { server, maxExecutions: 1 });
    assert.equal(one.value, 1);
    await assert.rejects(way(['return 1'], { server, maxExecutions: 0 }), RangeError);
    if (name === 'one-shot') return;
    const results = await way(['return return', 'return 1', "error('x')", 'return 3'],
      { server, maxExecutions: 2 });
    assert.deepEqual(verdicts(results), ['syntax_error', 'ok', 'error', 'blocked']);
    assert.equal(results[3].detail, 'the maximum of 2 executions is reached');
  });

  test(`hook of a ${name}`, live, async (t) => {
    const server = serverFor(t);
    const seen = [];
    const preExecuteHook = (code) => {
      seen.push(code);
      if (code.includes('break')) throw new TypeError('no breaks');
      return code.includes('1') ? undefined : code.includes('2');
    };
    const codes = ['return 1', 'return 2', 'return 3', 'do break end'];
    for (const hook of [preExecuteHook, async (code) => preExecuteHook(code)]) {
      const results = await way(codes, { server, preExecuteHook: hook });
      assert.deepEqual(verdicts(results), ['ok', 'ok', 'blocked', 'blocked']);
      assert.deepEqual(results.slice(2).map(({ detail }) => detail), [
        'preExecuteHook has refused the code',
        'preExecuteHook has failed: TypeError: no breaks']);
    }
    assert.deepEqual(seen, [...codes, ...codes]);
    await assert.rejects(way(['return 1'], { server, preExecuteHook: 'no function' }), TypeError);
  });

  test(`warnings of a ${name}`, live, async (t) => {
    const server = serverFor(t);
    const code = "if false then require('socket') end";
    assert.equal((await way([code], { server }))[0].warnings.length, 1);
    const [result] = await way([code], { server, validate: false });
    assert.deepEqual([result.verdict, result.warnings], ['ok', []]);
  });

  test(`longest code of a ${name}`, live, async (t) => {
    const server = serverFor(t);
    const [short, long] = await way(['x = 10', 'x = 100'], { server, maxCodeLength: 6 });
    assert.deepEqual([short.verdict, long.verdict, long.detail],
      ['ok', 'blocked', 'Code too long (7 characters, maximum 6)']);
    const [longest] = await way([`--${'x'.repeat(100_000)}`], { server, maxCodeLength: 200_000 });
    assert.equal(longest.verdict, 'blocked'); // it is the server's that holds
  });

  test(`a ${name} that tells what happens`, live, async (t) => {
    const kind = name === 'pool' ? 'Pool' : 'Session';
    const options = `{ runtime: 'lua', verbose, tools: [{ name: 'add',
      parameters: [{ name: 'a' }, { name: 'b' }], execute: ({ a, b }) => {
        if (b === 9) throw new RangeError('no nine');
        return a + b;
      } }], preExecuteHook: (code) => code !== 'return 1' }`;
    const run = name === 'one-shot' ? `await execute(code, { ...options, check: false });`
      : `const one = await ${kind}.open(options);
         await one.execute(code, { check: false });
         await one.close();`;
    const child = start(t, `import { Pool, Session, execute } from '@lazaret/client';
      for (const verbose of [false, true]) {
        if (verbose) console.error('verbose');
        for (const code of ['add(1, 2) pcall(add, 1, 9)', 'return 1']) {
          const options = ${options};
          ${run}
        }
      }
      process.exit();`);
    assert.deepEqual(await child.closed, [0, null], child.errors);
    const [before, after] = child.errors.split('verbose\n');
    assert.equal(before, '');
    for (const words of [`${kind.toLowerCase()} started`, 'tool call: add(a, b)',
      'tool result: add', 'tool error: add: RangeError: no nine', 'execution ended: ok (',
      'execution blocked: preExecuteHook', `${kind.toLowerCase()} closed`]) {
      assert.ok(after.includes(`[lazaret] ${words}`), after);
    }
  });

  test(`a ${name} takes no settings for a server that is given`, live, async (t) => {
    const server = serverFor(t);
    for (const option of [{ limits: { cpu: 1 } }, { auditLog: 'x' }, { sanitizeErrors: true }]) {
      await assert.rejects(way(['return 1'], { server, ...option }), /belong to a server/);
    }
  });
}

test('what is blocked throws', live, async (t) => {
  const options = { runtime: 'lua', server: serverFor(t), preExecuteHook: () => false };
  await assert.rejects(new Session(options).execute('return 1'),
    (error) => error instanceof Blocked && error.kind === 'blocked');
  await assert.rejects(execute('return 1', options), Blocked);
  const events = [];
  for await (const { type, result } of new Pool(options).stream('return 1', { check: false })) {
    events.push([type, result.verdict]);
  }
  assert.deepEqual(events, [['result', 'blocked']]);
});

test('a restart leaves the number of executions', live, async (t) => {
  const session = new Session({ runtime: 'lua', server: serverFor(t), maxExecutions: 1 });
  await session.execute('return 1');
  await session.restart();
  await assert.rejects(session.execute('return 1'), Blocked);
});

test('many at once have no more executions', live, async (t) => {
  const pool = new Pool({ runtime: 'lua', size: 2, server: serverFor(t), maxExecutions: 5,
    preExecuteHook: async () => true });
  const results = await Promise.all(Array.from({ length: 16 },
    () => pool.execute('return 1', { check: false })));
  assert.equal(verdicts(results).filter((verdict) => verdict === 'ok').length, 5);
  assert.equal(verdicts(results).filter((verdict) => verdict === 'blocked').length, 11);
});

test('a server of its own ends with it', live, async () => {
  const session = await Session.open({ runtime: 'lua', limits: { cpu: 5 } });
  assert.ok(session.server instanceof Server);
  assert.notEqual(session.server, defaultServer());
  await session.close();
  assert.equal(session.server.isAlive, false);
  const wrong = new Session({ runtime: 'nothing', limits: { cpu: 5 } });
  await assert.rejects(wrong.open(), SetupFailed);
  assert.equal(wrong.server.isAlive, false);
  await defaultServer().close();
});
