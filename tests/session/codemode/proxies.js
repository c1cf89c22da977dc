const log = [];
const watched = new Proxy({ a: 1, list: [1] }, {
  get(t, k, r) { log.push(`get ${String(k)}`); return Reflect.get(t, k, r); },
  set(t, k, v, r) { if (k === 'locked') return false; log.push(`set ${k}`); return Reflect.set(t, k, v, r); },
  has: (t, k) => !k.startsWith('_') && k in t,
  deleteProperty(t, k) { log.push(`delete ${k}`); return Reflect.deleteProperty(t, k); },
  ownKeys: (t) => Reflect.ownKeys(t).filter((k) => k !== 'list'),
});
watched.b = watched.a + 1;
delete watched.a;
let refused;
try { 'use strict'; Object.assign(watched, { locked: 1 }); } catch (e) { refused = e.name; }
const record = () => new Proxy(function () {}, {
  get: (_, key) => record.path(key), apply: (_, __, args) => `${record.keys.splice(0).join('.')}(${args})`,
});
record.keys = [];
record.path = (key) => (record.keys.push(key), record());
console.log(record().api.users.list(1, 2), log, Object.keys(watched), '_x' in watched, 'b' in watched);
const negative = (a) => new Proxy(a, { get: (t, k, r) => typeof k === 'string' && /^-\d+$/.test(k) ? t[t.length + +k] : Reflect.get(t, k, r) });
class Temperature {
  #c = 0;
  get f() { return this.#c * 9 / 5 + 32; }
  set f(v) { this.#c = (v - 32) * 5 / 9; }
}
const t = new Temperature();
t.f = 212;
const o = Object.defineProperty({}, 'hidden', { value: 1, enumerable: false });
const { proxy, revoke } = Proxy.revocable({}, {});
revoke();
let gone; try { proxy.x; } catch (e) { gone = e.name; }
({ refused, last: negative([1, 2, 3])[-1], f: t.f, o, construct: Reflect.construct(Date, [0]).getTime(), keys: Reflect.ownKeys({ b: 1, 2: 1, [Symbol('s')]: 1 }).map(String), gone });
