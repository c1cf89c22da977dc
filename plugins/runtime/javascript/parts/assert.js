// assert.js - the module assert.
const { inspect } = internal('inspect');
const { equal } = internal('equal');
const { isError } = internal('brands');
const { coded } = internal('stacks');
const { wrongType } = internal('errors');
const { apply } = Reflect;

const show = (value) =>
    inspect(value, {
        compact: false,
        customInspect: false,
        depth: 1000,
        maxArrayLength: Infinity,
        breakLength: Infinity,
        sorted: true,
        getters: true,
    });

// ---- messages ------------------------------------------------------------------------------------------

const titles = {
    __proto__: null,
    strictEqual: 'Expected values to be strictly equal:',
    deepStrictEqual: 'Expected values to be strictly deep-equal:',
    deepEqual: 'Expected values to be loosely deep-equal:',
    notStrictEqual: 'Expected "actual" to be strictly unequal to:',
    notStrictEqualObject: 'Expected "actual" not to be reference-equal to "expected":',
    notDeepStrictEqual: 'Expected "actual" not to be strictly deep-equal to:',
    notDeepEqual: 'Expected "actual" not to be loosely deep-equal to:',
};
const isPrimitive = (value) =>
    value === null || (typeof value !== 'object' && typeof value !== 'function');
const LINES = 50; // of a message

// Lines that are in both, in order; [sign, line]. Long texts are compared at their ends only.
function differences(actual, expected) {
    const key = (line) => (line.endsWith(',') ? line.slice(0, -1) : line);
    const longer = (left, right) => (left.length > right.length ? left : right);
    const result = [],
        tail = [];
    let first = 0,
        a = actual.length,
        b = expected.length;
    while (first < a && first < b && key(actual[first]) === key(expected[first]))
        result.push([' ', longer(actual[first], expected[first++])]);
    while (a > first && b > first && key(actual[a - 1]) === key(expected[b - 1]))
        tail.unshift([' ', longer(actual[--a], expected[--b])]);
    const rows = a - first,
        columns = b - first;
    const lengths =
        rows * columns > 1e6
            ? undefined
            : Array.from({ length: rows + 1 }, () => new Uint32Array(columns + 1));
    for (let i = rows - 1; lengths && i >= 0; i--)
        for (let j = columns - 1; j >= 0; j--)
            lengths[i][j] =
                key(actual[first + i]) === key(expected[first + j])
                    ? lengths[i + 1][j + 1] + 1
                    : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
    let i = 0,
        j = 0;
    while (i < rows || j < columns) {
        if (
            lengths &&
            i < rows &&
            j < columns &&
            key(actual[first + i]) === key(expected[first + j])
        ) {
            result.push([' ', longer(actual[first + i++], expected[first + j++])]);
        } else if (
            i < rows &&
            (!lengths || j === columns || lengths[i + 1][j] >= lengths[i][j + 1])
        )
            result.push(['+', actual[first + i++]]);
        else result.push(['-', expected[first + j++]]);
    }
    return [...result, ...tail];
}
// The lines of a comparison, without the middle of long runs that are the same.
function comparison(list) {
    const lines = [];
    let skipped = false;
    for (let i = 0; i < list.length;) {
        let end = i;
        while (end < list.length && list[end][0] === ' ') end++;
        const run = list.slice(i, end).map(([, line]) => `  ${line}`);
        if (run.length > 5) {
            skipped = true;
            run.splice(2, run.length - 4, '...');
        }
        lines.push(...run);
        if (end < list.length) lines.push(`${list[end][0]} ${list[end][1]}`);
        i = end + 1;
    }
    if (lines.length > LINES) {
        skipped = true;
        lines.splice(LINES - 3, lines.length - LINES + 3, '...');
    }
    return [lines.join('\n'), skipped];
}
function differenceText(actual, expected, title) {
    const left = show(actual),
        right = show(expected);
    if (left === right && !isPrimitive(actual))
        return `Values have same structure but are not reference-equal:\n\n${left}\n`;
    const single = !left.includes('\n') && !right.includes('\n');
    if (
        single &&
        left.length + right.length <= 12 &&
        isPrimitive(actual) &&
        isPrimitive(expected) &&
        (actual !== 0 || expected !== 0)
    )
        return `${title}\n\n${left} !== ${right}\n`;
    if (single) {
        let same = 0;
        if (left.length + right.length < 80)
            while (same < left.length && left[same] === right[same]) same++;
        return `${title}\n+ actual - expected\n\n+ ${left}\n- ${right}${same > 2 ? `\n  ${' '.repeat(same)}^` : ''}`;
    }
    const [text, skipped] = comparison(differences(left.split('\n'), right.split('\n')));
    return `${title}\n+ actual - expected${skipped ? ' ... Lines skipped' : ''}\n\n${text}`;
}
function generated(actual, expected, operator) {
    if (operator === 'strictEqual' || operator === 'deepStrictEqual')
        return differenceText(actual, expected, titles[operator]);
    const cut = (text, end = '') => {
        const lines = text.split('\n');
        return lines.length > LINES
            ? `${lines.slice(0, LINES - 4).join('\n')}\n...${end}`
            : text + end;
    };
    const right = show(expected),
        left = show(actual);
    if (operator === 'deepEqual')
        return `${titles[operator]}\n\n${cut(left)}\n\nshould loosely deep-equal\n\n${cut(right)}`;
    if (operator in titles) {
        const title =
            operator === 'notStrictEqual' && !isPrimitive(actual)
                ? titles.notStrictEqualObject
                : titles[operator];
        if (!left.includes('\n')) return `${title} ${left}`;
        return `${title}\n\n${cut(left, operator === 'notDeepEqual' ? '' : '\n')}`;
    }
    return `${left} ${operator} ${right}`;
}

