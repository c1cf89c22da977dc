// Retries with exponential backoff; the pauses are recorded, not waited for.
const pauses = [];
const sleep = (ms) => { pauses.push(ms); return new Promise((r) => setTimeout(r, 0)); };
async function retry(f, { attempts = 5, base = 100, factor = 2, isFatal = () => false } = {}) {
  let last;
  for (let i = 0; i < attempts; i++) {
    try {
      return await f(i);
    } catch (e) {
      if (isFatal(e)) throw e;
      last = e;
      if (i + 1 < attempts) await sleep(base * factor ** i);
    }
  }
  throw new Error(`gave up after ${attempts} attempts`, { cause: last });
}
const good = await retry(() => flaky({ key: 'upload', failures: 3 }));
console.log(good, pauses);
try {
  await retry(() => flaky('never', 100), { attempts: 2, base: 7 });
} catch (e) {
  console.log(e.message, '|', e.cause.message, '|', e.cause instanceof lazaret.ToolError);
}
try {
  await retry(() => get_user(99), { isFatal: (e) => /no user/.test(e.message) });
} catch (e) {
  console.log('fatal:', e.message);
}
pauses;
