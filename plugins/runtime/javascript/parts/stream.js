// stream.js - streams as Node.js has them, in a small form: the same events and methods, but what
// is read is limited by the reader's calls and not by marks.
const { coded, wrongType, checkFunction } = internal('errors');
const { EventEmitter } = internal('events');
const { defineProperty, getOwnPropertyDescriptors } = Object;
const { isView } = ArrayBuffer;
const READ = Symbol('read'), WRITE = Symbol('write'), STATE = Symbol('state');

const hide = (object, key, value) => defineProperty(object, key, { value, writable: true, configurable: true });
const bufferOf = (chunk, encoding) => {
    const { Buffer } = internal('buffer');
    if (typeof chunk === 'string') return Buffer.from(chunk, encoding === 'buffer' ? 'utf8' : encoding);
    return chunk instanceof Buffer ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
};

// ---- what both kinds have

const begin = (stream, options) => {
    hide(stream, STATE, { destroyed: false, closed: false, error: null, autoDestroy: options.autoDestroy !== false });
    for (const name of ['read', 'write', 'writev', 'final', 'transform', 'flush', 'destroy']) {
        if (typeof options[name] === 'function') hide(stream, `_${name}`, options[name]);
    }
};
const close = (stream, error) => {
    const state = stream[STATE];
    if (state.destroyed) return;
    state.destroyed = true;
    state.error = error ?? null;
    let told = false;
    stream._destroy(error ?? null, failed => {
        if (told) return;
        told = true;
        state.error = failed ?? state.error;
        queueMicrotask(() => {
            state.closed = true;
            stream[READ]?.wake?.();
            for (const [, , callback] of stream[WRITE]?.queue.splice(0) ?? []) {
                callback?.(state.error ?? coded(Error, 'ERR_STREAM_DESTROYED', 'Cannot call write after a stream was destroyed'));
            }
            if (state.error) stream.emit('error', state.error);
            stream.emit('close');
        });
    });
};
// A stream that has done all it is for is closed.
const closeWhenDone = stream => {
    if (!stream[STATE].autoDestroy) return;
    if ((!stream[READ] || stream[READ].told) && (!stream[WRITE] || stream[WRITE].finished)) close(stream);
};

class Stream extends EventEmitter {
    destroy(error) {
        close(this, error);
        return this;
    }
    _destroy(error, callback) { callback(error); }
    get destroyed() { return this[STATE].destroyed; }
    get closed() { return this[STATE].closed; }
    get errored() { return this[STATE].error; }
    pipe(target, options) { return pipe(this, target, options); }
    async [Symbol.asyncDispose ?? Symbol('asyncDispose')]() { this.destroy(); }
}

// ---- to read from

const beginRead = (stream, options) => hide(stream, READ, {
    queue: [], flowing: null, ended: false, told: false, reading: false, planned: false, wake: null, pipes: [],
    encoding: options.encoding, decoder: null, objects: Boolean(options.objectMode ?? options.readableObjectMode),
    mark: options.highWaterMark ?? 65536,
});
const plan = stream => {
    const state = stream[READ];
    if (state.planned || state.told || stream[STATE].destroyed) return;
    state.planned = true;
    queueMicrotask(() => {
        state.planned = false;
        flow(stream);
    });
};
const pull = stream => {
    const state = stream[READ];
    if (state.reading || state.ended || stream[STATE].destroyed) return;
    state.reading = true;
    try {
        stream._read(state.mark);
    } catch (error) {
        close(stream, error);
    }
};
const flow = stream => {
    const state = stream[READ];
    while (state.flowing && state.queue.length && !stream[STATE].destroyed) stream.emit('data', state.queue.shift());
    if (stream[STATE].destroyed) return;
    const listens = stream.listenerCount('readable') > 0;
    if (listens && (state.queue.length || state.ended) && !state.told) stream.emit('readable');
    if (!state.queue.length && state.ended && (state.flowing || listens)) tellEnd(stream);
    else if (!state.queue.length && (state.flowing || listens)) pull(stream);
};
const tellEnd = stream => {
    const state = stream[READ];
    if (state.told) return;
    state.told = true;
    stream.emit('end');
    if (stream[WRITE] && stream.allowHalfOpen === false) stream.end();
    closeWhenDone(stream);
};
const decoderOf = encoding => {
    if (native.hasPart('string_decoder')) return new (internal('string_decoder').StringDecoder)(encoding);
    if (!/^utf-?8$/i.test(encoding)) return { write: bytes => bytes.toString(encoding), end: () => '' };
    const decoder = new (internal('encoding').TextDecoder)('utf-8', { ignoreBOM: true });
    return { write: bytes => decoder.decode(bytes, { stream: true }), end: () => decoder.decode() };
};
const take = (stream, chunk) => {
    const state = stream[READ];
    if (state.objects) return chunk;
    if (typeof chunk === 'string' && state.encoding) return chunk;
    if (typeof chunk !== 'string' && !isView(chunk)) {
        throw wrongType('chunk', 'of type string or an instance of Buffer, TypedArray, or DataView', chunk);
    }
    chunk = bufferOf(chunk);
    if (!state.encoding) return chunk;
    state.decoder ??= decoderOf(state.encoding);
    return state.decoder.write(chunk);
};