class AssertionError extends Error {
    constructor(options) {
        if (options === null || typeof options !== 'object')
            throw wrongType('options', 'of type object', options);
        const { message, operator, actual, expected, stackStartFn } = options;
        super(
            message === undefined || message === null
                ? generated(actual, expected, operator)
                : `${message}`
        );
        Object.defineProperty(this, 'name', {
            value: 'AssertionError',
            writable: true,
            configurable: true,
        });
        this.generatedMessage = message === undefined || message === null;
        coded(this, 'ERR_ASSERTION');
        Object.assign(this, { actual, expected, operator });
        if (stackStartFn) Error.captureStackTrace(this, stackStartFn);
    }
    toString() {
        return `${this.name} [${this.code}]: ${this.message}`;
    }
}

// Fails with the user's error, or message, or one made of the values.
function fail(actual, expected, message, operator, more) {
    if (message instanceof Error) throw message;
    const error = new AssertionError({ actual, expected, message, operator });
    if (more !== undefined) error.generatedMessage = more;
    throw error;
}

// ---- values --------------------------------------------------------------------------------------------

function ok(...list) {
    if (list[0]) return;
    if (list.length === 0)
        fail(undefined, true, 'No value argument passed to `assert.ok()`', '==', true);
    fail(list[0], true, list[1], '==');
}
const assert = (...list) => ok(...list);
const isNaN = (value) => value !== value;
const relations = {
    equal: ['==', (a, b) => a == b || (isNaN(a) && isNaN(b))],
    notEqual: ['!=', (a, b) => a != b && !(isNaN(a) && isNaN(b))],
    strictEqual: ['strictEqual', Object.is],
    notStrictEqual: ['notStrictEqual', (a, b) => !Object.is(a, b)],
    deepEqual: ['deepEqual', (a, b) => equal(a, b, false)],
    notDeepEqual: ['notDeepEqual', (a, b) => !equal(a, b, false)],
    deepStrictEqual: ['deepStrictEqual', (a, b) => equal(a, b, true)],
    notDeepStrictEqual: ['notDeepStrictEqual', (a, b) => !equal(a, b, true)],
};
for (const name of Object.keys(relations)) {
    const [operator, holds] = relations[name];
    assert[name] = (...list) => {
        if (list.length < 2)
            throw coded(
                new TypeError('The "actual" and "expected" arguments must be specified'),
                'ERR_MISSING_ARGS'
            );
        const [actual, expected, message] = list;
        if (holds(actual, expected)) return;
        // A message of the user's takes the place of the first line.
        const compares = operator === 'strictEqual' || operator === 'deepStrictEqual';
        const text =
            compares && typeof message === 'string'
                ? differenceText(actual, expected, message)
                : message;
        fail(actual, expected, text, operator);
    };
    Object.defineProperty(assert[name], 'name', { value: name, configurable: true });
}
function matching(name, wanted, sentence) {
    assert[name] = (text, pattern, message) => {
        if (!(pattern instanceof RegExp))
            throw wrongType('regexp', 'an instance of RegExp', pattern);
        if (typeof text === 'string' && pattern.test(text) === wanted) return;
        const own = message === undefined;
        if (own)
            message =
                typeof text === 'string'
                    ? `${sentence(pattern)} Input:\n\n${inspect(text)}\n`
                    : wrongType('string', 'of type string', text).message;
        fail(text, pattern, message, name, own);
    };
}
matching(
    'match',
    true,
    (pattern) => `The input did not match the regular expression ${inspect(pattern)}.`
);
matching(
    'doesNotMatch',
    false,
    (pattern) => `The input was expected to not match the regular expression ${inspect(pattern)}.`
);

