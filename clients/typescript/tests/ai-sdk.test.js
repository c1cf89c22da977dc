// SPDX-License-Identifier: MIT
// The tool for the Vercel AI SDK, with the package itself where it is installed: `generateText`
// with a model that is played.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';

import { aiTools, codeModeTool, codeTool } from '../src/ai-sdk.js';
import { Session } from '../src/index.js';
import { guarded, live, path, runtime, serverFor, temporary } from './support.js';

const ai = await import('ai').catch(() => null);
const mocks = ai && await import('ai/test');
const majorOf = () => parseInt(createRequire(import.meta.url)('ai/package.json').version, 10);
const javascript = ai ? runtime('javascript') : { skip: 'the package ai is not installed' };
const withPackage = ai ? live : { skip: 'the package ai is not installed' };

test('without the package an error says what to install',
  { ...guarded, skip: ai ? 'the package ai is installed' : false }, async () => {
    await assert.rejects(codeTool(), /npm install ai/);
    await assert.rejects(aiTools({}), /npm install ai/);
  });

/** A package `ai` with what the adapter needs of it, in a program to which this one is linked. */
const STANDIN = `export const jsonSchema = (schema) => schema;
export const tool = (options) => options;
export const toolModelMessageSchema = { safeParse: () => ({ success: true }) };`;

test('a program finds its package where this one is linked',
  { ...guarded, skip: ai ? 'the package ai is installed beside this one' : false }, (t) => {
    const program = temporary(t);
    mkdirSync(join(program, 'node_modules', '@lazaret'), { recursive: true });
    symlinkSync(path('..'), join(program, 'node_modules', '@lazaret', 'client'));
    mkdirSync(join(program, 'node_modules', 'ai'));
    writeFileSync(join(program, 'node_modules', 'ai', 'index.mjs'), STANDIN);
    writeFileSync(join(program, 'node_modules', 'ai', 'package.json'), JSON.stringify({
      name: 'ai', exports: { './package.json': './package.json', '.': { import: './index.mjs' } } }));
    writeFileSync(join(program, 'main.mjs'), `import { codeTool } from '@lazaret/client/ai-sdk';
      console.log((await codeTool({ runtime: 'lua' })).description.split('\\n')[0]);`);
    for (const [cwd, args] of [['/', [join(program, 'main.mjs')]],
      [program, ['--input-type=module', '-e', "await import('./main.mjs')"]]]) {
      const done = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' });
      assert.match(done.stdout, /^Runs Lua code in a sandbox/, done.stderr);
    }
  });

const PRICES = { tea: 2.5, coffee: 3.25 };

function priceTool() {
  return ai.tool({
    description: 'Price of an item.',
    inputSchema: ai.jsonSchema({ type: 'object', properties: { item: { type: 'string' } },
      required: ['item'], additionalProperties: false }),
    execute: async ({ item }, { toolCallId, abortSignal }) => {
      assert.ok(toolCallId && abortSignal);
      return PRICES[item];
    },
  });
}

/** A model that asks for one call of `run`, and then says what it was told. */
function player(code, told, input = { code }) {
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  return new mocks.MockLanguageModelV3({
    doGenerate: async ({ prompt, tools }) => {
      const result = prompt.findLast(({ role }) => role === 'tool')?.content[0].output;
      if (result) told.push(result);
      else told.tools = tools;
      return {
        content: result ? [{ type: 'text', text: 'done' }]
          : [{ type: 'tool-call', toolCallId: '1', toolName: 'run',
            input: JSON.stringify(input) }],
        finishReason: { unified: result ? 'stop' : 'tool-calls', raw: undefined },
        usage,
        warnings: [],
      };
    },
  });
}

async function play(run, code) {
  const told = [];
  const { text, steps } = await ai.generateText({ model: player(code, told), tools: { run },
    stopWhen: ai.stepCountIs(3), prompt: 'Go.' });
  assert.equal(text, 'done');
  return { told: told[0], tools: told.tools, output: steps[0].toolResults[0]?.output };
}

test('a model runs code, which calls tools of the SDK', withPackage, async (t) => {
  const tools = await aiTools({ price: priceTool(), shown: ai.tool({ inputSchema:
    ai.jsonSchema({ type: 'object' }) }) });
  assert.deepEqual(tools.map(({ name }) => name), ['price']);
  const run = await codeTool({ runtime: 'python', tools, server: serverFor(t) });
  const played = await play(run, "print('sum')\nprice('tea') + price('coffee')");
  assert.match(played.tools[0].description, /price\(item: str\) - Price of an item/);
  assert.deepEqual(played.told, { type: 'text', value: 'sum\n5.75' });
  assert.equal(played.output.verdict, 'ok');
});

test('an error is told, and no exception', withPackage, async (t) => {
  const run = await codeTool({ runtime: 'lua', server: serverFor(t) });
  const played = await play(run, "print('before') error('broken', 0)");
  assert.equal(played.told.type, 'error-text');
  assert.match(played.told.value, /^before\nerror: broken/);
  assert.equal(played.output.verdict, 'error');
});

