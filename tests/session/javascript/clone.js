// structuredClone.
const kind = value => Object.prototype.toString.call(value).slice(8, -1);
const attempt = (name, work) => {
    try {
        console.log(name, String(work()));
    } catch (error) {
        console.log(name, 'throws', error.name, error.code, error.message);
    }
};
for (const value of [1, 'a', true, null, undefined, 10n, NaN, -0]) {
    console.log(typeof value, Object.is(structuredClone(value), value));
}
{
    const value = { a: [1, , 3], d: new Date(0), r: /x(y)/gi, n: null, u: undefined, nested: { deep: { er: 1 } } };
    value.r.lastIndex = 3;
    const copy = structuredClone(value);
    console.log(JSON.stringify(copy), copy.d.getTime(), String(copy.r), copy.r.lastIndex, 'u' in copy, 1 in copy.a, copy.a.length);
    console.log(copy !== value, copy.nested.deep !== value.nested.deep, kind(copy.d), kind(copy.r));
    console.log(structuredClone(new Date(NaN)).getTime());
}
{
    const map = new Map([['k', { v: 1 }], [{ o: 1 }, new Set([1, 'two', [3]])]]);
    map.set('self', map);
    const copy = structuredClone(map);
    console.log(kind(copy), copy.size, copy.get('self') === copy, copy.get('k').v, [...copy.keys()].map(kind).join());
    const set = [...copy.values()][1];
    console.log(kind(set), set.size, JSON.stringify([...set]));
}
{
    const loop = { name: 'loop', list: [] };
    loop.list.push(loop, loop.list);
    const copy = structuredClone(loop);
    console.log(copy.list[0] === copy, copy.list[1] === copy.list, copy !== loop);
}
{
    const bytes = new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8]);
    const value = { whole: bytes.buffer, part: bytes.subarray(2, 4), wide: new Uint16Array(bytes.buffer, 4, 1), view: new DataView(bytes.buffer, 1, 3), f: new Float64Array([1.5]), b: new BigInt64Array([-1n]) };
    const copy = structuredClone(value);
    console.log(copy.part.buffer === copy.whole, copy.wide.buffer === copy.whole, copy.view.buffer === copy.whole, copy.whole !== bytes.buffer);
    console.log(kind(copy.part), [...copy.part].join(), copy.part.byteOffset, [...copy.wide].join(), copy.view.byteLength, copy.view.getUint8(0), copy.f[0], copy.b[0]);
}
for (const error of [new TypeError('bad'), new RangeError('range'), new Error(''), Object.assign(new Error('named'), { name: 'Custom', extra: 1 }), new Error('outer', { cause: { inner: true } })]) {
    const copy = structuredClone(error);
    console.log(copy instanceof Error, copy.name, copy.message, copy.constructor.name, Object.keys(copy).join(), copy.stack === error.stack, typeof copy.cause);
}
{
    class Point { constructor() { this.x = 1; } get y() { return 2; } }
    class Money extends Map {}
    const copy = structuredClone(new Point());
    console.log(copy instanceof Point, JSON.stringify(copy), structuredClone(new Money([[1, 2]])).constructor === Map);
    const odd = { get g() { return 'got'; }, [Symbol('s')]: 1, __proto__: { inherited: 1 } };
    Object.defineProperty(odd, 'hidden', { value: 1 });
    console.log(JSON.stringify(structuredClone(odd)));
    const polluted = structuredClone(JSON.parse('{"__proto__": {"x": 1}}'));
    console.log(Object.keys(polluted).join(), polluted.x);
}
for (const value of [Object(1), Object('s'), Object(false), Object(5n)]) {
    const copy = structuredClone(value);
    console.log(kind(copy), typeof copy, copy.valueOf());
}
{
    const list = [1, 2];
    list.name = 'tagged';
    const copy = structuredClone(list);
    console.log(copy.name, copy.length, Array.isArray(copy));
    attempt('arguments', () => structuredClone((function () { return arguments; })(1, 2)));
    console.log(Object.getPrototypeOf(structuredClone(Object.create(null))) === Object.prototype);
    console.log(Object.getPrototypeOf(structuredClone({ [Symbol.toStringTag]: 'Map', a: 1 })) === Object.prototype);
}
{
    const buffer = new ArrayBuffer(16);
    new Uint8Array(buffer)[3] = 7;
    const view = new Uint8Array(buffer, 2);
    const copy = structuredClone({ buffer, view }, { transfer: [buffer] });
    console.log(buffer.byteLength, view.length, copy.buffer.byteLength, copy.view.buffer === copy.buffer, copy.view[1]);
    attempt('detached', () => structuredClone(buffer));
    attempt('detached transfer', () => structuredClone(1, { transfer: [buffer] }));
    const other = new ArrayBuffer(4);
    attempt('fails first', () => structuredClone([other, () => {}], { transfer: [other] }));
    console.log(other.byteLength);
    attempt('twice', () => structuredClone(other, { transfer: [other, other] }));
    attempt('not transferable', () => structuredClone(1, { transfer: [{}] }));
    console.log(structuredClone(1, { transfer: [other] }), other.byteLength);
}
class Named {}
attempt('function', () => structuredClone({ f: () => 1 }));
attempt('class', () => structuredClone(Named));
attempt('symbol', () => structuredClone([Symbol('x')]));
attempt('promise', () => structuredClone(Promise.resolve()));
attempt('weak', () => structuredClone(new WeakMap()));
attempt('generator', () => structuredClone({ a: new WeakSet() }));
attempt('proxy', () => structuredClone(new Proxy({}, {})));
attempt('boxed symbol', () => structuredClone(Object(Symbol('x'))));
attempt('getter', () => structuredClone({ get x() { throw new Error('from getter'); } }));
attempt('nothing', () => structuredClone());
attempt('method', () => structuredClone({ run() { return 1; } }));
try {
    structuredClone(() => {});
} catch (error) {
    console.log(error instanceof DOMException, error instanceof Error, kind(error), error.code === DOMException.DATA_CLONE_ERR);
}
{
    const error = new DOMException('text', 'AbortError');
    console.log(String(error), error.code, error.name, Object.keys(error).length, new DOMException().name, new DOMException('m', 'Own').code);
    console.log(new DOMException('m', { name: 'TimeoutError', cause: 1 }).code, DOMException.INDEX_SIZE_ERR, DOMException.URL_MISMATCH_ERR, DOMException.NO_DATA_ALLOWED_ERR, error.TYPE_MISMATCH_ERR);
}
