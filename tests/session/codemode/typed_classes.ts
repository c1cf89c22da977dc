abstract class Repository<T extends { id: number }, K extends keyof T = keyof T> {
  protected items = new Map<number, T>();
  private static instances: number = 0;
  constructor(public readonly name: string, protected readonly options: Partial<{ limit: number }> = {}) { Repository.instances++; }
  abstract validate(item: T): asserts item is T;
  add(...items: T[]): this { for (const i of items) { this.validate(i); this.items.set(i.id, i); } return this; }
  find(id: number): T | undefined;
  find(test: (item: T) => boolean): T | undefined;
  find(by: number | ((item: T) => boolean)): T | undefined {
    return typeof by === 'number' ? this.items.get(by) : [...this.items.values()].find(by);
  }
  pluck<P extends K>(key: P): T[P][] { return [...this.items.values()].map((i) => i[key]); }
  static get count(): number { return this.instances; }
  get size() { return this.items.size; }
}
interface Order { id: number; total: number; note?: string }
class Orders extends Repository<Order> implements Iterable<Order> {
  declare extra: string;
  override validate(o: Order) { if (!(o.total >= 0)) throw new RangeError(`order ${o.id}: ${o.total}`); }
  *[Symbol.iterator](): IterableIterator<Order> { yield* this.items.values(); }
}
const list = new Orders('orders', { limit: 5 });
list.add({ id: 1, total: 5 }, { id: 2, total: 7.5, note: 'x' });
let refused: string | null = null;
try { list.add({ id: 3, total: -1 }); } catch (e) { if (e instanceof RangeError) refused = e.message; }
const pick = <T, const K extends readonly (keyof T)[]>(o: T, keys: K) => Object.fromEntries(keys.map((k) => [k, o[k]])) as Pick<T, K[number]>;
console.log(list.name, list.size, list.pluck('total'), Orders.count, list.find((o) => o.note === 'x'));
const checked = { a: 1, b: 'two' } satisfies Record<string, number | string>;
({ refused, spread: [...list].length, one: list.find(1)!.total, pick: pick(checked, ['b']), extra: 'extra' in list });
