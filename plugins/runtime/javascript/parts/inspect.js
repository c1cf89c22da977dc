// inspect.js - values as text, in the form of Node's util.inspect.
// Values are of untrusted code: nothing that they throw ends it, and no trap of a proxy is run where
// native.proxyTarget exists. The option `budget` bounds the text of values that have no bounds of
// their own (objects with a million keys): what is shown ends there.
const {
    getOwnPropertyDescriptor: own,
    getOwnPropertyNames,
    getOwnPropertySymbols,
    getPrototypeOf,
    keys: enumerableNames,
} = Object;
const { apply } = Reflect;
const { isArray } = Array;
const { min, max, sqrt, round, floor } = Math;
const { hasOwnProperty, propertyIsEnumerable } = Object.prototype;
const functionSource = Function.prototype.toString;
const {
    colors,
    styles,
    plainStyle,
    colorStyle,
    withoutCodes,
    width,
    isUnsafe,
    escape,
    quoted,
    plural,
    number,
    symbolText,
    readable,
    prefix,
} = internal('text');
const {
    getter,
    read,
    typedName,
    typedPrototype,
    mapSize,
    setSize,
    getTime,
    branded,
    prototypeOf,
    isInstance,
    languageTag,
    behind,
} = internal('brands');
const { errorText } = internal('stacks');
const custom = Symbol.for('nodejs.util.inspect.custom');
const tagSymbol = Symbol.toStringTag;

const defaults = {
    showHidden: false,
    depth: 2,
    colors: false,
    customInspect: true,
    showProxy: false,
    maxArrayLength: 100,
    maxStringLength: 10000,
    breakLength: 80,
    compact: 3,
    sorted: false,
    getters: false,
    numericSeparator: false,
};

function printString(ctx, text) {
    let rest = '';
    if (text.length > ctx.maxStringLength) {
        rest = `... ${plural(text.length - ctx.maxStringLength, 'more character')}`;
        text = text.slice(0, ctx.maxStringLength);
    }
    ctx.left -= text.length;
    if (
        ctx.compact !== true &&
        text.length > 16 &&
        text.length > ctx.breakLength - ctx.indent - 4 &&
        text.includes('\n')
    ) {
        const lines = text.match(/[^\n]*\n|[^\n]+$/g);
        return (
            lines
                .map((line) => ctx.stylize(quoted(line), 'string'))
                .join(` +\n${' '.repeat(ctx.indent + 2)}`) + rest
        );
    }
    return ctx.stylize(quoted(text), 'string') + rest;
}

function printPrimitive(ctx, value) {
    switch (typeof value) {
        case 'string':
            return printString(ctx, value);
        case 'number':
            return ctx.stylize(number(value), 'number');
        case 'bigint':
            return ctx.stylize(`${value}n`, 'bigint');
        case 'boolean':
            return ctx.stylize(`${value}`, 'boolean');
        case 'symbol':
            return ctx.stylize(symbolText(value), 'symbol');
        default:
            return ctx.stylize('undefined', 'undefined');
    }
}

// The name of the nearest class; null when there is no prototype.
function className(ctx, value, level, found) {
    let object = value,
        first;
    for (let steps = 0; object !== null && steps < 1000; steps++) {
        let made;
        try {
            made = own(object, 'constructor');
        } catch {}
        if (made !== undefined && typeof made.value === 'function') {
            const name = read(made.value, 'name');
            if (typeof name === 'string' && name !== '' && isInstance(value, made.value))
                return name;
        }
        object = prototypeOf(object);
        if (first === undefined) first = object;
    }
    if (first === null) return null;
    const base =
        found?.name ??
        (typeof value === 'function' ? 'Function' : isArray(value) ? 'Array' : 'Object');
    if (ctx.depth !== null && level > ctx.depth) return `${base} <Complex prototype>`;
    const above = className(ctx, first, level + 1, undefined);
    if (above !== null) return `${base} <${above}>`;
    const inner = context({ ...ctx.shared, customInspect: false, depth: -1 });
    return `${base} <${print(inner, first, 0)}>`;
}

