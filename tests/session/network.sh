#!/bin/sh
# SPDX-License-Identifier: MIT
# network.sh - a network list, in a small internet of our own (tests/network/world.py): programs that
# know nothing of it work with one, and are refused what it does not name; ways around it are tried;
# lists are tried as people write them; and in scripts/check --full what a way out bears. The parts
# are in tests/network.
. "${srcdir:-.}/tests/session/lib.sh"
. "${srcdir:-.}/tests/network/world.sh"

# What succeeds without a box, and what programs make of an answer, does not depend on the user.
repeated=
! is_repeated || repeated=--repeated
programs() { world git,ssh,postgres programs $repeated; }
ways() { world '' ways $repeated; }
lists() { world '' command; }
load() { world '' load; }

if is_repeated; then
    side_by_side programs ways
else
    side_by_side programs ways lists
fi
[ "${LAZARET_TEST_FULL-}" != yes ] || is_repeated || load
finish
