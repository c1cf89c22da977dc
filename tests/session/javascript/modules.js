// string_decoder, os, perf_hooks, timers/promises.
const main = async () => {
const attempt = (name, work) => {
    try {
        console.log(name, String(work()));
    } catch (error) {
        console.log(name, 'throws', error.name, error.code, error.message);
    }
};
const { StringDecoder } = require('string_decoder');
{
    const text = 'é€😀z';
    for (const encoding of ['utf8', 'utf16le', 'base64', 'hex', 'latin1', 'base64url']) {
        const decoder = new StringDecoder(encoding);
        const got = [];
        for (const byte of Buffer.from(text, encoding === 'utf16le' ? encoding : 'utf8')) got.push(decoder.write(Buffer.from([byte])));
        got.push(decoder.end());
        console.log(decoder.encoding, JSON.stringify(got));
    }
    const decoder = new StringDecoder('UTF-8');
    console.log(decoder.encoding, JSON.stringify([decoder.write(Buffer.from([0xe2, 0x82])), decoder.end(), decoder.write(Buffer.from([0xe2])), decoder.write(Buffer.from([0x41])), decoder.end(Buffer.from([0xf0]))]));
    attempt('encoding', () => new StringDecoder('klingon'));
    attempt('write', () => decoder.write(5));
}
const os = require('node:os');
console.log(JSON.stringify(os.EOL), os.platform(), os.type(), os.endianness(), os.devNull, `${os.arch}` === os.arch());
console.log(os.cpus().length === os.availableParallelism(), os.cpus().length > 0, os.totalmem() >= os.freemem(), os.freemem() > 0, os.uptime() > 0, os.loadavg().length, typeof os.hostname(), typeof os.release());
console.log(os.tmpdir().startsWith('/'), os.homedir().startsWith('/'), Object.keys(os.userInfo()).sort().join(), os.constants.signals.SIGKILL, os.constants.signals.SIGTERM);
const { performance: same } = require('perf_hooks');
{
    const before = performance.now();
    const mark = performance.mark('a', { detail: 5 });
    performance.mark('b');
    const measure = performance.measure('a to b', 'a', 'b');
    console.log(same === performance, typeof before, before >= 0, performance.now() >= before, performance.timeOrigin <= Date.now());
    console.log(mark.name, mark.entryType, mark.duration, mark.detail, measure.entryType, measure.duration >= 0, performance.getEntriesByType('mark').length, performance.getEntriesByName('a to b').length);
    attempt('mark', () => performance.measure('x', 'never'));
    performance.clearMarks();
    performance.clearMeasures();
    console.log(performance.getEntries().filter(entry => entry.entryType !== 'node').length);
}
const wait = require('timers/promises');
{
    console.log(await wait.setTimeout(1, 'value'), await wait.setImmediate('now'), await wait.scheduler.wait(1));
    const control = new AbortController();
    const promise = wait.setTimeout(100000, 'late', { signal: control.signal });
    control.abort();
    await promise.catch(error => console.log(error.name, error.code, error.message));
    await wait.setTimeout(1, 0, { signal: control.signal }).catch(error => console.log(error.name));
    let count = 0;
    for await (const value of wait.setInterval(1, 'tick')) {
        console.log(value, ++count);
        if (count === 3) break;
    }
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 1);
    try {
        for await (const value of wait.setInterval(100000, 'never', { signal: stop.signal })) console.log(value);
    } catch (error) {
        console.log('interval', error.name);
    }
}
};
main();
