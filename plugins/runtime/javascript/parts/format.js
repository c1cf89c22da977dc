// format.js - util.format.
const { getOwnPropertyDescriptor: own } = Object;
const { hasOwnProperty } = Object.prototype;
const { apply } = Reflect;
const { inspect } = internal('inspect');
const { behind, prototypeOf, read } = internal('brands');
const { number } = internal('text');
const { wrongType } = internal('errors');
const functionSource = Function.prototype.toString;

// The signs of the first argument take the next ones, the others follow after a space.
function ownText(value) {
    let object = value;
    for (let target; (target = behind(object)) !== undefined;) {
        if (target === null) return false;
        object = target;
    }
    if (typeof read(object, 'toString') !== 'function') return false;
    for (let steps = 0; object !== null && steps < 1000; steps++) {
        if (apply(hasOwnProperty, object, ['toString'])) {
            const type = own(object, 'constructor')?.value;
            return !(typeof type === 'function' && builtIn(type));
        }
        object = prototypeOf(object);
    }
    return false;
}
function builtIn(type) {
    try {
        return (
            type === own(globalThis, type.name)?.value &&
            /\{\s*\[native code\]\s*\}$/.test(apply(functionSource, type, []))
        );
    } catch {
        return false;
    }
}
function textOf(options, value) {
    if (typeof value === 'number') return number(value);
    if (typeof value === 'bigint') return `${value}n`;
    if (value === null || typeof value !== 'object')
        return typeof value === 'function' && !ownText(value)
            ? functionSourceText(value)
            : String(value);
    return ownText(value)
        ? String(value)
        : inspect(value, { ...options, depth: 0, colors: false, compact: 3 });
}
const functionSourceText = (value) => apply(functionSource, value, []);
function json(value) {
    try {
        return JSON.stringify(value);
    } catch (error) {
        if (/cyclic|circular/i.test(error.message)) return '[Circular]';
        throw error;
    }
}
const signs = {
    __proto__: null,
    s: textOf,
    j: (options, value) => json(value),
    d: (options, value) =>
        typeof value === 'bigint'
            ? `${value}n`
            : typeof value === 'symbol'
              ? 'NaN'
              : number(Number(value)),
    i: (options, value) =>
        typeof value === 'bigint'
            ? `${value}n`
            : typeof value === 'symbol'
              ? 'NaN'
              : number(parseInt(value)),
    f: (options, value) => (typeof value === 'symbol' ? 'NaN' : number(parseFloat(value))),
    O: (options, value) => inspect(value, options),
    o: (options, value) =>
        inspect(value, { ...options, showHidden: true, showProxy: true, depth: 4 }),
    c: () => '',
};
function formatArguments(options, list) {
    const first = list[0];
    if (list.length === 1) return typeof first === 'string' ? first : inspect(first, options);
    let text = '',
        next = 0;
    if (typeof first === 'string') {
        let done = 0;
        next = 1;
        for (
            let at = first.indexOf('%');
            at >= 0 && at < first.length - 1;
            at = first.indexOf('%', at)
        ) {
            const sign = first[at + 1];
            if (sign === '%') {
                text += first.slice(done, at + 1);
                done = at + 2;
            } else if (next < list.length && sign in signs) {
                text += first.slice(done, at) + signs[sign](options, list[next++]);
                done = at + 2;
            } else {
                at++;
                continue;
            }
            at += 2;
        }
        text += first.slice(done);
    }
    for (let i = next; i < list.length; i++)
        text +=
            (i > 0 ? ' ' : '') +
            (typeof list[i] === 'string' ? list[i] : inspect(list[i], options));
    return text;
}
const format = (...list) => (list.length === 0 ? '' : formatArguments(undefined, list));
const formatWithOptions = (options, ...list) => {
    if (options === null || typeof options !== 'object') {
        throw wrongType('inspectOptions', 'of type object', options);
    }
    return list.length === 0 ? '' : formatArguments(options, list);
};

Object.assign(exports, { format, formatWithOptions });
