// console_errors.js - what console writes to the standard error output stays out of the other.
console.error('e', { a: 1 });
console.warn('w');
console.assert(false);
console.assert(false, 'msg %s', 'x');
console.assert(0, { a: 1 });
console.assert(false, 'a', { b: 1 });
console.group('g');
console.error('x\ny');
console.assert(false, 'in');
console.groupEnd();
console.trace('not here');
console.timeEnd('none');
console.countReset('none');
console.log('this is');
