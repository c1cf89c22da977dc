const pipe = (...fs) => (x) => fs.reduce((v, f) => f(v), x);
const pipeAsync = (...fs) => (x) => fs.reduce((p, f) => p.then(f), Promise.resolve(x));
const compose = (...fs) => fs.reduceRight((g, f) => (x) => f(g(x)), (x) => x);
const curry = (f, ...a) => a.length >= f.length ? f(...a) : (...b) => curry(f, ...a, ...b);
const map = curry((f, xs) => xs.map(f)), filter = curry((p, xs) => xs.filter(p));
const sumBy = curry((f, xs) => xs.reduce((s, x) => s + f(x), 0));
const words = pipe((s) => s.toLowerCase().match(/\p{L}+/gu) ?? [], (ws) => ws.reduce((m, w) => (m[w] = (m[w] || 0) + 1, m), Object.create(null)),
  Object.entries, (es) => es.sort(([a, n], [b, m]) => m - n || a.localeCompare(b)).slice(0, 3));
console.log(words('The cat. The dog; the Übermut — cat? the DOG the'));
const spent = await pipeAsync(get_user, (u) => orders(u.id), filter((o) => o.status === 'paid'), sumBy((o) => o.total))(1);
const stats = [3, 1, 4, 1, 5, 9, 2, 6].reduce(({ n, mean, m2, min, max }, x) => {
  const d = x - mean, k = n + 1, m = mean + d / k;
  return { n: k, mean: m, m2: m2 + d * (x - m), min: Math.min(min, x), max: Math.max(max, x) };
}, { n: 0, mean: 0, m2: 0, min: Infinity, max: -Infinity });
const transpose = (m) => m[0].map((_, i) => m.map((r) => r[i]));
const zip = (...a) => transpose(a);
[compose((x) => x + 1, (x) => x * 2)(5), spent, { ...stats, m2: +stats.m2.toFixed(6) }, zip(['a', 'b'], [1, 2]), pipe(map((x) => x ** 2), filter((x) => x % 2 === 1))([1, 2, 3])];
