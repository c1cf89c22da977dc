// SPDX-License-Identifier: MIT
// Code that gets a data frame from this program, asks before it buys, and outlives a timeout.
import { Frame, Session, Timeout } from '@lazaret/client';

const CODE = `
d <- sales()
d$income <- d$price * d$sold
writeLines(buy(d$item[which.max(d$sold)], 10))
writeLines(tryCatch(buy("tea", 500), error = function(e) "refused"))
d[c("item", "income")]`;

const sales = { name: 'sales', description: 'What was sold, and at which price.',
  execute: () => new Frame({ item: ['tea', 'coffee', 'milk'], price: [2.5, 3.25, 1], sold: [4, 2, 8] }) };
const buy = { name: 'buy', approve: true, execute: ({ item, count }) => `bought ${count} ${item}`,
  parameters: [{ name: 'item', type: 'string' }, { name: 'count', type: 'integer' }] };

const approve = ({ args }) => args.count < 100;
const session = await Session.open({ runtime: 'r', tools: [sales, buy], approve });
const { stdout, value } = await session.execute(CODE);
process.stdout.write(stdout);
for (const { item, income } of value.rows()) console.log(item, income.toFixed(2));
try {
  await session.execute('repeat {}', { timeout: 500 });
} catch (error) {
  if (!(error instanceof Timeout)) throw error;
  console.log('stopped, and then:', (await session.execute('6 * 7')).value);
}
await session.close();
