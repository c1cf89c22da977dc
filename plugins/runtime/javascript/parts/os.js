// os.js - the module os: what the system says of itself inside the box.
const system = native.system();
const { coded } = internal('errors');
const env = name => globalThis.process?.env?.[name];
const architectures = { x86_64: 'x64', aarch64: 'arm64', armv7l: 'arm', i686: 'ia32', ppc64le: 'ppc64' };
const constant = value => {
    const get = () => value;
    get[Symbol.toPrimitive] = get;
    return get;
};
const signals = ['HUP', 'INT', 'QUIT', 'ILL', 'TRAP', 'ABRT', 'BUS', 'FPE', 'KILL', 'USR1', 'SEGV', 'USR2', 'PIPE', 'ALRM', 'TERM',
    'STKFLT', 'CHLD', 'CONT', 'STOP', 'TSTP', 'TTIN', 'TTOU', 'URG', 'XCPU', 'XFSZ', 'VTALRM', 'PROF', 'WINCH', 'IO', 'PWR', 'SYS'];
Object.assign(exports, {
    EOL: '\n',
    devNull: '/dev/null',
    arch: constant(architectures[system.machine] ?? system.machine),
    platform: constant('linux'),
    type: constant(system.type ?? 'Linux'),
    release: constant(system.release ?? ''),
    version: constant(system.version ?? ''),
    machine: constant(system.machine ?? ''),
    endianness: constant(new Uint8Array(new Uint16Array([1]).buffer)[0] ? 'LE' : 'BE'),
    hostname: constant(system.hostname ?? 'localhost'),
    homedir: () => env('HOME') ?? system.home ?? '/',
    tmpdir: () => (env('TMPDIR') || env('TMP') || env('TEMP') || '/tmp').replace(/(?<=.)\/$/, ''),
    uptime: () => native.system().uptime ?? 0,
    totalmem: () => system.total ?? 0,
    freemem: () => native.system().free ?? 0,
    loadavg: () => {
        const { load1 = 0, load5 = 0, load15 = 0 } = native.system();
        return [load1, load5, load15];
    },
    availableParallelism: constant(system.processors),
    // How many there are; the box does not tell what they do.
    cpus: () => Array.from({ length: system.processors }, () => ({
        model: 'unknown', speed: 0, times: { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 },
    })),
    networkInterfaces: () => ({}),
    userInfo({ encoding } = {}) {
        const { uid, gid, user: username = env('USER') ?? String(uid), home: homedir = '/', shell = null } = system;
        const info = { uid, gid, username, homedir, shell };
        if (encoding === 'buffer') {
            for (const key of ['username', 'homedir', 'shell']) info[key] &&= internal('buffer').Buffer.from(info[key]);
        }
        return info;
    },
    getPriority: () => 0,
    setPriority() {
        const error = coded(Error, 'ERR_SYSTEM_ERROR', 'A system error occurred: uv_os_setpriority returned EACCES (permission denied)');
        throw error;
    },
    constants: {
        signals: Object.fromEntries(signals.map((name, i) => [`SIG${name}`, i + 1])),
        priority: { PRIORITY_LOW: 19, PRIORITY_BELOW_NORMAL: 10, PRIORITY_NORMAL: 0, PRIORITY_ABOVE_NORMAL: -7, PRIORITY_HIGH: -14,
            PRIORITY_HIGHEST: -20 },
    },
});
