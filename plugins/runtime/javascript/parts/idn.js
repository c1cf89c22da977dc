// idn.js - names of hosts that are not ASCII: NFKC, lower case and Punycode (RFC 3492). There is no table
// of UTS #46; what Unicode's properties say of a character stands for it.
const { fromCodePoint } = String;
const big = 2 ** 31;

const adapt = (delta, points, first) => {
    let k = 0;
    delta = first ? Math.floor(delta / 700) : delta >> 1;
    for (delta += Math.floor(delta / points); delta > 455; k += 36) delta = Math.floor(delta / 35);
    return k + Math.floor(36 * delta / (delta + 38));
};
const threshold = (k, bias) => Math.min(Math.max(k - bias, 1), 26);
const encode = label => {
    const points = Array.from(label, one => one.codePointAt(0));
    const basic = points.filter(point => point < 128);
    let text = fromCodePoint(...basic) + (basic.length ? '-' : '');
    let [n, delta, bias, done] = [128, 0, 72, basic.length];
    while (done < points.length) {
        const next = points.reduce((least, point) => point >= n && point < least ? point : least, Infinity);
        delta += (next - n) * (done + 1);
        if (delta >= big) return undefined;
        n = next;
        for (const point of points) {
            if (point < n) delta++;
            if (point !== n) continue;
            let q = delta;
            for (let k = 36; ; k += 36) {
                const t = threshold(k, bias);
                if (q < t) break;
                text += (t + (q - t) % (36 - t)).toString(36);
                q = Math.floor((q - t) / (36 - t));
            }
            text += q.toString(36);
            bias = adapt(delta, done + 1, done === basic.length);
            delta = 0;
            done++;
        }
        delta++;
        n++;
    }
    // Digits of Punycode are a to z and then 0 to 9.
    const tail = text.slice(basic.length + (basic.length ? 1 : 0));
    return text.slice(0, text.length - tail.length) + tail.replace(/./g, digit => {
        const value = parseInt(digit, 36);
        return value < 26 ? fromCodePoint(97 + value) : String(value - 26);
    });
};
const decode = text => {
    const at = text.lastIndexOf('-');
    const points = Array.from(at > 0 ? text.slice(0, at) : '', one => one.codePointAt(0));
    let [n, i, bias] = [128, 0, 72];
    for (let next = at >= 0 ? at + 1 : 0; next < text.length;) {
        const before = i;
        for (let [weight, k] = [1, 36]; ; k += 36) {
            const digit = text.charCodeAt(next++);
            const value = digit >= 97 && digit <= 122 ? digit - 97 : digit >= 48 && digit <= 57 ? digit - 22 : NaN;
            if (!(value * weight + i < big)) return undefined;
            i += value * weight;
            const t = threshold(k, bias);
            if (value < t) break;
            weight *= 36 - t;
        }
        bias = adapt(i - before, points.length + 1, before === 0);
        n += Math.floor(i / (points.length + 1));
        i %= points.length + 1;
        if (n > 0x10ffff) return undefined;
        points.splice(i++, 0, n);
    }
    let label = '';
    for (const point of points) label += fromCodePoint(point);
    return label;
};

const dropped = /[\xad\u034f\u180b-\u180d\u180f\u200b\u2060\u2064\ufe00-\ufe0f\ufeff]|[\u{e0100}-\u{e01ef}]/gu;
const refused = /[\p{Cn}\p{Co}\p{Cs}\p{Cc}\p{Z}\u200e\u200f\u202a-\u202e\u2061-\u206f\ufff9-\uffff\u2ff0-\u2fff\u{e0001}-\u{e007f}]/u;
const mapped = text => text.replace(dropped, '').normalize('NFKC').replace(/\u1e9e/g, 'ss').toLowerCase()
    .normalize('NFKC').replace(/[\u3002\uff0e\uff61]/g, '.').replace(dropped, '');
const isValid = label => !refused.test(label) && !/^\p{M}/u.test(label)
    && !/(?:^|[^\p{M}\u0640\p{L}])[\u200c\u200d]/u.test(label);

// The form in ASCII and lower case; undefined: there is none.
exports.toASCII = domain => {
    const isAscii = !/[^\0-\x7f]/.test(domain);
    const text = isAscii ? domain.toLowerCase() : mapped(domain);
    if (isAscii && !text.includes('xn--')) return text;
    const labels = [];
    for (const label of text.split('.')) {
        if (label.startsWith('xn--')) {
            const inside = decode(label.slice(4));
            // An empty one, one that needs no Punycode, and one that would have been written otherwise.
            if (!inside || /^[\0-\x7f]*$/.test(inside) || mapped(inside) !== inside || !isValid(inside)) return undefined;
            if (`xn--${encode(inside)}` !== label) return undefined;
            labels.push(label);
        } else if (/[^\0-\x7f]/.test(label)) {
            const coded = isValid(label) ? encode(label) : undefined;
            if (coded === undefined) return undefined;
            labels.push(`xn--${coded}`);
        } else {
            labels.push(label);
        }
    }
    return labels.join('.');
};
exports.toUnicode = domain => domain.split('.').map(label => label.startsWith('xn--')
    ? decode(label.slice(4)) ?? label : label).join('.');
