const cache = new Map();
async function cached(id) {
  if (!cache.has(id)) cache.set(id, await get_user(id));
  return cache.get(id);
}
await cached(1);
await cached(3);
await cached(33);
// ---- next execution
console.log([...cache.keys()], cache.size);
const pending = [];
for (const id of [1, 2, 3]) pending.push(cached(id).then((u) => u.city));
const cities = await Promise.all(pending);
const parse = (text) => {
  try { return JSON.parse(text); } catch (e) { throw new Error('no JSON', { cause: e.name }); }
};
let bad = parse('{"a": 1,}');
// ---- next execution
let bad = cities.length;
const good = { cities, bad, size: cache.size };
good
// ---- next execution
const oops = = 1;
// ---- next execution
good.bad += 1; typeof oops + good.bad
