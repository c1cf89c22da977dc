#!/bin/sh
# SPDX-License-Identifier: MIT
# as.sh - repeats a test with another backend, with sessions from a template, or as another user; or
# runs one of the build with sanitizers with the agent and the runtimes of the ordinary build, in
# $LAZARET_TEST_AGENTS.
#
# Its argument stands for an entry of tests/variants.txt: tests/as/VARIANT/TEST.variant. Root runs
# the variants of an ordinary user in a copy of source and build that this user can read and write:
# $LAZARET_TEST_COPY, made by scripts/check. Without a copy they are skipped.
set -u
path=${1#*tests/as/}
variant=${path%%/*}
test=${path#*/}
test=${test%.variant}

case $variant in
    *-lua) export TEST_RUNTIME=lua ;;
esac
case ${variant%-lua} in
    *landlock) export TEST_BACKEND=landlock ;;
    *template) export TEST_WARM=template ;;
    *warm) export TEST_WARM=auto ;;
    user) ;;
    sanitize-host)
        [ -n "${LAZARET_TEST_AGENTS-}" ] || {
            echo "SKIP sanitize-host: only scripts/check names an ordinary build"
            exit 77
        }
        LAZARET_AGENT=$LAZARET_TEST_AGENTS/${LAZARET_AGENT##*/}
        LAZARET_PLUGIN_PATH=$(printf '%s' "$LAZARET_PLUGIN_PATH" | sed "s|$PWD/plugins/runtime/|$LAZARET_TEST_AGENTS/plugins/runtime/|g")
        export LAZARET_AGENT LAZARET_PLUGIN_PATH
        ;;
    *)
        echo "no such variant: $variant"
        exit 99
        ;;
esac

# executable DIRECTORY - prints the test's path in a build directory or in the source.
executable() {
    if [ -x "./$test" ]; then
        echo "./$test"
    elif [ -x "$srcdir/$test" ]; then
        echo "$srcdir/$test"
    fi
}

if [ -z "$(executable)" ]; then
    echo "SKIP $test: not built"
    exit 77
fi

case $variant in
    user*) ;;
    *) exec "$(executable)" ;;
esac

copy=${LAZARET_TEST_COPY-}
if [ -z "$copy" ]; then
    echo "SKIP user: only scripts/check, run by root, makes the copy that this needs"
    exit 77
fi
top=$(cd "$srcdir" && pwd)
uid=$(stat -c %u "$copy")
# Makes paths of the source and the build name the copy's files.
moved() {
    printf '%s' "$1" | sed "s|$top|$copy|g"
}
srcdir=$(moved "$top")
LAZARET_AGENT=$(moved "$LAZARET_AGENT")
LAZARET_PLUGIN_PATH=$(moved "$LAZARET_PLUGIN_PATH")
LAZARET_TEST_NEED=${LAZARET_TEST_NEED-},-root
export srcdir LAZARET_AGENT LAZARET_PLUGIN_PATH LAZARET_TEST_NEED
cd "$(moved "$PWD")" || exit 99
exec setpriv --reuid="$uid" --regid="$uid" --clear-groups \
    env -u LAZARET_TEST_COPY HOME="$copy" TMPDIR=/tmp XDG_CONFIG_HOME= XDG_RUNTIME_DIR= "$(executable)"
