// crypto.js - the global crypto and the module crypto: random numbers and hash functions.
const { coded, wrongType, outOfRange, checkFunction, checkNumber } = internal('errors');
const { bytesOf } = internal('encoding');
const { utf8Encode } = native;
const { isView } = ArrayBuffer;
const isInteger = /^\[object (?:Big)?(?:Int|Uint)(?:8|16|32|64)(?:Clamped)?Array\]$/;
const exception = (message, name) => new (internal('exception').DOMException)(message, name);
const fill = array => {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    // Memory that natives have seen cannot be transferred any more.
    bytes.set(native.random(new Uint8Array(bytes.length)));
    return array;
};

const getRandomValues = array => {
    if (!isView(array) || !isInteger.test(Object.prototype.toString.call(array)) && !Buffer.isBuffer(array)) {
        throw exception('The data argument must be an integer-type TypedArray', 'TypeMismatchError');
    }
    if (array.byteLength > 65536) {
        throw exception('The requested length exceeds 65,536 bytes', 'QuotaExceededError');
    }
    return fill(array);
};
const randomUUID = () => {
    const bytes = native.random(new Uint8Array(16));
    bytes[6] = bytes[6] & 15 | 64;
    bytes[8] = bytes[8] & 63 | 128;
    return bytes.toHex().replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
};

// ---- hash functions ----

const { Buffer } = internal('buffer');
// The names of Nettle.
const names = { __proto__: null, md5: 'md5', sha1: 'sha1', sha224: 'sha224', sha256: 'sha256', sha384: 'sha384', sha512: 'sha512',
    'sha3-224': 'sha3_224', 'sha3-256': 'sha3_256', 'sha3-384': 'sha3_384', 'sha3-512': 'sha3_512', ripemd160: 'ripemd160', rmd160: 'ripemd160' };
