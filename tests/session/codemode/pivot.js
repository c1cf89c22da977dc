// Rows (month, status, total) to a table of months by statuses.
const lists = await Promise.all([1, 2, 3, 4, 5, 6, 7].map((id) => orders({ user_id: id })));
const rows = lists.flat().map((o) => ({ month: o.date.slice(0, 7), status: o.status, total: o.total }));
const statuses = [...new Set(rows.map((r) => r.status))].sort();
const pivot = {};
for (const { month, status, total } of rows) {
  const row = pivot[month] ??= Object.fromEntries(statuses.map((s) => [s, 0]));
  row[status] = Math.round((row[status] + total) * 100) / 100;
}
console.table(pivot);
const columns = statuses.map((s) => [s, Object.values(pivot).reduce((sum, r) => sum + r[s], 0)]);
Object.fromEntries(columns.map(([s, n]) => [s, Number(n.toFixed(2))]));
