// fs.js - files of the session, as Node.js has them. Everything is done at once; forms with a
// callback and promises give what came of it later.
const { coded, wrongType, wrongValue, outOfRange, checkFunction } = internal('errors');
const { failure, compound } = internal('failures');
const path = internal('path');
const { isView } = ArrayBuffer;
const { isInteger } = Number;
const { isArray } = Array;
const { assign, defineProperty } = Object;

const constants = assign(Object.create(null), {
    UV_FS_SYMLINK_DIR: 1, UV_FS_SYMLINK_JUNCTION: 2, UV_DIRENT_UNKNOWN: 0, UV_DIRENT_FILE: 1,
    UV_DIRENT_DIR: 2, UV_DIRENT_LINK: 3, UV_DIRENT_FIFO: 4, UV_DIRENT_SOCKET: 5, UV_DIRENT_CHAR: 6,
    UV_DIRENT_BLOCK: 7, UV_FS_COPYFILE_EXCL: 1, COPYFILE_EXCL: 1, UV_FS_COPYFILE_FICLONE: 2,
    COPYFILE_FICLONE: 2, UV_FS_COPYFILE_FICLONE_FORCE: 4, COPYFILE_FICLONE_FORCE: 4,
}, native.fsConstants());
const { O_RDONLY, O_WRONLY, O_RDWR, O_CREAT, O_EXCL, O_TRUNC, O_APPEND, O_SYNC, S_IFMT } = constants;

// ---- arguments

const bytesOf = view => view instanceof Uint8Array ? view
    : new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
const buffer = bytes => native.hasPart('buffer')
    ? internal('buffer').Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) : bytes;

const encodings = /^(utf-?8|utf-?16le|ucs-?2|latin1|binary|base64|base64url|hex|ascii|buffer)$/i;
const checkEncoding = encoding => {
    if (encoding != null && !(typeof encoding === 'string' && encodings.test(encoding))) {
        throw wrongValue('encoding', encoding, 'is invalid encoding');
    }
    return encoding === 'buffer' ? null : encoding;
};
const decode = (bytes, encoding) => {
    if (!encoding || encoding === 'buffer') return buffer(bytes);
    return /^utf-?8$/i.test(encoding) ? native.utf8Decode(bytes) : buffer(bytes).toString(encoding);
};
const encode = (text, encoding) => !encoding || /^utf-?8$/i.test(encoding) ? text
    : internal('buffer').Buffer.from(text, encoding);

const optionsOf = (value, defaults = {}) => {
    if (value == null || typeof value === 'function') return defaults;
    if (typeof value === 'string') value = { encoding: value };
    else if (typeof value !== 'object') throw wrongType('options', 'one of type string or object', value);
    const options = { ...defaults, ...value };
    checkEncoding(options.encoding);
    return options;
};

const checkNul = (value, name) => {
    if (!(typeof value === 'string' ? value.includes('\0') : value.includes(0))) return value;
    throw wrongValue(name, typeof value === 'string' ? value.replaceAll('\0', '\\x00') : value,
        'must be a string, Uint8Array, or URL without null bytes');
};
const pathOfUrl = url => {
    if (url.protocol !== 'file:') throw coded(TypeError, 'ERR_INVALID_URL_SCHEME', 'The URL must be of scheme file');
    if (url.hostname) {
        throw coded(TypeError, 'ERR_INVALID_FILE_URL_HOST', 'File URL host must be "localhost" or empty on linux');
    }
    if (/%2f/i.test(url.pathname)) {
        throw coded(TypeError, 'ERR_INVALID_FILE_URL_PATH', 'File URL path must not include encoded / characters');
    }
    return decodeURIComponent(url.pathname);
};
const pathOf = (value, name = 'path') => {
    if (typeof value === 'string' || value instanceof Uint8Array) return checkNul(value, name);
    if (typeof value === 'object' && value?.href && value.protocol) return checkNul(pathOfUrl(value), name);
    throw wrongType(name, 'of type string or an instance of Buffer or URL', value);
};
const text = value => typeof value === 'string' ? value : native.utf8Decode(value);

