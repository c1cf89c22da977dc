process.on('exit', (c) => console.log('exit', c));
let n = 0;
process.on('beforeExit', () => { if (n++ < 2) setTimeout(() => console.log('again', n), 1) });
console.log('ran');