test('a figure is shown', withPackage, async (t) => {
  const run = await codeTool({ runtime: 'lua', server: serverFor(t) });
  const code = "local f = io.open('artifacts/p.png', 'wb')\n" +
    "f:write('\\137PNG\\r\\n\\26\\n') f:close()";
  const { told, output } = await play(run, code);
  assert.equal(told.type, 'content');
  const own = await run.toModelOutput({ output });
  assert.equal(own.value[1].type, majorOf() >= 7 ? 'file' : 'image-data');
  assert.match(told.value[0].text, /p\.png \(image\/png, 8 bytes\)/);
  assert.deepEqual([output.images[0].mediaType, output.images[0].data],
    ['image/png', Buffer.from('\x89PNG\r\n\x1a\n', 'latin1').toString('base64')]);
});

test('a session says its language and its functions', withPackage, async (t) => {
  const server = serverFor(t);
  const tools = [{ name: 'price', description: 'Price of an item.', execute: () => 1,
    parameters: [{ name: 'item', type: 'string' }, { name: 'n', type: 'integer', required: false }],
    returns: { type: 'array', items: { type: 'number' } } }];
  const session = await Session.open({ runtime: 'python', tools, server });
  for (const options of [{ session }, { runtime: 'python', tools, server }]) {
    const { description } = await codeTool(options);
    assert.match(description, /^Runs Python code /);
    assert.ok(description.includes('price(item: str, n?: int) -> [float] - Price of an item.'));
  }
  const any = await Session.open({ runtime: null, server });
  assert.match((await codeTool({ session: any })).description, /^Runs code /);
  const [made] = await aiTools({ find: ai.tool({ inputSchema: ai.jsonSchema({ type: 'object' }),
    outputSchema: ai.jsonSchema({ $schema: 'x', type: 'object', vendor: 1,
      properties: { a: { type: 'string', minLength: 1 } }, required: ['a'] }),
    execute: () => ({ a: 'x' }) }) });
  assert.deepEqual(made.returns,
    { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] });
  const { description } = await codeTool({ runtime: 'lua', tools: [made], server });
  assert.ok(description.includes('find() -> {a: str}'));
});

test('variables last in a session', withPackage, async (t) => {
  const session = await Session.open({ runtime: 'lua', server: serverFor(t) });
  const run = await codeTool({ session });
  assert.match(run.description, /Variables last/);
  await run.execute({ code: 'x = 20' });
  assert.equal((await run.execute({ code: 'return x + 1' })).text, '21');
});

test('wrong arguments, an approval and a signal', withPackage, async (t) => {
  const dangerous = { ...priceTool(), needsApproval: true };
  const tools = await aiTools({ price: priceTool(), dangerous });
  const server = serverFor(t);
  const run = await codeTool({ runtime: 'lua', tools, server,
    approve: ({ args }) => args.item === 'tea' });
  assert.equal((await run.execute({ code: "return dangerous('tea')" })).text, '2.5');
  assert.equal((await run.execute({ code: "return dangerous('coffee')" })).verdict, 'error');
  assert.match((await run.execute({ code: 'return price(5)' })).error, /must be string/);
  await assert.rejects(run.execute({ code: 'while true do end' },
    { abortSignal: AbortSignal.timeout(100) }), { name: 'Cancelled' });
});

test('code that names no language is JavaScript', javascript, async (t) => {
  const tools = await aiTools({ price: priceTool() });
  const run = await codeTool({ tools, server: serverFor(t) });
  const code = "console.log('sum');\n" +
    "(await Promise.all(['tea', 'coffee'].map((item) => price({ item })))).reduce((a, b) => a + b)";
  const played = await play(run, code);
  assert.match(played.tools[0].description, /^Runs JavaScript or TypeScript code in a sandbox/);
  assert.ok(played.tools[0].description.includes(
    'declare function price(item: string): Promise<any>; // Price of an item.'));
  assert.deepEqual(played.told, { type: 'text', value: 'sum\n5.75' });
});

test('code mode of the SDK', javascript && (ai?.experimental_toolCaller ? javascript
  : { skip: 'the package ai has no code mode' }), async (t) => {
  const find = ai.tool({ description: 'Finds.', inputSchema: ai.jsonSchema({ type: 'object',
    properties: { where: { type: 'object' }, most: { type: 'integer' } } }),
  outputSchema: ai.jsonSchema({ type: 'array', items: { type: 'string' } }),
  execute: async (input, { experimental_context: context, messages }) =>
    [JSON.stringify(input), context?.user ?? messages.length, new Date(0)] });
  const run = await codeModeTool({ server: serverFor(t) });
  const js = `const [a, b] = await Promise.all([tools.find({ most: 1 }), tools.price({ item: 'tea' })]);
    return { a, b, c: new Date(0), d: NaN };`;
  const told = [];
  const { steps } = await ai.generateText({
    model: player(js, told, { js }), tools: { run, find, price: priceTool() },
    experimental_toolCallers: { find: ['run'], price: ['run'] },
    stopWhen: ai.stepCountIs(3), prompt: 'Go.',
  });
  const zero = '1970-01-01T00:00:00.000Z';
  assert.deepEqual(told.tools.map(({ name }) => name), ['run']);
  assert.ok(told.tools[0].description.includes(`  /** Finds. */
  find: (input: {where?: Record<string, any>; most?: number}) => Promise<Array<string>>;`));
  assert.deepEqual(steps[0].toolResults[0].output, { a: ['{"most":1}', 1, zero], b: 2.5,
    c: zero, d: null });
});

test('only a session is taken for one', withPackage, async () => {
  await assert.rejects(codeTool({ session: {} }), /must be a Session/);
});
