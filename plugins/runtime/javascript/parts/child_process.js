// child_process.js - programs, as Node.js starts them. A program runs to its end at once, also where
// Node.js would go on meanwhile: events and callbacks tell of it later.
const { coded, wrongType, wrongValue, outOfRange, checkString, checkFunction } = internal('errors');
const { nameOf } = internal('failures');
const { EventEmitter } = internal('events');
const { Readable, Writable } = internal('stream');
const { setImmediate, setTimeout } = internal('timers');
const { signalOf, signals } = internal('process');
const { isArray } = Array;
const { isView } = ArrayBuffer;
const IGNORE = -1, OUTPUT = -2;
const MOST = 1024 * 1024;

const bufferOf = bytes => {
    const { Buffer } = internal('buffer');
    return bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
};
const decode = (bytes, encoding) => !bytes || !encoding || encoding === 'buffer' ? bytes && bufferOf(bytes)
    : /^utf-?8$/i.test(encoding) ? native.utf8Decode(bytes) : bufferOf(bytes).toString(encoding);

// ---- arguments

const checkText = (value, name) => {
    checkString(value, name);
    if (value.includes('\0')) {
        throw wrongValue(name, value.replaceAll('\0', '\\x00'), 'must be a string without null bytes');
    }
    return value;
};
const directoryOf = cwd => {
    if (cwd == null) return null;
    if (typeof cwd === 'string') return checkText(cwd, 'options.cwd');
    if (isView(cwd)) return native.utf8Decode(cwd);
    if (typeof cwd === 'object' && cwd.protocol === 'file:') return decodeURIComponent(cwd.pathname);
    throw wrongType('options.cwd', 'of type string or an instance of Buffer or URL', cwd);
};
const environmentOf = env => {
    if (env == null) return null;
    if (typeof env !== 'object') throw wrongType('options.env', 'of type object', env);
    const pairs = [];
    for (const name in env) {
        if (env[name] !== undefined) pairs.push(checkText(`${name}=${env[name]}`, `options.env['${name}']`));
    }
    return pairs;
};
const streamOf = (value, i) => {
    if (value == null) return i < 3 ? OUTPUT : IGNORE;
    if (value === 'pipe' || value === 'overlapped') return OUTPUT;
    if (value === 'ignore') return IGNORE;
    if (value === 'inherit') return i;
    if (Number.isInteger(value) && value >= 0) return value;
    if (typeof value === 'object' && Number.isInteger(value.fd)) return value.fd;
    throw wrongValue('stdio', value);
};
const streamsOf = stdio => {
    if (stdio == null) stdio = [];
    if (typeof stdio === 'string') {
        if (!['pipe', 'overlapped', 'ignore', 'inherit'].includes(stdio)) throw wrongValue('stdio', stdio);
        stdio = [stdio, stdio, stdio];
    }
    if (!isArray(stdio)) throw wrongValue('stdio', stdio);
    if (stdio.length > 16) throw wrongValue('stdio', stdio, 'has more than 16 elements');
    if (stdio.includes('ipc')) {
        throw coded(Error, 'ERR_IPC_SYNC_FORK', 'IPC cannot be used: no program of a session speaks it');
    }
    stdio = [...stdio];
    while (stdio.length < 3) stdio.push(undefined);
    return stdio.map(streamOf);
};
const inputOf = input => {
    if (typeof input === 'string' || isView(input)) {
        return typeof input === 'string' ? input : new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
    }
    throw wrongType('options.stdio[0]', 'of type string or an instance of Buffer, TypedArray, or DataView', input);
};

// (file, arguments?, options?) as one object.
const normalize = (file, args, options) => {
    checkText(file, 'file');
    if (file === '') throw wrongValue('file', file, 'cannot be empty');
    if (args == null) args = [];
    else if (isArray(args)) args = [...args];
    else if (typeof args === 'object') [args, options] = [[], args];
    else throw wrongType('args', 'of type object', args);
    if (options !== undefined && (options === null || typeof options !== 'object')) {
        throw wrongType('options', 'of type object', options);
    }
    options = { ...options };
    args = args.map((arg, i) => checkText(`${arg}`, `args[${i}]`));
    if (options.argv0 != null) checkText(options.argv0, 'options.argv0');
    const directory = directoryOf(options.cwd);
    const { timeout, maxBuffer } = options;
    if (timeout != null && !(Number.isInteger(timeout) && timeout >= 0)) {
        throw outOfRange('timeout', 'an unsigned integer', timeout);
    }
    if (maxBuffer != null && !(typeof maxBuffer === 'number' && maxBuffer >= 0)) {
        throw outOfRange('options.maxBuffer', 'a positive number', maxBuffer);
    }
    if (options.shell) {
        args = ['-c', [file, ...args].join(' ')];
        file = typeof options.shell === 'string' ? options.shell : '/bin/sh';
    }
    return {
        file, args, options, directory, environment: environmentOf(options.env),
        signal: signalOf(options.killSignal ?? undefined), timeout: timeout ?? 0,
        most: maxBuffer ?? MOST, argv: [options.argv0 ?? file, ...args],
    };
};

