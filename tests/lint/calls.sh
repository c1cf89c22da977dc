#!/bin/sh
# SPDX-License-Identifier: MIT
# calls.sh - who calls whom, from what the compiler made: symbols that an object defines and wants.
#
# A file of core wants nothing of a room that its own may not use (rooms.txt has the order; here a
# declaration written by hand does not help). No circle of calls goes through two rooms, and none in a
# room through more than three files. Calls through tables of functions are not seen: that is what
# such tables are for.
. "${srcdir:-.}/tests/lint/lib.sh"

command -v nm >/dev/null 2>&1 || lint_skip nm "binutils are not installed"

lint_rooms

# Each .c of core as "source FILE"; OBJECT: SYMBOL TYPE ... of what was built of it. Objects of tests
# have prefixes, and one whose source is gone was left behind.
symbols() {
    lint_files -path './core/*.c' | sed 's/^/source /'
    find core -name '*.o' ! -name 'tests_*' | xargs nm -A -P 2>/dev/null
}

found=$(symbols | awk '
    BEGIN { most = 3 }
    NR == FNR {
        if ($0 !~ /^#/) may[$1] = " " $0 " "
        next
    }
    $1 == "source" {
        is_source[$2] = 1
        next
    }
    {
        file = $1
        sub(/[.]o:$/, ".c", file)
        sub(/[.]libs\//, "", file)
        sub(/[^\/]*-/, "", file)
        if (!(file in is_source)) next
        if (!(file in number)) files[number[file] = ++n_files] = file
        seen[room(file)] = 1
        if ($3 ~ /^[TDBRVW]$/ && !($2 in defined)) defined[$2] = file
        else if ($3 == "U") wants[file] = wants[file] " " $2
    }
    function room(file, part) {
        split(file, part, "/")
        return part[2]
    }
    # Tarjan: strongly connected components; v, w, i, to, n_to are local.
    function visit(v,    n_to, to, i, w, circle, size, rooms) {
        low[v] = index_of[v] = ++clock
        stack[++top] = v
        on_stack[v] = 1
        n_to = split(calls[v], to, " ")
        for (i = 1; i <= n_to; i++) {
            w = to[i]
            if (!(w in index_of)) {
                visit(w)
                if (low[w] < low[v]) low[v] = low[w]
            } else if (on_stack[w] && index_of[w] < low[v])
                low[v] = index_of[w]
        }
        if (low[v] != index_of[v]) return
        do {
            w = stack[top--]
            on_stack[w] = 0
            circle = circle " " w
            size++
            if (!index(rooms, " " room(w) " ")) rooms = rooms " " room(w) " "
        } while (w != v)
        if (size > most)
            printf "a circle of calls through %d files, more than %d:%s\n", size, most, circle
        else if (split(rooms, to, " ") > 1)
            printf "a circle of calls through several rooms:%s\n", circle
    }
    END {
        for (i = 1; i <= n_files; i++) {
            file = files[i]
            n = split(wants[file], wanted, " ")
            for (k = 1; k <= n; k++) {
                other = defined[wanted[k]]
                if (other == "" || other == file) continue
                if (!index(may[room(file)], " " room(other) " "))
                    printf "%s: calls %s of %s, which %s may not\n", file, wanted[k], other,
                        room(file)
                if (!index(" " calls[file] " ", " " other " ")) calls[file] = calls[file] " " other
            }
        }
        for (i = 1; i <= n_files; i++)
            if (!(files[i] in index_of)) visit(files[i])
        for (name in may)
            if (!(name in seen)) print "core/" name ": no object of it was found"
    }' "$rooms" -) || wrong "the objects could not be looked at"
[ -z "$found" ] || wrong "$found"
lint_end
