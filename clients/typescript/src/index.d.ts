// SPDX-License-Identifier: MIT
/// <reference lib="esnext.disposable" />

/** Milliseconds. */
type Milliseconds = number;

// ---- results ------------------------------------------------------------------------------------

export interface Output {
  stream: 'stdout' | 'stderr';
  text: string;
}

/** The error that ended the code. */
export interface CodeError {
  kind: string;
  message: string;
  traceback?: string[];
  line?: number | null;
  column?: number | null;
  [member: string]: unknown;
}

/** A file that is not an artifact, because it did not come as a whole. */
export interface LostArtifact {
  readonly name: string;
  /** How many have come; they are gone. */
  readonly bytes: number;
  readonly why: string;
}

/** A file that the code has saved below `artifacts/`, or a figure that it has drawn. */
export class Artifact {
  private constructor();
  /** With slashes, where it is in a directory. */
  readonly name: string;
  /** "image/png", ... */
  readonly type: string;
  /** Bytes. */
  readonly size: number;
  readonly sha256: string;
  /** Null: not asked for, or dropped. */
  readonly data: Uint8Array | null;
  /** Were its bytes left out, because this program did not read? */
  readonly dropped: boolean;
  /**
   * Write it into a directory, which is made if it is missing; gives its path. A file that is there
   * is not changed: another name is taken, as "plot-2.png". Below the directory no link is followed
   * that is there before.
   */
  save(directory: string | URL): Promise<string>;
}

/** What became of one execution. */
export class Result<Value = any> {
  private constructor();
  /** "ok", "error", "syntax_error", "timeout", ... */
  readonly verdict: string;
  /** The value of the code, as a JavaScript value. */
  readonly value: Value;
  /** Is it null because it was too large? A warning says more. */
  readonly valueOmitted: boolean;
  /** The value as the language prints it. */
  readonly text: string | null;
  readonly output: Output[];
  /** Is the output incomplete, because of a limit? */
  readonly truncated: boolean;
  /** Why the verdict is not "ok". */
  readonly detail: string;
  readonly evidence: Record<string, any>;
  readonly error: CodeError | null;
  readonly warnings: string[];
  /** The files and figures that the code has made. */
  readonly artifacts: Artifact[];
  /** Those that did not come as a whole, and are not artifacts. */
  readonly artifactsLost: LostArtifact[];
  readonly denials: Denial[];
  /** Those that were used, for which host, and how often. */
  readonly credentials: { name: string; host: string; count: number }[];
  /** Why the session lost its state before this execution. */
  readonly replaced: string | null;
  /** Does the session go on with all that its code has made? */
  readonly kept: boolean;
  readonly usage: Record<string, number>;
  /** What was enforced, and by what. */
  readonly isolation: Record<string, any> | null;
  /** The name of the session, as in the audit log. */
  readonly session: string | null;
  /** Bytes of output that the consumer did not get, because it was too slow. */
  readonly dropped: number;
  /** The result as JSON. */
  readonly raw: Record<string, any>;
  /** Did the code end without an error? */
  get ok(): boolean;
  /** All standard output. */
  get stdout(): string;
  /** All standard error. */
  get stderr(): string;
  /** Throw the error of the verdict, unless it is "ok". */
  throwForVerdict(): void;
}

/** Base of all errors of this package. */
export class LazaretError extends Error {
  constructor(message?: string, options?: { result?: Result | null; cause?: unknown });
  /** The result of the execution, or null if there is none. */
  readonly result: Result | null;
  readonly cause?: unknown;
  /** What kind of failure: the verdict, or for ExecutionError the kind of the error. */
  get kind(): string | null;
  /** Line of the code, from 1, where it is known. */
  get line(): number | null;
  /** The traceback of the code, as lines of text. */
  get traceback(): string[];
}

/** The code has ended with an error. `kind` is "runtime", "exit", "too_large", ... */
export class ExecutionError extends LazaretError {}
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
/** The server has refused a request. */
export class RequestFailed extends LazaretError {
  constructor(message: string, code: string);
  /** The name of the error: "LAZ_EBUSY", ... */
  readonly code: string;
}

/** Thrown by a tool: its text reaches the code without the name of this class before it. */
export class ToolError extends Error {
  constructor(message?: string, options?: { cause?: unknown });
}

