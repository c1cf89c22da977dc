// The same as an async generator, stopped before the end.
async function* results(query) {
  let opened = 0;
  try {
    for (let page = 1, pages = 1; page <= pages; page++) {
      const answer = await search({ query, page });
      opened++;
      pages = answer.pages;
      yield* answer.results;
    }
  } finally {
    console.log(`closed after ${opened} pages`);
  }
}
const best = [];
for await (const { id, title, score } of results('lazy evaluation')) {
  if (score >= 8) best.push([id, title, score]);
  if (best.length === 2) break;
}
let total = 0;
for await (const r of results('all')) total += r.score;
console.log(best, total);
best.length;
