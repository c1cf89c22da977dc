// A small schema with inferred types, against what tools give.
type Check<T> = (value: unknown, path: string) => T;
type Infer<S> = S extends Check<infer T> ? T : never;
class Invalid extends Error { constructor(readonly path: string, what: string) { super(`${path || 'value'}: expected ${what}`); } }
const is = <T,>(what: string, test: (v: unknown) => v is T): Check<T> => (v, p) => { if (!test(v)) throw new Invalid(p, what); return v; };
const s = {
  string: is('string', (v): v is string => typeof v === 'string'),
  number: is('number', (v): v is number => typeof v === 'number' && !Number.isNaN(v)),
  boolean: is('boolean', (v): v is boolean => typeof v === 'boolean'),
  array: <T,>(of: Check<T>): Check<T[]> => (v, p) => is('array', Array.isArray as (v: unknown) => v is unknown[])(v, p).map((x, i) => of(x, `${p}[${i}]`)),
  optional: <T,>(of: Check<T>): Check<T | undefined> => (v, p) => v == null ? undefined : of(v, p),
  object: <S extends Record<string, Check<any>>>(shape: S): Check<{ [K in keyof S]: Infer<S[K]> }> => (v, p) => {
    if (typeof v !== 'object' || v === null) throw new Invalid(p, 'object');
    return Object.fromEntries(Object.entries(shape).map(([k, c]) => [k, c((v as Record<string, unknown>)[k], p ? `${p}.${k}` : k)])) as { [K in keyof S]: Infer<S[K]> };
  },
} as const;
const user = s.object({ id: s.number, name: s.string, tags: s.array(s.string), manager: s.optional(s.string) });
type User = Infer<typeof user>;
const good: User = user(await get_user(5), '');
const problems = [{ id: 1, name: 'x', tags: ['a', 2] }, { id: '1' }, null, { id: 1, name: 'n', tags: 'no' }].map((v) => {
  try { user(v, ''); return 'fine'; } catch (e) { return e instanceof Invalid ? [e.path, e.message] : String(e); }
});
console.log(good, 'manager' in good);
problems;
