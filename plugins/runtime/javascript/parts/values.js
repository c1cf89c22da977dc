// values.js - values of the code as JSON with lazaret's tags, and back.
// The host reads what is written here, so nothing is used that code can change: no functions of
// prototypes, and no lists that inherit from one, whose indexes may have setters. Getters, proxies and toJSON of
// the code's own values are called, as JSON.stringify calls them.
const { apply } = Reflect;
const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, keys: keysOf } = Object;
const { isArray } = Array, { isView } = ArrayBuffer;
const { isFinite, isInteger } = Number;
const stringify = JSON.stringify, parse = JSON.parse;
const { indexOf, isWellFormed, startsWith } = String.prototype;
const { toISOString, getTime } = Date.prototype;
const bigintToText = BigInt.prototype.toString;
const { forEach: mapForEach } = Map.prototype, { forEach: setForEach } = Set.prototype;
const getter = (prototype, name) => getOwnPropertyDescriptor(prototype, name).get;
const mapSize = getter(Map.prototype, 'size'), setSize = getter(Set.prototype, 'size');
const TypedArray = getPrototypeOf(Uint8Array.prototype);
const typedName = getter(TypedArray, Symbol.toStringTag), typedLength = getter(TypedArray, 'length');
const typedBuffer = getter(TypedArray, 'buffer'), typedOffset = getter(TypedArray, 'byteOffset');
const bufferLength = getter(ArrayBuffer.prototype, 'byteLength');
const U8 = Uint8Array, toBase64 = Uint8Array.prototype.toBase64, fromBase64 = Uint8Array.fromBase64;
const numberValue = Number.prototype.valueOf, booleanValue = Boolean.prototype.valueOf;
const stringValue = String.prototype.valueOf, bigintValue = BigInt.prototype.valueOf;
const toBigInt = BigInt, DateOf = Date, MapOf = Map, RegExpExec = RegExp.prototype.exec;
const setMap = Map.prototype.set;
const ErrorPrototype = Error.prototype, RegExpPrototype = RegExp.prototype;
const PromisePrototype = Promise.prototype, WeakMapPrototype = WeakMap.prototype;
const WeakSetPrototype = WeakSet.prototype, WeakRefPrototype = WeakRef.prototype;
const TooDeep = RangeError, Wrong = TypeError;
const DEPTH = 60;

// ---- writing ---------------------------------------------------------------------------------------

// A list without a prototype.
const listOf = () => ({ __proto__: null, n: 0 });
function add(list, item) {
    list[list.n++] = item;
}

let written, chunk, most, stack, forResult;
const CHUNK = 65536;

// The engine keeps the pieces of a text until something reads it, and they take many times its memory.
function put(text) {
    chunk += text;
    if (written.length + chunk.length > most)
        throw tooLarge;
    if (chunk.length > CHUNK) {
        call2(indexOf, chunk, '\0');
        written += chunk;
        chunk = '';
    }
}
const tooLarge = { tooLarge: true };
const call2 = (f, self, argument) => apply(f, self, [argument]);

function putString(text) {
    if (call2(isWellFormed, text) && call2(indexOf, text, '\0') < 0)
        put(stringify(text));
    else
        put('{"$bytes":"' + apply(toBase64, native.bytesOf(text), []) + '"}');
}

function putNumber(number) {
    if (number !== number)
        put('{"$num":"NaN"}');
    else if (!isFinite(number))
        put(number > 0 ? '{"$num":"Inf"}' : '{"$num":"-Inf"}');
    else if (number === 0 && 1 / number < 0)
        put('-0.0');
    else if (isInteger(number) && (number > 9007199254740992 || number < -9007199254740992)) {
        const text = '' + number;
        put(call2(indexOf, text, 'e') < 0 ? text + '.0' : text);
    } else
        put('' + number);
}

function putBigInt(value) {
    const text = apply(bigintToText, value, []);
    put(value > 9007199254740992n || value < -9007199254740992n ? '{"$int":"' + text + '"}' : text);
}

// A value without a form in JSON.
function putText(value, path) {
    if (!forResult)
        throw new Wrong(path + ' cannot be sent: it is ' + nameOf(value));
    let text;
    try {
        text = native.hasPart('inspect') ? internal('inspect').inspect(value, { budget: 2000 }) : nameOf(value);
    } catch {
        text = nameOf(value);
    }
    put('{"$repr":' + stringify('' + text) + '}');
}

function nameOf(value) {
    switch (typeof value) {
    case 'function': return 'a function';
    case 'symbol': return 'a symbol';
    case 'undefined': return 'undefined';
    default: return 'an object without a form in JSON';
    }
}

// What kind of object it is, by the engine's own mark and not by properties.
function kindOf(value) {
    if (isArray(value))
        return 'array';
    if (isView(value))
        return apply(typedName, value, []) === undefined ? 'view' : 'typed';
    try { apply(getTime, value, []); return 'date'; } catch {}
    try { apply(mapSize, value, []); return 'map'; } catch {}
    try { apply(setSize, value, []); return 'set'; } catch {}
    try { apply(bufferLength, value, []); return 'buffer'; } catch {}
    try { apply(numberValue, value, []); return 'number'; } catch {}
    try { apply(stringValue, value, []); return 'string'; } catch {}
    try { apply(booleanValue, value, []); return 'boolean'; } catch {}
    try { apply(bigintValue, value, []); return 'bigint'; } catch {}
    return 'object';
}