const start = (call, streams) => {
    const [error, pid, status, signal, ...outputs] = native.spawn(call.file, call.argv, call.environment,
        call.directory, streams, call.timeout, call.most, call.signal);
    return {
        number: error, pid, status, outputs,
        signal: signal === null ? null : Object.keys(signals).find(name => signals[name] === signal) ?? `SIG${signal}`,
    };
};
const spawnError = (number, syscall, call) => {
    const error = new Error(`${syscall} ${nameOf(number)}`);
    return Object.assign(error, {
        errno: number, code: nameOf(number), syscall, path: call.file, spawnargs: call.args,
    });
};

// ---- at once

const runSync = call => {
    const { options } = call;
    const streams = streamsOf(options.stdio);
    if (options.input != null) streams[0] = inputOf(options.input);
    else if (streams[0] === OUTPUT) streams[0] = '';
    const ran = start(call, streams);
    const result = {};
    if (ran.number) result.error = spawnError(ran.number, `spawnSync ${call.file}`, call);
    const failed = ran.pid === 0;
    result.status = ran.status;
    result.signal = ran.signal;
    result.output = failed ? null : ran.outputs.map(bytes => decode(bytes, options.encoding));
    result.pid = ran.pid;
    result.stdout = failed ? null : result.output[1];
    result.stderr = failed ? null : result.output[2];
    return result;
};
const spawnSync = (file, args, options) => runSync(normalize(file, args, options));

// The error of a program that did not end well.
const judge = (result, command) => {
    if (result.error) return Object.assign(result.error, result);
    if (result.status === 0) return undefined;
    let message = `Command failed: ${command}`;
    if (result.stderr?.length > 0) message += `\n${result.stderr.toString()}`;
    return Object.assign(new Error(message), result);
};
const output = (call, command) => {
    const result = runSync(call);
    if (!call.options.stdio && result.stderr?.length) {
        native.output(2, result.stderr);
    }
    const error = judge(result, command);
    if (error) throw error;
    return result.stdout;
};
const execFileSync = (file, args, options) => {
    const call = normalize(file, args, options);
    return output(call, call.options.shell ? call.args[1] : [call.file, ...call.args].join(' '));
};
const shellCall = (command, options) => {
    checkString(command, 'command');
    return normalize(command, [], { ...options, shell: options?.shell || true });
};
const execSync = (command, options) => output(shellCall(command, options), command);

// ---- later