// ---- values -------------------------------------------------------------------------------------

/** A calendar date without a time of day: midnight UTC of that day, sent as `$date`. */
export class CalendarDate extends Date {
  constructor(value: string | number | Date);
}

/** A data frame: columns of one length, with distinct names, in their order. */
export class Frame implements Iterable<Record<string, any>> {
  constructor(columns: Iterable<readonly [string, any[]]> | Record<string, any[]>, length?: number);
  readonly columns: Map<string, any[]>;
  /** The number of rows. */
  readonly length: number;
  get names(): string[];
  /** The rows, each as an object. */
  rows(): IterableIterator<Record<string, any>>;
  [Symbol.iterator](): IterableIterator<Record<string, any>>;
  toJSON(): Record<string, any>[];
}

// ---- tools --------------------------------------------------------------------------------------

export type ParameterType = 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object';

/** A parameter as in a configuration of lazaret. */
export interface Parameter {
  name: string;
  /** Absent: any value. */
  type?: ParameterType;
  /** Absent: true, unless there is a default. */
  required?: boolean;
  default?: unknown;
  enum?: readonly unknown[];
  /** Rules for approvals compare its texts as paths. */
  format?: 'path';
  description?: string;
}

/** A JSON Schema of the arguments. */
export interface ObjectSchema {
  type?: 'object';
  properties?: Record<string, unknown>;
  required?: readonly string[];
  $ref?: string;
  [keyword: string]: unknown;
}

/** An object schema of zod 3, zod 4 or zod mini. */
export type ZodSchema<Args = any> = ({ _zod: unknown } | { _def: unknown }) & {
  parse(value: unknown): Args;
};

export interface ToolContext {
  /** Aborted when the call has ended without its answer, by its timeout or with its execution. */
  readonly signal: AbortSignal;
  /** The name of the session that calls. */
  readonly session: string;
}

interface ToolBase<Args> {
  name: string;
  /** A line for the model. */
  description?: string;
  /** What it returns as a JSON Schema, which is shown to the model; no value is checked by it. */
  returns?: Record<string, any>;
  /** What it returns, or what its promise gives, is what the call gives. */
  execute(args: Args, context: ToolContext): unknown;
  /** Milliseconds of a call; 0: none but the deadline. */
  timeout?: Milliseconds;
  /** Calls at the same time; 0: no limit. */
  maxConcurrent?: number;
  /** Does each call need an approval? */
  approve?: boolean;
}

export interface ZodToolOptions<Args = any> extends ToolBase<Args> {
  parameters: ZodSchema<Args>;
}

export interface PlainToolOptions<Args = Record<string, any>> extends ToolBase<Args> {
  parameters?: readonly Parameter[] | ObjectSchema;
}

export type ToolOptions<Args = any> = ZodToolOptions<Args> | PlainToolOptions<Args>;

/** A function that code can call. */
export class Tool {
  constructor(options: ToolOptions);
  readonly name: string;
  /** As it is declared to the server. */
  readonly declaration: Record<string, any>;
}

/** Make a tool of a function. */
export function tool<Args>(options: ZodToolOptions<Args>): Tool;
export function tool<Args = Record<string, any>>(options: PlainToolOptions<Args>): Tool;

export type ToolLike = Tool | ToolOptions;

/** A call of a tool that needs an approval. */
export interface Approval {
  readonly tool: string;
  /** The arguments, checked by the server. */
  readonly args: Record<string, any>;
  /** The name of the session that calls. */
  readonly session: string;
  /** Aborted when the answer is no longer waited for. */
  readonly signal: AbortSignal;
}

/**
 * Decides on calls of tools that need an approval: only `true` is a yes. What it throws refuses the
 * call as well, and the text of that is the reason.
 */
export type Approve = (approval: Approval) => unknown;

// ---- servers ------------------------------------------------------------------------------------

