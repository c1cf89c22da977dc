// TextEncoder, TextDecoder, atob, btoa.
const hex = bytes => Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join(' ');
const quoted = text => JSON.stringify(text);
const attempt = (name, work) => {
    try {
        console.log(name, String(work()));
    } catch (error) {
        console.log(name, 'throws', error.name, error.code, error.message);
    }
};

const encoder = new TextEncoder();
console.log(encoder.encoding, Object.prototype.toString.call(encoder));
for (const text of ['', 'plain', 'a\0b', 'é', '€', '😀', '\ud800', 'x\udc00y', '\ud83d\ud83d\ude00']) {
    console.log(quoted(text), hex(encoder.encode(text)));
}
console.log(encoder.encode().length, hex(encoder.encode(12)), hex(encoder.encode(null)));
for (const size of [0, 1, 2, 3, 4, 5, 6, 9, 12]) {
    const target = new Uint8Array(size);
    const { read, written } = encoder.encodeInto('é😀€\ud800z', target);
    console.log(size, read, written, hex(target));
}
attempt('encodeInto array', () => encoder.encodeInto('a', []));

const decoder = new TextDecoder();
console.log(decoder.encoding, decoder.fatal, decoder.ignoreBOM);
const broken = [[0x61, 0x80], [0xc0, 0x80], [0xe2, 0x82], [0xe2, 0x82, 0x41], [0xed, 0xa0, 0x80],
    [0xf0, 0x9f, 0x98], [0xf0, 0x80, 0x80, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xff, 0xfe], [0xe0, 0x80, 0x80],
    [0xf5, 0x80], [0xc2], [0xf0, 0x9f, 0x98, 0x80, 0xbf]];
for (const bytes of broken) {
    const input = new Uint8Array(bytes);
    console.log(hex(input), quoted(decoder.decode(input)));
    attempt('  fatal', () => quoted(new TextDecoder('utf-8', { fatal: true }).decode(input)));
}
const bom = new Uint8Array([0xef, 0xbb, 0xbf, 0x41]);
console.log(decoder.decode(bom).length, new TextDecoder('utf8', { ignoreBOM: true }).decode(bom).length);
for (const step of [1, 2, 3, 5]) {
    const bytes = new Uint8Array([...bom, ...encoder.encode('é€😀!'), 0xf0, 0x9f, 0x41, 0xe2]);
    const streamed = new TextDecoder();
    const got = [];
    for (let i = 0; i < bytes.length; i += step) {
        got.push(streamed.decode(bytes.subarray(i, i + step), { stream: true }));
    }
    got.push(streamed.decode());
    console.log(step, quoted(got));
}
{
    const strict = new TextDecoder('utf-8', { fatal: true });
    console.log(quoted(strict.decode(new Uint8Array([0xe2, 0x82]), { stream: true })),
        quoted(strict.decode(new Uint8Array([0xac]), { stream: true })));
    attempt('open end', () => {
        strict.decode(new Uint8Array([0xe2]), { stream: true });
        return strict.decode();
    });
}
for (const label of ['UTF8', ' utf-16 ', 'latin1', 'ascii', 'ISO-8859-1', 'windows-1252', 'ucs-2']) {
    console.log(quoted(label), new TextDecoder(label).encoding);
}
attempt('label', () => new TextDecoder('klingon').encoding);
const wide = new Uint8Array([0x41, 0, 0x3d, 0xd8, 0, 0xde, 0x3d, 0xd8, 0x42, 0]);
console.log(quoted(new TextDecoder('utf-16le').decode(wide)));
attempt('utf-16le fatal', () => new TextDecoder('utf-16le', { fatal: true }).decode(wide));
{
    const streamed = new TextDecoder('utf-16le');
    const got = [];
    for (const byte of wide.subarray(0, 7)) got.push(streamed.decode(new Uint8Array([byte]), { stream: true }));
    got.push(streamed.decode());
    console.log(quoted(got));
}
console.log(quoted(new TextDecoder('latin1').decode(new Uint8Array([0x41, 0x80, 0x9f, 0xe9, 0xff]))));
const memory = encoder.encode('0123456789').buffer;
console.log(decoder.decode(memory), decoder.decode(new DataView(memory, 2, 3)),
    decoder.decode(new Uint16Array(memory, 4, 2)), quoted(decoder.decode()));
attempt('decode text', () => decoder.decode('text'));
const long = '€uro '.repeat(50000);
console.log(decoder.decode(encoder.encode(long)) === long, encoder.encode(long).length);

for (const text of ['', 'a', 'ab', 'abc', 'abcd', '\xff\xfe\0']) console.log(quoted(text), btoa(text), quoted(atob(btoa(text))));
for (const text of ['YQ', 'YQ=', 'YQ==', ' Y Q\n= =', 'YR==', 'YQ===', 'Y', '=', 'YWI=', 'a-_b', 'é', '']) {
    attempt(`atob ${quoted(text)}`, () => quoted(atob(text)));
}
attempt('btoa', () => btoa('€'));
console.log(btoa(12), quoted(atob(1234)), btoa(undefined));
attempt('btoa()', () => btoa());
