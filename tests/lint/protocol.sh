#!/bin/sh
# SPDX-License-Identifier: MIT
# protocol.sh - the tables of docs/protocol.md and docs/host-protocol.md, and their schemas, are what
# the tables of messages in core/wire and core/serve say. `protocol.sh --write` makes them again (make
# docs).
. "${srcdir:-.}/tests/lint/lib.sh"

# made PAGE ARGUMENTS... - the page with the tables as they are now.
made() {
    made_of=$1
    shift
    ./write-protocol "$@" | awk -v page="$made_of" '
        { table = table $0 "\n" }
        END {
            while ((getline line < page) > 0) {
                if (line ~ /^<!-- end of table -->/) skip = 0
                if (!skip) print line
                if (line ~ /^<!-- table: /) { printf "\n%s\n", table; skip = 1 }
            }
        }'
}

# held SOURCE NAME WRITE ARGUMENTS... - the page docs/NAME.md and its schema.
held() {
    source=$1 name=$2 write=$3 page=$srcdir/docs/$2.md schema=$srcdir/docs/$2.schema.json
    shift 3
    if [ "$write" = --write ]; then
        made "$page" "$@" >"$page.new" && mv "$page.new" "$page"
        ./write-protocol "$@" --schema >"$schema.new" && mv "$schema.new" "$schema"
        return
    fi
    # The comparison has to be able to fail.
    if { ./write-protocol "$@" --schema; echo more; } | cmp -s - "$schema"; then
        wrong "a schema with another line at its end was taken for the same"
    fi
    made "$page" "$@" | diff -u "$page" - || wrong "docs/$name.md is not what $source says: run make docs"
    ./write-protocol "$@" --schema | diff -u "$schema" - ||
        wrong "docs/$name.schema.json is not what $source says: run make docs"
    [ "$(grep -c '^| `' "$page")" -gt 50 ] || wrong "docs/$name.md has lost its tables"
}

held core/wire/table.c protocol "${1-}"
held core/host/message.c host-protocol "${1-}" host
[ "${1-}" != --write ] || exit 0
lint_end
