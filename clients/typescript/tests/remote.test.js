// SPDX-License-Identifier: MIT
// Servers on another machine, which is this one: `lazaret serve --listen tls://127.0.0.1:0`.

import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { Pool, Server, Session, execute } from '../src/index.js';
import { findProgram } from '../src/program.js';
import { addressOf } from '../src/remote.js';
import { INDEX, MIB, guarded, live as liveHere } from './support.js';

const SERVER = 'subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth';
const CLIENT = 'extendedKeyUsage=clientAuth';
const CURVE = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
let live = hasOpenssl || process.env.LAZARET_TEST_NEED ? liveHere
  : { skip: 'there is no openssl' };

// ---- a place with certificates, and what an operator has ----------------------------------------

const directory = mkdtempSync(join(tmpdir(), 'lazaret-'));
after(() => rmSync(directory, { recursive: true }));
const at = (name) => join(directory, name);

function run(program, ...args) {
  return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

function write(name, text, mode = 0o600) {
  writeFileSync(at(name), text);
  chmodSync(at(name), mode);
  return at(name);
}

function authority(name) {
  run('openssl', 'req', '-x509', ...CURVE, '-days', '2', '-subj', `/CN=${name}`, '-keyout',
    at(`${name}.key`), '-out', at(`${name}.pem`));
}

function certificate(name, subject, extensions) {
  write('extensions', `${extensions}\nbasicConstraints=CA:FALSE\nkeyUsage=digitalSignature\n`);
  run('openssl', 'req', ...CURVE, '-subj', `/CN=${subject}`, '-keyout', at(`${name}.key`), '-out',
    at('request'));
  chmodSync(at(`${name}.key`), 0o600);
  run('openssl', 'x509', '-req', '-days', '2', '-in', at('request'), '-CA', at('ca.pem'), '-CAkey',
    at('ca.key'), '-CAcreateserial', '-extfile', at('extensions'), '-out', at(`${name}.pem`));
}

const token = (name, expires) =>
  run(findProgram(undefined), 'token', name, '--sign-with', at('signer'), '--expires', expires);

/** Start a server; gives its URL. */
async function serve() {
  const child = spawn(findProgram(undefined), ['serve', '--config', at('lazaret.toml'), '--listen',
    'tls://127.0.0.1:0'], { detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
  after(() => child.kill('SIGKILL'));
  for await (const line of createInterface({ input: child.stderr })) {
    const url = / at (tls:\S+)/.exec(line)?.[1];
    child.stderr.resume().unref();
    child.unref();
    if (url) return { url, child };
    throw new Error(line);
  }
  throw new Error('the server says nothing');
}

let url;
if (!live.skip) {
  authority('ca');
  authority('other');
  certificate('server', 'localhost', SERVER);
  certificate('alice', 'alice', CLIENT);
  run(findProgram(undefined), '--quiet', 'token', 'new-key', at('signer'));
  write('lazaret.toml', `[serve]
certificate = "${at('server.pem')}"
key = "${at('server.key')}"
clients = "${at('ca.pem')}"
token_keys = "${at('signer.pub')}"
[session]
max_message_size = "32MiB"
interrupt_grace = 60
`);
  write('token', token('alice', '1h'));
  try {
    ({ url } = await serve());
  } catch (error) {
    if (!error.message.includes('without TLS')) throw error;
    live = { skip: error.message };
  }
}

/** Connect by a token, but for these changes. */
function connect(t, changes = {}) {
  const server = new Server({ url, ca: at('ca.pem'), tokenFile: at('token'), ...changes });
  t.after(() => server.close());
  return server;
}

/** A session of Lua with these tools, on a connection of its own. */
function lua(t, ...tools) {
  return new Session({ runtime: 'lua', tools, server: connect(t) });
}

// ---- what is the same as with a server of one's own ---------------------------------------------

test('tools run here', live, async (t) => {
  const server = connect(t);
  const session = new Session({ runtime: 'lua', server, tools: [
    { name: 'pid', execute: () => process.pid },
    { name: 'more', parameters: [{ name: 'n', type: 'number' }], execute: ({ n }) => n + 1 }] });
  assert.equal((await session.execute('return pid()')).value, process.pid);
  const code = 'local n = 0; for i = 1, 1000 do n = more(n) end; return n';
  assert.equal((await session.execute(code)).value, 1000);
  assert.equal(server.pid, undefined);
});

test('large values both ways', live, async (t) => {
  const got = [];
  const take = ({ text }) => {
    got.push(text.length);
    return text;
  };
  const echo = { name: 'echo', parameters: [{ name: 'text', type: 'string' }], execute: take };
  const session = new Session({ runtime: 'python', tools: [echo], server: connect(t) });
  const { value } = await session.execute(`s = echo('a' * ${8 * MIB}); s + 'b'`);
  assert.ok(value === `${'a'.repeat(8 * MIB)}b`);
  assert.deepEqual(got, [8 * MIB]);
});

test('files and artifacts', live, async (t) => {
  const session = new Session({ runtime: 'python', server: connect(t) });
  const data = Buffer.alloc(8 * MIB, 'some bytes');
  await session.putFile('in.bin', data);
  const { artifacts, value } = await session.execute("import shutil, os\n" +
    "os.makedirs('artifacts', exist_ok=True)\nshutil.copy('in.bin', 'artifacts/out.bin')\n" +
    "open('small').read()", { files: { small: Buffer.from('few') } });
  assert.equal(value, 'few');
  assert.equal(Buffer.compare(artifacts[0].data, data), 0);
});

test('approvals', live, async (t) => {
  const erase = { name: 'erase', approve: true, parameters: [{ name: 'path', type: 'string' }],
    execute: ({ path }) => `erased ${path}` };
  const session = new Session({ runtime: 'lua', tools: [erase], server: connect(t),
    approve: ({ args }) => args.path !== '/' });
  assert.equal((await session.execute("return erase('/x')")).value, 'erased /x');
  await assert.rejects(session.execute("return erase('/')"), { name: 'ExecutionError' });
});

test('interrupt', live, async (t) => {
  const session = new Session({ runtime: 'python', server: connect(t) });
  const running = session.execute("x = 1\nprint('go', flush=True)\nwhile True: pass",
    { output: () => session.interrupt(), check: false });
  assert.equal((await running).verdict, 'cancelled');
  assert.equal((await session.execute('x')).value, 1);
});

test('code in README.md', live, async () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  let [code] = /^    const server = new Server\(\{ url: [^]*?^    await server\.close\(\);$/m.exec(readme);
  for (const [name, real] of [['tls://sandboxes.example:8443', url], ['token', at('token')],
    ['ca.pem', at('ca.pem')]]) {
    assert.equal(code.split(`'${name}'`).length, 2);
    code = code.replace(`'${name}'`, JSON.stringify(real));
  }
  const asked = [];
  const price = { name: 'price', parameters: [{ name: 'item', type: 'string' }],
    execute: ({ item }) => asked.push(item) && 2.5 };
  const Program = (async () => {}).constructor;
  await new Program('Server', 'Session', 'price', code)(Server, Session, price);
  assert.deepEqual(asked, ['tea']);
});

test('many at a time, and pools', live, async (t) => {
  const server = connect(t);
  const echo = { name: 'echo', parameters: [{ name: 's', type: 'string' }], execute: ({ s }) => s };
  const lengths = await Promise.all([0, 1, 2, 3, 4, 5].map(async (n) => {
    const session = new Session({ runtime: 'lua', tools: [echo], server });
    const { value } = await session.execute(`return #echo(string.rep('x', ${n * 100000}))`);
    await session.close();
    return value;
  }));
  assert.deepEqual(lengths, [0, 1, 2, 3, 4, 5].map((n) => n * 100000));
  const pool = new Pool({ runtime: 'lua', size: 2, server });
  const values = await Promise.all([1, 2, 3].map((n) => pool.execute(`return ${n}`)));
  assert.deepEqual(values.map(({ value }) => value), [1, 2, 3]);
  assert.equal((await execute('return 7', { runtime: 'lua', server })).value, 7);
});

// ---- credentials --------------------------------------------------------------------------------

test('who is let in', live, async (t) => {
  for (const changes of [
    {}, { tokenFile: pathToFileURL(at('token')), ca: pathToFileURL(at('ca.pem')) },
    { tokenFile: undefined, token: token('bob', '1h') },
    { tokenFile: undefined, cert: at('alice.pem'), key: at('alice.key') },
    { url: url.replace('127.0.0.1', 'localhost') }, { serverName: 'localhost' }]) {
    const server = connect(t, changes);
    assert.equal((await execute('return 1', { runtime: 'lua', server })).value, 1);
    await server.close();
  }
});

test('who is not', live, async (t) => {
  write('open', 'token', 0o644);
  write('empty', '\n');
  for (const [pattern, changes] of [
    [/refused this client: .* a token or a certificate/, { tokenFile: undefined }],
    [/refused this client: .*not a token/, { tokenFile: undefined, token: 'no' }],
    [/not accepted: .*; name who has signed it by \{ ca: FILE \}/, { ca: undefined }],
    [/not accepted: .*certificate/, { ca: at('other.pem') }],
    [/not accepted: .*example.org.*serverName/, { serverName: 'example.org' }],
    [/ca is .*no such file/, { ca: at('none') }],
    [/ca is .*no certificate in it/, { ca: at('token') }],
    [/cert is .*, and key .*: /, { cert: at('alice.pem'), key: at('ca.key') }],
    [/tokenFile cannot be read: .*no such file/, { tokenFile: at('none') }],
    [/others can read this token/, { tokenFile: at('open') }],
    [/no token in it/, { tokenFile: at('empty') }],
    [/cannot connect to tls:\/\/nosuch.invalid: /, { url: 'tls://nosuch.invalid' }]]) {
    await assert.rejects(connect(t, changes).start(), { name: 'SetupFailed', message: pattern });
  }
});

test('authorities that Node.js trusts', live, async () => {
  const code = `import { Server } from ${JSON.stringify(INDEX)};
    const server = new Server({ url: process.argv[1], tokenFile: process.argv[2] });
    await server.start(); await server.close(); console.log('ok');`;
  for (const [variables, wanted] of [[{ NODE_EXTRA_CA_CERTS: at('ca.pem') }, 'ok\n'],
    [{ NODE_TLS_REJECT_UNAUTHORIZED: '0' }, '']]) {
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', code, url,
      at('token')], { env: { ...process.env, ...variables }, encoding: 'utf8' });
    assert.equal(stdout, wanted);
  }
});

test('a token that expires', live, async (t) => {
  for (const seconds of [1, 4, 16, 64]) { // a busy machine needs more
    const short = { tokenFile: undefined, token: token('carol', `${seconds}s`) };
    const server = connect(t, short);
    const session = new Session({ runtime: 'lua', server });
    try {
      await session.execute('return 1');
    } catch (error) {
      assert.match(error.message, /expired/);
      continue;
    }
    await assert.rejects(session.execute('while true do end'),
      { name: 'WorkerLost', message: /carol has expired/ });
    assert.equal(server.isAlive, false);
    await assert.rejects(connect(t, short).start(),
      { name: 'SetupFailed', message: /refused this client: .*expired/ });
    break;
  }
});

// ---- endings ------------------------------------------------------------------------------------

test('a server that is killed', live, async (t) => {
  const { url: there, child } = await serve();
  const server = connect(t, { url: there });
  const strike = { name: 'strike', execute: () => child.kill('SIGKILL') };
  const session = new Session({ runtime: 'lua', tools: [strike], server });
  const other = new Session({ runtime: 'lua', server });
  await other.open();
  await Promise.all([session.execute('strike(); while true do end'),
    other.execute('while true do end')].map((running) => assert.rejects(running,
    { name: 'WorkerLost', message: /closed the connection/ })));
  await assert.rejects(session.execute('return 1'), { name: 'WorkerLost' });
  await assert.rejects(connect(t, { url: there }).start(), { name: 'SetupFailed' });
});

test('a program ends while it is connected', live, () => {
  const code = `import { Server, execute } from ${JSON.stringify(INDEX)};
    const server = new Server({ url: process.argv[1], ca: process.argv[2],
      tokenFile: process.argv[3] });
    console.log((await execute('return 5', { runtime: 'lua', server })).value);
    const refused = new Server({ url: process.argv[1], ca: process.argv[2] });
    await refused.start().catch((error) => console.log(error.name));
    await refused.close();
    console.log(process.getActiveResourcesInfo().includes('Timeout'));`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', code, url,
    at('ca.pem'), at('token')], { encoding: 'utf8' });
  assert.equal(stdout, '5\nSetupFailed\nfalse\n');
});

