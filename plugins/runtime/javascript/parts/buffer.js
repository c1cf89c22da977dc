// buffer.js - Buffer, and the module buffer.
const { coded, wrongType, wrongValue, outOfRange, checkNumber } = internal('errors');
const { bytesOf, isBuffer: isArrayBuffer, utf8Into, atob, btoa } = internal('encoding');
const { utf8Encode, utf8Decode, utf8Length, utf16Encode, utf16Decode, latin1Encode, latin1Decode } = native;
const { isView } = ArrayBuffer;
const { fromBase64, fromHex } = Uint8Array;
const bytes = Uint8Array.prototype;
const call = Function.prototype.call.bind(Function.prototype.call);
const { toBase64, toHex } = bytes;
const { min, max } = Math;
const longest = 2 ** 32;

class FastBuffer extends Uint8Array {}
// A Buffer of the memory of an array of bytes.
const over = array => new FastBuffer(array.buffer, array.byteOffset, array.length);

// ---- encodings: text to bytes, bytes to text ----

const base64Bytes = text => {
    text = text.replace(/=[\s\S]*$|[^\w+/-]|_|-/g, one => one === '_' ? '/' : one === '-' ? '+' : '');
    if (text.length % 4 === 1) text = text.slice(0, -1);
    return call(fromBase64, Uint8Array, text, { lastChunkHandling: 'loose' });
};
const utf16 = { encode: utf16Encode, decode: utf16Decode, length: text => 2 * text.length };
const latin1 = { encode: latin1Encode, decode: latin1Decode, length: text => text.length };
const utf8 = { encode: utf8Encode, decode: utf8Decode, length: utf8Length };
const base64Length = text => text.length * 3 >>> 2;
const encodings = {
    __proto__: null, 'utf8': utf8, 'utf-8': utf8, 'ucs2': utf16, 'ucs-2': utf16, 'utf16le': utf16, 'utf-16le': utf16, latin1,
    'binary': latin1,
    'ascii': { ...latin1, decode: array => latin1Decode(array.map(byte => byte & 127)) },
    'hex': {
        encode: text => call(fromHex, Uint8Array, /^(?:[\da-f]{2})*/i.exec(text)[0]),
        decode: array => call(toHex, array),
        length: text => text.length >>> 1,
    },
    'base64': {
        encode: base64Bytes, decode: array => call(toBase64, array),
        length: text => base64Length(text.replace(/==?$/, '')),
    },
    'base64url': {
        encode: base64Bytes, decode: array => call(toBase64, array, { alphabet: 'base64url', omitPadding: true }),
        length: text => base64Length(text.replace(/==?$/, '')),
    },
};
const known = name => encodings[name] ?? encodings[`${name}`.toLowerCase()];
const encoding = name => {
    if (name === undefined || name === null || name === '') return utf8;
    const found = known(name);
    if (!found) throw coded(TypeError, 'ERR_UNKNOWN_ENCODING', `Unknown encoding: ${name}`);
    return found;
};

// ---- making ----

const checkSize = size => {
    if (typeof size !== 'number') throw wrongType('size', 'of type number', size);
    if (!(size >= 0 && size <= longest)) throw outOfRange('size', `>= 0 && <= ${longest}`, size);
};
const firstKinds = 'of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object';
const fromObject = value => {
    if (isView(value) || Array.isArray(value) || value.length !== undefined) {
        if (typeof value.length !== 'number' && !isView(value)) return new FastBuffer(0);
        if (!(value.length > 0)) return new FastBuffer(0);
        const result = new FastBuffer(Math.trunc(value.length));
        for (let i = 0; i < result.length; i++) result[i] = value[i];
        return result;
    }
    if (value.type === 'Buffer' && Array.isArray(value.data)) return fromObject(value.data);
    return undefined;
};
const from = (value, second, length) => {
    if (typeof value === 'string') return over(encoding(second).encode(value));
    if (typeof value === 'object' && value !== null) {
        if (isArrayBuffer(value)) return fromMemory(value, second, length);
        const inner = value.valueOf?.();
        if (inner != null && inner !== value && (typeof inner === 'string' || typeof inner === 'object')) {
            return from(inner, second, length);
        }
        const made = fromObject(value);
        if (made) return made;
        if (typeof value[Symbol.toPrimitive] === 'function') {
            const text = value[Symbol.toPrimitive]('string');
            if (typeof text === 'string') return from(text, second);
        }
    }
    throw wrongType('first argument', firstKinds, value);
};
const fromMemory = (memory, offset, length) => {
    offset = offset === undefined ? 0 : +offset || 0;
    const most = memory.byteLength - offset;
    if (most < 0) throw coded(RangeError, 'ERR_BUFFER_OUT_OF_BOUNDS', '"offset" is outside of buffer bounds');
    if (length === undefined) length = most;
    else {
        length = max(+length || 0, 0);
        if (length > most) throw coded(RangeError, 'ERR_BUFFER_OUT_OF_BOUNDS', '"length" is outside of buffer bounds');
    }
    return new FastBuffer(memory, offset, length);
};

