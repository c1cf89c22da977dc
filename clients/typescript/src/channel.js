// SPDX-License-Identifier: MIT
// Lines to and from a server: a process with pipes, or a Unix socket. Elsewhere: remote.js.
//
// A channel reports each line, and once why it has ended, after the last line. It keeps this
// program alive only while `hold` says so: the server of a program that ends finds the end of its
// input, and ends, however the program has ended.

import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { debuglog } from 'node:util';

const END_TIME = 10_000; // milliseconds after which a server that does not end is killed
const LAST_TIME = 1_000; // for what a process that has ended has written
const MAX_LINE = 256 << 20; // bytes of a line from a server; no server sends so much
const MAX_COMPLAINT = 10_000; // characters of a line on standard error
const debug = debuglog('lazaret');

/** Cuts a stream of bytes into lines. */
class Lines {
  constructor(take) {
    this._take = take;
    this._parts = []; // of a line that is not complete
    this.size = 0; // bytes of it
  }

  push(chunk) {
    let start = 0;
    for (let end; (end = chunk.indexOf(10, start)) >= 0; start = end + 1) {
      this._parts.push(chunk.subarray(start, end));
      this.flush();
    }
    if (start < chunk.length) {
      this._parts.push(chunk.subarray(start));
      this.size += chunk.length - start;
    }
  }

  flush() {
    const line = this._parts.length === 1 ? this._parts[0] : Buffer.concat(this._parts);
    this._parts = [];
    this.size = 0;
    this._take(line.toString('utf8'), line.length);
  }
}

export class Channel {
  constructor(name) {
    this.name = name;
    this.pid = undefined;
    this.onLine = () => {}; // (text, bytes)
    this.onEnd = () => {}; // (why)
    this._why = ''; // the connection was given up for this reason
    this._timer = undefined;
    this._hasEnded = false;
    this._lines = new Lines((text, size) => {
      if (!this._why) this.onLine(text, size);
    });
    this.ended = new Promise((resolve) => {
      this._resolve = resolve;
    });
  }

  _read(chunk) {
    if (this._why || this._hasEnded) return;
    this._lines.push(chunk);
    if (this._lines.size > MAX_LINE) this.fail('it has sent a line that does not end');
  }

  /** Write a line. What is written to a server that is gone is lost: `onEnd` follows. */
  write(line) {
    if (this._writer.writable) this._writer.write(line);
  }

  /** Nothing is written any more: the server ends, or closes the connection. */
  end() {
    if (this._hasEnded) return; // whose timer would keep this program alive
    this._writer.end();
    this._timer ??= setTimeout(() => this._kill(), END_TIME);
  }

  /** Give up the connection. */
  fail(why) {
    this._why ||= why;
    this._kill();
  }

  _finish(why) {
    if (this._hasEnded) return;
    this._hasEnded = true;
    clearTimeout(this._timer);
    this.onEnd(why);
    this._resolve();
  }
}

/** The connection to a server at a Unix socket. */
export class SocketChannel extends Channel {
  constructor(path) {
    super(`the server at ${path}`);
    let failure = '';
    let isConnected = false;
    this._writer = connect({ path })
      .on('connect', () => {
        isConnected = true;
      })
      .on('data', (chunk) => this._read(chunk))
      .on('error', (error) => {
        failure = error.message;
      })
      .on('close', () => {
        const why = this._why || failure;
        this._finish(isConnected ? `${this.name} has closed the connection${why && `: ${why}`}`
          : `cannot connect to ${path}: ${why}`);
      });
  }

  _kill() {
    this._writer.destroy();
  }

  hold(isHeld) {
    this._writer[isHeld ? 'ref' : 'unref']();
  }
}

/** A server that is a child process. */
export class ProcessChannel extends Channel {
  constructor(program, args, env, log) {
    super('lazaret serve');
    this._complaints = []; // the last lines of its standard error
    this._log = log;
    // A process group of its own: Ctrl-C at the terminal reaches this process alone.
    this._child = spawn(program, args, { env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
    this.pid = this._child.pid;
    const { stdin, stdout, stderr } = this._child;
    this._writer = stdin;
    this._child.on('error', (error) => {
      if (this.pid === undefined) this._finish(`${program} cannot be started: ${error.message}`);
    });
    const exit = new Promise((resolve) => {
      this._child.on('exit', (status, signal) => {
        // Something else may still have the pipes.
        const timer = setTimeout(() => [stdout, stderr].forEach((one) => one.destroy()), LAST_TIME);
        closed.then(() => {
          clearTimeout(timer);
          resolve(signal ? `by signal ${signal}` : `with status ${status}`);
        });
      });
    });
    stdin.on('error', () => this.end()); // it reads no more
    stdout.on('data', (chunk) => this._read(chunk));
    stdout.on('error', () => {});
    stdout.on('end', () => this.end());
    this._listen(stderr);
    const closed = Promise.all([stdout, stderr].map((stream) => new Promise((resolve) => {
      stream.on('close', resolve);
    })));
    exit.then((how) => this._finish(this._describe(how)));
  }

  _describe(how) {
    if (this._why) return `the server was ended: ${this._why}`;
    const said = this._complaints.length ? `: ${this._complaints.join(' | ')}` : '';
    return `the server has ended ${how}${said}`;
  }

  /** Pass the messages for people on, and keep the last ones for an error. */
  _listen(stderr) {
    const lines = new Lines((text) => {
      const line = text.slice(0, MAX_COMPLAINT);
      this._complaints = [...this._complaints.slice(-19), line];
      debug('%s', line);
      this._log?.(line);
    });
    stderr.on('data', (chunk) => {
      lines.push(chunk);
      if (lines.size > MAX_COMPLAINT) lines.flush();
    });
    stderr.on('error', () => {});
    stderr.on('end', () => {
      if (lines.size) lines.flush();
    });
  }

  _kill() {
    this._child.kill('SIGKILL');
  }

  hold(isHeld) {
    const { stdin, stdout, stderr } = this._child;
    for (const one of [this._child, stdin, stdout, stderr]) one[isHeld ? 'ref' : 'unref']();
  }
}
