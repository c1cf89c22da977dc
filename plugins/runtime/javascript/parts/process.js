// process.js - the process of the session, as Node.js tells of it.
const { coded, wrongType, wrongValue, outOfRange } = internal('errors');
const { failure } = internal('failures');
const { EventEmitter } = internal('events');
const run = internal('run');
const { defineProperty } = Object;
const { apply } = Reflect;
const started = native.now();
const codes = native.signals();

const process = new EventEmitter();
Object.setPrototypeOf(process, Object.create(EventEmitter.prototype, {
    constructor: { value: function process() {}, writable: true, configurable: true },
    [Symbol.toStringTag]: { value: 'process', configurable: true },
}));
exports.process = exports.module = process;

// ---- the environment

const keyOf = key => typeof key === 'symbol' ? null : key;
const env = new Proxy({}, {
    get: (target, key) => keyOf(key) === null ? target[key] : native.envGet(key) ?? Object.prototype[key],
    set(target, key, value) {
        if (typeof key === 'symbol' || typeof value === 'symbol') {
            throw new TypeError('Cannot convert a Symbol value to a string');
        }
        native.envSet(key, `${value}`);
        return true;
    },
    has: (target, key) => keyOf(key) !== null && native.envGet(key) !== undefined || key in Object.prototype,
    deleteProperty(target, key) {
        if (keyOf(key) !== null) native.envSet(key);
        return true;
    },
    defineProperty(target, key, descriptor) {
        if (!('value' in descriptor)) {
            throw coded(TypeError, 'ERR_INVALID_OBJECT_DEFINE_PROPERTY',
                "'process.env' does not accept an accessor(getter/setter) descriptor");
        }
        native.envSet(key, `${descriptor.value}`);
        return true;
    },
    ownKeys: () => [...new Set(native.envKeys())],
    getOwnPropertyDescriptor(target, key) {
        const value = keyOf(key) === null ? undefined : native.envGet(key);
        return value === undefined ? undefined : { value, writable: true, enumerable: true, configurable: true };
    },
    preventExtensions() { throw new TypeError("'process.env' cannot be frozen"); },
});

// ---- the end

let exitCode;
let ending = false;
let isLast = false; // the interpreter ends
const over = {};
const checkCode = code => {
    if (code == null) return code;
    const number = typeof code === 'string' && code !== '' ? Number(code) : code;
    if (typeof number !== 'number' || typeof code === 'string' && Number.isNaN(number)) {
        throw wrongType('code', 'of type number', code);
    }
    if (!Number.isInteger(number)) throw outOfRange('code', 'an integer', code);
    return number;
};
const tellExit = () => {
    if (ending) return;
    ending = true;
    try {
        process.emit('exit', exitCode ?? 0);
    } finally {
        ending = false;
    }
};
const exit = code => {
    code = checkCode(code);
    if (code !== undefined) exitCode = code;
    if (!ending) tellExit();
    if (isLast) throw over;
    native.exit(exitCode ?? 0);
    for (;;); // the engine ends the code
};

// The interpreter ends.
exports.finish = () => {
    isLast = true;
    try {
        tellExit();
    } catch (error) {
        if (error !== over) throw error;
    }
};
// The status that the code has asked for; undefined: none.
exports.status = () => exitCode;
// Nothing is pending any more; true: listeners were told, and may have started something.
exports.beforeExit = () => process.emit('beforeExit', exitCode ?? 0);
let capture = null;
exports.uncaught = (error, origin = 'uncaughtException') => {
    if (capture) {
        capture(error);
        return true;
    }
    process.emit('uncaughtExceptionMonitor', error, origin);
    return process.emit('uncaughtException', error, origin);
};
exports.unhandled = (reason, promise) => process.emit('unhandledRejection', reason, promise);

// ---- the standard streams

