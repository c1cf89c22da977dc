// Batches of three ids, one after the other; a batch is side by side.
const chunk = (list, n) => list.length ? [list.slice(0, n), ...chunk(list.slice(n), n)] : [];
const batches = chunk([1, 2, 3, 4, 5, 6, 7], 3);
const totals = {};
for (const [n, batch] of batches.entries()) {
  const lists = await Promise.all(batch.map((id) => tools.orders({ user_id: id })));
  lists.forEach((list, i) => { totals[batch[i]] = +list.reduce((s, o) => s + o.total, 0).toFixed(2); });
  console.log('batch %d of %d: %j', n + 1, batches.length, batch);
}
totals;
