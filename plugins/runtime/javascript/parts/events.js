// events.js - EventEmitter; Event, EventTarget, AbortController and AbortSignal.
const { coded, wrongType, outOfRange, checkFunction, missing } = internal('errors');
const { defineProperty, defineProperties } = Object;
const { apply, ownKeys } = Reflect;

// ---- EventEmitter ----

const errorMonitor = Symbol('events.errorMonitor');
const captureRejectionSymbol = Symbol.for('nodejs.rejection');
let defaultMaxListeners = 10;

function EventEmitter(options) {
    apply(EventEmitter.init, this, [options]);
}
EventEmitter.init = function () {
    if (!this._events || this._events === Object.getPrototypeOf(this)._events) {
        this._events = { __proto__: null };
        this._eventsCount = 0;
    }
    this._maxListeners ||= undefined;
};
const checkListener = listener => checkFunction(listener, 'listener');
const listOf = (emitter, type) => {
    const entry = emitter._events?.[type];
    return entry === undefined ? [] : typeof entry === 'function' ? [entry] : entry;
};
const store = (emitter, type, list) => {
    const events = emitter._events;
    const had = events[type] !== undefined;
    if (list.length === 0) {
        delete events[type];
        if (had) emitter._eventsCount--;
    } else {
        events[type] = list.length === 1 ? list[0] : list;
        if (!had) emitter._eventsCount++;
    }
};
const warnAbout = (emitter, type, list) => {
    const max = emitter.getMaxListeners();
    if (max <= 0 || list.length <= max || list.warned) return;
    list.warned = true;
    native.output(2, `MaxListenersExceededWarning: Possible EventEmitter memory leak detected. ${list.length} ${
        String(type)} listeners added to [${emitter.constructor?.name ?? 'EventEmitter'
    }]. Use emitter.setMaxListeners() to increase limit\n`);
};
const add = (emitter, type, listener, front) => {
    checkListener(listener);
    if (!emitter._events) EventEmitter.init.call(emitter);
    if (emitter._events.newListener !== undefined) emitter.emit('newListener', type, listener.listener ?? listener);
    const before = listOf(emitter, type);
    const list = front ? [listener, ...before] : [...before, listener];
    if (before.warned) list.warned = true;
    store(emitter, type, list);
    warnAbout(emitter, type, list);
    return emitter;
};
const onceWrapper = (emitter, type, listener) => {
    checkListener(listener);
    let fired = false;
    const wrapper = function (...args) {
        if (fired) return undefined;
        emitter.removeListener(type, wrapper);
        fired = true;
        return apply(listener, emitter, args);
    };
    wrapper.listener = listener;
    return wrapper;
};
const unhandled = error => {
    if (error instanceof Error) throw error;
    const shown = typeof error === 'string' ? `'${error}'` : internal('inspect').inspect(error);
    const failure = coded(Error, 'ERR_UNHANDLED_ERROR', `Unhandled error. (${shown})`);
    failure.context = error;
    throw failure;
};
const methods = {
    setMaxListeners(n) {
        if (typeof n !== 'number' || n < 0 || Number.isNaN(n)) {
            throw typeof n === 'number' ? outOfRange('setMaxListeners', '>= 0', n)
                : wrongType('setMaxListeners', 'of type number', n);
        }
        this._maxListeners = n;
        return this;
    },
    getMaxListeners() { return this._maxListeners ?? defaultMaxListeners; },
    emit(type, ...args) {
        const list = listOf(this, type);
        if (type === 'error') {
            if (this._events?.[errorMonitor] !== undefined) this.emit(errorMonitor, ...args);
            if (list.length === 0) unhandled(args[0]);
        }
        // Lists are replaced, never changed: this one stays as it is.
        for (const listener of list) apply(listener, this, args);
        return list.length > 0;
    },
    addListener(type, listener) { return add(this, type, listener, false); },
    prependListener(type, listener) { return add(this, type, listener, true); },
    once(type, listener) { return add(this, type, onceWrapper(this, type, listener), false); },
    prependOnceListener(type, listener) { return add(this, type, onceWrapper(this, type, listener), true); },
    removeListener(type, listener) {
        checkListener(listener);
        const list = listOf(this, type);
        const at = list.findLastIndex(one => one === listener || one.listener === listener);
        if (at < 0) return this;
        store(this, type, [...list.slice(0, at), ...list.slice(at + 1)]);
        if (this._events.removeListener !== undefined) {
            this.emit('removeListener', type, list[at].listener ?? listener);
        }
        return this;
    },
    removeAllListeners(type) {
        if (!this._events) return this;
        const types = arguments.length ? [type] : ownKeys(this._events);
        const told = this._events.removeListener !== undefined;
        for (const one of types) {
            if (told && one !== 'removeListener') {
                for (const listener of listOf(this, one).toReversed()) this.removeListener(one, listener);
            } else {
                store(this, one, []);
            }
        }
        if (told && !arguments.length) store(this, 'removeListener', []);
        return this;
    },
    listeners(type) { return listOf(this, type).map(listener => listener.listener ?? listener); },
    rawListeners(type) { return [...listOf(this, type)]; },
    listenerCount(type, listener) {
        const list = listOf(this, type);
        return listener == null ? list.length
            : list.filter(one => one === listener || one.listener === listener).length;
    },
    eventNames() { return this._events ? ownKeys(this._events) : []; },
};
const { prototype } = EventEmitter;
prototype._events = undefined;
prototype._eventsCount = 0;
prototype._maxListeners = undefined;
Object.assign(prototype, methods);
prototype.on = prototype.addListener;
prototype.off = prototype.removeListener;

