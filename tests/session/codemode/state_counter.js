const users = (await list_users({ limit: 7 })).items;
let visited = 0;
const visit = (id) => { visited++; return users.find((u) => u.id === id)?.name; };
class Counter { #n = 0; up() { return ++this.#n; } }
const counter = new Counter();
counter.up();
visit(1);
// ---- next execution
const first = visit(2);
let users2 = users.filter((u) => u.active);
counter.up();
console.log(first, visited, users2.length);
const limit = 2;
// ---- next execution
const limit = 3, [a, ...rest] = users2;
function visitAll() { return users2.slice(0, limit).map((u) => visit(u.id)); }
const names = visitAll();
visited += 100;
({ names, visited, n: counter.up(), limit, a: a.id, rest: rest.length });
