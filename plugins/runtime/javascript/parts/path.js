// path.js - names of files, as the module path of Node.js has them: for POSIX and for Windows.
const { checkString, wrongType } = internal('errors');

// The segments of a text without '.' and '..', as far as the latter have something to go up from.
const reduced = (segments, mayGoAbove) => {
    const kept = [];
    for (const segment of segments) {
        if (segment === '' || segment === '.') continue;
        if (segment !== '..') kept.push(segment);
        else if (kept.length && kept.at(-1) !== '..') kept.pop();
        else if (mayGoAbove) kept.push('..');
    }
    return kept;
};
const directoryNow = () => {
    const directory = native.directory();
    return typeof directory === 'string' ? directory : '/';
};

// The last segment begins at the index; separators behind it do not count.
const lastOf = (text, start, isSeparator) => {
    let end = text.length;
    while (end > start && isSeparator(text[end - 1])) end--;
    let begin = end;
    while (begin > start && !isSeparator(text[begin - 1])) begin--;
    return [begin, end];
};
// Where the extension of a name begins; -1: it has none.
const dotOf = name => {
    const dot = name.lastIndexOf('.');
    return dot <= 0 || name === '..' ? -1 : dot;
};
const nameWithout = (name, path, suffix, start = 0) => {
    if (suffix === undefined || suffix === '' || suffix.length > path.length) return name;
    if (suffix === path) return '';
    if (name === '') return path.slice(start);
    return name.endsWith(suffix) && name !== suffix ? name.slice(0, -suffix.length) : name;
};
const format = separator => object => {
    if (object === null || typeof object !== 'object') throw wrongType('pathObject', 'of type object', object);
    const dir = object.dir || object.root;
    const extension = object.ext ? `${object.ext[0] === '.' ? '' : '.'}${object.ext}` : '';
    const base = object.base || `${object.name || ''}${extension}`;
    if (!dir) return base;
    return dir === object.root ? `${dir}${base}` : `${dir}${separator}${base}`;
};

// ---- POSIX

const isSlash = character => character === '/';
const posix = {
    resolve(...parts) {
        let resolved = '';
        for (let i = parts.length - 1; i >= -1 && resolved[0] !== '/'; i--) {
            const part = i < 0 ? directoryNow() : parts[i];
            if (i >= 0) checkString(part, `paths[${i}]`);
            if (part !== '') resolved = `${part}/${resolved}`;
        }
        return `/${reduced(resolved.split('/'), false).join('/')}`;
    },
    normalize(path) {
        checkString(path, 'path');
        if (path === '') return '.';
        const absolute = path[0] === '/';
        let text = reduced(path.split('/'), !absolute).join('/');
        if (text === '' && absolute) return '/';
        if (text === '') text = '.';
        if (path.endsWith('/')) text += '/';
        return absolute ? `/${text}` : text;
    },
    isAbsolute(path) {
        checkString(path, 'path');
        return path[0] === '/';
    },
    join(...parts) {
        for (const part of parts) checkString(part, 'path');
        return posix.normalize(parts.filter(part => part !== '').join('/'));
    },
    relative(from, to) {
        checkString(from, 'from');
        checkString(to, 'to');
        if (from === to) return '';
        const a = posix.resolve(from).split('/').filter(Boolean);
        const b = posix.resolve(to).split('/').filter(Boolean);
        let same = 0;
        while (same < a.length && same < b.length && a[same] === b[same]) same++;
        return [...a.slice(same).fill('..'), ...b.slice(same)].join('/');
    },
    toNamespacedPath: path => path,
    dirname(path) {
        checkString(path, 'path');
        if (path === '') return '.';
        const [begin] = lastOf(path, 1, isSlash);
        if (begin <= 1) return path[0] === '/' ? '/' : '.';
        return begin === 2 && path[0] === '/' ? '//' : path.slice(0, begin - 1);
    },
    basename(path, suffix) {
        if (suffix !== undefined) checkString(suffix, 'suffix');
        checkString(path, 'path');
        const [begin, end] = lastOf(path, 0, isSlash);
        return nameWithout(path.slice(begin, end), path, suffix);
    },
    extname(path) {
        checkString(path, 'path');
        const [begin, end] = lastOf(path, 0, isSlash);
        const name = path.slice(begin, end);
        const dot = dotOf(name);
        return dot < 0 ? '' : name.slice(dot);
    },
    format: format('/'),
    parse(path) {
        checkString(path, 'path');
        const root = path[0] === '/' ? '/' : '';
        const [begin, end] = lastOf(path, root.length, isSlash);
        const base = path.slice(begin, end);
        const dot = dotOf(base);
        return {
            root, dir: begin > root.length ? path.slice(0, begin - 1) : root, base,
            ext: dot < 0 ? '' : base.slice(dot), name: dot < 0 ? base : base.slice(0, dot),
        };
    },
    sep: '/', delimiter: ':', win32: null, posix: null,
};

// ---- Windows

