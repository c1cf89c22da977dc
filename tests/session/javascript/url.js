// URL, URLSearchParams, and the modules url and querystring.
const attempt = (name, work) => {
    try {
        console.log(name, String(work()));
    } catch (error) {
        console.log(name, 'throws', error.name, error.code, error.message);
    }
};
const fields = ['protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash', 'origin'];
const show = (text, base) => attempt(`${text} ${base ?? ''}`, () => {
    const url = new URL(text, base);
    return `${url.href} | ${fields.map(name => url[name]).join(' ')}`;
});
for (const text of ['https://user:pa%20ss@Example.COM:8080/a/./b/../c?x=1&y=2#frag', 'http://host:80', 'HTTPS://host:443/',
    'ftp://h:21/x', 'http:\\\\host\\path', 'http:host', 'http://a b/', 'http://[::1]:3000/x', 'http://[1:2::8]/',
    'http://[2001:db8:0:0:1:0:0:1]', 'http://[::ffff:1.2.3.4]/', 'http://[::1', 'http://0x7f.1/', 'http://192.168.257',
    'http://1.2.3.4.5/', 'http://256.1.1.1/', 'http://1e3/', 'http://host:65536/', 'http://host:99999999999/', 'http://host:0/',
    'http://host:/', 'file:///C:/x/../../y', 'file:///etc/./passwd', 'file://localhost/x', 'file:c|/x', 'mailto:a@b.c?subject=x y',
    'data:text/plain,hello world#x', 'javascript:alert(1)', 'blob:https://a.b/id', 'urn:isbn:123', 'http://ex%41mple.com/%7Efoo/%zz',
    'http://münchen.de/ä?ö#ü', 'http://日本語。jp/', 'http://xn--mnchen-3ya.de/', 'http://xn--a/', 'http://faß.de/', 'http://host/a"b<c>`{d}?e\'f"g#h`i',
    '  http://trimmed/  ', 'ht\ntp://ho\tst/', '', '//x', '/x', 'x', 'http://', 'https:///x', 'custom://Host/p?q', 'custom:/p', 'custom:p/../q',
    'http://a@b@c/', 'http://u@/x', 'http://host?q', 'http://host#f', 'http://host/..//../x', 'http://host/%2e%2E/x', 'non-special://[::1]:80/', 'non-special://a^b/']) show(text);
