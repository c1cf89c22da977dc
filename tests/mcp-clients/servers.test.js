// SPDX-License-Identifier: MIT
// Clients from npm at one end, the reference servers from npm at the other, lazaret between them: a
// script that a client sends in one request calls tools of both servers, in the sandbox.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { clients, guarded, program, structured, temporary, textOf } from './support.js';

const run = promisify(execFile);

function script(name) {
  return fileURLToPath(new URL(`node_modules/@modelcontextprotocol/${name}`, import.meta.url));
}

const SETTINGS = `
[session]
start_timeout = 600
timeout = 0
deadline = 0
`;

function provider(name, ...command) {
  return `
[[tools]]
provider = "mcp"
name = "${name}"
command = ${JSON.stringify([process.execPath, ...command])}
start_timeout = 600
timeout = 600
`;
}

/** The words of a server whose code can call both reference servers; files are in `directory`. */
function between(t, directory) {
  return structured(t, SETTINGS +
    provider('everything', script('server-everything/dist/index.js'), 'stdio') +
    provider('files', script('server-filesystem/dist/index.js'), directory));
}

/** Three files; the sum of their numbers, by a tool of the other server; written by the first. */
const SCRIPTS = {
  python: (directory) => `
import re
listing = str(files_list_directory(path=${JSON.stringify(directory)}))
names = sorted(re.findall(r'[a-z]+\\.txt', listing))
total = 0
for name in names:
    read = str(files_read_text_file(path=${JSON.stringify(directory)} + '/' + name))
    number = int(re.search(r'\\d+', read).group())
    said = str(everything_get_sum(a=total, b=number))
    total = int(re.findall(r'\\d+', said)[-1])
files_write_file(path=${JSON.stringify(`${directory}/sum.out`)}, content=str(total))
[len(names), total]
`,
  lua: (directory) => `
local listing = files_list_directory{path = ${JSON.stringify(directory)}}
if type(listing) == 'table' then listing = listing.content end
local n, total = 0, 0
for name in listing:gmatch('[a-z]+%.txt') do
  local read = files_read_text_file{path = ${JSON.stringify(directory)} .. '/' .. name}
  if type(read) == 'table' then read = read.content end
  local said = everything_get_sum{a = total, b = tonumber(read:match('%d+'))}
  n, total = n + 1, tonumber(said:match('(%d+)%D*$'))
end
files_write_file{path = ${JSON.stringify(`${directory}/sum.out`)}, content = tostring(total)}
return {n, total}
`,
  r: (directory) => `
listing <- unlist(files_list_directory(path = ${JSON.stringify(directory)}))[[1]]
names <- regmatches(listing, gregexpr("[a-z]+[.]txt", listing))[[1]]
total <- 0
for (name in unique(names)) {
  read <- unlist(files_read_text_file(path = file.path(${JSON.stringify(directory)}, name)))[[1]]
  said <- everything_get_sum(a = total, b = as.numeric(gsub("[^0-9]", "", read)))
  total <- as.numeric(tail(regmatches(said, gregexpr("[0-9]+", said))[[1]], 1))
}
files_write_file(path = ${JSON.stringify(`${directory}/sum.out`)}, content = as.character(total))
c(length(unique(names)), total)
`,
};

function three(t) {
  const directory = temporary(t);
  for (const [name, number] of [['a', 20], ['b', 300], ['c', 4000]]) {
    writeFileSync(join(directory, `${name}.txt`), `number ${number}\n`);
  }
  return directory;
}

for (const [name, connect] of Object.entries(clients)) {
  test(`${name}: one request calls tools of two servers`, guarded, async (t) => {
    const directory = three(t);
    const { call } = await connect(t, { args: between(t, directory) });
    for (const [runtime, code] of Object.entries(SCRIPTS)) {
      const result = await call('execute', { code: code(directory), runtime });
      assert.deepEqual(result.structuredContent?.value, [3, 4320], `${runtime}: ${textOf(result)}`);
      assert.equal(readFileSync(join(directory, 'sum.out'), 'utf8'), '4320');
    }
  });
}

test('the Inspector: one request calls tools of two servers', guarded, async (t) => {
  const directory = three(t);
  const [, , configuration] = between(t, directory);
  const { stdout } = await run(process.execPath, [script('inspector/cli/build/cli.js'), '--cli',
    '-e', `LAZARET_CONFIG=${configuration}`, program, 'mcp', '--method', 'tools/call',
    '--tool-name', 'execute', '--tool-arg', `code=${SCRIPTS.python(directory)}`,
    '--tool-arg', 'runtime=python']);
  const result = JSON.parse(stdout.slice(stdout.indexOf('{')));
  assert.deepEqual(result.structuredContent.value, [3, 4320]);
});

test('what a server refuses is an error that code can catch', guarded, async (t) => {
  const { call } = await clients['sdk 1.x'](t, { args: between(t, temporary(t)) });
  const code = "local well, why = pcall(files_read_text_file, {path = '/etc/passwd'})\n" +
    'return {well, why}';
  const result = await call('execute', { code, runtime: 'lua' });
  assert.equal(result.structuredContent.value[0], false);
  assert.match(result.structuredContent.value[1], /outside allowed directories|denied/i);
});

test('the tools of both servers are found', guarded, async (t) => {
  const { call } = await clients['sdk 1.x'](t, { args: between(t, temporary(t)) });
  const found = await call('search_tools', { query: 'read a text file' });
  assert.match(textOf(found), /files_read_text_file/);
  const details = await call('get_tool_details', { name: 'everything_get-sum', runtime: 'python' });
  assert.match(textOf(details), /get_sum\(a/);
});