const isEither = character => character === '/' || character === '\\';
// What comes before the segments: [device, does the path begin at its root?, length].
const rootOf = path => {
    const share = /^[\\/]{2}([^\\/]+)[\\/]+([^\\/]+)/.exec(path);
    if (share) {
        const { length } = share[0];
        return [`\\\\${share[1]}\\${share[2]}`, true, length < path.length ? length + 1 : length];
    }
    const drive = /^[a-z]:/i.exec(path);
    if (drive) return isEither(path[2]) ? [drive[0], true, 3] : [drive[0], false, 2];
    return isEither(path[0]) ? ['', true, 1] : ['', false, 0];
};
const split = path => path.split(/[\\/]/);
const win32 = {
    resolve(...parts) {
        let device = '';
        let tail = '';
        let absolute = false;
        for (let i = parts.length - 1; i >= -1; i--) {
            const path = i >= 0 ? parts[i] : device === '' ? directoryNow()
                : native.envGet(`=${device}`) ?? directoryNow();
            if (i >= 0) checkString(path, `paths[${i}]`);
            if (path === '') continue;
            let [itsDevice, isRooted, length] = rootOf(path);
            if (i < 0 && device && path[2] === '\\' && itsDevice.toLowerCase() !== device.toLowerCase()) {
                [itsDevice, isRooted, length] = ['', true, path.length];
            }
            if (itsDevice && device && itsDevice.toLowerCase() !== device.toLowerCase()) continue;
            if (itsDevice && !device) device = itsDevice;
            if (!absolute) {
                tail = `${path.slice(length)}\\${tail}`;
                absolute = isRooted;
            }
            if (absolute && device) break;
        }
        const text = reduced(split(tail), !absolute).join('\\');
        return `${device}${absolute ? '\\' : ''}${text}` || '.';
    },
    normalize(path) {
        checkString(path, 'path');
        if (path === '') return '.';
        const [device, absolute, length] = rootOf(path);
        let text = reduced(split(path.slice(length)), !absolute).join('\\');
        if (text === '' && !absolute) text = '.';
        if (text !== '' && isEither(path.at(-1))) text += '\\';
        // A name that is not to be taken for a drive.
        if (!absolute && !device && (/:([\\/]|$)/.test(path) || /^[a-z]:/i.test(text))) return `.\\${text}`;
        return `${device}${absolute ? '\\' : ''}${text}`;
    },
    isAbsolute(path) {
        checkString(path, 'path');
        return isEither(path[0]) || /^[a-z]:[\\/]/i.test(path);
    },
    join(...parts) {
        for (const part of parts) checkString(part, 'path');
        const given = parts.filter(part => part !== '');
        let joined = given.join('\\');
        if (joined === '') return '.';
        // Two separators at the beginning make a share only where the first part has them.
        if (!/^[\\/]{2}[^\\/]/.test(given[0])) joined = joined.replace(/^[\\/]{2,}/, '\\');
        return win32.normalize(joined);
    },
    relative(from, to) {
        checkString(from, 'from');
        checkString(to, 'to');
        if (from === to) return '';
        const [a, b] = [win32.resolve(from), win32.resolve(to)];
        if (a.toLowerCase() === b.toLowerCase()) return '';
        const [first, second] = [split(a).filter(Boolean), split(b).filter(Boolean)];
        let same = 0;
        while (same < first.length && same < second.length
            && first[same].toLowerCase() === second[same].toLowerCase()) same++;
        if (same === 0 && rootOf(b)[0]) return b;
        return [...first.slice(same).fill('..'), ...second.slice(same)].join('\\');
    },
    toNamespacedPath(path) {
        if (typeof path !== 'string' || path === '') return path;
        const resolved = win32.resolve(path);
        if (resolved.length <= 2) return path;
        if (/^\\\\[^.?]/.test(resolved)) return `\\\\?\\UNC\\${resolved.slice(2)}`;
        return /^[a-z]:\\/i.test(resolved) ? `\\\\?\\${resolved}` : resolved;
    },
    dirname(path) {
        checkString(path, 'path');
        if (path === '') return '.';
        const root = rootOf(path)[2];
        const [begin] = lastOf(path, root, isEither);
        return begin > root || root > 0 ? path.slice(0, Math.max(begin - 1, root)) : '.';
    },
    basename(path, suffix) {
        if (suffix !== undefined) checkString(suffix, 'suffix');
        checkString(path, 'path');
        const start = /^[a-z]:/i.test(path) ? 2 : 0;
        const [begin, end] = lastOf(path, start, isEither);
        return nameWithout(path.slice(begin, end), path, suffix, start);
    },
    extname(path) {
        const name = win32.basename(path);
        const dot = dotOf(name);
        return dot < 0 ? '' : name.slice(dot);
    },
    format: format('\\'),
    parse(path) {
        checkString(path, 'path');
        const length = rootOf(path)[2];
        const root = path.slice(0, length);
        const [begin, end] = lastOf(path, length, isEither);
        const base = path.slice(begin, end);
        const dot = dotOf(base);
        return {
            root, dir: begin > length ? path.slice(0, begin - 1) : root, base,
            ext: dot < 0 ? '' : base.slice(dot), name: dot < 0 ? base : base.slice(0, dot),
        };
    },
    sep: '\\', delimiter: ';', win32: null, posix: null,
};
posix.win32 = win32.win32 = win32;
posix.posix = win32.posix = posix;
Object.assign(exports, posix);
exports.module = posix;
