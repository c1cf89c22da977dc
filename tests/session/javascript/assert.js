// assert.js - the messages of assert, what equals what in depth, and the module util.
const a = require('assert'),
    util = require('util');
const t = (n, f) => {
    try {
        f();
        console.log(n, 'OK');
    } catch (e) {
        console.log('--', n, e.name, e.code, e.generatedMessage, e.operator);
        console.log(e.message);
    }
};
t('se', () => a.strictEqual(1, 2));
t('se2', () => a.strictEqual('a', 'b'));
t('se3', () => a.strictEqual('a'.repeat(50), 'b'.repeat(50)));
t('se4', () => a.strictEqual({ a: 1 }, { a: 1 }));
t('se5', () => a.strictEqual('a\nb', 'a\nc'));
t('se6', () => a.strictEqual([1, 2], [1, 2]));
t('se7', () => a.strictEqual(1, 2, 'mine'));
t('se8', () => a.strictEqual(NaN, 0));
t('se9', () => a.strictEqual('hello world foo', 'hello world bar'));
t('se10', () => a.strictEqual(undefined, { a: 1 }));
t('se11', () => a.strictEqual(1, '1'));
t('se12', () => a.strictEqual(true, false));
t('se13', () => a.strictEqual(null, undefined));
t('se14', () => a.strictEqual(0, -0));
t('se15', () => a.strictEqual([1, 2, 3], 'x'));
t('se16', () => a.strictEqual('long text one here', 'long text two here', 'mine'));
t('se17', () => a.strictEqual(1, 2, new TypeError('own')));
t('se18', () => a.strictEqual('line1\nline2\nline3 is longer', 'line1\nlineX\nline3 is longer'));
t('dse', () => a.deepStrictEqual({ a: 1 }, { a: 2 }));
t('dse2', () => a.deepStrictEqual([1, 2, 3], [1, 2, 4]));
t('dse3', () =>
    a.deepStrictEqual(
        { a: 1, b: { c: [1, 2, 3, 4, 5, 6, 7, 8, 9] } },
        { a: 1, b: { c: [1, 2, 3, 4, 5, 6, 7, 8, 10] } }
    )
);
t('dse4', () => a.deepStrictEqual(1, 2));
t('dse5', () => a.deepStrictEqual([1], ['1']));
t('dse6', () => a.deepStrictEqual(new (class A {})(), {}));
t('dse7', () => a.deepStrictEqual({ a: 1, b: 2 }, { a: 1 }));
t('dse8', () => a.deepStrictEqual([], {}));
t('dse9', () => a.deepStrictEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]));
t('dse10', () => a.deepStrictEqual({ name: 'x', items: [1, 2] }, { name: 'y', items: [1, 3] }));
t('dse11', () => a.deepStrictEqual(new Map([[1, 2]]), new Map([[1, 3]])));
t('dse13', () => a.deepStrictEqual({ a: 1 }, { a: 1, b: [1, 2] }));
t('dse14', () => a.deepStrictEqual([1, 2], [1, 2, 3], 'm'));
t('dse15', () => a.deepStrictEqual(new Date(0), new Date(1)));
t('dse16', () => a.deepStrictEqual({ a: undefined }, {}));
t('de', () => a.deepEqual({ a: 1 }, { a: 2 }));
t('de2', () => a.deepEqual(1, 2));
t('e', () => a.equal(1, 2));
t('e2', () => a.equal('a', { a: 1 }));
t('ne', () => a.notEqual(1, 1));
t('nse', () => a.notStrictEqual(1, 1));
t('nse2', () => {
    const o = { a: 1 };
    a.notStrictEqual(o, o);
});
t('ndse', () => a.notDeepStrictEqual({ a: 1 }, { a: 1 }));
t('ndse2', () => a.notDeepStrictEqual(1, 1));
t('ndse3', () => a.notDeepStrictEqual([], []));
t('nde', () => a.notDeepEqual({ a: 1 }, { a: 1 }));
t('nse3', () => a.notStrictEqual('x', 'x', 'm'));
t('ok2', () => a());
t('ok3', () => a(0, 'm'));
t('ok4', () => a.ok(null, new TypeError('x')));
t('th', () => a.throws(() => {}));
t('th2', () => a.throws(() => {}, TypeError));
t('th3', () => a.throws(() => {}, 'msg'));
t('th4', () => a.throws(() => {}, TypeError, 'msg'));
t('th6', () =>
    a.throws(() => {
        throw new Error('x');
    }, /y/)
);
t('th7', () =>
    a.throws(
        () => {
            throw new Error('x');
        },
        { message: 'y' }
    )
);
t('th8', () =>
    a.throws(
        () => {
            throw new Error('x');
        },
        { message: /x/, name: 'Error' }
    )
);
t('th9', () =>
    a.throws(
        () => {
            throw new Error('x');
        },
        (e) => false
    )
);
t('th10', () =>
    a.throws(() => {
        throw new Error('x');
    }, 'x')
);
t('th11', () => a.throws('x'));
t('th12', () =>
    a.throws(
        () => {
            throw new Error('x');
        },
        { message: 'y', code: 3 }
    )
);
t('th13', () =>
    a.throws(
        () => {
            throw 'x';
        },
        { message: 'y' }
    )
);
t('th14', () =>
    a.throws(() => {
        throw new TypeError('q');
    }, TypeError)
);
t('th15', () =>
    a.throws(() => {
        throw new RangeError('q');
    }, Error)
);
t('th16', () =>
    a.throws(
        () => {
            throw new RangeError('q');
        },
        (e) => e.message === 'q'
    )
);
t('th17', () =>
    a.throws(
        () => {
            throw new Error('q');
        },
        /q/,
        'm'
    )
);
t('th18', () =>
    a.throws(() => {
        throw new Error('q');
    })
);
t('th19', () =>
    a.throws(() => {
        throw new Error('q');
    }, new Error('q'))
);
t('th20', () =>
    a.throws(() => {
        throw new Error('q');
    }, new Error('z'))
);
t('th21', () =>
    a.throws(
        () => {
            throw new Error('abc');
        },
        { message: /x/ }
    )
);
t('th5', () =>
    a.throws(() => {
        throw new Error('x');
    }, TypeError)
);
t('dnt', () =>
    a.doesNotThrow(() => {
        throw new Error('x');
    })
);
t('dnt2', () =>
    a.doesNotThrow(() => {
        throw new Error('x');
    }, 'm')
);
t('dnt3', () =>
    a.doesNotThrow(() => {
        throw new Error('x');
    }, TypeError)
);
t('dnt4', () => a.doesNotThrow(() => 1));
t('m', () => a.match('abc', /x/));
t('m2', () => a.match(5, /x/));
t('m3', () => a.match('abc', /b/));
t('dm', () => a.doesNotMatch('abc', /a/));
t('f', () => a.fail());
t('f2', () => a.fail('boom'));
t('f3', () => a.fail(new TypeError('q')));
t('ie', () => a.ifError(null));
t('ie2', () => a.ifError(new Error('q')));
t('ie3', () => a.ifError('q'));
t('miss', () => a.strictEqual(1));
const e = new a.AssertionError({ actual: 1, expected: 2, operator: 'strictEqual' });
console.log(Object.keys(e), util.inspect(e).split('\n')[0], String(e).split('\n')[0]);
console.log(
    a.strict.equal === a.strictEqual,
    a.strict.strict === a.strict,
    typeof a.strict,
    e instanceof Error
);
console.log(
    util
        .inspect(e)
        .split('\n')
        .filter((l) => !/^    at/.test(l))
        .join('\n')
);
const D = (x, y) =>
    console.log(
        util.isDeepStrictEqual(x, y),
        (() => {
            try {
                a.deepEqual(x, y);
                return true;
            } catch {
                return false;
            }
        })()
    );
