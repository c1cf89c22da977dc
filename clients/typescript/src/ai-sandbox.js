// SPDX-License-Identifier: MIT
// A sandbox for the Vercel AI SDK, its `experimental_sandbox`: a session of the shell. Nothing of
// the package `ai` is imported.
//
// A process that was spawned is a job in the background, whose output goes to files of the box: so
// other commands run meanwhile. It is asked after when its output or its end is waited for.

import { setTimeout as sleep } from 'node:timers/promises';

import { Box, FileError, PIECE } from './box.js';
import { onAbort } from './signals.js';

const SHORTEST = 20; // milliseconds between two looks at a process
const LONGEST = 500;
const MAX_TOOLS = 50; // that are named

const STAT = `[ -e "$1" ] || exit 20
if [ -d "$1" ]; then type=directory; elif [ -f "$1" ]; then type=file; else type=other; fi
printf '%s %s' "$type" "$(stat -L -c %s "$1" 2>/dev/null || stat -L -f %z "$1")"`;

const LIST = `[ -e "$1" ] || exit 20
if [ ! -d "$1" ]; then echo 'Not a directory' >&2; exit 1; fi
cd "$1" || exit
shopt -s nullglob dotglob
for name in *; do
  if [ -L "$name" ]; then type=symlink; elif [ -d "$name" ]; then type=directory
  elif [ -f "$name" ]; then type=file; else type=other; fi
  printf '%s %s\\0' "$type" "$name"
done`;

const DELETE = `[ -e "$1" ] || [ -L "$1" ] || exit 20
if [ -d "$1" ] && [ ! -L "$1" ]; then exit 21; fi
rm -f "$1"`;

const SPAWN = `d=$(mktemp -d) || exit
: >"$d/stdout" && : >"$d/stderr" || exit
{
  setsid bash -c "$1" >"$d/stdout" 2>"$d/stderr" &
  echo $! >"$d/pid"
  wait $!
  echo $? >"$d/ended" && mv "$d/ended" "$d/status"
} </dev/null >/dev/null 2>&1 &
until [ -s "$d/pid" ]; do sleep 0.01; done
printf '%s %s' "$(<"$d/pid")" "$d"`;

const LOOK = `[ -d "$1" ] || exit 20
[ -e "$1/status" ] && printf %s "$(<"$1/status")"
echo
[ -z "$2" ] || tail -c "+$3" "$1/$2" | head -c "$4"`;

const KILL = `[ -e "$1/status" ] || kill -KILL -- "-$(<"$1/pid")" 2>/dev/null
true`;

/** A process that was spawned. */
class Process {
  constructor(box, said, signal) {
    const [pid, directory] = said.toString().split(' ');
    this._box = box;
    this._directory = directory;
    this._signal = signal;
    this._exitCode = undefined; // as long as it runs
    this._open = 2; // streams that were not read to their end
    this.pid = Number(pid);
    this.stdout = this._stream('stdout');
    this.stderr = this._stream('stderr');
    this._leave = onAbort(signal, () => this.kill().catch(() => {}));
    if (signal?.aborted) this.kill().catch(() => {});
  }

  /** Has it ended, and what is behind this offset in one of its files? */
  async _look(name = '', offset = 0) {
    const said = await this._box.ask(this._directory, LOOK,
      [name, String(offset + 1), String(PIECE)]);
    if (said === null) {
      throw new FileError(this._directory, null, 'the process is gone with its box');
    }
    const at = said.indexOf('\n');
    if (at > 0) this._end(Number(said.toString('latin1', 0, at)));
    return { hasEnded: at > 0, bytes: said.subarray(at + 1) };
  }

  _end(exitCode) {
    this._exitCode = exitCode;
    this._leave();
  }

  _stream(name) {
    let offset = 0;
    return new ReadableStream({
      pull: async (controller) => {
        for (let pause = SHORTEST; ; pause = Math.min(2 * pause, LONGEST)) {
          const { hasEnded, bytes } = await this._look(name, offset);
          offset += bytes.length;
          if (bytes.length) controller.enqueue(new Uint8Array(bytes));
          const isLast = hasEnded && bytes.length < PIECE;
          if (isLast) {
            controller.close();
            await this._leaveStream();
          }
          if (isLast || bytes.length) return;
          await sleep(pause);
        }
      },
      cancel: () => this._leaveStream(),
    }, { highWaterMark: 0 });
  }

  /** What a process has written is removed when it has ended, and nobody reads. */
  async _leaveStream() {
    this._open -= 1;
    if (this._open || this._exitCode === undefined) return;
    await this._box.script('rm -rf "$1"', [this._directory]);
  }

