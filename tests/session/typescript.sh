#!/bin/sh
# SPDX-License-Identifier: MIT
# typescript.sh - TypeScript in the runtime for JavaScript: files by their suffix, other code when it is no JavaScript;
# lines stay what they are, what is not only a type is refused. With a build that has sucrase
# (scripts/javascript-libraries).
. "${srcdir:-.}/tests/session/lib.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/typescript-lazaret.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
stage_open "$PWD/staged"
HOME=$work
export HOME
be_patient
: >"$work/out"
: >"$work/err"
look_for javascript
if ! is_installed javascript; then
    finish
    exit
fi
is_refused='TypeScript cannot be run: lazaret was built without sucrase'
cd "$work" || exit 1
cat >lines.ts <<'END'
interface Row {
  id: number; /* 2 */
  tags?: Array<
    string
  >;
}
const wrong: string[] = [], mark1 = mark(7);
type Kind =
  | 'a'
  | 'b'; mark(10);
function mark(line: number): number;
function mark<
  T
>(line: T, more?: { a: number }): T {
  const got = Number(new Error().stack!.split('\n')[1]!.match(/:(\d+):\d+$/)![1]);
  if (got !== line)
    wrong.push(`line ${line as unknown} is ${got}`);
  return line;
}
abstract class Shape<
  T extends object
> {
  private readonly x: number = 23;
  abstract area(): number;
  constructor(
    public name: string,
    protected size = mark(27)
  ) {
    mark(29);
  }
  get it(): string { return `${this.name}${this.size + this.x}`; }
}
class Square extends Shape<Row> {
  area(): number { return this.size ** 2; }
}
enum Level {
  Low,
  High = mark(38),
}
declare module 'x' {
  export const y: number;
}
const wide = <T extends
  object>(value: T) => (mark(44), value);
export type {
  Row
};
const table = {
  a: [1, 2] as const,
} satisfies Record<string, readonly number[]>; mark(50);
import type { A } from './none';
wide({} as Row)!;
console.log(new Square('s').it, new Square('q').area(), Level.High, Level[0], table.a.length, ...wrong);
END
cp lines.ts lines.mts
printf 'const x: number = 1\nnull!.y\n' >throws.ts
printf 'let x: number = 1;\nlet y: = 2;\n' >wrong.ts
printf 'let x = 1\nexport namespace Inner {\n  export const y = 1;\n}\n' >namespace.ts
printf 'declare namespace Types { const y: number; namespace Inner {} }\nconst x: number = 1;\n' >declared.ts
printf 'function made(c: any) {}\n@made class A {}\n' >decorator.ts
printf '1 as number\n' >plain.js

"$lazaret" run declared.ts >out 2>err
if contains err "$is_refused"; then
    may_be_missing javascript 'sucrase is not in this build'
    finish
    exit
fi
expect file 0 's50 729 38 Low 2' '' "$lazaret" run lines.ts
expect other_suffix 0 's50 729 38 Low 2' '' "$lazaret" run lines.mts
expect declared_namespaces_are_types 0 '' '' "$lazaret" run declared.ts
expect errors_have_their_line 1 '' 'throws.ts:2: TypeError' "$lazaret" run throws.ts
expect syntax_errors_have_their_line 1 '' 'wrong.ts:2: SyntaxError: Unexpected token' "$lazaret" run wrong.ts
expect namespaces_are_refused 1 '' 'namespace.ts:2: SyntaxError: namespaces of TypeScript are not supported' \
    "$lazaret" run namespace.ts
expect decorators_are_refused 1 '' 'decorator.ts:2: SyntaxError: decorators are not supported' \
    "$lazaret" run decorator.ts
expect a_file_of_javascript_has_no_types 1 '' 'plain.js:1: SyntaxError' "$lazaret" run plain.js
expect code 0 42 '' "$lazaret" run --runtime javascript -e 'const x: number = 40; enum E { A = 2 }; x + E.A'
expect code_is_javascript_first 0 false '' "$lazaret" run --runtime javascript -e 'const a = 1, b = 2, c = 3; a<b>(c)'
expect the_error_of_code_is_that_of_javascript 1 '' "SyntaxError: Unexpected token ':'" \
    "$lazaret" run --runtime javascript -e 'let x: = 1'
expect the_error_is_behind_the_types 1 '' '-e:2: SyntaxError: Unexpected token' \
    "$lazaret" run --runtime javascript -e 'const x: number = 40
const y = [x;'
expect and_may_be_that_of_the_engine 1 '' "-e:2: SyntaxError: Cannot declare a const variable twice: 'y'" \
    "$lazaret" run --runtime javascript -e 'const x: number = 40
const y = 1; const y = 2'
expect code_has_no_namespaces 1 '' 'namespaces of TypeScript are not supported' \
    "$lazaret" run --runtime javascript -e 'namespace Inner { export const y = 1 }'
expect checked 0 '' '' "$lazaret" check --runtime javascript -e 'const x: number = 40'
finish
