// modules.js - require() and import: parts of the runtime, libraries of the configuration, files.
const path = internal('path');
const run = internal('run');
const { coded, wrongType } = internal('errors');
const { create, defineProperty, keys, hasOwn } = Object;
const { apply } = Reflect;

// ---- what is built in

// A name, and the part that it is, or the part and what of it.
const table = {
    assert: 'assert', 'assert/strict': ['assert', 'strict'], buffer: 'buffer', child_process: 'child_process',
    console: ['console', 'console'], crypto: 'crypto', events: 'events', fs: 'fs', 'fs/promises': ['fs', 'promises'],
    os: 'os', path: 'path', 'path/posix': ['path', 'posix'], 'path/win32': ['path', 'win32'],
    perf_hooks: 'performance', process: 'process', querystring: 'querystring', readline: 'readline',
    'readline/promises': ['readline', 'promises'], stream: 'stream', 'stream/promises': ['stream', 'promises'],
    string_decoder: 'string_decoder', timers: 'timers', 'timers/promises': ['timers', 'promises'], url: 'url_module',
    util: 'util', 'util/types': ['util', 'types'],
};
const builtins = [...keys(table).filter(name => native.hasPart([table[name]].flat()[0])), 'module'].sort();
const isBuiltin = name => builtins.includes(name.startsWith('node:') ? name.slice(5) : name);
const builtin = name => {
    if (name === 'module') return Module;
    const [part, key] = [table[name]].flat();
    const exported = internal(part);
    return key ? exported[key] : exported.module ?? exported;
};
// Libraries of the configuration, by name. Who loads them fills it.
const libraries = new Map();
// Those that are not loaded yet: functions that do it, so that one may need another in any order.
const unloaded = new Map();
const isLibrary = name => {
    const load = unloaded.get(name);
    unloaded.delete(name);
    load?.();
    return libraries.has(name);
};

// ---- what is not there

const wellKnown = [
    [/^(https?|http2|axios|node-fetch|got|undici|request|superagent|needle|ky)$/,
        '`fetch` gets what is in the web where the session has a network; else a tool may'],
    [/^(net|tls|dgram|dns|dns\/promises|ws|socket\.io.*)$/,
        'a session has no sockets: `fetch` works where it has a network, and a tool may do the rest'],
    [/^(express|fastify|koa|hapi|connect|restify)$/, 'a session serves no requests: call the functions directly'],
    [/^(worker_threads|cluster)$/, 'there is one thread: use `Promise.all` over tools, or child_process for programs'],
    [/^(sqlite3?|better-sqlite3|pg|mysql2?|mongodb|mongoose|redis|ioredis|knex|prisma|sequelize)$/,
        'databases are reached by tools'],
    [/^(fs-extra|graceful-fs|rimraf|mkdirp|glob)$/, "the module 'fs' does that: cpSync, rmSync, mkdirSync, readdirSync"],
    [/^(dotenv|chalk|commander|yargs|minimist)$/, 'it is a package: the host can put a bundle of it into '
        + 'runtime.javascript.libraries, or its files beside the code'],
    [/^(zlib|vm|v8|inspector|async_hooks|repl|tty|domain|wasi|trace_events|diagnostics_channel|test|sea)$/,
        'it belongs to Node.js itself, which this is not'],
];
const helpFor = name => {
    const bare = name.replace(/^node:/, '');
    const hint = wellKnown.find(([pattern]) => pattern.test(bare));
    const libraryNames = [...libraries.keys(), ...unloaded.keys()];
    return (hint ? `\n'${bare}' is not in this runtime: ${hint[1]}.` : '')
        + `\nThere are the built-in modules ${builtins.join(', ')}; ${libraryNames.length
            ? `the libraries ${libraryNames.join(', ')}` : 'no libraries are configured'}; files, by a path that begins with './' or '/'; `
        + 'and packages in a node_modules that is shown to the code (lazaret run --read, sandbox.read).';
};
const stackOf = parent => {
    const stack = [];
    for (let at = parent; at && !stack.includes(at.filename); at = at.parent) {
        if (at.filename) stack.push(at.filename);
    }
    return stack;
};
const notFound = (name, parent, isImport) => {
    const stack = stackOf(parent);
    const isFile = /^(\.{0,2}\/|\.{1,2}$|file:)/.test(name);
    const head = isImport && parent?.filename ? `Cannot find ${isFile ? 'module' : 'package'} '${name}' imported from ${parent.filename}`
        : `Cannot find module '${name}'${stack.length ? `\nRequire stack:\n- ${stack.join('\n- ')}` : ''}`;
    const error = new Error(head + (isFile ? '' : helpFor(name)));
    error.code = isImport ? 'ERR_MODULE_NOT_FOUND' : 'MODULE_NOT_FOUND';
    if (!isImport) error.requireStack = stack;
    return error;
};

