// globals.js - names of the global object that are not the language's own: where each comes from.
// They are loaded when they are used first.
const table = {
    atob: 'encoding', btoa: 'encoding', TextDecoder: 'encoding', TextEncoder: 'encoding',
    structuredClone: 'clone',
    AbortController: 'events', AbortSignal: 'events', CustomEvent: 'events', DOMException: 'exception',
    Event: 'events', EventTarget: 'events',
    URL: 'url', URLSearchParams: 'url',
    Buffer: 'buffer',
    Blob: 'blob', File: 'blob', FormData: 'blob',
    image: 'surface', load: 'surface', store: 'surface', text: 'surface',
    fetch: 'fetch', Headers: 'fetch', Request: 'fetch', Response: 'fetch',
    ReadableStream: 'streams', ReadableStreamDefaultController: 'streams', ReadableStreamDefaultReader: 'streams',
    TextDecoderStream: 'streams', TextEncoderStream: 'streams', TransformStream: 'streams', WritableStream: 'streams',
    clearImmediate: 'timers', clearInterval: 'timers', clearTimeout: 'timers', setImmediate: 'timers',
    setInterval: 'timers', setTimeout: 'timers',
};
// Objects that are the exports of a part, or one of them.
const objects = {
    console: ['console', 'console'], crypto: ['crypto', 'webcrypto'], lazaret: ['surface', 'lazaret'],
    performance: ['performance', 'performance'], process: ['process', 'process'],
    require: ['modules', 'require'], tools: ['tools', 'tools'],
};
const define = Object.defineProperty;

function lazily(name, part, key) {
    const put = (value) =>
        define(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
    define(globalThis, name, {
        get() {
            const value = internal(part)[key];
            put(value);
            return value;
        },
        set: put, configurable: true, enumerable: false,
    });
}

for (const name of Object.keys(table))
    if (native.hasPart(table[name]))
        lazily(name, table[name], name);
for (const name of Object.keys(objects))
    if (native.hasPart(objects[name][0]))
        lazily(name, objects[name][0], objects[name][1]);
if (native.dialect() === 'codemode')
    lazily('codemode', 'tools', 'tools');
// What a file without import and export finds: exports, module, and its own name.
['exports', , 'module', '__filename', '__dirname'].forEach((name, i) => {
    define(globalThis, name, {
        get: () => internal('modules').mainValues()[i],
        set: (value) => define(globalThis, name, { value, writable: true, configurable: true, enumerable: false }),
        configurable: true, enumerable: false,
    });
});
define(globalThis, 'global', { value: globalThis, writable: true, configurable: true, enumerable: false });
const then = Promise.prototype.then, resolved = Promise.resolve(), apply = Reflect.apply;
define(globalThis, 'queueMicrotask', {
    value: function queueMicrotask(callback) {
        if (typeof callback !== 'function')
            throw new TypeError('The "callback" argument must be of type function.');
        apply(then, resolved, [() => callback()]);
    },
    writable: true, configurable: true, enumerable: false,
});