class Readable extends Stream {
    constructor(options = {}) {
        super();
        begin(this, options ?? {});
        beginRead(this, options ?? {});
    }
    _read() {
        throw coded(Error, 'ERR_METHOD_NOT_IMPLEMENTED', 'The _read() method is not implemented');
    }
    push(chunk) {
        const state = this[READ];
        state.reading = false;
        if (state.ended) {
            if (chunk !== null) close(this, coded(Error, 'ERR_STREAM_PUSH_AFTER_EOF', 'stream.push() after EOF'));
            return false;
        }
        if (chunk === null) {
            const rest = state.decoder?.end();
            if (rest) state.queue.push(rest);
            state.ended = true;
        } else if (chunk !== undefined) {
            chunk = take(this, chunk);
            if (state.objects || chunk.length) state.queue.push(chunk);
        }
        state.wake?.();
        plan(this);
        return !state.ended && this.readableLength < state.mark;
    }
    unshift(chunk) {
        this[READ].queue.unshift(take(this, chunk));
        plan(this);
    }
    read(size) {
        const state = this[READ];
        if (!state.queue.length) {
            if (state.ended) queueMicrotask(() => tellEnd(this));
            else pull(this);
        }
        if (!state.queue.length || size === 0) return null;
        if (state.objects || state.queue.length === 1 && size === undefined) {
            const [chunk] = state.queue.splice(0, 1);
            plan(this);
            return chunk;
        }
        const whole = typeof state.queue[0] === 'string' ? state.queue.join('')
            : internal('buffer').Buffer.concat(state.queue);
        if (size > whole.length && !state.ended) return null;
        state.queue = size < whole.length ? [whole.slice(size)] : [];
        plan(this);
        return size < whole.length ? whole.slice(0, size) : whole;
    }
    on(name, listener) {
        super.on(name, listener);
        if (name === 'data' && this[READ].flowing !== false) this.resume();
        if (name === 'readable') plan(this);
        return this;
    }
    addListener(name, listener) { return this.on(name, listener); }
    pause() {
        if (this[READ].flowing !== false) this.emit('pause');
        this[READ].flowing = false;
        return this;
    }
    resume() {
        if (!this[READ].flowing) this.emit('resume');
        this[READ].flowing = true;
        plan(this);
        return this;
    }
    isPaused() { return this[READ].flowing === false; }
    setEncoding(encoding) {
        const state = this[READ];
        state.encoding = encoding ?? 'utf8';
        state.decoder = null;
        state.queue = state.queue.map(chunk => take(this, chunk));
        return this;
    }
    unpipe(target) {
        const { pipes } = this[READ];
        for (const item of pipes.filter(each => !target || each.target === target)) {
            pipes.splice(pipes.indexOf(item), 1);
            item.stop();
        }
        return this;
    }
    async* [Symbol.asyncIterator]() {
        const state = this[READ];
        try {
            for (;;) {
                if (this[STATE].error) throw this[STATE].error;
                if (state.queue.length) {
                    yield state.queue.shift();
                } else if (state.ended) {
                    tellEnd(this);
                    return;
                } else if (this[STATE].destroyed) {
                    throw coded(Error, 'ERR_STREAM_PREMATURE_CLOSE', 'Premature close');
                } else {
                    await new Promise(resolve => {
                        state.wake = resolve;
                        pull(this);
                    });
                    state.wake = null;
                }
            }
        } finally {
            this.destroy();
        }
    }
    async toArray() {
        const all = [];
        for await (const chunk of this) all.push(chunk);
        return all;
    }
    get readable() { return !this[STATE].destroyed && !this[READ].told; }
    get readableEnded() { return this[READ].told; }
    get readableFlowing() { return this[READ].flowing; }
    get readableObjectMode() { return this[READ].objects; }
    get readableHighWaterMark() { return this[READ].mark; }
    get readableEncoding() { return this[READ].encoding ?? null; }
    get readableLength() {
        const { queue, objects } = this[READ];
        return objects ? queue.length : queue.reduce((sum, chunk) => sum + chunk.length, 0);
    }
    static from(source, options) {
        if (typeof source === 'string' || isView(source)) source = [source];
        const iterator = source?.[Symbol.asyncIterator]?.() ?? source?.[Symbol.iterator]?.();
        if (!iterator) throw wrongType('iterable', 'an instance of Iterable', source);
        return new Readable({
            objectMode: true, ...options,
            read() {
                const ask = async () => {
                    const { value, done } = await iterator.next();
                    this.push(done ? null : await value);
                };
                ask().catch(error => this.destroy(error));
            },
            destroy(error, callback) {
                Promise.resolve(iterator.return?.()).then(() => callback(error), callback);
            },
        });
    }
}

