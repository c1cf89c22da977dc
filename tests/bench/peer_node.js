// SPDX-License-Identifier: MIT
// peer_node.js - measures node's own workers and processes for lazaret-bench, which are not sandbox:
// node peer_node.js worker|fork session|execute|tool_call N prints N times in microseconds.
'use strict';

const { fork } = require('node:child_process');
const { Worker, parentPort } = require('node:worker_threads');

const now = () => Number(process.hrtime.bigint()) / 1e3;

// Inside: evaluates the code that it gets, which can call add(1, 2) of the process outside.
function inside() {
    const send = (message) => (parentPort ? parentPort.postMessage(message) : process.send(message));
    const waiting = [];
    // eslint-disable-next-line no-unused-vars -- called by the code
    const add = (a, b) =>
        new Promise((answered) => {
            waiting.push(answered);
            send({ call: [a, b] });
        });
    (parentPort ?? process).on('message', async (message) => {
        if ('answer' in message)
            waiting.shift()(message.answer);
        else
            send({ value: await eval(message.code) });
    });
}

// Outside: starts one, and gives functions that evaluate code there and end it.
function open(how, add) {
    const peer = how === 'worker' ? new Worker(__filename, { argv: ['inside'] })
        : fork(__filename, ['inside']);
    const send = (message) => (how === 'worker' ? peer.postMessage(message) : peer.send(message));
    let done;
    peer.on('message', (message) => {
        if ('call' in message)
            send({ answer: add(...message.call) });
        else
            done(message.value);
    });
    return {
        evaluate: (code) =>
            new Promise((resolve) => {
                done = resolve;
                send({ code });
            }),
        end: () =>
            new Promise((resolve) => {
                peer.on('exit', resolve);
                if (how === 'worker')
                    peer.terminate();
                else
                    peer.kill('SIGKILL');
            }),
    };
}

async function session(how) {
    const before = now();
    const { evaluate, end } = open(how, (a, b) => a + b);
    const good = (await evaluate('1+1')) === 2 && (await evaluate('add(1, 2)')) === 3;
    const took = now() - before;
    await end();
    if (!good)
        process.exit(1);
    return took;
}

async function execute(how, samples) {
    const { evaluate, end } = open(how, (a, b) => a + b);
    const times = [];
    for (let i = -100; i < samples; i++) {
        const before = now();
        await evaluate('1+1');
        if (i >= 0)
            times.push(now() - before);
    }
    await end();
    return times;
}

// Measures from the arrival of one call to that of the next.
async function toolCall(how, samples) {
    const arrivals = [];
    const { evaluate, end } = open(how, (a, b) => {
        arrivals.push(now());
        return a + b;
    });
    await evaluate(`(async () => { for (let i = 0; i < ${samples + 101}; i++) await add(1, 2); })()`);
    await end();
    return arrivals.slice(101).map((at, i) => at - arrivals[i + 100]);
}

async function main() {
    const [how, what, samples] = [process.argv[2], process.argv[3], Number(process.argv[4])];
    let times = [];
    if (what === 'session') {
        await session(how);
        while (times.length < samples)
            times.push(await session(how));
    } else {
        times = await (what === 'execute' ? execute : toolCall)(how, samples);
    }
    console.log(times.map((us) => us.toFixed(2)).join('\n'));
}

if (process.argv[2] === 'inside')
    inside();
else
    main();