// Most objects are plain ones and lists: they need no search.
function quickKind(value) {
    if (isArray(value))
        return 'array';
    const prototype = getPrototypeOf(value);
    return prototype === null || prototype === ObjectPrototype ? 'object' : '';
}
const ObjectPrototype = Object.prototype;

// Objects whose properties say nothing of them.
function isOpaque(value) {
    for (let p = getPrototypeOf(value), i = 0; p !== null && i < 100; p = getPrototypeOf(p), i++)
        if (p === ErrorPrototype || p === RegExpPrototype || p === PromisePrototype ||
            p === WeakMapPrototype || p === WeakSetPrototype || p === WeakRefPrototype)
            return true;
    return false;
}

function enter(value, path) {
    stack ??= listOf();
    for (let i = 0; i < stack.n; i++)
        if (stack[i] === value)
            throw new Wrong(path + ' contains itself');
    if (stack.n >= DEPTH)
        throw new TooDeep(path + ' is nested too deeply (over ' + DEPTH + ' levels)');
    add(stack, value);
}

function leave() {
    stack.n--;
}

function putList(length, item, path) {
    if (2 * length > most)
        throw tooLarge;
    put('[');
    for (let i = 0; i < length; i++) {
        if (i)
            put(',');
        write(item(i), path, i, true);
    }
    put(']');
}

function putObject(value, path) {
    const names = keysOf(value);
    let any = false, plain = true;
    for (let i = 0; i < names.length && plain; i++)
        plain = isPlainName(names[i]) && !call2(startsWith, names[i], '$');
    if (!plain) {
        putNames(value, names, path);
        return;
    }
    put('{');
    for (let i = 0; i < names.length; i++) {
        const item = value[names[i]];
        if (item === undefined)
            continue;
        put((any ? ',' : '') + stringify(names[i]) + ':');
        any = true;
        write(item, path, names[i], true);
    }
    put('}');
}

const isPlainName = (name) => call2(isWellFormed, name) && call2(indexOf, name, '\0') < 0;

// A member that is undefined is left out, and one that is left alone must not look like a tag.
function putNames(value, names, path) {
    const entries = listOf();
    let plain = true;
    for (let i = 0; i < names.length; i++) {
        const item = value[names[i]];
        if (item === undefined)
            continue;
        add(entries, [names[i], item]);
        plain = plain && isPlainName(names[i]);
    }
    if (plain && !(entries.n === 1 && call2(startsWith, entries[0][0], '$')))
        putEntries(entries, path);
    else
        putMap(entries, path);
}

function putEntries(entries, path) {
    put('{');
    for (let i = 0; i < entries.n; i++) {
        put((i ? ',' : '') + stringify(entries[i][0]) + ':');
        write(entries[i][1], path, entries[i][0], true);
    }
    put('}');
}

function putMap(entries, path) {
    put('{"$map":[');
    for (let i = 0; i < entries.n; i++) {
        put(i ? ',[' : '[');
        write(entries[i][0], path, 'a key', true);
        put(',');
        write(entries[i][1], path, i, true);
        put(']');
    }
    put(']}');
}

function writeMap(value, path) {
    const entries = listOf();
    let texts = true;
    apply(mapForEach, value, [(item, key) => {
        add(entries, [key, item]);
        texts = texts && typeof key === 'string' && isPlainName(key);
    }]);
    if (texts && entries.n === 1 && call2(startsWith, entries[0][0], '$'))
        texts = false;
    if (!texts) {
        putMap(entries, path);
        return;
    }
    putEntries(entries, path);
}

function putBytes(bytes) {
    if (apply(typedLength, bytes, []) > most)
        throw tooLarge;
    put('{"$bytes":"' + apply(toBase64, bytes, []) + '"}');
}

function writeTyped(value, path) {
    const name = apply(typedName, value, []);
    if (name === 'Uint8Array' || name === 'Uint8ClampedArray') {
        const bytes = new U8(apply(typedBuffer, value, []), apply(typedOffset, value, []), apply(typedLength, value, []));
        putBytes(bytes);
        return;
    }
    putList(apply(typedLength, value, []), (i) => value[i], path);
}

function writeObject(value, kind, path) {
    switch (kind) {
    case 'number': putNumber(apply(numberValue, value, [])); return;
    case 'string': putString(apply(stringValue, value, [])); return;
    case 'boolean': put(apply(booleanValue, value, []) ? 'true' : 'false'); return;
    case 'bigint': putBigInt(apply(bigintValue, value, [])); return;
    case 'date': {
        const time = apply(getTime, value, []);
        put(time === time && time > -62135596800000 && time < 253402300800000
            ? '{"$time":"' + apply(toISOString, value, []) + '"}' : time === time
            ? stringify(apply(toISOString, value, [])) : 'null');
        return;
    }
    case 'buffer': {
        putBytes(new U8(value));
        return;
    }
    case 'view': putText(value, path); return;
    case 'typed': writeTyped(value, path); return;
    }
    enter(value, path);
    if (kind === 'array')
        putList(value.length, (i) => value[i], path);
    else if (kind === 'map')
        writeMap(value, path);
    else if (kind === 'set') {
        const items = listOf();
        apply(setForEach, value, [(item) => { add(items, item); }]);
        putList(items.n, (i) => items[i], path);
    } else if (isOpaque(value))
        putText(value, path);
    else
        putObject(value, path);
    leave();
}

