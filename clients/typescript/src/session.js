// SPDX-License-Identifier: MIT
// Sessions and pools.

import { LazaretError, RequestFailed, SetupFailed } from './results.js';
import { Rules, settingsOf } from './rules.js';
import {
  Execution, checkNames, checkSignal, executeMessage, unlessAborted,
} from './execution.js';
import { FILE_ERRORS, addFiles, filesOf, partsOf, tooLarge } from './files.js';
import { RUN_NAMES, codeOf, outcomeOf } from './run.js';
import { Server, defaultServer } from './server.js';
import { onAbort } from './signals.js';
import { count, makeTools } from './tools.js';
import { isPlain } from './values.js';

const DEFAULT_RUNTIME = 'python';

/** Options besides those of every execution. */
const EXECUTE_NAMES = ['output', 'onProgress'];
const ONCE_NAMES = [...EXECUTE_NAMES, 'runtime', 'tools', 'approve', 'server', 'limits', 'auditLog',
  'sanitizeErrors', 'maxExecutions', 'preExecuteHook', 'verbose', 'network', 'credentials'];

/** The member `runtime` of a message; null: as the configuration says. */
function runtimeMember(runtime) {
  if (runtime === null) return {};
  if (typeof runtime !== 'string' || !isPlain(runtime)) {
    throw new TypeError('runtime must be the name of a language, or null');
  }
  return { runtime };
}

/** The member `tools` of a message; none: nothing. */
function toolsMember(tools) {
  return tools.size ? { tools: [...tools.values()].map(({ declaration }) => declaration) } : {};
}

/** The rules of a network list, as messages have them. */
function rulesOf(allow) {
  if (!Array.isArray(allow)) {
    throw new TypeError("a network list is an array of rules, as ['https://api.example.com']");
  }
  return allow;
}

/** The member `network` of a message; undefined: that of the configuration. */
function networkMember(network) {
  return network === undefined ? {} : { network: rulesOf(network) };
}

/** The member `credentials`, likewise. No error has what is in one. */
function credentialsMember(credentials) {
  if (credentials === undefined) return {};
  const isOne = (one) => typeof one === 'string'
    || (typeof one === 'object' && one !== null && !Array.isArray(one));
  if (!Array.isArray(credentials) || !credentials.every(isOne)) {
    throw new TypeError('credentials are an array of names and of objects');
  }
  return { credentials };
}

/** What is opened on a server, and is no longer used, must not keep its processes. */
const forgotten = new FinalizationRegistry(({ server, where, own }) => {
  if (own) own.close();
  else server._post({ type: 'close', ...where });
});

/** A callback that was given, or not. */
function callback(given, name) {
  if (given !== undefined && typeof given !== 'function') {
    throw new TypeError(`${name} must be a function`);
  }
  return given;
}

/** The callbacks of an execution as a consumer of its events, and which events that wants. */
function consumerOf(options) {
  const output = callback(options.output, 'output');
  const onProgress = callback(options.onProgress, 'onProgress');
  const wanted = { output: Boolean(output), progress: Boolean(onProgress) };
  if (!output && !onProgress) return { wanted };
  const consume = ({ type, ...event }) => {
    if (type === 'output' && event.text) return output?.(event.stream, event.text);
    return type === 'progress' ? onProgress?.(event) : undefined;
  };
  return { consume, wanted };
}

/** The events of an execution that `start` starts, as whoever iterates takes them. */
async function* events(start, signal) {
  const stop = new AbortController();
  const forward = () => stop.abort(signal.reason);
  let wake = () => {};
  let slot = null; // the event that is taken next, or is being looked at
  let isGone = false; // nobody iterates any more
  let isOver = false;
  const consume = (event) => (isGone ? undefined : new Promise((taken) => {
    slot = { event, taken };
    wake();
  }));
  const leave = onAbort(signal, forward);
  if (signal?.aborted) forward();
  const finished = start(consume, stop.signal).finally(() => {
    isOver = true;
    wake();
  });
  finished.catch(() => {}); // it is awaited below
  try {
    while (slot || !isOver) {
      if (slot) {
        yield slot.event;
        const { taken } = slot;
        slot = null;
        taken();
      } else {
        await new Promise((resolve) => {
          wake = resolve;
        });
      }
    }
    yield { type: 'result', result: await finished };
  } finally {
    isGone = true;
    slot?.taken();
    stop.abort();
    await finished.catch(() => {});
    leave();
  }
}

/**
 * What sessions and pools have in common: something that is open on a server. What is asked for by
 * settings needs a server of its own, which is closed with it.
 */
class Opened {
  constructor({ server, approve, ...options }, tools, message, kind) {
    this._settings = settingsOf(options, server);
    this._rules = new Rules(options);
    this._given = server;
    this._own = null;
    this._approve = callback(approve, 'approve');
    this._server = server;
    this._tools = tools;
    this._message = message; // that opens it
    this.runtime = message.runtime ?? null;
    this._kind = kind; // "session" or "pool"
    this._names = []; // of options that its executions have besides
    this._where = null; // { session: 1 } or { pool: 1 }
    this._opening = null;
    this._closing = null;
    this.name = '';
  }

