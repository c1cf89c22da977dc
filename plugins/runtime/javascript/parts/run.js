// run.js - what an execution needs: names that live on, its promise, its errors, its text.
// The host reads what these functions give, so they use nothing that code can change.
const { defineProperty, getOwnPropertyDescriptor, getOwnPropertyNames, getPrototypeOf, setPrototypeOf } = Object;
const { apply } = Reflect;
const then = Promise.prototype.then;
const { indexOf, lastIndexOf, slice, split, startsWith, trim } = String.prototype;
const { includes, push } = Array.prototype;
const toNumber = Number, toText = String, ErrorPrototype = Error.prototype;
const OutOfMemory = RangeError.prototype; // what the engine makes it of
const call = (f, self, ...args) => apply(f, self, args);

const KIND_RUNTIME = 1, KIND_MEMORY = 3, KIND_FSIZE = 6, FRAMES = 200;

function hidden(name, value) {
    defineProperty(globalThis, name, { value, writable: false, configurable: false, enumerable: false });
}

// ---- names ---------------------------------------------------------------------------------------

// What a name stands for now. Undefined: nothing, or a variable without a value.
function present(old) {
    try {
        return old.get ? apply(old.get, globalThis, []) : old.value;
    } catch {
        return undefined;
    }
}

// A variable or function of the code that comes is a property that can be defined again. A variable keeps the value that
// it has; one that is local in the code gets it when the code begins.
const kept = [];
exports.define = function (name, isLocal) {
    const old = getOwnPropertyDescriptor(globalThis, name);
    if (isLocal) {
        if (old)
            call(push, kept, name);
        return;
    }
    if (old && (!old.configurable || (!old.get && !old.set)))
        return;
    defineProperty(globalThis, name,
        { __proto__: null, value: old && present(old), writable: true, configurable: true, enumerable: true });
};

function inherit(variable, value) {
    try {
        if (variable.get() === undefined)
            variable.set(value);
    } catch { // code that did not run named it: here it is no `var`
    }
}

// The names that code declares at its top level: accessors of its own variables.
hidden('__publish', function (names) {
    const keys = getOwnPropertyNames(names);
    for (let i = 0; i < keys.length; i++) {
        const accessor = getOwnPropertyDescriptor(names, keys[i]);
        const old = getOwnPropertyDescriptor(globalThis, keys[i]);
        if (old && !old.configurable) {
            if (internal('tools').isTool(keys[i]))
                throw new TypeError(internal('tools').refusal(keys[i]));
            continue; // of the language: undefined, NaN, Infinity, globalThis
        }
        setPrototypeOf(accessor, null);
        accessor.enumerable = false;
        if (old && kept.length && call(includes, kept, keys[i]))
            inherit(accessor, present(old));
        defineProperty(globalThis, keys[i], accessor);
    }
    kept.length = 0;
});

// ---- where it waits ------------------------------------------------------------------------------

let line = 0;
hidden('__at', (number) => { line = number; });
exports.where = () => line;

// ---- modules -------------------------------------------------------------------------------------

let script = null, directory = null;
exports.script = () => script;
exports.directory = () => directory;
exports.argv = [];
exports.begin = function (argv, place) {
    exports.argv = argv;
    script = argv[0];
    directory = place;
    return true;
};
hidden('__import', function (name, options) {
    return internal('modules').importModule(name, script, options);
});
hidden('__named', (namespace, name) => internal('modules').named(namespace, name));
defineProperty(globalThis, '__meta', {
    get: () => internal('modules').metaOf(script), configurable: false, enumerable: false,
});

// ---- the promise of an execution -------------------------------------------------------------------

// The promise of an earlier execution, which was never settled in it, may be in a later one.
let outcome, followed = 0;
exports.follow = function (value) {
    const number = ++followed;
    const end = (ok, result) => {
        if (number === followed)
            outcome = [ok, result];
    };
    outcome = undefined;
    try {
        apply(then, value, [(result) => end(true, result), (error) => end(false, error)]);
    } catch {
        return false; // it is no promise
    }
    return true;
};
exports.outcome = () => outcome;

exports.uncaught = function (error) {
    const process = internal.loaded('process');
    return Boolean(process && process.uncaught && process.uncaught(error));
};
exports.rejected = function (promise, reason) {
    const process = internal.loaded('process');
    if (process && process.unhandled && process.unhandled(reason, promise))
        return;
    native.fail(reason);
};
exports.ending = function () {
    const process = internal.loaded('process');
    if (process)
        process.beforeExit();
    return true;
};
exports.finish = function () {
    const process = internal.loaded('process');
    if (!process)
        return 0;
    process.finish();
    return process.status() ?? 0;
};

// ---- errors ----------------------------------------------------------------------------------------

function isError(value, prototype = ErrorPrototype) {
    if (value === null || typeof value !== 'object')
        return false;
    try {
        for (let p = value, i = 0; p !== null && i < 100; p = getPrototypeOf(p), i++)
            if (p === prototype)
                return true;
    } catch {
    }
    return false;
}

function field(object, name) {
    try {
        const value = object[name];
        return value === undefined ? undefined : value;
    } catch {
        return undefined;
    }
}

function textOf(value) {
    if (native.hasPart('inspect')) {
        try {
            return internal('inspect').inspect(value, { budget: 10000 });
        } catch {
        }
    }
    try {
        return toText(value);
    } catch {
        return 'a value without a text';
    }
}