export interface ServerOptions {
  /** The program `lazaret`; otherwise $LAZARET, beside this package, of @lazaret/cli, or on PATH. */
  program?: string | URL;
  /** A configuration file. */
  config?: string;
  /** Keys of the configuration, as { 'session.timeout': '5s' }. */
  settings?: Record<string, unknown>;
  /** The Unix socket of a server that runs; then there are no other options but startTimeout. */
  path?: string;
  /**
   * tls://HOST:PORT of a server on another machine; the port is 8443 unless it is given. Then there
   * are no other options but those that follow here, and startTimeout.
   */
  url?: string;
  /** What the operator of that server has made with `lazaret token`. */
  token?: string;
  /** The file that has it, which only its owner can read. */
  tokenFile?: string | URL;
  /** A file with a certificate, in place of a token or besides it. */
  cert?: string | URL;
  /** The file with its key. */
  key?: string | URL;
  /**
   * A file with the certificates of those who may have signed that of the server; otherwise they
   * are those that Node.js trusts.
   */
  ca?: string | URL;
  /** The name in the certificate of the server, where that is not the host of the URL. */
  serverName?: string;
  /** The environment of the server; otherwise that of this program. */
  env?: Record<string, string | undefined>;
  /** Gets each line that the server writes for people. */
  log?: (line: string) => void;
  /** Milliseconds to wait for the first message of the server. */
  startTimeout?: Milliseconds;
}

/**
 * An engine that runs code: a process of its own, or one that runs already: with `path` behind a
 * Unix socket, with `url` on another machine. It starts, or the connection is made, when it is first
 * used, and ends with this program.
 */
