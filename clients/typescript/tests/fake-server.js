// SPDX-License-Identifier: MIT
// Stands in for `lazaret serve`, and speaks the protocol wrongly, as its first argument says.

import { createInterface } from 'node:readline';

const [mode] = process.argv.slice(2);
const HELLO = { type: 'hello', protocol: 1, version: '0', max_line: 1 << 20, max_sessions: 0 };
const RESULT = { ok: true, value: 'äöü', verdict: { reason: 'ok' } };
const ARTIFACT = { name: 'x', type: 'text/plain', size: 4, sha256: '0'.repeat(64) };
const send = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

const GREETINGS = {
  silent: () => {},
  version: () => send({ ...HELLO, protocol: 2 }),
  late: () => send({ type: 'done', id: 1 }),
  greeting: () => process.stdout.write('Welcome!\n'),
  dies: () => {
    process.stderr.write('line one\nno luck', () => process.exit(3));
  },
};

/** How an `execute` is answered. */
const ANSWERS = {
  rubbish: () => process.stdout.write('{"type":\n'),
  text: () => process.stdout.write('5\n'),
  members: ({ id }) => send({ type: 'output', id, stream: 'stdout' }),
  wrong: ({ id }) => send({ type: 'done', id }),
  half: () => process.stdout.write('{"type":"resu', () => process.exit(0)),
  failed: () => {
    send({ type: 'failed', code: 'LAZ_EPROTO', message: 'line 1 is not JSON' });
    process.exitCode = 125;
    process.stdin.destroy();
  },
  killed: () => process.kill(process.pid, 'SIGKILL'),
  twice: ({ id }) => {
    send({ type: 'result', id, result: RESULT });
    send({ type: 'result', id, result: {} });
  },
  more: ({ id }) => {
    send({ type: 'news', id, text: 'of a later version' });
    send({ type: 'result', id: id + 1000, result: {} });
    send({ type: 'tool_cancelled', call: 77 });
    send({ type: 'result', id, result: RESULT, news: 1 });
  },
  slices: async ({ id }) => {
    for (const byte of Buffer.from(`${JSON.stringify({ type: 'result', id, result: RESULT })}\n`)) {
      await new Promise((resolve) => {
        process.stdout.write(Buffer.from([byte]), () => setImmediate(resolve));
      });
    }
  },
  corrupted: ({ id }) => {
    send({ type: 'artifact', id, name: 'x', data: 'c29tZQ==', part: 0 });
    send({ type: 'result', id, result: { ...RESULT, artifacts: [ARTIFACT] } });
  },
  dropped: ({ id }) => {
    send({ type: 'artifact', id, name: 'x', dropped: 4 });
    send({ type: 'result', id, result: { ...RESULT, artifacts: [ARTIFACT] } });
  },
  tool: ({ id }) => send({ type: 'tool_call', call: 5, id, tool: 'nobody', args: {} }),
};

(GREETINGS[mode] ?? (() => send(HELLO)))();
createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  if (message.type === 'execute') ANSWERS[mode]?.(message);
  if (message.type === 'answer') {
    send({ type: 'result', id: 1, result: { ...RESULT, value: message.error } });
  }
});
