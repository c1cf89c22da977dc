// SPDX-License-Identifier: MIT
// Code that gets a file and a data frame, asks before it buys, plots, and outlives a timeout.
import { Frame, Session, Timeout } from '@lazaret/client';

const CODE = `
d <- transform(cbind(sales(), read.csv("prices.csv")), income = price * sold)
writeLines(buy(d$item[which.max(d$sold)], 10))
writeLines(tryCatch(buy("tea", 500), error = function(e) "refused"))
barplot(d$income, names.arg = d$item)
d[c("item", "income")]`;

const sales = { name: 'sales', description: 'What was sold.',
  execute: () => new Frame({ item: ['tea', 'coffee', 'milk'], sold: [4, 2, 8] }) };
const buy = { name: 'buy', approve: true, execute: ({ item, count }) => `bought ${count} ${item}`,
  parameters: [{ name: 'item', type: 'string' }, { name: 'count', type: 'integer' }] };
const approve = ({ args }) => args.count < 100;
const files = { 'prices.csv': Buffer.from('price\n2.5\n3.25\n1\n') };
const session = await Session.open({ runtime: 'r', tools: [sales, buy], approve, files });
const { stdout, value, artifacts } = await session.execute(CODE);
process.stdout.write(stdout);
for (const { item, income } of value.rows()) console.log(item, income.toFixed(2));
for (const { name, type } of artifacts) console.log(`${name}: ${type}`);
try {
  await session.execute('repeat {}', { timeout: 500 });
} catch (error) {
  if (!(error instanceof Timeout)) throw error;
  console.log('stopped, and then:', (await session.execute('6 * 7')).value);
}
await session.close();
