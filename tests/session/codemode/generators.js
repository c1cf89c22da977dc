function* naturals(from = 0) { while (true) yield from++; }
const take = function* (n, it) { if (n > 0) for (const v of it) { yield v; if (--n === 0) return; } };
const filter = function* (p, it) { for (const v of it) if (p(v)) yield v; };
function* primes() {
  const known = [];
  for (const n of naturals(2)) if (known.every((p) => n % p)) { known.push(n); yield n; }
}
console.log([...take(10, primes())]);
function* accumulator() {
  let sum = 0;
  try { while (true) sum += (yield sum) ?? 0; } finally { console.log('sum', sum); }
}
const acc = accumulator();
acc.next();
console.log([1, 2, 3].map((n) => acc.next(n).value), acc.return('done'), acc.next());
const lazy = naturals(1).filter((n) => n % 3 === 0).map((n) => n * n).drop(1).take(3);
const [a, , c] = take(5, filter((n) => n % 2, naturals()));
function* walk(tree) { if (tree) { yield* walk(tree.left); yield tree.value; yield* walk(tree.right); } }
const tree = { value: 4, left: { value: 2, left: { value: 1 } }, right: { value: 9 } };
[...walk(tree), a, c, lazy.toArray()];