  async wait() {
    for (let pause = SHORTEST; this._exitCode === undefined; pause = Math.min(2 * pause, LONGEST)) {
      if (!(await this._look()).hasEnded) await sleep(pause);
    }
    this._signal?.throwIfAborted();
    return { exitCode: this._exitCode };
  }

  async kill() {
    if (this._exitCode === undefined) await this._box.script(KILL, [this._directory]);
  }
}

/** What is said of the sandbox. */
async function describe(box) {
  const network = box.isOffline ? ' without network' : '';
  const lines = [`Commands run by bash in a sandbox${network}, each in a shell of its own, and ` +
    `begin in ${box.directory}. Files last from one to the next.`];
  const tools = (await box.session.tools()).map(({ name }) => name);
  if (tools.length) {
    const names = tools.slice(0, MAX_TOOLS);
    if (names.length < tools.length) names.push('...');
    lines.push(`Functions of the host are commands (NAME --help): ${names.join(', ')}.`);
  }
  return lines.join('\n');
}

/** Lines of a text, both ends included, from 1. */
function linesOf(text, start = 1, end = Infinity) {
  if (start === 1 && end === Infinity) return text;
  return text.split('\n').slice(start - 1, end).join('\n');
}

/**
 * A sandbox for `experimental_sandbox` of `generateText` and others, of a session of the runtime
 * `shell`.
 *
 * @param {import('./index.js').Session} session
 * @param {import('./ai-sandbox.js').SandboxOptions} [options]
 */
export async function aiSandbox(session, { timeout, description } = {}) {
  const box = await Box.open(session, timeout);
  const read = ({ path, abortSignal }) => box.read(box.path(path), abortSignal);
  const write = ({ path, content, abortSignal }) => box.write(box.path(path), content, abortSignal);
  return {
    description: description ?? await describe(box),

    async readFile({ path, abortSignal }) {
      const place = box.path(path);
      let next = await box.piece(place, 0, abortSignal);
      let offset = 0;
      return next && new ReadableStream({
        async pull(controller) {
          const piece = next ?? await box.piece(place, offset, abortSignal) ?? Buffer.alloc(0);
          next = null;
          offset += piece.length;
          if (piece.length) controller.enqueue(new Uint8Array(piece));
          if (piece.length < PIECE) controller.close();
        },
      }, { highWaterMark: 0 });
    },

    readBinaryFile: async (options) => read(options),

    async readTextFile({ encoding = 'utf-8', startLine, endLine, ...options }) {
      const decoder = new TextDecoder(encoding);
      const bytes = await read(options);
      return bytes && linesOf(decoder.decode(bytes), startLine, endLine);
    },

    writeFile: async (options) => write(options),

    async writeBinaryFile(options) {
      if (!(options.content instanceof Uint8Array)) throw new TypeError('content must be bytes');
      await write(options);
    },

    async writeTextFile({ encoding = 'utf-8', content, ...options }) {
      if (!Buffer.isEncoding(encoding)) throw new TypeError(`there is no encoding ${encoding}`);
      await write({ ...options, content: Buffer.from(content, encoding) });
    },

    async stat({ path, abortSignal: signal }) {
      const said = await box.ask(box.path(path), STAT, [], { signal });
      if (said === null) return null;
      const [type, size] = said.toString().split(' ');
      return { type, size: Number(size) };
    },

    async listDirectory({ path, abortSignal: signal }) {
      const said = await box.ask(box.path(path), LIST, [], { signal });
      return said && said.toString().split('\0').slice(0, -1).map((entry) => {
        const at = entry.indexOf(' ');
        return { name: entry.slice(at + 1), type: entry.slice(0, at) };
      });
    },

    async deleteFile({ path, abortSignal: signal }) {
      return await box.ask(box.path(path), DELETE, [], { signal }) !== null;
    },

    async spawn({ command, workingDirectory: cwd, env, stdin = false, abortSignal: signal }) {
      if (stdin) throw new Error('the standard input of a process here cannot be written');
      const said = await box.about(command, SPAWN, [], { cwd, env, signal });
      return new Process(box, said, signal);
    },

    async run({ command, workingDirectory: cwd, env, abortSignal: signal }) {
      const done = await box.command(command, { cwd, env, signal });
      const cut = done.truncated ? 'lazaret: the output was too long: its end is missing\n' : '';
      return { exitCode: done.status, stdout: done.stdout, stderr: done.stderr + cut };
    },
  };
}