const output = (fd) => {
    const { Writable } = internal('stream');
    const stream = new Writable({
        decodeStrings: false,
        write(chunk, encoding, callback) {
            native.output(fd, typeof chunk === 'string' && !/^utf-?8$/i.test(encoding)
                ? internal('buffer').Buffer.from(chunk, encoding) : chunk);
            callback();
        },
    });
    // They are not closed.
    stream.end = (chunk, encoding, callback) => {
        if (chunk != null && typeof chunk !== 'function') stream.write(chunk, encoding);
        const told = [chunk, encoding, callback].find(value => typeof value === 'function');
        if (told) queueMicrotask(told);
        return stream;
    };
    stream.destroy = () => stream;
    stream.destroySoon = stream.destroy;
    stream.fd = fd;
    stream._type = 'pipe';
    if (native.fsIsTerminal(fd)) stream.isTTY = true;
    return stream;
};
const input = () => {
    const { Readable } = internal('stream');
    const fs = internal('fs');
    const stream = new Readable({
        read(size) {
            internal('timers').setImmediate(() => {
                try {
                    const bytes = new Uint8Array(size);
                    const count = fs.readSync(0, bytes, 0, size, null);
                    stream.push(count ? bytes.subarray(0, count) : null);
                } catch (error) {
                    stream.destroy(error);
                }
            });
        },
    });
    stream.fd = 0;
    stream.setRawMode = () => stream;
    stream.ref = stream.unref = () => stream;
    if (native.fsIsTerminal(0)) stream.isTTY = true;
    return stream;
};

// ---- times and figures

const hrtime = before => {
    const now = native.now();
    let seconds = Math.floor(now / 1e3);
    let nanos = Math.floor((now - seconds * 1e3) * 1e6);
    if (before !== undefined) {
        if (!Array.isArray(before)) throw wrongType('time', 'an instance of Array', before);
        if (before.length !== 2) throw outOfRange('time', '2', before.length);
        seconds -= before[0];
        nanos -= before[1];
        if (nanos < 0) {
            seconds--;
            nanos += 1e9;
        }
    }
    return [seconds, nanos];
};
hrtime.bigint = () => {
    const [seconds, nanos] = hrtime();
    return BigInt(seconds) * 1000000000n + BigInt(nanos);
};
const rss = () => {
    try {
        const pages = internal('fs').readFileSync('/proc/self/statm', 'latin1').split(' ');
        return Number(pages[1]) * native.pageSize();
    } catch {
        return native.usage()[2] * 1024;
    }
};
const memoryUsage = () => {
    const all = rss();
    return { rss: all, heapTotal: all, heapUsed: all, external: 0, arrayBuffers: 0 };
};
memoryUsage.rss = rss;
const cpuUsage = before => {
    const [user, system] = native.usage();
    return { user: user - (before?.user ?? 0), system: system - (before?.system ?? 0) };
};
const resourceUsage = () => {
    const [userCPUTime, systemCPUTime, maxRSS, minorPageFault, majorPageFault, fsRead, fsWrite, voluntary,
        involuntary] = native.usage();
    return {
        userCPUTime, systemCPUTime, maxRSS, sharedMemorySize: 0, unsharedDataSize: 0, unsharedStackSize: 0,
        minorPageFault, majorPageFault, swappedOut: 0, fsRead, fsWrite, ipcSent: 0, ipcReceived: 0,
        signalsCount: 0, voluntaryContextSwitches: voluntary, involuntaryContextSwitches: involuntary,
    };
};

// ---- what is done to processes

const check = (number, syscall, ...paths) => {
    if (number < 0) throw failure(number, syscall, ...paths);
};
const cwd = () => {
    const directory = native.directory();
    if (typeof directory === 'number') {
        const error = failure(directory, 'uv_cwd');
        error.message = `${error.message.split(',')[0]}, uv_cwd`;
        throw error;
    }
    return directory;
};
const chdir = directory => {
    if (typeof directory !== 'string') throw wrongType('directory', 'of type string', directory);
    check(native.enter(directory), 'chdir', cwd(), directory);
};
const signalOf = signal => {
    if (signal === undefined) return codes.SIGTERM;
    if (typeof signal === 'number') return signal;
    if (Object.hasOwn(codes, signal)) return codes[signal];
    throw coded(TypeError, 'ERR_UNKNOWN_SIGNAL', `Unknown signal: ${String(signal)}`);
};
exports.signalOf = signalOf;
exports.signals = codes;
const kill = (pid, signal) => {
    if (pid != (pid | 0)) throw wrongType('pid', 'of type number', pid);
    const number = native.signal(pid | 0, signalOf(signal));
    if (number < 0) {
        const { nameOf } = internal('failures');
        const error = new Error(`kill ${nameOf(number)}`);
        Object.assign(error, { errno: number, code: nameOf(number), syscall: 'kill' });
        throw error;
    }
    return true;
};
const umask = mask => {
    if (mask === undefined) return native.mask(-1);
    const number = typeof mask === 'string' && /^[0-7]+$/.test(mask) ? parseInt(mask, 8) : mask;
    if (typeof number !== 'number') {
        throw wrongValue('mask', mask, 'must be a 32-bit unsigned integer or an octal string');
    }
    return native.mask(number & 0o777);
};
const emitWarning = (warning, type, code) => {
    if (typeof warning !== 'string' && !(warning instanceof Error)) {
        throw wrongType('warning', 'of type string or an instance of Error', warning);
    }
    const options = type !== null && typeof type === 'object' ? type : { type, code };
    if (typeof warning === 'string') {
        const message = warning;
        warning = new Error(message);
        defineProperty(warning, 'name', { value: String(options.type || 'Warning'), configurable: true, writable: true });
        if (typeof options.code === 'string') warning.code = options.code;
    }
    const detail = typeof options.detail === 'string' ? `\n${options.detail}` : '';
    queueMicrotask(() => {
        process.emit('warning', warning);
        native.output(2, `(javascript) ${warning.code ? `[${warning.code}] ` : ''}${warning.name}: ${warning.message}${detail}\n`);
    });
};

