// equal.js - deep equality, strict (types and prototypes count) or loose (== between primitives).
const { getPrototypeOf, getOwnPropertySymbols, keys: enumerableNames, is } = Object;
const { hasOwnProperty, propertyIsEnumerable, toString: objectString } = Object.prototype;
const { apply } = Reflect;
const { isArray } = Array;
const { branded } = internal('brands');

const isObject = (value) => value !== null && typeof value === 'object';

// `pairs` has the objects that are being compared, with what each is compared to.
function same(a, b, strict, pairs) {
    if (a === b) return !strict || a !== 0 || is(a, b);
    if (!isObject(a) || !isObject(b)) {
        if (a !== a && b !== b) return true;
        return !strict && !isObject(a) && !isObject(b) && a == b;
    }
    if (strict && getPrototypeOf(a) !== getPrototypeOf(b)) return false;
    if (apply(objectString, a, []) !== apply(objectString, b, [])) return false;
    if (isArray(a) !== isArray(b) || (isArray(a) && a.length !== b.length)) return false;
    if (pairs.has(a)) return pairs.get(a) === b;
    pairs.set(a, b);
    const found = branded(a);
    const result =
        found?.kind === branded(b)?.kind &&
        (contents[found?.kind] ?? whatever)(a, b, strict, pairs, found) &&
        sameKeys(a, b, strict, pairs, found);
    pairs.delete(a);
    return result;
}

function bytesOf(value) {
    return isArrayBufferView(value)
        ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
        : new Uint8Array(value);
}
const isArrayBufferView = ArrayBuffer.isView;
function sameBytes(a, b) {
    a = bytesOf(a);
    b = bytesOf(b);
    if (a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
    return true;
}
const whatever = () => true;
const contents = {
    __proto__: null,
    date: (a, b) => is(a.getTime(), b.getTime()),
    regexp: (a, b) => a.source === b.source && a.flags === b.flags && a.lastIndex === b.lastIndex,
    error: (a, b, strict, pairs) =>
        a.message === b.message &&
        a.name === b.name &&
        ['cause', 'errors'].every(
            (key) =>
                apply(hasOwnProperty, a, [key]) === apply(hasOwnProperty, b, [key]) &&
                same(a[key], b[key], strict, pairs)
        ),
    boxed: (a, b, strict, pairs, found) => {
        try {
            return is(apply(found.probe, a, []), apply(found.probe, b, []));
        } catch {
            return false; // of two types
        }
    },
    buffer: sameBytes,
    view: sameBytes,
    typed: (a, b, strict) =>
        strict || !/^(?:\[object Float)/.test(apply(objectString, a, []))
            ? sameBytes(a, b)
            : a.length === b.length && a.every((value, i) => value === b[i]),
    set(a, b, strict, pairs) {
        if (a.size !== b.size) return false;
        let left;
        for (const item of a) {
            if (b.has(item)) continue;
            if (strict && !isObject(item)) return false;
            left ??= new Set([...b].filter((other) => !a.has(other)));
            if (!take(left, (other) => same(item, other, strict, pairs))) return false;
        }
        return true;
    },
    map(a, b, strict, pairs) {
        if (a.size !== b.size) return false;
        let left;
        for (const [key, value] of a) {
            if (b.has(key)) {
                if (!same(value, b.get(key), strict, pairs)) return false;
                continue;
            }
            if (strict && !isObject(key)) return false;
            left ??= new Set([...b.keys()].filter((other) => !a.has(other)));
            const fits = (other) =>
                same(key, other, strict, pairs) && same(value, b.get(other), strict, pairs);
            if (!take(left, fits)) return false;
        }
        return true;
    },
};
// Removes one that fits.
function take(set, fits) {
    for (const item of set)
        if (fits(item)) {
            set.delete(item);
            return true;
        }
    return false;
}

function sameKeys(a, b, strict, pairs, found) {
    if (found?.kind === 'typed' || found?.kind === 'buffer') return true;
    const names = enumerableNames(a);
    if (names.length !== enumerableNames(b).length) return false;
    if (strict) {
        const symbols = shownSymbols(a);
        if (symbols.length !== shownSymbols(b).length) return false;
        names.push(...symbols);
    }
    return names.every(
        (key) => apply(propertyIsEnumerable, b, [key]) && same(a[key], b[key], strict, pairs)
    );
}
const shownSymbols = (object) =>
    getOwnPropertySymbols(object).filter((key) => apply(propertyIsEnumerable, object, [key]));

exports.equal = (a, b, strict) => same(a, b, strict, new Map());
