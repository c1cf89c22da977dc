// inspect.js - the text of values: what console.log prints of each kind, and the options of inspect.
const { inspect, format } = require('util');
const custom = inspect.custom;
const count = (n, make = (i) => i) => Array.from({ length: n }, (_, i) => make(i));
const show = (...values) => values.forEach((value) => console.log(value));
// An error with a stack that does not depend on where it is made.
function fixed(error) {
    const stack = `${Error.prototype.toString.call(error)}\n    at f (a.js:1:2)\n    at g (b.js:3:4)`;
    return Object.defineProperty(error, 'stack', { value: stack });
}

console.log('-- primitives');
show([-0, 0, NaN, 10n, true, undefined, null, Symbol('s'), 'a']);
show(["it's", 'say "x"', `it's "x"`, 'it\'s "x" `', 'a\nb\t\\\x1b\x7f', '\ud83d', '😀', '']);
show(['x'.repeat(60) + '\n' + 'y'.repeat(30)]);
console.log('-- lists');
show([], [1, , 3], [, ,], new Array(5), Object.assign([1], { x: 1 }), [[[[1]]]], [[[[]]]]);
show(
    count(6),
    count(7),
    count(101),
    count(12, (i) => 's' + i),
    count(30, (i) => i * 1000)
);
show(
    count(8, (i) => ({ i })),
    count(9, (i) => '漢'.repeat(i)),
    count(3, () => count(10))
);
console.log('-- objects');
show({}, { a: 1, 'b-c': 2, 3: 4, $d: 5, "it's": 6 }, { a: { b: { c: { d: 1 } } } }, { a: { b: { c: [1] } } });
show({ k: 'v'.repeat(63) }, { k: 'v'.repeat(66), l: 1 }, { a: { b: { c: {} } }, d: 'x'.repeat(50), e: 1 });
show({ [Symbol('s')]: 1, ['__proto__']: 2 }, { __proto__: null, a: 1 }, Object.create({ a: 1 }));
show({
    get a() {
        return 1;
    },
    set a(v) {},
    get b() {
        throw 1;
    },
    set c(v) {}
});
show(Object.defineProperty({ a: 1 }, 'hidden', { value: 1 }), { [Symbol.toStringTag]: 'T' });
class Foo {
    constructor() {
        this.a = 1;
    }
}
class Bar extends Foo {
    get [Symbol.toStringTag]() {
        return 'Tag';
    }
}
show(new Foo(), new Bar(), [Foo, Bar], { a: { b: { c: new Foo() } } }, Foo.prototype, Object.prototype);
console.log('-- functions');
show([() => 1, function f() {}, async () => 1, function* g() {}, async function* h() {}, class {}, Math.max]);
show(
    Object.assign(function f() {}, { x: 1 }),
    class A extends null {},
    { m() {}, async n() {} }
);
console.log('-- built-in objects');
show(
    new Map([['a', { b: 1 }]]),
    new Map(),
    new Set([1, [2]]),
    new Set(count(101)),
    new WeakMap(),
    new WeakSet()
);
show(new Uint8Array(3), new Float64Array([1.5, -0]), new ArrayBuffer(4), new DataView(new ArrayBuffer(2)));
show(
    new Date(0),
    new Date(NaN),
    /a\/b/gi,
    Object.assign(/x/, { y: 1 }),
    new Number(-0),
    new String('abc'),
    Object(1n)
);
show(
    (function () {
        return arguments;
    })(1, 'a'),
    (function* () {})(),
    [1].values(),
    'ab'.match(/(?<x>b)/)
);
show(class M extends Map {}, new (class M extends Map {})([[1, 2]]), new (class A extends Array {})(2), JSON);
console.log('-- promises and proxies');
show(Promise.resolve({ a: 1 }), new Promise(() => {}), [Promise.resolve('x')]);
const rejected = Promise.reject(3);
rejected.catch(() => {});
show(rejected);
const traps = {
    get() {
        throw 1;
    },
    ownKeys() {
        throw 2;
    },
    getPrototypeOf() {
        throw 3;
    },
    has() {
        throw 4;
    }
};
const revocable = Proxy.revocable({}, {});
revocable.revoke();
show(new Proxy({ a: 1 }, traps), new Proxy([1], traps), new Proxy(() => 1, traps), revocable.proxy);
console.log('-- circles');
const circle = { name: 'c', list: [] };
circle.self = circle;
circle.list.push(circle, { circle });
const left = {},
    right = { left };
left.right = right;
show(circle, [left, right], new Map([['c', circle]]));
console.log('-- errors');
class ValidationError extends Error {}
class Fail extends Error {
    constructor(m) {
        super(m);
        this.name = 'Fail';
    }
}
show(fixed(new Error('boo')), fixed(new ValidationError('bad')), fixed(new Fail('no')), {
    e: fixed(new TypeError('in'))
});
show(
    Object.assign(fixed(new Error('with')), { code: 'X', info: { a: 1 } }),
    fixed(new Error('out', { cause: fixed(new Error('why')) }))
);
show(
    fixed(new AggregateError([fixed(new Error('one')), 2], 'all')),
    Object.assign(new Error('m'), { stack: 'Error: m' })
);
console.log('-- custom');
show({ [custom]: (depth, options, f) => `depth ${depth} ${options.depth} ${f === inspect}` }, [
    { [custom]: () => 'a\nb' }
]);
show({ a: { [custom]: () => ({ b: 1 }) } });
try {
    inspect({
        [custom]() {
            throw new Error('own');
        }
    });
} catch (error) {
    show(error.message);
}
console.log('-- options');
const value = {
    b: [1, 2, { c: { d: 1 } }],
    a: 'text',
    get g() {
        return { x: 1 };
    }
};
for (const options of [
    { depth: 0 },
    { depth: null },
    { compact: false },
    { compact: true },
    { breakLength: 20 },
    { sorted: true },
    { getters: true },
    { maxArrayLength: 1 },
    { maxStringLength: 2 },
    { colors: true },
    { showHidden: true }
])
    console.log(JSON.stringify(options), inspect(value, options));
console.log('-- format');
console.log(
    format('%s %d %i %f %j %o %O %c%%', 'a', '4.5', '4.5', '4.5', { a: 1 }, [1], { a: { b: {} } }, 'css'),
    format('%s'),
    format('a', 1, { b: 2 }, 'c')
);
console.log(
    '%s %s %s %s',
    new Foo(),
    {
        toString() {
            return 'own';
        }
    },
    Symbol('q'),
    -0,
    '100%',
    5n
);
console.log('%d %i %d', 5n, Symbol('x'), {}, 'rest');
