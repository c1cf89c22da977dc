// inspect_bounds.js - values that are huge, deep or hostile have a short text, and none throws.
const { inspect } = require('util');
const custom = inspect.custom;
function print(name, value, options) {
    let text;
    try {
        text = inspect(value, options);
    } catch (error) {
        text = `threw ${error}`;
    }
    console.log(name, text.length > 100 ? `${text.length} characters` : text);
}
const keys = {};
for (let i = 0; i < 100000; i++) keys['k' + i] = i;
let nested = {};
for (let i = 0; i < 10000; i++) nested = { nested };
print('a long list', Array(1000000).fill(1), { maxArrayLength: 3 });
print('a list without elements', new Array(4000000000));
print('long text', 'x'.repeat(100000000), { maxStringLength: 5 });
print('bytes', new Uint8Array(100000000), { maxArrayLength: 2 });
print('many keys', keys, { budget: 5000 });
print('long text, cut', ['x'.repeat(100000)], { budget: 500, maxStringLength: null });
print('deep', nested);
print('deep, cut', nested, { depth: null, budget: 1000 });
const bad = () => {
    throw new Error('bad');
};
const traps = { get: bad, has: bad, getPrototypeOf: bad, getOwnPropertyDescriptor: bad, ownKeys: bad };
print('tag', {
    get [Symbol.toStringTag]() {
        return bad();
    }
});
print('constructor', {
    get constructor() {
        return bad();
    }
});
print(
    'name of a class',
    new (class {
        static get name() {
            return bad();
        }
    })()
);
print(
    'instance',
    new (class Foo {
        static [Symbol.hasInstance]() {
            return bad();
        }
    })()
);
print('message', Object.defineProperty(new Error('x'), 'stack', { get: bad }));
print(
    'size',
    new (class M extends Map {
        get size() {
            return bad();
        }
    })([[1, 2]])
);
print('prototype', Object.create(new Proxy({}, traps)));
print('source', Object.defineProperty(/x/, 'source', { get: bad }));
print('own text', { [custom]: bad });
print('own text, cut', { [custom]: bad }, { budget: 15 });
Array.prototype.push = bad;
Object.prototype.get = bad;
print('changed prototypes', { a: [1, undefined, { b: 1 }] });
