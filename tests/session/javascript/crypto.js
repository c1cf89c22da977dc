// The global crypto, and the module crypto.
const main = async () => {
const attempt = (name, work) => {
    try {
        console.log(name, String(work()));
    } catch (error) {
        console.log(name, 'throws', error.name, error.code, error.message);
    }
};
const module = require('node:crypto');
const { createHash, createHmac, randomBytes, randomInt, randomUUID, timingSafeEqual } = module;
const hex = bytes => Buffer.from(bytes).toString('hex');
for (const name of ['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512', 'SHA256', 'RSA-SHA256', 'sha3-256']) {
    console.log(name, createHash(name).update('héllo').digest('hex'));
}
console.log(createHash('sha256').digest('base64'), createHash('md5').update('a').update(Buffer.from('b')).update('63', 'hex').digest('base64url'));
console.log(createHash('sha1').update(new Uint16Array([1, 2])).digest() instanceof Buffer, createHash('sha1').update(new DataView(new ArrayBuffer(3))).digest().length);
{
    const hash = createHash('sha256');
    for (let i = 0; i < 2000; i++) hash.update(`${i},`);
    const copy = hash.copy();
    console.log(hash.digest('hex'), copy.update('more').digest('hex'));
    attempt('again', () => hash.digest());
    attempt('update', () => hash.update('x'));
    const bytes = Buffer.from('before');
    const early = createHash('md5').update(bytes);
    bytes.fill(0);
    console.log(early.digest('hex') === createHash('md5').update('before').digest('hex'));
}
attempt('unknown', () => createHash('klingon'));
attempt('type', () => createHash('md5').update(5));
attempt('name', () => createHash());
for (const [name, key, data] of [['sha256', 'key', 'data'], ['md5', '', ''], ['sha512', Buffer.alloc(200, 7), 'long key'], ['sha1', 'k'.repeat(64), 'x'], ['sha384', 'k', 'x'], ['sha3-512', 'k', 'x']]) {
    console.log(name, createHmac(name, key).update(data).digest('hex'));
}
attempt('hmac', () => createHmac('klingon', 'k'));
attempt('hmac key', () => createHmac('md5', 5));
console.log(module.pbkdf2Sync('secret', 'salt', 10, 40, 'sha512').toString('hex'));
attempt('equal', () => timingSafeEqual(Buffer.from('ab'), Buffer.from('ab')));
attempt('not equal', () => timingSafeEqual(Buffer.from('ab'), Buffer.from('ac')));
attempt('lengths', () => timingSafeEqual(Buffer.from('ab'), Buffer.from('a')));
attempt('text', () => timingSafeEqual('ab', Buffer.from('a')));

const form = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;
console.log(form.test(crypto.randomUUID()), form.test(randomUUID()), crypto.randomUUID() !== crypto.randomUUID());
const numbers = new Uint32Array(8);
console.log(crypto.getRandomValues(numbers) === numbers, numbers.some(Boolean), crypto.getRandomValues(new Uint8Array(65536)).length, crypto.getRandomValues(Buffer.alloc(8)).length);
attempt('quota', () => crypto.getRandomValues(new Uint8Array(65537)));
attempt('floats', () => crypto.getRandomValues(new Float64Array(1)));
console.log(randomBytes(16).length, randomBytes(0).length, Buffer.isBuffer(randomBytes(1)), hex(randomBytes(8)) !== hex(randomBytes(8)));
attempt('size', () => randomBytes(-1));
attempt('size', () => randomBytes('5'));
{
    const seen = new Set();
    for (let i = 0; i < 500; i++) seen.add(randomInt(3, 7));
    console.log([...seen].sort().join(), randomInt(1), randomInt(-5, -4));
    attempt('order', () => randomInt(5, 5));
    attempt('safe', () => randomInt(0.5));
    attempt('range', () => randomInt(0, 2 ** 48 + 1));
    console.log(await new Promise(resolve => { randomInt(1, 2, (error, value) => resolve(`${error} ${value}`)); }));
    console.log(await new Promise(resolve => { randomBytes(4, (error, value) => resolve(`${error} ${value.length}`)); }));
    const filled = module.randomFillSync(Buffer.alloc(64), 32);
    console.log(filled.subarray(0, 32).every(byte => byte === 0), filled.subarray(32).some(Boolean));
}
for (const name of ['SHA-1', 'sha-256', { name: 'SHA-384' }, 'SHA-512']) {
    const digest = await crypto.subtle.digest(name, new TextEncoder().encode('text'));
    console.log(name.name ?? name, digest instanceof ArrayBuffer, hex(digest));
}
await crypto.subtle.digest('MD5', new Uint8Array(1)).catch(error => console.log(error.name, error.message));
console.log(Object.prototype.toString.call(crypto.subtle));
};
main();
