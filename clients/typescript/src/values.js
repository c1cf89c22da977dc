// SPDX-License-Identifier: MIT
// JavaScript values as JSON text, and back.
//
// What JSON cannot express has a tagged form: an object with a single key that begins with `$`.
// Values are written as text directly, because JSON.stringify cannot write -0, and because the
// length has to be bounded while the text grows: a small graph of shared arrays can be a text
// without end. Classes are recognised by util.types, which also knows objects of other realms.

import { types } from 'node:util';

if (!String.prototype.isWellFormed) {
  throw new Error(`@lazaret/client needs Node.js 20 or later, and this is ${process.version}`);
}

export const MAX_DEPTH = 60; // the server accepts 64 levels, of which a message needs some
const MAX_LENGTH = 1 << 26; // of the text, unless the caller has another limit
const MAX_DIGITS = 100_000; // reading an integer takes more than linear time

/** A calendar date without a time of day: midnight UTC of that day, sent as `$date`. */
export class CalendarDate extends Date {
  /** @param {string | number | Date} value a date as "2024-01-31", or what `Date` takes */
  constructor(value) {
    super(value);
    this.setUTCHours(0, 0, 0, 0);
  }

  toJSON() {
    return Number.isNaN(this.getTime()) ? null : this.toISOString().slice(0, 10);
  }
}

/** A data frame: columns of one length, with distinct names, in their order. */
export class Frame {
  /** @param {Iterable<[string, any[]]> | Record<string, any[]>} columns */
  constructor(columns, length = undefined) {
    const entries = typeof columns?.[Symbol.iterator] === 'function'
      ? columns : Object.entries(columns);
    this.columns = new Map();
    for (const [name, values] of entries) {
      if (typeof name !== 'string' || this.columns.has(name) || !Array.isArray(values)) {
        throw new TypeError('a data frame has columns with distinct names, which are arrays');
      }
      this.columns.set(name, values);
    }
    const [first] = this.columns.values();
    this.length = length ?? first?.length ?? 0;
    for (const [name, values] of this.columns) {
      if (values.length !== this.length) {
        throw new RangeError(`column ${JSON.stringify(name)} has ${values.length} values, and ` +
          `the data frame ${this.length} rows`);
      }
    }
  }

  get names() {
    return [...this.columns.keys()];
  }

  /** The rows, each as an object. */
  *rows() {
    for (let i = 0; i < this.length; i++) {
      yield objectOf([...this.columns].map(([name, values]) => [name, values[i]]));
    }
  }

  [Symbol.iterator]() {
    return this.rows();
  }

  toJSON() {
    return [...this.rows()];
  }
}

/** An object of entries; `__proto__` is a key like any other. */
export function objectOf(entries) {
  const object = {};
  for (const [key, value] of entries) {
    if (key === '__proto__') {
      Object.defineProperty(object, key,
        { value, configurable: true, enumerable: true, writable: true });
    } else {
      object[key] = value;
    }
  }
  return object;
}

// ---- JSON to JavaScript -------------------------------------------------------------------------

const NO_FORM = Symbol('no form'); // the content is not valid for its tag
const NOT_NUMBERS = { NaN, Inf: Infinity, '-Inf': -Infinity };
const DATE = /^\d{4}-\d\d-\d\d$/;
const TIME =
  /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d+))?(?:([Zz])|([+-]\d\d:\d\d))?$/;

function decodeDate(text) {
  if (typeof text !== 'string' || !DATE.test(text)) return NO_FORM;
  const date = new CalendarDate(text);
  return date.toJSON() === text ? date : NO_FORM; // some days that do not exist are of March
}

function decodeTime(text) {
  const [, date, time, fraction, utc, offset] = (typeof text === 'string' && TIME.exec(text)) || [];
  if (!date || decodeDate(date) === NO_FORM) return NO_FORM;
  const milli = ((fraction ?? '') + '000').slice(0, 3);
  const decoded = new Date(`${date}T${time}.${milli}${utc ? 'Z' : offset ?? ''}`);
  return Number.isNaN(decoded.getTime()) ? NO_FORM : decoded;
}

