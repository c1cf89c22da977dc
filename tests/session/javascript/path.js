// path, for both systems.
const path = require('path');
console.log(path === path.posix, path.win32.win32 === path.win32, path.sep, path.win32.delimiter);
const given = ['', '.', '..', '/', '//', 'a', 'a/', '/a', '//a', 'a/b.c', '/a//b/', './a/../b', '../../a', '/../a', '.x', 'x.', 'a.b.c', '..x',
    'C:', 'C:\\', 'C:a', 'C:\\a\\..\\b.txt', '\\\\server\\share\\x', '\\a', 'a\\b\\', 'a/b\\c.d', 'x:y', ' b.cd:/'];
for (const kind of ['posix', 'win32']) {
    for (const name of ['normalize', 'dirname', 'basename', 'extname', 'isAbsolute', 'parse']) {
        console.log(kind, name, JSON.stringify(given.map(each => path[kind][name](each))));
    }
}
console.log(path.join('a', '', '..', '/b', './c'), path.join(), path.join('a', '../..'), path.win32.join('//a', 'b', '..'), path.win32.join('\\', '\\a'));
console.log(path.resolve('/a', 'b', '../c'), path.resolve('/a', '/b'), path.resolve('x') === path.join(process.cwd(), 'x'), path.win32.resolve('C:\\a', '..\\b', 'D:x', 'C:c'));
console.log(path.relative('/a/b/c', '/a/d'), JSON.stringify(path.relative('/a', '/a/')), path.relative('/', '/x'), path.win32.relative('C:\\a\\B', 'c:\\A\\c'), path.win32.relative('C:\\a', 'D:\\b'));
console.log(path.basename('/a/b.txt', '.txt'), path.basename('.txt', '.txt'), path.basename('b.txt', 'b.txt'), path.win32.basename('C:b.TXT', '.txt'));
console.log(path.format({ dir: '/a', base: 'b' }), path.format({ root: '/', name: 'b', ext: 'c' }), path.win32.format({ dir: 'C:\\', base: 'x', root: 'C:\\' }), path.win32.toNamespacedPath('C:\\a'));
for (const work of [() => path.join('a', 3), () => path.resolve(null), () => path.basename('a', {}), () => path.parse(), () => path.format('x')]) {
    try {
        console.log(work());
    } catch (error) {
        console.log(error.name, error.code, error.message);
    }
}
