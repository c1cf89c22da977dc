// text.js - pieces of the text of values: quotes, colors, the width on a terminal.
const { apply } = Reflect;

// Names of colors: the codes that begin and end them.
const colors = {
    __proto__: null,
    reset: [0, 0],
    bold: [1, 22],
    dim: [2, 22],
    italic: [3, 23],
    underline: [4, 24],
    blink: [5, 25],
    inverse: [7, 27],
    hidden: [8, 28],
    strikethrough: [9, 29],
    doubleunderline: [21, 24],
    framed: [51, 54],
    overlined: [53, 55],
    gray: [90, 39],
    bgGray: [100, 49],
};
['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'].forEach((name, i) => {
    const bg = 'bg' + name[0].toUpperCase() + name.slice(1);
    colors[name] = [30 + i, 39];
    colors[bg] = [40 + i, 49];
    if (i > 0) {
        colors[name + 'Bright'] = [90 + i, 39];
        colors[bg + 'Bright'] = [100 + i, 49];
    }
});
colors.grey = colors.blackBright = colors.gray;
colors.bgGrey = colors.bgBlackBright = colors.bgGray;
const styles = {
    __proto__: null,
    special: 'cyan',
    number: 'yellow',
    bigint: 'yellow',
    boolean: 'yellow',
    undefined: 'grey',
    null: 'bold',
    string: 'green',
    symbol: 'green',
    date: 'magenta',
    regexp: 'red',
    module: 'underline',
};

const plainStyle = (text) => text;
function colorStyle(text, style) {
    const codes = colors[styles[style]];
    return codes === undefined ? text : `\x1b[${codes[0]}m${text}\x1b[${codes[1]}m`;
}
const withoutCodes = (text) =>
    text.replace(/[\x1b\x9b][[\]()#;?]*(?:\d{1,4}(?:;\d{0,4})*)?[\dA-PR-TZcf-nq-uy=><~]/g, '');

// The columns that a terminal needs for it.
function width(text, codes) {
    if (codes) text = withoutCodes(text);
    if (!/[^\x20-\x7e]/.test(text)) return text.length;
    let columns = 0;
    for (const c of text.normalize('NFC')) {
        if (/[\p{Cc}\p{Mn}\p{Me}\p{Cf}]/u.test(c)) continue;
        columns +=
            /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u.test(
                c
            )
                ? 2
                : 1;
    }
    return columns;
}

// Text in quotes; those are chosen that need no escapes.
// A search for lone surrogates takes long and is made only where there are some.
const control = /[\x00-\x1f'\\\x7f-\x9f]/;
const controlAll = new RegExp(control, 'g');
const controlOrLone =
    /[\x00-\x1f'\\\x7f-\x9f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const { isWellFormed } = String.prototype;
const isUnsafe = (text) => control.test(text) || !apply(isWellFormed, text, []);
const short = {
    '__proto__': null,
    '\b': '\\b',
    '\t': '\\t',
    '\n': '\\n',
    '\f': '\\f',
    '\r': '\\r',
    '\\': '\\\\',
};
function escape(text, quote) {
    return text.replace(apply(isWellFormed, text, []) ? controlAll : controlOrLone, (c) => {
        if (c === "'") return quote === "'" ? "\\'" : c;
        const code = c.charCodeAt(0);
        return (
            short[c] ??
            (code > 255
                ? '\\u' + code.toString(16)
                : '\\x' + code.toString(16).toUpperCase().padStart(2, '0'))
        );
    });
}
function quoted(text) {
    if (!isUnsafe(text)) return `'${text}'`;
    let quote = "'";
    if (text.includes("'")) {
        if (!text.includes('"')) quote = '"';
        else if (!text.includes('`') && !text.includes('${')) quote = '`';
    }
    return quote + escape(text, quote) + quote;
}

const plural = (count, noun) => `${count} ${noun}${count > 1 ? 's' : ''}`;
const number = (value) => (value === 0 && 1 / value < 0 ? '-0' : `${value}`);
const symbolString = Symbol.prototype.toString;
const symbolText = (symbol) => apply(symbolString, symbol, []);

function readable(value) {
    try {
        return `${value}`;
    } catch {
        return '';
    }
}

// What stands before the braces of an object: its class, its tag.
function prefix(name, tag, otherwise, size = '') {
    if (name === null)
        return (
            `[${otherwise}${size}: null prototype] ` +
            (tag !== '' && tag !== otherwise ? `[${tag}] ` : '')
        );
    return `${name}${size} ` + (tag !== '' && tag !== name ? `[${tag}] ` : '');
}

Object.assign(exports, {
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
});
