#!/bin/sh
# SPDX-License-Identifier: MIT
# callbacks.sh - the tables of docs/callbacks.md are that of tests/session/callbacks.h, which
# test_callbacks executes, and have each public function that takes an engine or what is opened in
# one.
. "${srcdir:-.}/tests/lint/lib.sh"

page=$srcdir/docs/callbacks.md table=$srcdir/tests/session/callbacks.h

executed() {
    sed -n 's/^ *ROW(\(laz_[a-z_]*\), \([A-Z_, ]*\)).*/| `\1` | \2 |/p' "$1" | sed '
        s/, / | /g
        s/WORKS/yes/g; s/BUSY/`LAZ_EBUSY`/g; s/NO_EFFECT/no effect/g; s/NOTHING/`NULL`/g
        s/IN_USE/"[in use]"/g'
}
written() {
    grep -E '^\| `laz_[a-z_]*` \| (yes|`LAZ_EBUSY`|no effect|`NULL`|"\[in use\]") \|' "$1"
}
[ "$(executed "$table" | wc -l)" -gt 50 ] || wrong "tests/session/callbacks.h: no table was found"
[ "$(executed "$table")" = "$(written "$page")" ] ||
    wrong "docs/callbacks.md does not have the table of tests/session/callbacks.h"

others='laz_(settings|result|verdict|version|error|json|default)_|laz_version$'
declared=$(sed -n 's/^LAZ_EXPORT .*[ *]\(laz_[a-z_]*\)(.*/\1/p' \
    "$srcdir/core/include/lazaret/lazaret.h" | grep -vE "^($others)" | sort)
[ "$declared" = "$(executed "$table" | cut -d '`' -f 2 | sort)" ] ||
    wrong "tests/session/callbacks.h does not have each function of lazaret.h that takes an engine, once"
lint_end
