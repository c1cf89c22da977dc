#!/bin/sh
# SPDX-License-Identifier: MIT
# layers.sh - a folder includes only what stands left of it, plugins only <lazaret/...>, and each
# library is seen by the one part that wraps it.
. "${srcdir:-.}/tests/lint/lib.sh"

# folder: folders its quoted includes may name
allowed() {
    case $1 in
        base) echo "base" ;;
        os) echo "base os" ;;
        wire) echo "base os wire" ;;
        settings) echo "base os wire settings" ;;
        plugin) echo "base os wire settings plugin" ;;
        engine) echo "base os wire settings plugin engine" ;;
        cli) echo "base os wire settings plugin engine cli" ;;
        agent) echo "base os wire plugin agent" ;;
        mcp) echo "base os wire settings plugin engine mcp" ;;
        *) echo "" ;;
    esac
}

quoted='s/^[[:space:]]*#[[:space:]]*include[[:space:]]*"\([^"]*\)".*/\1/p'
angled='s/^[[:space:]]*#[[:space:]]*include[[:space:]]*<\([^>]*\)>.*/\1/p'

for file in $(lint_files -path './core/*/*.[ch]'); do
    folder=${file#core/}
    folder=${folder%%/*}
    [ "$folder" = include ] && continue
    for header in $(sed -n "$quoted" "$srcdir/$file"); do
        case " config.h $(allowed "$folder") " in
            *" ${header%%/*} "*) ;;
            *) wrong "$file: includes \"$header\", which $folder may not" ;;
        esac
    done
done

for file in $(lint_files -path './core/include/lazaret/*.h'); do
    for header in $(sed -n "$quoted" "$srcdir/$file"); do
        wrong "$file: a public header includes \"$header\""
    done
    for header in $(sed -n "$angled" "$srcdir/$file"); do
        case $header in
            lazaret/* | std*.h) ;;
            *) wrong "$file: a public header includes <$header>" ;;
        esac
    done
done

for file in $(lint_files -path './plugins/*.[ch]'); do
    for header in $(sed -n "$quoted" "$srcdir/$file"); do
        case $header in
            */*) wrong "$file: includes \"$header\"; a plugin includes only <lazaret/...>" ;;
            *) ;; # its own, or made by its build
        esac
    done
done

# only_in HEADER PATTERN - files of core that include HEADER match the pattern.
only_in() {
    for file in $(lint_files -path './core/*.[ch]'); do
        sed -n "$angled" "$srcdir/$file" | grep -qxE "$1" || continue
        printf '%s' "$file" | grep -qE "$2" || wrong "$file: includes <$1>; only $2 may"
    done
}
only_in 'cJSON\.h|cjson/cJSON\.h' '^core/base/json[a-z_]*\.c$'
only_in 'nettle/.*' '^core/base/digest\.c$'
only_in 'ltdl\.h' '^core/plugin/'
only_in 'uv\.h' '^core/engine/loop[a-z_]*\.[ch]$'
lint_end