function Buffer(value, second, length) {
    if (typeof value !== 'number') return from(value, second, length);
    if (typeof second === 'string') throw wrongType('string', 'of type string', value);
    return Buffer.alloc(value);
}
Object.setPrototypeOf(Buffer, Uint8Array);
Buffer.prototype = FastBuffer.prototype;
Object.defineProperty(Buffer.prototype, 'constructor', { value: Buffer, writable: true, configurable: true });
Object.defineProperty(Buffer, Symbol.species, { get: () => FastBuffer, configurable: true });

const checkBytes = (value, name, kinds = 'an instance of Buffer or Uint8Array') => {
    if (!(value instanceof Uint8Array)) throw wrongType(name, kinds, value);
};
const compare = (a, b) => {
    const length = min(a.length, b.length);
    for (let i = 0; i < length; i++) {
        if (a[i] !== b[i]) return a[i] < b[i] ? -1 : 1;
    }
    return a.length < b.length ? -1 : a.length > b.length ? 1 : 0;
};
Object.assign(Buffer, {
    poolSize: 8192,
    from,
    of: (...items) => fromObject(items),
    alloc(size, fill, name) {
        checkSize(size);
        const buffer = new FastBuffer(size);
        return fill === undefined || fill === 0 || size === 0 ? buffer : buffer.fill(fill, name);
    },
    allocUnsafe(size) {
        checkSize(size);
        return new FastBuffer(size);
    },
    allocUnsafeSlow(size) { return Buffer.allocUnsafe(size); },
    copyBytesFrom(view, offset = 0, length = undefined) {
        if (!isView(view) || view instanceof DataView) throw wrongType('view', 'an instance of TypedArray', view);
        return over(bytesOf(view.subarray(offset, length === undefined ? undefined : offset + length), 'view').slice());
    },
    isBuffer: value => value instanceof Buffer,
    isEncoding: name => typeof name === 'string' && name !== '' && known(name) !== undefined,
    byteLength(value, name) {
        if (typeof value === 'string') return (known(name ?? 'utf8') ?? utf8).length(value);
        if (isView(value) || isArrayBuffer(value)) return value.byteLength;
        throw wrongType('string', 'of type string or an instance of Buffer or ArrayBuffer', value);
    },
    compare(a, b) {
        checkBytes(a, 'buf1');
        checkBytes(b, 'buf2');
        return compare(a, b);
    },
    concat(list, length) {
        if (!Array.isArray(list)) throw wrongType('list', 'an instance of Array', list);
        list.forEach((one, i) => checkBytes(one, `list[${i}]`));
        if (length === undefined) length = list.reduce((sum, one) => sum + one.length, 0);
        else checkNumber(length, 'length', 0, longest);
        const whole = new FastBuffer(length);
        let at = 0;
        for (const one of list) {
            if (at >= length) break;
            whole.set(at + one.length > length ? one.subarray(0, length - at) : one, at);
            at += one.length;
        }
        return whole;
    },
});

// ---- methods ----

