// A channel: one side puts, the other iterates; and streams merged in the order of turns.
class Channel {
  #values = []; #takers = []; #closed = false;
  put(value) { const t = this.#takers.shift(); t ? t({ value, done: false }) : this.#values.push(value); }
  close() { this.#closed = true; for (const t of this.#takers) t({ value: undefined, done: true }); }
  [Symbol.asyncIterator]() {
    return {
      next: () => this.#values.length ? Promise.resolve({ value: this.#values.shift(), done: false })
        : this.#closed ? Promise.resolve({ value: undefined, done: true })
        : new Promise((resolve) => this.#takers.push(resolve)),
      return: async () => { console.log('left'); return { value: undefined, done: true }; },
    };
  }
}
const channel = new Channel();
(async () => {
  for (const id of [1, 2, 3]) channel.put((await get_user(id)).name);
  channel.close();
})();
const names = [];
for await (const name of channel) names.push(name);
console.log(names);
const early = new Channel();
[1, 2, 3].forEach((n) => early.put(n));
for await (const n of early) if (n === 2) break;
async function* counted(label, n) { for (let i = 0; i < n; i++) { await null; yield label + i; } }
async function* zip(...sources) {
  const its = sources.map((s) => s[Symbol.asyncIterator]());
  for (;;) {
    const turn = await Promise.all(its.map((it) => it.next()));
    if (turn.some((t) => t.done)) return;
    yield turn.map((t) => t.value);
  }
}
await Array.fromAsync(zip(counted('a', 3), counted('b', 2)));
