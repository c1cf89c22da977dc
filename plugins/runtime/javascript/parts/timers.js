// timers.js - timers and immediates: a heap by the time when they are due, and a queue.
// One callback runs for each call of run(), so that the jobs of its promises run before the next.
const now = native.now;
const { apply } = Reflect, { pop } = Array.prototype;
const heap = Object.setPrototypeOf([], null); // its indexes have no setters
let order = 0, referenced = 0;
let immediates = [], nextImmediates = [];

function before(a, b) {
    return a._due < b._due || (a._due === b._due && a._order < b._order);
}

function place(timer, at) {
    heap[at] = timer;
    timer._at = at;
}

function up(timer, at) {
    while (at > 0) {
        const above = (at - 1) >> 1;
        if (!before(timer, heap[above]))
            break;
        place(heap[above], at);
        at = above;
    }
    place(timer, at);
}

function down(timer, at) {
    for (;;) {
        let below = 2 * at + 1;
        if (below >= heap.length)
            break;
        if (below + 1 < heap.length && before(heap[below + 1], heap[below]))
            below++;
        if (!before(heap[below], timer))
            break;
        place(heap[below], at);
        at = below;
    }
    place(timer, at);
}

function remove(timer) {
    const at = timer._at;
    if (at < 0)
        return;
    timer._at = -1;
    const moved = apply(pop, heap, []); // not by its length: that takes as long as the list is
    if (moved !== timer) {
        down(moved, at);
        up(moved, moved._at);
    }
    if (timer._ref)
        referenced--;
}

function insert(timer) {
    timer._due = now() + timer._delay;
    timer._order = order++;
    up(timer, heap.length);
    if (timer._ref)
        referenced++;
    native.timers();
}

const byId = new Map();
let lastId = 0;

class Timeout {
    constructor(callback, delay, args, repeat) {
        delay = +delay;
        hide(this, '_delay', delay >= 1 && delay <= 2147483647 ? Math.trunc(delay) : 1);
        hide(this, '_callback', callback);
        hide(this, '_args', args);
        hide(this, '_repeat', repeat);
        hide(this, '_ref', true);
        hide(this, '_at', -1);
        hide(this, '_due', 0);
        hide(this, '_order', 0);
        hide(this, '_id', 0);
        insert(this);
    }
    ref() {
        if (!this._ref && this._at >= 0)
            referenced++;
        native.timers();
        this._ref = true;
        return this;
    }
    unref() {
        if (this._ref && this._at >= 0)
            referenced--;
        this._ref = false;
        return this;
    }
    hasRef() {
        return this._ref;
    }
    refresh() {
        remove(this);
        insert(this);
        return this;
    }
    close() {
        exports.clearTimeout(this);
        return this;
    }
    [Symbol.toPrimitive]() {
        if (!this._id) {
            this._id = ++lastId;
            byId.set(this._id, this);
        }
        return this._id;
    }
    [Symbol.dispose ?? Symbol('dispose')]() {
        exports.clearTimeout(this);
    }
}

function hide(object, name, value) {
    Object.defineProperty(object, name, { value, writable: true, enumerable: false });
}

class Immediate {
    constructor(callback, args) {
        hide(this, '_callback', callback);
        hide(this, '_args', args);
    }
    ref() { return this; }
    unref() { return this; }
    hasRef() { return true; }
}

function check(callback) {
    if (typeof callback !== 'function') {
        const error = new TypeError('The "callback" argument must be of type function. Received ' +
            (callback === null || callback === undefined ? String(callback) : 'type ' + typeof callback));
        error.code = 'ERR_INVALID_ARG_TYPE';
        throw error;
    }
}

exports.setTimeout = function setTimeout(callback, delay, ...args) {
    check(callback);
    return new Timeout(callback, delay, args, false);
};
exports.setInterval = function setInterval(callback, delay, ...args) {
    check(callback);
    return new Timeout(callback, delay, args, true);
};
exports.setImmediate = function setImmediate(callback, ...args) {
    check(callback);
    const immediate = new Immediate(callback, args);
    nextImmediates.push(immediate);
    native.timers();
    return immediate;
};
exports.clearTimeout = function clearTimeout(timer) {
    if (typeof timer === 'number' || typeof timer === 'string')
        timer = byId.get(+timer);
    if (timer instanceof Timeout) {
        remove(timer);
        timer._callback = null;
        byId.delete(timer._id);
    }
};
exports.clearInterval = function clearInterval(timer) {
    exports.clearTimeout(timer);
};
exports.clearImmediate = function clearImmediate(immediate) {
    if (immediate instanceof Immediate)
        immediate._callback = null;
};

function call(object, callback) {
    try {
        apply(callback, object, object._args);
    } catch (error) {
        if (!internal('run').uncaught(error))
            throw error;
    }
}

// Runs one callback that is due. Gives the ms to the next one: 0 at once, -1 there is none.
exports.run = function () {
    while (immediates.length) {
        const immediate = immediates.shift();
        if (immediate._callback) {
            call(immediate, immediate._callback);
            return 0;
        }
    }
    const first = heap[0];
    if (first && first._due <= now()) {
        const callback = first._callback;
        remove(first);
        if (first._repeat)
            insert(first);
        call(first, callback);
        if (first._repeat && first._callback === null)
            remove(first);
        return 0;
    }
    if (nextImmediates.length) {
        immediates = nextImmediates;
        nextImmediates = [];
        return 0;
    }
    if (!referenced)
        return -1;
    return heap.length ? Math.max(heap[0]._due - now(), 0.001) : -1;
};

// An execution that has failed leaves nothing that would run in the next one.
exports.clear = function () {
    while (heap.length)
        exports.clearTimeout(heap[heap.length - 1]);
    immediates = [];
    nextImmediates = [];
    return true;
};

Object.defineProperty(exports, 'promises', { get: () => internal('timers_promises'), enumerable: true });