// Own keys that are shown; of lists those that are no positions.
const hiddenOfErrors = { __proto__: null, line: 1, column: 1, sourceURL: 1 };
function shownKeys(ctx, value, list) {
    let names;
    if (list && value.length > 1e5) return [];
    if (ctx.showHidden) names = getOwnPropertyNames(value);
    else names = enumerableNames(value);
    if (list) {
        let first = 0;
        while (first < names.length && isPosition(names[first])) first++;
        names = names.slice(first);
    }
    const symbols = getOwnPropertySymbols(value);
    for (const symbol of symbols)
        if (ctx.showHidden || apply(propertyIsEnumerable, value, [symbol]))
            names[names.length] = symbol;
    return names;
}
function isPosition(key) {
    const position = key >>> 0;
    return position !== 4294967295 && `${position}` === key;
}

// Each kind of object fills a form: what stands before the brace, the braces, which entries and
// keys there are. A string is the whole text.
const none = () => [];
const kinds = {
    __proto__: null,
    array(ctx, form, value) {
        const before =
            form.name !== 'Array' || form.tag !== ''
                ? prefix(form.name, form.tag, 'Array', `(${value.length})`)
                : '';
        form.keys = shownKeys(ctx, value, true);
        form.open = `${before}[`;
        form.close = ']';
        form.list = true;
        form.entries = arrayEntries;
        return value.length === 0 && form.keys.length === 0 ? `${form.open}]` : undefined;
    },
    set(ctx, form, value) {
        const size = apply(setSize, value, []);
        const before = prefix(form.name, form.tag, 'Set', `(${size})`);
        form.keys = shownKeys(ctx, value);
        form.open = `${before}{`;
        form.entries = setEntries;
        return size === 0 && form.keys.length === 0 ? `${before}{}` : undefined;
    },
    map(ctx, form, value) {
        const size = apply(mapSize, value, []);
        const before = prefix(form.name, form.tag, 'Map', `(${size})`);
        form.keys = shownKeys(ctx, value);
        form.open = `${before}{`;
        form.entries = mapEntries;
        return size === 0 && form.keys.length === 0 ? `${before}{}` : undefined;
    },
    typed(ctx, form, value) {
        const length = typedLength(value);
        form.keys = shownKeys(ctx, value, true);
        form.open = `${prefix(form.name, form.tag, apply(typedName, value, []), `(${length})`)}[`;
        form.close = ']';
        form.list = true;
        form.entries = typedEntries;
        return length === 0 && form.keys.length === 0 && !ctx.showHidden
            ? `${form.open}]`
            : undefined;
    },
    function(ctx, form, value) {
        form.base = functionText(value, form.name, form.tag);
        ctx.left -= form.base.length;
        form.keys = shownKeys(ctx, value);
        if (form.keys.length === 0) return ctx.stylize(form.base, 'special');
        return undefined;
    },
    regexp(ctx, form, value, level) {
        const before = prefix(form.name, form.tag, 'RegExp');
        const text = regexpText(form.name === null ? new Expression(value) : value);
        return based(
            ctx,
            form,
            value,
            before === 'RegExp ' ? text : before + text,
            'regexp',
            level
        );
    },
    date(ctx, form, value, level) {
        const before = prefix(form.name, form.tag, 'Date');
        const text = Number.isNaN(apply(getTime, value, []))
            ? 'Invalid Date'
            : apply(dateText, value, []);
        return based(ctx, form, value, before === 'Date ' ? text : before + text, 'date', level);
    },
    error(ctx, form, value) {
        form.keys = shownKeys(ctx, value);
        if (ctx.showHidden) form.keys = form.keys.filter((key) => !(key in hiddenOfErrors));
        form.base = errorText(ctx, form, value);
        ctx.left -= form.base.length;
        return form.keys.length === 0 ? form.base : undefined;
    },
    buffer(ctx, form, value, level, found, inTyped) {
        const before = prefix(form.name, form.tag, found.name);
        form.keys = shownKeys(ctx, value);
        if (inTyped && form.keys.length === 0)
            return `${before}{ byteLength: ${ctx.stylize(number(value.byteLength), 'number')} }`;
        form.open = `${before}{`;
        form.keys.unshift('byteLength');
        if (!inTyped) form.entries = bufferEntries;
        return undefined;
    },
    view(ctx, form, value) {
        form.open = `${prefix(form.name, form.tag, 'DataView')}{`;
        form.keys = ['byteLength', 'byteOffset', 'buffer', ...shownKeys(ctx, value)];
        return undefined;
    },
    promise(ctx, form, value) {
        form.open = `${prefix(form.name, form.tag, 'Promise')}{`;
        form.keys = shownKeys(ctx, value);
        return form.keys.length === 0 ? `${form.open}}` : undefined;
    },
    weak(ctx, form, value, level, found) {
        form.open = `${prefix(form.name, form.tag, found.name)}{`;
        form.keys = shownKeys(ctx, value);
        form.entries = () => [ctx.stylize('<items unknown>', 'special')];
        return undefined;
    },
    boxed(ctx, form, value, level, found) {
        const inner = apply(found.probe, value, []);
        form.keys = shownKeys(ctx, value);
        if (typeof inner === 'string') form.keys = form.keys.slice(inner.length);
        let text = `[${found.name}`;
        if (form.name !== found.name)
            text += form.name === null ? ' (null prototype)' : ` (${form.name})`;
        text += `: ${printPrimitive({ ...ctx, stylize: plainStyle }, inner)}]`;
        if (form.tag !== '' && form.tag !== form.name) text += ` [${form.tag}]`;
        form.base = text;
        return form.keys.length === 0 ? ctx.stylize(text, typeof inner) : undefined;
    },
    plain(ctx, form, value) {
        form.keys = shownKeys(ctx, value);
        let before = '';
        if (form.arguments) before = '[Arguments] ';
        else if (form.name === null && form.tag === 'Module') before = '[Module: null prototype] ';
        else if (form.name !== 'Object' || form.tag !== '')
            before = prefix(form.name, form.tag, 'Object');
        form.open = `${before}{`;
        return form.keys.length === 0 ? `${before}{}` : undefined;
    },
};
const dateText = Date.prototype.toISOString;
const Expression = RegExp;
const regexpString = RegExp.prototype.toString;
function regexpText(value) {
    try {
        return apply(regexpString, value, []);
    } catch {
        return apply(regexpString, new Expression(value), []);
    }
}
const typedLengthGetter = getter(typedPrototype, 'length');
const typedLength = (value) => apply(typedLengthGetter, value, []);

