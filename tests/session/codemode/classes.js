// Private fields, static blocks, getters, inheritance, symbols.
class Account {
  static #count = 0;
  static kinds = new Map();
  static { this.kinds.set('account', this); }
  #balance = 0; #history = [];
  constructor(owner) { this.owner = owner; Account.#count++; }
  static get count() { return Account.#count; }
  get balance() { return this.#balance; }
  set balance(_) { throw new TypeError('the balance is computed'); }
  #record(kind, amount) { this.#history.push({ kind, amount }); return this; }
  deposit(amount) { this.#balance += amount; return this.#record('in', amount); }
  withdraw(amount) {
    if (amount > this.#balance) throw new RangeError(`${this.owner} has only ${this.#balance}`);
    this.#balance -= amount;
    return this.#record('out', amount);
  }
  static isOne(value) { return #balance in value; }
  *[Symbol.iterator]() { yield* this.#history; }
  toJSON() { return { owner: this.owner, balance: this.#balance }; }
}
class Savings extends Account {
  static { super.kinds.set('savings', this); }
  constructor(owner, rate) { super(owner); this.rate = rate; }
  addInterest() { return this.deposit(Math.round(this.balance * this.rate)); }
  withdraw(amount) { return super.withdraw(amount + 1); }
  get [Symbol.toStringTag]() { return 'Savings'; }
}
const s = new Savings('Ada', 0.05);
s.deposit(200).addInterest().withdraw(9);
console.log([...s], String(s), Account.isOne(s), Account.isOne({}), Account.count, [...Account.kinds.keys()]);
for (const f of [() => s.withdraw(1000), () => { s.balance = 1; }]) {
  try { f(); } catch (e) { console.log(e.name, '-', e.message, e instanceof RangeError); }
}
console.log(new Account('Bob'));
s;