// A place in the text or array, as slice takes it.
const bound = (value, length, otherwise) => {
    if (value === undefined) return otherwise;
    value = Math.trunc(+value) || 0;
    return value < 0 ? max(value + length, 0) : min(value, length);
};
const checkPlace = (value, name, most) => checkNumber(value, name, 0, most);
const findBytes = (whole, part, at, last) => {
    const most = whole.length - part.length;
    const step = last ? -1 : 1;
    for (at = last ? min(at, most) : at; at >= 0 && at <= most; at += step) {
        at = last ? call(bytes.lastIndexOf, whole, part[0], at) : call(bytes.indexOf, whole, part[0], at);
        if (at < 0 || at > most) return -1;
        let same = 1;
        while (same < part.length && whole[at + same] === part[same]) same++;
        if (same === part.length) return at;
    }
    return -1;
};
const find = (buffer, value, offset, name, last) => {
    if (typeof offset === 'string') [offset, name] = [undefined, offset];
    offset = +offset;
    if (Number.isNaN(offset)) offset = last ? buffer.length : 0;
    offset = Math.trunc(offset);
    if (offset < 0) offset += buffer.length;
    if (offset < 0) {
        if (last) return -1;
        offset = 0;
    }
    if (typeof value === 'number') {
        return last ? call(bytes.lastIndexOf, buffer, value & 255, min(offset, buffer.length - 1))
            : call(bytes.indexOf, buffer, value & 255, offset);
    }
    if (typeof value === 'string') value = encoding(name).encode(value);
    else if (!(value instanceof Uint8Array)) {
        throw wrongType('value', 'one of type number or string or an instance of Buffer or Uint8Array', value);
    }
    if (value.length === 0) return min(offset, buffer.length);
    return findBytes(buffer, value, offset, last);
};
const swap = (buffer, size) => {
    if (buffer.length % size) {
        throw coded(RangeError, 'ERR_INVALID_BUFFER_SIZE', `Buffer size must be a multiple of ${size * 8}-bits`);
    }
    for (let i = 0; i < buffer.length; i += size) call(bytes.reverse, buffer.subarray(i, i + size));
    return buffer;
};
const methods = {
    toString(name, start, end) {
        if (arguments.length === 0) return utf8Decode(this);
        start = start === undefined || start <= 0 ? 0 : min(Math.trunc(start) || 0, this.length);
        end = end === undefined ? this.length : min(max(Math.trunc(end) || 0, 0), this.length);
        const { decode } = encoding(name);
        return start >= end ? '' : decode(start || end < this.length ? call(bytes.subarray, this, start, end) : this);
    },
    toLocaleString(...args) { return this.toString(...args); },
    toJSON() { return { type: 'Buffer', data: Array.from(this) }; },
    equals(other) {
        checkBytes(other, 'otherBuffer');
        return this === other || (this.length === other.length && compare(this, other) === 0);
    },
    compare(target, targetStart = 0, targetEnd = undefined, start = 0, end = undefined) {
        checkBytes(target, 'target');
        checkPlace(targetStart, 'targetStart', longest);
        checkPlace(targetEnd ?? target.length, 'targetEnd', target.length);
        checkPlace(start, 'sourceStart', longest);
        checkPlace(end ?? this.length, 'sourceEnd', this.length);
        return compare(this.subarray(start, max(start, end ?? this.length)),
            target.subarray(targetStart, max(targetStart, targetEnd ?? target.length)));
    },
    indexOf(value, offset, name) { return find(this, value, offset, name, false); },
    lastIndexOf(value, offset, name) { return find(this, value, offset, name, true); },
    includes(value, offset, name) { return this.indexOf(value, offset, name) !== -1; },
    fill(value, offset, end, name) {
        if (typeof offset === 'string') [offset, name] = [undefined, offset];
        else if (typeof end === 'string') [end, name] = [undefined, end];
        if (offset !== undefined) checkPlace(offset, 'offset', longest);
        if (end !== undefined) checkPlace(end, 'end', this.length);
        if (typeof value === 'string') {
            const text = value;
            value = encoding(name).encode(text);
            if (text === '') value = 0;
            else if (value.length === 0) throw wrongValue('value', text);
        }
        if (typeof value !== 'object') return call(bytes.fill, this, value & 255, offset, end);
        checkBytes(value, 'value');
        if (value.length === 0) throw coded(TypeError, 'ERR_INVALID_ARG_VALUE', "The argument 'value' is invalid. Received <Buffer >");
        if (end === undefined) end = this.length;
        for (let at = offset ?? 0; at < end; at += value.length) {
            this.set(at + value.length > end ? value.subarray(0, end - at) : value, at);
        }
        return this;
    },
    copy(target, targetStart = 0, start = 0, end = this.length) {
        checkBytes(target, 'target');
        if (targetStart < 0) throw outOfRange('targetStart', '>= 0', targetStart);
        if (start < 0 || start > this.length) throw outOfRange('sourceStart', `>= 0 && <= ${this.length}`, start);
        if (end < 0) throw outOfRange('sourceEnd', '>= 0', end);
        if (targetStart >= target.length || start >= end) return 0;
        const part = this.subarray(start, min(end, start + target.length - targetStart));
        target.set(part, targetStart);
        return part.length;
    },
    write(text, offset, length, name) {
        if (typeof offset === 'string') [offset, length, name] = [undefined, undefined, offset];
        else if (typeof length === 'string') [length, name] = [undefined, length];
        if (typeof text !== 'string') throw coded(TypeError, 'ERR_INVALID_ARG_TYPE', 'argument must be a string');
        if (offset === undefined) offset = 0;
        checkPlace(offset, 'offset', this.length);
        length = length === undefined ? this.length - offset : min(length, this.length - offset);
        const target = call(bytes.subarray, this, offset, offset + max(length, 0));
        const how = encoding(name);
        if (how === utf8) return utf8Into(text, target).written;
        let part = how.encode(text);
        if (part.length > target.length) part = part.subarray(0, how === utf16 ? target.length & ~1 : target.length);
        target.set(part);
        return part.length;
    },
    slice(start, end) {
        start = bound(start, this.length, 0);
        end = bound(end, this.length, this.length);
        return new FastBuffer(this.buffer, this.byteOffset + start, max(end - start, 0));
    },
    swap16() { return swap(this, 2); },
    swap32() { return swap(this, 4); },
    swap64() { return swap(this, 8); },
    [Symbol.for('nodejs.util.inspect.custom')]() {
        const most = exports.INSPECT_MAX_BYTES;
        const left = this.length - most;
        const shown = call(toHex, call(bytes.subarray, this, 0, most)).replace(/..(?=.)/g, '$& ');
        return `<${this.constructor.name} ${shown}${left > 0 ? ` ... ${left} more byte${left > 1 ? 's' : ''}` : ''}>`;
    },
};
methods.subarray = methods.slice;
for (const [short, like] of [['ascii'], ['base64'], ['base64url'], ['latin1'], ['hex'], ['ucs2'], ['utf8']]) {
    methods[`${short}Slice`] = function (start, end) { return this.toString(like ?? short, start, end); };
    methods[`${short}Write`] = function (text, offset, length) { return this.write(text, offset, length, like ?? short); };
}

