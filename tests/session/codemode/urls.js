const url = new URL('/search?q=old#top', 'https://user:pw@example.com:8443/base/');
url.searchParams.set('q', 'a b&c=d/é');
url.searchParams.append('tag', 'x'); url.searchParams.append('tag', 'y');
console.log(url.href, url.port, url.hash, url.searchParams.getAll('tag'));
const query = new URLSearchParams({ page: 2, limit: '10', empty: '' });
query.sort();
console.log(String(query), Object.fromEntries(new URLSearchParams('?a=1&b=%20x+y&a=2')));
const link = (base, path, params) => {
  const u = new URL(path, base);
  for (const [k, v] of Object.entries(params)) if (v != null) u.searchParams.set(k, v);
  return u.toString();
};
const links = ['../x', './y?z=1', 'https://other.org', '//cdn.net/l.js'].map((p) => new URL(p, 'http://h.com/a/b/c').href);
let bad;
try { new URL('no url'); } catch (e) { bad = [e.name, e.code, URL.canParse('no url')]; }
console.log(links, bad, encodeURIComponent("a/b?c=d e'"), decodeURIComponent('%E2%82%AC'));
[link('https://api.test/v1/', 'items', { page: 1, q: null, name: 'ü' }), new URL('HTTP://EXAMPLE.com:80/%7Ea/../b').href, require('url').fileURLToPath('file:///tmp/a%20b')];
