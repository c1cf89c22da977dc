// SPDX-License-Identifier: MIT
// Callbacks of an AbortSignal.
//
// A signal that many executions share gets one listener for all of them, because from the eleventh
// on Node.js warns of a leak. The listener is removed with the last callback: it would keep alive a
// signal that was made of others.

const shared = new WeakMap(); // of each signal: its listener, and the callbacks

/**
 * Have a function called when a signal is aborted.
 *
 * @param {AbortSignal | undefined} signal
 * @param {() => void} call
 * @returns {() => void} call it when that is no longer wanted
 */
export function onAbort(signal, call) {
  if (!signal) return () => {};
  let entry = shared.get(signal);
  if (!entry) {
    const calls = new Set();
    entry = { calls, listener: () => [...calls].forEach((one) => one()) };
    shared.set(signal, entry);
    signal.addEventListener('abort', entry.listener);
  }
  const { calls, listener } = entry;
  const mine = () => call(); // the same function may be given twice
  calls.add(mine);
  return () => {
    if (calls.delete(mine) && !calls.size) {
      signal.removeEventListener('abort', listener);
      shared.delete(signal);
    }
  };
}