// ---- which file

const modeOf = file => {
    const facts = native.fsStat(file, true);
    return typeof facts === 'number' ? 0 : facts[1] & 0o170000;
};
const isFile = file => modeOf(file) !== 0 && modeOf(file) !== 0o040000;
const isDirectory = file => modeOf(file) === 0o040000;
const readText = file => {
    const text = internal('fs').readFileSync(file, 'utf8');
    return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
};
const packages = new Map();
const packageOf = directory => {
    const file = path.join(directory, 'package.json');
    if (!packages.has(file)) {
        let found = null;
        if (isFile(file)) {
            try {
                found = JSON.parse(readText(file));
            } catch (error) {
                error.message = `${file}: ${error.message}`;
                throw error;
            }
        }
        packages.set(file, found);
    }
    return packages.get(file);
};
const upwards = function* (directory) {
    for (let at = directory; ; at = path.dirname(at)) {
        yield at;
        if (at === path.dirname(at)) return;
    }
};
const enclosing = directory => {
    for (const at of upwards(directory)) {
        const description = packageOf(at);
        if (description) return [at, description];
        if (path.basename(at) === 'node_modules') break;
    }
    return [null, null];
};

const endings = ['.js', '.json', '.cjs', '.mjs', '.ts', '.mts', '.cts'];
const asFile = file => {
    if (isFile(file)) return file;
    const found = endings.find(ending => isFile(file + ending));
    if (found) return file + found;
    // TypeScript names the file that the compiler would make.
    const source = file.replace(/\.([cm]?)js$/, '.$1ts');
    return source !== file && isFile(source) ? source : null;
};
const asDirectory = directory => {
    if (!isDirectory(directory)) return null;
    const main = packageOf(directory)?.main;
    if (typeof main === 'string' && main) {
        const named = path.resolve(directory, main);
        const found = asFile(named) ?? asFile(path.join(named, 'index'));
        if (found) return found;
    }
    return asFile(path.join(directory, 'index'));
};
const asPath = file => (file.endsWith('/') ? null : asFile(file)) ?? asDirectory(file);

// What an entry of "exports" or "imports" means under the conditions; null: nothing.
const targetOf = (target, conditions, star) => {
    if (typeof target === 'string') return star === undefined ? target : target.replaceAll('*', star);
    if (Array.isArray(target)) {
        for (const item of target) {
            const found = targetOf(item, conditions, star);
            if (found) return found;
        }
        return null;
    }
    if (target === null || typeof target !== 'object') return null;
    for (const condition of keys(target)) {
        if (condition !== 'default' && !conditions.includes(condition)) continue;
        const found = targetOf(target[condition], conditions, star);
        if (found) return found;
    }
    return null;
};
const entryOf = (entries, name, conditions) => {
    if (hasOwn(entries, name) && !name.includes('*')) return targetOf(entries[name], conditions);
    const patterns = keys(entries).filter(key => key.includes('*')).sort((a, b) => b.length - a.length);
    for (const pattern of patterns) {
        const [head, tail] = pattern.split('*');
        if (name.startsWith(head) && name.endsWith(tail) && name.length >= head.length + tail.length) {
            return targetOf(entries[pattern], conditions, name.slice(head.length, name.length - tail.length));
        }
    }
    return null;
};
const inPackage = (directory, description, rest, conditions, name) => {
    let { exports: entries } = description ?? {};
    if (entries == null) return asPath(rest ? path.join(directory, rest) : directory);
    if (typeof entries === 'string' || Array.isArray(entries) || !keys(entries).some(key => key[0] === '.')) {
        entries = { '.': entries };
    }
    const target = entryOf(entries, rest ? `./${rest}` : '.', conditions);
    if (!target) {
        throw coded(Error, 'ERR_PACKAGE_PATH_NOT_EXPORTED', rest
            ? `Package subpath './${rest}' is not defined by "exports" in ${directory}/package.json`
            : `No "exports" main defined in ${directory}/package.json`);
    }
    return asFile(path.join(directory, target)) ?? notThere(path.join(directory, target), name);
};
const notThere = file => { throw notFound(file, null, false); };

