const grid = [[1, 2, 3], [4, -5, 6], [7, 8, 9]];
let found = null;
outer: for (const [y, row] of grid.entries()) {
  for (const [x, n] of row.entries()) {
    if (n < 0) { found = { x, y, n }; break outer; }
    if (n % 2 === 0) continue outer;
  }
}
const seen = [];
loop: for (let i = 0; ; i++) {
  switch (i) {
    case 1: continue loop;
    case 2:
    case 3: seen.push(`case ${i}`); break;
    case 5: break loop;
    default: seen.push(`default ${i}`);
  }
}
block: { seen.push('in'); if (seen.length > 1) break block; seen.push('never'); }
const closures = [];
for (let i = 0; i < 3; i++) closures.push(() => i);
var shared = [];
for (var j = 0; j < 3; j++) shared.push(() => j);
let n = 27, steps = 0;
do { n = n % 2 ? 3 * n + 1 : n / 2; steps++; } while (n !== 1);
const spiral = (m) => m.length ? [...m[0], ...spiral(m.slice(1).map((r) => [...r].reverse())[0]?.map((_, i) => m.slice(1).map((r) => r[r.length - 1 - i])) ?? [])] : [];
console.log(found, seen, closures.map((f) => f()), shared.map((f) => f()), steps);
spiral(grid);
