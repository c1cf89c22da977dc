const a=require('./a');exports.seen=[a.early,a.late]
