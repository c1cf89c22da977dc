import { createHash, createHmac, randomUUID, randomBytes, timingSafeEqual } from 'crypto';
const sha = (text) => createHash('sha256').update(text).digest('hex');
const etag = (o) => createHash('sha1').update(JSON.stringify(o)).digest('base64url').slice(0, 10);
const user = await get_user(5);
console.log(sha(''), createHash('md5').update('a').update('b').digest('base64'));
console.log(createHmac('sha256', 'key').update('The quick brown fox jumps over the lazy dog').digest('hex'));
const stable = (v) => Array.isArray(v) ? v.map(stable) : v && typeof v === 'object' ? Object.fromEntries(Object.keys(v).sort().map((k) => [k, stable(v[k])])) : v;
const same = etag(stable({ b: 1, a: { d: [1], c: 2 } })) === etag(stable({ a: { c: 2, d: [1] }, b: 1 }));
// a chain in which each record holds the hash of the one before
const chain = [user.name, user.city, 'end'].reduce((blocks, data) => {
  const previous = blocks.at(-1)?.hash ?? '0'.repeat(64);
  return [...blocks, { data, previous, hash: sha(previous + data) }];
}, []);
const valid = (list) => list.every((b, i) => b.hash === sha(b.previous + b.data) && (i === 0 || b.previous === list[i - 1].hash));
const before = valid(chain);
chain[1].data = 'Bonn';
const uuid = randomUUID();
({ same, before, after: valid(chain), uuid: /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/.test(uuid), random: randomBytes(8).length, equal: timingSafeEqual(Buffer.from('ab'), Buffer.from('ab')), web: crypto.getRandomValues(new Uint8Array(4)).length });
