const { items } = await list_users({ limit: 7 });
const names = items.map((u) => u.name);
const plain = [...names].sort();
const collator = new Intl.Collator('en', { sensitivity: 'base' });
const natural = new Intl.Collator('en', { numeric: true });
console.log(plain);
console.log(names.toSorted(collator.compare));
console.log(['v10', 'v9', 'v1.10', 'v1.9'].sort(natural.compare), ['z', 'ä', 'a'].sort((a, b) => a.localeCompare(b, 'sv')));
const by = (...keys) => (a, b) => {
  for (const [key, way] of keys) {
    const [x, y] = [key(a), key(b)];
    const c = typeof x === 'string' ? collator.compare(x, y) : x - y;
    if (c) return way === 'desc' ? -c : c;
  }
  return 0;
};
const sorted = items.toSorted(by([(u) => u.city], [(u) => u.age, 'desc']));
console.log(sorted.map((u) => `${u.city}/${u.age}`).join(' '));
[collator.compare('Émile', 'emile'), names[0], ['b', 'a', 'c'].with(1, 'x'), [3, 1, 2].toReversed(), [5, 1, 4].toSpliced(1, 1)];
