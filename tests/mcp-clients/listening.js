// SPDX-License-Identifier: MIT
// lazaret mcp --listen, and a proxy that adds its token for a client that cannot send one:
// everything else passes unchanged.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { program, temporary } from './support.js';

/** A server at a port, ended after the test: its URL and its token. */
export async function listening(t, args) {
  const file = join(temporary(t), 'token');
  const child = spawn(program, [...args, '--listen', '127.0.0.1:0', '--token-file', file],
    { stdio: ['ignore', 'inherit', 'pipe'] });
  const ended = once(child, 'close');
  t.after(async () => {
    child.kill();
    await ended;
  });
  const lines = createInterface({ input: child.stderr });
  for await (const line of lines) {
    const url = /listening at (http\S+)/.exec(line)?.[1];
    if (url) {
      child.stderr.resume();
      return { url: new URL(url), token: readFileSync(file, 'utf8').trim() };
    }
    console.error(line);
  }
  throw new Error('the server does not listen');
}

/** The URL of a proxy in front of it. */
export async function proxied(t, { url, token }) {
  const server = createServer((from, to) => {
    const headers = { ...from.headers, authorization: `Bearer ${token}` };
    if (headers.host === `127.0.0.1:${server.address().port}`) headers.host = url.host;
    const on = request(url, { method: from.method, headers }, (answer) => {
      to.writeHead(answer.statusCode, answer.headers);
      answer.pipe(to);
    });
    on.on('error', () => to.destroy());
    to.on('close', () => on.destroy());
    from.pipe(on);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}${url.pathname}`;
}
