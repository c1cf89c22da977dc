// SPDX-License-Identifier: MIT
// A session as a model has it: 40 calls, and all that comes back is what the model is to read. Tokens
// are those of gpt-tokenizer (o200k_base).

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { encode } from 'gpt-tokenizer';

import { clients, deferred, guarded, words } from './support.js';

const CONFIGURATION = `
[session]
start_timeout = 600
timeout = 0
deadline = 0
interrupt_grace = 60
[[tools]]
provider = "command"
[[tools.tool]]
name = "record_of"
description = "The record of a name."
command = ["/bin/echo", "record", "{name}"]
parameters = { name = { type = "string" } }
output = "text"
`;

/** Without tools of the host. */
const BARE = '[session]\nstart_timeout = 600\n';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAA' +
  'AABJRU5ErkJggg==';
const DRAWS = 'import base64\n' +
  `open('artifacts/p.png', 'wb').write(base64.b64decode('${PNG}'))\nNone`;

/** One text, and behind it pictures and links: what each result is. */
function read(result) {
  assert.equal(result.structuredContent, undefined);
  const [text, ...rest] = result.content;
  assert.equal(text.type, 'text');
  assert.ok(rest.every(({ type }) => type !== 'text'), JSON.stringify(rest));
  return text.text;
}

/** Calls of a model in turn. `own`: a handle, where a connection has no session of its own. */
class Player {
  constructor(call, own) {
    Object.assign(this, { call, own, calls: 0 });
  }

  async tool(name, given = {}, options = {}) {
    this.calls += 1;
    return this.call(name, given, options);
  }

  execute(code, more = {}, options = {}) {
    const session = more.fresh || more.runtime ? {} : this.own;
    return this.tool('execute', { code, ...session, ...more }, options);
  }

  async says(expected, code, more) {
    const text = read(await this.execute(code, more));
    if (expected instanceof RegExp) assert.match(text, expected);
    else assert.equal(text, expected);
  }
}

/** Values, output and errors: 12 calls. */
async function plays_values(model) {
  await model.says('2\n', '1 + 1');
  await model.says('(no output)', 'x = 20');
  await model.says('40\n', 'x * 2');
  await model.says('a\nb\n', "print('a')\nprint('b')");
  await model.says('a\n3\n', "print('a')\n1 + 2");
  await model.says(/NameError: name 'y' is not defined/, 'y');
  await model.says(/line 2: .*ZeroDivisionError/, 'z = 1\nz / 0');
  await model.says(/SyntaxError|syntax error/, 'print(');
  await model.says('20\n', 'x');
  await model.says("'record of mine'\n", "record_of('of mine')");
  await model.says(/here it is record_of/, "recordOf('mine')");
  await model.says(/subprocess|!ls/, '!ls');
}

/** Files, pictures, and what is long: 10 calls. */
async function plays_files(model) {
  const drawn = await model.execute(DRAWS);
  assert.deepEqual(drawn.content.map(({ type }) => type), ['image']); // there is nothing to say
  assert.equal(drawn.content[0].data, PNG);
  const kept = await model.execute("f = open('artifacts/a.csv', 'w')\nf.write('a,b\\n')\nNone");
  assert.equal(kept.content.at(-1).name, 'a.csv');
  await model.says("'a,b\\n'\n", "open('in.csv').read()", { files: [{ name: 'in.csv', text: 'a,b\n' }] });
  await model.says("'one'\n", 'input()', { input: 'one\ntwo\n' });
  await model.says(/EOFError/, 'input()');
  const long = read(await model.execute("for i in range(100000): print('line', i)"));
  assert.ok(long.length < 100_000 && /line 0\n/.test(long) && /line 99999\n/.test(long), long.slice(0, 200));
  await model.says(/^\[0, 1, 2/, 'list(range(100000))');
  await model.says('20\n', 'x');
  await model.says(/'.*a\.csv/, "import os; sorted(os.listdir('artifacts'))");
  await model.says('(no output)', 'f.close()');
}

/** Other languages, and sessions that are used once: 6 calls. */
async function plays_languages(model) {
  await model.says('[1] 6\n', 'sum(1:3)', { runtime: 'r' });
  await model.says('7\n', 'return 7', { runtime: 'lua' });
  await model.says(/NameError/, 'x', { fresh: true });
  await model.says(/Coefficients/, 'lm(dist ~ speed, cars)', { runtime: 'r' });
  await model.says(/record/, 'record_of("r")', { runtime: 'r' });
  await model.says('20\n', 'x');
}

/** A call that the person stops, and one that is too long: 6 calls. */
async function plays_interrupts(model) {
  const controller = new AbortController();
  const running = deferred();
  const stopped = assert.rejects(model.execute('while True: pass', {},
    { signal: controller.signal, onprogress: running.resolve }));
  await running.promise;
  controller.abort('no more');
  await stopped;
  for (;;) { // while the code that was stopped has not ended, a handle says that it is busy
    const after = read(await model.execute('x'));
    if (after === '20\n') break;
    assert.match(after, /in progress/);
    model.calls -= 1;
  }
  await model.says(/timeout error.*\n.*keeps its variables/, 'import time\ntime.sleep(600)', { timeout: 1 });
  await model.says('20\n', 'x');
  const going = await model.execute("import time\nprint('begun', flush=True)\ntime.sleep(600)", { wait: 1 });
  const [handle] = read(going).match(/x\S+$/m);
  let ended = read(await model.tool('interrupt', { execution: handle }));
  while (/still running/.test(ended)) ended = read(await model.call('wait', { execution: handle }));
  assert.match(ended, /KeyboardInterrupt|cancelled/);
}

/** A box that is lost, and one that is given up: 6 calls. */
async function plays_losses(model) {
  await model.says(/killed/i, 'import os\nos.kill(os.getpid(), 9)');
  await model.says(/variables (and files )?are gone/, '1');
  await model.says('(no output)', 'x = 5');
  await model.says('5\n', 'x');
  read(await model.tool('restart', model.own));
  await model.says(/NameError/, 'x');
}

for (const [name, connect] of Object.entries(clients)) {
  test(`${name}: a model plays a session`, guarded, async (t) => {
    const { call } = await connect(t, { args: words(t, CONFIGURATION) });
    const has_none = name === 'client 2.x, 2026-07-28, HTTP'; // nothing says whose a request is
    const own = {};
    if (has_none) {
      const opened = await call('open_session', { runtime: 'python' });
      [own.session] = read(opened).match(/s\d\S+/);
    }
    const model = new Player(call, own);
    await plays_values(model);
    await plays_files(model);
    await plays_languages(model);
    await plays_interrupts(model);
    await plays_losses(model);
    assert.equal(model.calls, 40);
  });
}

test('the declarations of all tools are short', guarded, async (t) => {
  const { client, call } = await clients['sdk 1.x'](t, { args: words(t, BARE) });
  const { tools } = await client.listTools();
  // what a model gets of it
  const told = tools.map(({ name, description, inputSchema }) =>
    ({ name, description, input_schema: inputSchema }));
  const n = encode(JSON.stringify(told)).length;
  t.diagnostic(`${tools.length} tools: ${n} tokens; with annotations ` +
    `${encode(JSON.stringify(tools)).length}`);
  assert.ok(n <= 600, String(n));
  const { content } = await call('execute', { code: '1+1' });
  const most = encode(JSON.stringify(content)).length;
  t.diagnostic(`1+1: ${most} tokens with its JSON`);
  assert.ok(most <= 12, String(most));
});
