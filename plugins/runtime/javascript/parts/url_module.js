// url_module.js - the module url: paths and URLs, and the interface that was there before URL.
const { URL, URLSearchParams, record, serialize, unpercent } = internal('url');
const { coded, wrongType } = internal('errors');

const fileURLToPath = path => {
    if (typeof path === 'string') path = new URL(path);
    else if (!(path instanceof URL)) throw wrongType('path', 'of type string or an instance of URL', path);
    if (path.protocol !== 'file:') throw coded(TypeError, 'ERR_INVALID_URL_SCHEME', 'The URL must be of scheme file');
    if (path.hostname !== '') {
        throw coded(TypeError, 'ERR_INVALID_FILE_URL_HOST', 'File URL host must be "localhost" or empty on linux');
    }
    if (/%2f/i.test(path.pathname)) {
        throw coded(TypeError, 'ERR_INVALID_FILE_URL_PATH', 'File URL path must not include encoded / characters');
    }
    try {
        return decodeURIComponent(path.pathname);
    } catch {
        throw new URIError('URI malformed');
    }
};
const pathToFileURL = path => {
    if (typeof path !== 'string') throw wrongType('path', 'of type string', path);
    let whole = internal('path').resolve(path);
    if (path.endsWith('/') && !whole.endsWith('/')) whole += '/';
    const url = new URL('file://');
    url.pathname = whole.replace(/[%\\\n\r\t]/g, one => `%${one.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
    return url;
};

const slashed = /^(?:https?|ftp|gopher|file|wss?):?$/;
class Url {
    constructor() {
        for (const name of ['protocol', 'slashes', 'auth', 'host', 'port', 'hostname', 'hash', 'search', 'query', 'pathname',
            'path', 'href']) this[name] = null;
    }
}
const encodeRest = text => text.replace(/[\t\n\r "'<>\\^`{|}]/g, one => `%${one.charCodeAt(0).toString(16).toUpperCase()
    .padStart(2, '0')}`);
