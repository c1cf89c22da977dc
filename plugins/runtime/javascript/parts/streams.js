// streams.js - ReadableStream, as far as bodies need it, and what reads and pipes it.
const { coded } = internal('errors');
const { defineProperty, getOwnPropertyNames } = Object;
const custom = Symbol.for('nodejs.util.inspect.custom');
const AsyncIterator = Object.getPrototypeOf(Object.getPrototypeOf(async function* () {}.prototype));

const wrongState = message => coded(TypeError, 'ERR_INVALID_STATE', `Invalid state: ${message}`);

// As the interfaces of the web are: what they have can be listed, and they have a name.
const published = (Class, name = Class.name) => {
    for (const key of getOwnPropertyNames(Class.prototype)) {
        if (key !== 'constructor') defineProperty(Class.prototype, key, { enumerable: true });
    }
    defineProperty(Class.prototype, Symbol.toStringTag, { value: name, configurable: true });
};

// A stream is a plain object that the classes below hold: queue, what waits for its chunks, and its source.
const settle = stream => {
    const { reader } = stream;
    if (!reader) return;
    if (stream.state === 'closed') reader.resolve();
    else if (stream.state === 'errored') reader.reject(stream.error);
};
const finish = stream => {
    stream.state = 'closed';
    for (const waiter of stream.waiting.splice(0)) waiter.resolve({ value: undefined, done: true });
    settle(stream);
};
const fail = (stream, error) => {
    if (stream.state !== 'readable') return;
    stream.state = 'errored';
    stream.error = error;
    stream.queue = [];
    for (const waiter of stream.waiting.splice(0)) waiter.reject(error);
    settle(stream);
};
const pump = stream => {
    if (stream.state !== 'readable' || stream.closing || !stream.begun || !stream.pull) return;
    if (!stream.waiting.length && stream.size >= stream.high) return;
    stream.again = stream.pulling;
    if (stream.pulling) return;
    stream.pulling = true;
    new Promise(resolve => resolve(stream.pull(stream.controller))).then(() => {
        stream.pulling = false;
        if (stream.again) pump(stream);
    }, error => fail(stream, error));
};
const put = (stream, value) => {
    if (stream.waiting.length) {
        stream.waiting.shift().resolve({ value, done: false });
    } else {
        const size = stream.measure ? Number(stream.measure(value)) : 1;
        stream.queue.push([value, size]);
        stream.size += size;
    }
    pump(stream);
};
const take = stream => {
    stream.disturbed = true;
    if (stream.queue.length) {
        const [value, size] = stream.queue.shift();
        stream.size -= size;
        if (stream.closing && !stream.queue.length) finish(stream);
        else pump(stream);
        return Promise.resolve({ value, done: false });
    }
    if (stream.state === 'closed') return Promise.resolve({ value: undefined, done: true });
    if (stream.state === 'errored') return Promise.reject(stream.error);
    const { promise, resolve, reject } = Promise.withResolvers();
    stream.waiting.push({ resolve, reject });
    pump(stream);
    return promise;
};
const drop = async (stream, reason) => {
    stream.disturbed = true;
    if (stream.state === 'errored') throw stream.error;
    if (stream.state === 'closed') return;
    stream.queue = [];
    finish(stream);
    await stream.cancel?.(reason);
};