const conditionsOf = isImport => ['lazaret', 'node', isImport ? 'import' : 'require', 'module-sync'];
const inModules = (name, directory, isImport) => {
    const [, packageName, rest] = /^((?:@[^/]+\/)?[^/]+)\/?(.*)$/.exec(name) ?? [];
    if (!packageName) return null;
    const [own, description] = enclosing(directory);
    if (description?.name === packageName && description.exports != null) {
        return inPackage(own, description, rest, conditionsOf(isImport), name);
    }
    for (const at of upwards(directory)) {
        const place = path.join(at, 'node_modules', packageName);
        if (path.basename(at) === 'node_modules' || !isDirectory(place)) continue;
        const found = inPackage(place, packageOf(place), rest, conditionsOf(isImport), name);
        if (found) return found;
    }
    return null;
};

// The absolute name of the file that `name` means for a module; what is built in is not asked for.
const resolveFile = (name, parent, isImport) => {
    const directory = parent.directory;
    let found;
    if (name.startsWith('file:')) {
        const URL = native.hasPart('url') ? internal('url').URL : null;
        found = asPath(decodeURIComponent(URL ? new URL(name).pathname : name.slice(7)));
    } else if (/^(\/|\.{1,2}(\/|$))/.test(name)) {
        const file = path.resolve(directory, name);
        found = asPath(/(\/|\/\.{1,2}|^\.{1,2})$/.test(name) && file !== '/' ? `${file}/` : file);
    } else if (name[0] === '#') {
        const [place, description] = enclosing(directory);
        const target = entryOf(description?.imports ?? {}, name, conditionsOf(isImport));
        if (target) found = target[0] === '.' ? asFile(path.join(place, target)) : resolveFile(target, parent, isImport);
    } else {
        found = inModules(name, directory, isImport);
    }
    if (!found) throw notFound(name, parent, isImport);
    const real = native.fsRealPath(found, false);
    return typeof real === 'string' ? real : found;
};

// ---- modules

const cache = create(null);
let mainModule;

function Module(id = '', parent) {
    this.id = id;
    this.path = path.dirname(id);
    this.exports = {};
    defineProperty(this, 'parent', { value: parent, writable: true, configurable: true, enumerable: false });
    this.filename = null;
    this.loaded = false;
    this.children = [];
    this.paths = [...upwards(this.path)].filter(at => path.basename(at) !== 'node_modules')
        .map(at => path.join(at, 'node_modules'));
    defineProperty(this, 'directory', { value: this.path, writable: true, configurable: true, enumerable: false });
    // Of a file with import and export: the namespace, and the promise of its evaluation.
    for (const name of ['namespace', 'promise', 'isRunning']) {
        defineProperty(this, name, { value: undefined, writable: true, enumerable: false });
    }
}
Module.prototype.require = function (name) { return load(checked(name), this, false); };
const checked = name => {
    if (typeof name !== 'string') throw wrongType('id', 'of type string', name);
    if (name === '') {
        throw coded(TypeError, 'ERR_INVALID_ARG_VALUE', "The argument 'id' must be a non-empty string. Received ''");
    }
    return name;
};

// What a name means that is no file: [exports], or null.
const known = name => {
    if (name.startsWith('node:')) {
        if (!isBuiltin(name)) {
            throw coded(Error, 'ERR_UNKNOWN_BUILTIN_MODULE', `No such built-in module: ${name}${helpFor(name)}`);
        }
        return [builtin(name.slice(5))];
    }
    if (builtins.includes(name)) return [builtin(name)];
    if (isLibrary(name)) return [libraries.get(name)];
    return null;
};

