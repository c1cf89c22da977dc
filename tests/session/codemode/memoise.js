const memo = (f, key = JSON.stringify) => {
  const seen = new Map();
  return Object.assign((...args) => {
    const k = key(args);
    if (!seen.has(k)) seen.set(k, f(...args));
    return seen.get(k);
  }, { seen });
};
let calls = 0;
const ways = memo((coins, sum) => {
  calls++;
  if (sum === 0) return 1;
  if (sum < 0 || !coins.length) return 0;
  return ways(coins, sum - coins[0]) + ways(coins.slice(1), sum);
});
const lcs = (a, b) => {
  const t = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = 1; i <= a.length; i++) for (let j = 1; j <= b.length; j++)
    t[i][j] = a[i - 1] === b[j - 1] ? t[i - 1][j - 1] + 1 : Math.max(t[i - 1][j], t[i][j - 1]);
  let out = '';
  for (let i = a.length, j = b.length; i && j;)
    if (a[i - 1] === b[j - 1]) { out = a[i - 1] + out; i--; j--; } else if (t[i - 1][j] >= t[i][j - 1]) i--; else j--;
  return out;
};
const permutations = (s) => s.length < 2 ? [s] : [...s].flatMap((c, i) => permutations(s.slice(0, i) + s.slice(i + 1)).map((p) => c + p));
const hanoi = (n, a = 'A', b = 'B', c = 'C') => n ? [...hanoi(n - 1, a, c, b), a + c, ...hanoi(n - 1, b, a, c)] : [];
console.log(ways([50, 20, 10, 5, 2, 1], 100), calls === ways.seen.size, lcs('AGGTAB', 'GXTXAYB'));
let deep = 0;
const forever = () => { deep++; forever(); };
let overflow;
try { forever(); } catch (e) { overflow = e instanceof RangeError; }
({ permutations: permutations('abc'), moves: hanoi(3).join(' '), overflow, deep: deep > 1000 });