class ReadableStreamDefaultController {
    #stream;
    constructor(stream) {
        if (!stream?.isStream) throw coded(TypeError, 'ERR_ILLEGAL_CONSTRUCTOR', 'Illegal constructor');
        this.#stream = stream;
    }
    get desiredSize() {
        const { state, high, size } = this.#stream;
        return state === 'errored' ? null : state === 'closed' ? 0 : high - size;
    }
    close() {
        const stream = this.#stream;
        if (stream.closing || stream.state !== 'readable') throw wrongState('Controller is already closed');
        stream.closing = true;
        if (!stream.queue.length) finish(stream);
    }
    enqueue(chunk = undefined) {
        const stream = this.#stream;
        if (stream.closing || stream.state !== 'readable') throw wrongState('Controller is already closed');
        if (stream.isBytes && !ArrayBuffer.isView(chunk)) {
            throw coded(TypeError, 'ERR_INVALID_ARG_TYPE', 'The "chunk" argument must be an instance of Buffer, TypedArray, or DataView.');
        }
        put(stream, chunk);
    }
    error(error = undefined) { fail(this.#stream, error); }
}

let inner;
class ReadableStreamDefaultReader {
    #stream;
    #closed = Promise.withResolvers();
    constructor(stream) {
        if (!(stream instanceof ReadableStream)) {
            throw coded(TypeError, 'ERR_INVALID_ARG_TYPE', 'The "stream" argument must be an instance of ReadableStream.');
        }
        this.#stream = inner(stream);
        if (this.#stream.reader) throw wrongState('ReadableStream is locked');
        this.#closed.promise.catch(() => {});
        this.#stream.reader = this.#closed;
        settle(this.#stream);
    }
    get closed() { return this.#closed.promise; }
    #held() {
        if (!this.#stream) throw wrongState('The reader is not attached to a stream');
        return this.#stream;
    }
    async read() { return take(this.#held()); }
    async cancel(reason = undefined) { return drop(this.#held(), reason); }
    releaseLock() {
        const stream = this.#stream;
        if (!stream) return;
        const error = wrongState('Releasing reader');
        for (const waiter of stream.waiting.splice(0)) waiter.reject(error);
        stream.reader = this.#stream = undefined;
        this.#closed.reject(error);
        this.#closed = Promise.withResolvers();
        this.#closed.reject(error);
        this.#closed.promise.catch(() => {});
    }
}

class ReadableStream {
    #stream;
    static { inner = stream => stream.#stream; }
    constructor(source = {}, strategy = {}) {
        const isBytes = source.type === 'bytes';
        const stream = this.#stream = {
            isStream: true, isBytes, queue: [], size: 0, waiting: [], state: 'readable',
            high: Number(strategy.highWaterMark ?? (isBytes ? 0 : 1)),
            measure: isBytes ? chunk => chunk.byteLength : strategy.size,
            pull: source.pull?.bind(source), cancel: source.cancel?.bind(source),
        };
        if (Number.isNaN(stream.high) || stream.high < 0) {
            throw coded(RangeError, 'ERR_INVALID_ARG_VALUE', `The property 'strategy.highWaterMark' is invalid. Received ${stream.high}`);
        }
        stream.controller = new ReadableStreamDefaultController(stream);
        const begun = source.start?.(stream.controller);
        Promise.resolve(begun).then(() => {
            stream.begun = true;
            pump(stream);
        }, error => fail(stream, error));
    }
    static from(iterable) {
        const method = iterable?.[Symbol.asyncIterator] ?? iterable?.[Symbol.iterator];
        if (typeof method !== 'function') throw coded(TypeError, 'ERR_ARG_NOT_ITERABLE', `${iterable} must be iterable`);
        const iterator = method.call(iterable);
        return new ReadableStream({
            async pull(controller) {
                const { value, done } = await iterator.next();
                if (done) controller.close();
                else controller.enqueue(await value);
            },
            async cancel(reason) { await iterator.return?.(reason); },
        }, { highWaterMark: 0 });
    }
    get locked() { return Boolean(this.#stream.reader); }
    async cancel(reason = undefined) {
        if (this.#stream.reader) throw wrongState('ReadableStream is locked');
        return drop(this.#stream, reason);
    }
    getReader(options = undefined) {
        if (options?.mode !== undefined) throw coded(TypeError, 'ERR_INVALID_ARG_VALUE', `The property 'options.mode' is invalid. Received '${options.mode}'`);
        return new ReadableStreamDefaultReader(this);
    }
    tee() {
        const reader = this.getReader();
        const branches = [];
        let reading, cancelled = 0;
        const stop = reason => {
            if (++cancelled === 2) return reader.cancel(reason);
        };
        const pull = () => reading ??= reader.read().then(({ value, done }) => {
            reading = undefined;
            for (const { open, controller } of branches) {
                if (!open()) continue;
                if (done) controller.close();
                else controller.enqueue(value);
            }
        }, error => {
            for (const { controller } of branches) controller.error(error);
        });
        const branch = () => {
            let isOpen = true;
            return new ReadableStream({
                start(controller) { branches.push({ controller, open: () => isOpen }); },
                pull,
                cancel(reason) {
                    isOpen = false;
                    return stop(reason);
                },
            }, { highWaterMark: 0 });
        };
        return [branch(), branch()];
    }
    async pipeTo(target, { preventClose, preventAbort, preventCancel, signal } = {}) {
        const reader = this.getReader();
        const writer = target.getWriter();
        try {
            for (;;) {
                signal?.throwIfAborted();
                await writer.ready;
                const { value, done } = await reader.read();
                if (done) break;
                await writer.write(value);
            }
            if (!preventClose) await writer.close();
        } catch (error) {
            if (!preventCancel) reader.cancel(error).catch(() => {});
            if (!preventAbort) writer.abort(error).catch(() => {});
            throw error;
        } finally {
            reader.releaseLock();
            writer.releaseLock();
        }
    }
    pipeThrough({ readable, writable }, options = undefined) {
        this.pipeTo(writable, options).catch(() => {});
        return readable;
    }
    values({ preventCancel = false } = {}) {
        const reader = this.getReader();
        let last = Promise.resolve(), isOver = false;
        const next = async () => {
            if (isOver) return { value: undefined, done: true };
            try {
                const read = await reader.read();
                if (!read.done) return read;
            } catch (error) {
                isOver = true;
                reader.releaseLock();
                throw error;
            }
            isOver = true;
            reader.releaseLock();
            return { value: undefined, done: true };
        };
        const leave = async value => {
            if (!isOver) {
                isOver = true;
                const done = preventCancel ? undefined : reader.cancel(value);
                reader.releaseLock();
                await done;
            }
            return { value, done: true };
        };
        return {
            __proto__: AsyncIterator,
            next() { return last = last.then(next, next); },
            return(value) { return last = last.then(() => leave(value), () => leave(value)); },
        };
    }
    [Symbol.asyncIterator](options = undefined) { return this.values(options); }
    [custom](depth, options, inspect) {
        const { state, isBytes, reader } = this.#stream;
        const text = inspect({ locked: Boolean(reader), state, supportsBYOB: isBytes }, options);
        return depth < 0 ? '[ReadableStream]' : `ReadableStream ${text}`;
    }
}
for (const Class of [ReadableStream, ReadableStreamDefaultReader, ReadableStreamDefaultController]) published(Class);

// ---- what writes

// A sink, one write after the other.
class WritableStreamDefaultWriter {
    #stream;
    constructor(stream) {
        if (stream.locked) throw wrongState('WritableStream is locked');
        this.#stream = sink(stream);
        this.#stream.writer = this;
    }
    get closed() { return this.#stream.closed.promise; }
    get ready() { return this.#stream.ready(); }
    get desiredSize() { return 1; }
    async write(chunk = undefined) { return this.#stream.write(chunk); }
    async close() { return this.#stream.close(); }
    async abort(reason = undefined) { return this.#stream.abort(reason); }
    releaseLock() { if (this.#stream.writer === this) this.#stream.writer = undefined; }
}
let sink;
class WritableStream {
    #stream;
    static { sink = stream => stream.#stream; }
    constructor(into = {}) {
        let error, failed = false, isClosed = false;
        const closed = Promise.withResolvers();
        closed.promise.catch(() => {});
        const broken = reason => {
            if (failed) return;
            [failed, error] = [true, reason];
            closed.reject(reason);
        };
        const controller = { error: broken };
        let last = (async () => into.start?.(controller))();
        last.catch(broken);
        const then = act => {
            const done = last.then(() => {
                if (failed) throw error;
                return act();
            });
            last = done.catch(broken);
            return done;
        };
        this.#stream = {
            closed,
            ready: () => failed ? Promise.reject(error) : Promise.resolve(),
            write: chunk => isClosed ? Promise.reject(wrongState('WritableStream is closed'))
                : then(() => into.write?.(chunk, controller)),
            close() {
                if (isClosed) return Promise.reject(wrongState('WritableStream is closed'));
                isClosed = true;
                return then(async () => {
                    await into.close?.();
                    closed.resolve();
                });
            },
            async abort(reason) {
                if (failed || isClosed) return;
                broken(reason);
                await into.abort?.(reason);
            },
        };
    }
    get locked() { return Boolean(this.#stream.writer); }
    getWriter() { return new WritableStreamDefaultWriter(this); }
    async close() { return this.#stream.close(); }
    async abort(reason = undefined) { return this.#stream.abort(reason); }
}

class TransformStream {
    #readable;
    #writable;
    constructor({ start, transform, flush, cancel } = {}) {
        let out, room = Promise.withResolvers(), gone;
        const readable = this.#readable = new ReadableStream({
            start(controller) { out = controller; },
            pull() { room.resolve(); },
            cancel(reason) {
                gone = { reason };
                room.resolve();
                return cancel?.(reason);
            },
        }, { highWaterMark: 0 });
        const controller = {
            enqueue(chunk) {
                room = Promise.withResolvers();
                out.enqueue(chunk);
            },
            error: error => out.error(error),
            terminate: () => out.close(),
            get desiredSize() { return out.desiredSize; },
        };
        this.#writable = new WritableStream({
            start: () => start?.(controller),
            async write(chunk) {
                await room.promise; // somebody reads
                if (gone) throw gone.reason;
                try {
                    if (transform) await transform(chunk, controller);
                    else controller.enqueue(chunk);
                } catch (error) {
                    out.error(error);
                    throw error;
                }
            },
            async close() {
                if (gone) return;
                await flush?.(controller);
                if (inner(readable).state === 'readable' && !inner(readable).closing) out.close();
            },
            abort(reason) { out.error(reason); },
        });
    }
    get readable() { return this.#readable; }
    get writable() { return this.#writable; }
}

class TextDecoderStream extends TransformStream {
    #decoder;
    constructor(encoding = 'utf-8', options = {}) {
        const decoder = new (internal('encoding').TextDecoder)(encoding, options);
        const give = (text, controller) => { if (text) controller.enqueue(text); };
        super({
            transform: (chunk, controller) => give(decoder.decode(chunk, { stream: true }), controller),
            flush: controller => give(decoder.decode(), controller),
        });
        this.#decoder = decoder;
    }
    get encoding() { return this.#decoder.encoding; }
    get fatal() { return this.#decoder.fatal; }
    get ignoreBOM() { return this.#decoder.ignoreBOM; }
}
class TextEncoderStream extends TransformStream {
    constructor() {
        const encoder = new (internal('encoding').TextEncoder)();
        super({ transform: (chunk, controller) => controller.enqueue(encoder.encode(chunk)) });
    }
    get encoding() { return 'utf-8'; }
}
for (const Class of [WritableStream, WritableStreamDefaultWriter, TransformStream, TextDecoderStream, TextEncoderStream]) published(Class);

Object.assign(exports, {
    ReadableStream, ReadableStreamDefaultReader, ReadableStreamDefaultController, WritableStream, TransformStream, TextDecoderStream,
    TextEncoderStream, published, isDisturbed: stream => inner(stream).disturbed === true,
});
