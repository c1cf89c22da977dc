#!/usr/bin/env node
'use strict'
let a = 1, {b, c: [d = 2, ...e], ...f} = g
const h = /[/]\/[\]]/gu.test(`i${j + `k${{l: 1}.l}`}m`) ? .5 : n?.o?.[p]?.(q)
var r = s / 2 / t
for (const u of v) { w: for (var x = 0 in {}) continue w }
for await (let y of z) ;
if (a) function aa() {} else if (b) { c; await d } else { function* bb() { yield
yield* a; yield /re/ } }
do x; while (y) switch (z) { case a ? b : c: break; default: let d; }
try { throw e } catch ({f}) { g } finally { debugger }
a = b
++c
x = () => {}
/re/.test(y)
<!-- html
--> html
return import('a').then(async ({b = 1}, ...c) => import.meta)
