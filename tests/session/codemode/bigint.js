const factorial = (n) => n < 2n ? 1n : n * factorial(n - 1n);
const power = (base, e, m) => { let r = 1n; for (base %= m; e > 0n; e >>= 1n) { if (e & 1n) r = r * base % m; base = base * base % m; } return r; };
const gcd = (a, b) => b ? gcd(b, a % b) : a;
const fib = (n) => { let [a, b] = [0n, 1n]; while (n-- > 0) [a, b] = [b, a + b]; return a; };
console.log(factorial(25n), [power(3n, 10n ** 18n, 1000000007n), gcd(2n ** 60n, 6n ** 20n)]);
console.log(typeof 1n, 7n / 2n, -7n % 3n, BigInt.asUintN(64, -1n), BigInt('0xff'), 2n ** 64n > 1e19, 1n + BigInt(Number.MAX_SAFE_INTEGER));
let said;
try { 1n + 1; } catch (e) { said = e.name; }
try { JSON.stringify({ n: 1n }); } catch (e) { said += ' ' + e.name; }
const back = await echo(2n ** 70n);
({ said, digits: String(fib(1000)).length, small: 12n, large: fib(100), same: back === 2n ** 70n, sum: [...'12345678901234567890'].reduce((s, d) => s * 10n + BigInt(d), 0n) });
