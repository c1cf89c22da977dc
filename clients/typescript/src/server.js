// SPDX-License-Identifier: MIT
// A process `lazaret serve`, or a connection to one, and the messages to and from it.
//
// Each message is given to the request that it belongs to as soon as it has come, so that a slow
// consumer never stops the reading. The server starts when it is first used, and this program is
// kept alive only while a request is open.

import { SetupFailed, LazaretError, RequestFailed, WorkerLost } from './results.js';
import { ProcessChannel, SocketChannel } from './channel.js';
import { findProgram, serveArguments } from './program.js';
import { TlsChannel, checkRemote } from './remote.js';
import { makeTools, milliseconds } from './tools.js';

const PROTOCOL = 1;
const FIRST_MAX_LINE = 1 << 20; // until the server has said how much it accepts
const ID_BYTES = 32; // of the id that a message gets when it is sent

/** The members that a message has, and their types. Other messages are ignored. */
const MESSAGES = {
  __proto__: null,
  hello: { protocol: 'number', max_line: 'number' },
  opened: { id: 'number' },
  output: { id: 'number', stream: 'string', text: 'string' },
  progress: {
    id: 'number', wall_ms: 'number', cpu_ms: 'number', max_rss_bytes: 'number',
    tool_calls: 'number',
  },
  tool_call: { call: 'number', id: 'number', tool: 'string', args: 'object' },
  approval: { call: 'number', id: 'number', tool: 'string', args: 'object' },
  tool_cancelled: { call: 'number' },
  artifact: { id: 'number', name: 'string' },
  result: { id: 'number', result: 'object' },
  description: { id: 'number', text: 'string' },
  found: { id: 'number', tools: 'object' },
  done: { id: 'number' },
  failed: { code: 'string', message: 'string' },
};

/** What comes before the answer to a request. */
const EVENTS = ['output', 'progress', 'tool_call', 'approval', 'tool_cancelled', 'artifact'];

/** Read a line as a message; null if it is of an unknown type. */
function parse(line) {
  const message = JSON.parse(line);
  if (typeof message?.type !== 'string') throw new TypeError('a message has a type');
  const members = MESSAGES[message.type];
  if (!members) return null;
  for (const [name, type] of Object.entries(members)) {
    if (typeof message[name] !== type || message[name] === null) {
      throw new TypeError(`${message.type} has no valid ${name}`);
    }
  }
  return message;
}

/** An engine that runs code: a process of its own, or one that runs already, here or elsewhere. */
export class Server {
  /** @param {import('./index.js').ServerOptions} [options] */
  constructor({ program, config, settings = {}, path, url, token, tokenFile, ca, cert, key,
    serverName, env = process.env, log, startTimeout = 30_000 } = {}) {
    const access = { token, tokenFile, ca, cert, key, serverName };
    if ((path ?? url) !== undefined && (program !== undefined || config !== undefined ||
        Object.keys(settings).length)) {
      throw new TypeError(`${path === undefined ? 'url' : 'path'} is of a server that runs: it ` +
        'has its own configuration');
    }
    if (path !== undefined && url !== undefined) {
      throw new TypeError('url and path name two servers');
    }
    checkRemote(url, access);
    this._startTimeout = milliseconds(startTimeout, 'startTimeout');
    const args = serveArguments(config, settings);
    this._connect = url !== undefined ? () => new TlsChannel(url, access)
      : path !== undefined ? () => new SocketChannel(String(path))
      : () => new ProcessChannel(findProgram(program && String(program), env), args, env, log);
    this._tools = new Map(); // of all sessions
    this._pending = new Map(); // requests that are open, by id
    this._calls = new Map(); // open calls of tools, and the executions they belong to
    this._lastId = 0;
    this._held = 0; // what keeps this program alive
    this._maxLine = FIRST_MAX_LINE;
    this._hello = null;
    this._greet = null;
    this._channel = null;
    this._starting = null;
    this._closing = null;
    this._lost = null; // why the connection has ended
    this._refused = null; // why the server has no use for us
  }

  /** Can it be used? */
  get isAlive() {
    return this._lost === null;
  }

  /** The version of lazaret that the server is, once it has started. */
  get version() {
    return this._hello?.version;
  }

  /** The process id of the server, once it has started; of none behind a socket. */
  get pid() {
    return this._channel?.pid;
  }

  /** Start the server, unless that was done. */
  async start() {
    if (this._lost !== null && !this._starting) throw new WorkerLost(this._lost);
    await (this._starting ??= this._start());
  }

  async _start() {
    try {
      this._channel = this._connect();
    } catch (error) {
      this._lost = error.message;
      throw error instanceof LazaretError ? error
        : new SetupFailed(`the server cannot be started: ${error.message}`, { cause: error });
    }
    this._channel.onLine = (line, size) => this._take(line, size);
    this._channel.onEnd = (why) => this._lose(why);
    this._hold(1);
    let timer;
    try {
      await new Promise((resolve) => {
        this._greet = resolve;
        timer = setTimeout(() => this._channel.fail(
          `it has not answered in ${this._startTimeout} ms`), this._startTimeout);
      });
    } finally {
      clearTimeout(timer);
      this._hold(-1);
    }
    if (this._refused !== null) {
      throw new SetupFailed(`${this._channel.name} has refused this client: ${this._refused}`);
    }
    if (this._lost !== null) throw new SetupFailed(this._lost);
  }