function headOf(error) {
    const name = field(error, 'name'), message = field(error, 'message');
    const head = name === undefined ? 'Error' : typeof name === 'string' ? name : textOf(name);
    const text = message === undefined ? '' : typeof message === 'string' ? message : textOf(message);
    return text === '' ? head : head === '' ? text : head + ': ' + text;
}

function meant(error) {
    const message = field(error, 'message');
    try {
        return typeof message === 'string' ? internal('tools').meant(message) : '';
    } catch {
        return '';
    }
}

function messageOf(error, depth) {
    if (!isError(error))
        return (depth ? '' : 'Uncaught ') + textOf(error);
    let text = headOf(error) + meant(error);
    if (depth > 4)
        return text;
    const errors = field(error, 'errors');
    if (field(error, 'name') === 'AggregateError' && errors && typeof errors === 'object') {
        const n = toNumber(field(errors, 'length'));
        for (let i = 0; i < n && i < 10; i++)
            text += '\n  ' + messageOf(field(errors, i), depth + 1);
    }
    const cause = field(error, 'cause');
    if (cause !== undefined)
        text += '\n  cause: ' + messageOf(cause, depth + 1);
    return text;
}

// 'name@file:line:column', a line of the engine's stack. Null: no place in code.
function frameOf(entry) {
    const at = call(lastIndexOf, entry, '@');
    const place = call(slice, entry, at + 1);
    const last = call(lastIndexOf, place, ':');
    const before = last > 0 ? call(lastIndexOf, place, ':', last - 1) : -1;
    if (before <= 0)
        return null;
    const file = call(slice, place, 0, before);
    if (call(startsWith, file, 'lazaret:'))
        return null;
    let column = toNumber(call(slice, place, last + 1));
    const row = toNumber(call(slice, place, before + 1, last));
    if (!(row >= 1) || !(column >= 0))
        return null;
    const own = file === script || call(startsWith, file, '<code');
    if (own)
        column = native.column(file, row, column);
    let name = at > 0 ? call(slice, entry, 0, at) : '';
    if (name === 'global code' || name === 'eval code' || name === 'module code')
        name = '';
    const where = file + ':' + row + (column ? ':' + column : '');
    return { own, row, column, times: 1, text: name === '' ? 'at ' + where : 'at ' + name + ' (' + where + ')' };
}

function framesOf(error) {
    const stack = field(error, 'stack'), frames = { __proto__: null, n: 0 };
    if (typeof stack !== 'string')
        return frames;
    const lines = call(split, stack, '\n', 2 * FRAMES);
    for (let i = 0; i < lines.length && frames.n < FRAMES; i++) {
        const frame = frameOf(lines[i]), last = frames[frames.n - 1];
        if (frame && last && last.text === frame.text)
            last.times++;
        else if (frame)
            frames[frames.n++] = frame;
    }
    return frames;
}

function kindOf(error) {
    if (!isError(error))
        return KIND_RUNTIME;
    const message = field(error, 'message');
    if (field(error, 'code') === 'EFBIG')
        return KIND_FSIZE;
    if (isError(error, OutOfMemory) && (message === 'Out of memory' || message === 'Out of memory: '))
        return KIND_MEMORY;
    return KIND_RUNTIME;
}

// [message, line, column, kind, number of frames, frames from the outermost on], without a prototype: its
// indexes may have setters.
exports.describe = function (error) {
    const frames = isError(error) ? framesOf(error) : { __proto__: null, n: 0 };
    let row = 0, column = 0;
    for (let i = 0; i < frames.n; i++)
        if (frames[i].own) {
            row = frames[i].row;
            column = frames[i].column;
            break;
        }
    if (!row && isError(error)) {
        const file = field(error, 'sourceURL');
        if (typeof file === 'string' && (file === script || call(startsWith, file, '<code'))) {
            row = toNumber(field(error, 'line')) || 0;
            column = native.column(file, row, toNumber(field(error, 'column')) || 0);
        }
    }
    const result = { __proto__: null, 0: messageOf(error, 0), 1: row, 2: column, 3: kindOf(error), 4: frames.n };
    for (let i = 0; i < frames.n; i++) {
        const { text, times } = frames[frames.n - 1 - i];
        result[5 + i] = times > 1 ? text + ', ' + times + ' times' : text;
    }
    return result;
};

// ---- the text of a value -----------------------------------------------------------------------------

exports.text = function (value, budget) {
    if (!native.hasPart('inspect'))
        return textOf(value);
    return internal('inspect').inspect(value, { budget });
};

// ---- what differs between copies of a template -------------------------------------------------------

// xoshiro128** (Blackman, Vigna 2018), with 53 bits of two numbers.
let s0 = 1, s1 = 2, s2 = 3, s3 = 4;
const { imul } = Math;
function next() {
    const five = imul(s1, 5), turned = (five << 7) | (five >>> 25), t = s1 << 9;
    s2 ^= s0;
    s3 ^= s1;
    s1 ^= s2;
    s0 ^= s3;
    s2 ^= t;
    s3 = (s3 << 11) | (s3 >>> 21);
    return imul(turned, 9);
}
defineProperty(Math, 'random', {
    value: { random() { return ((next() >>> 5) * 67108864 + (next() >>> 6)) / 9007199254740992; } }.random,
    writable: true, configurable: true, enumerable: false,
});
exports.renew = function (a, b, c, d) {
    s0 = a | 0;
    s1 = b | 0;
    s2 = c | 0;
    s3 = d | 1;
    return true;
};
