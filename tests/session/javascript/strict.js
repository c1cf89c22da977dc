// Code with import or export is strict; a name that a module does not export is an error.
import {isStrict} from './part.mjs';
import both, * as all from './circle.mjs';
const tell = async (f) => {
  try { return await f() } catch (error) { return `${error.name}: ${error.message}` }
};
console.log(await tell(() => { undeclared = 1 }));
console.log((function () { return this === undefined })(), isStrict, both, Object.keys(all));
console.log(await tell(() => import('./wrong.mjs')));
console.log(await tell(() => import('./builtin.mjs')));
console.log(await tell(() => import('./common.mjs')));
console.log(all, await import('./common.cjs'), Object.isExtensible(all));