const fdOf = fd => {
    if (typeof fd !== 'number') throw wrongType('fd', 'of type number', fd);
    if (!isInteger(fd)) throw outOfRange('fd', 'an integer', fd);
    if (fd < 0 || fd > 2147483647) throw outOfRange('fd', '>= 0 && <= 2147483647', fd);
    return fd;
};
const isFd = value => isInteger(value);

const modeOf = (mode, name = 'mode', otherwise) => {
    if (mode == null && otherwise !== undefined) return otherwise;
    if (typeof mode === 'string') {
        if (!/^[0-7]+$/.test(mode)) {
            throw wrongValue(name, mode, 'must be a 32-bit unsigned integer or an octal string');
        }
        return parseInt(mode, 8);
    }
    if (typeof mode !== 'number') throw wrongType(name, 'of type number', mode);
    if (!isInteger(mode)) throw outOfRange(name, 'an integer', mode);
    if (mode < 0 || mode > 4294967295) throw outOfRange(name, '>= 0 && <= 4294967295', mode);
    return mode;
};

const flagsOf = flags => {
    if (typeof flags === 'number') return flags;
    if (flags == null) return O_RDONLY;
    const letters = [...String(flags)];
    const has = letter => letters.includes(letter);
    if (typeof flags !== 'string' || !/^(r\+?|rs\+?|sr\+?|wx?\+?|xw\+?|(a|ax|xa|as|sa)\+?)$/.test(flags)) {
        throw wrongValue('flags', flags);
    }
    return (has('+') ? O_RDWR : has('r') ? O_RDONLY : O_WRONLY) | (has('r') ? 0 : O_CREAT)
        | (has('w') ? O_TRUNC : 0) | (has('a') ? O_APPEND : 0) | (has('x') ? O_EXCL : 0) | (has('s') ? O_SYNC : 0);
};

const secondsOf = (time, name = 'time') => {
    if (typeof time === 'string' && time.trim() !== '' && Number.isFinite(+time)) return +time;
    if (typeof time === 'number' && Number.isFinite(time)) return time < 0 ? Date.now() / 1000 : time;
    if (Object.prototype.toString.call(time) === '[object Date]') return time.getTime() / 1000;
    throw wrongType(name, 'an instance of Date or an Time in seconds', time);
};

// What a native gave, or the error it means.
const done = (result, syscall, ...paths) => {
    if (typeof result === 'number' && result < 0) throw failure(result, syscall, ...paths);
    return result;
};

// ---- what files are

class Stats {
    constructor(facts, big) {
        const names = ['dev', 'mode', 'nlink', 'uid', 'gid', 'rdev', 'blksize', 'ino', 'size', 'blocks'];
        const times = ['atime', 'mtime', 'ctime', 'birthtime'];
        const ms = times.map((_, i) => facts[10 + 2 * i] * 1e3 + facts[11 + 2 * i] / 1e6);
        names.forEach((name, i) => { this[name] = big ? BigInt(facts[i]) : facts[i]; });
        times.forEach((name, i) => { this[`${name}Ms`] = big ? BigInt(Math.floor(ms[i])) : ms[i]; });
        if (big) {
            times.forEach((name, i) => {
                this[`${name}Ns`] = BigInt(facts[10 + 2 * i]) * 1000000000n + BigInt(facts[11 + 2 * i]);
            });
        }
        times.forEach((name, i) => { this[name] = new Date(Math.round(ms[i])); });
    }
}
class BigIntStats extends Stats {}
const kinds = {
    isDirectory: 'S_IFDIR', isFile: 'S_IFREG', isBlockDevice: 'S_IFBLK', isCharacterDevice: 'S_IFCHR',
    isSymbolicLink: 'S_IFLNK', isFIFO: 'S_IFIFO', isSocket: 'S_IFSOCK',
};
const typeKey = Symbol('type');
class Dirent {
    constructor(name, type, parent) {
        this.name = name;
        this.parentPath = parent;
        this.path = parent;
        this[typeKey] = type;
    }
}
const direntTypes = ['', 'S_IFREG', 'S_IFDIR', 'S_IFLNK', 'S_IFIFO', 'S_IFSOCK', 'S_IFCHR', 'S_IFBLK'];
for (const [name, constant] of Object.entries(kinds)) {
    const methods = {
        stats() { return (Number(this.mode) & S_IFMT) === constants[constant]; },
        dirent() { return direntTypes[this[typeKey]] === constant; },
    };
    for (const [Class, method] of [[Stats, methods.stats], [Dirent, methods.dirent]]) {
        defineProperty(method, 'name', { value: name });
        defineProperty(Class.prototype, name, { value: method, writable: true, configurable: true });
    }
}