// `name` says where the value is, below `path`, for messages.
function write(value, path, name, inside) {
    switch (typeof value) {
    case 'string': putString(value); return;
    case 'number': putNumber(value); return;
    case 'boolean': put(value ? 'true' : 'false'); return;
    case 'undefined': put('null'); return;
    case 'bigint': putBigInt(value); return;
    case 'object':
        if (value === null) {
            put('null');
            return;
        }
        break;
    default:
        putText(value, inside ? pathOf(path, name) : path);
        return;
    }
    const where = inside ? pathOf(path, name) : path;
    const kind = quickKind(value) || kindOf(value);
    const toJSON = kind === 'date' || kind === 'typed' || kind === 'view' ? undefined : value.toJSON;
    if (typeof toJSON === 'function') {
        enter(value, where);
        write(apply(toJSON, value, [inside ? '' + name : '']), where, 'toJSON()', false);
        leave();
    } else
        writeObject(value, kind, where);
}

function pathOf(path, name) {
    return stack?.n > 20 ? path : typeof name === 'number' ? path + '[' + name + ']' : path + '.' + name;
}

function whole(value, limit, result, what) {
    const before = written, chunkBefore = chunk, mostBefore = most, stackBefore = stack, resultBefore = forResult;
    written = chunk = '';
    most = limit;
    stack = undefined;
    forResult = result;
    try {
        write(value, what, '', false);
        return written + chunk;
    } finally {
        written = before;
        chunk = chunkBefore;
        most = mostBefore;
        stack = stackBefore;
        forResult = resultBefore;
    }
}

// The text of the value of an execution; undefined: it is larger than `limit`. Throws why it has none.
exports.writeResult = function (value, limit) {
    try {
        return whole(value, limit, true, 'the value');
    } catch (error) {
        if (error === tooLarge)
            return undefined;
        throw error;
    }
};

// The text of an argument of a tool. Throws a TypeError that begins with `what`.
exports.writeArgument = function (value, what) {
    try {
        return whole(value, 0x3fffffff, false, what);
    } catch (error) {
        if (error === tooLarge)
            throw new TooDeep(what + ' is too large');
        throw error;
    }
};

// ---- reading ---------------------------------------------------------------------------------------

const tags = {
    __proto__: null,
    $num: (text) => text === 'NaN' ? NaN : text === 'Inf' ? Infinity : text === '-Inf' ? -Infinity : undefined,
    $int: (text) => apply(RegExpExec, /^-?[0-9]+$/, [text]) ? toBigInt(text) : undefined,
    $bytes: (text) => fromBase64(text),
    $date: dateOf,
    $time: dateOf,
    $na: () => null,
    $factor: (factor) => revive(factor.values),
    $frame(frame) {
        const columns = {};
        for (let i = 0; i < frame.names.length; i++)
            own(columns, frame.names[i], revive(frame.columns[i]));
        return columns;
    },
    $map(entries) {
        const map = new MapOf();
        for (let i = 0; i < entries.length; i++)
            apply(setMap, map, [revive(entries[i][0]), revive(entries[i][1])]);
        return map;
    },
    $repr: (text) => text,
};

function dateOf(text) {
    const date = new DateOf(text), time = apply(getTime, date, []);
    return time === time ? date : undefined;
}

// A member of its own, whatever setters there are in the prototype.
function own(object, name, value) {
    defineProperty(object, name, { __proto__: null, value, writable: true, configurable: true, enumerable: true });
}

// Replaces tagged forms; whatever is not valid for its tag stays an object.
function revive(value) {
    if (value === null || typeof value !== 'object')
        return value;
    if (isArray(value)) {
        for (let i = 0; i < value.length; i++)
            value[i] = revive(value[i]);
        return value;
    }
    const names = keysOf(value);
    if (names.length === 1 && tags[names[0]]) {
        let result;
        try {
            result = tags[names[0]](value[names[0]]);
        } catch {
        }
        if (result !== undefined)
            return result;
    }
    for (let i = 0; i < names.length; i++)
        value[names[i]] = revive(value[names[i]]);
    return value;
}

exports.read = function (text) {
    const value = parse(text);
    return call2(indexOf, text, '"$') < 0 ? value : revive(value);
};

exports.rows = function (columns) {
    const names = keysOf(columns), rows = [];
    for (let i = 0; names.length && i < columns[names[0]].length; i++) {
        const row = {};
        for (let j = 0; j < names.length; j++)
            own(row, names[j], columns[names[j]][i]);
        own(rows, i, row);
    }
    return rows;
};
