type Event = { type: 'deposit' | 'withdraw'; amount: number } | { type: 'close' };
interface State { balance: number; open: boolean; log: string[] }
const initial: Readonly<State> = { balance: 0, open: true, log: [] };
function reduce(s: State, e: Event): State {
  if (!s.open) throw new Error('closed');
  switch (e.type) {
    case 'close': return { ...s, open: false, log: [...s.log, 'close'] };
    default: {
      const sign = e.type === 'deposit' ? 1 : -1;
      return { ...s, balance: s.balance + sign * e.amount, log: [...s.log, `${e.type} ${e.amount}`] };
    }
  }
}
// ---- next execution
const events: Event[] = [{ type: 'deposit', amount: 100 }, { type: 'withdraw', amount: 30 }, { type: 'close' }];
let state: State = events.reduce(reduce, initial);
console.log(state);
// ---- next execution
const state: State['balance'] = 1 as number;
function first<T>(list: readonly T[]): T | undefined { return list[0]; }
const error: string = (() => {
  try { events.concat({ type: 'close' }).reduce(reduce, initial as State); return 'none'; } catch (e: any) { return e.message; }
})();
[state, first(events)?.type, error] as [number, string | undefined, string];
// ---- next execution
interface Wrong { a: string }
const w: Wrong = { a: 'x' };
throw new TypeError(`line ${(w as { a: string }).a}`);
