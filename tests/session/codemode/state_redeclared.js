const config = { retries: 1 };
const get = () => config.retries;
class Shape { area() { return 0; } }
import { join } from 'node:path';
var total = 1;
function helper() { return 'old'; }
// ---- next execution
const config = { retries: 5 };
class Shape { area() { return 1; } }
function helper() { return 'new'; }
var total = total + 1;
[get(), config.retries, new Shape().area(), helper(), total, join('a', 'b')];
// ---- next execution
await null;
let config = 'text';
const Shape = null;
try { const inner = 1; var leaked = inner; } finally { helper = () => 'assigned'; }
for (let i = 0; i < 2; i++) total *= 10;
console.log(get(), config, Shape, typeof i, leaked, helper());
total;
