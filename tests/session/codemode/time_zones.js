// The same moment in three places, and the day on which clocks change.
const at = new Date('2026-03-28T23:30:00Z');
const show = (zone) => new Intl.DateTimeFormat('en-GB', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' }).format(at);
const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata'];
for (const zone of zones) console.log(zone.padEnd(18), show(zone));
const hour = (iso, timeZone) => Number(new Intl.DateTimeFormat('en-US', { timeZone, hour: 'numeric', hourCycle: 'h23' }).format(new Date(iso)));
const before = hour('2026-03-29T00:59:00Z', 'Europe/Berlin'), after = hour('2026-03-29T01:01:00Z', 'Europe/Berlin');
const parts = Object.fromEntries(new Intl.DateTimeFormat('en-US', { timeZone: 'Asia/Tokyo', weekday: 'long', month: 'long', day: 'numeric', year: 'numeric' })
  .formatToParts(at).filter((p) => p.type !== 'literal').map(({ type, value }) => [type, value]));
console.log(parts);
const money = new Intl.NumberFormat('de-DE', { style: 'currency', currency: 'EUR' }).format(1234567.891).replace(/\s/g, ' ');
const ago = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
console.log(money, '|', ago.format(-1, 'day'), '|', ago.format(3, 'week'), '|', new Intl.ListFormat('en', { type: 'conjunction' }).format(['a', 'b', 'c']));
[before, after, new Intl.PluralRules('en', { type: 'ordinal' }).select(22)];
