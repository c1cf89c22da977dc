// console.js - the methods of console; what goes to the standard error output is in console_errors.js.
console.table([
    { a: 1, b: 'x' },
    { a: 2, c: { d: 1 } }
]);
console.table([
    [1, 2],
    [3, 4]
]);
console.table([1, 'b', null]);
console.table(
    new Map([
        ['k', 1],
        ['l', { a: 1 }]
    ])
);
console.table(new Set([1, 2]));
console.table({ x: { v: 1 }, y: { v: 2 } });
console.table([{ a: 1, b: 2 }], ['b']);
console.table([{ a: 1, b: 2 }], ['b', 'zz']);
console.table('text');
console.table([]);
console.table([{ a: [1, 2, 3, 4, 5], b: { x: 1, y: 2, z: 3 } }, 5]);
console.table([{ n: '漢字' }, { n: 'é' }]);
console.table(null);
console.table([new Date(0)]);
console.table({ a: 1, b: 'x' });
console.table([[1, [2, 3]]]);
console.table([() => 1]);
console.table([undefined, { a: undefined }]);
console.table([1, 2], ['a']);
try {
    console.table([1], 'a');
} catch (e) {
    console.log(e.name, e.code, e.message);
}
console.group('G');
console.log('in\nside', { a: 1 });
console.group();
console.log([1, 2, { a: 'x'.repeat(80) }]);
console.groupEnd();
console.info('i');
console.groupEnd();
console.groupEnd();
console.debug('out');
console.groupCollapsed('c');
console.dir({ a: { b: { c: { d: 1 } } } }, { depth: 0 });
console.dirxml({ a: 1 }, [2]);
console.table([1]);
console.groupEnd();
console.count();
console.count('x');
console.count();
console.countReset();
console.count();
console.count(undefined);
console.count(null);
console.count({});
console.dir('str');
console.dir({
    [Symbol.for('nodejs.util.inspect.custom')]() {
        return 'no';
    },
    z: 1
});
console.log();
console.log('');
console.log('%s is %d', 'a', 5, 'rest');
console.log('%c styled', 'color: red');
console.log(null, undefined);
console.log('a\n');
console.log(-0, [-0], 0);
console.log('100%', 5);
console.log('%o', [1]);
console.log(new Error('q').message);
console.log(Symbol('s'));
console.log(1n);
const { log } = console;
log('bound');
[1, 2].forEach(log === undefined ? 0 : (x) => log(x));
['a'].forEach(console.log);
console.log(Object.keys(console).slice(0, 19).join(), console.error.name, String(console));
console.assert(true, 'no');
console.clear();
