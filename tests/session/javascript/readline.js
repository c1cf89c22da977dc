// Lines of streams, questions, and what moves the cursor of a terminal.
const readline = require('readline');
const { Readable } = require('stream');
const { createReadStream, writeFileSync } = require('fs');
(async () => {
  writeFileSync("lines.txt", 'one\ntwo\r\nthree\rfour\n\nlast');
  const rl = readline.createInterface({ input: createReadStream("lines.txt"), crlfDelay: Infinity });
  let n = 0;
  for await (const line of rl) console.log(++n, JSON.stringify(line));
  const r2 = readline.createInterface({ input: Readable.from(['a\r', '\nb', 'c\nd', 'é'.slice(0)]) });
  r2.on('line', (l) => console.log('line', JSON.stringify(l)));
  await new Promise((r) => r2.on('close', r));
  const r3 = readline.createInterface({ input: Readable.from(['Ann\n42\n']), output: process.stdout });
  r3.question('name? ', (name) => { console.log('hi', name); r3.question('age? ', (age) => { console.log('age', age); r3.close(); }); });
  await new Promise((r) => r3.on('close', r));
  const { createInterface } = require('readline/promises');
  const r4 = createInterface({ input: Readable.from(['x\n']), output: process.stdout });
  console.log(await r4.question('q? '));
  r4.close();
  try { await r4.question('again'); } catch (e) { console.log(e.code, e.message); }
  const r5 = readline.createInterface({ input: Readable.from(['1\n2\n3\n']) });
  for await (const l of r5) { if (l === '2') break; console.log(l); }
  console.log(r5.closed);
  try { readline.createInterface({}); } catch (e) { console.log(e.code, e.message); }
  readline.cursorTo(process.stdout, 0); readline.clearLine(process.stdout, 0); readline.moveCursor(process.stdout, -2, 1);
  console.log(Object.keys(readline).sort().join());
})();
