// clone.js - structuredClone: what a value is, is asked of the intrinsics, not of its constructor.
const { coded } = internal('errors');
const { keys, defineProperty, getPrototypeOf, getOwnPropertyDescriptor, hasOwn } = Object;
const { isArray } = Array;
const { isView } = ArrayBuffer;
const { apply } = Reflect;
const getter = (object, name) => getOwnPropertyDescriptor(object, name).get;
const objectText = Object.prototype.toString;
const typedArray = getPrototypeOf(Uint8Array.prototype);
const viewKind = getter(typedArray, Symbol.toStringTag);
const viewLength = getter(typedArray, 'length');
const viewBuffer = getter(typedArray, 'buffer');
const viewOffset = getter(typedArray, 'byteOffset');
const bufferLength = getter(ArrayBuffer.prototype, 'byteLength');
const bufferDetached = getter(ArrayBuffer.prototype, 'detached');
const { slice: bufferSlice, transfer: bufferTransfer } = ArrayBuffer.prototype;
const views = new Map([Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array,
    Float32Array, Float64Array, BigInt64Array, BigUint64Array, globalThis.Float16Array].filter(Boolean)
    .map(Class => [Class.name, Class]));
const errors = new Map([Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError]
    .map(Class => [Class.name, Class]));
const isError = Error.isError ?? (value => value instanceof Error);
const unclonable = /^\[object (?:Arguments|Promise|Weak(?:Map|Set|Ref)|FinalizationRegistry|(?:Async)?Generator|.* Iterator)\]$/;

const refuse = message => {
    const { DOMException } = internal('exception');
    throw new DOMException(message, 'DataCloneError');
};
const refuseValue = value => {
    const shown = typeof value !== 'object' ? String(value)
        : `#<${getPrototypeOf(value)?.constructor?.name || 'Object'}>`;
    refuse(`${shown} could not be cloned.`);
};

// The result of a method that only works on objects of one kind; undefined for others.
const asked = (method, value) => {
    try {
        return apply(method, value, []);
    } catch {
        return undefined;
    }
};
const regularFlags = getter(RegExp.prototype, 'flags');
const regularSource = getter(RegExp.prototype, 'source');
const boxes = [Number, String, Boolean, BigInt, Symbol].map(Class => Class.prototype.valueOf);

const cloner = moved => {
    const seen = new Map();
    const note = (value, copy) => {
        seen.set(value, copy);
        return copy;
    };
    const fill = (value, copy) => {
        for (const key of keys(value)) {
            // A getter may have deleted it.
            if (!hasOwn(value, key)) continue;
            const item = clone(value[key]);
            if (key === '__proto__') {
                defineProperty(copy, key, { value: item, writable: true, enumerable: true, configurable: true });
            } else {
                copy[key] = item;
            }
        }
        return copy;
    };
    const cloneBuffer = value => {
        if (moved.has(value)) return moved.get(value);
        if (apply(bufferDetached, value, [])) refuse('An ArrayBuffer is detached and could not be cloned.');
        return note(value, apply(bufferSlice, value, [0]));
    };
    const cloneView = value => {
        const kind = apply(viewKind, value, []);
        if (kind === undefined) {
            const buffer = clone(value.buffer);
            return note(value, new DataView(buffer, value.byteOffset, value.byteLength));
        }
        const buffer = clone(apply(viewBuffer, value, []));
        const [offset, length] = [apply(viewOffset, value, []), apply(viewLength, value, [])];
        return note(value, buffer === null ? null : new (views.get(kind))(buffer, offset, length));
    };
    const cloneError = value => {
        const name = `${value.name}`;
        const Class = errors.get(name) ?? Error;
        const message = getOwnPropertyDescriptor(value, 'message');
        const copy = note(value, message && 'value' in message ? new Class(`${message.value}`) : new Class());
        const add = (key, item) => defineProperty(copy, key,
            { value: item, writable: true, configurable: true, enumerable: false });
        if (typeof value.stack === 'string') add('stack', value.stack);
        if (hasOwn(value, 'cause')) add('cause', clone(value.cause));
        return copy;
    };
    const cloneBox = value => {
        for (const valueOf of boxes) {
            const inner = asked(valueOf, value);
            if (inner === undefined) continue;
            if (typeof inner === 'symbol') refuse('[object Symbol] could not be cloned.');
            return note(value, Object(inner));
        }
        return undefined;
    };
    // Objects with more than their properties; undefined: this is none.
    const cloneSpecial = value => {
        if (isView(value)) return cloneView(value);
        if (asked(bufferLength, value) !== undefined) return cloneBuffer(value);
        const time = asked(Date.prototype.getTime, value);
        if (time !== undefined) return note(value, new Date(time));
        const entries = asked(Map.prototype.entries, value);
        if (entries) {
            const copy = note(value, new Map());
            for (const [key, item] of [...entries]) copy.set(clone(key), clone(item));
            return copy;
        }
        const items = asked(Set.prototype.values, value);
        if (items) {
            const copy = note(value, new Set());
            for (const item of [...items]) copy.add(clone(item));
            return copy;
        }
        if (isError(value)) return cloneError(value);
        const source = value === RegExp.prototype ? undefined : asked(regularSource, value);
        if (source !== undefined) return note(value, new RegExp(source, apply(regularFlags, value, [])));
        return cloneBox(value);
    };
    const clone = value => {
        if (typeof value === 'function' || typeof value === 'symbol') refuseValue(value);
        if (typeof value !== 'object' || value === null) return value;
        if (seen.has(value)) return seen.get(value);
        if (native.isProxy(value)) refuse(`#<${isArray(value) ? 'Array' : 'Object'}> could not be cloned.`);
        if (isArray(value)) return fill(value, note(value, new Array(value.length)));
        const text = apply(objectText, value, []);
        if (text !== '[object Object]') {
            const copy = cloneSpecial(value);
            if (copy !== undefined) return copy;
            if (unclonable.test(text)) refuseValue(value);
        }
        return fill(value, note(value, {}));
    };
    return clone;
};

function structuredClone(value, options) {
    if (arguments.length === 0) throw coded(TypeError, 'ERR_MISSING_ARGS', 'The value argument must be specified');
    const moved = new Map();
    for (const buffer of options?.transfer ?? []) {
        if (asked(bufferLength, buffer) === undefined) {
            throw coded(TypeError, 'ERR_INVALID_TRANSFER_OBJECT', 'Found invalid object in transferList');
        }
        if (moved.has(buffer)) refuse('Transfer list contains duplicate ArrayBuffer');
        if (apply(bufferDetached, buffer, [])) refuse('An ArrayBuffer is detached and could not be cloned.');
        moved.set(buffer, new ArrayBuffer(apply(bufferLength, buffer, [])));
    }
    const copy = cloner(moved)(value);
    // Nothing is taken away before it is known that all can be cloned.
    for (const [from, to] of moved) {
        new Uint8Array(to).set(new Uint8Array(from));
        apply(bufferTransfer, from, [0]);
    }
    return copy;
}
exports.structuredClone = structuredClone;