  /** The server on which it is open. */
  get server() {
    return this._server;
  }

  /** Open it, unless it is open. */
  async open() {
    this._checkOpen();
    this._opening ??= this._open();
    try {
      await this._opening;
    } catch (error) {
      this._opening = null; // the next use tries again
      throw error;
    }
    return this;
  }

  _checkOpen() {
    if (this._closing) throw new LazaretError(`this ${this._kind} is closed`);
  }

  async _open() {
    this._own = this._settings && new Server({ settings: this._settings });
    const server = this._own ?? this._given ?? defaultServer();
    this._server = server;
    try {
      const opened = await server._call(this._message, 'opened');
      this._where = { [this._kind]: opened[this._kind] };
      this.name = opened.name ?? '';
    } catch (error) {
      await this._own?.close();
      throw error instanceof RequestFailed ? new SetupFailed(error.message, { cause: error })
        : error;
    }
    forgotten.register(this, { server, where: this._where, own: this._own }, this);
    this._rules.say(this.name ? `${this._kind} started: ${this.name}` : `${this._kind} started`);
  }

  async _request(type, wants, members = {}) {
    await this.open();
    return this._server._call({ type, ...this._where, ...members }, wants);
  }

  /** Run code. `consume` gets the events of the execution that are wanted. */
  async _run(code, options, { consume, wanted }) {
    executeMessage(code, {}, options); // wrong options are reported at once
    const files = filesOf(options);
    checkSignal(options.signal);
    await unlessAborted(this.open(), options.signal);
    this._checkOpen();
    const execution = new Execution(this._server, this._tools, this._approve, this._rules, consume,
      this);
    return admitted(this._rules, code, execution, options, async () => {
      this._checkOpen();
      const message = executeMessage(code, this._where, options,
        { ...wanted, approve: Boolean(this._approve) });
      if (files) {
        await unlessAborted(this._give(message, files), options.signal);
        this._checkOpen();
      }
      return execution.run(message, options);
    });
  }

  /** Let files go with the code, or put them before. */
  async _give(message, files) {
    if (!await addFiles(message, files, this._server)) await this._putBefore(files);
  }

  async _putBefore() {
    throw tooLarge(this._server);
  }

  /** Run code and wait for its result. */
  async execute(code, options = {}) {
    checkNames(options, [...EXECUTE_NAMES, ...this._names]);
    return this._run(code, options, consumerOf(options));
  }

  /** Run code; gives its output and its calls of tools as they come, and at last the result. */
  stream(code, options = {}) {
    checkNames(options, ['progress', ...this._names]);
    const wanted = { output: true, progress: Boolean(options.progress) };
    return events((consume, signal) =>
      this._run(code, { ...options, signal }, { consume, wanted }), options.signal);
  }

  /** What the server says of it: `text`, a line for people, and more. */
  async describe() {
    return this._request('describe', 'description');
  }

  /** Close it; what it executes is cancelled. Can be called more than once. */
  close() {
    return (this._closing ??= this._close());
  }

  async _close() {
    await this._opening?.catch(() => {});
    if (!this._where) return;
    forgotten.unregister(this);
    try {
      if (this._server.isAlive) await this._server._call({ type: 'close', ...this._where }, 'done');
    } catch (error) {
      if (!(error instanceof LazaretError)) throw error;
      // The server has ended meanwhile, and the session with it.
    }
    await this._own?.close();
    this._rules.say(this.name ? `${this._kind} closed: ${this.name}` : `${this._kind} closed`);
  }

  [Symbol.asyncDispose]() {
    return this.close();
  }
}

/** Execute by `run`, unless the code is blocked before that. */
async function admitted(rules, code, execution, { check = true, signal }, run) {
  const refused = await unlessAborted(rules.admit(code), signal);
  if (refused) {
    if (check) refused.throwForVerdict();
    return refused;
  }
  try {
    return await run();
  } finally {
    rules.release(execution.hasRun);
  }
}

/**
 * A session: what code defines is there for the code that is executed next.
 *
 * It is opened by `Session.open()`, by `open()`, or by its first use. One execution at a time runs
 * in a session, many in different ones.
 */
export class Session extends Opened {
  /** @param {import('./index.js').SessionOptions} [options] */
  constructor({
    runtime = DEFAULT_RUNTIME, tools = [], warm = true, files = {}, network, credentials,
    ...options
  } = {}) {
    const made = makeTools(tools);
    const message = {
      type: 'open',
      warm: Boolean(warm),
      ...runtimeMember(runtime),
      ...toolsMember(made),
      ...networkMember(network),
      ...credentialsMember(credentials),
    };
    super(options, made, message, 'session');
    this._files = Object.entries(files);
    this._putting = Promise.resolve(); // settled when a file can be put
  }

  /** @param {import('./index.js').SessionOptions} [options] */
  static async open(options) {
    return new Session(options).open();
  }