assert.fail = (message) =>
    fail(
        undefined,
        undefined,
        message === undefined ? 'Failed' : message,
        'fail',
        message === undefined
    );
assert.ifError = (value) => {
    if (value === null || value === undefined) return;
    const message =
        typeof value === 'object' && typeof value.message === 'string'
            ? value.message || value.constructor?.name
            : inspect(value);
    fail(value, null, `ifError got unwanted exception: ${message}`, 'ifError', false);
};

// ---- exceptions ----------------------------------------------------------------------------------------

const NOTHING = Symbol('no exception');
function thrownBy(run) {
    if (typeof run !== 'function') throw wrongType('fn', 'of type function', run);
    try {
        run();
    } catch (error) {
        return error;
    }
    return NOTHING;
}
async function rejectionOf(promise) {
    if (typeof promise === 'function') {
        promise = promise();
        if (typeof promise?.then !== 'function')
            throw coded(
                new TypeError(
                    `Expected instance of Promise to be returned from the "promiseFn" function but got ${typeof promise}.`
                ),
                'ERR_INVALID_RETURN_VALUE'
            );
    } else if (
        promise === null ||
        typeof promise !== 'object' ||
        typeof promise.then !== 'function'
    )
        throw wrongType('promiseFn', 'of type function or an instance of Promise', promise);
    try {
        await promise;
    } catch (error) {
        return error;
    }
    return NOTHING;
}

