// An error on its way out: the message, its cause and its line.
async function total(ids) {
  let sum = 0;
  for (const id of ids) {
    const list = await orders({ user_id: id });
    if (!list.length) {
      throw new Error(`user ${id} has no orders`, { cause: new RangeError('empty') });
    }
    sum += list.length;
  }
  return sum;
}
console.log('before');
await total([1, 2, 3]);
console.log('never');
// ---- next execution
console.error('after', typeof total);
const config = undefined;
config.port;
// ---- next execution
await get_user(1000);
// ---- next execution
get_user('1');
// ---- next execution
await total([1, 2]);
