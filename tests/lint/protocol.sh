#!/bin/sh
# SPDX-License-Identifier: MIT
# protocol.sh - the tables of docs/protocol.md and docs/protocol.schema.json are what the table of
# messages in core/wire says. `protocol.sh --write` makes them again (make docs).
. "${srcdir:-.}/tests/lint/lib.sh"

page=$srcdir/docs/protocol.md
schema=$srcdir/docs/protocol.schema.json

# The page with the tables as they are now.
made() {
    ./write-protocol | awk -v page="$page" '
        { table = table $0 "\n" }
        END {
            while ((getline line < page) > 0) {
                if (line ~ /^<!-- end of table -->/) skip = 0
                if (!skip) print line
                if (line ~ /^<!-- table: /) { printf "\n%s\n", table; skip = 1 }
            }
        }'
}

if [ "${1-}" = --write ]; then
    made >"$page.new" && mv "$page.new" "$page"
    ./write-protocol --schema >"$schema.new" && mv "$schema.new" "$schema"
    exit
fi
# The comparison has to be able to fail.
if { ./write-protocol --schema; echo more; } | cmp -s - "$schema"; then
    wrong "a schema with another line at its end was taken for the same"
fi
made | diff -u "$page" - || wrong "docs/protocol.md is not what core/wire/table.c says: run make docs"
./write-protocol --schema | diff -u "$schema" - ||
    wrong "docs/protocol.schema.json is not what core/wire/table.c says: run make docs"
[ "$(grep -c '^| `' "$page")" -gt 50 ] || wrong "docs/protocol.md has lost its tables"
lint_end
