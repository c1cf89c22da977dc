const wait = (name) => new Promise((resolve) => { wait.resolvers ??= {}; wait.resolvers[name] = resolve; });
const first = await Promise.race([wait('a'), echo('b')]);
console.log('first:', first);
const second = await wait('nobody');
console.log('never');
// ---- next execution
console.log(Object.keys(wait.resolvers), typeof first);
setTimeout(() => wait.resolvers.nobody('late'), 1);
const third = await Promise.all([wait('c'), (async () => { await null; wait.resolvers.c('c'); return 'd'; })()]);
third;
