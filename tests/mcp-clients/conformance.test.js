// SPDX-License-Identifier: MIT
// The conformance suite of MCP, as far as it is about what every server has. Other scenarios call
// tools, prompts and resources of a server that was written for the suite (`test_simple_text`).

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { listening, proxied } from './listening.js';
import { guarded, temporary, words } from './support.js';

const run = promisify(execFile);
const suite = fileURLToPath(
  new URL('node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url));
const SCENARIOS = ['server-initialize', 'ping', 'tools-list', 'resources-list',
  'dns-rebinding-protection'];

for (const scenario of SCENARIOS) {
  test(`conformance: ${scenario}`, guarded, async (t) => {
    const url = await proxied(t, await listening(t, words(t)));
    const { stdout } = await run(process.execPath,
      [suite, 'server', '--url', url, '--scenario', scenario], { cwd: temporary(t) });
    assert.match(stdout, /Passed: ([1-9]\d*)\/\1, 0 failed, 0 warnings/);
  });
}
