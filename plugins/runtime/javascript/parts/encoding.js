// encoding.js - TextEncoder, TextDecoder, atob, btoa.
const { coded, wrongType, missing } = internal('errors');
const { utf8Encode, utf8Decode, utf16Decode, latin1Encode, latin1Decode } = native;
const { isView } = ArrayBuffer;
const { fromBase64 } = Uint8Array;
const { toBase64, set, subarray } = Uint8Array.prototype;
const call = Function.prototype.call.bind(Function.prototype.call);
const tag = (Class, name) => {
    for (const key of Reflect.ownKeys(Class.prototype)) {
        if (key !== 'constructor') Object.defineProperty(Class.prototype, key, { enumerable: true });
    }
    Object.defineProperty(Class.prototype, Symbol.toStringTag, { value: name, configurable: true });
};
const isBuffer = value => value instanceof ArrayBuffer
    || Object.prototype.toString.call(value) === '[object ArrayBuffer]';

// The bytes of a buffer or of a view of one, not copied.
const bytesOf = (value, name) => {
    if (isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    if (isBuffer(value)) return new Uint8Array(value);
    throw coded(TypeError, 'ERR_INVALID_ARG_TYPE',
        `The "${name}" argument must be an instance of SharedArrayBuffer, ArrayBuffer or ArrayBufferView.`);
};

// Writes as many whole characters as fit.
const utf8Into = (text, target) => {
    const room = target.length;
    let bytes = utf8Encode(text.length > room ? text.slice(0, room + 1) : text);
    if (bytes.length <= room && text.length <= room) {
        call(set, target, bytes);
        return { read: text.length, written: bytes.length };
    }
    let written = room;
    if (bytes.length > room) {
        while (written > 0 && (bytes[written] & 0xc0) === 0x80) written--;
        bytes = call(subarray, bytes, 0, written);
    }
    call(set, target, bytes);
    return { read: utf8Decode(bytes).length, written: bytes.length };
};

class TextEncoder {
    #own = true;
    get encoding() {
        this.#own;
        return 'utf-8';
    }
    encode(text = '') {
        this.#own;
        return utf8Encode(`${text}`);
    }
    encodeInto(text, target) {
        this.#own;
        if (typeof text !== 'string') throw wrongType('src', 'of type string', text);
        if (!(target instanceof Uint8Array)) throw wrongType('dest', 'an instance of Uint8Array', target);
        return utf8Into(text, target);
    }
}

const labels = {
    'utf-8': /^(?:unicode-1-1-utf-8|unicode(?:11|20)utf8|utf-?8|x-unicode20utf8)$/,
    'utf-16le': /^(?:csunicode|iso-10646-ucs-2|ucs-2|unicode|unicodefeff|utf-16|utf-16le)$/,
    'utf-16be': /^(?:unicodefffe|utf-16be)$/,
    'windows-1252': /^(?:ansi_x3\.4-1968|(?:us-)?ascii|(?:x-)?cp1252|cp819|csisolatin1|ibm819|iso-8859-1|iso-ir-100|iso8859-?1|iso_8859-1(?::1987)?|l1|latin1|windows-1252)$/,
};
const windows1252 = '\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178';

// How many bytes at the end are the beginning of a character that goes on.
const utf8Open = bytes => {
    const { length } = bytes;
    for (let back = 1; back <= 3 && back <= length; back++) {
        const byte = bytes[length - back];
        if ((byte & 0xc0) === 0x80) continue;
        const needed = byte >= 0xf0 && byte <= 0xf4 ? 4 : byte >= 0xe0 && byte < 0xf0 ? 3
            : byte >= 0xc2 && byte < 0xe0 ? 2 : 1;
        // What can still become a character does not decode to several replacements.
        return needed > back && utf8Decode(call(subarray, bytes, length - back)).length === 1 ? back : 0;
    }
    return 0;
};
const utf16Open = (bytes, big) => {
    const odd = bytes.length & 1;
    const high = bytes[bytes.length - odd - (big ? 2 : 1)];
    return high >= 0xd8 && high <= 0xdb ? odd + 2 : odd;
};
const join = (first, second) => {
    const both = new Uint8Array(first.length + second.length);
    call(set, both, first);
    call(set, both, second, first.length);
    return both;
};

class TextDecoder {
    #encoding;
    #fatal;
    #ignoreBOM;
    #kept = new Uint8Array(0);
    #begun = false;
    constructor(label = 'utf-8', options = undefined) {
        const wanted = `${label}`.replace(/^[\t\n\f\r ]+|[\t\n\f\r ]+$/g, '').toLowerCase();
        this.#encoding = Object.keys(labels).find(name => labels[name].test(wanted));
        if (!this.#encoding) {
            throw coded(RangeError, 'ERR_ENCODING_NOT_SUPPORTED', `The "${label}" encoding is not supported`);
        }
        this.#fatal = Boolean(options?.fatal);
        this.#ignoreBOM = Boolean(options?.ignoreBOM);
    }
    get encoding() { return this.#encoding; }
    get fatal() { return this.#fatal; }
    get ignoreBOM() { return this.#ignoreBOM; }
    decode(input = new Uint8Array(0), options = undefined) {
        const stream = Boolean(options?.stream);
        let bytes = bytesOf(input, 'list');
        if (this.#kept.length) {
            bytes = join(this.#kept, bytes);
            this.#kept = new Uint8Array(0);
        }
        const wide = this.#encoding.startsWith('utf-16');
        const big = this.#encoding === 'utf-16be';
        if (stream && this.#encoding !== 'windows-1252') {
            const open = wide ? utf16Open(bytes, big) : utf8Open(bytes);
            if (open) {
                this.#kept = bytes.slice(bytes.length - open);
                bytes = call(subarray, bytes, 0, bytes.length - open);
            }
        }
        let text;
        if (wide) text = this.#wide(bytes, big);
        else if (this.#encoding === 'utf-8') text = utf8Decode(bytes, this.#fatal);
        else text = latin1Decode(bytes).replace(/[\x80-\x9f]/g, one => windows1252[one.charCodeAt(0) - 128]);
        if (text === undefined) {
            this.#begun = false;
            throw coded(TypeError, 'ERR_ENCODING_INVALID_ENCODED_DATA',
                `The encoded data was not valid for encoding ${this.#encoding}`);
        }
        if (!this.#begun && !this.#ignoreBOM && text.charCodeAt(0) === 0xfeff) text = text.slice(1);
        this.#begun = stream && (this.#begun || bytes.length > 0);
        return text;
    }
    #wide(bytes, big) {
        if (big) {
            bytes = bytes.slice();
            for (let i = 0; i + 1 < bytes.length; i += 2) [bytes[i], bytes[i + 1]] = [bytes[i + 1], bytes[i]];
        }
        const text = utf16Decode(bytes);
        const odd = bytes.length & 1;
        if (this.#fatal) return odd || !text.isWellFormed() ? undefined : text;
        return text.toWellFormed() + (odd ? '\ufffd' : '');
    }
}
tag(TextEncoder, 'TextEncoder');
tag(TextDecoder, 'TextDecoder');

const refuse = message => {
    const { DOMException } = internal('exception');
    throw new DOMException(message, 'InvalidCharacterError');
};
function atob(input) {
    if (arguments.length === 0) throw missing('input');
    let text = `${input}`.replace(/[\t\n\f\r ]+/g, '');
    if (text.length % 4 === 0) text = text.replace(/==?$/, '');
    if (/[^+/0-9A-Za-z]/.test(text)) refuse('Invalid character');
    if (text.length % 4 === 1) refuse('The string to be decoded is not correctly encoded.');
    return latin1Decode(call(fromBase64, Uint8Array, text));
}
function btoa(input) {
    if (arguments.length === 0) throw missing('input');
    const text = `${input}`;
    if (/[^\0-\xff]/.test(text)) refuse('Invalid character');
    return call(toBase64, latin1Encode(text));
}

Object.assign(exports, { TextEncoder, TextDecoder, atob, btoa, bytesOf, isBuffer, utf8Into, tag });
