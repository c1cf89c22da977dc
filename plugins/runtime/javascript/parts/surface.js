// surface.js - names that models know of other hosts: text, image, store and load, and in the
// dialect `codemode` the tools as functions of that object.
const { lazaret } = internal('tools');
const { apply } = Reflect, { stringify } = JSON;
const { get, set } = Map.prototype;
const kept = new Map();
let pictures = 0;

// Shows a value to the model: a text as it is, and others as JSON.
exports.text = function text(value) {
    let shown = value;
    if (typeof value !== 'string') {
        try {
            shown = stringify(value);
        } catch {
        }
        if (typeof shown !== 'string')
            shown = internal('inspect').inspect(value);
    }
    native.output(1, `${shown}\n`);
};

// ---- pictures --------------------------------------------------------------------------------------

const kinds = [['png', /^\x89PNG/], ['jpg', /^\xff\xd8\xff/], ['gif', /^GIF8/], ['webp', /^RIFF....WEBP/s],
    ['bmp', /^BM/], ['pdf', /^%PDF/], ['svg', /^\s*<(\?xml|svg)/]];

// The bytes of what an image is given as: bytes, a data URL, or an object that has one of these.
function bytesOf(value) {
    if (typeof value === 'string') {
        const url = /^data:[^,]*,/s.exec(value);
        if (!url)
            throw new TypeError('image() takes bytes, or a data: URL; there is no picture at other addresses');
        const content = value.slice(url[0].length);
        return /;base64,$/i.test(url[0]) ? internal('buffer').Buffer.from(content, 'base64')
            : internal('buffer').Buffer.from(decodeURIComponent(content));
    }
    if (ArrayBuffer.isView(value))
        return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    if (value instanceof ArrayBuffer)
        return new Uint8Array(value);
    if (value && typeof value.data === 'string') // a picture as tools of MCP give it
        return internal('buffer').Buffer.from(value.data, 'base64');
    const inside = value && (value.image_url ?? value.data ?? value.url);
    if (inside === undefined || inside === null)
        throw new TypeError('image() takes bytes, a data: URL, or an object with one of them as image_url or data');
    return bytesOf(inside.url ?? inside);
}

// Makes an artifact of a picture, and gives the path of its file.
exports.image = function image(value, name) {
    const bytes = bytesOf(value);
    const { env } = internal('process').process, fs = internal('fs');
    const directory = env.LAZARET_ARTIFACTS || 'artifacts';
    const start = String.fromCharCode(...bytes.subarray(0, 64));
    const [kind] = kinds.find(([, form]) => form.test(start)) ?? ['bin'];
    fs.mkdirSync(directory, { recursive: true });
    let file;
    if (typeof name === 'string' && !['auto', 'low', 'high', 'original'].includes(name)) // not a detail
        file = internal('path').join(directory, name);
    else
        do
            file = internal('path').join(directory, `image-${++pictures}.${kind}`);
        while (fs.existsSync(file));
    fs.writeFileSync(file, bytes);
    return file;
};

// ---- what lasts as long as the session ---------------------------------------------------------------

const copy = (value) => internal('clone').structuredClone(value);
exports.store = function store(key, value) {
    apply(set, kept, [`${key}`, copy(value)]);
};
exports.load = function load(key) {
    return copy(apply(get, kept, [`${key}`]));
};

// ---- names -----------------------------------------------------------------------------------------

const { text, image, store, load } = exports;
exports.lazaret = Object.assign(lazaret, { text, image, store, load });

// What a model has written for codemode, as [text, is a function]: without the marks of a block of
// text around it; and where it looks like one function, its expression.
const block = /^\s*```[a-z]*[ \t]*\n([^]*?)\n?```\s*$/;
const program = /^\s*(?:export\s+default\s+)?(?=(?:async\s+)?function\b|async\s*\(|async\s+[\w$]+\s*=>|\(|[\w$]+\s*=>)/;
exports.program = function (code) {
    const inside = block.exec(code)?.[1] ?? code;
    const found = program.exec(inside);
    return found ? [inside.slice(found[0].length).replace(/[;\s]+$/, ''), true] : [inside, false];
};