  async _open() {
    await super._open();
    try {
      for (const [name, data] of this._files) await this._put(name, data);
    } catch (error) {
      forgotten.unregister(this);
      this._server._post({ type: 'close', ...this._where });
      this._where = null; // the next use opens another one
      await this._own?.close();
      throw error;
    }
  }

  async _put(name, data) {
    for await (const message of partsOf(name, data)) {
      await this._server._call({ ...message, ...this._where }, 'done');
    }
  }

  /** Run a program, in a session of the runtime `shell` or `program`, and wait for its end. */
  async run(words, options = {}) {
    checkNames(options, [], RUN_NAMES);
    const { cwd, env, ...rest } = options;
    const code = codeOf(this.runtime, words, { cwd, env });
    return outcomeOf(await this.execute(code, { ...rest, artifacts: false, validate: false }));
  }

  /** Put a file where the code starts: bytes, or the file that has this path. */
  async putFile(name, data) {
    await this.open();
    // The parts of one file are not mixed with those of another.
    const put = this._putting.then(() => this._put(name, data));
    this._putting = put.catch(() => {});
    return put;
  }

  async _putBefore(files) {
    for (const [name, data] of Object.entries(files)) await this.putFile(name, data);
  }

  /** Interrupt what the session executes, if anything: its verdict becomes "cancelled". */
  async interrupt() {
    await this._request('interrupt', 'done');
  }

  /** Change what code can reach by the network, between executions. */
  async setNetwork(allow) {
    await this._request('set_network', 'done', { allow: rulesOf(allow) });
  }

  /** Give the session a fresh interpreter: what code has defined is gone. */
  async restart() {
    await this._request('restart', 'opened');
    this._rules.say(`session restarted: ${this.name}`);
  }

  /** The tools that code can call, as the server declares them. */
  async tools() {
    return (await this.describe()).tools ?? [];
  }

  /** The tools that fit these words best, for a model that is not shown all of them. */
  async searchTools(words, { limit = 10 } = {}) {
    if (typeof words !== 'string' || !isPlain(words)) throw new TypeError('words must be a text');
    const members = { words, limit: count(limit, 'limit') };
    return (await this._request('search', 'found', members)).tools;
  }

  /** Has the session an interpreter, or is one being started? */
  async isAlive() {
    if (this._closing || (this._server && !this._server.isAlive)) return false;
    try {
      return Boolean((await this.describe()).alive);
    } catch (error) {
      if (error instanceof LazaretError) return false;
      throw error;
    }
  }
}

/** Sessions that are kept ready; each execution gets a fresh one. All have the tools. */
export class Pool extends Opened {
  /** @param {import('./index.js').PoolOptions} [options] */
  constructor({
    runtime = DEFAULT_RUNTIME, size, tools = [], network, credentials, ...options
  } = {}) {
    const made = makeTools(tools);
    const message = {
      type: 'open_pool', ...runtimeMember(runtime), ...toolsMember(made), ...networkMember(network),
      ...credentialsMember(credentials),
    };
    if (size !== undefined) message.members = count(size, 'size');
    super(options, made, message, 'pool');
    this._names = ['wait'];
  }

  /** @param {import('./index.js').PoolOptions} [options] */
  static async open(options) {
    return new Pool(options).open();
  }

  /** How many sessions there are: `total`, `busy`, `idle`, `dead`, `starting`, `waiting`. */
  async status() {
    return (await this.describe()).status ?? {};
  }
}

async function executeOnce(execution, server, message, options) {
  const files = filesOf(options);
  try {
    await unlessAborted(server.start(), options.signal);
    if (files && !await unlessAborted(addFiles(message, files, server), options.signal)) {
      throw tooLarge(server);
    }
    return await execution.run(message, options);
  } catch (error) {
    const isOfFile = files && FILE_ERRORS.includes(error.code);
    throw error instanceof RequestFailed && !isOfFile
      ? new SetupFailed(error.message, { cause: error }) : error;
  }
}

/** Run code in a fresh session, which is closed afterwards. */
export async function execute(code, options = {}) {
  const { runtime = DEFAULT_RUNTIME, tools = [], approve, server, network, credentials } = options;
  checkNames(options, ONCE_NAMES);
  const made = makeTools(tools);
  if (made.size) {
    const session = new Session({ ...options, tools: made.values(), files: {} });
    try {
      return await session._run(code, options, consumerOf(options));
    } finally {
      await session.close();
    }
  }
  const { consume, wanted } = consumerOf(options);
  const place = {
    ...runtimeMember(runtime), ...networkMember(network), ...credentialsMember(credentials),
  };
  const message = executeMessage(code, place, options,
    { ...wanted, approve: Boolean(callback(approve, 'approve')) });
  filesOf(options); // wrong options are reported at once
  const settings = settingsOf(options, server);
  const rules = new Rules(options);
  checkSignal(options.signal);
  const own = settings && new Server({ settings });
  const where = own ?? server ?? defaultServer();
  const execution = new Execution(where, made, approve, rules, consume);
  try {
    return await admitted(rules, code, execution, options,
      () => executeOnce(execution, where, message, options));
  } finally {
    await own?.close();
  }
}
