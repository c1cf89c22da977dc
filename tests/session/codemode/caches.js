// A cache with a limit on a Map, notes about objects in a WeakMap, one request for many callers.
class Lru extends Map {
  constructor(max) { super(); this.max = max; }
  get(key) { if (!this.has(key)) return undefined; const v = super.get(key); this.delete(key); super.set(key, v); return v; }
  set(key, value) {
    this.delete(key);
    super.set(key, value);
    if (this.size > this.max) this.delete(this.keys().next().value);
    return this;
  }
}
const cache = new Lru(2);
cache.set('a', 1).set('b', 2);
cache.get('a');
cache.set('c', 3);
console.log([...cache.keys()], cache.get('b'), cache);
let calls = 0;
const once = new Map();
const user = (id) => once.get(id) ?? once.set(id, (calls++, get_user(id))).get(id);
const [x, y, z] = await Promise.all([user(1), user(2), user(1)]);
const notes = new WeakMap([[x, 'first']]);
console.log(calls, x === z, notes.get(z), notes.has(y));
const a = new Set([1, 2, 3, 4]), b = new Set([3, 4, 5]);
({ union: a.union(b), both: a.intersection(b), only: a.difference(b), odd: a.symmetricDifference(b), sub: new Set([3]).isSubsetOf(a), map: new Map([['k', new Set(['v'])]]) });
