// SPDX-License-Identifier: MIT
// Uses of the package that a compiler has to accept, and after @ts-expect-error to refuse.

import {
  Approval,
  Approve,
  Artifact,
  CalendarDate,
  Cancelled,
  Frame,
  LazaretError,
  Outcome,
  Pool,
  RequestFailed,
  Result,
  Server,
  Session,
  ToolError,
  defaultServer,
  execute,
  tool,
} from '../src/index.js';
import { CodeOutput, aiTools, codeModeTool, codeTool } from '../src/ai-sdk.js';
import { Sandbox, aiSandbox } from '../src/ai-sandbox.js';
import { Backend, deepagentsBackend } from '../src/deepagents.js';
import { ExecuteResult, LazaretExecutor, description } from '../src/codemode.js';

const price = tool({
  name: 'price',
  description: 'Price of an item in euros.',
  parameters: [{ name: 'item', type: 'string', enum: ['tea', 'coffee'] }],
  timeout: 5000,
  maxConcurrent: 2,
  execute: async ({ item }, { signal, session }) => {
    signal.throwIfAborted();
    return `${String(item)} ${session}`;
  },
});

// A schema with the method `parse`, as those of zod have.
const schema = { _def: {}, parse: (value: unknown): { a: number } => value as { a: number } };
const typed = tool({ name: 'typed', parameters: schema, execute: ({ a }) => a.toFixed(1) });
// @ts-expect-error a is a number
tool({ name: 'typed', parameters: schema, execute: ({ a }) => a.toUpperCase() });
// @ts-expect-error there is no such type
tool({ name: 'wrong', parameters: [{ name: 'a', type: 'text' }], execute: () => 1 });
// @ts-expect-error a tool has a name
tool({ execute: () => 1 });
tool({
  name: 'json',
  parameters: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
  execute: (args: { a: number }) => args.a + 1,
});

