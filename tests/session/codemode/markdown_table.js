// A table of Markdown becomes objects, and objects become one.
const source = `
| Name   | Qty | Price |
|:-------|----:|:-----:|
| Pen    |   2 |  1.50 |
| Book \\| Pad |  10 | 12.00 |
`;
const cells = (line) => line.trim().replace(/^\||\|$/g, '').split(/(?<!\\)\|/).map((c) => c.trim().replace('\\|', '|'));
const [head, rule, ...body] = source.trim().split('\n').map(cells);
const align = rule.map((r) => r.startsWith(':') && r.endsWith(':') ? 'center' : r.endsWith(':') ? 'right' : 'left');
const records = body.map((row) => Object.fromEntries(row.map((v, i) => [head[i].toLowerCase(), align[i] === 'left' ? v : Number(v)])));
console.log(align, records);
const width = (name) => Math.max(name.length, ...records.map((r) => String(r[name]).length));
const names = Object.keys(records[0]);
const row = (f) => '| ' + names.map((n) => f(n)).join(' | ') + ' |';
console.log([row((n) => n.padEnd(width(n))), row((n) => '-'.repeat(width(n))),
  ...records.map((r) => row((n) => String(r[n]).padEnd(width(n))))].join('\n'));
records.reduce((sum, { qty, price }) => sum + qty * price, 0);
