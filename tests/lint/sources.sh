#!/bin/sh
# SPDX-License-Identifier: MIT
# sources.sh - what every source file keeps to: the licence line, a head comment, its length, the
# length of its functions, a header of its name, an include guard of its path, and no word that ties
# it to a machine or a registry; and that what tests/variants.txt names is a test.
#
# One process checks all files, because starting one for each would take longer than the checks.
. "${srcdir:-.}/tests/lint/lib.sh"

# Functions of more than 70 lines are only listed, after "# ".
found=$({
    lint_files -name '*.[ch]'
    lint_files -name '*.sh' -o -name '*.am' -o -name '*.ac' -o -path './scripts/*' \
        -o -path './.ci/*' -o -name '*.R' -o -name '*.lua' -o -name '*.py' -o -name '*.toml'
} | awk -v top="$srcdir" -v max_file=800 -v max_function=100 -v list_function=70 '
    # Files for beginners and plain lists need no licence line.
    function needs_licence(file) {
        return file !~ /\.(R|lua|py|toml|am)$/ && file != "autogen.sh" &&
            file !~ /^(tests\/fuzz\/seeds|build-aux)\// && file != "aclocal.m4"
    }
    {
        file = $0
        name = file
        sub(/.*\//, "", name)
        pattern = name
        gsub(/\./, "[.]", pattern)
        head = "^( [*]|/[*]) ([a-z]+/)*" pattern "( [(][a-z]+[)])? - "
        c_source = name ~ /\.[ch]$/
        licence = has_head = lines = start = 0
        while ((getline line <(top "/" file)) > 0) {
            lines++
            if (lines <= 3 && index(line, "SPDX-License-Identifier: MIT")) licence = 1
            if (!c_source) {
                if (lines == 3) break
                continue
            }
            if (lines <= 4 && line ~ head) has_head = 1
            if (name ~ /c$/ && line ~ /^\{/) start = lines
            if (name ~ /c$/ && line ~ /^\}/) {
                length_of = start ? lines - start : 0
                if (length_of > max_function)
                    printf "%s:%d: function of %d lines; over %d, split it\n", file, start,
                        length_of, max_function
                else if (length_of > list_function)
                    printf "# %s:%d: function of %d lines\n", file, start, length_of
                start = 0
            }
        }
        close(top "/" file)
        if (!licence && needs_licence(file))
            print file ": no line with SPDX-License-Identifier: MIT at its top"
        if (!c_source) next
        if (!has_head)
            printf "%s: no head comment \047%s - what it is for\047 after the licence line\n", file,
                name
        if (lines > max_file) printf "%s: %d lines; over %d, split it\n", file, lines, max_file
    }
    END { if (NR < 100) print "only " NR " files were found" }') || wrong "the files could not be looked at"
printf '%s\n' "$found" | grep '^# '
found=$(printf '%s\n' "$found" | grep -v '^# ')
[ -z "$found" ] || wrong "$found"

# In core, NAME.c implements NAME.h, which is beside it or one directory up (core/os/linux/files.c:
# core/os/files.h), or in core/os/posix where Linux and macOS implement it. NAME_PART.c may belong to
# NAME.h beside it, and any file of a directory DIR with at most three headers to DIR/DIR.h. The
# include guard of core/DIR/NAME.h is LAZ_DIR_NAME_H.
found=$(lint_files -path './core/*.[ch]' | awk -v top="$srcdir" '
    BEGIN {
        without["core/os/linux/filter_make.c"] = "is a program of the build"
        exempt = "^core/(plan/stage|session/execute|settings/(check|options|values))[.]c$"
    }
    function directory_of(path) {
        sub(/\/[^\/]*$/, "", path)
        return path
    }
    function has_header(file, name, directory, up) {
        directory = directory_of(file)
        up = directory_of(directory)
        name = file
        sub(/.*\//, "", name)
        sub(/[.]c$/, "", name)
        if ((directory "/" name ".h") in is_there) return 1
        if (up != "core" && ((up "/" name ".h") in is_there)) return 1
        if (directory ~ /^core\/os\// && (("core/os/posix/" name ".h") in is_there)) return 1
        while (sub(/_[^_]*$/, "", name))
            if ((directory "/" name ".h") in is_there) return 1
        name = directory
        sub(/.*\//, "", name)
        return headers[directory] <= 3 && ((directory "/" name ".h") in is_there)
    }
    function check_guard(file, guard, line, found) {
        guard = toupper(file)
        if (!sub(/^CORE\/INCLUDE\/(LAZARET\/LAZARET|LAZARET\/)/, "LAZARET_", guard))
            sub(/^CORE\//, "LAZ_", guard)
        gsub(/_[^A-Z0-9]/, "_", guard)
        gsub(/[^A-Z0-9]/, "_", guard)
        while (found == "" && (getline line <(top "/" file)) > 0)
            if (line ~ /^#ifndef /) found = substr(line, 9)
        close(top "/" file)
        if (found != guard) printf "%s: its include guard is %s, not %s\n", file, found, guard
    }
    {
        is_there[$0] = 1
        if (/h$/) headers[directory_of($0)]++
    }
    END {
        for (file in is_there) {
            if (file ~ /h$/) check_guard(file)
            else if (!(file in without) && file !~ exempt && !has_header(file))
                print file ": no header of its name beside it or one directory up"
        }
        for (file in without)
            if (!(file in is_there)) print file ": is gone, take it out of the lint"
        if (NR < 100) print "only " NR " files of core were found"
    }') || wrong "the headers could not be looked at"
[ -z "$found" ] || wrong "$found"

# Paths of one machine, hosts of registries, marks of unfinished work: the first five of each file. What is fetched by
# one script is from a registry.
words='/home/[a-z]+/|/root/[a-z]{2,}|/srv/[a-z]+/|/Users/[a-z]+/|/work/[a-z]+'
words="$words|pypi[.]org|crates[.]io|npmjs[.]|rubygems[.]|cran[.]r-project"
words="$words|TODO|FIXME|XXX[^X]|HACK"
found=$(lint_files -type f ! -name '*.tmp' ! -name '*.o' ! -path './tests/lint/sources.sh' ! -path './scripts/javascript-libraries' \
    ! -path './plugins/runtime/javascript/libraries/sucrase.js' |
    grep -vE '^(aclocal\.m4|configure~?|config\.h\.in.*|Makefile\.in|LICENSE)$|^build-aux/' |
    grep -v '^tests/fuzz/seeds/' |
    (cd "$srcdir" && xargs grep -nIHE -e "$words") |
    sed 's/^\([^:]*\):/\1	/' | # search only the text, because the path may match too
    awk -F '\t' '{
        text = $0
        sub(/^[^\t]*\t/, "", text)
        if (text ~ /\/home\/(user|me|alice|bob)\// || text ~ /XXXX/) next
        if (++n[$1] <= 5) print $1 ":" text
    }')
[ -z "$found" ] || wrong "$found"

# A row of variants.txt whose name is not a test would have no effect.
found=$(awk '/^[^#]/ { print $1 }' "$srcdir/tests/variants.txt" | while read -r name; do
    case $name in
        */*) [ -e "$srcdir/$name" ] ;;
        *) grep -qE "(^|[[:space:]])$name([[:space:]]|\$)" "$srcdir"/tests/*.am "$srcdir"/tests/*/*.am ;;
    esac || echo "tests/variants.txt: $name is not a test"
done)
[ -z "$found" ] || wrong "$found"
lint_end
