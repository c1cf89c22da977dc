// require() and import: what is built in, files beside the code, and packages. What is no code is
// not shown beside a file, so the program writes it.
const fs = require('fs');
const path = require('path');
const files = {
    'data.json': '{"list":[1,2]}', 'bad.json': '{x',
    'node_modules/pkg/package.json': '{"name":"pkg","exports":{".":{"import":"./lib/i.mjs","require":"./lib/r.js"},"./feature":"./lib/f.js","./patterns/*":"./lib/p-*.js"}}',
    'node_modules/pkg/lib/r.js': "module.exports='required'", 'node_modules/pkg/lib/i.mjs': "export default 'imported'; export const x=1",
    'node_modules/pkg/lib/f.js': "module.exports='feature'", 'node_modules/pkg/lib/p-x.js': "module.exports='px'",
    'node_modules/pkg/lib/hidden.js': "module.exports='hidden'",
    'node_modules/@s/two/package.json': '{"main":"dist/main"}', 'node_modules/@s/two/dist/main.js': "module.exports='two'",
    'node_modules/plain/index.js': "exports.name='plain'",
    'bad.js': 'let x = ;',
};
const top = path.resolve('made');
for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.join(top, path.dirname(name)), { recursive: true });
    fs.writeFileSync(path.join(top, name), text);
}
const near = require('module').createRequire(`${top}/x.js`);
const short = text => text.split('\n')[0].replaceAll(__dirname, '.').replaceAll(top, '$');
const attempt = work => {
    try {
        console.log(work());
    } catch (error) {
        console.log(error.name, error.code, short(error.message));
    }
};
attempt(() => [path.basename(__filename), module.exports === exports, require.main === module, typeof require.cache]);
attempt(() => require('./sub/one').name);
attempt(() => require('./sub/one.js') === require('./sub/one'));
attempt(() => [require('./sub'), require('./sub/'), path.relative(__dirname, require.resolve('./sub'))]);
attempt(() => near('./data').list);
for (const name of ['pkg', 'pkg/feature', 'pkg/lib/hidden', 'pkg/patterns/x', '@s/two', 'plain']) attempt(() => near(name));
attempt(() => require('./a').seen);
attempt(() => require('./nope'));
attempt(() => require('./throws'));
attempt(() => require(''));
attempt(() => require(3));
attempt(() => require('node:nope'));
attempt(() => [require('fs') === require('node:fs'), require('fs/promises') === fs.promises, require('process') === process]);
attempt(() => Object.keys(require.cache).filter(name => !name.startsWith(top)).map(name => path.relative(__dirname, name)).sort());
attempt(() => {
    delete require.cache[require.resolve('./sub/one')];
    return require('./sub/one').count;
});
attempt(() => [require('module').isBuiltin('fs'), require('module').isBuiltin('node:path'), require('module').isBuiltin('x')]);
for (const work of [() => near('./bad'), () => near('./bad.json'), () => require('express'), () => require('nope'), () => require('./late.mjs')]) {
    try {
        work();
    } catch (error) {
        console.log(error.name, error.code, /built-in modules .*fs.*path/s.test(error.message), /serves no requests/.test(error.message));
    }
}
(async () => {
    const m = await import('./m.mjs');
    console.log(m.default, m.value, m.next(), m.value, Object.keys(m), m[Symbol.toStringTag]);
    console.log((await import('./sub/one.js')).default.name, (await import('node:path')).join('a', 'b'), (await import('path')).default === path);
    console.log((await import('./late.mjs')).late, (await import('./circle1.mjs')).sum());
    console.log((await import(`${top}/data.json`, { with: { type: 'json' } })).default.list);
    console.log(await import('./nope.mjs').catch(error => [error.code, short(error.message)]));
    console.log(require('./helper.mjs').helper(), require('./sync.mjs').twice);
})();
