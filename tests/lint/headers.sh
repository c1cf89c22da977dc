#!/bin/sh
# SPDX-License-Identifier: MIT
# headers.sh - each public header compiles alone and twice, in C and in C++, without a warning.
. "${srcdir:-.}/tests/lint/lib.sh"

directory=$(mktemp -d "${TMPDIR:-/tmp}/lint-test.XXXXXXXX") || exit 1
trap 'rm -rf "$directory"' EXIT

# compile COMPILER SUFFIX FLAGS...
compile() {
    compiler=$1 source=$directory/alone.$2
    shift 2
    for header in $(cd "$srcdir/core/include" && find lazaret -name '*.h' | sort); do
        printf '#include <%s>\n#include <%s>\nextern int alone;\nint alone;\n' "$header" "$header" \
            >"$source"
        # shellcheck disable=SC2086
        $compiler "$@" -I"$srcdir/core/include" -Wall -Wextra -Werror -fsyntax-only "$source" ||
            wrong "$header does not compile alone with: $compiler $*"
    done
}

compile "${CC:-cc}" c -std=c11
compile "${CC:-cc}" c -std=gnu17
if command -v "${CXX:-c++}" >/dev/null 2>&1; then
    compile "${CXX:-c++}" cc -std=c++17
elif command -v g++ >/dev/null 2>&1; then
    compile g++ cc -std=c++17
else
    lint_skip c++ "no C++ compiler is installed; the headers compile in C"
fi
lint_end