// ---- the object

const system = native.system();
const [pid, ppid] = native.ids();
const id = index => () => native.ids()[index];
const methods = {
    exit, reallyExit: exit, cwd, chdir, kill, umask, emitWarning, hrtime, memoryUsage, cpuUsage, resourceUsage,
    abort() { native.abort(); },
    uptime: () => (native.now() - started) / 1e3,
    nextTick(callback, ...values) {
        if (typeof callback !== 'function') throw wrongType('callback', 'of type function', callback);
        queueMicrotask(() => apply(callback, undefined, values));
    },
    getuid: id(2), geteuid: id(3), getgid: id(4), getegid: id(5), getgroups: () => [native.ids()[4]],
    constrainedMemory: () => 0,
    hasUncaughtExceptionCaptureCallback: () => capture !== null,
    setUncaughtExceptionCaptureCallback(callback) {
        if (callback !== null && typeof callback !== 'function') {
            throw wrongType('fn', 'of type function or null', callback);
        }
        capture = callback;
    },
    getActiveResourcesInfo: () => [],
    setSourceMapsEnabled() {},
};
const architectures = { x86_64: 'x64', aarch64: 'arm64', arm64: 'arm64', i686: 'ia32', armv7l: 'arm' };
const arch = architectures[system.machine] ?? system.machine;
const program = '/usr/bin/node';
const facts = {
    version: 'v20.18.0',
    versions: { node: '20.18.0', javascriptcore: native.engineVersion() },
    arch, platform: String(system.type).toLowerCase(),
    release: { name: 'node', lts: 'Iron' },
    title: 'node', pid, ppid, execPath: program, execArgv: [], debugPort: 9229, argv0: 'node',
    features: { inspector: false, debug: false, uv: false, ipv6: true, tls: false, typescript: false },
    config: { target_defaults: {}, variables: {} },
    env, exitCode: undefined, allowedNodeEnvironmentFlags: new Set(),
};
const put = (name, value, enumerable = true) =>
    defineProperty(process, name, { value, writable: true, enumerable, configurable: true });
for (const [name, value] of Object.entries(facts)) put(name, value);
for (const [name, value] of Object.entries(methods)) put(name, value);
// Those of the execution that runs: argv[0] is the program, argv[1] the file of the code.
let argv, argvOf;
defineProperty(process, 'argv', {
    get() {
        if (argv === undefined || argvOf !== run.argv) {
            argvOf = run.argv;
            const [file, ...rest] = argvOf;
            argv = file === undefined ? [program]
                : [program, internal('path').resolve(run.directory?.() ?? '', file), ...rest];
        }
        return argv;
    },
    set(value) {
        argv = value;
        argvOf = run.argv;
    },
    enumerable: true, configurable: true,
});
defineProperty(process, 'exitCode', {
    get: () => exitCode,
    set(code) { exitCode = checkCode(code); },
    enumerable: true, configurable: true,
});
const lazily = (name, make) => defineProperty(process, name, {
    get() {
        const value = make();
        put(name, value);
        return value;
    },
    set(value) { put(name, value); },
    enumerable: true, configurable: true,
});
lazily('stdout', () => output(1));
lazily('stderr', () => output(2));
lazily('stdin', input);
lazily('report', () => ({ getReport: () => ({}) }));
