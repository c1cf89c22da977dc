// The first mirror that answers; and when none does, why.
const mirrors = ['a', 'b', 'c'];
const first = await Promise.any([flaky('a', 9), slow('b'), echo({ mirror: 'c' })]);
await release('b');
let reasons;
try {
  await Promise.any(mirrors.map((m) => flaky({ key: `down-${m}`, failures: 99 })));
} catch (e) {
  reasons = { name: e.constructor.name, errors: e.errors.map((x) => x.message), message: e.message };
}
console.log(first, reasons.errors);
[first.mirror, reasons.name, reasons.errors.length];
