// stacks.js - errors and their stacks in Node's form.
const { isArray } = Array;
const { apply } = Reflect;
const { read, isError } = internal('brands');
const { readable, prefix } = internal('text');
const errorString = Error.prototype.toString;

// Stacks of the engine have lines `name@file:line:column` and no message. In Node's form each is
// `    at name (file:line:column)` below the message. Lines of parts are left out.
const engineLine = /^([^\n]*)@((?:[^@\n]*:\d+(?::\d+)?)|\[native code\]|)$/;
// The engine's text has more in its first line than the code: the column is that of the code.
const wholePlace = /^(.*):(\d+):(\d+)$/;
function given(place) {
    const found = wholePlace.exec(place);
    if (found === null) return place;
    const [, file, row, column] = found;
    return `${file}:${row}:${native.column(file, +row, +column)}`;
}
function frames(stack) {
    const lines = [];
    for (const line of stack.split('\n')) {
        const found = engineLine.exec(line);
        if (found === null) return undefined;
        const [, name, place] = found;
        if (place.startsWith('lazaret:')) {
            while (lines.length > 0 && lines[lines.length - 1].endsWith('(<anonymous>)'))
                lines.length--;
            continue;
        }
        const where = place === '' || place === '[native code]' ? '<anonymous>' : given(place);
        const whole =
            name === '' || name === 'global code' || name === 'module code' || name === 'eval code';
        lines[lines.length] = whole ? `    at ${where}` : `    at ${name} (${where})`;
    }
    return lines;
}
// Errors of the runtime whose code stands in the first line of the stack.
const coded = new WeakMap();
const { get: codeOf, set: setCode } = WeakMap.prototype;
function headline(error) {
    try {
        const code = apply(codeOf, coded, [error]);
        if (code === undefined) return apply(errorString, error, []);
        return `${error.name} [${code}]: ${error.message}`;
    } catch {
        return 'Error';
    }
}
// The stack of an error in Node's form.
function stackOf(error) {
    const stack = read(error, 'stack');
    if (typeof stack !== 'string' || stack === '') return headline(error);
    const lines = frames(stack);
    if (lines === undefined) return stack;
    return [headline(error), ...lines].join('\n');
}

function errorText(ctx, form, error) {
    const name = readable(read(error, 'name') ?? 'Error');
    let stack = stackOf(error);
    if (!ctx.showHidden)
        form.keys = form.keys.filter((key) => {
            if (key !== 'name' && key !== 'message' && key !== 'stack') return true;
            const value = read(error, key);
            return !(typeof value === 'string' && stack.includes(value));
        });
    try {
        if ('cause' in error && !form.keys.includes('cause')) form.keys.push('cause');
        if (isArray(error.errors) && !form.keys.includes('errors')) form.keys.push('errors');
    } catch {}
    stack = nameInStack(stack, name, form);
    const message = read(error, 'message');
    let from = typeof message === 'string' && message !== '' ? stack.indexOf(message) : -1;
    from = from < 0 ? 0 : from + message.length;
    const start = stack.indexOf('\n    at', from);
    if (start === -1) stack = `[${stack}]`;
    else {
        const lines = stack.slice(start + 1).split('\n');
        stack = `${stack.slice(0, start)}\n${withoutCauseLines(ctx, error, lines).join('\n')}`;
    }
    return ctx.indent === 0 ? stack : stack.replaceAll('\n', `\n${' '.repeat(ctx.indent)}`);
}
// The class of an error stands in its first line even if the class has set no name.
function nameInStack(stack, name, form) {
    let length = name.length;
    const regular =
        name.endsWith('Error') &&
        stack.startsWith(name) &&
        (stack.length === length || stack[length] === ':' || stack[length] === '\n');
    if (form.name !== null && !regular) return stack;
    let otherwise = 'Error';
    if (form.name === null) {
        const start =
            /^([A-Z][a-z_ A-Z0-9[\]()-]+)(?::|\n\s+at)/.exec(stack) ??
            /^([a-z_A-Z0-9-]*Error)$/.exec(stack);
        length = start === null ? 0 : start[1].length;
        otherwise = start === null ? 'Error' : start[1];
    }
    const title = prefix(form.name, form.tag, otherwise).slice(0, -1);
    if (title === name) return stack;
    if (!title.includes(name)) return `${title} [${name}]${stack.slice(length)}`;
    return length === 0 ? `${title}: ${stack}` : title + stack.slice(length);
}
// Lines that the cause has too are only counted.
function withoutCauseLines(ctx, error, lines) {
    const cause = read(error, 'cause');
    if (!isError(cause)) return lines;
    const theirs = stackOf(cause).split('\n');
    for (let i = 0; i < lines.length - 3; i++) {
        const at = theirs.indexOf(lines[i]);
        if (at <= 0) continue;
        let same = 1;
        while (
            i + same < lines.length &&
            at + same < theirs.length &&
            lines[i + same] === theirs[at + same]
        )
            same++;
        if (same > 3) {
            const note = ctx.stylize(
                `    ... ${same - 2} lines matching cause stack trace ...`,
                'undefined'
            );
            return [...lines.slice(0, i + 1), note, ...lines.slice(i + same - 1)];
        }
    }
    return lines;
}

// Gives an error a code, as Node's own errors have one.
exports.coded = function (error, code) {
    error.code = code;
    apply(setCode, coded, [error, code]);
    return error;
};
Object.assign(exports, { stackOf, errorText });