const factsOf = (file, follow) => native.fsStat(file, follow);
const stat = (file, follow, syscall, options) => {
    const facts = factsOf(file, follow);
    if (typeof facts === 'number') {
        if (options?.throwIfNoEntry === false && facts === -native.errorNumber('ENOENT')) return undefined;
        throw typeof file === 'number' ? failure(facts, syscall) : failure(facts, syscall, file);
    }
    return options?.bigint ? new BigIntStats(facts, true) : new Stats(facts, false);
};
const typeOf = (file, follow = false) => {
    const facts = factsOf(file, follow);
    return typeof facts === 'number' ? 0 : facts[1] & S_IFMT;
};
const isDirectory = (file, follow) => typeOf(file, follow) === constants.S_IFDIR;

// ---- contents

const open = (file, flags, mode = 0o666, syscall = 'open') =>
    done(native.fsOpen(file, flagsOf(flags), mode), syscall, file);
// Calls use(fd) with a descriptor, or with one of the file of that name.
const withFile = (file, flags, mode, use) => {
    if (isFd(file)) return use(fdOf(file));
    const fd = open(pathOf(file), flags, mode);
    try {
        return use(fd);
    } finally {
        native.fsClose(fd);
    }
};

const readWhole = fd => {
    const bytes = native.fsReadAll(fd);
    if (typeof bytes !== 'number') return bytes;
    if (bytes === -native.errorNumber('EFBIG')) {
        const size = native.fsStat(fd, true)[8];
        throw coded(RangeError, 'ERR_FS_FILE_TOO_LARGE', `File size (${size > 2 ** 29 ? size : 'without an end'
        }) is greater than 512 MiB: read it in pieces, by fs.readSync() or fs.createReadStream()`);
    }
    throw failure(bytes, 'read');
};

const writeWhole = (file, data, options, flag) => {
    options = optionsOf(options, { encoding: 'utf8', mode: 0o666, flag });
    if (typeof data === 'string') data = encode(data, options.encoding);
    else if (isView(data)) data = bytesOf(data);
    else throw wrongType('data', 'of type string or an instance of Buffer, TypedArray, or DataView', data);
    withFile(file, options.flag, modeOf(options.mode, 'mode', 0o666), fd => {
        done(native.fsWriteAll(fd, data), 'write');
        if (options.flush) done(native.fsSync(fd, false), 'fsync');
    });
};

// offset, length and position of a call that reads or writes a part of a buffer.
const partOf = (view, offset, length, position, verb) => {
    if (!isView(view)) {
        throw wrongType('buffer', verb === 'read' ? 'an instance of Buffer, TypedArray, or DataView'
            : 'of type string or an instance of Buffer, TypedArray, or DataView', view);
    }
    if (offset !== null && typeof offset === 'object') ({ offset, length, position } = offset);
    offset ??= 0;
    if (typeof offset !== 'number') throw wrongType('offset', 'of type number', offset);
    if (!isInteger(offset)) throw outOfRange('offset', 'an integer', offset);
    length ??= view.byteLength - offset;
    if (offset < 0 || offset > view.byteLength) throw outOfRange('offset', `>= 0 && <= ${view.byteLength}`, offset);
    if (typeof length !== 'number') throw wrongType('length', 'of type number', length);
    if (length < 0) throw outOfRange('length', '>= 0', length);
    if (length > view.byteLength - offset) throw outOfRange('length', `<= ${view.byteLength - offset}`, length);
    return [bytesOf(view), offset, Math.floor(length), position == null ? -1 : Number(position)];
};

