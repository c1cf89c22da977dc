// blob.js - Blob, File, FormData, and FormData as the body of a request.
const { wrongType, missing } = internal('errors');
const { published } = internal('streams');
const { utf8Encode, utf8Decode, latin1Decode } = native;
const { isView } = ArrayBuffer;
const custom = Symbol.for('nodejs.util.inspect.custom');

const join = pieces => {
    const all = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
    let at = 0;
    for (const piece of pieces) {
        all.set(piece, at);
        at += piece.length;
    }
    return all;
};
// The bytes of a buffer or a view, copied; undefined for any other value.
const copied = value => isView(value) ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength).slice()
    : value instanceof ArrayBuffer ? new Uint8Array(value.slice(0)) : undefined;

let inner;
class Blob {
    #bytes;
    #type;
    static { inner = blob => blob.#bytes; }
    constructor(parts = [], { type = '', endings = 'transparent' } = {}) {
        if (parts === null || typeof parts !== 'object' || typeof parts[Symbol.iterator] !== 'function') {
            throw wrongType('sources', 'a sequence', parts);
        }
        const bytes = part => part instanceof Blob ? part.#bytes : copied(part)
            ?? utf8Encode(endings === 'native' ? `${part}`.replace(/\r\n?/g, '\n') : `${part}`);
        this.#bytes = join(Array.from(parts, bytes));
        type = `${type}`;
        this.#type = /[^\x20-\x7e]/.test(type) ? '' : type.toLowerCase();
    }
    get size() { return this.#bytes.length; }
    get type() { return this.#type; }
    slice(start = 0, end = this.size, type = '') {
        const part = new Blob([], { type });
        part.#bytes = this.#bytes.slice(start, end);
        return part;
    }
    async arrayBuffer() { return this.#bytes.slice().buffer; }
    async bytes() { return this.#bytes.slice(); }
    async text() { return utf8Decode(this.#bytes).replace(/^\ufeff/, ''); }
    stream() {
        const bytes = this.#bytes;
        return new (internal('streams').ReadableStream)({
            type: 'bytes',
            pull(controller) {
                if (bytes.length) controller.enqueue(bytes.slice());
                controller.close();
            },
        });
    }
    [custom](depth, options, inspect) {
        if (depth < 0) return this;
        const { size, type, name, lastModified } = this;
        return `${this.constructor.name} ${inspect(this instanceof File ? { size, type, name, lastModified } : { size, type }, options)}`;
    }
}
class File extends Blob {
    #name;
    #time;
    constructor(parts, name, options = {}) {
        if (arguments.length < 2) throw missing('sources', 'fileName');
        super(parts, options);
        this.#name = `${name}`.toWellFormed();
        this.#time = options.lastModified === undefined ? Date.now() : Math.trunc(+options.lastModified) || 0;
    }
    get name() { return this.#name; }
    get lastModified() { return this.#time; }
}

class FormData {
    #list = [];
    constructor(form = undefined) {
        if (form !== undefined) {
            throw new TypeError("FormData constructor: Argument 1 could not be converted to one of: undefined.");
        }
    }
    #entry(method, n, name, value, filename) {
        if (n < 2) throw new TypeError(`FormData.${method}: 2 arguments required, but only ${n} found.`);
        if (!(value instanceof Blob)) {
            if (n > 2) throw new TypeError(`FormData.${method}: Argument 2 ("${filename}") is not of type Blob.`);
            return [`${name}`.toWellFormed(), `${value}`.toWellFormed()];
        }
        if (!(value instanceof File) || n > 2) {
            value = new File([value], n > 2 ? filename : value.name ?? 'blob', { type: value.type, lastModified: value.lastModified });
        }
        return [`${name}`.toWellFormed(), value];
    }
    append(name, value, filename = undefined) {
        this.#list.push(this.#entry('append', arguments.length, name, value, filename));
    }
    set(name, value, filename = undefined) {
        const entry = this.#entry('set', arguments.length, name, value, filename);
        const at = this.#list.findIndex(([key]) => key === entry[0]);
        if (at < 0) {
            this.#list.push(entry);
            return;
        }
        this.#list = this.#list.filter(([key], i) => i <= at || key !== entry[0]);
        this.#list[at] = entry;
    }
    delete(name) { this.#list = this.#list.filter(([key]) => key !== `${name}`); }
    get(name) { return this.#list.find(([key]) => key === `${name}`)?.[1] ?? null; }
    getAll(name) { return this.#list.filter(([key]) => key === `${name}`).map(([, value]) => value); }
    has(name) { return this.#list.some(([key]) => key === `${name}`); }
    forEach(callback, self = undefined) {
        if (typeof callback !== 'function') {
            throw new TypeError("Failed to execute 'forEach' on 'FormData': parameter 1 is not of type 'Function'.");
        }
        for (const [key, value] of this) callback.call(self, value, key, this);
    }
    *entries() { for (const [key, value] of this.#list) yield [key, value]; }
    *keys() { for (const [key] of this.#list) yield key; }
    *values() { for (const [, value] of this.#list) yield value; }
    [custom](depth, options, inspect) {
        const shown = {};
        for (const [key, value] of this.#list) {
            if (!Object.hasOwn(shown, key)) shown[key] = value;
            else if (Array.isArray(shown[key])) shown[key].push(value);
            else shown[key] = [shown[key], value];
        }
        return `FormData ${inspect(shown, options)}`;
    }
}
for (const Class of [Blob, File, FormData]) published(Class);
Object.defineProperty(FormData.prototype, Symbol.iterator, { value: FormData.prototype.entries, writable: true, configurable: true });

const escaped = text => text.replace(/\r\n?|\n/g, '\r\n').replace(/\n/g, '%0A').replace(/\r/g, '%0D').replace(/"/g, '%22');

// The bytes of a form, and its type.
exports.encodeForm = form => {
    const boundary = `----formdata-lazaret-${String(Math.floor(Math.random() * 1e11)).padStart(11, '0')}`;
    const pieces = [];
    for (const [name, value] of form) {
        const head = `--${boundary}\r\nContent-Disposition: form-data; name="${escaped(name)}"`;
        if (typeof value === 'string') {
            pieces.push(utf8Encode(`${head}\r\n\r\n${value.replace(/\r\n?|\n/g, '\r\n')}\r\n`));
        } else {
            pieces.push(utf8Encode(`${head}; filename="${escaped(value.name)}"\r\nContent-Type: ${
                value.type || 'application/octet-stream'}\r\n\r\n`), inner(value), utf8Encode('\r\n'));
        }
    }
    pieces.push(utf8Encode(`--${boundary}--\r\n`));
    return [join(pieces), `multipart/form-data; boundary=${boundary}`];
};

// The form that bytes of type multipart/form-data are; undefined: they are none.
exports.decodeForm = (bytes, boundary) => {
    const text = `\r\n${latin1Decode(bytes)}`;
    const parts = text.split(`\r\n--${boundary}`);
    const form = new FormData();
    const plain = latin1 => utf8Decode(Uint8Array.from(latin1, c => c.charCodeAt(0)));
    const named = name => plain(name).replace(/%0A/gi, '\n').replace(/%0D/gi, '\r').replace(/%22/g, '"');
    if (parts.length < 2 || !parts.at(-1).startsWith('--')) return undefined;
    for (const part of parts.slice(1, -1)) {
        const middle = part.indexOf('\r\n\r\n');
        if (middle < 0) return undefined;
        const head = part.slice(0, middle);
        const name = /^content-disposition:\s*form-data\b.*?;\s*name="([^"]*)"/im.exec(head);
        if (!name) return undefined;
        const file = /^content-disposition:.*;\s*filename="([^"]*)"/im.exec(head);
        const type = /^content-type:\s*(.*?)\s*$/im.exec(head)?.[1] ?? 'text/plain';
        const data = part.slice(middle + 4);
        if (file) form.append(named(name[1]), new File([Uint8Array.from(data, c => c.charCodeAt(0))], named(file[1]), { type }));
        else form.append(named(name[1]), plain(data));
    }
    return form;
};

Object.assign(exports, { Blob, File, FormData, join, copied, bytesOf: inner });
