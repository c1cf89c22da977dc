#!/bin/sh
# SPDX-License-Identifier: MIT
# threats.sh - the first table of docs/threat-model.md agrees with the probes, and every test that
# its second table names exists; and docs/network-ways.md agrees with the ways that tests/network
# tries. `threats.sh --write` makes the first table and the other page anew (make docs).
. "${srcdir:-.}/tests/lint/lib.sh"

page=$srcdir/docs/threat-model.md

# Prints the page with the current table.
made() {
    awk '/^<!-- table: /{ print; while ((getline line < "/dev/stdin") > 0) print line; skip = 1 }
        /^<!-- end of table -->/{ skip = 0 }
        !skip { print }' "$page" <<EOT
$(./probe-table)
EOT
}

# Prints the page of ways around a network list.
ways=$srcdir/docs/network-ways.md
made_ways() {
    PYTHONDONTWRITEBYTECODE=1 python3 "$srcdir/tests/network/ways.py" --list
}

if [ "${1-}" = --write ]; then
    made_ways >"$ways.new" && mv "$ways.new" "$ways" || exit
    made >"$page.new" && mv "$page.new" "$page"
    exit
fi
made | diff -u "$page" - || wrong "docs/threat-model.md is not what tests/enforce/probes.c says: run make docs"
[ "$(grep -c '^| ' "$page")" -gt 100 ] || wrong "docs/threat-model.md has lost its tables"

if command -v python3 >/dev/null 2>&1; then
    made_ways | diff -u "$ways" - || wrong "docs/network-ways.md is not what tests/network/ways.txt says: run make docs"
    [ "$(grep -c '^| ' "$ways")" -gt 100 ] || wrong "docs/network-ways.md has lost its table"
fi

tests=0
for test in $(sed '1,/^<!-- end of table/d' "$page" | grep -oE '[a-z_/]+\.(c|sh|py|cases):[A-Za-z0-9_]+'); do
    tests=$((tests + 1))
    lint_test_exists "${test%%:*}" "${test#*:}" || wrong "docs/threat-model.md: there is no test $test"
done
[ "$tests" -gt 0 ] || wrong "docs/threat-model.md names no test"
lint_end