const formOf = (file, scanned) => {
    const ending = path.extname(file);
    if (ending === '.mjs' || ending === '.mts') return 'module';
    if (ending === '.cjs' || ending === '.cts') return 'commonjs';
    return scanned.isModule || enclosing(path.dirname(file))[1]?.type === 'module' ? 'module' : 'commonjs';
};
const sourceOf = file => {
    let text = readText(file);
    if (text.startsWith('#!')) text = `//${text}`;
    if (!/\.[cm]?ts$/.test(file)) return text;
    if (!native.hasPart('typescript')) {
        throw coded(SyntaxError, 'ERR_UNKNOWN_FILE_EXTENSION', `${file}: nothing takes the types off TypeScript here`);
    }
    return internal('typescript').strip(text, file);
};

const loadFile = (file, parent, isSync) => {
    const known = cache[file];
    if (known) {
        if (parent.children && !parent.children.includes(known)) parent.children.push(known);
        return known;
    }
    const module = new Module(file, parent.filename === undefined ? undefined : parent);
    module.filename = file;
    cache[file] = module;
    parent.children?.push(module);
    let done = false;
    try {
        if (file.endsWith('.json')) loadJson(module);
        else loadCode(module, isSync);
        done = true;
    } finally {
        if (!done) delete cache[file];
    }
    return module;
};
const loadJson = module => {
    const text = readText(module.filename);
    try {
        module.exports = JSON.parse(text);
    } catch (error) {
        error.message = `${module.filename}: ${error.message}`;
        throw error;
    }
    module.loaded = true;
};
const loadCode = (module, isSync) => {
    const text = sourceOf(module.filename);
    const scanned = native.scan(text, 'module');
    if (formOf(module.filename, scanned) === 'module') {
        loadModule(module, scanned, isSync);
        return;
    }
    const make = native.compile(`(function (exports, require, module, __filename, __dirname) {${text}\n})`, module.filename);
    apply(make, module.exports, [module.exports, requireOf(module), module, module.filename, path.dirname(module.filename)]);
    module.loaded = true;
};

// ---- files with import and export

