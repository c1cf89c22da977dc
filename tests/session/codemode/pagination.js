// All users, page by page, with a cursor.
const all = [];
let cursor, pages = 0;
do {
  const page = await list_users(cursor ? { cursor, limit: 2 } : { limit: 2 });
  all.push(...page.items);
  cursor = page.next_cursor;
  pages++;
  if (pages > 20) throw new Error('endless');
} while (cursor);
console.log('pages:', pages, 'users:', all.length);
all.map(({ id, name }) => `${id}:${name.split(' ').at(-1)}`).join(' ');
