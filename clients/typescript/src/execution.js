// SPDX-License-Identifier: MIT
// One execution: its request, its output, the calls of its tools, and its result.
//
// Tools are called as soon as the code asks for them, several at once, and never wait for whoever
// takes the output. Output waits for its consumer up to a bound; what exceeds it is left out there,
// and is still in the result.

import { AsyncResource } from 'node:async_hooks';

import { INPUT, artifactsOf } from './files.js';
import { Cancelled, ExecutionError, Result, errorOf } from './results.js';
import { hasRun } from './rules.js';
import { answerOf } from './server.js';
import { onAbort } from './signals.js';
import { count, errorText, milliseconds } from './tools.js';
import { decode, encode, isPlain, objectOf } from './values.js';

const QUEUED_BYTES = 16 << 20; // of events that wait for a slow consumer
const EVENT_BYTES = 100; // of an event besides its text
const COMPARED = 200; // characters of the message of a tool, by which it is found in an error
const KEPT_ERRORS = 64; // of tools, to be the cause of an error

/** A text as a message has it. */
function text(value, name) {
  if (typeof value !== 'string' || !isPlain(value)) {
    throw new TypeError(`${name} is ${String(value)}, and must be a text`);
  }
  return value;
}

/** The options of every execution; those of some kinds of it come besides. */
const NAMES = ['timeout', 'deadline', 'maxToolCalls', 'maxOutputLines', 'maxCodeLength', 'signal',
  'check', 'files', 'input', 'artifacts', 'validate', 'invisible', 'traceparent', 'tracestate'];

const OPTIONS = [
  ['timeout', 'timeout_ms', milliseconds],
  ['deadline', 'deadline_ms', milliseconds],
  ['wait', 'wait_ms', milliseconds],
  ['maxToolCalls', 'max_tool_calls', count],
  ['maxOutputLines', 'max_output_lines', count],
  ['maxCodeLength', 'max_code_length', count],
  ['traceparent', 'traceparent', text],
  ['tracestate', 'tracestate', text],
];

/** Refuse an option that there is not, such as one that was misspelled. */
export function checkNames(options, names, all = NAMES) {
  const known = [...all, ...names];
  const unknown = Object.keys(options).filter((name) => !known.includes(name));
  if (unknown.length) {
    throw new TypeError(`there is no option ${unknown.join(', ')}; there are ${known.join(', ')}`);
  }
}

/**
 * The message `execute`. `where` says in which session or pool, or with which runtime, and `wanted`
 * which messages are asked for: `output`, `progress`, `approve`.
 */
export function executeMessage(code, where, options, wanted = {}) {
  if (typeof code !== 'string') throw new TypeError('code must be a text');
  if (!isPlain(code)) throw new TypeError('code cannot contain a NUL or a lone surrogate');
  const message = { type: 'execute', ...where, code };
  for (const [name, member, convert] of OPTIONS) {
    if (options[name] !== undefined) message[member] = convert(options[name], name);
  }
  for (const [member, isWanted] of Object.entries(wanted)) {
    if (isWanted) message[member] = true;
  }
  if (options.artifacts ?? true) message.artifacts = true;
  if (!(options.validate ?? true)) message.validate = false;
  if (options.invisible) message.invisible = true;
  if (options.input !== undefined) message.input = INPUT;
  return message;
}

function bytes(text) {
  return Buffer.byteLength(text);
}

/** The error for an execution that a signal has ended. */
function cancelled(signal, result = null) {
  return new Cancelled('the execution was cancelled', { result, cause: signal.reason });
}

/** Throw if a signal has been aborted before the code could run. */
export function checkSignal(signal) {
  if (signal?.aborted) throw cancelled(signal);
}

