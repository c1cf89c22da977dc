#!/bin/sh
# SPDX-License-Identifier: MIT
# cluster.sh - the client that measures servers (tests/bench/lines.c) has as many samples as were asked for, in
# each of its kinds, and says what goes wrong; with LAZARET_TEST_FULL=yes `scripts/bench cluster` has all of its
# rows. Speed is not judged here.
. "${srcdir:-.}/tests/session/lib.sh"

[ -x ./lazaret-lines ] || {
    echo "    SKIP lines: Linux only"
    exit 77
}
top=$(cd "${srcdir:-.}" && pwd)
lines=$PWD/lazaret-lines
work=$(mktemp -d "${TMPDIR:-/tmp}/lines-lazaret.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
stage_open "$PWD/staged"
HOME=$work
PYTHONDONTWRITEBYTECODE=1
export HOME PYTHONDONTWRITEBYTECODE
cd "$work" || exit 1
: >out
: >err
be_patient

# measures KIND SAMPLES OUTSTANDING SESSIONS CONNECTIONS WANTED
measures() {
    cases=$((cases + 1)) status=0
    echo go | timeout 600 "$lines" "$1" "$2" "$3" "$4" "$5" "$lazaret" serve >out 2>err || status=$?
    [ "$status" -eq 0 ] && [ "$(grep -c '^[0-9]' out)" -eq "$6" ] && grep -q '^took [0-9]' out ||
        wrong "$1" "status $status, $(grep -c '^[0-9]' out) samples, not $6"
}

# refuses NAME TEXT ARGUMENT...
refuses() {
    name=$1 text=$2
    shift 2
    cases=$((cases + 1)) status=0
    timeout 600 "$lines" "$@" >out 2>err </dev/null || status=$?
    [ "$status" -eq 1 ] && contains err "$text" || wrong "$name" "status $status, or not said: $text"
}

look_for lua
is_installed lua || exit $((failures ? 1 : 77))
measures open 6 2 2 1 4
measures fresh 3 1 1 1 2
measures execute 20 2 4 2 18
measures tool 2 1 1 1 197
measures value=100000 4 1 1 1 3
measures hold 10 2 6 3 10
grep -q '^ready [0-9]' out || wrong hold "it does not say when sessions are ready"
refuses "a server that ends" 'a connection has ended' execute 1 1 1 1 true
refuses "no server" 'a connection has ended' execute 1 1 1 1 "$work/nothing"
refuses "usage" usage execute 0 1 1 1 true
refuses "nobody listens" '127.0.0.1' ping 1 127.0.0.1 1
refuses "code that fails" failed value=-x 1 1 1 1 "$lazaret" serve --set session.max_code_length=3
if [ -n "${LAZARET_TEST_FULL-}" ] && [ "$(id -u)" -eq 0 ] && command -v nats-server >/dev/null 2>&1; then
    cases=$((cases + 1)) status=0
    timeout -s KILL 900 unshare -nmpf --kill-child --mount-proc python3 "$top/tests/bench/cluster.py" "$lines" \
        "$lazaret" "$work" --quick >out 2>err </dev/null || status=$?
    [ "$status" -eq 0 ] && [ "$(grep -c ' \(pipe\|tls\|nats\) ' out)" -eq 34 ] && [ "$(grep -c ' sessions by ' out)" -eq 3 ] ||
        wrong cluster "status $status"
fi
finish
