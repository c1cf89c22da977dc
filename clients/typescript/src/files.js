// SPDX-License-Identifier: MIT
// Files for the code, and the artifacts that it makes.
//
// Files go with the code, in the message that executes it, or in parts before it; of one that is
// too large no more is read than there is room for. Artifacts come in parts. Their names come from
// the code: the server has checked them, and `save` relies on that as little as it can.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, mkdir, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { LazaretError, WorkerLost } from './results.js';
import { isPlain } from './values.js';

export const FILE_ERRORS = ['LAZ_EINVAL', 'LAZ_EOS', 'LAZ_ETOOBIG']; // of one that cannot be put
export const INPUT = '.stdin'; // the file that is the standard input of an execution
const MOST_FILES = 64; // of an execution
export const PART_BYTES = 192 << 10; // of a file in one message; a multiple of 3
const NAMES = 1000; // that are tried for one artifact

// ---- files in -----------------------------------------------------------------------------------

/** The bytes of a file in pieces. */
async function* pieces(name, data) {
  if (typeof name !== 'string' || !isPlain(name)) {
    throw new TypeError('the name of a file must be a text without NUL and lone surrogates');
  }
  if (typeof data === 'string' || data instanceof URL) {
    yield* createReadStream(data, { highWaterMark: PART_BYTES });
  } else if (data instanceof ArrayBuffer || ArrayBuffer.isView(data)) {
    const view = ArrayBuffer.isView(data) ? data : new Uint8Array(data);
    const bytes = Buffer.from(view.buffer, view.byteOffset, view.byteLength);
    for (let at = 0; at < bytes.length; at += PART_BYTES) {
      yield bytes.subarray(at, at + PART_BYTES);
    }
  } else {
    throw new TypeError('a file must be bytes, or the path of a file');
  }
}

/** The files of an execution, with its standard input; null where there are none. */
export function filesOf({ files = {}, input }) {
  if (typeof files !== 'object' || files === null) {
    throw new TypeError('files must be an object with the names of files as names');
  }
  const all = { ...files };
  if (input !== undefined) {
    if (typeof input !== 'string' && !ArrayBuffer.isView(input)) {
      throw new TypeError('input must be a text or bytes');
    }
    if (Object.hasOwn(all, INPUT)) throw new TypeError(`${INPUT} is the file of input`);
    all[INPUT] = typeof input === 'string' ? Buffer.from(input) : input;
  }
  return Object.keys(all).length ? all : null;
}

/** The messages `put` of a file, but for the session; each has to be answered first. */
export async function* partsOf(name, data) {
  const message = (part, piece, more) =>
    ({ type: 'put', name, part, more, data: piece.toString('base64') });
  let part = 0;
  let held = null; // until it is known whether another piece follows
  for await (const piece of pieces(name, data)) {
    if (held) yield message(part++, held, true);
    held = piece;
  }
  yield message(part, held ?? Buffer.alloc(0), false);
}

/** Add the files to an `execute`, for whose line they may be too many or too large: false. */
export async function addFiles(message, files, server) {
  let room = server._room(message);
  const given = [];
  for (const [name, data] of Object.entries(files)) {
    const read = [];
    let size = 0;
    for await (const piece of pieces(name, data)) {
      read.push(piece);
      size += piece.length;
      if (size > room) return false;
    }
    const file = { name, data: '' };
    room -= Buffer.byteLength(JSON.stringify(file)) + 1 + Math.ceil(size / 3) * 4;
    if (room < 0 || given.length === MOST_FILES) return false;
    file.data = Buffer.concat(read).toString('base64');
    given.push(file);
  }
  message.files = given;
  return true;
}

/** The error for files that do not go with the code, where there is no session to put them. */
export function tooLarge(server) {
  return new RangeError(`the files do not fit: an execution takes at most ${MOST_FILES}, with ` +
    `its code in a message of ${server._maxLine} bytes; a session takes larger ones`);
}

// ---- artifacts out ------------------------------------------------------------------------------

/** A file that the code has saved below `artifacts/`, or a figure that it has drawn. */
export class Artifact {
  /**
   * @param {{ name: string, type: string, size: number, sha256: string }} listed
   * @param {Uint8Array | null} data null: not asked for, or dropped
   * @param {boolean} dropped were its bytes left out, because this program did not read?
   */
  constructor({ name, type, size, sha256 }, data, dropped) {
    this.name = name;
    this.type = type;
    this.size = size;
    this.sha256 = sha256;
    this.data = data;
    this.dropped = dropped;
  }