const namespaces = new WeakSet();
const { has: hasItem } = WeakSet.prototype;
const namespaceOf = () => {
    const namespace = defineProperty(create(null), Symbol.toStringTag, { value: 'Module' });
    namespaces.add(namespace);
    return namespace;
};
const addExports = (namespace, names) => {
    for (const name of keys(names)) {
        defineProperty(namespace, name, { ...Object.getOwnPropertyDescriptor(names, name), configurable: true, enumerable: true });
    }
};
const addFrom = (namespace, source, pairs) => {
    const put = (name, get) => {
        if (!hasOwn(namespace, name)) defineProperty(namespace, name, { get, configurable: true, enumerable: true });
    };
    if (pairs === null) {
        for (const name of keys(source)) if (name !== 'default') put(name, () => source[name]);
        return;
    }
    for (const [from, to] of pairs) put(to, from === '*' ? () => source : () => source[from]);
};
const complete = new WeakSet();
const sorted = namespace => {
    complete.add(namespace);
    const names = keys(namespace).sort();
    for (const name of names) {
        const descriptor = Object.getOwnPropertyDescriptor(namespace, name);
        delete namespace[name];
        defineProperty(namespace, name, { ...descriptor, configurable: true });
    }
    return Object.preventExtensions(namespace);
};
// In a circle a name may have no value yet: this stands for it, and is used as what it becomes.
const standIn = (namespace, name) => new Proxy(apply(Function.prototype.bind, function () {}, []), new Proxy({}, {
    get: (traps, trap) => (target, ...rest) => Reflect[trap](namespace[name], ...rest),
}));
// From what an import takes its names: one that is not there is an error. In a circle nobody knows yet.
const named = (namespace, from) => new Proxy(namespace, {
    get(target, name) {
        if (!complete.has(target)) {
            try {
                if (name in target) return target[name];
            } catch (error) {
                if (!(error instanceof ReferenceError)) throw error;
            }
            return standIn(target, name);
        }
        if (name in target) return target[name];
        throw new SyntaxError(`The requested module '${from}' does not provide an export named '${name}'`);
    },
});
const loadModule = (module, scanned, isSync) => {
    const { filename } = module;
    const namespace = module.namespace = namespaceOf();
    let { text } = scanned;
    if (isSync && scanned.hasAwait) {
        throw coded(Error, 'ERR_REQUIRE_ASYNC_MODULE', `require() cannot be used on ${filename}: it has a top-level await. `
            + 'Use `await import()` instead.');
    }
    // Without an await of its own it can run at once, if what it imports can.
    if (isSync) text = text.replaceAll('await __import(', '__importNow(');
    const make = native.compile(`(${isSync ? '' : 'async '}function (exports, __import, __meta, __export, __exportFrom, __importNow) {'use strict';${
        text}\n})`, filename);
    module.isRunning = true;
    const end = () => {
        module.isRunning = false;
        module.loaded = true;
        module.exports = sorted(namespace);
        return namespace;
    };
    const result = apply(make, undefined, [
        module.exports, (name, options) => importFor(name, module, options), metaFor(filename),
        names => addExports(namespace, names), (source, pairs) => addFrom(namespace, source, pairs),
        name => importNow(name, module),
    ]);
    if (isSync) module.promise = Promise.resolve(end());
    else module.promise = result.then(end, error => {
        delete cache[filename];
        throw error;
    });
};
// What import gives for the exports of a module of another kind.
const wrappers = new WeakMap();
const wrap = exported => {
    const isObject = exported !== null && (typeof exported === 'object' || typeof exported === 'function');
    if (isObject && apply(hasItem, namespaces, [exported]) && hasOwn(exported, 'default')) return exported; // of a library
    if (isObject && wrappers.has(exported)) return wrappers.get(exported);
    const namespace = namespaceOf();
    if (isObject) {
        for (const name of keys(exported)) {
            if (name !== 'default') {
                defineProperty(namespace, name, { get: () => exported[name], configurable: true, enumerable: true });
            }
        }
    }
    defineProperty(namespace, 'default', { value: exported, writable: true, configurable: true, enumerable: true });
    sorted(namespace);
    if (isObject) wrappers.set(exported, namespace);
    return namespace;
};
const importNow = (name, parent) => {
    const found = known(name);
    if (found) return wrap(found[0]);
    const module = loadFile(resolveFile(name, parent, true), parent, true);
    return namespaceAtOnce(module) ?? wrap(module.exports);
};
const namespaceAtOnce = module => {
    if (!module.namespace) return null;
    if (!module.loaded && !module.isRunning) throw coded(Error, 'ERR_REQUIRE_ASYNC_MODULE', `${module.filename} is still loading`);
    return module.namespace;
};
const waits = (from, to, seen = new Set()) => from === to || !seen.has(from) && seen.add(from)
    && from.children.some(child => child.namespace && !child.loaded && waits(child, to, seen));
const importFor = async (name, parent, options) => {
    name = `${name}`;
    const found = known(name);
    if (found) return wrap(found[0]);
    const file = resolveFile(name, parent, true);
    const type = options?.with?.type;
    if (type !== undefined && (type !== 'json' || !file.endsWith('.json'))) {
        throw coded(TypeError, 'ERR_IMPORT_ATTRIBUTE_UNSUPPORTED', `Import attribute "type" with value "${type}" is not supported for ${file}`);
    }
    const module = loadFile(file, parent, false);
    if (!module.namespace) return wrap(module.exports);
    // In a circle nobody waits: what is there so far has to do.
    if (!module.loaded && parent.filename && waits(module, parent)) return module.namespace;
    return module.promise;
};

// ---- require

