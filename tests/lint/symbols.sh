#!/bin/sh
# SPDX-License-Identifier: MIT
# symbols.sh - the library exports the functions of lazaret.h and result.h, and nothing else, with
# the versions of core/liblazaret.map; tests/session/header.c calls each of them; each plugin exports
# its descriptor and nothing else, but for what bash looks for in the runtime that it loads.
. "${srcdir:-.}/tests/lint/lib.sh"

command -v nm >/dev/null 2>&1 || lint_skip nm "binutils are not installed"

# Prints what a shared object exports, without the sanitizers' own symbols.
exported() {
    nm -D --defined-only "$1" | awk '{print $NF}' | grep -vE '^_*(asan|odr_asan|ubsan|lsan|sanitizer)' |
        grep -vE '^(_init|_fini|_edata|_end|__bss_start)$' | sort
}

declared=$(sed -n 's/^LAZ_EXPORT .*[ *]\(laz_[a-z_]*\)(.*/\1/p' \
    "$srcdir/core/include/lazaret/lazaret.h" "$srcdir/core/include/lazaret/result.h" | sort)
[ -n "$declared" ] || wrong "lazaret.h: no function was found"
map=$(sed -n 's/^ *\(laz_[a-z_]*\);$/\1/p' "$srcdir/core/liblazaret.map" | sort)
[ "$map" = "$declared" ] ||
    wrong "core/liblazaret.map does not have the functions of lazaret.h, or not one line for each"
for name in $declared; do
    grep -q "[^a-z_]$name(" "$srcdir"/tests/session/header*.c ||
        wrong "tests/session/header.c does not call $name of lazaret.h"
done

library=.libs/liblazaret.so
if [ -f "$library" ]; then
    exports=$(exported "$library" | sed 's/@.*//' | grep -v '^LAZARET_')
    [ "$(uname -s)" != Linux ] || nm -D --defined-only "$library" | grep -q ' laz_version@@LAZARET_' ||
        wrong "the symbols of liblazaret have no versions"
    for name in $declared; do
        printf '%s\n' "$exports" | grep -qx "$name" ||
            wrong "liblazaret does not export $name of lazaret.h"
    done
    for name in $exports; do
        printf '%s\n' "$declared" | grep -qx "$name" ||
            wrong "liblazaret exports $name, which lazaret.h does not declare"
    done
else
    wrong "$library is missing"
fi

for module in ${LINT_PLUGINS-}; do
    object=$(dirname "$module")/.libs/$(basename "$module" .la).so
    if [ ! -f "$object" ]; then
        wrong "$object is missing"
        continue
    fi
    exports=$(exported "$object" | tr '\n' ' ')
    case $module in # bash loads this one as well
        */shell.la) exports=$(echo "$exports" | sed 's/lazaret_builtin_load //; s/lazaret_struct //') ;;
    esac
    [ "$exports" = "lazaret_plugin " ] || wrong "$object exports: $exports"
done
lint_end
