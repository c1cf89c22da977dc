// SPDX-License-Identifier: MIT
// Results of executions, and the errors that report them.

import { decode } from './values.js';

/** What became of one execution. */
export class Result {
  /**
   * @param {Record<string, any>} raw the object that the server has sent
   * @param {number} [dropped] bytes of output that were not passed on
   * @param {import('./files.js').Artifact[]} [artifacts]
   */
  constructor(raw, dropped = 0, artifacts = []) {
    const verdict = raw.verdict ?? {};
    this.verdict = verdict.reason ?? 'protocol_error';
    this.value = decode(raw.value ?? null);
    this.valueOmitted = Boolean(raw.value_omitted);
    this.text = raw.text ?? null;
    this.output = raw.output ?? [];
    this.truncated = Boolean(raw.truncated);
    this.detail = verdict.detail ?? '';
    this.evidence = verdict.evidence ?? {};
    this.error = raw.error ?? null;
    this.warnings = raw.warnings ?? [];
    this.artifacts = artifacts;
    this.artifactsLost = raw.artifacts_lost ?? [];
    this.denials = raw.denials ?? [];
    this.credentials = raw.credentials ?? [];
    this.replaced = raw.replaced ?? null;
    this.kept = Boolean(raw.kept);
    this.usage = raw.usage ?? {};
    this.isolation = raw.isolation ?? null;
    this.session = raw.session ?? null;
    this.dropped = dropped;
    Object.defineProperty(this, 'raw', { value: raw });
  }

  /** Did the code end without an error? */
  get ok() {
    return this.verdict === 'ok';
  }

  /** All standard output. */
  get stdout() {
    return this._outputOf('stdout');
  }

  /** All standard error. */
  get stderr() {
    return this._outputOf('stderr');
  }

  /** Throw the error of the verdict, unless it is "ok". */
  throwForVerdict() {
    if (!this.ok) throw errorOf(this);
  }

  _outputOf(stream) {
    return this.output.filter((piece) => piece.stream === stream).map((piece) => piece.text)
      .join('');
  }
}

/** Base of all errors of this package. `result` is the result of the execution, or null. */
export class LazaretError extends Error {
  /**
   * @param {string} [message]
   * @param {{ result?: Result | null, cause?: unknown }} [options]
   */
  constructor(message, options = {}) {
    super(message, options);
    Object.defineProperty(this, 'result', { value: options.result ?? null });
  }

  /** What kind of failure: the verdict, or for ExecutionError the kind of the error. */
  get kind() {
    return this.result?.verdict ?? null;
  }

  /** Line of the code, from 1, where it is known. */
  get line() {
    return this.result?.error?.line ?? null;
  }

  /** The traceback of the code, as lines of text. */
  get traceback() {
    return this.result?.error?.traceback ?? [];
  }
}

/** The code has ended with an error. `kind` is "runtime", "exit", "too_large", ... */
export class ExecutionError extends LazaretError {
  get kind() {
    return this.result?.error?.kind ?? null;
  }
}

/** The code could not be parsed; none of it has run. */
export class SyntaxFailed extends LazaretError {}

/** The code ran longer than `timeout`, or the whole execution longer than `deadline`. */
export class Timeout extends LazaretError {}

/** The code has exceeded a limit; `kind` says which: "memory_limit", "cpu_limit", ... */
export class LimitExceeded extends LazaretError {}

/** The server has refused to run the code. */
export class Blocked extends LazaretError {}

/** The execution was cancelled. If a signal has done it, its reason is the `cause`. */
export class Cancelled extends LazaretError {}

/** The process that ran the code is gone, or the server is. */
export class WorkerLost extends LazaretError {}

/** The server or the sandbox could not be started. */
export class SetupFailed extends LazaretError {}

/** The server has refused a request. `code` is its error: "LAZ_EBUSY", ... */
export class RequestFailed extends LazaretError {
  /**
   * @param {string} message
   * @param {string} code
   */
  constructor(message, code) {
    super(message);
    this.code = code;
  }
}

/** Thrown by a tool: its text reaches the code without the name of this class before it. */
export class ToolError extends Error {}

for (const kind of [LazaretError, ExecutionError, SyntaxFailed, Timeout, LimitExceeded, Blocked,
  Cancelled, WorkerLost, SetupFailed, RequestFailed, ToolError]) {
  Object.defineProperty(kind.prototype, 'name',
    { value: kind.name, configurable: true, writable: true });
}

const BY_VERDICT = {
  __proto__: null,
  error: ExecutionError,
  syntax_error: SyntaxFailed,
  timeout: Timeout,
  deadline: Timeout,
  cpu_limit: LimitExceeded,
  memory_limit: LimitExceeded,
  fsize_limit: LimitExceeded,
  tool_limit: LimitExceeded,
  output_limit: LimitExceeded,
  blocked: Blocked,
  cancelled: Cancelled,
  protocol_error: WorkerLost,
  crashed: WorkerLost,
  setup_failed: SetupFailed,
};

/**
 * The error for a result that is not ok.
 *
 * @param {Result} result
 * @param {unknown} [cause]
 */
export function errorOf(result, cause = undefined) {
  const message = result.error?.message || result.detail || result.verdict;
  const options = cause === undefined ? { result } : { result, cause };
  return new (BY_VERDICT[result.verdict] ?? LazaretError)(message, options);
}
