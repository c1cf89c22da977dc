// SPDX-License-Identifier: MIT
// peer_isolated_vm.js - measures isolated-vm for lazaret-bench: node peer_isolated_vm.js WHAT N
// prints N times in microseconds; status 77: the package is not installed (see NODE_PATH).
'use strict';

let ivm;
try {
    ivm = require('isolated-vm');
} catch {
    process.exit(77);
}

const [what, samples] = [process.argv[2], Number(process.argv[3])];
const now = () => Number(process.hrtime.bigint()) / 1e3;

// Opens an isolate whose code can call add(1, 2) of this process.
async function open(add) {
    const isolate = new ivm.Isolate({ memoryLimit: 512 });
    const context = await isolate.createContext();
    await context.global.set('host', new ivm.Reference(add));
    await context.eval('function add(a, b) { return host.applySyncPromise(undefined, [a, b]); }');
    return { isolate, context };
}

async function session() {
    const before = now();
    const { isolate, context } = await open((a, b) => a + b);
    await context.eval('1+1');
    await context.eval('add(1, 2)');
    const took = now() - before;
    isolate.dispose();
    return [took];
}

async function execute() {
    const { isolate, context } = await open((a, b) => a + b);
    const times = [];
    for (let i = -100; i < samples; i++) {
        const before = now();
        await context.eval('1+1');
        if (i >= 0)
            times.push(now() - before);
    }
    isolate.dispose();
    return times;
}

// Measures from the arrival of one call to that of the next.
async function toolCall() {
    const arrivals = [];
    const { isolate, context } = await open((a, b) => {
        arrivals.push(now());
        return a + b;
    });
    await context.eval(`for (let i = 0; i < ${samples + 101}; i++) add(1, 2)`);
    isolate.dispose();
    return arrivals.slice(101).map((at, i) => at - arrivals[i + 100]);
}

async function main() {
    let times = [];
    if (what === 'session') {
        await session();
        while (times.length < samples)
            times = times.concat(await session());
    } else {
        times = what === 'execute' ? await execute() : await toolCall();
    }
    console.log(times.map((us) => us.toFixed(2)).join('\n'));
}

main();