function expectError(operator, error, expected, message) {
    if (typeof expected === 'string') {
        if ((typeof error === 'object' && error?.message === expected) || error === expected)
            throw coded(
                new TypeError(
                    `The "error/message" argument is ambiguous. The error ${error === expected ? '' : 'message '}"${expected}" is identical to the message.`
                ),
                'ERR_AMBIGUOUS_ARGUMENT'
            );
        message = expected;
        expected = undefined;
    }
    if (error === NOTHING) {
        const kind = expected?.name ? ` (${expected.name})` : '';
        const what = operator === 'rejects' ? 'rejection' : 'exception';
        fail(
            undefined,
            expected,
            `Missing expected ${what}${kind}${message ? `: ${message}` : '.'}`,
            operator,
            false
        );
    }
    if (expected !== undefined) check(operator, error, expected, message);
}
function check(operator, error, expected, message) {
    if (typeof expected !== 'function') {
        if (expected === null || typeof expected !== 'object')
            throw wrongType(
                'expected',
                'of type function or an instance of Error, RegExp, or Object',
                expected
            );
        if (expected instanceof RegExp) {
            if (expected.test(String(error))) return;
            fail(
                error,
                expected,
                message ??
                    `The input did not match the regular expression ${inspect(expected)}. Input:\n\n${inspect(String(error))}\n`,
                operator,
                message === undefined
            );
        }
        return checkFields(operator, error, expected, message);
    }
    if (expected.prototype !== undefined && error instanceof expected) return;
    let text;
    if (expected === Error || expected.prototype instanceof Error) {
        text = `The error is expected to be an instance of "${expected.name}". Received `;
        if (isError(error)) text += `"${error.name}"\n\nError message:\n\n${error.message}`;
        else text += `"${inspect(error, { depth: -1 })}"`;
    } else {
        const result = apply(expected, {}, [error]);
        if (result === true) return;
        text = `The ${expected.name ? `"${expected.name}" ` : ''}validation function is expected to return "true". Received ${inspect(result)}`;
        if (isError(error)) text += `\n\nCaught error:\n\n${error}`;
    }
    fail(error, expected, message ?? text, operator, message === undefined);
}
class Comparison {
    constructor(from, keys, pattern) {
        for (const key of keys)
            if (key in from)
                this[key] =
                    pattern &&
                    typeof from[key] === 'string' &&
                    pattern[key] instanceof RegExp &&
                    pattern[key].test(from[key])
                        ? pattern[key]
                        : from[key];
    }
}
function checkFields(operator, error, expected, message) {
    if (isPrimitive(error))
        fail(
            error,
            expected,
            message ?? generated(error, expected, 'deepStrictEqual'),
            operator,
            message === undefined
        );
    const keys = Object.keys(expected);
    if (expected instanceof Error) keys.push('name', 'message');
    else if (keys.length === 0)
        throw coded(
            new TypeError(`The argument 'error' may not be an empty object. Received {}`),
            'ERR_INVALID_ARG_VALUE'
        );
    const left = new Comparison(error, keys, expected),
        right = new Comparison(expected, keys);
    if (equal(left, right, true)) return;
    fail(
        error,
        expected,
        message ?? generated(left, right, 'deepStrictEqual'),
        operator,
        message === undefined
    );
}
function expectNone(operator, error, expected, message) {
    if (error === NOTHING) return;
    if (typeof expected === 'string') {
        message = expected;
        expected = undefined;
    }
    const fits =
        expected === undefined ||
        (expected instanceof RegExp ? expected.test(String(error)) : error instanceof expected);
    if (!fits) throw error;
    const what = operator === 'doesNotReject' ? 'rejection' : 'exception';
    fail(
        error,
        expected,
        `Got unwanted ${what}${message ? `: ${message}` : '.'}\nActual message: "${error?.message}"`,
        operator,
        false
    );
}
assert.throws = (run, expected, message) => expectError('throws', thrownBy(run), expected, message);
assert.doesNotThrow = (run, expected, message) =>
    expectNone('doesNotThrow', thrownBy(run), expected, message);
assert.rejects = async (promise, expected, message) =>
    expectError('rejects', await rejectionOf(promise), expected, message);
assert.doesNotReject = async (promise, expected, message) =>
    expectNone('doesNotReject', await rejectionOf(promise), expected, message);

assert.ok = ok;
assert.AssertionError = AssertionError;
const strict = (...list) => ok(...list);
Object.assign(strict, assert, {
    equal: assert.strictEqual,
    notEqual: assert.notStrictEqual,
    deepEqual: assert.deepStrictEqual,
    notDeepEqual: assert.notDeepStrictEqual,
});
assert.strict = strict.strict = strict;

exports.module = assert;
exports.strict = strict;
