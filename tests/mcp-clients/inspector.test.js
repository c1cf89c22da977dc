// SPDX-License-Identifier: MIT
// The command line of MCP Inspector, and a configuration that lazaret mcp --install has written.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { guarded, program, structured, temporary, words } from './support.js';

const run = promisify(execFile);
const launcher = fileURLToPath(
  new URL('node_modules/@modelcontextprotocol/inspector/cli/build/cli.js', import.meta.url));

/** What a request of the Inspector gives. */
async function inspect(...args) {
  const { stdout } = await run(process.execPath, [launcher, '--cli', ...args]);
  return JSON.parse(stdout.slice(stdout.indexOf('{')));
}

test('the Inspector lists the tools and executes code', guarded, async (t) => {
  const [, , configuration] = structured(t); // its option --config would be the Inspector's
  const server = ['-e', `LAZARET_CONFIG=${configuration}`, program, 'mcp'];
  const { tools } = await inspect(...server, '--method', 'tools/list');
  assert.equal(tools.length, 8);
  const result = await inspect(...server, '--method', 'tools/call', '--tool-name', 'execute',
    '--tool-arg', 'code=sum(1:10)', '--tool-arg', 'runtime=r');
  assert.equal(result.structuredContent.value, 55);
  assert.match(result.content[0].text, /55/);
});

test('the Inspector starts what --install has written', guarded, async (t) => {
  const file = join(temporary(t), 'mcp.json');
  const [, ...options] = words(t);
  for (const client of ['claude', 'claude-desktop', 'cursor']) {
    await run(program, ['mcp', '--install', client, file, ...options]);
    const result = await inspect('--config', file, '--server', 'lazaret', '--method', 'tools/call',
      '--tool-name', 'search_tools', '--tool-arg', 'query=erase');
    assert.match(result.content[0].text, /Erases a record/, client);
  }
});