const load = (name, parent) => {
    const found = known(name);
    if (found) return found[0];
    const module = loadFile(resolveFile(name, parent, false), parent, true);
    if (!module.namespace) return module.exports;
    return namespaceAtOnce(module);
};
const requireOf = module => {
    const require = function require(name) { return module.require(name); };
    require.resolve = (name, options) => {
        checked(name);
        if (isBuiltin(name) || isLibrary(name)) return name;
        for (const place of options?.paths ?? [module.directory]) {
            try {
                return resolveFile(name, { filename: module.filename, parent: module.parent, directory: path.resolve(place) }, false);
            } catch (error) {
                if (error.code !== 'MODULE_NOT_FOUND') throw error;
            }
        }
        throw notFound(name, module, false);
    };
    require.resolve.paths = name => isBuiltin(name) ? null : module.paths;
    require.main = mainModule?.filename ? mainModule : undefined;
    require.cache = cache;
    require.extensions = create(null);
    return require;
};
const makeRequire = filename => {
    if (typeof filename === 'object' && filename?.href) filename = filename.href;
    if (typeof filename !== 'string' || !/^(\/|file:)/.test(filename)) {
        throw coded(TypeError, 'ERR_INVALID_ARG_VALUE', "The argument 'filename' must be a file URL object, file URL string, "
            + `or absolute path string. Received '${String(filename)}'`);
    }
    if (filename.startsWith('file:')) filename = decodeURIComponent(filename.slice(7));
    const module = new Module(filename.endsWith('/') ? `${filename}noop.js` : filename);
    module.filename = module.id;
    return requireOf(module);
};

// ---- the code of an execution

// A module for the code: that of its file, or of the directory in which it runs.
const mainFile = () => {
    const script = run.script?.();
    if (script == null) return null;
    return path.resolve(run.directory?.() ?? '', run.directory?.() ? path.basename(script) : script);
};
const mainOf = () => {
    const file = mainFile();
    const id = file ?? path.join(path.resolve(''), '<code>');
    if (mainModule?.id !== id) {
        mainModule = new Module(id);
        if (file) {
            mainModule.filename = file;
            cache[file] ??= mainModule;
        }
    }
    return mainModule;
};
const require = requireOf({
    require: name => load(checked(name), mainOf()),
    get filename() { return mainOf().filename; }, get directory() { return mainOf().directory; },
    get paths() { return mainOf().paths; }, parent: undefined,
});
defineProperty(require, 'main', { get: () => mainOf().filename ? mainOf() : undefined, enumerable: true, configurable: true });

const urlOf = file => {
    if (native.hasPart('url') && internal('url').pathToFileURL) return internal('url').pathToFileURL(file).href;
    return `file://${encodeURI(file).replace(/[?#]/g, encodeURIComponent)}`;
};
const metaFor = filename => {
    const meta = create(null);
    meta.dirname = path.dirname(filename);
    meta.filename = filename;
    meta.resolve = name => {
        if (isBuiltin(name)) return name.startsWith('node:') ? name : `node:${name}`;
        return urlOf(resolveFile(name, { filename, directory: path.dirname(filename) }, true));
    };
    meta.url = urlOf(filename);
    return meta;
};

Object.assign(Module, {
    Module, builtinModules: builtins, createRequire: makeRequire, isBuiltin, _cache: cache,
    syncBuiltinESMExports() {}, findSourceMap() {},
    _resolveFilename: (name, parent) => isBuiltin(name) ? name : resolveFile(name, parent ?? mainOf(), false),
});
Object.assign(exports, {
    require, makeRequire, builtins, libraries, unloaded, isBuiltin, mainFile, named,
    isNamespace: value => apply(hasItem, namespaces, [value]),
    // A promise of the namespace; `from` is the file whose code asks, or null: the code of the execution.
    importModule: (name, from, options) => importFor(name, from && path.isAbsolute(from)
        ? cache[from] ?? { filename: from, directory: path.dirname(from), children: [] } : mainOf(), options),
    metaOf: from => metaFor(from && path.isAbsolute(from) ? from : mainFile() ?? path.join(path.resolve(''), '<code>')),
    // The exports of a library of the configuration: a file, or the directory of a package.
    loadLibrary(place) {
        const find = (isImport) => inPackage(place, packageOf(place), '', conditionsOf(isImport), place);
        let file = place;
        if (isDirectory(place)) {
            try {
                file = find(false);
            } catch {
                file = find(true);
            }
            file ??= notThere(place);
        }
        return loadFile(file, new Module(file), true).exports;
    },
    // What a file is run with that is no module: [exports, require, module, __filename, __dirname].
    mainValues() {
        const module = mainOf();
        return [module.exports, requireOf(module), module, module.filename, module.directory];
    },
});
