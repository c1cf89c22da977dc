# SPDX-License-Identifier: MIT
# lib.sh - what the lint tests share. They check the source tree ($srcdir), and some of them the
# build (the current directory). Each prints one line for each mistake and exits with 1, or with 77
# when a program that it needs is missing.
set -u
LC_ALL=C
export LC_ALL
srcdir=${srcdir:-.}
lint_failed=0

wrong() {
    printf '%s\n' "$*"
    lint_failed=1
}

lint_end() {
    [ "$lint_failed" -eq 0 ] || echo "$(basename "$0"): see above"
    exit "$lint_failed"
}

# lint_skip NAME REASON - ends the test as skipped; as failed when LAZARET_TEST_NEED lists NAME.
lint_skip() {
    case ,${LAZARET_TEST_NEED-}, in
        *",$1,"* | *,all,*)
            echo "needed but missing: $1: $2"
            exit 1
            ;;
    esac
    echo "SKIP $1: $2"
    exit 77
}

# Prints the files of the source tree that match the patterns (of find), relative to it, without
# generated ones.
lint_files() {
    (
        cd "$srcdir" || exit 1
        find . \( -path './build' -o -path './build-*' -o -path './.git' -o -path './m4' \
            -o -path './autom4te.cache' -o -path './lazaret-[0-9]*' -o -path './_*' \) -prune \
            -o -type f \( "$@" \) -print | sed 's|^\./||' | sort
    )
}

# The table of the rooms of core. lint_rooms - its rows are the directories of core, and each uses only
# rows above it.
rooms=$srcdir/tests/lint/rooms.txt
lint_rooms() {
    lint_found=$( (cd "$srcdir/core" && ls -d */) | tr -d / | awk '
        NR == FNR && /^#/ { next }
        NR == FNR {
            for (i = 2; i <= NF; i++)
                if (!($i in row)) print $1 " uses " $i ", which is no row above it"
            row[$1] = 1
            next
        }
        $1 != "include" && !($1 in row) { print "core/" $1 " has no row" }
        { delete row[$1] }
        END { for (name in row) print name " is not a directory of core" }' "$rooms" -)
    [ -z "$lint_found" ] || wrong "$rooms: $lint_found"
}

# lint_test_exists FILE TEST - FILE is below tests/; TEST is a function of a .c file, a title of a
# .cases file, or a text that a script contains.
lint_test_exists() {
    [ -f "$srcdir/tests/$1" ] || return 1
    case $1 in
        *.c) grep -qE "UNIT\($2\)" "$srcdir/tests/$1" ;;
        *.cases) grep -qxF "== $2" "$srcdir/tests/$1" ;;
        *) grep -qF "$2" "$srcdir/tests/$1" ;;
    esac
}