const signalOf = options => {
    const signal = options?.signal;
    if (signal !== undefined && (signal === null || typeof signal !== 'object' || !('aborted' in signal))) {
        throw wrongType('options.signal', 'an instance of AbortSignal', signal);
    }
    return signal;
};
const aborted = signal => {
    const error = coded(Error, 'ABORT_ERR', 'The operation was aborted');
    error.name = 'AbortError';
    if (signal?.reason !== undefined) {
        defineProperty(error, 'cause', { value: signal.reason, writable: true, configurable: true, enumerable: false });
    }
    return error;
};
const isEmitter = value => typeof value?.on === 'function' && typeof value.removeListener === 'function';
const isTarget = value => typeof value?.addEventListener === 'function';
const attach = (emitter, name, listener, once) => {
    if (isEmitter(emitter)) {
        emitter[once ? 'once' : 'on'](name, listener);
        return () => emitter.removeListener(name, listener);
    }
    if (!isTarget(emitter)) throw wrongType('emitter', 'an instance of EventEmitter', emitter);
    emitter.addEventListener(name, listener, { once });
    return () => emitter.removeEventListener(name, listener);
};

async function once(emitter, name, options = {}) {
    const signal = signalOf(options);
    if (signal?.aborted) throw aborted(signal);
    return new Promise((resolve, reject) => {
        const undo = [];
        const end = settle => value => {
            for (const one of undo) one();
            settle(value);
        };
        undo.push(attach(emitter, name, (...args) => end(resolve)(args), true));
        if (name !== 'error' && isEmitter(emitter)) undo.push(attach(emitter, 'error', end(reject), true));
        if (signal) undo.push(attach(signal, 'abort', () => end(reject)(aborted(signal)), true));
    });
}

function on(emitter, name, options = {}) {
    const signal = signalOf(options);
    if (signal?.aborted) throw aborted(signal);
    const ready = [];
    const waiting = [];
    const undo = [];
    let failure;
    let finished = false;
    const close = () => {
        for (const one of undo.splice(0)) one();
        finished = true;
        for (const { resolve } of waiting.splice(0)) resolve({ value: undefined, done: true });
        return Promise.resolve({ value: undefined, done: true });
    };
    const fail = error => {
        const waiter = waiting.shift();
        if (waiter) waiter.reject(error);
        else failure = { error };
        close();
    };
    undo.push(attach(emitter, name, (...args) => {
        const waiter = waiting.shift();
        if (waiter) waiter.resolve({ value: args, done: false });
        else ready.push(args);
    }));
    if (name !== 'error' && isEmitter(emitter)) undo.push(attach(emitter, 'error', fail));
    for (const last of options.close ?? []) undo.push(attach(emitter, last, close));
    if (signal) undo.push(attach(signal, 'abort', () => fail(aborted(signal)), true));
    return {
        __proto__: Object.getPrototypeOf(Object.getPrototypeOf(async function* () {}).prototype),
        next() {
            if (ready.length) return Promise.resolve({ value: ready.shift(), done: false });
            if (failure) {
                const { error } = failure;
                failure = undefined;
                return Promise.reject(error);
            }
            if (finished) return Promise.resolve({ value: undefined, done: true });
            return new Promise((resolve, reject) => { waiting.push({ resolve, reject }); });
        },
        return() { return close(); },
        throw(error) {
            fail(error);
            return Promise.resolve({ value: undefined, done: true });
        },
        [Symbol.asyncIterator]() { return this; },
    };
}

