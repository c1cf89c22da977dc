class Range {
  constructor(from, to, step = 1) { Object.assign(this, { from, to, step }); }
  [Symbol.iterator]() {
    let { from, to, step } = this;
    return { next: () => from <= to ? { value: (from += step) - step, done: false } : { value: undefined, done: true }, return: () => { console.log('stopped'); return {}; } };
  }
  [Symbol.toPrimitive](hint) { return hint === 'number' ? this.to - this.from : `${this.from}..${this.to}`; }
  static [Symbol.hasInstance](v) { return typeof v?.from === 'number'; }
}
const r = new Range(1, 9, 2);
const [first, second] = r;
console.log(...r, `${r}`, +r, first + second, { from: 1 } instanceof Range);
const matrix = { rows: [[1, 2], [3, 4]], *[Symbol.iterator]() { for (const row of this.rows) yield* row; } };
const id = Symbol('id'), same = Symbol.for('app') === Symbol.for('app');
const tagged = { [id]: 1, visible: true, [Symbol.for('app')]: 2 };
console.log(tagged, Object.keys(tagged), id.description, same);
const entries = Object.entries({ x: 1, y: 2 });
console.log(new Map(entries), new Set(r), Array.from(r, (n) => n * 10), Math.max(...matrix), Object.fromEntries(new Map(entries)));
const it = [1, 2, 3][Symbol.iterator]();
it.next();
[[...it], [...matrix], [...'a😀b'].length, Array.from({ length: 3 }, (_, i) => i ** 2), [...new Range(5, 1)]];