// ---- directories

const kindOfEntry = (type, file) => {
    const known = type || typeOf(file);
    const index = direntTypes.findIndex(name => name && constants[name] === known);
    return index < 0 ? 0 : index;
};
// [name, type of the mode] of each entry, by name.
const entriesOf = (directory, encoding, syscall = 'scandir') => {
    const list = done(native.fsList(directory, encoding === 'buffer'), syscall, directory);
    const entries = [];
    for (let i = 0; i < list.length; i += 2) entries.push([list[i], list[i + 1]]);
    if (encoding === 'buffer') return entries.map(([name, type]) => [buffer(name), type]);
    return entries.sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0);
};
const readDirectory = (directory, options) => {
    const found = [];
    const queue = [['', directory]];
    for (const [prefix, at] of queue) {
        for (const [name, type] of entriesOf(at, options.encoding)) {
            const isText = typeof name === 'string';
            const file = isText ? path.join(text(at), name) : name;
            const kind = isText && (options.withFileTypes || options.recursive) ? kindOfEntry(type, file) : 0;
            const relative = isText && prefix ? path.join(prefix, name) : name;
            if (options.withFileTypes) found.push(new Dirent(name, kind, text(at)));
            else found.push(relative);
            if (options.recursive && isText && kind === 2) queue.push([relative, file]);
        }
    }
    return found;
};

const makeDirectories = (directory, mode) => {
    const missing = [];
    let at = directory;
    for (;;) {
        const made = native.fsMakeDirectory(at, mode);
        if (made === 0) break;
        if (made === -native.errorNumber('ENOENT') && path.dirname(at) !== at) {
            missing.push(at);
            at = path.dirname(at);
        } else if (isDirectory(at, true) && made === -native.errorNumber('EEXIST')) {
            at = undefined;
            break;
        } else if (isDirectory(at, true)) {
            at = undefined;
            break;
        } else if (made === -native.errorNumber('EEXIST') && missing.length) {
            throw failure(-native.errorNumber('ENOTDIR'), 'mkdir', directory);
        } else {
            throw failure(made, 'mkdir', directory);
        }
    }
    let first = at;
    for (const next of missing.reverse()) {
        const made = native.fsMakeDirectory(next, mode);
        if (made < 0 && !isDirectory(next, true)) throw failure(made, 'mkdir', directory);
        if (made === 0) first ??= next;
    }
    return first;
};

// Takes away a file, or a directory with all that is in it.
const removeTree = file => {
    if (isDirectory(file)) {
        for (const [name] of entriesOf(file)) removeTree(path.join(text(file), name));
        done(native.fsRemoveDirectory(file), 'rmdir', file);
    } else {
        done(native.fsUnlink(file), 'unlink', file);
    }
};

// ---- copies of trees

