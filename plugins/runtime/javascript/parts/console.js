// console.js - the console. What it prints is in the form of Node: log, info and debug on the
// standard output, error, warn, trace and failed assertions on the standard error output.

const { inspect } = internal('inspect');
const { format } = internal('format');
const { width } = internal('text');
const { stackOf } = internal('stacks');
const { wrongType } = internal('errors');
const { output, now } = native;

let indent = '';
const counts = new Map();
const timers = new Map();

function write(stream, text) {
    if (indent !== '')
        text = indent + (text.includes('\n') ? text.replaceAll('\n', `\n${indent}`) : text);
    output(stream, `${text}\n`);
}
function print(stream, list) {
    if (list.length === 1 && typeof list[0] === 'string') write(stream, list[0]);
    else write(stream, format(...list));
}
const warning = (text) => output(2, `Warning: ${text}\n`);

// A length of time, in the unit that fits.
function duration(ms) {
    const seconds = ms / 1000;
    if (seconds < 1) return `${Number(ms.toFixed(3))}ms`;
    if (seconds < 60) return `${seconds.toFixed(3)}s`;
    const hours = Math.floor(seconds / 3600),
        minutes = Math.floor(seconds / 60) % 60;
    const rest = (seconds % 60).toFixed(hours > 0 ? 0 : 3).padStart(hours > 0 ? 2 : 6, '0');
    return hours > 0
        ? `${hours}:${String(minutes).padStart(2, '0')}:${rest} (h:mm:ss)`
        : `${minutes}:${rest} (m:ss.mmm)`;
}
function logTime(label, method, list) {
    label = `${label}`;
    const start = timers.get(label);
    if (start === undefined) {
        warning(`No such label '${label}' for console.${method}()`);
        return false;
    }
    const text = `${label}: ${duration(now() - start)}`;
    print(1, list.length > 0 ? ['%s', text, ...list] : [text]);
    return true;
}

// Tables: columns of cells, each as wide as its widest cell.
function drawTable(heads, table) {
    const rows = table.reduce((most, column) => Math.max(most, column.length), 0);
    const widths = heads.map(
        (head, i) =>
            table[i].reduce((most, cell) => Math.max(most, width(cell, true)), width(head, true)) +
            2
    );
    const line = (left, middle, right) =>
        left + widths.map((size) => '─'.repeat(size)).join(middle) + right;
    const row = (cells) =>
        `│${cells.map((cell, i) => ` ${cell}${' '.repeat(widths[i] - width(cell, true) - 1)}`).join('│')}│`;
    const lines = [line('┌', '┬', '┐'), row(heads), line('├', '┼', '┤')];
    for (let i = 0; i < rows; i++) lines.push(row(table.map((column) => column[i] ?? '')));
    lines.push(line('└', '┴', '┘'));
    return lines.join('\n');
}
const isObject = (value) =>
    value !== null && (typeof value === 'object' || typeof value === 'function');
function cellText(value) {
    const many =
        value !== null &&
        typeof value === 'object' &&
        !Array.isArray(value) &&
        Object.keys(value).length > 2;
    return inspect(value, { depth: many ? -1 : 0, maxArrayLength: 3, breakLength: Infinity });
}
// Values of an iterable, numbered.
function iterated(data) {
    const numbers = Array.from(data, (item, i) => `${i}`);
    if (data instanceof Map)
        return drawTable(
            ['(iteration index)', 'Key', 'Values'],
            [numbers, Array.from(data.keys(), cellText), Array.from(data.values(), cellText)]
        );
    return drawTable(['(iteration index)', 'Values'], [numbers, Array.from(data, cellText)]);
}
function tableText(data, wanted) {
    if (data instanceof Map || data instanceof Set) return iterated(data);
    const index = Object.keys(data);
    const columns = new Map((wanted ?? []).map((key) => [key, []]));
    const values = [];
    index.forEach((name, i) => {
        const item = data[name];
        const flat = !isObject(item);
        if (flat && wanted === undefined) values[i] = cellText(item);
        for (const key of wanted ?? (flat ? [] : Object.keys(item))) {
            if (!columns.has(key)) columns.set(key, []);
            columns.get(key)[i] = !flat && Object.hasOwn(item, key) ? cellText(item[key]) : '';
        }
    });
    const heads = ['(index)', ...columns.keys()];
    const table = [index, ...columns.values()].map((column) =>
        Array.from(column, (cell) => cell ?? '')
    );
    if (values.length > 0) {
        heads.push('Values');
        table.push(Array.from(values, (cell) => cell ?? ''));
    }
    return drawTable(heads, table);
}

const methods = {
    log(...list) {
        print(1, list);
    },
    warn(...list) {
        print(2, list);
    },
    dir(value, options) {
        write(1, inspect(value, { customInspect: false, ...options }));
    },
    time(label = 'default') {
        label = `${label}`;
        if (timers.has(label)) warning(`Label '${label}' already exists for console.time()`);
        else timers.set(label, now());
    },
    timeEnd(label = 'default') {
        if (logTime(label, 'timeEnd', [])) timers.delete(`${label}`);
    },
    timeLog(label = 'default', ...list) {
        logTime(label, 'timeLog', list);
    },
    trace: function trace(...list) {
        const error = { name: 'Trace', message: format(...list) };
        Error.captureStackTrace(error, trace);
        write(2, stackOf(error));
    },
    assert(holds, ...list) {
        if (holds) return;
        list[0] = `Assertion failed${list.length === 0 ? '' : `: ${list[0]}`}`;
        print(2, list);
    },
    debug(...list) {
        print(1, list);
    },
    info(...list) {
        print(1, list);
    },
    dirxml(...list) {
        print(1, list);
    },
    error(...list) {
        print(2, list);
    },
    clear() {},
    count(label = 'default') {
        label = `${label}`;
        const count = (counts.get(label) ?? 0) + 1;
        counts.set(label, count);
        print(1, [`${label}: ${count}`]);
    },
    countReset(label = 'default') {
        if (!counts.delete(`${label}`)) warning(`Count for '${label}' does not exist`);
    },
    group(...list) {
        if (list.length > 0) print(1, list);
        indent += '  ';
    },
    groupCollapsed(...list) {
        methods.group(...list);
    },
    groupEnd() {
        indent = indent.slice(2);
    },
    table(data, wanted) {
        if (data === null || typeof data !== 'object') return methods.log(data);
        if (wanted !== undefined && !Array.isArray(wanted)) {
            throw wrongType('properties', 'an instance of Array', wanted);
        }
        write(1, tableText(data, wanted));
    },
};
const { log, warn, dir, time, timeEnd, timeLog, trace, assert, clear, count, countReset } = methods;
const { group, groupEnd, table, debug, info, dirxml, error, groupCollapsed } = methods;
const console = {
    log,
    warn,
    dir,
    time,
    timeEnd,
    timeLog,
    trace,
    assert,
    clear,
    count,
    countReset,
    group,
    groupEnd,
    table,
    debug,
    info,
    dirxml,
    error,
    groupCollapsed,
    timeStamp() {},
    profile() {},
    profileEnd() {},
};
Object.defineProperty(console, Symbol.toStringTag, { value: 'console', configurable: true });

exports.console = console;
