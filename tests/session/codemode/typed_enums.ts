enum Level { Debug, Info = 10, Warn, Error = 'ERROR' as any }
enum Colour { Red = 'red', Green = 'green' }
const enum Flags { None = 0, Read = 1 << 0, Write = 1 << 1, All = Read | Write }
type Name = keyof typeof Level;
const names = Object.keys(Level).filter((k) => isNaN(Number(k))) as Name[];
const can = (f: Flags, what: Flags): boolean => (f & what) === what;
function assertNever(x: never): never { throw new Error(`unexpected: ${x}`); }
function paint(c: Colour): string {
  switch (c) {
    case Colour.Red: return '#f00';
    case Colour.Green: return '#0f0';
    default: return assertNever(c);
  }
}
let said = '';
try { paint('blue' as Colour); } catch (e) { said = (e as Error).message; }
console.log(names, Level[11], Level.Warn, Object.values(Colour));
declare const missing: string;
[paint(Colour.Green), can(Flags.All, Flags.Write), can(Flags.None, Flags.Read), said, typeof missing];