const copyTree = (from, to, options) => {
    if (options.filter && !options.filter(from, to)) return;
    const source = stat(from, options.dereference === true, options.dereference ? 'stat' : 'lstat');
    const target = stat(to, options.dereference === true, 'lstat', { throwIfNoEntry: false });
    if (target && source.ino === target.ino && source.dev === target.dev) {
        throw compound('ERR_FS_CP_EINVAL', 'cp', 'EINVAL', 22, 'src and dest cannot be the same', to,
            'Invalid src or dest');
    }
    if (source.isDirectory()) copyDirectory(from, to, source, target, options);
    else copyOne(from, to, source, target, options);
};
const copyDirectory = (from, to, source, target, options) => {
    if (!options.recursive) {
        throw compound('ERR_FS_EISDIR', 'cp', 'EISDIR', 22, `${from} is a directory (not copied)`, from,
            'Path is a directory');
    }
    if (target && !target.isDirectory()) {
        throw compound('ERR_FS_CP_DIR_TO_NON_DIR', 'cp', 'EISDIR', 21,
            `cannot overwrite non-directory ${to} with directory ${from}`, to,
            'Cannot overwrite non-directory with directory');
    }
    if (`${path.resolve(to)}/`.startsWith(`${path.resolve(from)}/`)) {
        throw compound('ERR_FS_CP_EINVAL', 'cp', 'EINVAL', 22,
            `cannot copy ${from} to a subdirectory of self ${to}`, to, 'Invalid src or dest');
    }
    if (!target) makeDirectories(to, source.mode & 0o777);
    for (const [name] of entriesOf(from)) copyTree(path.join(from, name), path.join(to, name), options);
    if (!target) done(native.fsMode(to, source.mode & 0o7777), 'chmod', to);
};
const copyOne = (from, to, source, target, options) => {
    if (target?.isDirectory()) {
        throw compound('ERR_FS_CP_NON_DIR_TO_DIR', 'cp', 'ENOTDIR', 20,
            `cannot overwrite directory ${to} with non-directory ${from}`, to,
            'Cannot overwrite directory with non-directory');
    }
    if (target && options.force === false) {
        if (!options.errorOnExist) return;
        throw compound('ERR_FS_CP_EEXIST', 'cp', 'EEXIST', 17, `${to} already exists`, to, 'Target already exists');
    }
    if (!target) makeDirectories(path.dirname(to), 0o777);
    else done(native.fsUnlink(to), 'unlink', to);
    if (source.isSymbolicLink()) {
        const link = done(native.fsReadLink(from, false), 'readlink', from);
        const aim = options.verbatimSymlinks ? link : path.resolve(path.dirname(from), link);
        done(native.fsSymlink(aim, to), 'symlink', aim, to);
        return;
    }
    done(native.fsCopy(from, to, false), 'copyfile', from, to);
    if (options.preserveTimestamps) native.fsTimes(to, source.atimeMs / 1e3, source.mtimeMs / 1e3, true);
};

// ---- the synchronous functions