export class Server implements AsyncDisposable {
  constructor(options?: ServerOptions);
  /** Can it be used? */
  get isAlive(): boolean;
  /** The version of lazaret that the server is, once it has started. */
  get version(): string | undefined;
  /** The process id of the server, once it has started; of none that ran already. */
  get pid(): number | undefined;
  /** Start the server, unless that was done. */
  start(): Promise<void>;
  /** Give tools to all sessions and pools that are opened afterwards on this server. */
  register(tools: Iterable<ToolLike>): Promise<void>;
  /** End the server with everything that runs in it. Can be called more than once. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** The server that sessions use which are given none. It is started when it is needed. */
export function defaultServer(): Server;

// ---- sessions and pools -------------------------------------------------------------------------

/** Bytes, or the path of a file that is read. */
export type FileData = ArrayBuffer | ArrayBufferView | string | URL;

export interface ExecutionOptions {
  /** Milliseconds that the code may run, without the time of its tools. */
  timeout?: Milliseconds;
  /** Milliseconds of the whole execution. */
  deadline?: Milliseconds;
  /** Calls of tools; one more ends the execution. */
  maxToolCalls?: number;
  /** Lines of output that are kept. */
  maxOutputLines?: number;
  /** Ends the code; the error is Cancelled. */
  signal?: AbortSignal;
  /** Reject unless the verdict is "ok"? Otherwise give the result. Absent: true. */
  check?: boolean;
  /**
   * Are put before the code runs, as `putFile` puts them; if one cannot be, nothing runs. Those of
   * a pool, or of an execution without a session, have to fit into a message with the code.
   */
  files?: Record<string, FileData>;
  /** The standard input of the code: text or bytes. It goes as a file `.stdin`, as `files` do. */
  input?: string | ArrayBufferView;
  /** Is the value wanted also where the prompt would not print it, as of an assignment in R? */
  invisible?: boolean;
  /** Are the bytes of artifacts wanted? The result lists them in any case. Absent: true. */
  artifacts?: boolean;
  /** Is the code looked at for calls that are worth a warning? Absent: true. */
  validate?: boolean;
  /** Characters of the code; a longer one is blocked. */
  maxCodeLength?: number;
  /** The trace that it belongs to (W3C Trace Context): for its span, its tools and the audit log. */
  traceparent?: string;
  tracestate?: string;
}

/** What an execution has used so far. */
export interface Progress {
  /** Milliseconds since the code began. */
  wall_ms: number;
  /** Milliseconds of CPU time. */
  cpu_ms: number;
  /** The most memory so far. */
  max_rss_bytes: number;
  /** Calls of tools so far. */
  tool_calls: number;
}

export interface ExecuteOptions extends ExecutionOptions {
  /** Gets each piece of output. If it returns a promise, the next piece waits for that. */
  output?: (stream: Output['stream'], text: string) => unknown;
  /** Called about once a second, less often if it returns promises that take longer. */
  onProgress?: (progress: Progress) => unknown;
}

export interface StreamOptions extends ExecutionOptions {
  /** Are events `progress` wanted? */
  progress?: boolean;
}

/** For programs; none of it lasts longer than the program. */
export interface RunOptions {
  /** Standard input: a text, or bytes. */
  input?: string | ArrayBufferView;
  /** The directory where it runs; a relative one begins where the session is. */
  cwd?: string;
  /** Variables that it gets besides. */
  env?: Record<string, string>;
  /** Milliseconds that it may run. */
  timeout?: Milliseconds;
  /** Milliseconds of the whole execution. */
  deadline?: Milliseconds;
  /** Ends it; the error is Cancelled. */
  signal?: AbortSignal;
}

/** What became of a program. */
export interface Outcome {
  /** Its exit status, 0 to 255: 128 and the number of the signal that has ended it. */
  status: number;
  stdout: string;
  stderr: string;
  /** Is the output incomplete, because of a limit? */
  truncated: boolean;
}

/** For executions in a pool. */
export interface WaitOptions {
  /** Milliseconds to wait for a session; absent: as long as it takes. */
  wait?: Milliseconds;
}

export type StreamEvent<Value = any> =
  | {
      type: 'output';
      stream: Output['stream'];
      text: string;
      /** Bytes before it that were left out. */
      dropped?: number;
    }
  | { type: 'tool_call'; call: number; tool: string; args: Record<string, any> }
  | ({ type: 'progress' } & Progress)
  | { type: 'result'; result: Result<Value> };

/** What a program asks of its own executions. */
export interface RuleOptions {
  /** Executions; what is blocked or cannot be parsed does not count. Of a pool: of all of it. */
  maxExecutions?: number;
  /** Called with the code of each execution; false, or what it throws, blocks it. */
  preExecuteHook?: (code: string) => unknown;
  /** Is what happens written to standard error? */
  verbose?: boolean;
}

/** What only a server has: with one of these a session or a pool has a server of its own. */
export interface OwnServerOptions {
  /**
   * What the sandbox may use up: names of `[limits]`, with numbers or texts ('1GiB'), Infinity for
   * no limit. The others keep their defaults.
   */
  limits?: Record<string, number | string>;
  /** A file to which records of what happens are appended: see `audit.md`. */
  auditLog?: string;
  /** Are paths, host names and process ids removed from messages of errors? */
  sanitizeErrors?: boolean;
}

/** What was refused, or is missing by the settings. */
export interface Denial {
  /** "name", "port", "address", "server_name", "program", "network", ... */
  what: string;
  name?: string;
  address?: string;
  port?: number;
  /** How often. */
  count: number;
  /** Of the list, that came closest. */
  rule?: string;
  /** The line of a configuration that would permit it. */
  allow?: string;
  detail?: string;
  retry: 'useless' | 'later';
  /** By whom it is known: refused by lazaret, or read from an error of the code. */
  source: 'network' | 'error';
}

/** What code may reach: "https://api.example.com", "db.example.com:5432", or a table of one. */
export type NetworkRule = string | Record<string, unknown>;

/**
 * What code uses and does not see: the name of a credential of the server, or a table of
 * `[[network.credential]]`, with the secret itself.
 */
export type Credential = string | {
  host: string;
  name?: string;
  /** As "Authorization: Bearer {secret}"; this, `basic` or `query`, or a placeholder alone. */
  header?: string;
  basic?: { user: string };
  query?: string | { name: string };
  secret: { value: string };
  methods?: readonly string[];
  paths?: readonly string[];
  only?: boolean;
  /** A variable that has a worthless value of the same shape. */
  placeholder?: { env: string };
  echo?: 'allow' | 'refuse';
};

export interface SessionOptions extends RuleOptions, OwnServerOptions {
  /** The language, as "python", "r" or "lua"; null: as the configuration says. Absent: python. */
  runtime?: string | null;
  /** Functions that the code can call. */
  tools?: Iterable<ToolLike>;
  /** May it start from a template, which is faster? */
  warm?: boolean;
  /** What code can reach by the network, in place of the server's list; empty: nothing. */
  network?: readonly NetworkRule[];
  /** In place of those of the server, of which one of another machine takes names alone. */
  credentials?: readonly Credential[];
  /** Without it the calls that need an approval are refused. */
  approve?: Approve;
  /** Where it runs; otherwise the default server. */
  server?: Server;
  /** What `putFile` puts before the first code, by name. */
  files?: Record<string, FileData>;
}

export interface PoolOptions extends RuleOptions, OwnServerOptions {
  runtime?: string | null;
  /** Sessions that are kept ready; absent: as the configuration says. */
  size?: number;
  /** Functions that the code of each session can call. */
  tools?: Iterable<ToolLike>;
  /** What the code of each session can reach by the network, as in `SessionOptions`. */
  network?: readonly NetworkRule[];
  credentials?: readonly Credential[];
  /** Without it the calls that need an approval are refused. */
  approve?: Approve;
  server?: Server;
}

/** What the server says of a session or a pool. */
export interface Description {
  text: string;
  alive?: boolean;
  isolation?: Record<string, any> | null;
  tools?: Record<string, any>[];
  status?: PoolStatus;
}

export interface PoolStatus {
  total: number;
  busy: number;
  idle: number;
  dead: number;
  starting: number;
  waiting: number;
}

/** A session: what code defines is there for the code that is executed next. */
export class Session implements AsyncDisposable {
  constructor(options?: SessionOptions);
  static open(options?: SessionOptions): Promise<Session>;
  /** As in results, once it is open. */
  readonly name: string;
  /** The language; null: as the configuration says. */
  readonly runtime: string | null;
  /** Where it is open. */
  get server(): Server | undefined;
  /** Open the session, unless it is open; otherwise its first use does. */
  open(): Promise<this>;
  /** Run code and wait for its result. */
  execute<Value = any>(code: string, options?: ExecuteOptions): Promise<Result<Value>>;
  /**
   * Run code, as soon as the first event is asked for. A loop that is left ends the code.
   * The last event is the result.
   */
  stream<Value = any>(code: string, options?: StreamOptions):
    AsyncGenerator<StreamEvent<Value>, void, void>;
  /**
   * Run a program with its arguments, as they are, in a session of the runtime `shell` or
   * `program`. Any exit status is fine; it rejects as `execute` does where lazaret has ended it.
   */
  run(words: readonly string[], options?: RunOptions): Promise<Outcome>;
  /**
   * Put a file where the code starts, while the session is idle; one of this name is replaced.
   * Files belong to the sandbox: they have to be put again after `restart`, and when a result has
   * `replaced`.
   */
  putFile(name: string, data: FileData): Promise<void>;
  /** Interrupt what the session executes, if anything: its verdict becomes "cancelled". */
  interrupt(): Promise<void>;
  /**
   * Change what code can reach by the network, between executions. Connections that these rules do
   * not permit are closed. They can name only ports that the session was opened with, by its first
   * list and by `network.ports` of the server.
   */
  setNetwork(allow: readonly NetworkRule[]): Promise<void>;
  /** Give the session a fresh interpreter: what code has defined is gone. */
  restart(): Promise<void>;
  describe(): Promise<Description>;
  /**
   * The tools that code can call, as the server declares them: `approve` is true where each call
   * needs an approval, `may_approve` where some do, as their arguments are.
   */
  tools(): Promise<Record<string, any>[]>;
  /** Those that fit these words best, at most `limit` (10): names, descriptions, parameters. */
  searchTools(words: string, options?: { limit?: number }): Promise<Record<string, any>[]>;
  /** Has the session an interpreter, or is one being started? */
  isAlive(): Promise<boolean>;
  /** Close the session; what it executes is cancelled. Can be called more than once. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Sessions that are kept ready; each execution gets a fresh one. */
export class Pool implements AsyncDisposable {
  constructor(options?: PoolOptions);
  static open(options?: PoolOptions): Promise<Pool>;
  readonly runtime: string | null;
  get server(): Server | undefined;
  open(): Promise<this>;
  execute<Value = any>(code: string, options?: ExecuteOptions & WaitOptions):
    Promise<Result<Value>>;
  stream<Value = any>(code: string, options?: StreamOptions & WaitOptions):
    AsyncGenerator<StreamEvent<Value>, void, void>;
  describe(): Promise<Description>;
  status(): Promise<PoolStatus>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Run code in a fresh session, which is closed afterwards. */
export function execute<Value = any>(code: string, options?: ExecuteOptions & RuleOptions &
OwnServerOptions & {
  runtime?: string | null;
  tools?: Iterable<ToolLike>;
  network?: readonly NetworkRule[];
  credentials?: readonly Credential[];
  approve?: Approve;
  server?: Server;
}): Promise<Result<Value>>;