// ---- Event and EventTarget ----

// What only this file may see of an event.
const inner = new WeakMap();
const innerOf = event => {
    const state = inner.get(event);
    if (!state) throw coded(TypeError, 'ERR_INVALID_THIS', 'Value of "this" must be of type Event');
    return state;
};
const optionsOf = (value, name) => {
    if (value != null && typeof value !== 'object' && typeof value !== 'function') throw wrongType(name, 'of type object', value);
    return value ?? {};
};
class Event {
    constructor(type, options = undefined) {
        if (arguments.length === 0) throw missing('type');
        const { bubbles, cancelable, composed } = optionsOf(options, 'options');
        inner.set(this, { type: `${type}`, bubbles: !!bubbles, cancelable: !!cancelable, composed: !!composed, target: null,
            current: null, canceled: false, passive: false, stop: false, propagation: false, time: native.now() });
    }
    get type() { return innerOf(this).type; }
    get target() { return innerOf(this).target; }
    get currentTarget() { return innerOf(this).current; }
    get srcElement() { return innerOf(this).target; }
    get bubbles() { return innerOf(this).bubbles; }
    get cancelable() { return innerOf(this).cancelable; }
    get composed() { return innerOf(this).composed; }
    get defaultPrevented() { return innerOf(this).canceled; }
    get returnValue() { return !innerOf(this).canceled; }
    get timeStamp() { return innerOf(this).time; }
    get eventPhase() { return innerOf(this).current ? 2 : 0; }
    get isTrusted() { return !!innerOf(this).trusted; }
    get cancelBubble() { return innerOf(this).propagation; }
    set cancelBubble(value) { if (value) this.stopPropagation(); }
    composedPath() {
        const { current } = innerOf(this);
        return current ? [current] : [];
    }
    preventDefault() {
        const state = innerOf(this);
        if (state.cancelable && !state.passive) state.canceled = true;
    }
    stopPropagation() { innerOf(this).propagation = true; }
    stopImmediatePropagation() {
        innerOf(this).propagation = true;
        innerOf(this).stop = true;
    }
    [Symbol.for('nodejs.util.inspect.custom')](depth, options, inspect) {
        const { type, cancelable, canceled, time } = innerOf(this);
        const name = this.constructor.name;
        if (depth < 0) return name;
        return `${name} ${inspect({ type, defaultPrevented: canceled, cancelable, timeStamp: time },
            { ...options, depth: options.depth == null ? null : options.depth - 1 })}`;
    }
}
['NONE', 'CAPTURING_PHASE', 'AT_TARGET', 'BUBBLING_PHASE'].forEach((name, value) => {
    defineProperty(Event, name, { value, enumerable: true });
    defineProperty(Event.prototype, name, { value, enumerable: true });
});
class CustomEvent extends Event {
    #detail;
    constructor(type, options = undefined) {
        if (arguments.length === 0) throw missing('type');
        super(type, options);
        this.#detail = options?.detail ?? null;
    }
    get detail() { return this.#detail; }
}

const targets = new WeakMap();
const listenersOf = target => {
    const listeners = targets.get(target);
    if (!listeners) throw coded(TypeError, 'ERR_INVALID_THIS', 'Value of "this" must be of type EventTarget');
    return listeners;
};
const isCapture = options => Boolean(typeof options === 'object' && options !== null ? options.capture : options);
const isListener = listener => {
    if (typeof listener === 'function' || (typeof listener === 'object' && listener !== null)) return true;
    if (listener == null) return false;
    throw wrongType('listener', 'an instance of EventListener', listener);
};
const report = error => internal('timers').setTimeout(() => { throw error; }, 0);
const dispatch = (target, event, state) => {
    const listeners = listenersOf(target);
    state.target = target;
    state.current = target;
    try {
        for (const entry of [...listeners.get(state.type) ?? []]) {
            if (state.stop) break;
            if (entry.removed) continue;
            if (entry.once) remove(target, state.type, entry);
            state.passive = entry.passive;
            try {
                const { listener } = entry;
                const result = typeof listener === 'function' ? apply(listener, target, [event]) : listener.handleEvent(event);
                if (typeof result?.then === 'function') result.then(undefined, report);
            } catch (error) {
                report(error);
            }
            state.passive = false;
        }
    } finally {
        state.current = null;
        state.stop = false;
        state.propagation = false;
    }
    return !state.canceled;
};
const remove = (target, type, entry) => {
    const list = listenersOf(target).get(type);
    const at = list?.indexOf(entry) ?? -1;
    entry.removed = true;
    if (at >= 0) list.splice(at, 1);
};
class EventTarget {
    constructor() {
        targets.set(this, new Map());
    }
    addEventListener(type, listener, options = undefined) {
        const listeners = listenersOf(this);
        if (arguments.length < 2) throw missing('type', 'listener');
        if (!isListener(listener)) return;
        const { once: single, passive, signal } = typeof options === 'object' && options !== null ? options : {};
        if (signal !== undefined && !(signal instanceof AbortSignal)) {
            throw wrongType('options.signal', 'an instance of AbortSignal', signal);
        }
        if (signal?.aborted) return;
        type = `${type}`;
        const capture = isCapture(options);
        const list = listeners.get(type) ?? [];
        if (list.some(entry => entry.listener === listener && entry.capture === capture)) return;
        const entry = { listener, capture, once: !!single, passive: !!passive };
        listeners.set(type, list);
        list.push(entry);
        signal?.addEventListener('abort', () => remove(this, type, entry), { once: true });
    }
    removeEventListener(type, listener, options = undefined) {
        const listeners = listenersOf(this);
        if (arguments.length < 2) throw missing('type', 'listener');
        if (!isListener(listener)) return;
        const entry = listeners.get(`${type}`)?.find(one => one.listener === listener && one.capture === isCapture(options));
        if (entry) remove(this, `${type}`, entry);
    }
    dispatchEvent(event) {
        listenersOf(this);
        if (!(event instanceof Event)) throw wrongType('event', 'an instance of Event', event);
        const state = innerOf(event);
        if (state.current) throw coded(Error, 'ERR_EVENT_RECURSION', `The event "${state.type}" is already being dispatched`);
        return dispatch(this, event, state);
    }
    [Symbol.for('nodejs.util.inspect.custom')](depth, options, inspect) {
        return depth < 0 ? this.constructor.name : `${this.constructor.name} ${inspect({}, options)}`;
    }
}

// A property onNAME that is a listener.
const handler = (Class, name) => {
    const handlers = new WeakMap();
    defineProperty(Class.prototype, `on${name}`, {
        get() { return handlers.get(this)?.value ?? null; },
        set(value) {
            const known = handlers.get(this);
            if (typeof value !== 'function') value = null;
            if (known) {
                known.value = value;
                return;
            }
            const entry = { value };
            handlers.set(this, entry);
            this.addEventListener(name, event => entry.value?.call(this, event));
        },
        enumerable: true, configurable: true,
    });
};

// ---- AbortController and AbortSignal ----

const signals = new WeakMap();
let making = false;
const signalState = signal => {
    const state = signals.get(signal);
    if (!state) throw coded(TypeError, 'ERR_INVALID_THIS', 'Value of "this" must be of type AbortSignal');
    return state;
};
const makeSignal = () => {
    making = true;
    return new AbortSignal();
};
const exception = (message, name) => new (internal('exception').DOMException)(message, name);
const abort = (signal, reason) => {
    const state = signalState(signal);
    if (state.aborted) return;
    state.aborted = true;
    state.reason = reason === undefined ? exception('This operation was aborted', 'AbortError') : reason;
    const event = new Event('abort');
    innerOf(event).trusted = true;
    dispatch(signal, event, innerOf(event));
    for (const dependent of state.dependents) abort(dependent, state.reason);
    state.dependents.clear();
};
class AbortSignal extends EventTarget {
    constructor() {
        if (!making) throw coded(TypeError, 'ERR_ILLEGAL_CONSTRUCTOR', 'Illegal constructor');
        making = false;
        super();
        signals.set(this, { aborted: false, reason: undefined, dependents: new Set() });
    }
    get aborted() { return signalState(this).aborted; }
    get reason() { return signalState(this).reason; }
    throwIfAborted() {
        if (signalState(this).aborted) throw signalState(this).reason;
    }
    static abort(reason = exception('This operation was aborted', 'AbortError')) {
        const signal = makeSignal();
        Object.assign(signalState(signal), { aborted: true, reason });
        return signal;
    }
    static timeout(delay) {
        internal('errors').checkNumber(delay, 'delay', 0, Number.MAX_SAFE_INTEGER);
        const signal = makeSignal();
        internal('timers').setTimeout(() => {
            abort(signal, exception('The operation was aborted due to timeout', 'TimeoutError'));
        }, delay).unref?.();
        return signal;
    }
    static any(list) {
        const result = makeSignal();
        const sources = [...list];
        sources.forEach((signal, i) => {
            if (!signals.has(signal)) throw wrongType(`signals[${i}]`, 'an instance of AbortSignal', signal);
        });
        const done = sources.find(signal => signal.aborted);
        if (done) Object.assign(signalState(result), { aborted: true, reason: done.reason });
        else for (const signal of sources) signalState(signal).dependents.add(result);
        return result;
    }
    [Symbol.for('nodejs.util.inspect.custom')](depth, options, inspect) {
        return depth < 0 ? 'AbortSignal' : `AbortSignal ${inspect({ aborted: this.aborted }, options)}`;
    }
}
handler(AbortSignal, 'abort');
class AbortController {
    #signal = makeSignal();
    get signal() { return this.#signal; }
    abort(reason = undefined) { abort(this.#signal, reason); }
    [Symbol.for('nodejs.util.inspect.custom')](depth, options, inspect) {
        return depth < 0 ? 'AbortController' : `AbortController ${inspect({ signal: this.#signal }, options)}`;
    }
}
for (const Class of [Event, CustomEvent, EventTarget, AbortSignal, AbortController]) {
    for (const key of Object.keys(Object.getOwnPropertyDescriptors(Class.prototype))) {
        if (key !== 'constructor') defineProperty(Class.prototype, key, { enumerable: true });
    }
    defineProperty(Class.prototype, Symbol.toStringTag, { value: Class.name, configurable: true });
}

Object.assign(EventEmitter, {
    EventEmitter, errorMonitor, captureRejectionSymbol, once, on, usingDomains: false, captureRejections: false,
    listenerCount: (emitter, type) => emitter.listenerCount(type),
    getEventListeners: (emitter, type) => isEmitter(emitter) ? emitter.listeners(type)
        : (listenersOf(emitter).get(type) ?? []).map(entry => entry.listener),
    setMaxListeners(n = defaultMaxListeners, ...emitters) {
        if (emitters.length === 0) defaultMaxListeners = n;
        for (const emitter of emitters) emitter.setMaxListeners?.(n);
    },
    getMaxListeners: emitter => emitter.getMaxListeners?.() ?? defaultMaxListeners,
    addAbortListener(signal, listener) {
        if (signal.aborted) queueMicrotask(listener);
        else signal.addEventListener('abort', listener, { once: true });
        return { [Symbol.dispose ?? Symbol.for('nodejs.dispose')]() { signal.removeEventListener('abort', listener); } };
    },
});
defineProperties(EventEmitter, {
    defaultMaxListeners: {
        get: () => defaultMaxListeners,
        set(n) {
            if (typeof n !== 'number' || n < 0 || Number.isNaN(n)) throw outOfRange('defaultMaxListeners', 'a non-negative number', n);
            defaultMaxListeners = n;
        },
        enumerable: true,
    },
    init: { enumerable: false },
});
Object.assign(exports, { EventEmitter, Event, CustomEvent, EventTarget, AbortController, AbortSignal, aborted, handler, module: EventEmitter });
