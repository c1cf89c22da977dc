// The weather of every city in which active users live, side by side.
const { items } = await list_users({ limit: 10 });
const cities = [...new Set(items.filter((u) => u.active).map((u) => u.city))];
const reports = await Promise.all(cities.map((city) => weather({ city })));
const warmest = reports.reduce((a, b) => (b.celsius > a.celsius ? b : a));
for (const { city, celsius, sky } of reports) {
  console.log(`${city.padEnd(8)} ${celsius.toFixed(1).padStart(6)} °C  ${sky}`);
}
({ cities, warmest: warmest.city, mean: reports.reduce((s, r) => s + r.celsius, 0) / reports.length });
