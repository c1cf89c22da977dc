#!/bin/sh
# SPDX-License-Identifier: MIT
# example.sh - builds the example provider as a third party would: out of tree, with its own
# autotools project, against the installed headers and lazaret.pc; then loads and calls it. The
# same for a provider in C++. With LAZARET_TEST_FULL=yes it is also built with a prefix.
set -eu
unset MAKEFLAGS MFLAGS MAKELEVEL
# configure would choose bash, in which it takes half as long again as in dash
CONFIG_SHELL=/bin/sh
export CONFIG_SHELL

fail() {
    echo "example.sh: $*" >&2
    exit 1
}

for tool in autoreconf automake libtoolize pkg-config; do
    command -v "$tool" >/dev/null 2>&1 && continue
    case ,${LAZARET_TEST_NEED-}, in
        *,autotools,* | *,all,*) fail "needed but missing: autotools: $tool" ;;
    esac
    echo "SKIP autotools: $tool is missing"
    exit 77
done

top=$(cd "$srcdir" && pwd)
host=$PWD/contract-provider
[ -x "$host" ] || fail "$host is missing"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

# A plugin is built against the headers and the .pc file, and nothing else of lazaret.
${MAKE-make} install-lazincludeHEADERS install-pkgconfigDATA DESTDIR= \
    prefix="$prefix" exec_prefix="$prefix" libdir="$prefix/lib" includedir="$prefix/include" \
    pkgconfigdir="$prefix/lib/pkgconfig" >"$work/install.log" 2>&1 || {
    cat "$work/install.log" >&2
    fail "the headers cannot be installed"
}
PKG_CONFIG_PATH=$prefix/lib/pkgconfig
PKG_CONFIG="pkg-config --define-variable=prefix=$prefix --define-variable=exec_prefix=$prefix \
--define-variable=libdir=$prefix/lib --define-variable=includedir=$prefix/include \
--define-variable=plugindir=$prefix/lib/lazaret/plugins-1"
export PKG_CONFIG_PATH PKG_CONFIG

# built DIRECTORY CONFIGURE-OPTIONS... - builds a copy of it, and installs it. The copy keeps the
# times of its files, or make would run Autoconf again.
built() {
    cp -Rp "$work/example" "$work/$1" && cd "$work/$1" || return
    shift
    "$CONFIG_SHELL" ./configure "$@" && make && make install
}

# aclocal reads every macro that is installed, twice here, and that takes as long as all the rest.
# Where Libtool's and pkg-config's are among them, it has those alone.
macros=$(${ACLOCAL-aclocal} --print-ac-dir)
if [ -f "$macros/libtool.m4" ] && [ -f "$macros/pkg.m4" ]; then
    mkdir "$work/macros"
    ln -s "$macros"/pkg.m4 "$macros"/libtool.m4 "$macros"/lt*.m4 "$work/macros"
    ACLOCAL="${ACLOCAL-aclocal} --system-acdir=$work/macros"
    export ACLOCAL
fi

cp -R "$top/plugins/example" "$work/example"
chmod -R u+w "$work/example"
(cd "$work/example" && ./autogen.sh) >"$work/build.log" 2>&1 || {
    cat "$work/build.log" >&2
    fail "the example has no configure"
}
unset ACLOCAL
(built without-prefix) >"$work/build.log" 2>&1 || {
    cat "$work/build.log" >&2
    fail "the example does not build against what is installed"
}
plugin=$prefix/lib/lazaret/plugins-1/dice.so
[ -f "$plugin" ] || fail "$plugin was not installed"
exported=$(nm -D --defined-only "$plugin" | awk '{ print $3 }')
[ "$exported" = lazaret_plugin ] || fail "it exports: $exported"

# expect TEXT ARGUMENTS... - the host prints exactly this text.
expect() {
    expected=$1
    shift
    actual=$("$host" "$plugin" "$@") || fail "status $? for: $*: $actual"
    [ "$actual" = "plugin dice 1.0
$expected" ] || fail "for: $*
expected: $expected
actual:   $actual"
}

expect 'value {"rolls":[1],"total":1}' '{"seed":4,"max_count":9}' roll '{"count":1,"sides":1}'
expect 'error count must be from 1 to 9, not 10
error count must be from 1 to 9, not 0' '{"seed":4,"max_count":9}' \
    roll '{"count":10,"sides":6}' roll '{"count":0,"sides":6}'
expect 'value {"a":[1,2]}' '{}' pick '{"items":[{"a":[1,2]}]}'
expect 'error items is empty: there is nothing to pick from' '{}' pick '{"items":[]}'
expect 'error max_count must be from 1 to 100000' '{"max_count":0}'

# The same seed gives the same throws, another seed different ones.
throws() {
    "$host" "$plugin" "{\"seed\":$1}" roll '{"count":50,"sides":100}' pick '{"items":[1,2,3,4,5]}'
}
[ "$(throws 7)" = "$(throws 7)" ] || fail "seed 7 gives different throws"
[ "$(throws 7)" != "$(throws 8)" ] || fail "seeds 7 and 8 give the same throws"
throws 7 | grep -qE '^value \{"rolls":\[([0-9]+,){49}[0-9]+\],"total":[0-9]+\}$' ||
    fail "fifty throws look otherwise: $(throws 7)"

# With a prefix it is installed below that.
if [ -n "${LAZARET_TEST_FULL-}" ]; then
    rm "$plugin"
    (built with-prefix --prefix="$work/other") >"$work/with-prefix.log" 2>&1 || {
        cat "$work/with-prefix.log" >&2
        fail "the example does not build with a prefix"
    }
    plugin=$work/other/lib/lazaret/plugins-1/dice.so
    [ -f "$plugin" ] || fail "$plugin was not installed"
    expect 'value {"rolls":[1],"total":1}' '{"seed":4}' roll '{"count":1,"sides":1}'
fi

# A provider in C++, with the same headers.
if command -v "${CXX:-g++}" >/dev/null 2>&1; then
    plugin=$work/cxx.so
    # shellcheck disable=SC2046
    "${CXX:-g++}" -std=c++20 -Wall -Wextra -Werror -shared -fPIC -fvisibility=hidden \
        $($PKG_CONFIG --cflags lazaret) "$top/tests/contract/plugin.cc" -o "$plugin" ||
        fail "a provider in C++ does not build"
    actual=$("$host" "$plugin" '{"most":3}' twice '{"text":"ab"}' twice '{"text":"abcd"}')
    [ "$actual" = 'plugin cxx 1.0
value "abab"
error text: expected at most 3 bytes' ] || fail "a provider in C++ answers: $actual"
else
    case ,${LAZARET_TEST_NEED-}, in
        *,c++,* | *,all,*) fail "needed but missing: c++" ;;
    esac
    echo "    SKIP c++: no C++ compiler is installed"
fi
