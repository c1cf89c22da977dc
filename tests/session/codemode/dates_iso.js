const day = 86400000;
const { items } = await list_users({ limit: 10 });
const all = (await Promise.all(items.map((u) => orders(u.id)))).flat();
const byMonth = {};
for (const o of all) {
  const date = new Date(o.date);
  const month = date.toISOString().slice(0, 7);
  (byMonth[month] ??= []).push(date.getUTCDate());
}
console.log(byMonth);
const times = all.map((o) => Date.parse(o.date)).sort((a, b) => a - b);
const span = (times.at(-1) - times[0]) / day;
const end = new Date(Date.UTC(2026, 1 + 1, 0)); // the last day of February
const leap = (y) => new Date(Date.UTC(y, 1, 29)).getUTCMonth() === 1;
const week = (d) => { // ISO 8601
  const t = new Date(Date.UTC(d.getUTCFullYear(), d.getUTCMonth(), d.getUTCDate()));
  t.setUTCDate(t.getUTCDate() + 4 - (t.getUTCDay() || 7));
  return Math.ceil(((t - Date.UTC(t.getUTCFullYear(), 0, 1)) / day + 1) / 7);
};
console.log(new Date('2026-03-29T01:30:00+01:00').toISOString(), new Date(NaN).getTime(), isNaN(Date.parse('31.12.2026')));
console.log([2024, 2025, 2000, 1900].filter(leap), week(new Date('2026-01-01')), week(new Date('2027-01-03')), week(new Date('2026-12-28')));
({ span, end, invalid: new Date('nonsense') });
