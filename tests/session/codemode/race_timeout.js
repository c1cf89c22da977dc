// A call with a time limit: the slow one is given up, the quick one is not.
class TimeoutError extends Error {
  name = 'TimeoutError';
  constructor(ms) { super(`no answer within ${ms} ms`); this.ms = ms; }
}
function withTimeout(promise, ms) {
  let timer;
  const limit = new Promise((_, reject) => { timer = setTimeout(() => reject(new TimeoutError(ms)), ms); });
  return Promise.race([promise, limit]).finally(() => clearTimeout(timer));
}
const results = [];
try {
  results.push(await withTimeout(slow('export'), 5));
} catch (e) {
  if (!(e instanceof TimeoutError)) throw e;
  results.push(`${e.name}: ${e.message}`);
}
results.push(await withTimeout(echo('quick'), 600000));
await release('export');
results;
