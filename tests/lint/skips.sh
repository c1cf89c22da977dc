#!/bin/sh
# SPDX-License-Identifier: MIT
# skips.sh - scripts/check ends with what was skipped: a line for each reason, with the tests that have
# it, also for a part of a test that passed, and for a test that gives none.
. "${srcdir:-.}/tests/lint/lib.sh"

made=$(mktemp -d "${TMPDIR:-/tmp}/skips-lint.XXXXXXXX") || exit 1
trap 'rm -rf "$made"' EXIT

# test_ended NAME OUTCOME LINE... - what tests/driver.sh leaves of a test.
test_ended() {
    mkdir -p "$made/$(dirname "$1")"
    printf ':test-result: %s\n:global-test-result: %s\n' "$2" "$2" >"$made/$1.trs"
    file=$made/$1.log ended="$2 $1"
    shift 2
    { [ $# -eq 0 ] || printf '%s\n' "$@"; echo "$ended (exit status: 0); 1 ms, 1 ms of CPU time"; } >"$file"
}

test_ended test_one PASS 'Test: a ...' '    SKIP root: this needs root' passed
test_ended test_two PASS '    SKIP root: this needs root' '    SKIP root: this needs root'
test_ended tests/as/user/test_three SKIP 'SKIP user: only scripts/check makes the copy'
test_ended test_four SKIP
test_ended test_five FAIL 'no SKIP here'
mkdir "$made/lazaret-0.1.0"
cp "$made/test_one.trs" "$made/test_one.log" "$made/lazaret-0.1.0" # the build of an archive

told=$(
    top=$made
    . "$srcdir/scripts/lib.sh"
    skips_in "$made" | skips_told
)
right='  skipped: it does not say why (test_four)
  skipped: root: this needs root (test_one, test_two)
  skipped: user: only scripts/check makes the copy (user/test_three)'
[ "$told" = "$right" ] || wrong "skips are told as:
$told"
grep -q '^\[ -n "$stress" \] || skips_told <build/skips.tsv$' "$srcdir/scripts/check" ||
    wrong "scripts/check does not tell them"
lint_end
