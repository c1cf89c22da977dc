// At most two calls at a time.
class Semaphore {
  #free; #queue = [];
  constructor(n) { this.#free = n; }
  async acquire() {
    if (this.#free > 0) { this.#free--; return; }
    await new Promise((resolve) => this.#queue.push(resolve));
  }
  release() {
    const next = this.#queue.shift();
    if (next) next(); else this.#free++;
  }
  async run(f) {
    await this.acquire();
    try { return await f(); } finally { this.release(); }
  }
}
const gate = new Semaphore(2);
let now = 0, most = 0;
const answers = await Promise.all(Array.from({ length: 9 }, (_, i) => gate.run(async () => {
  most = Math.max(most, ++now);
  try { return await echo(i * i); } finally { now--; }
})));
console.log(answers.join(), { now, most });
most;
