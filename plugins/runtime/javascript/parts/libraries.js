// libraries.js - the libraries of the configuration: files, or directories of packages, that are
// evaluated once and found by require() and import.
const modules = internal('modules');
const { basename, dirname } = internal('path');
const fs = internal('fs');
const { keys } = Object;

// 'lodash' of /x/lodash.min.js, 'zod' of /x/zod/lib/index.umd.js
function nameOf(file) {
    const usual = /^(index|main|dist|lib|build|umd|cjs|esm|min|src|bundle|cdn)$/;
    for (let path = file; path !== dirname(path); path = dirname(path)) {
        const base = basename(path);
        const name = path === file ? base.replace(/\.(js|cjs|mjs)$/, '').replace(/([.-](min|umd|cjs|esm|iife|bundle))+$/, '') : base;
        if (!usual.test(name)) {
            const scope = basename(dirname(path));
            return scope.startsWith('@') ? `${scope}/${name}` : name;
        }
    }
    return basename(file);
}

function isEmpty(value) {
    return value !== null && typeof value === 'object' && keys(value).length === 0;
}

// A file without modules defines a global name.
function globalOf(file, name) {
    const before = new Set(Object.getOwnPropertyNames(globalThis));
    native.compile(fs.readFileSync(file, 'utf8'), file);
    const added = Object.getOwnPropertyNames(globalThis).filter((key) => !before.has(key));
    if (added.length === 0)
        throw new Error(`${file} exports nothing, and defines no global name`);
    const alike = added.find((key) => key.toLowerCase() === name.replace(/[^a-z0-9]/gi, '').toLowerCase());
    return globalThis[alike ?? added[0]];
}

function load(file, name) {
    let value;
    try {
        value = modules.loadLibrary(file);
        if (isEmpty(value) && fs.statSync(file).isFile())
            value = globalOf(file, name);
    } catch (error) {
        throw new Error(`${file}: ${error && error.message || error}`);
    }
    modules.libraries.set(name, value);
}

exports.load = function () {
    for (const file of native.libraries()) {
        const name = nameOf(file);
        modules.unloaded.set(name, () => load(file, name));
    }
    for (const [name, loadIt] of modules.unloaded) {
        modules.unloaded.delete(name);
        loadIt();
    }
    return true;
};
