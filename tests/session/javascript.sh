#!/bin/sh
# SPDX-License-Identifier: MIT
# javascript.sh - programs of tests/session/javascript print what is expected (NAME.out), each run by
# `lazaret run` in a directory of its own, with the files of NAME.d, if there are any, beside it.
. "${0%/*}/lib.sh"

programs=$(cd "${0%/*}/javascript" && pwd) || exit 1
work=$(mktemp -d "${TMPDIR:-/tmp}/javascript-test.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
HOME=$work/home
export HOME
mkdir -p "$HOME"
stage_open "$PWD/staged"
be_patient
unset TZ LANG DISPLAY NODE_PATH
look_for javascript
if ! is_installed javascript; then
    finish
    exit
fi

for expected in "$programs"/*.out; do
    name=${expected##*/}
    name=${name%.out}
    place=$work/$name
    mkdir -p "$place"
    cp "$programs/$name.js" "$place/"
    [ ! -d "$programs/$name.d" ] || cp -R "$programs/$name.d/." "$place/"
    chmod -R u+w,a+rX "$place"
    status=0
    (cd "$place" && "$lazaret" run "$name.js" </dev/null >"$work/out" 2>"$work/err") || status=$?
    cases=$((cases + 1))
    if [ "$status" -ne 0 ]; then
        : >"$work/out"
        wrong "$name" "status $status"
    elif ! diff -u "$expected" "$work/out" >"$work/diff"; then
        mv "$work/diff" "$work/out"
        wrong "$name" "it prints something else"
    fi
done

# Libraries: a file that exports, one that defines a global name, packages.
libraries=$work/libraries
mkdir -p "$libraries/plain/lib" "$libraries/new/dist"
cat >"$libraries/both.min.js" <<'END'
(function (root, make) {
    typeof exports === 'object' ? module.exports = make() : root.both = make();
})(this, function () { return { two: 2 }; });
END
echo 'var Named = (function () { return { three: 3 }; })();' >"$libraries/named.js"
echo '{"name": "plain", "main": "./lib/index.js"}' >"$libraries/plain/package.json"
echo 'exports.four = require("./other").value;' >"$libraries/plain/lib/index.js"
echo 'exports.value = 4;' >"$libraries/plain/lib/other.js"
echo '{"name": "new", "type": "module", "exports": {".": {"default": "./dist/index.mjs"}}}' >"$libraries/new/package.json"
echo 'export const five = 5; export default class Six {}' >"$libraries/new/dist/index.mjs"
echo 'exports = {' >"$libraries/wrong.js"
chmod -R a+rX "$libraries"
expect libraries 0 '[ 2, 3, 4, 5 ]' '' "$lazaret" run --runtime javascript \
    --set "runtime.javascript.libraries=['$libraries/both.min.js', '$libraries/named.js', '$libraries/plain', '$libraries/new']" \
    -e 'import {five} from "new"; const named = await import("named");
        [require("both").two, named.default.three, require("plain").four, five]'
expect default_exports_of_libraries 0 "[ 'Six', 5, true ]" '' "$lazaret" run --runtime javascript \
    --set "runtime.javascript.libraries=['$libraries/new']" \
    -e 'import Six, {five} from "new"; [Six.name, five, (await import("new")).default === Six]'
echo 'exports.six = require("both").two + 4;' >"$libraries/needs.js"
expect a_library_needs_a_later_one 0 6 '' "$lazaret" run --runtime javascript \
    --set "runtime.javascript.libraries=['$libraries/needs.js', '$libraries/both.min.js']" -e 'require("needs").six'
circle=$work/circle
mkdir -p "$circle"
echo 'import {look, At} from "./at.mjs"; export const table = {one: 1}; export class Row extends At {}
    console.log(look(), At.name)' >"$circle/circle.mjs"
echo 'import {table, Row} from "./circle.mjs"; export class At {}
    export const look = () => Object.keys(table) + table.one + (new Row() instanceof Row)' >"$circle/at.mjs"
printf 'import {Row} from "./circle.mjs"\nimport {look} from "./at.mjs"\nconsole.log(look(), Row.name)\n' >"$circle/main.mjs"
chmod -R a+rX "$circle"
expect files_that_import_each_other 0 'one1true At
one1true Row' '' "$lazaret" run "$circle/main.mjs"
expect a_library_is_missing 2 '' 'no such file' "$lazaret" run --runtime javascript \
    --set "runtime.javascript.libraries=['$libraries/none.js']" -e 1
expect a_library_is_wrong 125 '' 'wrong.js: Unexpected token' "$lazaret" run --runtime javascript \
    --set "runtime.javascript.libraries=['$libraries/wrong.js']" -e 1
expect modules_are_listed 1 '' 'the libraries both;' "$lazaret" run --runtime javascript \
    --set "runtime.javascript.libraries=['$libraries/both.min.js']" -e 'require("axios")'
expect a_value_takes_little_more_than_its_text 0 '{ a: { b: { c: [Array] } } }' '' "$lazaret" run --runtime javascript \
    --set limits.memory=270MiB -e '({a: {b: {c: Array.from({length: 3e5}, (_, id) => ({id, name: "n" + id}))}}})'
# The engine collects garbage all the time.
echo 'const own = process.argv.slice(2); console.log(own.length, own.every((text, i) => text === "argument " + (i + 1)));' \
    >"$work/argv.js"
IFS='
'
# shellcheck disable=SC2046 # a word for each line
expect arguments_are_not_garbage 0 '2000 true' '' "$lazaret" -q run --env JSC_slowPathAllocsBetweenGCs=2 \
    --env JSC_scribbleFreeCells=1 "$work/argv.js" $(awk 'BEGIN { for (i = 1; i <= 2000; i++) print "argument " i }')
unset IFS
printf 'process.exitCode = 3\nconsole.log("ran")\n' >"$work/status.js"
expect a_status_of_its_own 3 ran '' "$lazaret" run "$work/status.js"
finish
