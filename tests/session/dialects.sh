#!/bin/sh
# SPDX-License-Identifier: MIT
# dialects.sh - session.dialect: what code finds that models write for another host; and the names
# text, image, store and load, which it finds in all of them.
. "${srcdir:-.}/tests/session/lib.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/dialects-test.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
stage_open "$PWD/staged"
HOME=$work
export HOME
look_for javascript
if ! is_installed javascript; then
    finish
    exit
fi
cd "$work" || exit 1
cat >tools.toml <<'END'
[session]
runtime = "javascript"
start_timeout = 600
timeout = 0
deadline = 0
[[tools]]
provider = "command"
[[tools.tool]]
name = "join-all"
command = ["/usr/bin/printf", "%s-%s", "{first}", "{second}"]
output = "text"
parameters = { first = "string", second = { type = "string", default = "none" } }
[[tools.tool]]
name = "load"
command = ["/usr/bin/printf", "%s", "{any}"]
output = "text"
parameters = { any = {} }
END

# says_of DIALECT CODE - runs it with these tools.
says_of() {
    "$lazaret" run --config tools.toml --set "session.dialect=$1" -e "$2"
}

one="'a-none'"
fenced='```js
async function main() {
  return 6;
}
```'
expect 'codemode: an arrow function' 0 "$one" '' \
    says_of codemode 'async () => await codemode.join_all({ first: "a" })'
expect 'codemode: the declared name' 0 "$one" '' \
    says_of codemode 'async () => codemode["join-all"]({ first: "a" })'
expect 'codemode: a function in a block of text' 0 6 '' says_of codemode "$fenced"
expect 'codemode: an export' 0 4 '' says_of codemode 'export default async () => { return 4; };'
expect 'codemode: statements' 0 "$one" '' says_of codemode 'const x = { first: "a" }; await codemode.join_all(x)'
expect 'codemode: a value that is a function' 0 '[Function: f]' '' says_of codemode 'const f = () => 1; f'
expect 'codemode: a function with an error' 1 '' '-e:1: Error: x' says_of codemode 'async () => { throw new Error("x"); }'
says 'codemode: the column is that of the code' 'at <code>:1:30'
expect 'codemode: one object alone' 1 '' "Tool 'join-all' takes one object of named arguments" \
    says_of codemode 'async () => codemode.join_all("a")'
expect 'codemode: one object is never the first argument' 1 '' "Unexpected arguments for tool 'load': 'x'" \
    says_of codemode 'codemode.load({ x: 1 })'
expect 'codemode: the tools are where they are otherwise, too' 0 "[ $one, $one ]" '' \
    says_of codemode 'await Promise.all([tools.join_all({ first: "a" }), join_all({ first: "a" })])'
expect 'ai-sdk: what a program returns' 0 "$one" '' \
    says_of ai-sdk 'const x = await tools.join_all({ first: "a" }); return x;'
expect 'ai-sdk: one object alone' 1 '' "Tool 'join-all' takes one object of named arguments" \
    says_of ai-sdk 'return tools.join_all("a")'
expect 'ai-sdk: there is no codemode' 0 "'undefined'" '' says_of ai-sdk 'typeof codemode'
expect 'none: arguments in order' 0 "$one" '' says_of '' 'await tools.join_all("a")'
expect 'none: a function is not called' 0 '[AsyncFunction (anonymous)]' '' says_of '' 'async () => 1'
expect 'of the runtime alone' 0 7 '' \
    "$lazaret" run --config tools.toml --set runtime.javascript.dialect=codemode -e 'async () => 7'
expect 'of the runtime before that of the session' 0 "'undefined'" '' "$lazaret" run --config tools.toml \
    --set runtime.javascript.dialect=ai-sdk --set session.dialect=codemode -e 'typeof codemode'
expect 'there is no such dialect' 2 '' 'session.dialect: the runtime javascript has no dialect "other"' says_of other 1
expect 'there are none' 2 '' 'session.dialect: the runtime shell has no dialects' \
    "$lazaret" run --runtime shell --set session.dialect=codemode -e :

expect 'text shows values' 0 'a
{"b":[1]}
undefined
10n' '' says_of '' 'for (const x of ["a", { b: [1] }, undefined, 10n]) text(x)'
expect 'a tool goes before a name of another host' 0 "[ '5', [ 1 ], undefined ]" '' says_of '' \
    'const x = [1]; store("k", x); x.push(2); [await load("5"), lazaret.load("k"), lazaret.load("other")]'
expect 'code may have these names' 0 6 '' says_of '' 'const text = 5; function store() { return 1; } text + store()'
expect 'pictures' 0 '*' 'saved art/image-1.png (image/png, 8 bytes)' "$lazaret" run --config tools.toml --artifacts art -e \
    'image("data:image/png;base64,iVBORw0KGgo="); image({ data: "/9j/4A==", mimeType: "image/jpeg" }, "high"); image(new Uint8Array([71, 73, 70, 56]), "own.gif")'
says 'a picture of a tool of MCP' 'saved art/image-2.jpg (image/jpeg, 4 bytes)'
says 'a picture with a name' 'saved art/own.gif (image/gif, 4 bytes)'
expect 'a picture is not fetched' 1 '' 'TypeError: image() takes bytes, or a data: URL' says_of '' 'image("https://example.org/a.png")'
finish
