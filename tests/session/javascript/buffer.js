// Buffer, Blob and File.
const main = async () => {
const attempt = (name, work) => {
    try {
        console.log(name, String(work()));
    } catch (error) {
        console.log(name, 'throws', error.name, error.code, error.message);
    }
};
const { Buffer: Same } = require('node:buffer');
const custom = Symbol.for('nodejs.util.inspect.custom');
const show = (name, buffer) => console.log(name, buffer[custom](2, {}));
console.log(Same === Buffer, Buffer.name, Object.getPrototypeOf(Buffer) === Uint8Array, Buffer.from('a') instanceof Uint8Array, Buffer.from('a').constructor === Buffer);
for (const [text, encoding] of [['héllo €😀'], ['\ud800x'], ['68656c6c6f', 'hex'], ['6865zz', 'hex'], ['abc', 'hex'], ['aGVsbG8=', 'base64'], ['aGVs bG8\n', 'base64'], ['_-8', 'base64'], ['-_8', 'base64url'], ['YQ==YQ==', 'base64'], ['Y', 'base64'], ['YW', 'base64'], ['é€', 'latin1'], ['é€', 'ascii'], ['aé😀', 'utf16le'], ['x', 'UTF-8'], ['x', 'binary']]) show(`${JSON.stringify(text)} ${encoding}`, Buffer.from(text, encoding));
attempt('encoding', () => Buffer.from('x', 'klingon'));
const bytes = Buffer.from([0, 1, 127, 128, 200, 255, 256, -1, 3.7, 'x', '5']);
show('array', bytes);
for (const encoding of ['utf8', 'hex', 'base64', 'base64url', 'latin1', 'ascii', 'ucs2', 'binary']) console.log(encoding, JSON.stringify(bytes.toString(encoding)), JSON.stringify(bytes.toString(encoding, 2, 5)));
console.log(JSON.stringify(Buffer.from('héllo').toString('utf8', 1, 3)), JSON.stringify(Buffer.from('abc').toString('utf8', -2)), JSON.stringify(Buffer.from('abc').toString('utf8', 2, 1)), JSON.stringify(Buffer.from('abc').toString(undefined, 1)));
const memory = new Uint8Array([1, 2, 3, 4, 5, 6]).buffer;
const part = Buffer.from(memory, 2, 3);
part[0] = 99;
show('memory', part);
console.log(new Uint8Array(memory)[2], part.byteOffset, part.length, part.buffer === memory);
show('typed', Buffer.from(new Uint16Array([1, 258])));
show('copy', Buffer.from(part));
show('json', Buffer.from(JSON.parse(JSON.stringify(Buffer.from('hi')))));
show('String', Buffer.from(new String('boxed')));
for (const value of [5, null, undefined, true, {}, Symbol('x')]) attempt('from', () => Buffer.from(value));
attempt('offset', () => Buffer.from(memory, 7));
attempt('length', () => Buffer.from(memory, 1, 9));
show('alloc', Buffer.alloc(3));
show('alloc fill', Buffer.alloc(5, 'ab'));
show('alloc hex', Buffer.alloc(4, '0aff', 'hex'));
console.log(Buffer.allocUnsafe(4).length);
attempt('alloc', () => Buffer.alloc('5'));
attempt('alloc', () => Buffer.alloc(-1));
show('concat', Buffer.concat([Buffer.from('ab'), new Uint8Array([99]), Buffer.alloc(0)]));
show('concat short', Buffer.concat([Buffer.from('abc'), Buffer.from('def')], 4));
show('concat long', Buffer.concat([Buffer.from('a')], 3));
attempt('concat', () => Buffer.concat(['a']));
attempt('concat', () => Buffer.concat('a'));
console.log(Buffer.isBuffer(bytes), Buffer.isBuffer(new Uint8Array(1)), Buffer.isEncoding('Hex'), Buffer.isEncoding('x'), Buffer.byteLength('é€'), Buffer.byteLength('abcd', 'hex'), Buffer.byteLength('aGk=', 'base64'), Buffer.byteLength(memory), Buffer.byteLength('ab', 'utf16le'));
console.log(Buffer.compare(Buffer.from('a'), Buffer.from('b')), Buffer.from('b').compare(Buffer.from('a')), Buffer.from('ab').equals(Buffer.from('ab')), Buffer.from('ab').equals(new Uint8Array([97])), [Buffer.from('b'), Buffer.from('a')].sort(Buffer.compare).join());
{
    const whole = Buffer.from('abcdef');
    const slice = whole.slice(1, -1);
    slice[0] = 88;
    console.log(whole.toString(), slice.toString(), slice instanceof Buffer, whole.subarray(-2).toString(), whole.subarray(4, 2).length, `${whole.slice(2.9)}`);
    console.log(whole.map(byte => byte + 1).toString(), whole.filter(byte => byte > 99) instanceof Buffer, [...whole.entries()].length, whole.join('-'));
}
{
    const text = Buffer.from('this is a buffer, a buffer');
    console.log(text.indexOf('is'), text.indexOf('is', 3), text.indexOf('a buffer', 11), text.indexOf('none'), text.indexOf(97), text.indexOf(Buffer.from('buffer')), text.lastIndexOf('buffer'), text.lastIndexOf('buffer', 17), text.lastIndexOf('this', -30), text.indexOf('', 5), text.indexOf('is', -3), text.includes('fer,'), text.indexOf('6973', 'hex'), text.indexOf(99.9), text.lastIndexOf(97, 10), text.indexOf('is', null), text.lastIndexOf('a', undefined));
    attempt('indexOf', () => text.indexOf({}));
}
{
    const buffer = Buffer.alloc(8);
    console.log(buffer.write('héllo', 1), buffer.write('€€', 6), buffer.write('zz', 'latin1'), buffer.write('abcdef', 2, 3), buffer.write('414243', 5, 'hex'));
    show('written', buffer);
    attempt('write', () => buffer.write('a', 9));
    attempt('write', () => buffer.write(5));
    show('fill', Buffer.alloc(6).fill('abc', 1, 5));
    show('fill', Buffer.alloc(6).fill(0x141));
    show('fill', Buffer.alloc(6).fill(''));
    show('fill', Buffer.alloc(4).fill(Buffer.from([1, 2, 3])));
    attempt('fill', () => Buffer.alloc(4).fill('zz', 'hex'));
    attempt('fill', () => Buffer.alloc(4).fill(1, 0, 9));
    const target = Buffer.alloc(5);
    console.log(Buffer.from('abcdef').copy(target, 1, 2), target.toString('latin1').replace(/\0/g, '.'), Buffer.from('ab').copy(target, 9), target.copy(target, 0, 1, 3));
    attempt('copy', () => target.copy(target, -1));
}
{
    const buffer = Buffer.alloc(48);
    let at = 0;
    at = buffer.writeUInt8(255, at);
    at = buffer.writeInt8(-128, at);
    at = buffer.writeUInt16LE(0x1234, at);
    at = buffer.writeUint16BE(0x1234, at);
    at = buffer.writeInt32LE(-2, at);
    at = buffer.writeUInt32BE(0xdeadbeef, at);
    at = buffer.writeFloatLE(1.5, at);
    at = buffer.writeDoubleBE(Math.PI, at);
    at = buffer.writeBigInt64LE(-3n, at);
    at = buffer.writeBigUInt64BE(2n ** 64n - 1n, at);
    at = buffer.writeUIntBE(0x123456, at, 3);
    at = buffer.writeIntLE(-5, at, 2);
    console.log(at, buffer.toString('hex'));
    console.log(buffer.readUInt8(0), buffer.readInt8(1), buffer.readUInt16LE(2), buffer.readUint16BE(4), buffer.readInt32LE(6), buffer.readUInt32BE(10), buffer.readFloatLE(14), buffer.readDoubleBE(18), String(buffer.readBigInt64LE(26)), String(buffer.readBigUInt64BE(34)), buffer.readUIntBE(42, 3), buffer.readIntLE(45, 2), buffer.readIntBE(1, 6), buffer.readUIntLE(0, 6), buffer.readUInt8());
    for (const work of [() => buffer.writeUInt8(256, 0), () => buffer.writeInt16LE(40000, 0), () => buffer.writeUInt32LE(-1), () => buffer.writeUIntBE(2 ** 40, 0, 5), () => buffer.writeIntBE(-(2 ** 47) - 1, 0, 6), () => buffer.writeBigUInt64LE(-1n), () => buffer.writeBigInt64LE(2n ** 63n), () => buffer.readUInt8(48), () => buffer.readUInt16LE(1.5), () => buffer.readInt32BE('0'), () => Buffer.alloc(1).readInt32LE(0), () => buffer.readUIntLE(0, 7), () => buffer.readIntLE()]) attempt('range', work);
    show('swap16', Buffer.from([1, 2, 3, 4]).swap16());
    show('swap32', Buffer.from([1, 2, 3, 4]).swap32());
    show('swap64', Buffer.from([1, 2, 3, 4, 5, 6, 7, 8]).swap64());
    attempt('swap', () => Buffer.alloc(3).swap16());
}
console.log(JSON.stringify(Buffer.from('ab')), String(Buffer.from('é')), `${Buffer.from('x')}` + Buffer.from('y'), Object.keys(Buffer.from('ab')).join());
show('long', Buffer.alloc(51, 1));
show('longer', Buffer.alloc(60, 1));
show('empty', Buffer.alloc(0));
console.log(Buffer.of(1, 2).length);
{
    const blob = new Blob(['he', new Uint8Array([108, 108]), new Blob(['o']), memory.slice(0, 0)], { type: 'Text/Plain' });
    console.log(blob.size, blob.type, await blob.text(), (await blob.arrayBuffer()).byteLength, await blob.slice(1, -1).text(), blob.slice(0, 1, 'a/b').type, Object.prototype.toString.call(blob));
    const { File } = require('buffer');
    const file = new File(['x'], 'name.txt', { lastModified: 5 });
    console.log(file.name, file.size, file.lastModified, file instanceof Blob, await file.text());
    attempt('Blob', () => new Blob('x'));
}
};
main();
