// util.js - the module util.
const { inspect } = internal('inspect');
const { format, formatWithOptions } = internal('format');
const { withoutCodes, colors } = internal('text');
const { branded, behind, isError, prototypeOf, typedName } = internal('brands');
const { coded } = internal('stacks');
const { wrongType } = internal('errors');
const { apply } = Reflect;
const { toString: objectString } = Object.prototype;

function needFunction(name, value) {
    if (typeof value !== 'function') throw wrongType(name, 'of type function', value);
}

// ---- functions with callbacks, and promises --------------------------------------------------------

function promisify(original) {
    needFunction('original', original);
    const own = original[promisify.custom];
    if (own !== undefined) {
        needFunction('util.promisify.custom', own);
        return Object.defineProperty(own, promisify.custom, { value: own, configurable: true });
    }
    function promised(...list) {
        return new Promise((resolve, reject) => {
            apply(original, this, [
                ...list,
                (error, value) => (error ? reject(error) : resolve(value)),
            ]);
        });
    }
    Object.setPrototypeOf(promised, Object.getPrototypeOf(original));
    Object.defineProperties(promised, Object.getOwnPropertyDescriptors(original));
    return Object.defineProperty(promised, promisify.custom, {
        value: promised,
        configurable: true,
    });
}
promisify.custom = Symbol.for('nodejs.util.promisify.custom');

function callbackify(original) {
    needFunction('original', original);
    function called(...list) {
        const done = list.pop();
        needFunction('last argument', done);
        const later = (...results) => queueMicrotask(() => apply(done, this, results));
        apply(original, this, list).then(
            (value) => later(null, value),
            (reason) => {
                if (!reason) {
                    const error = coded(
                        new Error('Promise was rejected with falsy value'),
                        'ERR_FALSY_VALUE_REJECTION'
                    );
                    error.reason = reason;
                    reason = error;
                }
                later(reason);
            }
        );
    }
    Object.setPrototypeOf(called, Object.getPrototypeOf(original));
    Object.defineProperty(called, 'name', {
        value: `${original.name}Callbackified`,
        configurable: true,
    });
    Object.defineProperty(called, 'length', { value: original.length + 1, configurable: true });
    return called;
}

function inherits(type, above) {
    needFunction('ctor', type);
    needFunction('superCtor', above);
    if (above.prototype === undefined)
        throw wrongType('superCtor.prototype', 'of type object', above.prototype);
    Object.defineProperty(type, 'super_', { value: above, writable: true, configurable: true });
    Object.setPrototypeOf(type.prototype, above.prototype);
}

const warned = new Set();
function deprecate(original, message, code) {
    let done = false;
    function deprecated(...list) {
        if (!done && !(code !== undefined && warned.has(code))) {
            warned.add(code);
            native.output(
                2,
                `${code === undefined ? '' : `[${code}] `}DeprecationWarning: ${message}\n`
            );
        }
        done = true;
        return new.target
            ? Reflect.construct(original, list, new.target)
            : apply(original, this, list);
    }
    Object.setPrototypeOf(deprecated, original);
    if (original.prototype) deprecated.prototype = original.prototype;
    return deprecated;
}

function debuglog() {
    const log = () => {};
    log.enabled = false;
    return log;
}

function styleText(style, text) {
    if (typeof text !== 'string') throw wrongType('text', 'of type string', text);
    let left = '',
        right = '';
    for (const name of Array.isArray(style) ? style : [style]) {
        const codes = colors[name];
        if (codes === undefined) {
            const names = Object.keys(colors).map((key) => `'${key}'`);
            throw coded(
                new TypeError(
                    `The argument 'format' must be one of: ${names.join(', ')}. Received ${inspect(name)}`
                ),
                'ERR_INVALID_ARG_VALUE'
            );
        }
        left += `\x1b[${codes[0]}m`;
        right = `\x1b[${codes[1]}m${right}`;
    }
    return left + text + right;
}

function stripVTControlCharacters(text) {
    if (typeof text !== 'string') throw wrongType('str', 'of type string', text);
    return withoutCodes(text);
}

