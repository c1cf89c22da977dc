// brands.js - what kind of object a value is, without asking the value.
// Values are of untrusted code: what a getter or a trap of theirs throws is taken as "not there".
const { getOwnPropertyDescriptor: own, getPrototypeOf } = Object;
const { apply } = Reflect;
const { isArray } = Array;
const { toString: objectString } = Object.prototype;
const { proxyTarget } = native;

// The getter of a property.
const getter = (object, key) => own(object, key).get;

function read(object, key) {
    try {
        return object[key];
    } catch {
        return undefined;
    }
}

// "[object Arguments]" and the like.
function languageTag(value) {
    try {
        return apply(objectString, value, []);
    } catch {
        return '';
    }
}

// Brands: prototypes of the language, with a function that fails or says undefined for objects
// that only inherit from them.
const brands = new Map();
const brandOf = brands.get.bind(brands);
function brand(kind, type, probe) {
    if (typeof type === 'function')
        brands.set(type.prototype, { kind, name: type.name, probe, type });
}
const typedPrototype = getPrototypeOf(Uint8Array.prototype);
const typedName = getter(typedPrototype, Symbol.toStringTag);
const mapSize = getter(Map.prototype, 'size');
const setSize = getter(Set.prototype, 'size');
const { getTime } = Date.prototype;
brand('map', Map, mapSize);
brand('set', Set, setSize);
brand('date', Date, getTime);
brand('regexp', RegExp, getter(RegExp.prototype, 'global'));
brand('error', Error, () => true);
brand('promise', Promise, false); // the engine does not tell its state
brand('buffer', ArrayBuffer, getter(ArrayBuffer.prototype, 'byteLength'));
if (typeof SharedArrayBuffer === 'function')
    brand('buffer', SharedArrayBuffer, getter(SharedArrayBuffer.prototype, 'byteLength'));
brand('view', DataView, getter(DataView.prototype, 'buffer'));
for (const type of [WeakMap, WeakSet]) {
    const { has } = type.prototype;
    brand('weak', type, function () {
        return apply(has, this, [brands]);
    });
}
for (const type of [Number, String, Boolean, Symbol, BigInt])
    brand('boxed', type, type.prototype.valueOf);
brands.set(typedPrototype, { kind: 'typed', probe: typedName });

function holds(found, value) {
    try {
        return found.probe === undefined || apply(found.probe, value, []) !== undefined;
    } catch {
        return false;
    }
}
// The brand of an object, or undefined for ordinary ones.
function branded(value) {
    let object = value;
    for (let steps = 0; steps < 100 && (object = prototypeOf(object)) !== null; steps++) {
        const found = brandOf(object);
        if (found !== undefined && holds(found, value)) return found;
    }
    if (object === null) {
        const last = prototypeOf(value);
        if (last === null && value !== Object.prototype) {
            for (const found of brands.values())
                if (
                    (found.kind !== 'error' || languageTag(value) === '[object Error]') &&
                    found.probe !== undefined &&
                    holds(found, value)
                )
                    return found;
        }
    }
    return undefined;
}
function prototypeOf(object) {
    try {
        return getPrototypeOf(object);
    } catch {
        return null;
    }
}
function isInstance(value, type) {
    try {
        return value instanceof type;
    } catch {
        return false;
    }
}

// What is behind a proxy, without running its traps: undefined for what is none, null for one
// that was revoked. Without native.proxyTarget a proxy is taken as an ordinary object.
function behind(value) {
    const target =
        proxyTarget === undefined || value === globalThis ? undefined : proxyTarget(value);
    if (target === undefined || target === null) return target;
    try {
        isArray(value);
    } catch {
        return null;
    }
    return target;
}

function isError(value) {
    return value !== null && typeof value === 'object' && branded(value)?.kind === 'error';
}

Object.assign(exports, {
    getter,
    read,
    typedName,
    typedPrototype,
    mapSize,
    setSize,
    getTime,
    branded,
    prototypeOf,
    isInstance,
    languageTag,
    behind,
    isError,
});
