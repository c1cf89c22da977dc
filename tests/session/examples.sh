#!/bin/sh
# SPDX-License-Identifier: MIT
# examples.sh - the examples of R's help pages print the same with `lazaret run` as with Rscript.
#
# A sample of the pages in examples.txt; with LAZARET_TEST_FULL all of them. None of them prints
# times, addresses, names of temporary files or random numbers without a seed.
. "${0%/*}/lib.sh"

here=$(cd "${0%/*}" && pwd) || exit 1
lazaret=$PWD/lazaret
work=$(mktemp -d "${TMPDIR:-/tmp}/examples-test.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
HOME=$work/home
export HOME
mkdir -p "$HOME" "$work/pages"
be_patient
unset TZ LANG DISPLAY
sample=30 # ten pages, which are one script
[ -z "${LAZARET_TEST_FULL-}" ] || sample=1

# shown SIDE COMMAND... - runs it in an empty directory and keeps its output in $work/SIDE.
shown() {
    side=$work/$1 status=0
    shift
    rm -rf "$work/files"
    mkdir "$work/files"
    chmod 777 "$work/files"
    (cd "$work/files" && "$@" </dev/null >"$side" 2>"$work/err") || status=$?
    echo "status $status" >>"$side"
}

"$lazaret" check --runtime r -e '' >/dev/null 2>&1 || {
    may_be_missing r "no such runtime"
    exit $failures
}
pages=$(Rscript "$here/examples.R" "$here/examples.txt" "$work/pages" $sample) || exit 1
for file in "$work"/pages/*.R; do
    shown plain Rscript "$file"
    cases=$((cases + 1))
    grep -q '^status 0$' "$work/plain" || {
        tail -n 3 "$work/plain" >"$work/out"
        wrong "${file##*/}" "the examples do not run here"
    }
    shown box "$lazaret" run --write "$work/files" --cwd "$work/files" "$file"
    cases=$((cases + 1))
    diff "$work/plain" "$work/box" >"$work/out" 2>&1 ||
        wrong "${file##*/}" "is not shown as by Rscript (<)"
done

echo "$pages pages, $cases cases, $failures failures"
[ "$failures" = 0 ]