const pipe = (source, target, options) => {
    const write = chunk => {
        if (target.write(chunk) !== false) return;
        source.pause();
        target.once('drain', () => source.resume());
    };
    const end = () => target.end();
    const ends = options?.end !== false && target !== internal.loaded?.('process')?.process.stdout
        && target !== internal.loaded?.('process')?.process.stderr;
    const item = {
        target,
        stop() {
            source.off('data', write);
            source.off('end', end);
            target.emit('unpipe', source);
        },
    };
    source[READ]?.pipes.push(item);
    source.on('data', write);
    if (ends) source.once('end', end);
    target.emit('pipe', source);
    return target;
};

// ---- to write to

const beginWrite = (stream, options) => hide(stream, WRITE, {
    queue: [], writing: false, ending: false, finished: false, full: false, length: 0, corked: 0,
    objects: Boolean(options.objectMode ?? options.writableObjectMode), decodes: options.decodeStrings !== false,
    encoding: options.defaultEncoding ?? 'utf8', mark: options.highWaterMark ?? (options.objectMode ? 16 : 16384),
});
const writeNext = stream => {
    const state = stream[WRITE];
    while (!state.writing && state.queue.length && !stream[STATE].destroyed) {
        const [chunk, encoding, callback] = state.queue.shift();
        let settled = false;
        const settle = error => {
            if (settled) return;
            settled = true;
            state.writing = false;
            state.length -= state.objects ? 1 : chunk.length;
            if (callback) queueMicrotask(() => callback(error ?? null));
            if (error) close(stream, error);
            else queueMicrotask(() => writeNext(stream));
        };
        state.writing = true;
        try {
            stream._write(chunk, encoding, settle);
        } catch (error) {
            settle(error);
        }
    }
    if (state.writing || state.queue.length || stream[STATE].destroyed) return;
    if (state.full) {
        state.full = false;
        if (!state.ending) stream.emit('drain');
    }
    if (state.ending && !state.finishing) {
        state.finishing = true;
        finish(stream);
    }
};
const finish = stream => {
    const done = error => {
        if (error) {
            close(stream, error);
            return;
        }
        stream[WRITE].finished = true;
        stream.emit('finish');
        closeWhenDone(stream);
    };
    try {
        if (stream._final) stream._final(done);
        else done();
    } catch (error) {
        done(error);
    }
};

