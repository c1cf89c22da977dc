// Tasks in the order of what they need, those that can at the same time.
const needs = { deploy: ['test', 'build'], test: ['build'], build: ['fetch'], fetch: [], notify: ['deploy'], lint: ['fetch'] };
function topological(graph) {
  const out = [], state = {};
  const visit = (n, path) => {
    if (state[n] === 2) return;
    if (state[n] === 1) throw new Error(`cycle: ${[...path.slice(path.indexOf(n)), n].join(' -> ')}`);
    state[n] = 1;
    for (const m of graph[n] ?? []) visit(m, [...path, n]);
    state[n] = 2;
    out.push(n);
  };
  Object.keys(graph).forEach((n) => visit(n, []));
  return out;
}
const done = new Map();
const run = (name) => done.get(name) ?? done.set(name, Promise.all(needs[name].map(run)).then(() => echo({ value: name }))).get(name);
const ran = await Promise.all(Object.keys(needs).map(run));
const depth = (n) => 1 + Math.max(0, ...needs[n].map(depth));
const levels = Object.groupBy(Object.keys(needs), depth);
let cycle;
try { topological({ a: ['b'], b: ['c'], c: ['b'] }); } catch (e) { cycle = e.message; }
function dijkstra(graph, from) {
  const cost = { [from]: 0 }, left = new Set(Object.keys(graph));
  while (left.size) {
    const [near] = [...left].sort((x, y) => (cost[x] ?? Infinity) - (cost[y] ?? Infinity));
    left.delete(near);
    for (const [to, w] of Object.entries(graph[near])) cost[to] = Math.min(cost[to] ?? Infinity, cost[near] + w);
  }
  return cost;
}
console.log(topological(needs), levels, ran.length, done.size);
({ cycle, costs: dijkstra({ a: { b: 7, c: 3 }, b: { d: 1 }, c: { b: 1, d: 8 }, d: {} }, 'a') });