export async function use(signal: AbortSignal): Promise<void> {
  const server = new Server({ settings: { 'session.timeout': '5s' }, log: (line) => line.trim() });
  const elsewhere = new Server({ url: 'tls://sandboxes.example:8443', tokenFile: 'token',
    ca: new URL('file:///ca.pem'), serverName: 'sandboxes', startTimeout: 1000 });
  await elsewhere.start();
  await server.register([price]);
  const session: Session = await Session.open({ runtime: 'lua', tools: [price, typed], server });
  const result = await session.execute<number>('return 1', {
    timeout: 1000,
    signal,
    output: (stream, text) => console.log(stream, text),
    onProgress: ({ wall_ms, tool_calls }) => console.log(wall_ms.toFixed(), tool_calls),
  });
  result.value.toFixed(1);
  result.credentials.map(({ name, host, count }) => `${name} ${host} ${count.toFixed()}`);
  const header = 'Authorization: Bearer {secret}';
  await Session.open({ credentials: ['github', { host: 'a', header, secret: { value: 't' } }] });
  // @ts-expect-error a file is one of the server
  await Session.open({ credentials: [{ host: 'a', header, secret: { file: '/a' } }] });
  await session.putFile('in.csv', new Uint8Array(3));
  await session.putFile('in.csv', new URL('file:///in.csv'));
  await session.execute('1', { files: { 'in.csv': new Uint8Array(3) } });
  // @ts-expect-error a file is bytes or a path
  session.stream('1', { files: { 'in.csv': 5 } });
  // @ts-expect-error a file is bytes or a path
  await session.putFile('in.csv', 5);
  const artifact: Artifact | undefined = result.artifacts[0];
  if (artifact?.data) console.log(artifact.data.length, (await artifact.save('out')).length);
  await execute('1', { files: { 'in.csv': 'in.csv', b: new ArrayBuffer(1) }, artifacts: false });
  await execute('1', { input: 'text', invisible: true });
  const { status, stderr }: Outcome = await session.run(['ls', '-l'], { input: new Uint8Array(3),
    cwd: '/', env: { A: '1' }, timeout: 5, signal });
  console.log(status.toFixed(), stderr.length);
  // @ts-expect-error a program is an array of texts
  await session.run('ls -l');
  // @ts-expect-error there is no such option
  await session.run(['ls'], { output: () => 1 });
  // @ts-expect-error there is no such option
  await session.execute('1', { timeOut: 5 });
  // @ts-expect-error a result is read only
  result.value = 2;
  const any: Result = result;
  any.value.whatever();
  for await (const event of session.stream('print(1)', { check: false, progress: true })) {
    if (event.type === 'output') console.log(event.text, event.dropped ?? 0);
    else if (event.type === 'tool_call') console.log(event.args.item);
    else if (event.type === 'progress') console.log(event.cpu_ms + event.max_rss_bytes);
    else console.log(event.result.ok);
    // @ts-expect-error only output has a text
    console.log(event.text);
  }
  try {
    await execute('1', { server: defaultServer(), tools: [typed] });
  } catch (error) {
    if (error instanceof Cancelled) console.log(error.result?.verdict, error.cause);
    if (error instanceof RequestFailed) console.log(error.code.length);
    if (error instanceof LazaretError) console.log(error.kind, error.line, error.traceback.length);
    throw new ToolError('no', { cause: error });
  }
  const pool = new Pool({ size: 2, server });
  console.log((await pool.status()).idle, (await pool.execute('1', { wait: 1000 })).text);
  // @ts-expect-error a stream has events in place of callbacks
  session.stream('1', { onProgress: () => 1 });
  // @ts-expect-error only a pool has something to wait for
  await session.execute('1', { wait: 1000 });
  const frame = new Frame({ x: [1, 2] });
  for (const row of frame.rows()) console.log(row.x, new CalendarDate('2024-01-31').getTime());
  const erase = tool({ name: 'erase', approve: true, execute: () => 1 });
  const asked: Approve = async ({ tool: name, args, signal: gone }: Approval) =>
    name === 'erase' && Boolean(args.path) && !gone.aborted;
  await execute('erase()', { tools: [erase], approve: asked });
  await execute('1', { limits: { memory: '1GiB', cpu: Infinity }, auditLog: 'log', maxExecutions: 1,
    sanitizeErrors: true, preExecuteHook: async (code) => code.length < 9, verbose: true,
    validate: false, maxCodeLength: 100 });
  new Session({ limits: { cpu: 1 }, preExecuteHook: (code) => code !== '' });
  new Pool({ auditLog: 'log', maxExecutions: 5 });
  await pool.execute('1', { validate: false, maxCodeLength: 100 });
  // @ts-expect-error a hook is a function
  new Session({ preExecuteHook: 'no' });
  await session[Symbol.asyncDispose]();
}

export async function adapters(session: Session): Promise<void> {
  const run = await codeTool({ session, timeout: 5000 });
  const output: CodeOutput = await run.execute({ code: '1' });
  output.images.map(({ mediaType }) => mediaType.length);
  // @ts-expect-error the code is a text
  run.execute({ code: 1 });
  await codeTool({ tools: await aiTools({ price: {} }), approve: () => true });
  await codeModeTool({ timeout: 1000, approve: () => true });
  const sandbox: Sandbox = await aiSandbox(session, { timeout: 5000 });
  const text: string | null = await sandbox.readTextFile({ path: 'a', startLine: 2 });
  console.log(text, (await sandbox.run({ command: 'ls', env: { A: '1' } })).exitCode.toFixed());
  // @ts-expect-error a file has a path
  await sandbox.stat({});
  const backend: Backend = await deepagentsBackend(session);
  console.log((await backend.execute('ls')).output, (await backend.grep('x')).matches?.length);
  // @ts-expect-error a command is a text
  await backend.execute(['ls']);
  const executor = new LazaretExecutor({ runtime: 'python' });
  const executed: ExecuteResult = await executor.execute(description('python'), [
    { name: 'codemode', fns: { add: async ({ a }: { a: number }) => a } },
  ]);
  executed.logs?.join();
  new LazaretExecutor();
  // @ts-expect-error a runtime is a name
  new LazaretExecutor({ runtime: 5 });
}
