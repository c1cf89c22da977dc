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
finish
