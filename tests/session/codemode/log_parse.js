const log = `
2026-03-01T10:00:01.250Z INFO  [api] GET /users 200 12ms
2026-03-01T10:00:02.000Z ERROR [db] timeout after 3000ms: SELECT * FROM "orders"
2026-03-01T10:00:02.100Z WARN  [api] GET /orders?id=7 503 3004ms
2026-03-01T10:05:00.000Z INFO  [api] POST /users 201 48ms
not a line of the log
2026-03-01T11:00:00.000Z ERROR [db] deadlock: tables (a, b)
`.trim();
const line = /^(?<time>\S+)\s+(?<level>[A-Z]+)\s+\[(?<part>\w+)\]\s+(?<text>.*)$/;
const request = /^(GET|POST|PUT|DELETE) (\/[^\s?]*)(?:\?(\S*))? (\d{3}) (\d+)ms$/;
const rows = [], bad = [];
for (const [i, text] of log.split('\n').entries()) {
  const m = line.exec(text);
  if (m) rows.push({ ...m.groups, n: i + 1 }); else bad.push(i + 1);
}
const byLevel = rows.reduce((acc, { level }) => ({ ...acc, [level]: (acc[level] ?? 0) + 1 }), {});
const requests = rows.map((r) => request.exec(r.text)).filter(Boolean)
  .map(([, method, path, query, status, ms]) => ({ method, path, query, status: +status, ms: Number(ms) }));
console.log(byLevel, 'bad lines:', bad);
console.log(requests);
const gap = new Date(rows.at(-1).time) - new Date(rows[0].time);
({ errors: rows.filter((r) => r.level === 'ERROR').map((r) => r.text.replace(/\d+/g, '#')), slowest: Math.max(...requests.map((r) => r.ms)), minutes: gap / 60000 });
