// The orders of three months and the measurements of three sites, asked for side by side.
const months = [1, 2, 3], sites = ['north', 'south', 'east'];
const [ordered, measured] = await Promise.all([
    Promise.all(months.map((month) => orders({ month }))),
    Promise.all(sites.map((site) => measurements({ site }))),
]);

const total = (rows) => rows.reduce((sum, { quantity, price }) => sum + quantity * price, 0);
const customers = Object.entries(Object.groupBy(ordered.flat(), ({ customer }) => customer))
    .map(([customer, rows]) => ({ customer, orders: rows.length, total: total(rows).toFixed(2) }))
    .sort((a, b) => b.total - a.total);
console.table(customers);

for (const [i, rows] of measured.entries()) {
    const { y } = rows.reduce((most, row) => (row.y > most.y ? row : most));
    console.log(`${sites[i].padEnd(6)} at most ${y.toFixed(2)}`);
}

// A call that fails is a promise that is rejected, and the others are not lost.
const results = await Promise.allSettled([3, 4].map((month) => orders({ month })));
console.log(results.map(({ status, value, reason }) => status === 'fulfilled'
    ? `${value.length} orders` : reason.name).join(', '));