/** Wait for something that is needed before the code can run, unless the signal is aborted. */
export async function unlessAborted(promise, signal) {
  if (!signal) return promise;
  let stop;
  try {
    return await Promise.race([promise, new Promise((_, reject) => {
      const refuse = () => reject(cancelled(signal));
      stop = onAbort(signal, refuse);
      if (signal.aborted) refuse();
    })]);
  } finally {
    stop();
  }
}

/** What is known of an execution while it runs. */
export class Execution {
  /**
   * @param {import('./server.js').Server} server
   * @param {Map<string, import('./tools.js').Tool>} tools
   * @param {((approval: any) => unknown) | undefined} approve decides on calls that need a yes
   * @param {import('./rules.js').Rules} rules
   * @param {(event: any) => unknown} [consume] gets the events; waits if it returns a promise
   * @param {object} [owner] is kept from being collected, and so closed, meanwhile
   */
  constructor(server, tools, approve, rules, consume = undefined, owner = undefined) {
    this._rules = rules;
    this.hasRun = false; // as far as is known
    this._owner = owner;
    this._approve = approve;
    this._server = server;
    this._tools = tools;
    this._consume = consume;
    // Tools and the consumer see the asynchronous context of the caller, not that of the reader.
    this._scope = new AsyncResource('LazaretExecution', { requireManualDestroy: true });
    this._id = undefined; // once the request was sent
    this._controllers = new Map(); // of open calls of tools
    this._thrown = []; // by tools, with their texts
    this._failure = null; // of the consumer
    this._busy = null; // settled when the consumer has taken an event
    this._queue = []; // of events that wait for it, from _next on
    this._next = 0;
    this._queued = 0; // bytes of them
    this._hasProgress = false; // waits for the consumer
    this._dropped = 0;
    this._artifacts = []; // their parts
    this._wantsArtifacts = false;
    this._gap = 0; // bytes that were left out here since the last event
  }

  /** Send the request, and wait for the result. */
  async run(message, { signal, check = true }) {
    checkSignal(signal);
    this._wantsArtifacts = message.artifacts === true;
    const { id, answer } = this._server._send(message, 'result',
      (event, size) => this._take(event, size));
    this._id = id;
    this.hasRun = true;
    const stop = onAbort(signal, () => this.cancel());
    const last = await answer;
    const isAborted = Boolean(signal?.aborted);
    stop();
    this._id = undefined;
    for (const controller of this._controllers.values()) controller.abort();
    this._controllers.clear();
    while (this._busy && !isAborted) await this._busy;
    if (isAborted) this._queue = []; // nobody waits for what the consumer has not taken
    if (this._failure) throw this._failure.error;
    return this._finish(last, signal, isAborted, check);
  }

  /** End the execution; its result still comes. */
  cancel() {
    if (this._id !== undefined) this._server._post({ type: 'cancel', request: this._id });
  }

  _finish(last, signal, isAborted, check) {
    this.hasRun = false; // where it has failed
    const raw = answerOf(last).result;
    const artifacts = artifactsOf(raw, this._artifacts, this._wantsArtifacts);
    const result = new Result(raw, this._dropped, artifacts);
    this.hasRun = hasRun(result);
    this._rules.sayEnded(result);
    if (isAborted) throw cancelled(signal, result);
    if (check && !result.ok) {
      const error = errorOf(result);
      throw error instanceof ExecutionError ? errorOf(result, this._cause(error.message)) : error;
    }
    return result;
  }

  /** What a tool has thrown and the code has not caught: the error has its text. */
  _cause(message) {
    return this._thrown.findLast(({ text }) => message.includes(text.slice(0, COMPARED)))?.error;
  }

  // ---- events -----------------------------------------------------------------------------------

