// string_decoder.js - bytes to text, piece by piece: a character that is not whole waits for the rest.
const { Buffer } = internal('buffer');
const { coded, wrongType } = internal('errors');
const { bytesOf } = internal('encoding');
const names = { 'utf-8': 'utf8', 'ucs2': 'utf16le', 'ucs-2': 'utf16le', 'utf-16le': 'utf16le', 'binary': 'latin1' };

// How many bytes at the end are kept for the next piece.
const open = {
    'utf16le': bytes => {
        const odd = bytes.length & 1;
        const high = bytes[bytes.length - odd - 1];
        return high >= 0xd8 && high <= 0xdb ? odd + 2 : odd;
    },
    'base64': bytes => bytes.length % 3,
    'base64url': bytes => bytes.length % 3,
};
class StringDecoder {
    #decoder;
    #kept = Buffer.alloc(0);
    constructor(encoding = 'utf8') {
        if (!Buffer.isEncoding(encoding)) throw coded(TypeError, 'ERR_UNKNOWN_ENCODING', `Unknown encoding: ${encoding}`);
        const name = encoding.toLowerCase();
        this.encoding = names[name] ?? name;
        if (this.encoding === 'utf8') this.#decoder = new (internal('encoding').TextDecoder)('utf-8', { ignoreBOM: true });
    }
    write(piece) {
        if (typeof piece === 'string') return piece;
        if (!ArrayBuffer.isView(piece)) throw wrongType('buf', 'an instance of Buffer, TypedArray, or DataView', piece);
        const bytes = bytesOf(piece, 'buf');
        if (this.#decoder) return this.#decoder.decode(bytes, { stream: true });
        const whole = Buffer.concat([this.#kept, bytes]);
        const end = whole.length - (open[this.encoding]?.(whole) ?? 0);
        this.#kept = whole.subarray(end);
        return whole.toString(this.encoding, 0, end);
    }
    end(piece) {
        let text = piece === undefined ? '' : this.write(piece);
        if (this.#decoder) return text + this.#decoder.decode();
        text += this.#kept.toString(this.encoding);
        this.#kept = Buffer.alloc(0);
        return text;
    }
}
exports.StringDecoder = StringDecoder;