D(1, 1);
D(1, '1');
D(NaN, NaN);
D(0, -0);
D({ a: 1 }, { a: '1' });
D([1, 2], [1, 2]);
D([1, 2], [2, 1]);
D({ a: 1, b: 2 }, { b: 2, a: 1 });
D(new Map([[1, { a: 1 }]]), new Map([[1, { a: 1 }]]));
D(new Map([[{ a: 1 }, 1]]), new Map([[{ a: 1 }, 1]]));
D(new Set([{ a: 1 }, { b: 2 }]), new Set([{ b: 2 }, { a: 1 }]));
D(new Set([1, 2]), new Set(['1', 2]));
D(new Date(0), new Date(0));
D(new Date(0), new Date(5));
D(/a/g, /a/g);
D(/a/g, /a/i);
D(new Error('x'), new Error('x'));
D(new Error('x'), new TypeError('x'));
D(new Error('x'), new Error('y'));
D(new Uint8Array([1, 2]), new Uint8Array([1, 2]));
D(new Uint8Array([1, 2]), new Uint8Array([1, 3]));
D(new Uint8Array(2), [0, 0]);
D([, 1], [undefined, 1]);
D({ a: undefined }, {});
D({}, Object.create(null));
D(null, undefined);
D(null, {});
D([], {});
D(new Number(1), new Number(1));
D(new Number(1), 1);
D(
    () => 1,
    () => 1
);
D({ [Symbol.for('a')]: 1 }, { [Symbol.for('a')]: 2 });
D(Symbol.for('a'), Symbol.for('a'));
D(1n, 1n);
D(1n, 1);
D(new Float32Array([0]), new Float32Array([-0]));
D(new ArrayBuffer(2), new ArrayBuffer(2));
D('a', ['a']);
(() => {
    const x = {};
    x.x = x;
    const y = {};
    y.y = y;
    const z = {};
    z.x = z;
    D(x, y);
    D(x, z);
})();
class A1 {
    constructor() {
        this.a = 1;
    }
}
class B1 {
    constructor() {
        this.a = 1;
    }
}
D(new A1(), new A1());
D(new A1(), new B1());
D(new A1(), { a: 1 });
D(new Map([['a', 1]]), new Map([['a', '1']]));
D(new Set([[1]]), new Set([[1]]));
D({ a: [1, { b: new Set([1]) }] }, { a: [1, { b: new Set([1]) }] });
D(new WeakMap(), new WeakMap());
console.log(
    JSON.stringify(util.styleText(['bold', 'red'], 'x')),
    util.stripVTControlCharacters('\x1b[31mx\x1b[39m')
);
try {
    util.promisify(5);
} catch (e) {
    console.log(e.code, e.message);
}
try {
    util.formatWithOptions(1, 2);
} catch (e) {
    console.log(e.code, e.message);
}
try {
    util.callbackify();
} catch (e) {
    console.log(e.code, e.message);
}
const ty = util.types;
const vals = {
    date: new Date(),
    re: /x/,
    err: new Error(),
    map: new Map(),
    set: new Set(),
    wm: new WeakMap(),
    pr: Promise.resolve(),
    ab: new ArrayBuffer(1),
    dv: new DataView(new ArrayBuffer(1)),
    u8: new Uint8Array(1),
    num: new Number(1),
    str: new String('x'),
    args: (function () {
        return arguments;
    })(),
    af: async () => 1,
    gf: function* () {},
    go: (function* () {})(),
    mi: new Map().keys(),
    si: new Set().keys(),
    px: new Proxy({}, {}),
    plain: {},
    arr: [],
    fn() {},
    n: null,
    u: undefined,
    one: 1,
    sub: new (class extends Map {})(),
    fakemap: Object.create(Map.prototype),
    tag: { [Symbol.toStringTag]: 'Map' },
    sym: Object(Symbol()),
    big: Object(1n),
    f32: new Float32Array(1),
    agf: async function* () {}
};
for (const k in vals) {
    console.log(
        k,
        Object.keys(ty)
            .filter((n) => {
                try {
                    return ty[n](vals[k]);
                } catch {
                    return false;
                }
            })
            .sort()
            .join(' ')
    );
}
const p = util.promisify((x, cb) => cb(null, x + 1));
p(1).then((v) => console.log('p', v));
util.promisify((cb) => cb(new Error('pe')))().catch((e) => console.log(e.message));
function P() {}
function Q() {}
util.inherits(P, Q);
console.log(new P() instanceof Q, P.super_ === Q);
console.log(util.isArray([]), util.isString('x'), util.toUSVString('\ud800') === '\ufffd');
a.rejects(Promise.resolve(1)).catch((e) => console.log('rej', e.message, e.operator));
a.rejects(async () => {}, TypeError, 'mm').catch((e) => console.log('rej2', e.message));
a.doesNotReject(Promise.reject(new Error('v'))).catch((e) => console.log('dnr', e.message));
a.rejects(5).catch((e) => console.log('rej3', e.code, e.message));
a.rejects(Promise.reject(new Error('z')), /z/).then(() => console.log('rej4 ok'));
util.callbackify(async (x) => x * 2)(4, (e, v) => console.log('cb', e, v));