  _take(message, size) {
    if (message.type === 'output') {
      this._emit({ type: 'output', stream: message.stream, text: message.text },
        size, message.dropped ?? 0);
    } else if (message.type === 'progress') {
      const { type, wall_ms, cpu_ms, max_rss_bytes, tool_calls } = message;
      this._emit({ type, wall_ms, cpu_ms, max_rss_bytes, tool_calls }, size);
    } else if (message.type === 'tool_call') {
      const { call, tool, args } = message;
      if (this._consume) {
        const decoded = Object.entries(args).map(([name, value]) => [name, decode(value)]);
        this._emit({ type: 'tool_call', call, tool, args: objectOf(decoded) }, size);
      }
      this._answer(message, this._callTool);
    } else if (message.type === 'approval') {
      this._answer(message, this._decide);
    } else if (message.type === 'artifact') {
      this._artifacts.push(message); // the result has it
    } else {
      this._controllers.get(message.call)?.abort();
    }
  }

  /** Pass an event on, or let it wait, or leave it out. */
  _emit(event, size, dropped = 0) {
    this._dropped += dropped;
    this._gap += dropped;
    if (!this._consume) return;
    if (this._busy && event.type === 'progress') {
      if (this._hasProgress) return; // a slow consumer gets fewer
      this._hasProgress = true;
    }
    if (this._busy && this._queued + size + EVENT_BYTES > QUEUED_BYTES) {
      const lost = event.type === 'output' ? bytes(event.text) : 0;
      this._dropped += lost;
      this._gap += lost;
      return;
    }
    if (event.type === 'output' && this._gap) {
      event.dropped = this._gap;
      this._gap = 0;
    }
    if (this._busy) {
      this._queue.push({ event, size: size + EVENT_BYTES });
      this._queued += size + EVENT_BYTES;
    } else {
      this._pass(event);
    }
  }

  _pass(event) {
    if (event.type === 'progress') this._hasProgress = false;
    try {
      const taken = this._scope.runInAsyncScope(this._consume, undefined, event);
      if (typeof taken?.then === 'function') {
        this._busy = Promise.resolve(taken).then(() => this._passNext(),
          (error) => this._fail(error));
      }
    } catch (error) {
      this._fail(error);
    }
  }

  _passNext() {
    this._busy = null;
    while (!this._busy && this._next < this._queue.length) {
      const { event, size } = this._queue[this._next];
      this._queue[this._next++] = undefined;
      this._queued -= size;
      this._pass(event);
    }
    if (this._next >= this._queue.length) {
      this._queue = [];
      this._next = 0;
    }
  }

  /** The consumer has failed: it gets no more, and the code is ended. */
  _fail(error) {
    this._failure ??= { error };
    this._consume = undefined;
    this._queue = [];
    this._busy = null;
    this.cancel();
  }

  // ---- tools ------------------------------------------------------------------------------------

  /** Answer a call by what `work` gives for the message. */
  async _answer(message, work) {
    const { call, tool, session_name: session = '' } = message;
    this._rules.sayCalled(message);
    const controller = new AbortController();
    this._controllers.set(call, controller);
    try {
      const value = await this._scope.runInAsyncScope(work, this, message,
        { signal: controller.signal, session });
      this._server._answer(call, 'value', encode(value, this._server._maxLine));
      this._rules.say(`tool result: ${tool}`);
    } catch (error) {
      const text = errorText(error);
      this._rules.say(`tool error: ${tool}: ${text}`);
      this._thrown = [...this._thrown.slice(1 - KEPT_ERRORS), { text, error }];
      this._server._answer(call, 'error', JSON.stringify(text));
    } finally {
      this._controllers.delete(call);
    }
  }

  _callTool({ tool: name, args }, context) {
    const tool = this._tools.get(name) ?? this._server._tools.get(name);
    if (!tool) throw new Error(`this client has no tool '${name}'`);
    return tool.call(args, context);
  }

  /** Is this call of a tool allowed? Only `true` is a yes. */
  async _decide({ tool, args }, context) {
    if (!this._approve) return false;
    const decoded = Object.entries(args).map(([name, value]) => [name, decode(value)]);
    return (await this._approve({ tool, args: objectOf(decoded), ...context })) === true;
  }
}
