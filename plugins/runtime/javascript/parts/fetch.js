// fetch.js - fetch, Headers, Request, Response; transfers are those of js_fetch.c.
const { ReadableStream, published, isDisturbed } = internal('streams');
const { Blob, FormData, join, copied, bytesOf, encodeForm, decodeForm } = internal('blob');
const { URL, URLSearchParams } = globalThis;
const { fetchStart, fetchTake, fetchCancel, utf8Encode, utf8Decode, latin1Encode, latin1Decode } = native;
const { parse, stringify } = JSON;
const { defineProperty, hasOwn } = Object;
const custom = Symbol.for('nodejs.util.inspect.custom');
const ENOTFOUND = -3008, EPERM = -1, EACCES = -13, ELIBACC = -79, EAFNOSUPPORT = -97;

const arguments_ = (name, wanted, n) => {
    if (n < wanted) {
        throw new TypeError(`${name}: ${wanted} argument${wanted > 1 ? 's' : ''} required, but ${n ? 'only ' : ''}${n} found.`);
    }
};

// ---- headers

const byteString = value => {
    const text = `${value}`;
    const at = text.search(/[^\0-\xff]/);
    if (at >= 0) {
        throw new TypeError(`Cannot convert argument to a ByteString because the character at index ${at} has a value of ${
            text.charCodeAt(at)} which is greater than 255.`);
    }
    return text;
};
const isToken = text => /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(text);
const trimmed = text => text.replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, '');

