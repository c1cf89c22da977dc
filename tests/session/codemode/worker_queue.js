// Three workers take cities from one queue; results keep the order of the jobs.
async function mapLimit(items, limit, f) {
  const results = new Array(items.length);
  const entries = items.entries();
  const worker = async () => { for (const [i, item] of entries) results[i] = await f(item, i); };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  return results;
}
const cities = ['London', 'Atlantis', 'Berlin', 'Paris', 'Boston'];
const sky = await mapLimit(cities, 3, async (city, i) => {
  try {
    return `${i}:${(await weather(city)).sky}`;
  } catch (e) {
    return `${i}:${e.message}`;
  }
});
sky;
