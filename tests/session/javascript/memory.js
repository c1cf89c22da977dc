// What nobody holds any more is collected before it exceeds the limit of the session.
const kept = Array.from({length: 30}, () => new Uint8Array(1e7).fill(1));
let sum = 0;
for (let round = 0; round < 40; round++) sum += new Uint8Array(1e7).fill(2)[round] + kept[7][8];
console.log(sum);