let guard, listed;
class Headers {
    #map = new Map(); // by the name in small letters: [name, value]
    #cookies = [];
    #guard;
    static {
        guard = (headers, kind) => {
            headers.#guard = kind;
            return headers;
        };
        // [name, value] of each line, the name as it was given
        listed = headers => [...headers.#map.values(), ...headers.#cookies.map(value => ['set-cookie', value])];
    }
    constructor(init = undefined) {
        if (init === undefined) return;
        if (init instanceof Headers) {
            this.#map = new Map([...init.#map].map(([key, entry]) => [key, [...entry]]));
            this.#cookies = [...init.#cookies];
        } else if (init === null || typeof init !== 'object' && typeof init !== 'function') {
            throw new TypeError('Headers constructor: Argument 1 could not be converted to one of: sequence<sequence<ByteString>>, record<ByteString, ByteString>.');
        } else if (typeof init[Symbol.iterator] === 'function') {
            for (const entry of init) {
                const pair = [...entry];
                if (pair.length !== 2) {
                    throw new TypeError(`Headers constructor: expected name/value pair to be length 2, found ${pair.length}.`);
                }
                this.append(pair[0], pair[1]);
            }
        } else {
            for (const name of Object.keys(init)) this.append(name, init[name]);
        }
    }
    #name(method, name) {
        const text = byteString(name);
        if (!isToken(text)) throw new TypeError(`Headers.${method}: "${text}" is an invalid header name.`);
        return text;
    }
    #changed(method, name, value) {
        [name, value] = [byteString(name), trimmed(byteString(value))];
        this.#name(method, name);
        if (/[\0\r\n]/.test(value)) throw new TypeError(`Headers.${method}: "${value}" is an invalid header value.`);
        this.#check();
        return [name, value];
    }
    #check() { if (this.#guard === 'immutable') throw new TypeError('immutable'); }
    append(name, value) {
        arguments_('Headers.append', 2, arguments.length);
        [name, value] = this.#changed('append', name, value);
        const key = name.toLowerCase();
        const entry = this.#map.get(key);
        if (key === 'set-cookie') this.#cookies.push(value);
        else if (entry) entry[1] += `${key === 'cookie' ? '; ' : ', '}${value}`;
        else this.#map.set(key, [name, value]);
    }
    set(name, value) {
        arguments_('Headers.set', 2, arguments.length);
        [name, value] = this.#changed('set', name, value);
        const key = name.toLowerCase();
        if (key === 'set-cookie') this.#cookies = [value];
        else this.#map.set(key, [name, value]);
    }
    delete(name) {
        arguments_('Headers.delete', 1, arguments.length);
        const key = this.#name('delete', name).toLowerCase();
        this.#check();
        if (key === 'set-cookie') this.#cookies = [];
        this.#map.delete(key);
    }
    get(name) {
        arguments_('Headers.get', 1, arguments.length);
        const key = this.#name('get', name).toLowerCase();
        if (key === 'set-cookie') return this.#cookies.length ? this.#cookies.join(', ') : null;
        return this.#map.get(key)?.[1] ?? null;
    }
    has(name) {
        arguments_('Headers.has', 1, arguments.length);
        const key = this.#name('has', name).toLowerCase();
        return key === 'set-cookie' ? this.#cookies.length > 0 : this.#map.has(key);
    }
    getSetCookie() { return [...this.#cookies]; }
    forEach(callback, self = undefined) {
        arguments_('Headers.forEach', 1, arguments.length);
        if (typeof callback !== 'function') {
            throw new TypeError("Failed to execute 'forEach' on 'Headers': parameter 1 is not of type 'Function'.");
        }
        for (const [name, value] of this) callback.call(self, value, name, this);
    }
    *entries() {
        const all = [...this.#map].map(([key, [, value]]) => [key, value]);
        for (const value of this.#cookies) all.push(['set-cookie', value]);
        yield* all.sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0);
    }
    *keys() { for (const [name] of this.entries()) yield name; }
    *values() { for (const [, value] of this.entries()) yield value; }
    [custom](depth, options, inspect) {
        const all = {};
        for (const [name] of this.entries()) all[name] = this.get(name);
        return `Headers ${inspect(all, options)}`;
    }
}

// ---- bodies

const noBytes = new Uint8Array(0);
const readAll = async stream => {
    const reader = stream.getReader();
    const pieces = [];
    for (;;) {
        const { value, done } = await reader.read();
        if (done) return join(pieces);
        if (!(value instanceof Uint8Array)) throw new TypeError('Received non-Uint8Array chunk');
        pieces.push(value);
    }
};
const streamOf = bytes => new ReadableStream({
    type: 'bytes',
    pull(controller) {
        if (bytes.length) controller.enqueue(bytes.slice());
        controller.close();
    },
});
// A body is { bytes } or { stream }; with it comes the type of what it was made of.
const bodyOf = (value, what) => {
    if (value == null) return [null, null];
    if (value instanceof ReadableStream) {
        if (value.locked || isDisturbed(value)) throw new TypeError(`${what} body object should not be disturbed or locked`);
        return [{ stream: value }, null];
    }
    if (value instanceof URLSearchParams) return [{ bytes: utf8Encode(`${value}`) }, 'application/x-www-form-urlencoded;charset=UTF-8'];
    if (value instanceof Blob) return [{ bytes: bytesOf(value) }, value.type || null];
    if (value instanceof FormData) {
        const [bytes, type] = encodeForm(value);
        return [{ bytes }, type];
    }
    const bytes = copied(value);
    if (bytes) return [{ bytes }, null];
    if (typeof value === 'object' && typeof value[Symbol.asyncIterator] === 'function') {
        const pieces = async function* () {
            for await (const piece of value) yield typeof piece === 'string' ? utf8Encode(piece) : piece;
        };
        return [{ stream: ReadableStream.from(pieces()) }, null];
    }
    return [{ bytes: utf8Encode(`${value}`) }, 'text/plain;charset=UTF-8'];
};
const isUsed = body => Boolean(body && (body.used || body.stream && isDisturbed(body.stream)));

let bodyIn, setBody;
class Body {
    #body = null;
    static {
        bodyIn = holder => holder.#body;
        setBody = (holder, body) => { holder.#body = body; };
    }
    get body() {
        const body = this.#body;
        if (!body) return null;
        if (!body.stream) {
            body.stream = streamOf(body.bytes);
            if (body.used) body.stream.getReader();
        }
        return body.stream;
    }
    get bodyUsed() { return isUsed(this.#body); }
    async #bytes() {
        const body = this.#body;
        if (!body) return noBytes.slice();
        if (isUsed(body) || body.stream?.locked) throw new TypeError('Body is unusable: Body has already been read');
        body.used = true;
        if (body.stream) return readAll(body.stream);
        return body.bytes.slice();
    }
    async arrayBuffer() { return (await this.#bytes()).buffer; }
    async blob() {
        const bytes = await this.#bytes();
        return new Blob([bytes], { type: this.headers.get('content-type') ?? '' });
    }
    async bytes() { return this.#bytes(); }
    async text() { return utf8Decode(await this.#bytes()).replace(/^\ufeff/, ''); }
    async json() { return parse(utf8Decode(await this.#bytes()).replace(/^\ufeff/, '')); }
    async formData() {
        const type = this.headers.get('content-type') ?? '';
        const bytes = await this.#bytes();
        if (/^multipart\/form-data\s*(;|$)/i.test(type)) {
            const boundary = /;\s*boundary=(?:"([^"]*)"|([^;\s]+))/i.exec(type);
            const form = boundary && decodeForm(bytes, boundary[1] ?? boundary[2]);
            if (!form) throw new TypeError('Failed to parse body as FormData.');
            return form;
        }
        if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(type)) {
            throw new TypeError('Content-Type was not one of "multipart/form-data" or "application/x-www-form-urlencoded".');
        }
        const form = new FormData();
        for (const [name, value] of new URLSearchParams(utf8Decode(bytes))) form.append(name, value);
        return form;
    }
}
const cloned = body => {
    if (!body?.stream) return body && { ...body };
    const [first, second] = body.stream.tee();
    body.stream = first;
    return { stream: second };
};
// With the type of a body, where no other is given.
const typed = (headers, type) => {
    if (type && !headers.has('content-type')) headers.append('content-type', type);
};
const shownAs = (object, names, depth, options, inspect) => {
    if (depth < 0) return `[${object.constructor.name}]`;
    const fields = {};
    for (const name of names) fields[name] = object[name];
    return `${object.constructor.name} ${inspect(fields, options)}`;
};

// ---- Response

const emptyStatus = status => status === 101 || status === 204 || status === 205 || status === 304;
const redirects = status => status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
const parsed = url => {
    try {
        return new URL(url);
    } catch (cause) {
        throw new TypeError(`Failed to parse URL from ${url}`, { cause });
    }
};

let respond;
class Response extends Body {
    #fields = { type: 'default', url: '', redirected: false, status: 200, statusText: '' };
    #headers;
    static {
        respond = (fields, headers, body) => {
            const response = new Response();
            Object.assign(response.#fields, fields);
            response.#headers = guard(headers, 'immutable');
            setBody(response, body);
            return response;
        };
    }
    constructor(body = null, init = {}) {
        super();
        init ??= {};
        const [made, type] = bodyOf(body, 'Response');
        if (init.status !== undefined) {
            const status = init.status & 0xffff;
            if (status < 200 || status > 599) throw new RangeError('init["status"] must be in the range of 200 to 599, inclusive.');
            this.#fields.status = status;
        }
        if (init.statusText !== undefined) {
            const text = byteString(init.statusText);
            if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(text)) throw new TypeError('Invalid statusText');
            this.#fields.statusText = text;
        }
        this.#headers = new Headers(init.headers);
        if (!made) return;
        if (emptyStatus(this.#fields.status)) {
            throw new TypeError(`Response constructor: Invalid response status code ${this.#fields.status}`);
        }
        setBody(this, made);
        typed(this.#headers, type);
    }
    static error() { return respond({ type: 'error', status: 0 }, new Headers(), null); }
    static json(data, init = {}) {
        arguments_('Response.json', 1, arguments.length);
        const text = stringify(data);
        if (text === undefined) throw new TypeError('Value is not JSON serializable');
        const response = new Response(utf8Encode(text), init);
        typed(response.#headers, 'application/json');
        return response;
    }
    static redirect(url, status = 302) {
        arguments_('Response.redirect', 1, arguments.length);
        const { href } = parsed(`${url}`);
        if (!redirects(status & 0xffff)) throw new RangeError(`Invalid status code ${status}`);
        return respond({ status: status & 0xffff }, new Headers({ location: href }), null);
    }
    get type() { return this.#fields.type; }
    get url() { return this.#fields.url; }
    get redirected() { return this.#fields.redirected; }
    get status() { return this.#fields.status; }
    get ok() { return this.status >= 200 && this.status <= 299; }
    get statusText() { return this.#fields.statusText; }
    get headers() { return this.#headers; }
    clone() {
        const body = bodyIn(this);
        if (isUsed(body) || body?.stream?.locked) throw new TypeError('Response.clone: Body has already been consumed.');
        const response = respond(this.#fields, new Headers(this.#headers), cloned(body));
        if (this.#fields.type === 'default') guard(response.#headers, undefined);
        return response;
    }
    [custom](...how) {
        return shownAs(this, ['status', 'statusText', 'headers', 'body', 'bodyUsed', 'ok', 'redirected', 'type', 'url'], ...how);
    }
}

// ---- Request

const choices = {
    redirect: ['follow', 'manual', 'error'],
    mode: ['same-origin', 'no-cors', 'cors'],
    credentials: ['omit', 'same-origin', 'include'],
    cache: ['default', 'no-store', 'reload', 'no-cache', 'force-cache', 'only-if-cached'],
    referrerPolicy: ['', 'no-referrer', 'no-referrer-when-downgrade', 'same-origin', 'origin', 'strict-origin',
        'origin-when-cross-origin', 'strict-origin-when-cross-origin', 'unsafe-url'],
};
const usual = {
    method: 'GET', destination: '', referrer: 'about:client', referrerPolicy: '', mode: 'cors', credentials: 'same-origin',
    cache: 'default', redirect: 'follow', integrity: '', keepalive: false, isReloadNavigation: false, isHistoryNavigation: false,
};
const methodOf = value => {
    const text = byteString(value);
    if (!isToken(text)) throw new TypeError(`'${text}' is not a valid HTTP method.`);
    const upper = text.toUpperCase();
    if (/^(?:CONNECT|TRACE|TRACK)$/.test(upper)) throw new TypeError(`'${text}' HTTP method is unsupported.`);
    return /^(?:DELETE|GET|HEAD|OPTIONS|POST|PUT)$/.test(upper) ? upper : text;
};

let signalOf;
class Request extends Body {
    #fields = { ...usual };
    #headers;
    #signal = null;
    static { signalOf = request => request.#signal; }
    constructor(input, init = {}) {
        arguments_('Request constructor', 1, arguments.length);
        super();
        init ??= {};
        const from = input instanceof Request ? input : undefined;
        if (from) {
            this.#fields = { ...from.#fields };
            this.#signal = from.#signal;
        } else {
            const url = parsed(`${input}`);
            if (url.username || url.password) {
                throw new TypeError(`Request cannot be constructed from a URL that includes credentials: ${input}`);
            }
            this.#fields.url = url.href;
        }
        this.#take(init);
        this.#headers = new Headers(init.headers ?? from?.headers);
        this.#takeBody(init, from);
    }
    #take(init) {
        const fields = this.#fields;
        if (init.mode === 'navigate') throw new TypeError('Request constructor: invalid request mode navigate.');
        for (const name of Object.keys(choices)) {
            if (init[name] === undefined) continue;
            const value = `${init[name]}`;
            if (!choices[name].includes(value)) {
                throw new TypeError(`Request constructor: ${value} is not an accepted type. Expected one of ${choices[name].join(', ')}.`);
            }
            fields[name] = value;
        }
        if (init.integrity != null) fields.integrity = `${init.integrity}`;
        if (init.keepalive !== undefined) fields.keepalive = Boolean(init.keepalive);
        if (init.method !== undefined) fields.method = methodOf(init.method);
        if (init.signal !== undefined) {
            if (init.signal !== null && (typeof init.signal.aborted !== 'boolean' || typeof init.signal.addEventListener !== 'function')) {
                throw new TypeError("Failed to construct 'Request': member signal is not of type AbortSignal.");
            }
            this.#signal = init.signal;
        }
    }
    #takeBody(init, from) {
        const old = from ? bodyIn(from) : null;
        if ((init.body != null || old) && /^(?:GET|HEAD)$/.test(this.#fields.method)) {
            throw new TypeError('Request with GET/HEAD method cannot have body.');
        }
        if (init.body != null) {
            const [body, type] = bodyOf(init.body, 'Request');
            if (body.stream && init.duplex == null) {
                throw new TypeError('RequestInit: duplex option is required when sending a body.');
            }
            setBody(this, body);
            typed(this.#headers, type);
        } else if (old) {
            if (isUsed(old) || old.stream?.locked) {
                throw new TypeError('Cannot construct a Request with a Request object that has already been used.');
            }
            setBody(this, { ...old });
            setBody(from, { bytes: noBytes, used: true });
        }
    }
    get url() { return this.#fields.url; }
    get headers() { return this.#headers; }
    get signal() { return this.#signal ??= new globalThis.AbortController().signal; }
    get duplex() { return 'half'; }
    clone() {
        const body = bodyIn(this);
        if (isUsed(body) || body?.stream?.locked) throw new TypeError('unusable');
        const request = new Request(this.url, { signal: this.#signal, headers: this.#headers });
        request.#fields = { ...this.#fields };
        setBody(request, cloned(body));
        return request;
    }
    static {
        for (const name of Object.keys(usual)) {
            defineProperty(Request.prototype, name, { get() { return this.#fields[name]; }, enumerable: true, configurable: true });
        }
    }
    [custom](...how) {
        return shownAs(this, ['method', 'url', 'headers', ...Object.keys(usual).slice(1), 'signal'], ...how);
    }
}
for (const Class of [Headers, Body, Response, Request]) published(Class);
defineProperty(Headers.prototype, Symbol.iterator, { value: Headers.prototype.entries, writable: true, configurable: true });

// ---- what goes wrong

const causeOf = (message, code, more) => Object.assign(new Error(message), more, code && { code });
const named = (name, message, code) => {
    const error = causeOf(message, code);
    defineProperty(error, 'name', { value: name, configurable: true, writable: true });
    return error;
};
const portOf = url => url.port || (url.protocol === 'https:' ? '443' : '80');
const isLoopback = host => /^(?:localhost|127\.[\d.]+|\[::1\])$/i.test(host);
const systemErrors = { 104: 'ECONNRESET', 110: 'ETIMEDOUT', 111: 'ECONNREFUSED', 101: 'ENETUNREACH', 113: 'EHOSTUNREACH', 1: 'EPERM', 32: 'EPIPE', 24: 'EMFILE' };

// The cause of a transfer's failure, `result` being that of libcurl. In a box with a network list a name that is not
// listed does not exist, what is not listed at all is refused, and what the host refuses later is reset.
const failure = ({ result, errno, text, isListed }, url) => {
    const host = url.hostname, port = portOf(url);
    const name = systemErrors[errno];
    const judged = isListed && !isLoopback(host);
    const why = words => judged ? ` (${words})` : '';
    const unlisted = why(`not allowed: ${host}:${port} is not in the network list of this session`);
    if (result === 6) {
        return causeOf(`getaddrinfo ENOTFOUND ${host}${why(`not allowed: ${host} is not in the network list of this session`)}`,
            'ENOTFOUND', { errno: ENOTFOUND, syscall: 'getaddrinfo', hostname: host });
    }
    if (result === 7) {
        return causeOf(`connect ${name ?? 'ECONNREFUSED'} ${host}:${port}${unlisted}`, name ?? 'ECONNREFUSED',
            { errno: -(errno || 111), syscall: 'connect', address: host, port: Number(port) });
    }
    if (result === 28) return named('ConnectTimeoutError', 'Connect Timeout Error', 'UND_ERR_CONNECT_TIMEOUT');
    if (result === 60) {
        return causeOf(text, /does not match|subject name/.test(text) ? 'ERR_TLS_CERT_ALTNAME_INVALID'
            : /expired/.test(text) ? 'CERT_HAS_EXPIRED' : 'UNABLE_TO_VERIFY_LEAF_SIGNATURE');
    }
    const refused = why(`it ends so where the network list of this session does not allow ${host}:${port}, or its server cannot be reached`);
    if (name === 'ECONNRESET') return causeOf(`read ECONNRESET${refused}`, name, { errno: -errno, syscall: 'read' });
    if (result === 52 || result === 18 || result === 55 || result === 56) {
        return named('SocketError', `other side closed${result === 18 ? '' : refused}`, 'UND_ERR_SOCKET');
    }
    if (result === 35) return causeOf(`${text}${refused}`, name ?? 'EPROTO');
    if (result === 8 || result === 1) return named('HTTPParserError', text, 'HPE_INVALID_CONSTANT');
    return causeOf(text || `transfer failed (${result})`, name);
};

const noTransfer = (status, url) => {
    const host = url.hostname + (url.protocol === 'https:' && !url.port ? '' : `:${portOf(url)}`);
    if (status === EPERM || status === EACCES || status === EAFNOSUPPORT) {
        return new TypeError(`fetch: this session has no network; its network list has to name ${host}`);
    }
    if (status === ELIBACC) return new TypeError('fetch: libcurl is not installed (Debian: libcurl3-gnutls)');
    return causeOf(`fetch: socket: errno ${-status}`, undefined, { errno: status, syscall: 'socket' });
};

// ---- one transfer

// Begins one. head({ status, statusText, headers }) comes once; then read() gives the body piece by piece, null at its
// end. failed(error): there is no head.
const transfer = (url, method, headers, bytes, head, failed) => {
    let rest = noBytes, state = 'open', error, wake = () => {};
    const number = fetchStart(url.href, method, headers.map(([name, value]) => value === null ? name : value === '' ? `${name};` : `${name}: ${value}`).join('\n'),
        bytes, (what, data) => {
            if (what === 'head') {
                head(parsedHead(data));
                return;
            }
            if (what === 'end') [state, rest] = ['ended', data];
            if (what === 'error') {
                error = failure(data, url);
                [state, rest] = ['failed', data.rest];
                failed(error);
            }
            wake();
        });
    if (number < 0) throw noTransfer(number, url);
    const read = async () => {
        for (;;) {
            const bytes = state === 'open' ? fetchTake(number) : rest;
            rest = noBytes;
            if (bytes === null) throw causeOf('the execution that began this transfer has ended');
            if (bytes.length) return bytes;
            if (state === 'failed') throw error;
            if (state === 'ended') return null;
            await new Promise(resolve => { wake = resolve; });
        }
    };
    const cancel = reason => {
        if (state !== 'open') return;
        [state, error] = ['failed', reason];
        fetchCancel(number);
        wake();
    };
    return { read, cancel };
};
const parsedHead = text => {
    const lines = text.replace(/\r?\n[\t ]+/g, ' ').split(/\r?\n/);
    const [, status, statusText = ''] = /^HTTP\/[\d.]+ (\d+) ?(.*)$/.exec(lines[0]) ?? [];
    const headers = new Headers();
    for (const line of lines.slice(1)) {
        const colon = line.indexOf(':');
        const name = line.slice(0, colon), value = line.slice(colon + 1);
        if (colon > 0 && isToken(name) && !/\0/.test(value)) headers.append(name, value);
    }
    return { status: Number(status), statusText, headers };
};

// ---- fetch

// The lines that a request is sent with. Throws for those that no request may have.
const linesOf = (url, method, headers, bytes) => {
    const names = new Headers(headers);
    for (const name of ['transfer-encoding', 'keep-alive', 'upgrade']) {
        if (names.has(name)) throw named('InvalidArgumentError', `invalid ${name} header`, 'UND_ERR_INVALID_ARG');
    }
    if (names.has('expect')) throw named('NotSupportedError', 'expect header not supported', 'UND_ERR_NOT_SUPPORTED');
    const length = names.get('content-length');
    if (length !== null && Number(length) !== (bytes?.length ?? 0)) {
        throw named('RequestContentLengthMismatchError', 'Request body length does not match content-length header',
            'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH');
    }
    names.delete('content-length');
    for (const [name, value] of [['connection', 'keep-alive'], ['accept', '*/*'], ['accept-language', '*'], ['sec-fetch-mode', 'cors'],
        ['user-agent', 'node'], ['accept-encoding', url.protocol === 'https:' ? 'br, gzip, deflate' : 'gzip, deflate']]) {
        if (!names.has(name)) names.append(name, value);
    }
    const lines = listed(names);
    // Not what libcurl would add.
    if (!names.has('content-type')) lines.push(['Content-Type:', null]);
    lines.push(['Expect:', null]);
    return lines;
};

const dataUrl = (url, method) => {
    const [, head, text] = /^data:([^,]*),([^#]*)/s.exec(url.href) ?? [];
    if (head === undefined) throw causeOf('failed to fetch the data URL');
    let bytes = latin1Encode(latin1Decode(utf8Encode(text)).replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(`0x${hex}`)));
    let type = trimmed(head);
    if (/; *base64$/i.test(type)) {
        try {
            bytes = latin1Encode(globalThis.atob(latin1Decode(bytes)));
        } catch {
            throw causeOf('failed to fetch the data URL');
        }
        type = type.replace(/; *base64$/i, '');
    }
    if (type.startsWith(';')) type = `text/plain${type}`;
    if (!/^[!#$%&'*+\-.^_`|~\w]+\/[!#$%&'*+\-.^_`|~\w]+\s*(;|$)/.test(type)) type = 'text/plain;charset=US-ASCII';
    return respond({ type: 'basic', statusText: 'OK', url: url.href.replace(/#.*/s, '') }, new Headers({ 'content-type': type }), { bytes });
};

// Follows redirections from a request to its response.
class Fetching {
    constructor(request, done, failed) {
        Object.assign(this, { done, failed, redirect: request.redirect, method: request.method, signal: signalOf(request),
            headers: listed(request.headers), url: new URL(request.url), hops: 0, hasHead: false, isOver: false });
        const body = bodyIn(request);
        this.bytes = body && !body.stream ? body.bytes : null;
        this.stream = body?.stream;
        if (body) body.used = true;
        if (this.signal?.aborted) {
            this.stop();
            return;
        }
        this.stopping = () => this.stop();
        this.signal?.addEventListener('abort', this.stopping);
        this.begin();
    }
    async begin() {
        try {
            if (this.stream) this.bytes = await readAll(this.stream);
            if (!this.isOver) this.send();
        } catch (error) {
            this.fail(error);
        }
    }
    stop() {
        const { reason } = this.signal;
        this.transfer?.cancel(reason);
        this.controller?.error(reason);
        this.end();
        this.failed(reason, true);
    }
    end() {
        this.isOver = true;
        if (this.stopping) this.signal?.removeEventListener('abort', this.stopping);
    }
    fail(error) {
        if (this.isOver) return;
        this.transfer?.cancel(error);
        this.end();
        this.failed(error);
    }
    send() {
        const { url, method } = this;
        const bytes = this.bytes ?? (method === 'POST' || method === 'PUT' ? noBytes : null);
        const target = new URL(url);
        target.username = target.password = target.hash = '';
        this.transfer = transfer(target, method, linesOf(url, method, this.headers, this.bytes), bytes,
            head => {
                try {
                    this.answered(head);
                } catch (error) {
                    this.fail(error);
                }
            }, error => {
                if (!this.hasHead) this.fail(error);
            });
    }
    answered(head) {
        const location = head.headers.get('location');
        if (redirects(head.status) && this.redirect !== 'manual' && (location !== null || this.redirect === 'error')) {
            this.move(head.status, location);
            return;
        }
        if (head.status < 200 || head.status > 599) throw named('SocketError', 'bad upgrade', 'UND_ERR_SOCKET');
        const hasBody = !emptyStatus(head.status) && this.method !== 'HEAD';
        this.hasHead = true;
        this.done(respond({ type: 'basic', status: head.status, statusText: head.statusText, url: this.url.href.replace(/#.*/s, ''),
            redirected: this.hops > 0 }, head.headers, hasBody ? { stream: this.body() } : null));
        if (!hasBody) this.end();
    }
    move(status, location) {
        if (this.redirect === 'error') throw causeOf('unexpected redirect');
        const from = this.url;
        let to;
        try {
            to = new URL(latin1Location(location), from);
        } catch {
            throw causeOf('Invalid URL');
        }
        if (!/^https?:$/.test(to.protocol)) throw causeOf('URL scheme must be a HTTP(S) scheme');
        if (this.hops++ === 20) throw causeOf('redirect count exceeded');
        const drop = names => { this.headers = this.headers.filter(([name]) => !names.test(name)); };
        if (status === 303 ? !/^(?:GET|HEAD)$/.test(this.method) : status < 303 && this.method === 'POST') {
            this.method = 'GET';
            this.bytes = null;
            drop(/^content-(?:encoding|language|location|type|length)$/i);
        } else if (this.stream) {
            throw causeOf('a body that is a stream cannot be sent again');
        }
        if (to.origin !== from.origin) drop(/^(?:authorization|proxy-authorization|cookie|host)$/i);
        if (!to.hash) to.hash = from.hash;
        this.transfer?.cancel();
        this.url = to;
        this.send();
    }
    body() {
        const { read, cancel } = this.transfer;
        return new ReadableStream({
            type: 'bytes',
            start: controller => { this.controller = controller; },
            pull: async controller => {
                try {
                    const bytes = await read();
                    if (this.signal?.aborted) return;
                    if (bytes) {
                        controller.enqueue(bytes);
                        return;
                    }
                    this.end();
                    controller.close();
                } catch (cause) {
                    this.end();
                    controller.error(this.signal?.aborted ? this.signal.reason : new TypeError('terminated', { cause }));
                }
            },
            cancel: reason => {
                cancel(reason);
                this.end();
            },
        });
    }
}
// Servers send UTF-8 where a header should have ASCII.
const latin1Location = text => /[^\0-\x7f]/.test(text) ? utf8Decode(latin1Encode(text)) : text;

const schemes = { 'file:': 'not implemented... yet...', 'about:': 'about scheme is not supported', 'blob:': 'invalid method' };

// A named function, and no async one: errors have the stack of the call.
function fetch(input, init = undefined) {
    const error = new TypeError('fetch failed');
    return new Promise((resolve, reject) => {
        const failed = (cause, isReason) => {
            if (isReason || cause instanceof TypeError) {
                reject(cause);
                return;
            }
            defineProperty(error, 'cause', { value: cause, configurable: true, writable: true });
            reject(error);
        };
        const request = new Request(input, init);
        const url = new URL(request.url);
        if (signalOf(request)?.aborted) {
            failed(signalOf(request).reason, true);
        } else if (/^https?:$/.test(url.protocol)) {
            new Fetching(request, resolve, failed);
        } else {
            try {
                if (url.protocol !== 'data:') throw causeOf(hasOwn(schemes, url.protocol) ? schemes[url.protocol] : 'unknown scheme');
                resolve(dataUrl(url, request.method));
            } catch (cause) {
                failed(cause);
            }
        }
    });
}

Object.assign(exports, { fetch, Headers, Request, Response });