function decodeBytes(text) {
  if (typeof text !== 'string') return NO_FORM;
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? new Uint8Array(bytes) : NO_FORM;
}

function decodeMap(content) {
  if (!Array.isArray(content)) return NO_FORM;
  if (!content.every((pair) => Array.isArray(pair) && pair.length === 2)) return NO_FORM;
  const pairs = content.map(([key, value]) => [decode(key), decode(value)]);
  const isEscaped = pairs.length === 1 && isTag(pairs[0][0]);
  return isEscaped ? objectOf(pairs) : new Map(pairs);
}

function decodeFrame({ names, columns, rows }) {
  if (names.length !== columns.length) return NO_FORM;
  return new Frame(names.map((name, i) => [name, decode(columns[i])]), rows);
}

/** @type {Record<string, (content: any) => any>} */
const DECODERS = {
  __proto__: null,
  $num: (content) => (Object.hasOwn(NOT_NUMBERS, content) ? NOT_NUMBERS[content] : NO_FORM),
  $int: (content) => (typeof content === 'string' && content.length <= MAX_DIGITS &&
    /^-?\d+$/.test(content) ? BigInt(content) : NO_FORM),
  $bytes: decodeBytes,
  $date: decodeDate,
  $time: decodeTime,
  $na: () => null,
  $factor: (content) => (Array.isArray(content.values) ? decode(content.values) : NO_FORM),
  $frame: decodeFrame,
  $map: decodeMap,
};

function isTag(key) {
  return typeof key === 'string' && key.startsWith('$');
}

/** A value from the server as a JavaScript value. What has no form in JavaScript stays as it is. */
export function decode(value) {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(decode);
  const keys = Object.keys(value);
  const decoder = keys.length === 1 ? DECODERS[keys[0]] : undefined;
  if (decoder) {
    try {
      const decoded = decoder(value[keys[0]]);
      return decoded === NO_FORM ? value : decoded;
    } catch (error) {
      if (error instanceof TypeError || error instanceof RangeError) return value;
      throw error;
    }
  }
  return objectOf(keys.map((key) => [key, decode(value[key])]));
}

// ---- JavaScript to JSON -------------------------------------------------------------------------

/** Can JSON have this text? Neither NUL nor lone surrogates are allowed. */
export function isPlain(text) {
  return !text.includes('\0') && text.isWellFormed();
}

/** Text that a message can have: NUL and lone surrogates are replaced. */
export function plainText(text) {
  return text.replaceAll('\0', '\ufffd').toWellFormed();
}

function base64(bytes) {
  return `{"$bytes":"${Buffer.from(bytes).toString('base64')}"}`;
}

/** The bytes of text with lone surrogates, each of which has three of its own. */
function bytesOfText(text) {
  const parts = text.split(/([\ud800-\udfff])/u); // with /u the pairs are single characters
  return Buffer.concat(parts.map((part) => {
    if (part.isWellFormed()) return Buffer.from(part);
    const unit = part.charCodeAt(0);
    return Buffer.from([0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 63), 0x80 | (unit & 63)]);
  }));
}

function encodeNumber(value) {
  if (!Number.isFinite(value)) {
    return `{"$num":"${Number.isNaN(value) ? 'NaN' : value > 0 ? 'Inf' : '-Inf'}"}`;
  }
  if (Object.is(value, -0)) return '-0.0';
  // With an exponent it is read as a floating-point number, not as an integer of many digits.
  return Math.abs(value) > 2 ** 53 ? value.toExponential() : String(value);
}

function encodeBigInt(value) {
  const isSmall = -(2n ** 53n) <= value && value <= 2n ** 53n;
  return isSmall ? String(value) : `{"$int":"${value}"}`;
}

function encodeDate(value) {
  if (Number.isNaN(value.getTime())) return 'null';
  const text = value.toISOString();
  if (!/^\d{4}-/.test(text)) throw new RangeError(`the year of ${text} cannot be sent`);
  return value instanceof CalendarDate ? `{"$date":"${text.slice(0, 10)}"}` : `{"$time":"${text}"}`;
}