class Writable extends Stream {
    constructor(options = {}) {
        super();
        begin(this, options ?? {});
        beginWrite(this, options ?? {});
    }
    _write(chunk, encoding, callback) {
        if (!this._writev) throw coded(Error, 'ERR_METHOD_NOT_IMPLEMENTED', 'The _write() method is not implemented');
        this._writev([{ chunk, encoding }], callback);
    }
    write(chunk, encoding, callback) {
        const state = this[WRITE];
        if (typeof encoding === 'function') [encoding, callback] = [undefined, encoding];
        if (chunk === null) throw coded(TypeError, 'ERR_STREAM_NULL_VALUES', 'May not write null values to stream');
        if (!state.objects && typeof chunk !== 'string' && !isView(chunk)) {
            throw wrongType('chunk', 'of type string or an instance of Buffer, TypedArray, or DataView', chunk);
        }
        if (state.ending || this[STATE].destroyed) {
            const error = state.ending ? coded(Error, 'ERR_STREAM_WRITE_AFTER_END', 'write after end')
                : coded(Error, 'ERR_STREAM_DESTROYED', 'Cannot call write after a stream was destroyed');
            queueMicrotask(() => {
                callback?.(error);
                close(this, error);
            });
            return false;
        }
        const asText = state.objects || typeof chunk === 'string' && !state.decodes;
        const encoded = asText ? chunk : bufferOf(chunk, encoding ?? state.encoding);
        state.length += state.objects ? 1 : encoded.length;
        state.queue.push([encoded, asText ? encoding ?? state.encoding : 'buffer', callback]);
        if (!state.corked) writeNext(this);
        if (state.length < state.mark) return true;
        state.full = true;
        return false;
    }
    end(chunk, encoding, callback) {
        if (typeof chunk === 'function') [chunk, callback] = [undefined, chunk];
        else if (typeof encoding === 'function') [encoding, callback] = [undefined, encoding];
        if (chunk != null) this.write(chunk, encoding);
        const state = this[WRITE];
        if (callback) {
            if (state.finished) queueMicrotask(callback);
            else this.once('finish', callback);
        }
        if (!state.ending) {
            state.ending = true;
            state.corked = 0;
            queueMicrotask(() => writeNext(this));
        }
        return this;
    }
    cork() { this[WRITE].corked++; }
    uncork() {
        if (this[WRITE].corked) this[WRITE].corked--;
        if (!this[WRITE].corked) writeNext(this);
    }
    setDefaultEncoding(encoding) {
        this[WRITE].encoding = encoding;
        return this;
    }
    get writable() { return !this[STATE].destroyed && !this[WRITE].ending; }
    get writableEnded() { return this[WRITE].ending; }
    get writableFinished() { return this[WRITE].finished; }
    get writableLength() { return this[WRITE].length; }
    get writableNeedDrain() { return this[WRITE].full; }
    get writableObjectMode() { return this[WRITE].objects; }
    get writableHighWaterMark() { return this[WRITE].mark; }
    get writableCorked() { return this[WRITE].corked; }
}
hide(Writable.prototype, 'pipe', function pipe() {
    this.emit('error', coded(Error, 'ERR_STREAM_CANNOT_PIPE', 'Cannot pipe, not readable'));
});

// ---- both

