// SPDX-License-Identifier: MIT
// What a program asks of its own executions: settings of a server, a hook, a number, a log.

import { resolve } from 'node:path';

import { Result } from './results.js';
import { count, errorText } from './tools.js';

const NOTHING_RAN = ['blocked', 'syntax_error', 'setup_failed'];

function limitOf([name, value]) {
  if (typeof value === 'number' && value > 0) {
    return [`limits.${name}`, value === Infinity ? 'unlimited' : Math.ceil(value)];
  }
  if (typeof value === 'string') return [`limits.${name}`, value];
  throw new RangeError(`the limit ${name} is ${String(value)}, and must be a positive number, ` +
    'Infinity for none, or a text');
}

/** The settings of a server that does what is asked for, or null: any server does. */
export function settingsOf({ limits = {}, auditLog, sanitizeErrors = false }, server) {
  if (typeof server === 'string' || server instanceof URL) {
    throw new TypeError("server must be a Server, as new Server({ url: 'tls://HOST:PORT', " +
      'tokenFile }) makes it');
  }
  if (typeof limits !== 'object' || limits === null) {
    throw new TypeError('limits must be an object, as { cpu: 30 }');
  }
  const settings = Object.fromEntries(Object.entries(limits).map(limitOf));
  if (auditLog !== undefined) {
    if (typeof auditLog !== 'string' || !auditLog) {
      throw new TypeError('auditLog must be the path of a file');
    }
    settings['audit.file'] = resolve(auditLog);
  }
  if (sanitizeErrors) settings['session.sanitize_errors'] = true;
  if (!Object.keys(settings).length) return null;
  if (server) {
    throw new TypeError('limits, auditLog and sanitizeErrors belong to a server: give them to ' +
      'new Server({ settings }), or leave out server');
  }
  return settings;
}

/** The result of code that was not sent. */
function blocked(why) {
  return new Result({ verdict: { reason: 'blocked', detail: why } });
}

/**
 * Which executions of a session, a pool, or of one code there may be, and what is told of them.
 * Each is admitted, and, unless it was blocked, released once, whatever became of it.
 */
export class Rules {
  /** @param {import('./index.js').RuleOptions} options */
  constructor({ maxExecutions, preExecuteHook, verbose = false }) {
    if (maxExecutions !== undefined && count(maxExecutions, 'maxExecutions') < 1) {
      throw new RangeError('maxExecutions must be a number from 1');
    }
    if (preExecuteHook !== undefined && typeof preExecuteHook !== 'function') {
      throw new TypeError('preExecuteHook must be a function');
    }
    this._max = maxExecutions ?? Infinity;
    this._hook = preExecuteHook;
    this._verbose = verbose;
    this._count = 0;
  }

  /** Count an execution of this code, or give the result of one that is blocked. */
  async admit(code) {
    const refused = this._usedUp() ?? await this._ask(code) ?? this._usedUp();
    if (refused) this.say(`execution blocked: ${refused.detail}`);
    else this._count += 1;
    return refused;
  }

  /** What was admitted is over; code that did not run does not count. */
  release(hasRun) {
    if (!hasRun) this._count -= 1;
  }

  /** Tell whoever watches what happens. */
  say(text) {
    if (this._verbose) process.stderr.write(`[lazaret] ${text}\n`);
  }

  sayEnded({ verdict, usage }) {
    const time = usage.wall_ms === undefined ? '' : ` (${Math.round(usage.wall_ms)} ms)`;
    this.say(`execution ended: ${verdict}${time}`);
  }

  sayCalled({ type, tool, args }) {
    const what = type === 'approval' ? 'approval of' : 'tool call:';
    this.say(`${what} ${tool}(${Object.keys(args).join(', ')})`);
  }

  _usedUp() {
    return this._count < this._max ? undefined
      : blocked(`the maximum of ${this._max} executions is reached`);
  }

  async _ask(code) {
    try {
      const answer = await this._hook?.(code);
      return answer === false ? blocked('preExecuteHook has refused the code') : undefined;
    } catch (error) {
      return blocked(`preExecuteHook has failed: ${errorText(error)}`);
    }
  }
}

/** Has the code of this result been run? */
export function hasRun(result) {
  return !NOTHING_RAN.includes(result.verdict);
}