for (const text of ['', '#f', '?q', 'x', './x', '../x', '../../../x', '/x', '//other/x', '///x', 'https:x', 'http:x', 'mailto:x', '..', '.', 'x/..', '\\x', 'a:b', '?', '#']) {
    show(text, 'http://host:81/a/b/c?q#f');
}
for (const text of ['', '#f', 'x', '/x', '//h/x', '/C:/y', 'D:/z', '..', '../..']) show(text, 'file:///C:/a/b');
show('x', 'mailto:a');
show('#x', 'mailto:a');
show('x', 'nonsense');
{
    const url = new URL('https://user:pw@host:8443/p/q?a=1#h');
    const set = (name, value) => {
        url[name] = value;
        console.log(name, JSON.stringify(value), url.href);
    };
    set('protocol', 'http');
    set('protocol', 'custom');
    set('protocol', 'ftp:ignored');
    set('protocol', 'https');
    set('host', 'other:99');
    set('host', 'third');
    set('host', '');
    set('hostname', 'name:5');
    set('hostname', 'named');
    set('hostname', 'bad host');
    set('port', '443');
    set('port', '8080abc');
    set('port', 'x');
    set('port', '70000');
    set('port', '');
    set('username', 'ü:@/');
    set('password', '');
    set('pathname', 'a b/../c?d#e');
    set('pathname', '');
    set('search', 'x=y z\'');
    set('search', '?');
    set('search', '');
    set('hash', 'a b');
    set('hash', '');
    set('href', 'http://new/');
    attempt('href', () => { url.href = 'no'; });
    const opaque = new URL('mailto:x@y');
    opaque.pathname = 'z';
    opaque.host = 'h';
    opaque.search = 'q';
    console.log(opaque.href, JSON.stringify({ url }), `${url}`, Object.prototype.toString.call(url));
    console.log(URL.canParse('http://x'), URL.canParse('x'), URL.canParse('x', 'http://h'));
    attempt('no argument', () => new URL());
    try {
        new URL('rel', undefined);
    } catch (error) {
        console.log(error.input, 'base' in error, error instanceof TypeError);
    }
    console.log(Object.keys(url).length, [...Object.keys(URL.prototype)].join());
}
{
    const params = new URLSearchParams('?a=1&b=2&a=3&c=%20+x&d&=e&%zz=%E4%F6&&é=€');
    console.log(params.size, params.get('a'), params.getAll('a').join(), params.get('none'), params.has('d'), JSON.stringify(params.get('c')), params.get(''));
    console.log(params.toString());
    params.append('a', 'four');
    params.set('b', 'new');
    params.set('z', '&=+ ~*\'()!');
    params.delete('d');
    params.delete('a', '3');
    console.log(`${params}`, params.has('a', '1'), params.has('a', '9'));
    params.sort();
    console.log([...params].map(pair => pair.join(':')).join(' '), [...params.keys()].join(), [...params.values()].length);
    params.forEach((value, name, all) => { if (name === 'b') console.log(name, value, all === params); });
    console.log(`${new URLSearchParams({ x: 1, y: [1, 2], z: undefined })}`, `${new URLSearchParams([['p', 'q'], new Set(['r', 's'])])}`, `${new URLSearchParams(new Map([['m', 'n']]))}`, `${new URLSearchParams(params) === `${params}`}`, `${new URLSearchParams()}`);
    attempt('tuple', () => new URLSearchParams([['only']]));
    attempt('pair', () => new URLSearchParams([5]));
    attempt('get', () => params.get());
    attempt('append', () => params.append('x'));
    attempt('symbol', () => new URLSearchParams({ [Symbol('s')]: 1 }));
    const url = new URL('http://h/?a=1&b=%20#f');
    const of = url.searchParams;
    of.append('c', 'd e');
    console.log(url.href, url.searchParams === of);
    url.search = '?new=1';
    console.log(`${of}`);
    of.delete('new');
    console.log(url.href);
    url.href = 'http://h/?z=9';
    console.log(of.get('z'), Object.prototype.toString.call(of), Object.prototype.toString.call(of.keys()));
}
const url = require('url');
console.log(url.fileURLToPath('file:///tmp/a%20b%23.txt'), url.fileURLToPath(new URL('file:///x')));
attempt('scheme', () => url.fileURLToPath('http://x/y'));
attempt('host', () => url.fileURLToPath('file://host/y'));
attempt('slash', () => url.fileURLToPath('file:///a%2Fb'));
attempt('type', () => url.fileURLToPath(5));
console.log(url.URL === URL, url.URLSearchParams === URLSearchParams);
for (const text of ['http://user:pass@sub.Example.com:8080/p/a/t/h?query=string#hash', '/path?x=1', 'mailto:a@b.c', 'host.com/path', '//host/path', 'http://x', 'http://[::1]:80/a b', 'javascript:alert(1)', 'http://h/a\\b?c\\d', '']) {
    console.log(text, JSON.stringify(url.parse(text)));
}
console.log(JSON.stringify(url.parse('/a?x=1&x=2&y', true).query), url.parse('//host/p', false, true).host);
console.log(url.format({ protocol: 'https', hostname: 'h', port: 81, pathname: 'p q', query: { a: [1, 2], b: 'c d' }, hash: 'x' }), url.format(new URL('http://u:p@xn--mnchen-3ya.de:81/?q#f'), { auth: false, fragment: false, search: false, unicode: true }), url.format('http://x'));
for (const [from, to] of [['/one/two/three', 'four'], ['http://example.com/', '/one'], ['http://example.com/one', '/two'], ['http://a/b/c/d', '../e'], ['http://a/b', '?q'], ['http://a/b', 'https://z/']]) console.log(url.resolve(from, to));
console.log(url.domainToASCII('español.com'), url.domainToUnicode('xn--espaol-zwa.com'), url.domainToASCII('xn--iñvalid.com') === '');
console.log(JSON.stringify(url.urlToHttpOptions(new URL('https://a:b@測試.com:82/p?q#h'))));
const querystring = require('querystring');
console.log(querystring.stringify({ a: 'b c', d: [1, 'é'], e: '', f: null, g: true, h: 10n, i: NaN, j: [] }), querystring.stringify({ a: 1, b: 2 }, ';', ':'), JSON.stringify(querystring.stringify('x')));
console.log(JSON.stringify(querystring.parse('a=1&b=2&a=3&c&=d&e=%20+%zz&f=%E4')), JSON.stringify(querystring.parse('a:1;b:2', ';', ':')), Object.getPrototypeOf(querystring.parse('')), JSON.stringify(querystring.parse('a=1&b=2&c=3', null, null, { maxKeys: 2 })));
console.log(querystring.escape('a b&ü'), querystring.unescape('a%20b%zz'));