class Duplex extends Readable {
    constructor(options = {}) {
        super(options);
        beginWrite(this, options ?? {});
        this.allowHalfOpen = options?.allowHalfOpen !== false;
    }
}
for (const [name, descriptor] of Object.entries(getOwnPropertyDescriptors(Writable.prototype))) {
    if (name !== 'constructor' && name !== 'pipe') defineProperty(Duplex.prototype, name, descriptor);
}
class Transform extends Duplex {
    _read() {}
    _write(chunk, encoding, callback) {
        this._transform(chunk, encoding, (error, data) => {
            if (!error && data != null) this.push(data);
            callback(error);
        });
    }
    _transform() {
        throw coded(Error, 'ERR_METHOD_NOT_IMPLEMENTED', 'The _transform() method is not implemented');
    }
    _final(callback) {
        const done = (error, data) => {
            if (!error && data != null) this.push(data);
            if (!error) this.push(null);
            callback(error);
        };
        if (this._flush) this._flush(done);
        else done();
    }
}
class PassThrough extends Transform {
    _transform(chunk, encoding, callback) { callback(null, chunk); }
}

// ---- several

const finished = (stream, options, callback) => {
    if (typeof options === 'function') callback = options;
    checkFunction(callback, 'callback');
    let told = false;
    const tell = error => {
        if (told) return;
        told = true;
        callback(error);
    };
    const isDone = () => (!stream[READ] || stream[READ].told) && (!stream[WRITE] || stream[WRITE].finished);
    const look = () => {
        if (isDone()) tell();
    };
    stream.on('error', tell);
    stream.on('end', look);
    stream.on('finish', look);
    stream.on('close', () => tell(isDone() ? undefined
        : coded(Error, 'ERR_STREAM_PREMATURE_CLOSE', 'Premature close')));
    if (stream[STATE]?.error) queueMicrotask(() => tell(stream[STATE].error));
    else if (isDone()) queueMicrotask(look);
    return () => { told = true; };
};
const isStream = value => Boolean(value?.[READ] || value?.[WRITE]);
const isReadable = value => Boolean(value?.[READ]);

// The streams of a pipeline; functions are generators of what comes next.
const pipelineAsync = async steps => {
    let at = steps[0];
    if (typeof at === 'function') at = at({});
    const all = [];
    let result;
    for (let i = 0; i < steps.length; i++) {
        if (i > 0 && typeof steps[i] === 'function') {
            const made = steps[i](at);
            if (made?.[Symbol.asyncIterator]) at = made;
            else result = made;
        } else if (i > 0) {
            const source = isReadable(at) ? at : Readable.from(at);
            if (!all.includes(source)) all.push(source);
            at = source.pipe(steps[i]);
        }
        if (isStream(at) && !all.includes(at)) all.push(at);
    }
    const ends = all.map(stream => new Promise((resolve, reject) => {
        finished(stream, error => {
            // A pipe closes its source when the target is done with it.
            if (error) reject(error);
            else resolve();
        });
    }));
    try {
        if (result !== undefined) result = await result;
        await Promise.all(ends);
    } catch (error) {
        for (const stream of all) stream.destroy(error);
        for (const stream of all) stream.on('error', () => {});
        throw error;
    }
    return result;
};
const pipeline = (...steps) => {
    const callback = steps.pop();
    checkFunction(callback, 'streams[stream.length - 1]');
    if (Array.isArray(steps[0])) [steps] = steps;
    pipelineAsync(steps).then(value => callback(undefined, value), callback);
    return steps.at(-1);
};
const promises = {
    pipeline: (...steps) => {
        const last = steps.at(-1);
        if (last && !isStream(last) && typeof last === 'object' && !last[Symbol.asyncIterator]) steps.pop();
        return pipelineAsync(Array.isArray(steps[0]) ? steps[0] : steps);
    },
    finished: (stream, options) => new Promise((resolve, reject) => {
        finished(stream, options ?? {}, error => { error ? reject(error) : resolve(); });
    }),
};
const custom = Symbol.for('nodejs.util.promisify.custom');
defineProperty(pipeline, custom, { value: promises.pipeline });
defineProperty(finished, custom, { value: promises.finished });
Object.assign(Stream, { Stream, Readable, Writable, Duplex, Transform, PassThrough, pipeline, finished, promises });
Object.assign(exports, { Stream, Readable, Writable, Duplex, Transform, PassThrough, pipeline, finished, promises, module: Stream });