// Regular expressions and dates have a text of their own, and braces only for more keys.
function based(ctx, form, value, text, style, level) {
    form.keys = shownKeys(ctx, value);
    form.base = ctx.stylize(text, style);
    return form.keys.length === 0 || (ctx.depth !== null && level > ctx.depth)
        ? form.base
        : undefined;
}

function functionText(value, name, tag) {
    let source;
    try {
        source = apply(functionSource, value, []);
    } catch {
        source = 'function';
    }
    if (/^class\b/.test(source)) return classText(value, name, tag);
    const head = /^(async\b)?\s*(?:function\b)?\s*(\*)?/.exec(source);
    let kind = 'Function';
    if (head[2] || /^(?:async\s*)?\*/.test(source)) kind = 'GeneratorFunction';
    if (head[1] && !/^async\s*(?:\(\s*\)\s*\{|\([^)]*\)\s*\{)/.test(source)) kind = `Async${kind}`;
    const title = read(value, 'name');
    let text = `[${kind}`;
    if (name === null) text += ' (null prototype)';
    text +=
        title === '' || title === undefined
            ? ' (anonymous)'
            : `: ${typeof title === 'string' ? title : readable(title)}`;
    text += ']';
    if (name !== kind && name !== null) text += ` ${name}`;
    if (tag !== '' && name !== tag) text += ` [${tag}]`;
    return text;
}
function classText(value, name, tag) {
    const title = own(value, 'name')?.value;
    let text = `[class ${typeof title === 'string' && title !== '' ? title : '(anonymous)'}`;
    if (name !== 'Function' && name !== null) text += ` [${name}]`;
    if (tag !== '' && name !== tag) text += ` [${tag}]`;
    if (name === null) text += ' extends [null prototype]';
    else {
        const above = read(prototypeOf(value), 'name');
        if (above) text += ` extends ${readable(above)}`;
    }
    return `${text}]`;
}

// Entries of lists.
function more(output, count) {
    if (count > 0) output[output.length] = `... ${plural(count, 'more item')}`;
    return output;
}
function arrayEntries(ctx, value, level) {
    const output = [];
    const { length } = value;
    const shown = min(max(0, ctx.maxArrayLength), length);
    let i = 0,
        present;
    while (i < length && output.length < shown && ctx.left >= 0) {
        if (apply(hasOwnProperty, value, [i])) {
            output[output.length] = printProperty(ctx, value, level, i, 1);
            i++;
            continue;
        }
        // The next position that is there, from the list of them.
        present ??= { keys: enumerableNames(value), next: 0 };
        while (
            present.next < present.keys.length &&
            isPosition(present.keys[present.next]) &&
            +present.keys[present.next] < i
        )
            present.next++;
        const key = present.keys[present.next];
        const end = key !== undefined && isPosition(key) ? +key : length;
        output[output.length] = ctx.stylize(`<${plural(end - i, 'empty item')}>`, 'undefined');
        i = end;
    }
    return more(output, length - i);
}
const setValues = Set.prototype.values;
const setNext = getPrototypeOf(new Set().values()).next;
const mapItems = Map.prototype.entries;
const mapNext = getPrototypeOf(new Map().entries()).next;
function setEntries(ctx, value, level) {
    const output = [];
    const shown = min(max(0, ctx.maxArrayLength), apply(setSize, value, []));
    const items = apply(setValues, value, []);
    ctx.indent += 2;
    while (output.length < shown && ctx.left >= 0)
        output[output.length] = print(ctx, apply(setNext, items, []).value, level);
    ctx.indent -= 2;
    return more(output, apply(setSize, value, []) - output.length);
}
function mapEntries(ctx, value, level) {
    const output = [];
    const shown = min(max(0, ctx.maxArrayLength), apply(mapSize, value, []));
    const items = apply(mapItems, value, []);
    ctx.indent += 2;
    while (output.length < shown && ctx.left >= 0) {
        const [key, item] = apply(mapNext, items, []).value;
        output[output.length] = `${print(ctx, key, level)} => ${print(ctx, item, level)}`;
    }
    ctx.indent -= 2;
    return more(output, apply(mapSize, value, []) - output.length);
}
function typedEntries(ctx, value, level) {
    const output = [];
    const length = typedLength(value);
    const shown = min(max(0, ctx.maxArrayLength), length);
    for (let i = 0; i < shown; i++) output[i] = printPrimitive(ctx, value[i]);
    more(output, length - shown);
    if (ctx.showHidden) {
        ctx.indent += 2;
        for (const key of ['BYTES_PER_ELEMENT', 'length', 'byteLength', 'byteOffset', 'buffer'])
            output[output.length] = `[${key}]: ${print(ctx, value[key], level, true)}`;
        ctx.indent -= 2;
    }
    return output;
}
function hex(bytes, shown) {
    let text = '';
    for (let i = 0; i < shown; i++)
        text += (i > 0 ? ' ' : '') + (bytes[i] < 16 ? '0' : '') + bytes[i].toString(16);
    return text;
}
function bufferEntries(ctx, value) {
    let bytes;
    try {
        bytes = new Uint8Array(value);
    } catch {
        return [ctx.stylize('(detached)', 'special')];
    }
    const shown = min(max(0, ctx.maxArrayLength), bytes.length);
    const rest = bytes.length - shown;
    const text = hex(bytes, shown) + (rest > 0 ? ` ... ${plural(rest, 'more byte')}` : '');
    return [`${ctx.stylize('[Uint8Contents]', 'special')}: <${text}>`];
}
// The text of one property; `kind` is 0 in objects, 1 for an element of a list, 2 for another
// property of a list.
function printProperty(ctx, value, level, key, kind) {
    let property,
        text,
        space = ' ';
    try {
        property = own(value, key) ?? { value: value[key], enumerable: true };
    } catch {
        property = { value: undefined, enumerable: true };
    }
    if (property.get !== undefined && internal.loaded('modules')?.isNamespace(value))
        return printExport(ctx, value, level, key);
    if (property.value !== undefined || apply(hasOwnProperty, property, ['value'])) {
        const step = ctx.compact !== true || kind !== 0 ? 2 : 3;
        ctx.indent += step;
        text = print(ctx, property.value, level);
        if (step === 3 && ctx.breakLength < width(text, ctx.colors))
            space = `\n${' '.repeat(ctx.indent)}`;
        ctx.indent -= step;
    } else if (property.get !== undefined) text = printGetter(ctx, value, level, property);
    else
        text = ctx.stylize(
            property.set !== undefined ? '[Setter]' : 'undefined',
            property.set !== undefined ? 'special' : 'undefined'
        );
    if (kind === 1) return text;
    const name = keyText(ctx, key, property);
    ctx.left -= name.length + 4;
    return `${name}:${space}${text}`;
}
// Of a module's namespace, whose properties are getters of its variables.
function printExport(ctx, value, level, key) {
    let text;
    ctx.indent += 2;
    try {
        text = print(ctx, value[key], level);
    } catch {
        text = ctx.stylize('<uninitialized>', 'special');
    }
    ctx.indent -= 2;
    return `${keyText(ctx, key, {})}: ${text}`;
}
function keyText(ctx, key, property) {
    if (typeof key === 'symbol') {
        const text = symbolText(key);
        return `[${ctx.stylize(isUnsafe(text) ? escape(text, '"') : text, 'symbol')}]`;
    }
    if (key === '__proto__') return "['__proto__']";
    if (property.enumerable === false) return `[${isUnsafe(key) ? escape(key, '"') : key}]`;
    return /^[a-zA-Z_][a-zA-Z_0-9]*$/.test(key)
        ? ctx.stylize(key, 'name')
        : ctx.stylize(quoted(key), 'string');
}
function printGetter(ctx, value, level, { get, set }) {
    const label = set !== undefined ? 'Getter/Setter' : 'Getter';
    if (
        !ctx.getters ||
        (ctx.getters === 'get' && set !== undefined) ||
        (ctx.getters === 'set' && set === undefined)
    )
        return ctx.stylize(`[${label}]`, 'special');
    let result;
    try {
        result = apply(get, value, []);
    } catch (error) {
        const message = `<Inspection threw (${readable(read(error, 'message'))})>`;
        return `${ctx.stylize(`[${label}:`, 'special')} ${message}${ctx.stylize(']', 'special')}`;
    }
    ctx.indent += 2;
    const text = print(ctx, result, level);
    ctx.indent -= 2;
    if (result !== null && typeof result === 'object')
        return `${ctx.stylize(`[${label}]`, 'special')} ${text}`;
    return `${ctx.stylize(`[${label}:`, 'special')} ${text}${ctx.stylize(']', 'special')}`;
}

function print(ctx, value, level, inTyped) {
    if (value === null) return ctx.stylize('null', 'null');
    if (typeof value !== 'object' && typeof value !== 'function') {
        ctx.left -= 4;
        return printPrimitive(ctx, value);
    }
    const shown = value;
    for (let target; (target = behind(value)) !== undefined;) {
        if (target === null) return ctx.stylize('<Revoked Proxy>', 'special');
        if (ctx.showProxy) return `Proxy [ ${print(ctx, target, level + 1)} ]`;
        value = target;
    }
    ctx.left -= 2;
    if (ctx.customInspect) {
        const text = printCustom(ctx, value, shown, level);
        if (text !== undefined) return text;
    }
    if (ctx.seen.includes(value)) {
        ctx.circular ??= new Map();
        let index = ctx.circular.get(value);
        if (index === undefined) ctx.circular.set(value, (index = ctx.circular.size + 1));
        return ctx.stylize(`[Circular *${index}]`, 'special');
    }
    return printObject(ctx, value, level, inTyped);
}

// What the object's own function for this says; undefined if it has none.
function printCustom(ctx, value, shown, level) {
    const own = read(value, custom);
    if (typeof own !== 'function' || own === inspect) return undefined;
    const type = read(value, 'constructor');
    if (type !== undefined && type !== null && read(type, 'prototype') === value) return undefined;
    const depth = ctx.depth === null ? null : ctx.depth - level;
    let result;
    try {
        result = apply(own, shown, [depth, userOptions(ctx), inspect]);
    } catch (error) {
        if (ctx.budget === undefined) throw error;
        return undefined;
    }
    if (result === shown) return undefined;
    if (typeof result !== 'string') return print(ctx, result, level);
    ctx.left -= result.length;
    return result.replaceAll('\n', `\n${' '.repeat(ctx.indent)}`);
}
function userOptions(ctx) {
    const options = {};
    for (const key of enumerableNames(defaults)) options[key] = ctx[key];
    return { ...options, ...ctx.others, stylize: ctx.stylize };
}

function printObject(ctx, value, level, inTyped) {
    let tag = read(value, tagSymbol);
    if (
        typeof tag !== 'string' ||
        (tag !== '' &&
            apply(ctx.showHidden ? hasOwnProperty : propertyIsEnumerable, value, [tagSymbol]))
    )
        tag = '';
    const form = {
        name: '',
        tag,
        keys: none,
        base: '',
        open: '{',
        close: '}',
        list: false,
        entries: none,
        arguments: false,
    };
    let kind = 'plain',
        found;
    if (typeof value === 'function') kind = 'function';
    else if (isArray(value)) kind = 'array';
    else if (prototypeOf(value) === Object.prototype)
        form.arguments = tag === '' && languageTag(value) === '[object Arguments]';
    else if ((found = branded(value)) !== undefined) kind = found.kind;
    form.name = className(ctx, value, level, found);
    const whole = kinds[kind](ctx, form, value, level, found, inTyped);
    if (whole !== undefined) return whole;
    if (ctx.depth !== null && level > ctx.depth) {
        const name = prefix(form.name, tag, isArray(value) ? 'Array' : 'Object').slice(0, -1);
        return ctx.stylize(form.name === null ? name : `[${name}]`, 'special');
    }
    return printParts(ctx, form, value, level + 1);
}
function printParts(ctx, form, value, level) {
    ctx.seen[ctx.seen.length] = value;
    ctx.level = level;
    const indent = ctx.indent;
    const depth = ctx.seen.length;
    let output;
    try {
        output = form.entries(ctx, value, level);
        for (let i = 0; i < form.keys.length && ctx.left >= 0; i++)
            output[output.length] = printProperty(
                ctx,
                value,
                level,
                form.keys[i],
                form.list ? 2 : 0
            );
    } catch (error) {
        if (!(error instanceof RangeError) || !error.message.startsWith('Maximum call stack'))
            throw error;
        ctx.seen.length = depth - 1;
        ctx.indent = indent;
        const name = prefix(form.name, form.tag, 'Object').slice(0, -1);
        return ctx.stylize(
            `[${name}: Inspection interrupted prematurely. Maximum call stack size exceeded.]`,
            'special'
        );
    }
    const index = ctx.circular?.get(value);
    if (index !== undefined) {
        const mark = ctx.stylize(`<ref *${index}>`, 'special');
        if (ctx.compact !== true) form.base = form.base === '' ? mark : `${mark} ${form.base}`;
        else form.open = `${mark} ${form.open}`;
    }
    ctx.seen.length--;
    if (ctx.sorted) {
        const order = ctx.sorted === true ? undefined : ctx.sorted;
        const first = form.list ? output.length - form.keys.length : 0;
        output = [...output.slice(0, first), ...output.slice(first).sort(order)];
    }
    return joined(ctx, form, output, level, value);
}

// Several entries in one line where that is short and they are flat, else one a line.
function joined(ctx, form, output, level, value) {
    const { base, open, close } = form;
    if (ctx.compact === true) {
        if (fits(ctx, output, 0, base))
            return `${open}${base ? ` ${base}` : ''} ${output.join(', ')} ${close}`;
        const line = `\n${' '.repeat(ctx.indent)}`;
        const start = base === '' && open.length === 1 ? ' ' : `${base ? ` ${base}` : ''}${line}  `;
        return `${open}${start}${output.join(`,${line}  `)} ${close}`;
    }
    const before = base ? `${base} ` : '';
    if (typeof ctx.compact === 'number' && ctx.compact >= 1) {
        const count = output.length;
        if (form.list && count > 6) output = columns(ctx, output, value);
        if (
            ctx.level - level < ctx.compact &&
            count === output.length &&
            fits(ctx, output, output.length + ctx.indent + open.length + base.length + 10, base)
        ) {
            const line = output.join(', ');
            if (!line.includes('\n')) return `${before}${open} ${line} ${close}`;
        }
    }
    const line = `\n${' '.repeat(ctx.indent)}`;
    return `${before}${open}${line}  ${output.join(`,${line}  `)}${line}${close}`;
}
function fits(ctx, output, start, base) {
    let total = output.length + start;
    if (total + output.length > ctx.breakLength) return false;
    for (let i = 0; i < output.length; i++) {
        total += ctx.colors ? withoutCodes(output[i]).length : output[i].length;
        if (total > ctx.breakLength) return false;
    }
    return base === '' || !base.includes('\n');
}

// Entries of a long list in columns of equal width, numbers to the right.
function columns(ctx, output, value) {
    const count = ctx.maxArrayLength < output.length ? output.length - 1 : output.length;
    const gap = 2;
    const widths = [];
    let total = 0,
        widest = 0;
    for (let i = 0; i < count; i++) {
        widths[i] = width(output[i], ctx.colors);
        total += widths[i] + gap;
        widest = max(widest, widths[i]);
    }
    const cell = widest + gap;
    if (cell * 3 + ctx.indent >= ctx.breakLength || (total / cell <= 5 && widest > 6))
        return output;
    const usual = max(cell - 3 - sqrt(cell - total / output.length), 1);
    const across = min(
        round(sqrt(2.5 * usual * count) / usual),
        floor((ctx.breakLength - ctx.indent) / cell),
        ctx.compact * 4,
        15
    );
    if (across <= 1) return output;
    const sizes = [];
    for (let column = 0; column < across; column++) {
        let size = 0;
        for (let i = column; i < count; i += across) size = max(size, widths[i]);
        sizes[column] = size + gap;
    }
    let right = true;
    for (let i = 0; i < output.length && right; i++)
        right = typeof value[i] === 'number' || typeof value[i] === 'bigint';
    const rows = [];
    for (let i = 0; i < count; i += across) {
        const last = min(i + across, count) - 1;
        let row = '';
        for (let j = i; j < last; j++) {
            const fill = ' '.repeat(sizes[j - i] - widths[j] - gap);
            row += right ? `${fill}${output[j]}, ` : `${output[j]}, ${fill}`;
        }
        rows[rows.length] =
            row + (right ? ' '.repeat(sizes[last - i] - widths[last] - gap) : '') + output[last];
    }
    if (count < output.length) rows[rows.length] = output[count];
    return rows;
}

function context(options) {
    const ctx = {
        __proto__: null,
        ...defaults,
        stylize: plainStyle,
        seen: [],
        circular: undefined,
        indent: 0,
        level: 0,
        left: 2 ** 27,
        budget: undefined,
        others: undefined,
        shared: options,
    };
    if (options !== undefined && options !== null) {
        for (const key of enumerableNames(options)) {
            if (apply(hasOwnProperty, defaults, [key]) || key === 'stylize' || key === 'budget')
                ctx[key] = options[key];
            else ctx.others = options;
        }
    }
    if (ctx.colors && ctx.stylize === plainStyle) ctx.stylize = colorStyle;
    ctx.maxArrayLength ??= Infinity;
    ctx.maxStringLength ??= Infinity;
    if (ctx.budget !== undefined) {
        ctx.left = ctx.budget;
        ctx.maxStringLength = min(ctx.maxStringLength, ctx.budget);
    }
    return ctx;
}

function inspect(value, options, depth, color) {
    if (typeof options === 'boolean' || depth !== undefined) {
        options = typeof options === 'object' ? { ...options } : { showHidden: options };
        if (depth !== undefined) options.depth = depth;
        if (color !== undefined) options.colors = color;
    }
    const ctx = context(options);
    const text = print(ctx, value, 0);
    return ctx.budget !== undefined && text.length > ctx.budget ? text.slice(0, ctx.budget) : text;
}
inspect.custom = custom;
inspect.colors = colors;
inspect.styles = styles;
inspect.defaultOptions = defaults;

exports.inspect = inspect;