const sync = {
    appendFileSync: (file, data, options) => writeWhole(file, data, options, 'a'),
    accessSync(file, mode = 0) {
        file = pathOf(file);
        done(native.fsAccess(file, modeOf(mode)), 'access', file);
    },
    chownSync(file, uid, gid) {
        file = pathOf(file);
        done(native.fsOwner(file, uid, gid, true), 'chown', file);
    },
    chmodSync(file, mode) {
        file = pathOf(file);
        done(native.fsMode(file, modeOf(mode)), 'chmod', file);
    },
    closeSync(fd) { done(native.fsClose(fdOf(fd)), 'close'); },
    copyFileSync(from, to, mode = 0) {
        from = pathOf(from, 'src');
        to = pathOf(to, 'dest');
        done(native.fsCopy(from, to, (modeOf(mode) & 1) === 1), 'copyfile', from, to);
    },
    cpSync(from, to, options) {
        if (options !== undefined && (options === null || typeof options !== 'object')) {
            throw wrongType('options', 'of type object', options);
        }
        copyTree(text(pathOf(from, 'src')), text(pathOf(to, 'dest')), { ...options });
    },
    existsSync(file) {
        try {
            return native.fsAccess(pathOf(file), 0) === 0;
        } catch {
            return false;
        }
    },
    fchownSync(fd, uid, gid) { done(native.fsOwner(fdOf(fd), uid, gid), 'fchown'); },
    fchmodSync(fd, mode) { done(native.fsMode(fdOf(fd), modeOf(mode)), 'fchmod'); },
    fdatasyncSync(fd) { done(native.fsSync(fdOf(fd), true), 'fdatasync'); },
    fstatSync: (fd, options) => stat(fdOf(fd), true, 'fstat', { ...options, throwIfNoEntry: true }),
    fsyncSync(fd) { done(native.fsSync(fdOf(fd), false), 'fsync'); },
    ftruncateSync(fd, length = 0) { done(native.fsTruncate(fdOf(fd), Math.max(0, length ?? 0)), 'ftruncate'); },
    futimesSync(fd, accessed, modified) {
        done(native.fsTimes(fdOf(fd), secondsOf(accessed, 'atime'), secondsOf(modified, 'mtime')), 'futime');
    },
    lchownSync(file, uid, gid) {
        file = pathOf(file);
        done(native.fsOwner(file, uid, gid, false), 'lchown', file);
    },
    linkSync(from, to) {
        from = pathOf(from, 'existingPath');
        to = pathOf(to, 'newPath');
        done(native.fsLink(from, to), 'link', from, to);
    },
    lstatSync: (file, options) => stat(pathOf(file), false, 'lstat', options),
    lutimesSync(file, accessed, modified) {
        file = pathOf(file);
        done(native.fsTimes(file, secondsOf(accessed), secondsOf(modified), false), 'lutime', file);
    },
    mkdirSync(file, options) {
        if (typeof options === 'number' || typeof options === 'string') options = { mode: options };
        file = pathOf(file);
        const mode = modeOf(options?.mode, 'mode', 0o777);
        const recursive = options?.recursive ?? false;
        if (typeof recursive !== 'boolean') throw wrongType('options.recursive', 'of type boolean', recursive);
        if (recursive) return makeDirectories(text(file), mode);
        done(native.fsMakeDirectory(file, mode), 'mkdir', file);
    },
    mkdtempSync(prefix, options) {
        const { encoding } = optionsOf(options, { encoding: 'utf8' });
        prefix = text(pathOf(prefix, 'prefix'));
        const made = done(native.fsMakeTemporary(prefix), 'mkdtemp', `${prefix}XXXXXX`);
        return encoding === 'buffer' ? buffer(native.utf8Encode(made)) : made;
    },
    openSync: (file, flags = 'r', mode) => open(pathOf(file), flags, modeOf(mode, 'mode', 0o666)),
    readdirSync(file, options) {
        options = optionsOf(options, { encoding: 'utf8' });
        return readDirectory(pathOf(file), options);
    },
    readSync(fd, view, offset, length, position) {
        fdOf(fd);
        if (arguments.length <= 3 && offset != null && typeof offset !== 'object') {
            throw wrongType('options', 'of type object', offset);
        }
        return done(native.fsRead(fd, ...partOf(view, offset, length, position, 'read')), 'read');
    },
    readvSync: (fd, views, position) => many(fd, views, position, sync.readSync),
    readFileSync(file, options) {
        const { encoding, flag } = optionsOf(options, { flag: 'r' });
        return withFile(file, flag, 0o666, fd => decode(readWhole(fd), encoding));
    },
    readlinkSync(file, options) {
        const { encoding } = optionsOf(options, { encoding: 'utf8' });
        file = pathOf(file);
        const link = done(native.fsReadLink(file, encoding === 'buffer'), 'readlink', file);
        return typeof link === 'string' ? link : buffer(link);
    },
    realpathSync: (file, options) => realPath(file, options, 'lstat', true),
    renameSync(from, to) {
        from = pathOf(from, 'oldPath');
        to = pathOf(to, 'newPath');
        done(native.fsRename(from, to), 'rename', from, to);
    },
    rmSync(file, options) {
        file = pathOf(file);
        if (!stat(file, false, 'lstat', { throwIfNoEntry: !options?.force })) return;
        if (isDirectory(file) && !options?.recursive) {
            throw compound('ERR_FS_EISDIR', 'rm', 'EISDIR', 21, 'is a directory', text(file), 'Path is a directory');
        }
        removeTree(file);
    },
    rmdirSync(file, options) {
        file = pathOf(file);
        if (options?.recursive && isDirectory(file)) removeTree(file);
        else done(native.fsRemoveDirectory(file), 'rmdir', file);
    },
    statSync: (file, options) => stat(pathOf(file), true, 'stat', options),
    symlinkSync(target, file) {
        target = pathOf(target, 'target');
        file = pathOf(file);
        done(native.fsSymlink(target, file), 'symlink', target, file);
    },
    truncateSync(file, length = 0) {
        withFile(file, 'r+', 0o666, fd => sync.ftruncateSync(fd, length));
    },
    unlinkSync(file) {
        file = pathOf(file);
        done(native.fsUnlink(file), 'unlink', file);
    },
    utimesSync(file, accessed, modified) {
        file = pathOf(file);
        done(native.fsTimes(file, secondsOf(accessed), secondsOf(modified), true), 'utime', file);
    },
    writeFileSync: (file, data, options) => writeWhole(file, data, options, 'w'),
    writeSync(fd, data, offset, length, position) {
        fdOf(fd);
        if (typeof data === 'string') {
            const bytes = bytesOf(length ? internal('buffer').Buffer.from(data, length) : native.utf8Encode(data));
            return done(native.fsWrite(fd, bytes, 0, bytes.length, offset == null ? -1 : Number(offset)), 'write');
        }
        return done(native.fsWrite(fd, ...partOf(data, offset, length, position, 'write')), 'write');
    },
    writevSync: (fd, views, position) => many(fd, views, position, sync.writeSync),
};
const many = (fd, views, position, call) => {
    if (!isArray(views)) throw wrongType('buffers', 'an instance of ArrayBufferView[]', views);
    let total = 0;
    for (const view of views) {
        const count = call(fd, view, 0, view.byteLength, position == null ? null : Number(position) + total);
        total += count;
        if (count < view.byteLength) break;
    }
    return total;
};
const realPath = (file, options, syscall, absolute) => {
    const { encoding } = optionsOf(options, { encoding: 'utf8' });
    file = pathOf(file);
    const real = done(native.fsRealPath(file, encoding === 'buffer'), syscall,
        absolute ? path.resolve(text(file)) : text(file));
    return typeof real === 'string' ? real : buffer(real);
};
sync.realpathSync.native = (file, options) => realPath(file, options, 'realpath', false);