  /** Write it into a directory, which is made if it is missing; gives its path. */
  async save(directory) {
    if (this.data === null) {
      throw new LazaretError(`the artifact ${this.name} has no data: ` +
        (this.dropped ? 'this program was too slow to read it' : 'it was not asked for'));
    }
    const names = this.name.split('/');
    if (names.some((name) => ['', '.', '..'].includes(name) || /[\0\\]/.test(name))) {
      throw new LazaretError(`${this.name} is not a name below a directory`);
    }
    const last = names.pop();
    let inner = directory instanceof URL ? fileURLToPath(directory) : directory;
    await mkdir(inner, { recursive: true });
    for (const name of names) {
      inner = join(inner, name);
      await mkdir(inner).catch((error) => {
        if (error.code !== 'EEXIST') throw error;
      });
      if (!(await lstat(inner)).isDirectory()) {
        throw new LazaretError(`${this.name} cannot be saved: ${inner} is not a directory`);
      }
    }
    return writeNew(inner, last, this.data);
  }
}

/** Write a file that is not there yet; gives its path. */
async function writeNew(directory, name, data) {
  const dot = name.lastIndexOf('.');
  const [stem, ending] = dot < 0 ? [name, ''] : [name.slice(0, dot), name.slice(dot)];
  for (let number = 1; number <= NAMES; number++) {
    const path = join(directory, number === 1 ? name : `${stem}-${number}${ending}`);
    let file;
    try {
      file = await open(path, 'wx'); // fails where a link is, also one that leads nowhere
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      continue;
    }
    try {
      await file.writeFile(data);
    } catch (error) {
      await unlink(path);
      throw error;
    } finally {
      await file.close();
    }
    return path;
  }
  throw new LazaretError(`there are ${NAMES} files with names like ${name}`);
}

function wrong(what) {
  return new WorkerLost(`the server has broken its protocol: ${what}`);
}

/** The bytes of artifacts by name; null for one that was left out. */
function joinParts(messages) {
  const parts = new Map(); // of artifacts that are not complete
  const joined = new Map();
  for (const { name, data, part = 0, more } of messages) {
    if (joined.has(name)) throw wrong(`the artifact ${name} has a part after its last one`);
    if (data === undefined) {
      joined.set(name, null);
      continue;
    }
    const known = parts.get(name) ?? [];
    if (part !== known.length) throw wrong(`the artifact ${name} lacks part ${known.length}`);
    const bytes = typeof data === 'string' ? Buffer.from(data, 'base64') : null;
    if (bytes?.toString('base64') !== data) throw wrong(`the artifact ${name} is not base64`);
    known.push(bytes);
    if (more) {
      parts.set(name, known);
    } else {
      parts.delete(name);
      joined.set(name, known.length === 1 ? known[0] : Buffer.concat(known));
    }
  }
  return joined;
}

function makeArtifact(listed, joined, isWanted) {
  const { name, type, size, sha256 } = listed ?? {};
  if ([name, type, sha256].some((text) => typeof text !== 'string') || typeof size !== 'number') {
    throw wrong('an artifact lacks a member, or has a wrong one');
  }
  if (isWanted && !joined.has(name)) throw wrong(`the artifact ${name} has not come as a whole`);
  const data = joined.get(name) ?? null;
  joined.delete(name);
  if (data && data.length !== size) {
    throw wrong(`the artifact ${name} has ${data.length} bytes instead of ${size}`);
  }
  if (data && createHash('sha256').update(data).digest('hex') !== sha256) {
    throw wrong(`the artifact ${name} has not the SHA-256 that was announced`);
  }
  return new Artifact(listed, data, isWanted && data === null);
}

/** The artifacts that a result lists, with the bytes of messages `artifact`. */
export function artifactsOf(raw, messages, isWanted) {
  const joined = joinParts(messages);
  const made = (raw.artifacts ?? []).map((listed) => makeArtifact(listed, joined, isWanted));
  for (const name of joined.keys()) throw wrong(`the result does not list the artifact ${name}`);
  return made;
}
