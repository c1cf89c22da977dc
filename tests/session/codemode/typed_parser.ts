// A calculator: tokens, a tree, its value.
type Token = { kind: 'number'; value: number } | { kind: 'op'; value: string };
type Node = number | { op: string; left: Node; right: Node } | { op: 'neg'; of: Node };
function* tokens(text: string): Generator<Token> {
  const re = /\s*(?:(\d+(?:\.\d+)?)|(.))/gy;
  for (const [, n, op] of text.trimEnd().matchAll(re))
    yield n !== undefined ? { kind: 'number', value: parseFloat(n) } : { kind: 'op', value: op };
}
class Parser {
  private readonly list: Token[];
  private at = 0;
  constructor(text: string) { this.list = [...tokens(text)]; }
  private take(...ops: string[]): string | undefined {
    const t = this.list[this.at];
    if (t?.kind === 'op' && ops.includes(t.value)) { this.at++; return t.value; }
    return undefined;
  }
  private binary(next: () => Node, ...ops: string[]): Node {
    let left = next();
    for (let op: string | undefined; (op = this.take(...ops)); ) left = { op, left, right: next() };
    return left;
  }
  private sum = (): Node => this.binary(this.product, '+', '-');
  private product = (): Node => this.binary(this.unary, '*', '/');
  private unary = (): Node => this.take('-') ? { op: 'neg', of: this.unary() } : this.atom();
  private atom = (): Node => {
    if (this.take('(')) {
      const inside = this.sum();
      if (!this.take(')')) throw new SyntaxError('missing )');
      return inside;
    }
    const t = this.list[this.at++];
    if (t?.kind !== 'number') throw new SyntaxError(`unexpected ${t?.value ?? 'end'}`);
    return t.value;
  };
  parse(): Node {
    const tree = this.sum();
    if (this.at < this.list.length) throw new SyntaxError(`unexpected ${this.list[this.at]!.value}`);
    return tree;
  }
}
const ops: Record<string, (a: number, b: number) => number> = { '+': (a, b) => a + b, '-': (a, b) => a - b, '*': (a, b) => a * b, '/': (a, b) => a / b };
const evaluate = (n: Node): number => typeof n === 'number' ? n : 'of' in n ? -evaluate(n.of) : ops[n.op]!(evaluate(n.left), evaluate(n.right));
const calc = (text: string): number | string => { try { return evaluate(new Parser(text).parse()); } catch (e) { return String(e); } };
console.log(new Parser('1+2*-3').parse());
['2 * (3 + 4) - 10 / 4', '1 - 2 - 3', '-(-2)', '2 +', '(1', '1 2', '1/0'].map(calc);
