// SPDX-License-Identifier: MIT
// A session of the shell as adapters use it: commands, each in a bash of its own, and files.
//
// One execution at a time runs in a session, so those of adapters take turns. What a script of an
// adapter says comes as an artifact, because jobs in the background may write to standard output
// meanwhile. Files come and go in pieces.

import { unlessAborted } from './execution.js';
import { FILE_ERRORS } from './files.js';
import { Cancelled, LazaretError, RequestFailed } from './results.js';
import { codeOf, quoted } from './run.js';
import { Session } from './session.js';

export const PIECE = 2 << 20; // bytes of a file in one execution
const MAX_FILE = 256 << 20; // bytes of a file that is read as a whole

/** How scripts end that find no file, a directory, or what is neither. */
const MISSING = 20;
const DIRECTORY = 21;
const SPECIAL = 22;
const TOO_LARGE = 128 + 25; // SIGXFSZ

const REPLY = 'lazaret-reply'; // the artifact that a script writes
const SPEAK = `[ -d "$LAZARET_ARTIFACTS" ] || mkdir -p "$LAZARET_ARTIFACTS"
exec >"$LAZARET_ARTIFACTS/${REPLY}" 2>&1 || exit
`;

const READ = `[ -e "$1" ] || exit ${MISSING}
[ ! -d "$1" ] || exit ${DIRECTORY}
[ -f "$1" ] || exit ${SPECIAL}
exec <"$1" || exit
tail -c "+$2" | head -c "$3"`;

const WRITE = `[ ! -d "$1" ] || exit ${DIRECTORY}
[ -n "$3" ] && exec cat >>"$1"
[ -d "$2" ] || mkdir -p "$2" || exit
cat >"$1"`;

/** A file of the box that cannot be used so. `code` says why, where that has a name. */
export class FileError extends LazaretError {
  constructor(path, code, why) {
    super(`${path}: ${why}`);
    this.code = code;
  }
}

const REASONS = [
  [/Permission denied|Read-only file system|Operation not permitted/, 'permission_denied'],
  [/Is a directory/, 'is_directory'],
  [/No such file or directory/, 'file_not_found'],
];

function failureOf(path, { status, reply }) {
  if (status === MISSING) {
    return new FileError(path, 'file_not_found', 'No such file or directory');
  }
  if (status === DIRECTORY) return new FileError(path, 'is_directory', 'Is a directory');
  if (status === SPECIAL) return new FileError(path, 'invalid_path', 'Not a file');
  if (status === TOO_LARGE) return new FileError(path, null, 'File too large (limits.fsize)');
  const last = reply.toString().trim().split('\n').pop();
  const why = last.replace(/^(bash: line \d+|[a-z0-9]+): /, '');
  const code = REASONS.find(([pattern]) => pattern.test(why))?.[1] ?? null;
  return new FileError(path, code, why.replace(`${path}: `, '') || `status ${status}`);
}

/** Of executions that lazaret has ended: as `lazaret run` ends. */
const CLOCKS = ['timeout', 'deadline'];

function statusOf({ ok, verdict, evidence }) {
  if (ok) return evidence.exit_status;
  if (CLOCKS.includes(verdict)) return 124;
  return verdict.endsWith('_limit') ? 137 : 125;
}

function reasonOf({ error, detail, verdict }) {
  return error?.message || detail || verdict;
}

const turns = new WeakMap(); // of sessions: settled when what was asked for before is over

async function inTurn(session, signal, work) {
  const before = turns.get(session) ?? Promise.resolve();
  let leave;
  const mine = new Promise((resolve) => {
    leave = resolve;
  });
  turns.set(session, before.then(() => mine));
  try {
    await unlessAborted(before, signal);
    return await work();
  } catch (error) {
    throw signal?.aborted && error instanceof Cancelled ? signal.reason : error;
  } finally {
    leave();
  }
}

/** @param {Uint8Array} bytes */
function* piecesOf(bytes) {
  for (let at = 0; at === 0 || at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE);
}

export class Box {
  /** Of a session, which is opened. `timeout` is that of each command. */
  static async open(session, timeout) {
    if (!(session instanceof Session) || session.runtime !== 'shell') {
      throw new TypeError('session must be a Session of the runtime shell');
    }
    const box = new Box(session, timeout);
    const result = await inTurn(session, undefined, () => session.execute('pwd'));
    box.directory = result.stdout.replace(/\n$/, '');
    box.isOffline = Boolean(result.isolation?.enforces?.includes('network'));
    return box;
  }

