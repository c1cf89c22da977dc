// Tools behind a typed client.
interface User { readonly id: number; name: string; email: string; city: string; age: number; active: boolean; tags: string[]; manager?: string | null }
interface Page<T> { items: T[]; next_cursor: string | null }
type Result<T, E = Error> = { ok: true; value: T } | { ok: false; error: E };
const attempt = async <T,>(f: () => Promise<T>): Promise<Result<T>> => {
  try {
    return { ok: true, value: await f() };
  } catch (error: unknown) {
    return { ok: false, error: error as Error };
  }
};
async function* pages<T>(load: (cursor?: string) => Promise<Page<T>>): AsyncGenerator<T, number, void> {
  let cursor: string | undefined, n = 0;
  do {
    const page: Page<T> = await load(cursor);
    yield* page.items;
    cursor = page.next_cursor ?? undefined;
    n++;
  } while (cursor);
  return n;
}
const users: User[] = [];
for await (const user of pages<User>((cursor) => list_users({ cursor }))) users.push(user);
const byId = new Map<User['id'], User>(users.map((u): [number, User] => [u.id, u]));
const results = await Promise.all(([2, 99] as const).map((id) => attempt<User>(() => get_user(id))));
for (const r of results) console.log(r.ok ? r.value.name : `failed: ${r.error.message}`);
const emails: Record<string, string[]> = {};
users.forEach((u) => (emails[u.email.split('.').pop()!.toLowerCase()] ??= []).push(u.email.toLowerCase()));
console.log(emails, byId.get(4)!.city);
users.filter((u): u is User & { active: true } => u.active).length;
