const isObject = (v) => v !== null && typeof v === 'object' && !Array.isArray(v);
function merge(a, b) {
  const out = { ...a };
  for (const [k, v] of Object.entries(b)) {
    if (k === '__proto__') continue;
    out[k] = isObject(v) && isObject(out[k]) ? merge(out[k], v) : Array.isArray(v) && Array.isArray(out[k]) ? [...new Set([...out[k], ...v])] : v;
  }
  return out;
}
const defaults = { server: { port: 80, tls: { on: false, ciphers: ['a'] } }, paths: ['/'], debug: undefined };
const user = JSON.parse('{"server":{"tls":{"on":true,"ciphers":["b","a"]}},"paths":["/","/x"],"__proto__":{"polluted":true}}');
const merged = [defaults, user, { server: { port: 8443 } }].reduce(merge);
function diff(a, b, path = []) {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((k) => {
    const at = [...path, k];
    if (isObject(a[k]) && isObject(b[k])) return diff(a[k], b[k], at);
    return JSON.stringify(a[k]) === JSON.stringify(b[k]) ? [] : [{ path: at.join('.'), from: a[k], to: b[k] }];
  });
}
console.dir(merged, { depth: null });
console.log(diff(defaults, merged));
[({}).polluted === undefined, defaults.server.port, 'debug' in merged];