// ---- types -----------------------------------------------------------------------------------------

const isObject = (value) => value !== null && typeof value === 'object';
const isProxy = (value) =>
    (isObject(value) || typeof value === 'function') && behind(value) !== undefined;
const kindOf = (value) => (isObject(value) && !isProxy(value) ? branded(value) : undefined);
const named = (kind, name) => (value) => {
    const found = kindOf(value);
    return (
        found !== undefined && found.kind === kind && (name === undefined || found.name === name)
    );
};
// Tags of the language that code seldom gives to objects of its own.
const tagged =
    (type, ...tags) =>
    (value) =>
        value !== null &&
        typeof value === type &&
        tags.includes(apply(objectString, value, []).slice(8, -1));
const types = {
    isDate: named('date'),
    isRegExp: named('regexp'),
    isNativeError: (value) => isObject(value) && isError(value),
    isMap: named('map'),
    isSet: named('set'),
    isWeakMap: named('weak', 'WeakMap'),
    isWeakSet: named('weak', 'WeakSet'),
    isPromise: (value) => value instanceof Promise,
    isArrayBuffer: named('buffer', 'ArrayBuffer'),
    isSharedArrayBuffer: named('buffer', 'SharedArrayBuffer'),
    isAnyArrayBuffer: named('buffer'),
    isDataView: named('view'),
    isArrayBufferView: ArrayBuffer.isView,
    isTypedArray: named('typed'),
    isBoxedPrimitive: named('boxed'),
    isArgumentsObject: tagged('object', 'Arguments'),
    isAsyncFunction: tagged('function', 'AsyncFunction', 'AsyncGeneratorFunction'),
    isGeneratorFunction: tagged('function', 'GeneratorFunction', 'AsyncGeneratorFunction'),
    isGeneratorObject: tagged('object', 'Generator', 'AsyncGenerator'),
    isMapIterator: tagged('object', 'Map Iterator'),
    isSetIterator: tagged('object', 'Set Iterator'),
    isModuleNamespaceObject: (value) =>
        isObject(value) && prototypeOf(value) === null && tagged('object', 'Module')(value),
    isProxy,
    isExternal: () => false,
    isKeyObject: () => false,
    isCryptoKey: tagged('object', 'CryptoKey'),
};
for (const name of ['Number', 'String', 'Boolean', 'Symbol', 'BigInt'])
    types[`is${name}Object`] = named('boxed', name);
for (const name of [
    'Uint8',
    'Uint8Clamped',
    'Uint16',
    'Uint32',
    'Int8',
    'Int16',
    'Int32',
    'Float32',
    'Float64',
    'BigInt64',
    'BigUint64',
])
    types[`is${name}Array`] = (value) =>
        isObject(value) && apply(typedName, value, []) === `${name}Array`;

Object.assign(exports, {
    callbackify,
    debug: debuglog,
    debuglog,
    deprecate,
    format,
    formatWithOptions,
    inherits,
    inspect,
    isArray: Array.isArray,
    isDeepStrictEqual: (a, b) => internal('equal').equal(a, b, true),
    promisify,
    stripVTControlCharacters,
    styleText,
    toUSVString: (text) => `${text}`.toWellFormed(),
    types,
    _extend: (target, source) => (isObject(source) ? Object.assign(target, source) : target),
    // of old programs
    isBoolean: (value) => typeof value === 'boolean',
    isNull: (value) => value === null,
    isNullOrUndefined: (value) => value === null || value === undefined,
    isNumber: (value) => typeof value === 'number',
    isString: (value) => typeof value === 'string',
    isSymbol: (value) => typeof value === 'symbol',
    isUndefined: (value) => value === undefined,
    isRegExp: types.isRegExp,
    isObject,
    isDate: types.isDate,
    isError: types.isNativeError,
    isFunction: (value) => typeof value === 'function',
    isPrimitive: (value) => !isObject(value) && typeof value !== 'function',
});
for (const name of ['TextEncoder', 'TextDecoder'])
    Object.defineProperty(exports, name, {
        get: () => internal('encoding')[name],
        enumerable: true,
        configurable: true,
    });
