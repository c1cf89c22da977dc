// fs_streams.js - files as streams, and as objects with a descriptor.
const { Readable, Writable } = internal('stream');
const { EventEmitter } = internal('events');
const { wrongType, outOfRange, coded } = internal('errors');
const fs = internal('fs');
const { setImmediate } = internal('timers');
const CHUNK = 65536;

const optionsOf = options => {
    if (typeof options === 'string') return { encoding: options };
    if (options != null && typeof options !== 'object') {
        throw wrongType('options', 'one of type string or object', options);
    }
    return { ...options };
};
const checkPosition = (value, name) => {
    if (value === undefined || name === 'end' && value === Infinity) return;
    if (typeof value !== 'number') throw wrongType(name, 'of type number', value);
    if (!Number.isInteger(value) || value < 0) throw outOfRange(name, '>= 0 && <= 9007199254740991', value);
};
// Opens the file now and says so later. An error of the arguments is thrown.
const open = (stream, file, options, flags) => {
    const given = options.fd;
    stream.path = given == null ? file : undefined;
    stream.fd = typeof given === 'object' && given !== null ? given.fd : given ?? null;
    stream.flags = options.flags ?? flags;
    stream.mode = options.mode ?? 0o666;
    stream.autoClose = options.autoClose !== false;
    if (stream.fd !== null) return;
    try {
        stream.fd = fs.openSync(file, stream.flags, stream.mode);
        setImmediate(() => {
            stream.emit('open', stream.fd);
            stream.emit('ready');
        });
    } catch (error) {
        if (!error.syscall) throw error;
        setImmediate(() => stream.destroy(error));
    }
};
const shut = (stream, error, callback) => {
    const { fd } = stream;
    if (fd !== null && stream.autoClose) {
        stream.fd = null;
        try {
            fs.closeSync(fd);
        } catch (failed) {
            error ??= failed;
        }
    }
    callback(error);
};

class ReadStream extends Readable {
    constructor(file, given) {
        const options = optionsOf(given);
        checkPosition(options.start, 'start');
        checkPosition(options.end, 'end');
        super({ encoding: options.encoding, highWaterMark: options.highWaterMark ?? CHUNK });
        this.start = options.start;
        this.end = options.end ?? Infinity;
        this.bytesRead = 0;
        open(this, file, options, 'r');
    }
    _read(size) {
        if (this.fd === null) return;
        setImmediate(() => {
            if (this.destroyed) return;
            try {
                const left = this.end - (this.start ?? 0) + 1 - this.bytesRead;
                const bytes = new Uint8Array(Math.max(0, Math.min(size, left)));
                const position = this.start === undefined ? null : this.start + this.bytesRead;
                const count = bytes.length ? fs.readSync(this.fd, bytes, 0, bytes.length, position) : 0;
                this.bytesRead += count;
                this.push(count ? bytes.subarray(0, count) : null);
            } catch (error) {
                this.destroy(error);
            }
        });
    }
    _destroy(error, callback) { shut(this, error, callback); }
    close(callback) { closing(this, callback); }
    get pending() { return this.fd === null; }
}
const closing = (stream, callback) => {
    if (callback) {
        if (stream.closed) queueMicrotask(callback);
        else stream.once('close', callback);
    }
    if (stream instanceof Writable && !stream.writableEnded) stream.end();
    else if (stream instanceof Readable) stream.destroy();
};

class WriteStream extends Writable {
    constructor(file, given) {
        const options = optionsOf(given);
        checkPosition(options.start, 'start');
        super({ defaultEncoding: options.encoding, highWaterMark: options.highWaterMark });
        this.start = options.start;
        this.pos = options.start;
        this.bytesWritten = 0;
        open(this, file, options, 'w');
    }
    _write(chunk, encoding, callback) {
        if (this.fd === null) return; // it is closed soon
        for (let at = 0; at < chunk.length;) {
            const count = fs.writeSync(this.fd, chunk, at, chunk.length - at, this.pos ?? null);
            at += count;
            this.bytesWritten += count;
            if (this.pos !== undefined) this.pos += count;
        }
        callback();
    }
    _destroy(error, callback) { shut(this, error, callback); }
    close(callback) { closing(this, callback); }
    get pending() { return this.fd === null; }
}

// ---- a file that was opened by fs.promises

class FileHandle extends EventEmitter {
    #fd;
    constructor(fd) {
        super();
        this.#fd = fd;
    }
    get fd() { return this.#fd; }
    #use(call, ...values) {
        return new Promise(resolve => {
            if (this.#fd < 0) throw coded(Error, 'EBADF', 'file closed');
            resolve(call(this.#fd, ...values));
        });
    }
    async read(view, offset, length, position) {
        if (view === undefined || !ArrayBuffer.isView(view)) {
            const options = { ...view };
            ({ buffer: view = new (internal('buffer').Buffer)(16384), offset, length, position } = options);
        }
        return { bytesRead: await this.#use(fs.readSync, view, offset ?? 0, length, position ?? null), buffer: view };
    }
    async write(data, offset, length, position) {
        return { bytesWritten: await this.#use(fs.writeSync, data, offset, length, position), buffer: data };
    }
    async readv(views, position) {
        return { bytesRead: await this.#use(fs.readvSync, views, position), buffers: views };
    }
    async writev(views, position) {
        return { bytesWritten: await this.#use(fs.writevSync, views, position), buffers: views };
    }
    readFile(options) { return this.#use(fs.readFileSync, options); }
    writeFile(data, options) { return this.#use(fs.writeFileSync, data, options); }
    appendFile(data, options) { return this.#use(fs.appendFileSync, data, options); }
    stat(options) { return this.#use(fs.fstatSync, options); }
    truncate(length) { return this.#use(fs.ftruncateSync, length); }
    sync() { return this.#use(fs.fsyncSync); }
    datasync() { return this.#use(fs.fdatasyncSync); }
    chmod(mode) { return this.#use(fs.fchmodSync, mode); }
    chown(uid, gid) { return this.#use(fs.fchownSync, uid, gid); }
    utimes(accessed, modified) { return this.#use(fs.futimesSync, accessed, modified); }
    async close() {
        if (this.#fd < 0) return;
        const fd = this.#fd;
        this.#fd = -1;
        fs.closeSync(fd);
        this.emit('close');
    }
    async* readLines(options) {
        const rest = await this.readFile({ encoding: options?.encoding ?? 'utf8' });
        const lines = rest.split(/\r\n|\n|\r/);
        if (lines.at(-1) === '') lines.pop();
        yield* lines;
    }
    createReadStream(options) { return new ReadStream('', { ...options, fd: this.#fd }); }
    createWriteStream(options) { return new WriteStream('', { ...options, fd: this.#fd }); }
    async [Symbol.asyncDispose ?? Symbol('asyncDispose')]() { await this.close(); }
}

Object.assign(exports, {
    ReadStream, WriteStream, FileHandle,
    createReadStream: (file, options) => new ReadStream(file, options),
    createWriteStream: (file, options) => new WriteStream(file, options),
});
