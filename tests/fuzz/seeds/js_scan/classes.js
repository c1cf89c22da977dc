class A extends (await B) { static; get; set
async
m() {} static async *[n]() {} #p = 1; static { var q; return_ } get r() { return #p in this }
get
*s() {} 'str' = async x => await x; 5 = new.target; constructor() { super() } static x = class {} }
let o = {get a() {}, set a(v) {}, async b() {}, async *c() {}, get, set, [d]: 1, 'e': 2, 3: 4, ...f}, \u0076, v = 0x1n + 1_0.5e-3
function f() {} var f; async function g() { for await (x of y); }