const unavailable = name => () => {
    throw coded(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM',
        `fs.${name}() is not available in a session: nothing tells of changes; look again with fs.statSync()`);
};

class Dir {
    #entries;
    #at = 0;
    #closed = false;
    constructor(file, entries) {
        this.path = file;
        this.#entries = entries;
    }
    #check() {
        if (this.#closed) throw coded(Error, 'ERR_DIR_CLOSED', 'Directory handle was closed');
    }
    readSync() {
        this.#check();
        return this.#entries[this.#at++] ?? null;
    }
    closeSync() {
        this.#check();
        this.#closed = true;
    }
    read(callback) { return settle(callback, () => this.readSync()); }
    close(callback) { return settle(callback, () => this.closeSync()); }
    async* [Symbol.asyncIterator]() {
        for (let entry; (entry = this.readSync());) yield entry;
        this.closeSync();
    }
}
sync.opendirSync = (file, options) => {
    options = optionsOf(options, { encoding: 'utf8' });
    file = pathOf(file);
    if (!isDirectory(file, true)) done(native.fsList(file, false), 'opendir', file);
    return new Dir(text(file), readDirectory(file, { ...options, withFileTypes: true }));
};

// ---- callbacks and promises

const later = (callback, ...values) => {
    if (native.hasPart('timers')) internal('timers').setTimeout(callback, 0, ...values);
    else queueMicrotask(() => callback(...values));
};
const isOfArguments = error => typeof error?.code === 'string' && error.code.startsWith('ERR_INVALID')
    || error?.code === 'ERR_OUT_OF_RANGE';
