// EventEmitter, Event, EventTarget, AbortController, AbortSignal.
const main = async () => {
const attempt = (name, work) => {
    try {
        console.log(name, String(work()));
    } catch (error) {
        console.log(name, 'throws', error.name, error.code, error.message);
    }
};
const EventEmitter = require('events');
const { once, on, errorMonitor } = require('node:events');
console.log(EventEmitter.EventEmitter === EventEmitter, EventEmitter.defaultMaxListeners, EventEmitter.name);
{
    const emitter = new EventEmitter();
    const log = [];
    const first = function (...args) { log.push(`first ${this === emitter} ${args}`); };
    console.log(emitter.on('x', first) === emitter, emitter.emit('x', 1, 2), emitter.emit('y'));
    emitter.once('x', () => log.push('once'));
    emitter.prependListener('x', () => log.push('before'));
    emitter.prependOnceListener('x', () => log.push('before once'));
    console.log(emitter.listenerCount('x'), emitter.rawListeners('x').length, emitter.listeners('x')[2] === first);
    emitter.emit('x');
    emitter.emit('x', 'again');
    emitter.off('x', first);
    emitter.emit('x');
    console.log(log.join('; '), emitter.eventNames().map(String).join());
    emitter.removeAllListeners();
    console.log(emitter.listenerCount('x'), emitter.eventNames().length);
}
{
    const emitter = new EventEmitter();
    const log = [];
    emitter.on('newListener', (type, listener) => log.push(`new ${String(type)} ${typeof listener}`));
    emitter.on('removeListener', type => log.push(`removed ${String(type)}`));
    const listener = () => log.push('called');
    emitter.once('a', listener);
    emitter.removeListener('a', listener);
    emitter.once(Symbol('s'), listener);
    emitter.on('b', function self() { emitter.off('b', self); emitter.on('b', listener); });
    emitter.emit('b');
    emitter.emit('b');
    emitter.removeAllListeners('b');
    console.log(log.join('; '));
}
{
    const emitter = new EventEmitter();
    attempt('error', () => emitter.emit('error', new RangeError('unheard')));
    attempt('no error', () => emitter.emit('error', 'text'));
    emitter.on(errorMonitor, error => console.log('monitor', error.message));
    attempt('monitored', () => emitter.emit('error', new Error('seen')));
    emitter.on('error', error => console.log('handled', error.message));
    console.log(emitter.emit('error', new Error('heard')));
    attempt('listener', () => emitter.on('x', 1));
    attempt('max', () => emitter.setMaxListeners(-1));
    console.log(emitter.setMaxListeners(3).getMaxListeners());
    emitter.on('thrower', () => { throw new Error('from listener'); });
    attempt('thrower', () => emitter.emit('thrower'));
}
{
    class Own extends EventEmitter { constructor() { super(); this.own = 1; } }
    function Old() { EventEmitter.call(this); }
    Old.prototype = Object.create(EventEmitter.prototype);
    for (const emitter of [new Own(), new Old(), Object.assign({}, EventEmitter.prototype)]) {
        emitter.on('x', value => console.log('got', value, emitter instanceof EventEmitter));
        emitter.emit('x', 5);
    }
}
{
    const emitter = new EventEmitter();
    setTimeout(() => emitter.emit('ready', 1, 2), 1);
    console.log('once', JSON.stringify(await once(emitter, 'ready')), emitter.listenerCount('error'));
    setTimeout(() => emitter.emit('error', new Error('early')), 1);
    await once(emitter, 'ready').catch(error => console.log('rejects', error.message, emitter.listenerCount('ready')));
    const control = new AbortController();
    setTimeout(() => control.abort(), 1);
    await once(emitter, 'ready', { signal: control.signal }).catch(error => console.log(error.name, error.code, error.message, emitter.listenerCount('ready')));
    setTimeout(() => { for (let i = 0; i < 3; i++) emitter.emit('n', i); }, 1);
    for await (const [n] of on(emitter, 'n')) {
        console.log('on', n);
        if (n === 2) break;
    }
    console.log(emitter.listenerCount('n'));
    setTimeout(() => emitter.emit('error', new Error('ends it')), 1);
    try {
        for await (const [n] of on(emitter, 'n')) console.log(n);
    } catch (error) {
        console.log('loop', error.message);
    }
    const target = new EventTarget();
    setTimeout(() => target.dispatchEvent(new Event('go')), 1);
    console.log((await once(target, 'go'))[0].type);
}
{
    const target = new EventTarget();
    const log = [];
    const listener = event => log.push(`${event.type} ${event.target === target} ${event.currentTarget === target} ${event.eventPhase}`);
    target.addEventListener('a', listener);
    target.addEventListener('a', listener);
    target.addEventListener('a', { handleEvent(event) { log.push(`object ${event.type}`); } });
    target.addEventListener('a', () => log.push('once'), { once: true });
    const event = new Event('a');
    console.log(target.dispatchEvent(event), event.target === target, event.currentTarget, event.eventPhase);
    target.removeEventListener('a', listener);
    target.dispatchEvent(new Event('a'));
    console.log(log.join('; '));
    target.addEventListener('stop', event => { event.preventDefault(); event.stopImmediatePropagation(); });
    target.addEventListener('stop', () => console.log('not reached'));
    const plain = new Event('stop');
    const cancelable = new Event('stop', { cancelable: true });
    console.log(target.dispatchEvent(plain), plain.defaultPrevented, target.dispatchEvent(cancelable), cancelable.defaultPrevented);
    const custom = new CustomEvent('c', { detail: { n: 1 } });
    console.log(custom.detail.n, custom instanceof Event, new CustomEvent('d').detail, Object.prototype.toString.call(custom), custom.bubbles);
    const control = new AbortController();
    target.addEventListener('signalled', () => console.log('not called'), { signal: control.signal });
    control.abort();
    console.log(target.dispatchEvent(new Event('signalled')));
    attempt('dispatch', () => target.dispatchEvent({ type: 'a' }));
    attempt('add', () => target.addEventListener('a', 5));
    attempt('again', () => {
        target.addEventListener('again', event => target.dispatchEvent(event));
        return new Event();
    });
    class Store extends EventTarget { save() { return this.dispatchEvent(new CustomEvent('saved', { detail: 7 })); } }
    const kept = new Store();
    kept.addEventListener('saved', event => console.log('saved', event.detail));
    kept.save();
}
{
    const control = new AbortController();
    const { signal } = control;
    console.log(signal.aborted, signal.reason, Object.prototype.toString.call(signal), signal instanceof EventTarget);
    signal.throwIfAborted();
    const log = [];
    signal.onabort = event => log.push(`onabort ${event.type} ${event.isTrusted}`);
    signal.addEventListener('abort', () => log.push('listener'));
    control.abort();
    control.abort('later');
    console.log(log.join('; '), signal.aborted, signal.reason.name, signal.reason.code, signal.reason.message, signal.reason instanceof DOMException);
    attempt('throwIfAborted', () => signal.throwIfAborted());
    console.log(AbortSignal.abort('why').reason, AbortSignal.abort().reason.name);
    const own = new AbortController();
    const any = AbortSignal.any([own.signal, AbortSignal.timeout(100000)]);
    const nested = AbortSignal.any([any]);
    own.abort(new Error('mine'));
    console.log(any.aborted, any.reason.message, nested.aborted, AbortSignal.any([AbortSignal.abort(3), any]).reason);
    attempt('new AbortSignal', () => new AbortSignal());
    const timed = AbortSignal.timeout(1);
    setTimeout(() => {}, 50);
    await new Promise(resolve => { timed.onabort = resolve; });
    console.log(timed.reason.name, timed.reason.code, timed.reason.message);
}
};
main();
