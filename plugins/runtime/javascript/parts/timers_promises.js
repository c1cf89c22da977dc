// timers_promises.js - the module timers/promises.
const timers = internal('timers');
const { aborted } = internal('events');
const { wrongType } = internal('errors');

const wait = (make, clear, value, options) => {
    const { signal, ref = true } = options ?? {};
    if (signal !== undefined && !(signal !== null && typeof signal === 'object' && 'aborted' in signal)) {
        return Promise.reject(wrongType('options.signal', 'an instance of AbortSignal', signal));
    }
    if (signal?.aborted) return Promise.reject(aborted(signal));
    return new Promise((resolve, reject) => {
        const cancel = () => {
            clear(timer);
            reject(aborted(signal));
        };
        const timer = make(() => {
            signal?.removeEventListener('abort', cancel);
            resolve(value);
        });
        if (!ref) timer.unref?.();
        signal?.addEventListener('abort', cancel, { once: true });
    });
};
const setTimeout = (delay, value, options) => wait(done => timers.setTimeout(done, delay), timers.clearTimeout, value, options);
const setImmediate = (value, options) => wait(done => timers.setImmediate(done), timers.clearImmediate, value, options);
async function* setInterval(delay, value, options = {}) {
    const { signal, ref = true } = options;
    if (signal?.aborted) throw aborted(signal);
    let ready = 0;
    let wake;
    const timer = timers.setInterval(() => {
        ready++;
        wake?.();
    }, delay);
    if (!ref) timer.unref?.();
    const cancel = () => wake?.();
    signal?.addEventListener('abort', cancel, { once: true });
    try {
        for (;;) {
            while (!ready && !signal?.aborted) await new Promise(resolve => { wake = resolve; });
            for (; ready > 0; ready--) yield value;
            if (signal?.aborted) throw aborted(signal);
        }
    } finally {
        timers.clearInterval(timer);
        signal?.removeEventListener('abort', cancel);
    }
}
Object.assign(exports, { setTimeout, setImmediate, setInterval,
    scheduler: { wait: (delay, options) => setTimeout(delay, undefined, options), yield: () => setImmediate() } });