test('other ends that are not lazaret', live, async (t) => {
  const listen = (take) => new Promise((resolve) => {
    const listener = createServer((socket) => take(socket.on('error', () => {})));
    t.after(() => listener.close());
    listener.listen(0, '127.0.0.1', () => resolve(`tls://127.0.0.1:${listener.address().port}`));
  });
  const speaks = await listen((socket) => socket.write('220 welcome\r\n'.repeat(100)));
  await assert.rejects(connect(t, { url: speaks }).start(),
    { name: 'SetupFailed', message: /does not speak TLS 1.3 with this client: / });
  const leaves = await listen((socket) => socket.destroy());
  await assert.rejects(connect(t, { url: leaves }).start(),
    { name: 'SetupFailed', message: /cannot connect to / });
  const silent = await listen((socket) => t.after(() => socket.destroy()));
  await assert.rejects(connect(t, { url: silent, startTimeout: 200 }).start(),
    { name: 'SetupFailed', message: /cannot connect to .*not answered in 200 ms/ });
});

// ---- arguments ----------------------------------------------------------------------------------

test('URLs of servers', guarded, () => {
  for (const [text, host, port] of [['tls://a.example:1', 'a.example', 1], ['tls://h', 'h', 8443],
    ['tls://[::1]:99', '::1', 99], ['tls://10.0.0.1', '10.0.0.1', 8443]]) {
    assert.deepEqual(addressOf(text), { host, port });
  }
  for (const text of ['h:1', 'https://h:1', 'tls://', 'tls://:1', 'tls://h:x', 'tls://h:99999',
    'tls://u@h:1', 'tls://h:1/', 'tls://h?x', 'tls://::1', 'tls://h:']) {
    assert.throws(() => new Server({ url: text }),
      { name: 'TypeError', message: /is not the URL/ });
  }
});

test('arguments that contradict each other', guarded, () => {
  for (const [message, options] of [
    [/own configuration/, { url: 'tls://h', settings: { 'session.timeout': 1 } }],
    [/own configuration/, { url: 'tls://h', program: 'lazaret' }],
    [/two servers/, { url: 'tls://h', path: '/x' }],
    [/token and tokenFile/, { url: 'tls://h', token: 'a', tokenFile: 'b' }],
    [/cert and key/, { url: 'tls://h', cert: 'a' }],
    [/^ca, serverName: .*url/, { ca: 'x', serverName: 'y' }],
    [/^token: .*url/, { token: 'x', path: '/x' }]]) {
    assert.throws(() => new Server(options), { name: 'TypeError', message });
  }
});

test('a URL in place of a server', guarded, async () => {
  const server = 'tls://h:1';
  const wanted = { name: 'TypeError', message: /new Server\(\{ url:/ };
  assert.throws(() => new Session({ server }), wanted);
  assert.throws(() => new Pool({ server }), wanted);
  await assert.rejects(execute('1', { server }), wanted);
});
