// url.js - URL and URLSearchParams by the URL Standard. A record of a URL has the names of the standard;
// its path is a list of segments, or a string where the path is opaque; host and port are texts.
const { coded, missing } = internal('errors');
const { utf8Encode, utf8Decode } = native;
const { encodeURIComponent } = globalThis;
const inspectSymbol = Symbol.for('nodejs.util.inspect.custom');

// ---- percent encoding: characters that are encoded ----

const control = /[^\x20-\x7e]/gu;
const inFragment = /[^\x21-\x7e]|["<>`]/gu;
const inQuery = /[^\x21-\x7e]|["#<>]/gu;
const inSpecialQuery = /[^\x21-\x7e]|["#<>']/gu;
const inPath = /[^\x21-\x7e]|["#<>?^`{}]/gu;
const inUser = /[^\x21-\x7e]|["#<>?^`{}/:;=@[\\\]|]/gu;
const inForm = /[^*\-.\w ]/gu;

const percentOne = one => one.length === 1 && one < '\x80'
    ? `%${one.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}` : encodeURIComponent(one);
const percent = (text, set) => text.replace(set, percentOne);
const hexadecimal = code => code >= 48 && code <= 57 ? code - 48 : (code |= 32) >= 97 && code <= 102 ? code - 87 : -1;
const unpercent = text => {
    if (!text.includes('%')) return text;
    const bytes = utf8Encode(text);
    let length = 0;
    for (let i = 0; i < bytes.length; i++) {
        const high = bytes[i] === 37 && i + 2 < bytes.length ? hexadecimal(bytes[i + 1]) : -1;
        const low = high < 0 ? -1 : hexadecimal(bytes[i + 2]);
        bytes[length++] = low < 0 ? bytes[i] : high << 4 | low;
        if (low >= 0) i += 2;
    }
    return utf8Decode(bytes.subarray(0, length));
};

// ---- hosts; undefined is a failure ----

const ipv4Number = text => {
    if (text === '') return NaN;
    let [digits, base, allowed] = [text, 10, /^\d*$/];
    if (/^0x/i.test(text)) [digits, base, allowed] = [text.slice(2), 16, /^[\da-f]*$/i];
    else if (/^0./.test(text)) [digits, base, allowed] = [text.slice(1), 8, /^[0-7]*$/];
    return !allowed.test(digits) ? NaN : digits === '' ? 0 : parseInt(digits, base);
};
const ipv4 = text => {
    const parts = text.split('.');
    if (parts.at(-1) === '' && parts.length > 1) parts.pop();
    if (parts.length > 4) return undefined;
    const numbers = parts.map(ipv4Number);
    const last = numbers.pop();
    if (!(last < 256 ** (4 - numbers.length)) || !numbers.every(number => number < 256)) return undefined;
    const address = numbers.reduce((sum, number, i) => sum + number * 256 ** (3 - i), last);
    return [24, 16, 8, 0].map(shift => Math.floor(address / 2 ** shift) % 256).join('.');
};
const endsInNumber = text => {
    const parts = text.split('.');
    if (parts.at(-1) === '' && parts.length > 1) parts.pop();
    return /^(?:\d+|0x[\da-f]*)$/i.test(parts.at(-1));
};
const ipv6 = text => {
    const halves = text.split('::');
    if (halves.length > 2) return undefined;
    const pieces = halves.map(half => half === '' ? [] : half.split(':'));
    const final = pieces.at(-1);
    const dotted = final.at(-1);
    if (dotted?.includes('.')) {
        const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(dotted);
        if (!match || match.slice(1).some(number => number > 255 || /^0./.test(number))) return undefined;
        final.splice(-1, 1, (match[1] * 256 + +match[2]).toString(16), (match[3] * 256 + +match[4]).toString(16));
    }
    const count = pieces.flat().length;
    if (pieces.flat().some(piece => !/^[\da-f]{1,4}$/i.test(piece))) return undefined;
    if (halves.length === 1 ? count !== 8 : count > 7) return undefined;
    const all = halves.length === 1 ? pieces[0] : [...pieces[0], ...new Array(8 - count).fill('0'), ...pieces[1]];
    return `[${shortened(all.map(piece => parseInt(piece, 16)))}]`;
};
// The first of the longest runs of two or more zeros becomes "::".
const shortened = numbers => {
    let [best, length] = [-1, 1];
    for (let i = 0; i < 8; i++) {
        let run = 0;
        while (numbers[i + run] === 0) run++;
        if (run > length) [best, length] = [i, run];
        i += run;
    }
    const text = numbers.map(number => number.toString(16));
    return best < 0 ? text.join(':') : `${text.slice(0, best).join(':')}::${text.slice(best + length).join(':')}`;
};
const parseHost = (text, isSpecial) => {
    if (text[0] === '[') return text.at(-1) === ']' ? ipv6(text.slice(1, -1)) : undefined;
    if (!isSpecial) return /[\0\t\n\r #/:<>?@[\\\]^|]/.test(text) ? undefined : percent(text, control);
    const domain = unpercent(text);
    const host = /^[\w.-]*$/.test(domain) && !/xn--/i.test(domain) ? domain.toLowerCase() : internal('idn').toASCII(domain);
    if (!host || /[\0-\x20#/:<>?@[\\\]^|%\x7f]/.test(host)) return undefined;
    return endsInNumber(host) ? ipv4(host) : host;
};

// ---- the parser ----

const ports = { __proto__: null, 'http': '80', 'https': '443', 'ws': '80', 'wss': '443', 'ftp': '21', 'file': '' };
const special = url => url.scheme in ports;
const isDrive = text => /^[a-z][:|]$/i.test(text);
const startsWithDrive = text => /^[a-z][:|](?:[/\\?#]|$)/i.test(text);
const isDot = text => /^(?:\.|%2e)$/i.test(text);
const isDots = text => /^(?:\.|%2e){2}$/i.test(text);
const shorten = url => {
    const { path } = url;
    if (url.scheme === 'file' && path.length === 1 && /^[a-z]:$/i.test(path[0])) return;
    path.pop();
};
const take = (url, from, ...names) => {
    for (const name of names) url[name] = name === 'path' && typeof from.path !== 'string' ? [...from.path] : from[name];
};
const authority = ['username', 'password', 'host', 'port'];
const search = (text, at, expression) => {
    expression.lastIndex = at;
    return expression.exec(text)?.index ?? text.length;
};
const failed = Symbol('failed');

// Each gives the next state as [name, place in the text]; undefined is the end. `only`: the state that a
// setter begins with.
const states = {
    schemeStart({ url, text, base, only }) {
        const match = /^([a-z][a-z\d+.-]*):/i.exec(text);
        if (!match) return only ? failed : ['noScheme', 0];
        const scheme = match[1].toLowerCase();
        if (only) {
            if (scheme in ports !== special(url) || (scheme === 'file' && (url.username || url.password || url.port !== ''))
                || (url.scheme === 'file' && url.host === '')) return undefined;
            url.scheme = scheme;
            if (url.port === ports[scheme]) url.port = '';
            return undefined;
        }
        url.scheme = scheme;
        const at = match[0].length;
        if (scheme === 'file') return ['file', at];
        if (special(url)) return [base?.scheme === scheme && !text.startsWith('//', at) ? 'relative' : 'ignoreSlashes', at];
        if (text[at] === '/') return text[at + 1] === '/' ? ['authority', at + 2] : ['path', at + 1];
        return ['opaque', at];
    },
    noScheme({ url, text, base }) {
        const isOpaque = typeof base?.path === 'string';
        if (!base || (isOpaque && text[0] !== '#')) return failed;
        if (isOpaque) {
            take(url, base, 'scheme', 'path', 'query');
            return ['fragment', 1];
        }
        return [base.scheme === 'file' ? 'file' : 'relative', 0];
    },
    relative({ url, text, base, isSlash }, at) {
        url.scheme = base.scheme;
        if (isSlash(at)) {
            if (special(url) && isSlash(at + 1)) return ['ignoreSlashes', at + 2];
            if (text[at + 1] === '/') return ['authority', at + 2];
            take(url, base, ...authority);
            return ['path', at + 1];
        }
        take(url, base, ...authority, 'path', 'query');
        return states.inherited(url, text, at);
    },
    // After a path and a query were taken from the base.
    inherited(url, text, at) {
        if (at === text.length) return undefined;
        if (text[at] === '#') return ['fragment', at + 1];
        url.query = null;
        if (text[at] === '?') return ['query', at + 1];
        if (url.scheme === 'file' && startsWithDrive(text.slice(at))) url.path = [];
        else shorten(url);
        return ['path', at];
    },
    ignoreSlashes({ text }, at) {
        while (text[at] === '/' || text[at] === '\\') at++;
        return ['authority', at];
    },
    authority({ url, text, stop }, at) {
        const part = text.slice(at, search(text, at, stop()));
        const end = part.lastIndexOf('@');
        if (end < 0) return ['host', at];
        if (end + 1 === part.length) return failed;
        const colon = part.slice(0, end).indexOf(':');
        url.username = percent(part.slice(0, colon < 0 ? end : colon), inUser);
        url.password = colon < 0 ? '' : percent(part.slice(colon + 1, end), inUser);
        return ['host', at + end + 1];
    },
    host({ url, text, only, stop }, at) {
        if (only && url.scheme === 'file') return ['fileHost', at];
        const part = text.slice(at, search(text, at, stop()));
        let [colon, inside] = [0, false];
        for (; colon < part.length && (part[colon] !== ':' || inside); colon++) {
            if (part[colon] === '[') inside = true;
            else if (part[colon] === ']') inside = false;
        }
        const name = part.slice(0, colon);
        const hasPort = colon < part.length;
        if (name === '' && (hasPort || special(url))) return failed;
        if (hasPort && only === 'hostname') return failed;
        if (name === '' && only && (url.username || url.password || url.port !== '')) return failed;
        const host = parseHost(name, special(url));
        if (host === undefined) return failed;
        url.host = host;
        if (hasPort) return ['port', at + colon + 1];
        return only ? undefined : ['pathStart', at + colon];
    },
    port({ url, text, only, stop }, at) {
        const [digits] = /^\d*/.exec(text.slice(at));
        const end = at + digits.length;
        if (!only && end !== search(text, at, stop())) return failed;
        if (digits !== '') {
            if (Number(digits) > 65535) return failed;
            url.port = String(Number(digits));
            if (url.port === ports[url.scheme]) url.port = '';
        }
        return only ? undefined : ['pathStart', end];
    },
    file({ url, text, base, isSlash }, at) {
        url.scheme = 'file';
        url.host = '';
        const from = base?.scheme === 'file' ? base : undefined;
        if (isSlash(at)) {
            if (isSlash(at + 1)) return ['fileHost', at + 2];
            if (from) {
                url.host = from.host;
                if (!startsWithDrive(text.slice(at + 1)) && /^[a-z]:$/i.test(from.path[0] ?? '')) url.path.push(from.path[0]);
            }
            return ['path', at + 1];
        }
        if (!from) return ['path', at];
        take(url, from, 'host', 'path', 'query');
        return states.inherited(url, text, at);
    },
    fileHost({ url, text, only }, at) {
        const end = search(text, at, /[/\\?#]/g);
        const name = text.slice(at, end);
        if (!only && isDrive(name)) return ['path', at];
        const host = name === '' ? '' : parseHost(name, true);
        if (host === undefined) return failed;
        url.host = host === 'localhost' ? '' : host;
        return only ? undefined : ['pathStart', end];
    },
    pathStart({ url, text, only, isSlash }, at) {
        if (special(url)) return ['path', isSlash(at) ? at + 1 : at];
        if (!only && (text[at] === '?' || text[at] === '#')) return [text[at] === '?' ? 'query' : 'fragment', at + 1];
        if (at < text.length) return ['path', text[at] === '/' ? at + 1 : at];
        if (only && url.host === null) url.path.push('');
        return undefined;
    },
    path({ url, text, isSlash, stop }, at) {
        for (;;) {
            const end = search(text, at, stop());
            let segment = percent(text.slice(at, end), inPath);
            const goesOn = isSlash(end);
            if (isDots(segment)) {
                shorten(url);
                if (!goesOn) url.path.push('');
            } else if (isDot(segment)) {
                if (!goesOn) url.path.push('');
            } else {
                if (url.scheme === 'file' && url.path.length === 0 && isDrive(segment)) segment = `${segment[0]}:`;
                url.path.push(segment);
            }
            if (goesOn) at = end + 1;
            else return end === text.length ? undefined : [text[end] === '?' ? 'query' : 'fragment', end + 1];
        }
    },
    opaque({ url, text }, at) {
        const end = search(text, at, /[?#]/g);
        url.path = percent(text.slice(at, end), control);
        return end === text.length ? undefined : [text[end] === '?' ? 'query' : 'fragment', end + 1];
    },
    query({ url, text, only }, at) {
        const end = only ? text.length : search(text, at, /#/g);
        url.query = percent(text.slice(at, end), special(url) ? inSpecialQuery : inQuery);
        return end === text.length ? undefined : ['fragment', end + 1];
    },
    fragment({ url, text }, at) {
        url.fragment = percent(text.slice(at), inFragment);
        return undefined;
    },
};

const trim = text => {
    let [start, end] = [0, text.length];
    while (start < end && text.charCodeAt(start) <= 32) start++;
    while (end > start && text.charCodeAt(end - 1) <= 32) end--;
    return text.slice(start, end);
};
const run = (text, base, url, only, first) => {
    text = text.replace(/[\t\n\r]/g, '');
    const setsPath = first === 'pathStart';
    const parser = {
        url, text, base, only,
        isSlash: at => text[at] === '/' || (text[at] === '\\' && (special(url) || url.scheme === '')),
        stop: () => special(url) ? setsPath ? /[/\\]/g : /[/\\?#]/g : setsPath ? /\//g : /[/?#]/g,
    };
    for (let next = [first, 0]; next !== undefined;) {
        next = states[next[0]](parser, next[1]);
        if (next === failed) return false;
    }
    return true;
};
// The record of a URL; undefined: it is none.
const parse = (text, base) => {
    const url = { scheme: '', username: '', password: '', host: null, port: '', path: [], query: null, fragment: null };
    return run(trim(text), base, url, undefined, 'schemeStart') ? url : undefined;
};
const pathOf = ({ path }) => typeof path === 'string' ? path : path.map(segment => `/${segment}`).join('');
const hostOf = ({ host, port }) => host === null ? '' : port === '' ? host : `${host}:${port}`;
const serialize = (url, { fragment = true, auth = true, search: query = true, host = hostOf(url) } = {}) => {
    let text = `${url.scheme}:`;
    if (url.host !== null) {
        text += '//';
        if (auth && (url.username || url.password)) text += `${url.username}${url.password && `:${url.password}`}@`;
        text += host;
    } else if (typeof url.path !== 'string' && url.path.length > 1 && url.path[0] === '') {
        text += '/.';
    }
    text += pathOf(url);
    if (query && url.query !== null) text += `?${url.query}`;
    if (fragment && url.fragment !== null) text += `#${url.fragment}`;
    return text;
};
const originOf = url => {
    if (url.scheme === 'blob') {
        const inside = parse(pathOf(url));
        return inside && /^https?$/.test(inside.scheme) ? originOf(inside) : 'null';
    }
    return special(url) && url.scheme !== 'file' ? `${url.scheme}://${hostOf(url)}` : 'null';
};

// ---- URLSearchParams ----

const formDecode = text => unpercent(text.replace(/\+/g, ' '));
const formEncode = text => percent(text, inForm).replace(/ /g, '+');
const parseForm = text => text.split('&').filter(Boolean).map(pair => {
    const at = pair.indexOf('=');
    return at < 0 ? [formDecode(pair), ''] : [formDecode(pair.slice(0, at)), formDecode(pair.slice(at + 1))];
});
const serializeForm = list => list.map(([name, value]) => `${formEncode(name)}=${formEncode(value)}`).join('&');
const usv = value => `${value}`.toWellFormed();

const iteratorPrototype = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()));
const listOfIterator = new WeakMap();
const searchIterator = Object.create(iteratorPrototype, {
    next: {
        value: function next() {
            const state = listOfIterator.get(this);
            if (!state) throw coded(TypeError, 'ERR_INVALID_THIS', 'Value of "this" must be of type URLSearchParamsIterator');
            const pair = state.list()[state.at++];
            return pair ? { value: state.pick(pair), done: false } : { value: undefined, done: true };
        },
        writable: true, enumerable: true, configurable: true,
    },
    [Symbol.toStringTag]: { value: 'URLSearchParams Iterator', configurable: true },
    [inspectSymbol]: {
        value(depth, options, inspect) {
            const { list, at, pick } = listOfIterator.get(this);
            const shown = list().slice(at).map(pick).map(item => inspect(item, options));
            return `URLSearchParams Iterator { ${shown.join(', ')} }`;
        },
    },
});
const iterate = (list, pick) => {
    const iterator = Object.create(searchIterator);
    listOfIterator.set(iterator, { list, pick, at: 0 });
    return iterator;
};
const needed = (values, ...names) => {
    if (values.length < names.length) throw missing(...names);
};
const initial = init => {
    if (init === undefined || init === null) return [];
    if (typeof init !== 'object' && typeof init !== 'function') return parseForm(usv(init).replace(/^\?/, ''));
    const method = init[Symbol.iterator];
    if (method == null) return Reflect.ownKeys(init).filter(key => Object.prototype.propertyIsEnumerable.call(init, key))
        .map(key => {
            if (typeof key === 'symbol') throw new TypeError('Cannot convert a Symbol value to a string');
            return [usv(key), usv(init[key])];
        });
    if (typeof method !== 'function') throw coded(TypeError, 'ERR_ARG_NOT_ITERABLE', 'Query pairs must be iterable');
    return Array.from(init, pair => {
        if (pair == null || typeof pair[Symbol.iterator] !== 'function' || typeof pair === 'string') {
            throw coded(TypeError, 'ERR_INVALID_TUPLE', 'Each query pair must be an iterable [name, value] tuple');
        }
        const both = Array.from(pair, usv);
        if (both.length !== 2) throw coded(TypeError, 'ERR_INVALID_TUPLE', 'Each query pair must be an iterable [name, value] tuple');
        return both;
    });
};
class URLSearchParams {
    #list;
    #changed;
    constructor(init = undefined) { this.#list = initial(init); }
    // Of a URL: changed is called after each change. Gives a function that replaces the list.
    static attach(params, changed) {
        params.#changed = changed;
        return text => { params.#list = parseForm(text); };
    }
    get size() { return this.#list.length; }
    append(name, value) {
        needed(arguments, 'name', 'value');
        this.#list.push([usv(name), usv(value)]);
        this.#changed?.();
    }
    delete(name, value = undefined) {
        needed(arguments, 'name');
        this.#list = this.#list.filter(this.#other(name, value));
        this.#changed?.();
    }
    get(name) {
        needed(arguments, 'name');
        name = usv(name);
        return this.#list.find(pair => pair[0] === name)?.[1] ?? null;
    }
    getAll(name) {
        needed(arguments, 'name');
        name = usv(name);
        return this.#list.filter(pair => pair[0] === name).map(pair => pair[1]);
    }
    has(name, value = undefined) {
        needed(arguments, 'name');
        return !this.#list.every(this.#other(name, value));
    }
    set(name, value) {
        needed(arguments, 'name', 'value');
        name = usv(name);
        value = usv(value);
        const first = this.#list.find(pair => pair[0] === name);
        if (first) {
            first[1] = value;
            this.#list = this.#list.filter(pair => pair === first || pair[0] !== name);
        } else {
            this.#list.push([name, value]);
        }
        this.#changed?.();
    }
    sort() {
        this.#list.sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0);
        this.#changed?.();
    }
    forEach(callback, self = undefined) {
        internal('errors').checkFunction(callback, 'callback');
        for (const [name, value] of this) callback.call(self, value, name, this);
    }
    entries() { return iterate(() => this.#list, ([name, value]) => [name, value]); }
    keys() { return iterate(() => this.#list, pair => pair[0]); }
    values() { return iterate(() => this.#list, pair => pair[1]); }
    toString() { return serializeForm(this.#list); }
    [inspectSymbol](depth, options, inspect) {
        if (depth < 0) return '[Object]';
        const shown = this.#list.map(([name, value]) => `${inspect(name, options)} => ${inspect(value, options)}`);
        const length = shown.reduce((sum, text) => sum + text.length + 2, -2);
        if (!shown.length) return 'URLSearchParams {}';
        return length > (options?.breakLength ?? 80) ? `URLSearchParams {\n  ${shown.join(',\n  ')} }`
            : `URLSearchParams { ${shown.join(', ')} }`;
    }
    #other(name, value) {
        name = usv(name);
        if (value !== undefined) value = usv(value);
        return pair => pair[0] !== name || (value !== undefined && pair[1] !== value);
    }
}
const { attach } = URLSearchParams;
delete URLSearchParams.attach;

// ---- URL ----

const invalid = (input, base) => {
    const error = coded(TypeError, 'ERR_INVALID_URL', 'Invalid URL');
    error.input = input;
    if (base !== undefined) error.base = base;
    return error;
};
const parseWith = (input, base) => {
    if (base === undefined) return parse(input);
    const record = parse(base);
    return record && parse(input, record);
};
class URL {
    #url;
    #params;
    #reload;
    constructor(input, base = undefined) {
        if (arguments.length === 0) throw missing('url');
        input = usv(input);
        if (base !== undefined) base = usv(base);
        this.#url = parseWith(input, base);
        if (!this.#url) throw invalid(input, base);
    }
    static canParse(input, base = undefined) {
        if (arguments.length === 0) throw missing('url');
        return Boolean(parseWith(usv(input), base === undefined ? undefined : usv(base)));
    }
    static parse(input, base = undefined) {
        if (arguments.length === 0) throw missing('url');
        return URL.canParse(input, base) ? new URL(input, base) : null;
    }
    static record(url) { return url.#url; }
    #set(text, only, first) {
        const copy = { ...this.#url, path: typeof this.#url.path === 'string' ? this.#url.path : [...this.#url.path] };
        if (run(text, undefined, copy, only, first)) this.#url = copy;
        else if (only === 'host' && first === 'host') this.#url.host = copy.host;
    }
    #cannotHaveUser() { return !this.#url.host || this.#url.scheme === 'file'; }
    toString() { return this.href; }
    get href() { return serialize(this.#url); }
    set href(value) {
        const url = parse(usv(value));
        if (!url) throw invalid(`${value}`);
        this.#url = url;
        this.#reload?.(url.query ?? '');
    }
    get origin() { return originOf(this.#url); }
    get protocol() { return `${this.#url.scheme}:`; }
    set protocol(value) { this.#set(`${usv(value)}:`, 'protocol', 'schemeStart'); }
    get username() { return this.#url.username; }
    set username(value) { if (!this.#cannotHaveUser()) this.#url.username = percent(usv(value), inUser); }
    get password() { return this.#url.password; }
    set password(value) { if (!this.#cannotHaveUser()) this.#url.password = percent(usv(value), inUser); }
    get host() { return hostOf(this.#url); }
    set host(value) { if (typeof this.#url.path !== 'string') this.#set(usv(value), 'host', 'host'); }
    get hostname() { return this.#url.host ?? ''; }
    set hostname(value) { if (typeof this.#url.path !== 'string') this.#set(usv(value), 'hostname', 'host'); }
    get port() { return this.#url.port; }
    set port(value) {
        if (this.#cannotHaveUser()) return;
        value = usv(value);
        if (value === '') this.#url.port = '';
        else this.#set(value, 'port', 'port');
    }
    get pathname() { return pathOf(this.#url); }
    set pathname(value) {
        if (typeof this.#url.path === 'string') return;
        this.#url.path = [];
        this.#set(usv(value), 'pathname', 'pathStart');
    }
    get search() { return this.#url.query ? `?${this.#url.query}` : ''; }
    set search(value) {
        value = usv(value);
        if (value === '') this.#url.query = null;
        else this.#set(value.replace(/^\?/, ''), 'search', 'query');
        this.#strip();
        this.#reload?.(this.#url.query ?? '');
    }
    get searchParams() {
        if (!this.#params) {
            const params = new URLSearchParams(this.#url.query ?? '');
            this.#params = params;
            this.#reload = attach(params, () => {
                this.#url.query = `${params}` || null;
                this.#strip();
            });
            this.#reload(this.#url.query ?? '');
        }
        return this.#params;
    }
    get hash() { return this.#url.fragment ? `#${this.#url.fragment}` : ''; }
    set hash(value) {
        value = usv(value);
        if (value === '') this.#url.fragment = null;
        else this.#set(value.replace(/^#/, ''), 'hash', 'fragment');
        this.#strip();
    }
    // Spaces at the end of an opaque path would be lost when it is read again.
    #strip() {
        if (typeof this.#url.path === 'string' && this.#url.query === null && this.#url.fragment === null) {
            this.#url.path = this.#url.path.replace(/(?<! ) +$/, '');
        }
    }
    toJSON() { return this.href; }
    [inspectSymbol](depth, options, inspect) {
        if (depth < 0) return `[${this.constructor.name}]`;
        const shown = {};
        for (const name of ['href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname',
            'search', 'searchParams', 'hash']) shown[name] = this[name];
        return `${this.constructor.name} ${inspect(shown, options)}`;
    }
}
const { record } = URL;
delete URL.record;
for (const Class of [URL, URLSearchParams]) {
    for (const key of Object.keys(Object.getOwnPropertyDescriptors(Class.prototype))) {
        if (key !== 'constructor') Object.defineProperty(Class.prototype, key, { enumerable: true });
    }
    Object.defineProperty(Class.prototype, Symbol.toStringTag, { value: Class.name, configurable: true });
}
Object.defineProperty(URLSearchParams.prototype, Symbol.iterator,
    { value: URLSearchParams.prototype.entries, writable: true, configurable: true });
Object.assign(exports, { URL, URLSearchParams, record, serialize, unpercent });
Object.defineProperty(exports, 'module', { get: () => internal('url_module') });