const nameOf = name => names[name.toLowerCase().replace(/^rsa-/, '').replace(/^sha-(?=\d)/, 'sha').replace('/', '-')];
const digest = (name, chunks) => native.digest(name, ...chunks);
const checkData = (data, name = 'data') => {
    if (typeof data !== 'string' && !isView(data)) {
        throw wrongType(name, 'of type string or an instance of Buffer, TypedArray, or DataView', data);
    }
};
const bytesFrom = (data, encoding) => {
    if (typeof data !== 'string') return bytesOf(data, 'data');
    return encoding === undefined || encoding === 'utf8' || encoding === 'buffer' ? utf8Encode(data) : Buffer.from(data, encoding);
};
const output = (bytes, encoding) => {
    const buffer = Buffer.from(bytes.buffer);
    return encoding === undefined || encoding === 'buffer' ? buffer : buffer.toString(encoding);
};
const finalized = () => coded(Error, 'ERR_CRYPTO_HASH_FINALIZED', 'Digest already called');
class Hash {
    #finish;
    #chunks;
    constructor(finish, chunks = []) {
        this.#finish = finish;
        this.#chunks = chunks;
    }
    update(data, encoding) {
        if (!this.#chunks) throw finalized();
        checkData(data);
        const bytes = bytesFrom(data, encoding);
        // What was given may change; many pieces are put together.
        if (this.#chunks.length > 512) this.#chunks = [Buffer.concat(this.#chunks)];
        this.#chunks.push(typeof data === 'string' ? bytes : bytes.slice());
        return this;
    }
    digest(encoding) {
        if (!this.#chunks) throw finalized();
        const chunks = this.#chunks;
        this.#chunks = undefined;
        return output(this.#finish(chunks), encoding);
    }
    copy() {
        if (!this.#chunks) throw finalized();
        return new Hash(this.#finish, [...this.#chunks]);
    }
}
const createHash = name => {
    if (typeof name !== 'string') throw wrongType('algorithm', 'of type string', name);
    const known = nameOf(name);
    if (!known) throw new Error('Digest method not supported');
    return new Hash(chunks => digest(known, chunks));
};
const blockOf = name => /^sha(?:384|512)/.test(name) ? 128 : name.startsWith('sha3_') ? 200 - Number(name.slice(5)) / 4 : 64;
const hmac = (name, key, chunks) => {
    const block = new Uint8Array(blockOf(name));
    block.set(key.length > block.length ? digest(name, [key]) : key);
    const inner = digest(name, [block.map(byte => byte ^ 0x36), ...chunks]);
    return digest(name, [block.map(byte => byte ^ 0x5c), inner]);
};
class Hmac extends Hash {}
const keyBytes = (key, name = 'key') => {
    if (typeof key === 'string') return utf8Encode(key);
    if (isView(key) || internal('encoding').isBuffer(key)) return bytesOf(key, name).slice();
    throw wrongType(name, 'of type string or an instance of ArrayBuffer, Buffer, TypedArray, DataView, KeyObject, or CryptoKey', key);
};
const createHmac = (name, key) => {
    if (typeof name !== 'string') throw wrongType('hmac', 'of type string', name);
    const bytes = keyBytes(key);
    const known = nameOf(name);
    if (!known) throw coded(TypeError, 'ERR_CRYPTO_INVALID_DIGEST', `Invalid digest: ${name}`);
    return new Hmac(chunks => hmac(known, bytes, chunks));
};
const hash = (name, data, encoding = 'hex') => {
    checkData(data, 'input');
    return createHash(name).update(data).digest(encoding);
};
const pbkdf2Sync = (password, salt, iterations, length, name) => {
    const known = nameOf(name);
    if (!known) throw coded(TypeError, 'ERR_CRYPTO_INVALID_DIGEST', `Invalid digest: ${name}`);
    checkNumber(iterations, 'iterations', 1, 2 ** 31 - 1);
    checkNumber(length, 'keylen', 0, 2 ** 31 - 1);
    const [key, start] = [keyBytes(password, 'password'), keyBytes(salt, 'salt')];
    const blocks = [];
    for (let have = 0, i = 1; have < length; i++) {
        let block = hmac(known, key, [start, new Uint8Array([i >>> 24, i >>> 16, i >>> 8, i])]);
        const sum = block.slice();
        for (let round = 1; round < iterations; round++) {
            block = hmac(known, key, [block]);
            for (let k = 0; k < sum.length; k++) sum[k] ^= block[k];
        }
        blocks.push(sum);
        have += sum.length;
    }
    return Buffer.concat(blocks, length);
};

// ---- random numbers ----

// Without a callback the result comes at once, as in Node.
const later = (callback, work) => {
    if (callback === undefined) return work();
    checkFunction(callback, 'callback');
    const value = work();
    internal('timers').setImmediate(() => callback(null, value));
    return undefined;
};
const randomBytes = (size, callback) => {
    checkNumber(size, 'size', 0, 2 ** 31 - 1);
    return later(callback, () => fill(Buffer.alloc(size)));
};
const randomFillSync = (array, offset = 0, size = undefined) => {
    const bytes = bytesOf(array, 'buf');
    const width = array.BYTES_PER_ELEMENT ?? 1;
    checkNumber(offset, 'offset', 0, bytes.length / width);
    const end = size === undefined ? bytes.length : (offset + size) * width;
    checkNumber(end, 'size + offset', 0, bytes.length);
    fill(bytes.subarray(offset * width, end));
    return array;
};
const randomFill = (array, ...rest) => {
    const callback = rest.pop();
    checkFunction(callback, 'callback');
    later(callback, () => randomFillSync(array, ...rest));
};
const randomInt = (low, high, callback) => {
    const hasLow = high !== undefined && typeof high !== 'function';
    if (!hasLow) [low, high, callback] = [0, low, high];
    for (const [value, name] of [[low, 'min'], [high, 'max']]) {
        if (!Number.isSafeInteger(value)) throw wrongType(name, 'a safe integer', value);
    }
    if (high <= low) throw outOfRange('max', `greater than the value of "min" (${low})`, high);
    const range = high - low;
    if (range >= 2 ** 48) throw outOfRange(hasLow ? 'max - min' : 'max', `<= ${2 ** 48 - 1}`, range);
    // Numbers above would make the first ones of the range more likely.
    const most = 2 ** 48 - 2 ** 48 % range;
    const draw = () => {
        for (;;) {
            const value = native.random(new Uint8Array(6)).reduce((sum, byte) => sum * 256 + byte, 0);
            if (value < most) return low + value % range;
        }
    };
    return later(callback && ((error, value) => callback(undefined, value)), draw);
};
const timingSafeEqual = (a, b) => {
    for (const [value, name] of [[a, 'buf1'], [b, 'buf2']]) {
        if (!isView(value) && !internal('encoding').isBuffer(value)) {
            throw coded(TypeError, 'ERR_INVALID_ARG_TYPE',
                `The "${name}" argument must be an instance of ArrayBuffer, Buffer, TypedArray, or DataView.`);
        }
    }
    const [one, other] = [bytesOf(a), bytesOf(b)];
    if (one.length !== other.length) {
        throw coded(RangeError, 'ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH', 'Input buffers must have the same byte length');
    }
    return one.reduce((sum, byte, i) => sum | byte ^ other[i], 0) === 0;
};

// ---- the web's interface ----

class SubtleCrypto {
    async digest(algorithm, data) {
        const name = `${typeof algorithm === 'object' && algorithm !== null ? algorithm.name : algorithm}`;
        if (!/^sha-(?:1|256|384|512)$/i.test(name)) throw exception('Unrecognized algorithm name', 'NotSupportedError');
        return digest(nameOf(name), [bytesOf(data, 'data')]).buffer;
    }
}
class Crypto {
    get subtle() { return subtle; }
    getRandomValues(array) { return getRandomValues(array); }
    randomUUID() { return randomUUID(); }
}
const subtle = new SubtleCrypto();
const webcrypto = new Crypto();
for (const Class of [Crypto, SubtleCrypto]) {
    internal('encoding').tag(Class, Class.name);
}
Object.assign(exports, { webcrypto, subtle, getRandomValues, randomUUID, randomBytes, pseudoRandomBytes: randomBytes, randomInt,
    randomFill, randomFillSync, createHash, createHmac, hash, pbkdf2Sync, timingSafeEqual, Hash, Hmac,
    pbkdf2(password, salt, iterations, length, name, callback) {
        later(callback, () => pbkdf2Sync(password, salt, iterations, length, name));
    },
    getHashes: () => Object.keys(names) });
