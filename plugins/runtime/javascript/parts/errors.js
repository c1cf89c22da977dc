// errors.js - errors that carry a code, with the words that Node has for them.
const { defineProperty, getPrototypeOf } = Object;

exports.coded = (Class, code, message) => {
    const error = new Class(message);
    internal('stacks').coded(error, code);
    defineProperty(error, 'toString', {
        value() { return `${this.name} [${code}]: ${this.message}`; },
        writable: true, configurable: true, enumerable: false,
    });
    return error;
};

const received = value => {
    if (value == null) return ` Received ${value}`;
    if (typeof value === 'function') return ` Received function ${value.name}`;
    if (typeof value === 'object') {
        if (value.constructor?.name) return ` Received an instance of ${value.constructor.name}`;
        return ` Received ${getPrototypeOf(value) === null ? '[Object: null prototype] {}' : '{}'}`;
    }
    let text = String(value);
    if (typeof value === 'string') text = `'${text.length > 28 ? `${text.slice(0, 25)}...` : text}'`;
    if (typeof value === 'bigint') text += 'n';
    return ` Received type ${typeof value} (${text})`;
};

// expected: "of type string", "an instance of Buffer"
exports.wrongType = (name, expected, value) => exports.coded(TypeError, 'ERR_INVALID_ARG_TYPE',
    `The ${name.endsWith(' argument') ? name : `"${name}" ${name.includes('.') ? 'property' : 'argument'}`
    } must be ${expected}.${received(value)}`);

exports.wrongValue = (name, value, reason = 'is invalid') => exports.coded(TypeError, 'ERR_INVALID_ARG_VALUE',
    `The ${name.includes('.') ? 'property' : 'argument'} '${name}' ${reason}.${
        typeof value === 'string' ? ` Received '${value}'` : ` Received ${String(value)}`}`);

const grouped = value => {
    const text = String(value);
    const big = typeof value === 'bigint' ? value > 2n ** 32n || value < -(2n ** 32n)
        : Number.isInteger(value) && Math.abs(value) > 2 ** 32;
    return (big ? text.replace(/\B(?=(?:\d{3})+$)/g, '_') : text) + (typeof value === 'bigint' ? 'n' : '');
};

exports.outOfRange = (name, range, value) => exports.coded(RangeError, 'ERR_OUT_OF_RANGE',
    `The value of "${name}" is out of range. It must be ${range}. Received ${grouped(value)}`);

exports.checkString = (value, name) => {
    if (typeof value !== 'string') throw exports.wrongType(name, 'of type string', value);
};
exports.checkFunction = (value, name) => {
    if (typeof value !== 'function') throw exports.wrongType(name, 'of type function', value);
};
exports.checkObject = (value, name) => {
    if (value === null || typeof value !== 'object') throw exports.wrongType(name, 'of type object', value);
};
exports.checkNumber = (value, name, low, high, integer = true) => {
    if (typeof value !== 'number') throw exports.wrongType(name, 'of type number', value);
    if (integer && !Number.isInteger(value)) throw exports.outOfRange(name, 'an integer', value);
    if (value < low || value > high || Number.isNaN(value)) {
        throw exports.outOfRange(name, low === undefined ? `<= ${high}` : high === undefined ? `>= ${low}`
            : `>= ${low} && <= ${high}`, value);
    }
};
exports.illegal = () => exports.coded(TypeError, 'ERR_INVALID_THIS', 'Illegal constructor');
exports.missing = (...names) => exports.coded(TypeError, 'ERR_MISSING_ARGS', `The ${names.map(name => `"${name}"`)
    .join(' and ')} argument${names.length > 1 ? 's' : ''} must be specified`);
