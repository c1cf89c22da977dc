#!/bin/sh
# SPDX-License-Identifier: MIT
# network.sh - a network list, in a small internet of our own (tests/network/world.py): programs that
# know nothing of it work with one, and are refused what it does not name; ways around it are tried;
# lists are tried as people write them; and in scripts/check --full what a way out bears. The parts
# are in tests/network.
. "${srcdir:-.}/tests/session/lib.sh"

top=$(cd "${srcdir:-.}" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/network-lazaret.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
stage_open "$PWD/staged"
# What is found in a box is found outside of one: the interpreters are the same.
PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin
PYTHONDONTWRITEBYTECODE=1
HOME=$work
export PATH PYTHONDONTWRITEBYTECODE HOME
cd "$work" || exit 1
: >out
: >err

# world SERVERS PART ARGUMENTS... - runs one of the programs; to the standard output of the test goes
# what failed, and what was skipped.
world() {
    servers=$1 part=$2
    shift 2
    cases=$((cases + 1)) status=0
    python3 "$top/tests/network/world.py" --with "$servers" python3 "$top/tests/network/$part.py" "$lazaret" "$@" \
        >out 2>err || status=$?
    [ "$status" -eq 0 ] || wrong "$part" "status $status"
    tail -n 1 out
    for program in $(sed -n 's/^skipped: \(.*\) is not installed.*/\1/p' out | sort -u); do
        may_be_missing "$program" "a test of the network list runs it"
    done
}

# What succeeds without a box, and what programs make of an answer, does not depend on the user.
repeated=
! is_repeated || repeated=--repeated
programs() { world git,ssh,postgres programs $repeated; }
ways() { world '' ways $repeated; }
lists() { world '' command; }
load() { world '' load; }

look_for python
is_installed python || exit $((failures ? 1 : 77))
if ! unshare -rnm true 2>/dev/null; then
    may_be_missing namespaces "this user may make none"
    exit $((failures ? 1 : 77))
fi
if is_repeated; then
    side_by_side programs ways
else
    side_by_side programs ways lists
fi
[ "${LAZARET_TEST_FULL-}" != yes ] || is_repeated || load
finish