  constructor(session, timeout) {
    this.session = session;
    this._timeout = timeout;
    this._notice = ''; // for the next command
    this.directory = ''; // where commands begin
    this.isOffline = false;
  }

  /** The path of a file, which may be relative. */
  path(path) {
    if (typeof path !== 'string' || !path) throw new TypeError('a path is a text');
    return path.startsWith('/') ? path : `${this.directory}/${path}`;
  }

  /** Run a command, and say what became of it; only what is no fault of it is thrown. */
  async command(command, options = {}) {
    const result = await this._execute(['bash', '-c', command], options);
    const notice = this._notice && `${this._notice}\n`;
    const why = result.ok ? '' : `lazaret: ${reasonOf(result)}\n`;
    this._notice = '';
    return {
      status: statusOf(result),
      output: notice + result.output.map(({ text }) => text).join('') + why,
      stdout: result.stdout,
      stderr: notice + result.stderr + why,
      truncated: result.truncated,
    };
  }

  /** Run a script of an adapter with arguments: its status, and what it says. */
  async script(text, words = [], options = {}) {
    const result = await this._execute(['bash', '-c', SPEAK + text, 'bash', ...words],
      { ...options, artifacts: true });
    const reply = result.artifacts.find(({ name }) => name === REPLY)?.data;
    const isLost = result.ok && !reply && result.artifactsLost.some(({ name }) => name === REPLY);
    const why = !result.ok ? reasonOf(result) : isLost ? 'it is too large for artifacts.max_size'
      : result.stderr;
    return { status: isLost ? 125 : statusOf(result), reply: Buffer.from(reply ?? why) };
  }

  async _execute(words, { cwd = this.directory, env, input, signal, artifacts = false }) {
    const base = quoted(this.directory); // code may have removed it
    const code = `[ -d ${base} ] || mkdir -p ${base}; ` +
      codeOf('shell', words, { cwd: this.path(cwd), env });
    const result = await inTurn(this.session, signal, () => this.session.execute(code,
      { input, signal, timeout: this._timeout, check: false, artifacts, validate: false }));
    if (result.verdict === 'setup_failed') result.throwForVerdict();
    if (result.replaced !== null) {
      this._notice = 'lazaret: this is a new box: the former one has ended, and its files and ' +
        'processes are gone';
    }
    return result;
  }

  /** What a script about a file says, which has to succeed. */
  async about(path, text, words = [], options = {}) {
    const done = await this._withInput(path, () => this.script(text, [path, ...words], options));
    if (done.status !== 0) throw failureOf(path, done);
    return done.reply;
  }

  /** Input goes as a file, for which there may be no room; or code has removed its directory. */
  async _withInput(path, work) {
    const isOfFile = (error) => error instanceof RequestFailed && FILE_ERRORS.includes(error.code);
    try {
      return await work();
    } catch (error) {
      if (!isOfFile(error)) throw error;
    }
    await this.script(':'); // makes the directory
    try {
      return await work();
    } catch (error) {
      throw isOfFile(error) ? new FileError(path, null, error.message) : error;
    }
  }

  /** As `about`; null where there is no file. */
  async ask(path, text, words = [], options = {}) {
    try {
      return await this.about(path, text, words, options);
    } catch (error) {
      if (error instanceof FileError && error.code === 'file_not_found') return null;
      throw error;
    }
  }

  /** A piece of a file as bytes, from an offset on; null: there is no such file. */
  async piece(path, offset, signal) {
    return this.ask(path, READ, [String(offset + 1), String(PIECE)], { signal });
  }

  /** A file as bytes; null: there is none. */
  async read(path, signal) {
    const pieces = [];
    for (let size = 0; ; ) {
      const piece = await this.piece(path, size, signal);
      if (!piece && !size) return null;
      if (piece) pieces.push(piece);
      size += piece?.length ?? 0;
      if (size > MAX_FILE) throw new FileError(path, null, `it has more than ${MAX_FILE} bytes`);
      if (!piece || piece.length < PIECE) return new Uint8Array(Buffer.concat(pieces));
    }
  }

  /** Write a file of bytes, which come at once or in pieces. Directories are made. */
  async write(path, content, signal) {
    let isNext = false;
    const write = async (piece) => {
      for (const input of piecesOf(piece)) {
        const words = [path.slice(0, path.lastIndexOf('/')) || '/', isNext ? 'next' : ''];
        await this.about(path, WRITE, words, { input, signal });
        isNext = true;
      }
    };
    if (content instanceof Uint8Array) return write(content);
    for await (const piece of content) await write(piece);
    if (!isNext) await write(new Uint8Array(0));
    return undefined;
  }
}
