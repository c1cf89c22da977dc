const ids = [1, 42, 3, -1];
const outcomes = await Promise.allSettled(ids.map((id) => get_user(id)));
const found = [], missing = [];
outcomes.forEach((o, i) => {
  if (o.status === 'fulfilled') found.push(o.value.name);
  else missing.push({ id: ids[i], reason: o.reason.message, kind: o.reason.name });
});
console.log('found:', found);
console.table(missing);
({ ok: found.length, failed: missing.length, tool: outcomes[1].reason.tool });