class ChildProcess extends EventEmitter {
    #call;
    #streams;
    #input = [];
    #started = false;
    constructor(call) {
        super();
        this.#call = call;
        this.#streams = streamsOf(call.options.stdio);
        this.pid = undefined;
        this.connected = false;
        this.killed = false;
        this.exitCode = null;
        this.signalCode = null;
        this.spawnfile = call.file;
        this.spawnargs = call.argv;
        this.stdio = this.#streams.map((kind, i) => kind !== OUTPUT ? null
            : i === 0 ? this.#inputStream() : new Readable({ read() {} }));
        [this.stdin, this.stdout, this.stderr] = this.stdio;
        const { signal } = call.options;
        signal?.addEventListener?.('abort', () => this.#abort(signal.reason), { once: true });
        setImmediate(() => {
            if (signal?.aborted) this.#abort(signal.reason);
            // What is written to it later, and then ended, is wanted.
            else if (this.#input.length && !this.stdin.writableEnded) setTimeout(() => this.#run(), 100);
            else this.#run();
        });
    }
    #inputStream() {
        const stream = new Writable({
            write: (chunk, encoding, callback) => {
                if (!this.#started) this.#input.push(chunk);
                callback();
            },
            final: callback => {
                callback();
                setImmediate(() => { if (this.#input.length) this.#run(); });
            },
        });
        return stream;
    }
    #abort(reason) {
        if (this.#started) return;
        this.#started = true;
        this.killed = true;
        const error = coded(Error, 'ABORT_ERR', 'The operation was aborted');
        error.name = 'AbortError';
        error.cause = reason;
        this.emit('error', error);
        this.#end(null, 'SIGTERM', []);
    }
    #run() {
        if (this.#started) return;
        this.#started = true;
        const streams = [...this.#streams];
        if (streams[0] === OUTPUT) streams[0] = this.#input.length ? internal('buffer').Buffer.concat(this.#input) : '';
        const ran = start(this.#call, streams);
        this.ran = ran;
        Object.defineProperty(this, 'ran', { enumerable: false });
        if (ran.pid === 0) {
            const error = spawnError(ran.number, `spawn ${this.#call.file}`, this.#call);
            this.exitCode = ran.number;
            this.emit('error', error);
            this.#end(ran.number, null, ran.outputs, false);
            return;
        }
        this.pid = ran.pid;
        this.emit('spawn');
        if (ran.number) this.killed = true;
        this.#end(ran.status, ran.signal, ran.outputs);
    }
    #end(code, signal, outputs, exits = true) {
        const readers = this.stdio.filter(stream => stream instanceof Readable);
        let open = readers.length;
        const close = () => {
            if (open-- === 0) this.emit('close', code, signal);
        };
        for (const stream of readers) stream.once('close', close);
        this.stdio.forEach((stream, i) => {
            if (!(stream instanceof Readable)) return;
            if (outputs[i]?.length) stream.push(outputs[i]);
            stream.push(null);
        });
        setImmediate(() => {
            if (exits) {
                this.exitCode = code;
                this.signalCode = signal;
                this.emit('exit', code, signal);
            }
            this.stdin?.destroy();
            for (const stream of readers) {
                if (stream.readableFlowing === null && !stream.listenerCount('readable')) stream.resume();
            }
            close();
        });
    }
    kill(signal) {
        const name = Object.keys(signals).find(each => signals[each] === signalOf(signal));
        if (this.#started) return false;
        this.#started = true;
        this.killed = true;
        setImmediate(() => this.#end(null, name, []));
        return true;
    }
    ref() {}
    unref() {}
    disconnect() {}
    get [Symbol.toStringTag]() { return 'ChildProcess'; }
}
const spawn = (file, args, options) => {
    const call = normalize(file, args, options);
    call.most = Infinity;
    return new ChildProcess(call);
};

// Collects what a program writes, for a callback.
const collect = (call, command, callback) => {
    const encoding = call.options.encoding === undefined ? 'utf8' : call.options.encoding;
    const child = new ChildProcess(call);
    const parts = [[], []];
    const text = i => decode(internal('buffer').Buffer.concat(parts[i]), encoding);
    child.stdout?.on('data', chunk => parts[0].push(chunk));
    child.stderr?.on('data', chunk => parts[1].push(chunk));
    let told = false;
    const tell = error => {
        if (told) return;
        told = true;
        if (error) error.cmd = command;
        callback?.(error ?? null, text(0), text(1));
    };
    child.on('error', tell);
    child.on('close', (code, signal) => {
        const error = child.ran?.number;
        if (code === 0 && signal === null && !error) {
            tell();
            return;
        }
        if (nameOf(error ?? 0) === 'ENOBUFS') {
            const which = child.ran.outputs[1]?.length > call.most ? 0 : 1;
            parts[which] = [internal('buffer').Buffer.concat(parts[which]).subarray(0, call.most)];
            tell(coded(RangeError, 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER',
                `${['stdout', 'stderr'][which]} maxBuffer length exceeded`));
            return;
        }
        const failed = new Error(`Command failed: ${command}\n${text(1)}`);
        Object.assign(failed, { code: code ?? null, killed: child.killed, signal });
        tell(failed);
    });
    return child;
};
const execFile = (file, args, options, callback) => {
    if (typeof args === 'function') [args, options, callback] = [[], {}, args];
    else if (typeof options === 'function') {
        callback = options;
        options = undefined;
        if (args != null && !isArray(args)) [args, options] = [[], args];
    }
    if (callback != null) checkFunction(callback, 'callback');
    const call = normalize(file, args, options);
    return collect(call, call.options.shell ? call.args[1] : [call.file, ...call.args].join(' '), callback);
};
const exec = (command, options, callback) => {
    if (typeof options === 'function') [options, callback] = [undefined, options];
    return collect(shellCall(command, options), command, callback);
};
const custom = Symbol.for('nodejs.util.promisify.custom');
for (const call of [exec, execFile]) {
    Object.defineProperty(call, custom, {
        value: (...values) => {
            let child;
            const promise = new Promise((resolve, reject) => {
                child = call(...values, (error, stdout, stderr) => {
                    if (error) reject(Object.assign(error, { stdout, stderr }));
                    else resolve({ stdout, stderr });
                });
            });
            promise.child = child;
            return promise;
        },
    });
}
const fork = () => {
    throw coded(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM',
        'child_process.fork() is not available in a session: there is no other JavaScript process to talk to; '
        + 'require() the file, or start a program by spawnSync()');
};
Object.assign(exports, { ChildProcess, exec, execFile, execFileSync, execSync, fork, spawn, spawnSync });
