globalThis.n=(globalThis.n||0)+1;exports.name='one';exports.count=globalThis.n;exports.file=require('path').basename(__filename);exports.parent=require('path').basename(module.parent.filename)