// Takes the name of the host off the beginning of the text, and gives what is left.
const parseAuthority = (url, text) => {
    let end = text.search(/[/?#]/);
    if (end < 0) end = text.length;
    const at = text.lastIndexOf('@', end - 1);
    if (at >= 0 && at < end) url.auth = unpercent(text.slice(0, at));
    const [host] = /^[^\t\n\r "'<>\\^`{|}/?#;%]*/.exec(text.slice(at < end ? at + 1 : 0));
    const rest = text.slice((at < end ? at + 1 : 0) + host.length);
    const port = /:(\d*)$/.exec(host);
    if (port?.[1]) [, url.port] = port;
    let name = (port ? host.slice(0, port.index) : host).toLowerCase();
    if (/[^\0-\x7f]/.test(name)) name = internal('idn').toASCII(name) ?? '';
    url.hostname = name.replace(/^\[(.*)\]$/, '$1');
    url.host = name + (url.port === null ? '' : `:${url.port}`);
    return rest !== '' && !/^[/?#]/.test(rest) ? `/${rest}` : rest;
};
const parse = (text, parseQuery = false, slashesDenoteHost = false) => {
    if (text instanceof Url) return text;
    if (typeof text !== 'string') throw wrongType('url', 'of type string', text);
    const url = new Url();
    let rest = text.trim().replace(/^[^?#]*/, part => part.replace(/\\/g, '/'));
    const scheme = /^[a-z\d.+-]+:/i.exec(rest)?.[0];
    if (scheme) {
        url.protocol = scheme.toLowerCase();
        rest = rest.slice(scheme.length);
    }
    const hostless = url.protocol === 'javascript:';
    if (!hostless && (slashesDenoteHost || scheme || /^\/\/[^@/]+@[^@/]+/.test(rest)) && rest.startsWith('//')) {
        url.slashes = true;
        rest = rest.slice(2);
    }
    if (!hostless && (url.slashes || (scheme && !slashed.test(url.protocol)))) rest = parseAuthority(url, rest);
    if (!hostless) rest = encodeRest(rest);
    const hash = rest.indexOf('#');
    if (hash >= 0) [url.hash, rest] = [rest.slice(hash), rest.slice(0, hash)];
    const search = rest.indexOf('?');
    if (search >= 0) {
        url.search = rest.slice(search);
        url.query = url.search.slice(1);
        rest = rest.slice(0, search);
    } else if (parseQuery) {
        url.search = '';
        url.query = '';
    }
    if (parseQuery) url.query = internal('querystring').parse(url.query);
    if (rest) url.pathname = rest;
    else if (slashed.test(url.protocol ?? '') && url.hostname) url.pathname = '/';
    if (url.pathname || url.search) url.path = (url.pathname ?? '') + (url.search ?? '');
    url.href = formatParts(url);
    return url;
};
const formatParts = url => {
    const auth = url.auth ? `${encodeURIComponent(url.auth).replace(/%3A/i, ':')}@` : '';
    let protocol = url.protocol ?? '';
    if (protocol && !protocol.endsWith(':')) protocol += ':';
    let path = url.pathname ?? '';
    let hash = url.hash ?? '';
    let host = '';
    if (url.host) host = auth + url.host;
    else if (url.hostname) {
        host = auth + (url.hostname.includes(':') && !url.hostname.startsWith('[') ? `[${url.hostname}]` : url.hostname)
            + (url.port ? `:${url.port}` : '');
    }
    const query = url.query !== null && typeof url.query === 'object' ? internal('querystring').stringify(url.query) : '';
    let search = url.search || (query && `?${query}`) || '';
    path = path.replace(/[?#]/g, encodeURIComponent);
    if (url.slashes || ((!protocol || slashed.test(protocol)) && host !== '')) {
        if (url.slashes || host) {
            if (path && path[0] !== '/') path = `/${path}`;
            host = `//${host}`;
        }
    }
    search = search.replace(/#/g, '%23');
    if (hash && hash[0] !== '#') hash = `#${hash}`;
    if (search && search[0] !== '?') search = `?${search}`;
    return protocol + host + path + search + hash;
};
const format = (url, options) => {
    if (typeof url === 'string') return parse(url).href;
    if (url === null || typeof url !== 'object') throw wrongType('urlObject', 'of type object or string', url);
    if (!(url instanceof URL)) return formatParts(url);
    const { fragment = true, auth = true, search = true, unicode = false } = options ?? {};
    const parts = record(url);
    const host = unicode ? `${internal('idn').toUnicode(url.hostname)}${url.port && `:${url.port}`}` : url.host;
    return serialize(parts, { fragment, auth, search, host });
};
Url.prototype.format = function () { return formatParts(this); };
const resolve = (from, to) => {
    const base = new URL(from, 'resolve://');
    const url = new URL(to, base);
    return url.protocol === 'resolve:' ? url.pathname + url.search + url.hash : url.href;
};
const resolveObject = (from, to) => parse(resolve(from, to));
Url.prototype.resolve = function (to) { return resolve(this.href, to); };
Url.prototype.parse = function (text, ...rest) { return Object.assign(this, parse(text, ...rest)); };
const urlToHttpOptions = url => {
    const { protocol, hostname, hash, search, pathname, href } = url;
    const options = { __proto__: null, ...url, protocol, hostname: hostname.replace(/^\[(.*)\]$/, '$1'), hash, search,
        pathname, path: `${pathname || ''}${search || ''}`, href };
    if (url.port !== '') options.port = Number(url.port);
    if (url.username || url.password) options.auth = `${unpercent(url.username)}:${unpercent(url.password)}`;
    return options;
};
const domainToASCII = domain => {
    try {
        return new URL(`ws://${domain}`).hostname;
    } catch {
        return '';
    }
};
const domainToUnicode = domain => internal('idn').toUnicode(domainToASCII(domain));
Object.assign(exports, { Url, parse, resolve, resolveObject, format, URL, URLSearchParams, domainToASCII, domainToUnicode,
    pathToFileURL, fileURLToPath, urlToHttpOptions });
