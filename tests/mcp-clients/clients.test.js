// SPDX-License-Identifier: MIT
// What a client does with lazaret mcp, the same with each client and era.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { clients, deferred, guarded, structured, textOf } from './support.js';

const TOOLS = ['execute', 'open_session', 'close_session', 'restart', 'wait', 'interrupt',
  'search_tools', 'get_tool_details'];
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAA' +
  'AABJRU5ErkJggg==';

/** Runs a test with each client. */
function each(name, run) {
  for (const [client, connect] of Object.entries(clients)) {
    test(`${client}: ${name}`, guarded, (t) =>
      run(t, (options = {}) => connect(t, { args: structured(t), ...options })));
  }
}

each('the tools are listed, and their descriptions are short', async (t, connect) => {
  const { client } = await connect();
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map(({ name }) => name).sort(), [...TOOLS].sort());
  for (const { name, description, inputSchema } of tools) {
    assert.ok(description.length < 2048, name);
    assert.equal(inputSchema.type, 'object');
  }
  assert.ok(client.getInstructions().length < 2048);
  assert.equal(client.getServerVersion().name, 'lazaret');
});

each('code is executed: value, output, an error', async (t, connect) => {
  const { call } = await connect();
  const well = await call('execute', { code: "print('hello')\nsum(range(10))", runtime: 'python' });
  assert.ok(!well.isError);
  assert.match(textOf(well), /hello[^]*45/);
  assert.equal(well.structuredContent.value, 45);
  const wrong = await call('execute', { code: 'x <- 1\nstop("broken")', runtime: 'r' });
  assert.equal(wrong.isError, true);
  assert.match(textOf(wrong), /broken/);
  const torn = await call('execute', { code: 'print(', runtime: 'python' });
  assert.equal(torn.isError, true);
});

each('a session keeps its variables until it is closed', async (t, connect) => {
  const { call } = await connect();
  const opened = await call('open_session', { runtime: 'python' });
  const { session } = opened.structuredContent;
  await call('execute', { code: 'x = 20', session });
  const after = await call('execute', { code: 'x + 1', session });
  assert.equal(after.structuredContent.value, 21);
  assert.ok(!(await call('close_session', { session })).isError);
  const gone = await call('execute', { code: 'x', session });
  assert.equal(gone.isError, true);
});

each('a file goes in, and one comes out as a resource', async (t, connect) => {
  const { client, call } = await connect();
  const result = await call('execute', {
    code: "text = open('in.txt').read()\nopen('artifacts/out.csv', 'w').write(text * 2)\nNone",
    runtime: 'python',
    files: [{ name: 'in.txt', text: 'a,b\n' }],
  });
  const link = result.content.find(({ type }) => type === 'resource_link');
  assert.equal(link.name, 'out.csv');
  const { contents: [content] } = await client.readResource({ uri: link.uri });
  const text = content.text ?? Buffer.from(content.blob, 'base64').toString();
  assert.equal(text, 'a,b\na,b\n');
  const again = await call('execute', {
    code: "open('again.csv').read()",
    runtime: 'python',
    files: [{ name: 'again.csv', uri: link.uri }],
  });
  assert.equal(again.structuredContent.value, text);
});

each('a picture is shown', async (t, connect) => {
  const { call } = await connect();
  const code = 'import base64\n' +
    `open('artifacts/p.png', 'wb').write(base64.b64decode('${PNG}'))\nNone`;
  const result = await call('execute', { code, runtime: 'python' });
  const picture = result.content.find(({ type }) => type === 'image');
  assert.equal(picture.mimeType, 'image/png');
  assert.equal(picture.data, PNG);
});

each('progress is told while code runs', async (t, connect) => {
  const { call } = await connect();
  const told = [];
  const controller = new AbortController();
  const ended = assert.rejects(call('execute', { code: 'while true do end', runtime: 'lua' }, {
    signal: controller.signal,
    onprogress: (progress) => {
      told.push(progress.progress);
      if (told.length === 2) controller.abort('enough');
    },
  }));
  await ended;
  assert.ok(told.length >= 2 && told[1] > told[0], String(told));
  // the server goes on
  const after = await call('execute', { code: 'return 7', runtime: 'lua' });
  assert.equal(after.structuredContent.value, 7);
});

each('a cancelled execution ends, and its session can be used', async (t, connect) => {
  const { call } = await connect();
  const { structuredContent: { session } } = await call('open_session', { runtime: 'lua' });
  const controller = new AbortController();
  const running = deferred();
  const ended = assert.rejects(call('execute', { code: 'while true do end', session },
    { signal: controller.signal, onprogress: running.resolve }));
  await running.promise;
  controller.abort('no more');
  await ended;
  // until the code has ended the session is busy, which its answer says
  for (;;) {
    const after = await call('execute', { code: 'return 7', session });
    if (!after.isError) break;
    assert.match(textOf(after), /in progress/);
  }
});

each('a person allows a call, or does not', async (t, connect) => {
  const answers = [{ action: 'accept', content: { approve: true } }, { action: 'decline' }];
  const asked = [];
  const { call } = await connect({
    elicit: (params) => {
      asked.push(params.message);
      return answers.shift();
    },
  });
  const yes = await call('execute', { code: "return erase('one')", runtime: 'lua' });
  assert.equal(yes.structuredContent.value, 'erased -- one', textOf(yes));
  const no = await call('execute', { code: "return erase('two')", runtime: 'lua' });
  assert.equal(no.isError, true);
  assert.match(textOf(no), /not approved/);
  assert.equal(asked.length, 2);
  assert.match(asked[0], /erase[^]*one/);
});

each('without a person a call that needs one is refused', async (t, connect) => {
  const { call } = await connect();
  const result = await call('execute', { code: "return erase('one')", runtime: 'lua' });
  assert.equal(result.isError, true);
  assert.match(textOf(result), /approval/);
});

each('tools of the host are found', async (t, connect) => {
  const { call } = await connect();
  assert.match(textOf(await call('search_tools', { query: 'erase a record' })), /erase/);
  const details = await call('get_tool_details', { name: 'erase', runtime: 'python' });
  assert.match(textOf(details), /erase/);
});

each('many requests at once are answered', async (t, connect) => {
  const { call } = await connect();
  const results = await Promise.all(Array.from({ length: 16 }, (_, i) =>
    call('execute', { code: `return ${i} * ${i}`, runtime: 'lua' })));
  assert.deepEqual(results.map(({ structuredContent }) => structuredContent.value),
    Array.from({ length: 16 }, (_, i) => i * i));
});
