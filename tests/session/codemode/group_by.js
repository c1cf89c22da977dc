const { items } = await list_users('0', 7);
const byCity = Object.groupBy(items, ({ city }) => city);
const byAge = Map.groupBy(items, ({ age }) => Math.floor(age / 20) * 20);
const summary = Object.entries(byCity)
  .map(([city, list]) => ({ city, users: list.length, mean: list.reduce((s, u) => s + u.age, 0) / list.length }))
  .sort((a, b) => b.users - a.users || a.city.localeCompare(b.city));
console.table(summary);
console.log(new Map([...byAge].sort(([a], [b]) => a - b).map(([k, v]) => [k, v.map((u) => u.id)])));
const tags = items.flatMap((u) => u.tags).reduce((m, t) => m.set(t, (m.get(t) ?? 0) + 1), new Map());
[...tags].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
