const original = { when: new Date(0), re: /a+/gi, map: new Map([['k', { deep: [1] }]]), set: new Set([1]), bytes: new Uint8Array([1, 2]), nested: { un: undefined, big: 10n } };
original.self = original;
const copy = structuredClone(original);
copy.map.get('k').deep.push(2);
copy.when.setUTCFullYear(2000);
console.log(copy, original.map, original.when.getTime());
const errors = [];
for (const v of [() => 1, Symbol('s'), { f() {} }]) {
  try { structuredClone(v); } catch (e) { errors.push(e.name); }
}
class Point { constructor(x) { this.x = x; } get double() { return this.x * 2; } }
const plain = structuredClone(new Point(3));
const json = JSON.parse(JSON.stringify(original.nested, (k, v) => typeof v === 'bigint' ? `${v}n` : v));
const frozen = Object.freeze({ inner: { free: 1 } });
frozen.inner.free = 2;
const revived = JSON.parse('{"at":"2026-01-01T00:00:00.000Z","n":"1"}', (k, v) => /^\d{4}-\d\d-\d\dT/.test(v) ? new Date(v) : v);
[errors, plain instanceof Point, plain.x, plain.double === undefined, copy.self === copy, json, frozen, revived.at.getUTCFullYear(), JSON.stringify({ d: new Date(0), u: undefined, n: NaN, a: [undefined, () => 1] })];
