exports.early=1;const b=require('./b');exports.seen=b.seen;exports.late=2