  /** End the server with everything that runs in it. Can be called more than once. */
  close() {
    return (this._closing ??= this._close());
  }

  async _close() {
    if (!this._channel) {
      this._lost ??= 'the server was closed';
      return;
    }
    this._hold(1);
    this._channel.end();
    await this._channel.ended;
    this._hold(-1);
  }

  [Symbol.asyncDispose]() {
    return this.close();
  }

  /** Give tools to all sessions and pools that are opened afterwards on this server. */
  async register(tools) {
    const made = makeTools(tools);
    if (!made.size) return;
    const declarations = [...made.values()].map(({ declaration }) => declaration);
    await this._call({ type: 'tools', tools: declarations }, 'done');
    for (const [name, tool] of made) this._tools.set(name, tool);
  }

  // ---- requests: for the other modules of this package ------------------------------------------

  /**
   * Send a request, once the server has started.
   *
   * @param {object} message
   * @param {string} wants the type of its answer
   * @param {(message: any, size: number) => void} [onEvent] gets the messages before that
   * @returns {{ id: number, answer: Promise<any> }} `answer` gives a message, also when it failed
   */
  _send(message, wants, onEvent = () => {}) {
    const id = ++this._lastId;
    const line = this._line({ ...message, id });
    if (this._lost !== null) throw new WorkerLost(this._lost);
    const answer = new Promise((resolve) => {
      this._pending.set(id, { wants, onEvent, resolve });
    });
    this._hold(1);
    this._channel.write(line);
    return { id, answer };
  }

  /** Send a request and wait for its answer. */
  async _call(message, wants) {
    await this.start();
    return answerOf(await this._send(message, wants).answer);
  }

  /** Send a request whose answer does not matter. */
  _post(message) {
    if (this._channel && this._lost === null) {
      this._channel.write(this._line({ ...message, id: ++this._lastId }));
    }
  }

  /** Answer a call of a tool: `json` is the text of the value, or of the error. */
  _answer(call, kind, json) {
    const line = this._line({ type: 'answer', call }, `,"${kind}":${json}`);
    if (this._calls.delete(call)) this._channel.write(line);
  }

  /** A message as a line. One that is too long would end the connection: RangeError. */
  _line(message, rest = '') {
    const line = `${JSON.stringify(message).slice(0, -1)}${rest}}\n`;
    const size = Buffer.byteLength(line);
    if (size > this._maxLine) {
      throw new RangeError(`a message of ${size} bytes is too long for the server, which accepts ` +
        `${this._maxLine}`);
    }
    return line;
  }

  /** The bytes that can be added to a message. */
  _room(message) {
    return this._maxLine - Buffer.byteLength(this._line(message)) - ID_BYTES;
  }

  // ---- messages ---------------------------------------------------------------------------------

  _hold(change) {
    const before = this._held;
    this._held += change;
    if (Boolean(before) !== Boolean(this._held)) this._channel.hold(this._held > 0);
  }

  _take(line, size) {
    let message;
    try {
      message = parse(line);
    } catch (error) {
      this._channel.fail(`it has sent what is not a message (${error.message})`);
      return;
    }
    if (!message) return;
    if (this._hello === null && message.type !== 'failed') this._takeHello(message);
    else this._deliver(message, size);
  }

  _takeHello(message) {
    if (message.type !== 'hello') {
      this._channel.fail(`its first message is ${message.type}, and not hello`);
    } else if (message.protocol !== PROTOCOL) {
      this._channel.fail(`it speaks version ${message.protocol} of the protocol, and this ` +
        `package version ${PROTOCOL}`);
    } else {
      this._hello = message;
      this._maxLine = message.max_line;
      this._greet();
    }
  }

  _deliver(message, size) {
    const { type, call } = message;
    let { id } = message;
    if (type === 'failed' && id === undefined) {
      if (this._hello === null) this._refused = message.message;
      this._channel.fail(message.message); // it could not read a line, and the connection ends
      return;
    }
    if (type === 'tool_call' || type === 'approval') this._calls.set(call, id);
    if (type === 'tool_cancelled') {
      id = this._calls.get(call);
      this._calls.delete(call);
    }
    const request = this._pending.get(id);
    if (!request) return;
    if (EVENTS.includes(type)) {
      request.onEvent(message, size);
    } else if (type === request.wants || type === 'failed') {
      this._pending.delete(id);
      this._hold(-1);
      request.resolve(message);
    } else {
      this._channel.fail(`it has answered a request by ${type} instead of ${request.wants}`);
    }
  }

  /** The connection has ended: report it to all who wait. */
  _lose(why) {
    this._lost = why;
    const pending = [...this._pending.values()];
    this._pending.clear();
    this._calls.clear();
    this._greet();
    for (const { resolve } of pending) {
      this._hold(-1);
      resolve({ type: 'lost', message: why });
    }
  }
}

/** An answer; throws the error for a request that has failed. */
export function answerOf(message) {
  if (message.type === 'lost') throw new WorkerLost(message.message);
  if (message.type === 'failed') {
    // The session that was used could not start.
    if (message.code === 'LAZ_ESETUP') throw new SetupFailed(message.message);
    throw new RequestFailed(message.message, message.code);
  }
  return message;
}

// ---- the default server -------------------------------------------------------------------------

/** @type {Server | undefined} */
let shared;

/** The server that sessions use which are given none. It is started when it is needed. */
export function defaultServer() {
  if (!shared?.isAlive) shared = new Server();
  return shared;
}