// Calls make() now, and the callback later; without one, gives a promise.
const settle = (callback, make, ...more) => {
    if (callback === undefined) return new Promise(resolve => { resolve(make()); });
    checkFunction(callback, 'cb');
    let value;
    try {
        value = make();
    } catch (error) {
        if (isOfArguments(error)) throw error;
        later(callback, error);
        return undefined;
    }
    if (value === undefined) later(callback, null);
    else later(callback, null, value, ...more);
    return undefined;
};

const named = (name, method, length) => {
    defineProperty(method, 'name', { value: name, configurable: true });
    if (length !== undefined) defineProperty(method, 'length', { value: length, configurable: true });
    return method;
};
const promised = (name, call) => named(name, async (...values) => {
    if (typeof values[0] === 'object' && values[0]?.constructor === exports.FileHandle) values[0] = values[0].fd;
    return call(...values);
});
const withCallback = (name, call) => named(name, (...values) => {
    const callback = values.length > 1 ? values.pop() : undefined;
    checkFunction(callback, 'cb');
    // read and write give the buffer as well
    const more = /^(read|write)v?$/.test(name) ? [values[1]] : [];
    settle(callback, () => call(...values), ...more);
});

const notOfPaths = /^(close|exists|f.*(sync|stat|truncate|utimes|chmod|chown)|(read|write)v?)$/;
const promises = {};
for (const [name, call] of Object.entries(sync)) {
    const plain = name.slice(0, -4);
    exports[name] = named(name, call);
    exports[plain] = withCallback(plain, call);
    if (!notOfPaths.test(plain)) promises[plain] = promised(plain, call);
}
const customPromise = Symbol.for('nodejs.util.promisify.custom');
exports.exists = named('exists', (file, callback) => {
    checkFunction(callback, 'cb');
    later(callback, sync.existsSync(file));
});
defineProperty(exports.exists, customPromise, { value: async file => sync.existsSync(file) });
for (const [name, count] of [['read', 'bytesRead'], ['write', 'bytesWritten'], ['readv', 'bytesRead'],
    ['writev', 'bytesWritten']]) {
    const plain = exports[name];
    // (fd, buffer, callback) and (fd, { buffer, ... }, callback)
    if (name === 'read') {
        exports.read = named('read', (fd, view, ...rest) => {
            if (isView(view) || typeof view !== 'object' || view === null) return plain(fd, view, ...rest);
            return plain(fd, view.buffer ?? buffer(new Uint8Array(16384)), view, ...rest);
        });
    }
    defineProperty(exports[name], customPromise, {
        value: async (fd, view, ...rest) => ({ [count]: sync[`${name}Sync`](fd, view, ...rest), buffer: view }),
    });
}
exports.realpath.native = withCallback('native', sync.realpathSync.native);
for (const name of ['watch', 'watchFile', 'unwatchFile']) exports[name] = named(name, unavailable(name));
promises.watch = named('watch', unavailable('watch'));
promises.constants = constants;
promises.open = named('open', async (file, flags = 'r', mode) =>
    new exports.FileHandle(sync.openSync(file, flags, mode)));

assign(exports, { Stats, Dirent, Dir, constants, promises });
for (const name of ['F_OK', 'R_OK', 'W_OK', 'X_OK']) exports[name] = constants[name];
// Parts that few need.
const lazy = (name, part, enumerable = true) => defineProperty(exports, name, {
    get: () => internal(part)[name], set(value) { defineProperty(exports, name, { value, writable: true }); },
    enumerable, configurable: true,
});
for (const name of ['createReadStream', 'createWriteStream', 'ReadStream', 'WriteStream']) lazy(name, 'fs_streams');
lazy('FileHandle', 'fs_streams', false);
