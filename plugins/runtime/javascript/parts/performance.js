// performance.js - the global performance, and the module perf_hooks in a small form.
const { coded, checkFunction } = internal('errors');
const start = native.now();
const origin = Date.now();
const now = () => native.now() - start;

class PerformanceEntry {
    constructor(name, entryType, startTime, duration, detail) {
        Object.assign(this, { name, entryType, startTime, duration, detail });
    }
    toJSON() { return { ...this }; }
}
class PerformanceMark extends PerformanceEntry {
    constructor(name, { startTime = now(), detail = null } = {}) {
        super(`${name}`, 'mark', startTime, 0, detail);
    }
}
class PerformanceMeasure extends PerformanceEntry {}
let entries = [];
const timeOf = mark => {
    if (typeof mark === 'number') return mark;
    const found = entries.findLast(entry => entry.entryType === 'mark' && entry.name === `${mark}`);
    if (found) return found.startTime;
    throw new (internal('exception').DOMException)(`The "${mark}" performance mark has not been set`, 'SyntaxError');
};
const add = entry => {
    entries.push(entry);
    return entry;
};
const clear = type => name => {
    entries = entries.filter(entry => entry.entryType !== type || (name !== undefined && entry.name !== `${name}`));
};
const sorted = list => list.sort((a, b) => a.startTime - b.startTime);
class Performance extends internal('events').EventTarget {
    get timeOrigin() { return origin; }
    now() { return now(); }
    mark(name, options) { return add(new PerformanceMark(name, options)); }
    measure(name, from, to) {
        const options = typeof from === 'object' && from !== null ? from : { start: from, end: to };
        const end = options.end !== undefined ? timeOf(options.end) : options.duration !== undefined && options.start !== undefined
            ? timeOf(options.start) + options.duration : now();
        const begin = options.start !== undefined ? timeOf(options.start) : options.duration !== undefined ? end - options.duration : 0;
        return add(new PerformanceMeasure(`${name}`, 'measure', begin, end - begin, options.detail ?? null));
    }
    getEntries() { return sorted([...entries]); }
    getEntriesByName(name, type) {
        return sorted(entries.filter(entry => entry.name === `${name}` && (type === undefined || entry.entryType === type)));
    }
    getEntriesByType(type) { return sorted(entries.filter(entry => entry.entryType === type)); }
    toJSON() { return { timeOrigin: origin }; }
    timerify(callback) {
        checkFunction(callback, 'fn');
        return callback;
    }
    eventLoopUtilization() { return { idle: 0, active: 0, utilization: 0 }; }
}
Object.assign(Performance.prototype, { clearMarks: clear('mark'), clearMeasures: clear('measure') });
internal('encoding').tag(Performance, 'Performance');
class PerformanceObserver {
    constructor(callback) { checkFunction(callback, 'callback'); }
    static get supportedEntryTypes() { return []; }
    observe() { throw coded(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', 'Nothing is observed in this runtime'); }
    disconnect() {}
}
const performance = new Performance();
const module = { performance, Performance, PerformanceEntry, PerformanceMark, PerformanceMeasure, PerformanceObserver, constants: {} };
Object.assign(exports, { performance, module });
