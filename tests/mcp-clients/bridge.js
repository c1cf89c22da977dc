// SPDX-License-Identifier: MIT
// A server on HTTP in front of one on stdio, for clients that cannot start programs: the messages
// pass through the transports of the SDK unchanged.

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';

import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

/** A pair of transports for a client: a process of its own. */
async function pair(parameters, sessions) {
  const inner = new StdioClientTransport({ ...parameters, stderr: 'inherit' });
  const outer = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => sessions.set(id, outer),
  });
  inner.onmessage = (message) => outer.send(message).catch(() => {});
  outer.onmessage = (message) => inner.send(message).catch(() => {});
  outer.onclose = () => inner.close();
  await inner.start();
  await outer.start();
  return outer;
}

/** Serve `parameters.command` with `parameters.args` at a URL, until the test ends. */
export async function bridge(t, parameters) {
  const sessions = new Map();
  const server = createServer(async (request, response) => {
    const known = sessions.get(request.headers['mcp-session-id']);
    await (known ?? await pair(parameters, sessions)).handleRequest(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(async () => {
    await Promise.all([...sessions.values()].map((outer) => outer.close()));
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}/mcp`;
}
