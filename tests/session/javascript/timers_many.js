// Hundreds of thousands of timers take as long each as a few: they are due in their order.
let ran = 0;
const made = [];
for (let i = 0; i < 300000; i++) made.push(setTimeout(() => { ran++; }, i % 7));
for (let i = 0; i < 300000; i += 2) clearTimeout(made[i]);
setTimeout(() => console.log(ran), 20);