function bytesOf(value) {
  if (types.isAnyArrayBuffer(value)) return new Uint8Array(value);
  if (types.isUint8Array(value) || types.isUint8ClampedArray(value) || types.isDataView(value)) {
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  }
  return null;
}

/** Classes whose objects have nothing that could be sent. */
const EMPTY = [types.isPromise, types.isRegExp, types.isNativeError, types.isWeakMap,
  types.isWeakSet, types.isGeneratorObject, (value) => value instanceof WeakRef];

function noForm(value) {
  const name = typeof value === 'object' ? value.constructor?.name ?? 'object' : typeof value;
  return new TypeError(`a value of type ${name} cannot be sent`);
}

/** Writes one value; throws when the text becomes longer than `length`. */
class Encoder {
  constructor(length) {
    this._length = length;
    this._left = length;
  }

  _count(text) {
    this._left -= text.length + 1;
    if (this._left < 0) {
      throw new RangeError(`a value is too long to be sent: more than ${this._length} characters`);
    }
    return text;
  }

  value(value, depth) {
    if (depth > MAX_DEPTH) {
      throw new RangeError(
        `a value contains itself, or is nested more than ${MAX_DEPTH} levels deep`);
    }
    switch (typeof value) {
      case 'undefined': return this._count('null');
      case 'boolean': return this._count(String(value));
      case 'number': return this._count(encodeNumber(value));
      case 'bigint': return this._count(encodeBigInt(value));
      case 'string': return this._text(value);
      case 'object': return value === null ? this._count('null') : this._object(value, depth);
      default: throw noForm(value);
    }
  }

  _text(text) {
    if (text.length > this._left) this._count(text);
    return this._count(isPlain(text) ? JSON.stringify(text) : base64(bytesOfText(text)));
  }

  _object(value, depth) {
    if (types.isDate(value)) return this._count(encodeDate(value));
    const bytes = bytesOf(value);
    if (bytes) {
      if (bytes.length > this._left) this._count({ length: bytes.length });
      return this._count(base64(bytes));
    }
    if (value instanceof Frame) return this._frame(value, depth);
    if (typeof value.toJSON === 'function') return this._members(value.toJSON(''), depth);
    return this._members(value, depth);
  }

  /** What can have members, and what `toJSON` has returned: its own `toJSON` is not called. */
  _members(value, depth) {
    if (typeof value !== 'object' || value === null) return this.value(value, depth);
    if (types.isDate(value) || bytesOf(value) || value instanceof Frame) {
      return this.value(value, depth);
    }
    if (types.isBoxedPrimitive(value)) return this.value(value.valueOf(), depth + 1);
    if (Array.isArray(value) || types.isTypedArray(value)) return this._list(value, depth);
    if (types.isSet(value)) return this._list([...value], depth);
    if (types.isMap(value)) return this._map([...value], depth);
    if (EMPTY.some((is) => is(value))) throw noForm(value);
    const members = Object.keys(value).map((key) => [key, value[key]])
      .filter(([, member]) => member !== undefined);
    const isEscaped = members.length === 1 && isTag(members[0][0]);
    if (isEscaped || !members.every(([key]) => isPlain(key))) return this._map(members, depth);
    this._count('{}');
    return `{${members.map(([key, member]) =>
      `${this._text(key)}:${this.value(member, depth + 1)}`).join(',')}}`;
  }

  _list(values, depth) {
    const texts = [];
    this._count('[]');
    for (let i = 0; i < values.length; i++) texts.push(this.value(values[i], depth + 1));
    return `[${texts.join(',')}]`;
  }

  _map(pairs, depth) {
    return `{"$map":[${pairs.map((pair) => this._list(pair, depth + 2)).join(',')}]}`;
  }

  _frame(frame, depth) {
    const columns = this._list([...frame.columns.values()], depth + 2);
    return `{"$frame":{"names":${this._list(frame.names, depth + 2)},"columns":${columns},` +
      `"rows":${frame.length}}}`;
  }
}

/**
 * A JavaScript value as the JSON text that the server understands.
 *
 * @param {unknown} value
 * @param {number} [length] the largest length of the text
 * @returns {string}
 */
export function encode(value, length = MAX_LENGTH) {
  return new Encoder(length).value(value, 0);
}
