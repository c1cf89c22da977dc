function flatten(value, prefix = '', out = {}) {
  if (value !== null && typeof value === 'object' && Object.keys(value).length) {
    for (const [key, inner] of Object.entries(value))
      flatten(inner, Array.isArray(value) ? `${prefix}[${key}]` : prefix ? `${prefix}.${key}` : key, out);
  } else out[prefix] = value;
  return out;
}
function unflatten(flat) {
  const root = {};
  for (const [path, value] of Object.entries(flat)) {
    const keys = path.match(/[^.[\]]+/g);
    let at = root;
    keys.forEach((key, i) => {
      if (i === keys.length - 1) at[key] = value;
      else at = at[key] ??= /^\d+$/.test(keys[i + 1]) ? [] : {};
    });
  }
  return root;
}
const deep = { user: await get_user(6), meta: { a: [[1, 2], { b: null }], empty: {}, none: [] } };
const flat = flatten(deep);
console.log(flat);
require('node:assert').deepStrictEqual(unflatten(flat), deep);
Object.keys(flat).length;
