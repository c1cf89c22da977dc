// SPDX-License-Identifier: MIT
// peer_quickjs.js - measures quickjs-emscripten for lazaret-bench: node peer_quickjs.js WHAT N
// prints N times in microseconds; status 77: the package is not installed (see NODE_PATH).
'use strict';

let emscripten;
try {
    emscripten = require('quickjs-emscripten');
} catch {
    process.exit(77);
}

const [what, samples] = [process.argv[2], Number(process.argv[3])];
const now = () => Number(process.hrtime.bigint()) / 1e3;

// Opens a runtime whose code can call add(1, 2) of this process.
function open(quickjs, add) {
    const runtime = quickjs.newRuntime();
    const context = runtime.newContext();
    const tool = context.newFunction('add', (a, b) =>
        context.newNumber(add(context.getNumber(a), context.getNumber(b))));
    context.setProp(context.global, 'add', tool);
    tool.dispose();
    return { runtime, context };
}

function evaluate(context, code) {
    const result = context.unwrapResult(context.evalCode(code));
    const value = context.dump(result);
    result.dispose();
    return value;
}

function close({ runtime, context }) {
    context.dispose();
    runtime.dispose();
}

function session(quickjs) {
    const before = now();
    const opened = open(quickjs, (a, b) => a + b);
    evaluate(opened.context, '1+1');
    evaluate(opened.context, 'add(1, 2)');
    const took = now() - before;
    close(opened);
    return [took];
}

function execute(quickjs) {
    const opened = open(quickjs, (a, b) => a + b);
    const times = [];
    for (let i = -100; i < samples; i++) {
        const before = now();
        evaluate(opened.context, '1+1');
        if (i >= 0)
            times.push(now() - before);
    }
    close(opened);
    return times;
}

// Measures from the arrival of one call to that of the next.
function toolCall(quickjs) {
    const arrivals = [];
    const opened = open(quickjs, (a, b) => {
        arrivals.push(now());
        return a + b;
    });
    evaluate(opened.context, `for (let i = 0; i < ${samples + 101}; i++) add(1, 2)`);
    close(opened);
    return arrivals.slice(101).map((at, i) => at - arrivals[i + 100]);
}

async function main() {
    const quickjs = await emscripten.getQuickJS();
    let times = [];
    if (what === 'session') {
        session(quickjs);
        while (times.length < samples)
            times = times.concat(session(quickjs));
    } else {
        times = what === 'execute' ? execute(quickjs) : toolCall(quickjs);
    }
    console.log(times.map((us) => us.toFixed(2)).join('\n'));
}

main();
