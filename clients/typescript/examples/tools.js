// SPDX-License-Identifier: MIT
// Code that calls a function of this program, and is stopped when it runs too long.
import { Session, Timeout, tool } from '@lazaret/client';

const CODE = `
prices = [price(item) for item in ("tea", "coffee")]
print("prices:", prices)
sum(prices)`;

const price = tool({
  name: 'price',
  description: 'Price of an item in euros.',
  parameters: [{ name: 'item', type: 'string', enum: ['tea', 'coffee'] }],
  timeout: 5000,
  execute: ({ item }) => ({ tea: 2.5, coffee: 3.25 })[item],
});

const session = await Session.open({ runtime: 'python', tools: [price] });
const output = (stream, text) => process.stdout.write(text);
const result = await session.execute(CODE, { timeout: 10_000, output });
console.log('sum:', result.value);
try {
  await session.execute('while True: pass', { timeout: 200 });
} catch (error) {
  if (!(error instanceof Timeout)) throw error;
  console.log('stopped:', error.message);
}
await session.close();