// ---- numbers ----

const scratch = new Uint8Array(8);
const view = new DataView(scratch.buffer);
const checkOffset = (buffer, offset, size) => {
    if (typeof offset !== 'number') throw wrongType('offset', 'of type number', offset);
    const most = buffer.length - size;
    if (offset >= 0 && offset <= most && Number.isInteger(offset)) return;
    if (!Number.isInteger(offset)) throw outOfRange('offset', 'an integer', offset);
    if (most < 0) throw coded(RangeError, 'ERR_BUFFER_OUT_OF_BOUNDS', 'Attempt to access memory outside buffer bounds');
    throw outOfRange('offset', `>= 0 and <= ${most}`, offset);
};
const checkValue = (value, size, signed, n = '') => {
    const bits = size * 8 - (signed ? 1 : 0);
    const [two, one] = n ? [2n, 1n] : [2, 1];
    const top = two ** (n ? BigInt(bits) : bits);
    if (value < top && value >= (signed ? -top : 0)) return;
    if (n || size > 4) {
        throw outOfRange('value', signed ? `>= -(2${n} ** ${bits}${n}) and < 2${n} ** ${bits}${n}`
            : `>= 0${n} and < 2${n} ** ${bits}${n}`, value);
    }
    if (value > top - one || value < (signed ? -top : 0)) {
        throw outOfRange('value', `>= ${signed ? -top : 0} and <= ${top - one}`, value);
    }
};
const numbers = [['UInt8', 1, 'Uint8'], ['UInt16', 2, 'Uint16'], ['UInt32', 4, 'Uint32'], ['Int8', 1, 'Int8'],
    ['Int16', 2, 'Int16'], ['Int32', 4, 'Int32'], ['Float', 4, 'Float32'], ['Double', 8, 'Float64'],
    ['BigUInt64', 8, 'BigUint64'], ['BigInt64', 8, 'BigInt64']];
