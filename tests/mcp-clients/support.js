// SPDX-License-Identifier: MIT
// What the tests of lazaret mcp with foreign clients have in common: the program, a configuration,
// and clients of each era, which differ in how they are made and in nothing that a test sees.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernHttp,
} from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernTransport } from '@modelcontextprotocol/client/stdio';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import {
  StreamableHTTPClientTransport as LegacyHttp,
} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

import { listening } from './listening.js';

export const program = process.env.LAZARET;
if (!program) throw new Error('LAZARET has to be the path of the command');

/** A test that takes longer hangs. */
export const guarded = { timeout: 600_000 };

/** No timeout of a client ends a request on a busy machine. */
export const PATIENT = { timeout: 600_000 };

/** A tool that needs an approval, and settings without clocks. */
const CONFIGURATION = `
[session]
start_timeout = 600
timeout = 0
deadline = 0
[[tools]]
provider = "command"
[[tools.tool]]
name = "erase"
description = "Erases a record."
command = ["/bin/echo", "erased", "--", "{record}"]
parameters = { record = { type = "string" } }
output = "text"
approve = true
`;

/** A directory, removed after the test. */
export function temporary(t) {
  const directory = mkdtempSync(join(tmpdir(), 'lazaret-mcp-'));
  t.after(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** The words after the program of a server with this configuration. */
export function words(t, configuration = CONFIGURATION) {
  const file = join(temporary(t), 'lazaret.toml');
  writeFileSync(file, configuration, { mode: 0o600 });
  return ['mcp', '--config', file];
}

/** The same, whose results are for programs too. */
export function structured(t, configuration = CONFIGURATION) {
  return words(t, `${configuration}\n[mcp]\nstructured = true\n`);
}

const about = { name: 'lazaret-test', version: '1.0.0' };

/** How a client reaches a server with these words: by starting it, or at a port. */
async function transport(t, Stdio, Http, args, isHttp) {
  if (!isHttp) return new Stdio({ command: program, args, stderr: 'inherit' });
  const { url, token } = await listening(t, args);
  return new Http(url, { requestInit: { headers: { Authorization: `Bearer ${token}` } } });
}

/** A client of the era with a handshake; `elicit` answers questions. */
async function legacy(t, { args, elicit }, isHttp) {
  const client = new LegacyClient(about, { capabilities: elicit ? { elicitation: {} } : {} });
  if (elicit) client.setRequestHandler(ElicitRequestSchema, (request) => elicit(request.params));
  await client.connect(await transport(t, LegacyTransport, LegacyHttp, args, isHttp), PATIENT);
  t.after(() => client.close());
  return {
    client,
    call: (name, given, options) =>
      client.callTool({ name, arguments: given }, undefined, { ...PATIENT, ...options }),
  };
}

/** A client of version 2 of the SDK: with `mode`, of the era without a handshake. */
async function modern(t, { args, elicit }, mode, isHttp) {
  const client = new ModernClient(about, {
    capabilities: elicit ? { elicitation: {} } : {},
    versionNegotiation: { mode, probe: { timeoutMs: PATIENT.timeout } },
  });
  if (elicit) client.setRequestHandler('elicitation/create', (request) => elicit(request.params));
  await client.connect(await transport(t, ModernTransport, ModernHttp, args, isHttp), PATIENT);
  t.after(() => client.close());
  return {
    client,
    call: (name, given, options) =>
      client.callTool({ name, arguments: given }, { ...PATIENT, ...options }),
  };
}

const PIN = { pin: '2026-07-28' };

/** Clients by name: `connect(t, { args, elicit })` gives `client` and `call`. */
export const clients = {
  'sdk 1.x': (t, options) => legacy(t, options),
  'client 2.x, with a handshake': (t, options) => modern(t, options, 'legacy'),
  'client 2.x, 2026-07-28': (t, options) => modern(t, options, PIN),
  'client 2.x, which finds out': (t, options) => modern(t, options, 'auto'),
  'sdk 1.x, HTTP': (t, options) => legacy(t, options, true),
  'client 2.x, 2026-07-28, HTTP': (t, options) => modern(t, options, PIN, true),
};

/** The first text of a result. */
export function textOf(result) {
  return result.content.find(({ type }) => type === 'text')?.text ?? '';
}

/** A promise and the function that resolves it. */
export function deferred() {
  let resolve;
  const promise = new Promise((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
