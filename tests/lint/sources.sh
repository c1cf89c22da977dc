#!/bin/sh
# SPDX-License-Identifier: MIT
# sources.sh - what every source file keeps to: the licence line, a head comment, its length, the
# length of its functions, and no word that ties it to a machine or a registry.
. "${srcdir:-.}/tests/lint/lib.sh"

max_file=800      # lines
max_function=100  # lines; from 70 on it is listed
list_function=70

sources=$(lint_files -name '*.[ch]')
scripts=$(lint_files -name '*.sh' -o -name '*.am' -o -name '*.ac' -o -path './scripts/*' \
    -o -path './.ci/*' -o -name '*.R' -o -name '*.lua' -o -name '*.py' -o -name '*.toml')

for file in $sources $scripts; do
    case $file in
        tests/fuzz/seeds/* | aclocal.m4 | build-aux/*) continue ;;
    esac
    head -n 3 "$srcdir/$file" | grep -q 'SPDX-License-Identifier: MIT' ||
        case $file in
            *.R | *.lua | *.py | *.toml | *.am | autogen.sh) ;; # read by beginners, or bare lists
            *) wrong "$file: no line with SPDX-License-Identifier: MIT at its top" ;;
        esac
done

for file in $sources; do
    name=$(basename "$file")
    head -n 4 "$srcdir/$file" | grep -qE "^( \*|/\*) ([a-z]+/)*$name( \([a-z]+\))? - " ||
        wrong "$file: no head comment '$name - what it is for' after the licence line"
    lines=$(wc -l <"$srcdir/$file")
    [ "$lines" -le "$max_file" ] || wrong "$file: $lines lines; over $max_file, split it"
done

for file in $(lint_files -name '*.c'); do
    functions=$(awk -v list="$list_function" -v max="$max_function" '
        /^\{/ { start = FNR }
        /^\}/ {
            n = start ? FNR - start : 0
            if (n > max) printf "%d: function of %d lines; over %d, split it\n", start, n, max
            else if (n > list) printf "# %d: function of %d lines\n", start, n
            start = 0
        }' "$srcdir/$file")
    [ -n "$functions" ] || continue
    printf '%s\n' "$functions" | sed "s|^|$file:|" | grep ':# ' || true
    printf '%s\n' "$functions" | grep -v '^#' | sed "s|^|$file:|" >lint-functions.tmp
    [ ! -s lint-functions.tmp ] || wrong "$(cat lint-functions.tmp)"
    rm -f lint-functions.tmp
done

# Paths of one machine, hosts of registries, marks of unfinished work.
words='/home/[a-z]+/|/root/[a-z]{2,}|/srv/[a-z]+/|/Users/[a-z]+/|/work/[a-z]+'
words="$words|pypi[.]org|crates[.]io|npmjs[.]|rubygems[.]|cran[.]r-project"
words="$words|TODO|FIXME|XXX[^X]|HACK"
for file in $(lint_files -type f ! -name '*.tmp' ! -name '*.o' ! -path './tests/lint/sources.sh'); do
    case $file in
        aclocal.m4 | configure | configure~ | config.h.in* | Makefile.in | build-aux/* | LICENSE) continue ;;
        tests/fuzz/seeds/*) continue ;;
    esac
    found=$(grep -nIE "$words" "$srcdir/$file" | grep -vE '/home/(user|me|alice|bob)/' |
        grep -vE 'X{4,}' | head -n 5)
    [ -z "$found" ] || wrong "$(printf '%s\n' "$found" | sed "s|^|$file:|")"
done
lint_end
