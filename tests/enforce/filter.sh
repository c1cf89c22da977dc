#!/bin/sh
# SPDX-License-Identifier: MIT
# filter.sh - tests the program that makes the filter of system calls: its output for another
# machine does not compile here, and for an unknown machine it makes none.
set -u
LC_ALL=C
export LC_ALL
make=core/os/linux/filter-make
if [ ! -x "$make" ]; then
    case ,${LAZARET_TEST_NEED-}, in
        *,filter,* | *,all,*) echo "needed but missing: filter: built without one"; exit 1 ;;
    esac
    echo "SKIP filter: built without one"
    exit 77
fi
directory=$(mktemp -d "${TMPDIR:-/tmp}/filter-test.XXXXXXXX") || exit 1
trap 'rm -rf "$directory"' EXIT
failed=0

wrong() {
    printf '%s\n' "$*"
    failed=1
}

# compiles CPU - does the output for this CPU compile with this build's compiler?
compiles() {
    "$make" "$1" >"$directory/made.h" || wrong "nothing is made for $1"
    printf '#include <linux/filter.h>\n#include "made.h"\nint n = sizeof filter_session + %s;\n' \
        'sizeof filter_same_user + sizeof filter_network' >"$directory/use.c"
    # shellcheck disable=SC2086
    ${CC:-cc} -c -o "$directory/use.o" "$directory/use.c" 2>"$directory/err"
}

here=$(uname -m)
n=0
for cpu in x86_64 aarch64 riscv64; do
    if [ "$cpu" = "$here" ]; then
        compiles "$cpu" || wrong "what is made for $cpu does not compile on $here"
        n=$((n + 1))
    elif compiles "$cpu"; then
        wrong "a filter for $cpu compiles on $here"
    elif ! grep -q 'for another architecture' "$directory/err"; then
        wrong "$(cat "$directory/err")"
    fi
done
[ "$n" -eq 1 ] || echo "SKIP filter: none is known for $here"

if "$make" vax >"$directory/made.h" 2>"$directory/err"; then
    wrong "a filter was made for a vax"
fi
[ ! -s "$directory/made.h" ] || wrong "something was made for a vax"
grep -q 'No filter is known for vax' "$directory/err" || wrong "it does not say what it does not know"
exit "$failed"
