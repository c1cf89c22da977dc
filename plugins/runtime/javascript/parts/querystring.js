// querystring.js - the module querystring.
const { encodeURIComponent, decodeURIComponent } = globalThis;
const { coded } = internal('errors');

const escape = value => {
    const text = typeof value === 'string' ? value : typeof value === 'object' ? String(value) : `${value}`;
    try {
        return encodeURIComponent(text);
    } catch {
        throw coded(URIError, 'ERR_INVALID_URI', 'URI malformed');
    }
};
const unescapeBuffer = (text, spaces = false) => {
    const { Buffer } = internal('buffer');
    const plain = spaces ? text.replace(/\+/g, ' ') : text;
    return Buffer.from(plain.replace(/%([\da-f]{2})|[^\0-\x7f]/gi, (one, digits) => digits
        ? String.fromCharCode(parseInt(digits, 16)) : String.fromCharCode(one.charCodeAt(0) & 255)), 'latin1');
};
const unescape = text => {
    try {
        return decodeURIComponent(text);
    } catch {
        return internal('url').unpercent(text);
    }
};
const shown = value => typeof value === 'string' || typeof value === 'boolean' || typeof value === 'bigint'
    || Number.isFinite(value) ? `${value}` : '';
const stringify = (object, separator, equals, options) => {
    if (object === null || typeof object !== 'object') return '';
    const encode = options?.encodeURIComponent ?? exports.escape;
    return Object.keys(object).flatMap(key => (Array.isArray(object[key]) ? object[key] : [object[key]])
        .map(value => `${encode(shown(key))}${equals || '='}${encode(shown(value))}`)).join(separator || '&');
};
const parse = (text, separator, equals, options) => {
    const result = { __proto__: null };
    if (typeof text !== 'string' || text === '') return result;
    equals = equals ? `${equals}` : '=';
    const max = options?.maxKeys ?? 1000;
    const decode = options?.decodeURIComponent ?? exports.unescape;
    const decoded = part => {
        try {
            return decode(part.replace(/\+/g, '%20'));
        } catch {
            return unescape(part.replace(/\+/g, '%20'));
        }
    };
    const pairs = text.split(separator ? `${separator}` : '&').filter(Boolean);
    for (const pair of max > 0 ? pairs.slice(0, max) : pairs) {
        const at = pair.indexOf(equals);
        const key = decoded(at < 0 ? pair : pair.slice(0, at));
        const value = at < 0 ? '' : decoded(pair.slice(at + equals.length));
        if (!(key in result)) result[key] = value;
        else if (Array.isArray(result[key])) result[key].push(value);
        else result[key] = [result[key], value];
    }
    return result;
};
Object.assign(exports, { escape, unescape, unescapeBuffer, stringify, parse, encode: stringify, decode: parse });