for (const [name, size, method] of numbers) {
    const [get, set] = [DataView.prototype[`get${method}`], DataView.prototype[`set${method}`]];
    const n = name.startsWith('Big') ? 'n' : '';
    const isFloat = method.startsWith('Float');
    for (const end of size === 1 ? [''] : ['LE', 'BE']) {
        const little = end === 'LE';
        const read = function (offset = 0) {
            checkOffset(this, offset, size);
            for (let i = 0; i < size; i++) scratch[i] = this[offset + i];
            return call(get, view, 0, little);
        };
        const write = function (value, offset = 0) {
            if (!n) value = +value;
            if (!isFloat) checkValue(value, size, !name.includes('U'), n);
            checkOffset(this, offset, size);
            call(set, view, 0, value, little);
            for (let i = 0; i < size; i++) this[offset + i] = scratch[i];
            return offset + size;
        };
        methods[`read${name}${end}`] = read;
        methods[`write${name}${end}`] = write;
        if (name.includes('UInt')) {
            const other = name.replace('UInt', 'Uint');
            methods[`read${other}${end}`] = read;
            methods[`write${other}${end}`] = write;
        }
    }
}
// Numbers of one to six bytes.
const checkWidth = size => {
    if (typeof size !== 'number') throw wrongType('byteLength', 'of type number', size);
    if (!Number.isInteger(size)) throw outOfRange('byteLength', 'an integer', size);
    if (size < 1 || size > 6) throw outOfRange('byteLength', '>= 1 and <= 6', size);
};
for (const signed of [false, true]) {
    for (const end of ['LE', 'BE']) {
        const place = (size, i) => end === 'LE' ? i : size - 1 - i;
        const check = (buffer, offset, size) => {
            if (offset === undefined) throw wrongType('offset', 'of type number', offset);
            checkWidth(size);
            checkOffset(buffer, offset, size);
        };
        const read = function (offset, size) {
            check(this, offset, size);
            let value = 0;
            for (let i = 0; i < size; i++) value += this[offset + place(size, i)] * 256 ** i;
            return signed && value >= 2 ** (8 * size - 1) ? value - 256 ** size : value;
        };
        const write = function (value, offset, size) {
            value = +value;
            checkWidth(size);
            checkValue(value, size, signed);
            check(this, offset, size);
            let rest = value < 0 ? Math.trunc(value) + 256 ** size : Math.trunc(value);
            for (let i = 0; i < size; i++, rest = Math.floor(rest / 256)) this[offset + place(size, i)] = rest % 256;
            return offset + size;
        };
        for (const name of signed ? ['Int'] : ['UInt', 'Uint']) {
            methods[`read${name}${end}`] = read;
            methods[`write${name}${end}`] = write;
        }
    }
}
Object.assign(Buffer.prototype, methods);
Object.defineProperty(Buffer.prototype, 'parent', { get() { return this.buffer; }, enumerable: true, configurable: true });
Object.defineProperty(Buffer.prototype, 'offset', { get() { return this.byteOffset; }, enumerable: true, configurable: true });

Object.assign(exports, {
    Buffer, atob, btoa, INSPECT_MAX_BYTES: 50, kMaxLength: longest, kStringMaxLength: 2 ** 31 - 1,
    constants: { MAX_LENGTH: longest, MAX_STRING_LENGTH: 2 ** 31 - 1 },
    SlowBuffer: size => Buffer.allocUnsafe(size),
    isUtf8: value => utf8Decode(bytesOf(value, 'input'), true) !== undefined,
    isAscii: value => bytesOf(value, 'input').every(byte => byte < 128),
    transcode: (source, a, b) => from(source.toString(a), b),
});
for (const name of ['Blob', 'File']) {
    Object.defineProperty(exports, name, { get: () => internal('blob')[name], enumerable: true, configurable: true });
}
