#!/bin/sh
# SPDX-License-Identifier: MIT
# behaviours.sh - tests/session/behaviours.txt has a line for each behaviour of the reference that
# was promised, and every test it names exists.
. "${srcdir:-.}/tests/lint/lib.sh"

table=$srcdir/tests/session/behaviours.txt
numbers=$(grep -oE '^[0-9]+' "$table")

promised() {
    seq 1 89
}

for number in $(promised); do
    n=$(printf '%s\n' "$numbers" | grep -cx "$number")
    [ "$n" -eq 1 ] || wrong "behaviours.txt: behaviour $number has $n lines"
done
for number in $numbers; do
    promised | grep -qx "$number" || wrong "behaviours.txt: there is no behaviour $number"
done

tests=0
while IFS='|' read -r what where; do
    case $what in
        '' | '#'*) continue ;;
    esac
    number=${what%% *}
    case $where in
        *'does not apply: '?*) continue ;;
    esac
    while [ -n "$where" ]; do
        test=$(printf '%s' "${where%%;*}" | sed 's/^ *//; s/ *$//')
        case $where in
            *';'*) where=${where#*;} ;;
            *) where= ;;
        esac
        tests=$((tests + 1))
        lint_test_exists "${test%%:*}" "${test#*:}" || wrong "behaviours.txt: $number: there is no test $test"
    done
done <"$table"
[ "$tests" -gt 0 ] || wrong "behaviours.txt names no test"
lint_end
