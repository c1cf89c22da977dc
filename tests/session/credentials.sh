#!/bin/sh
# SPDX-License-Identifier: MIT
# credentials.sh - code uses tokens that it never sees: programs work with servers that demand one,
# requests and answers that are made to be understood in two ways are refused, and a search for the
# tokens finds them nowhere. The parts are in tests/network, with the small internet of world.py.
. "${srcdir:-.}/tests/session/lib.sh"
. "${srcdir:-.}/tests/network/world.sh"

if ! [ -x "$(dirname "$LAZARET_AGENT")/lazaret-proxy" ]; then
    may_be_missing tls "this build has no TLS"
    exit $((failures ? 1 : 77))
fi
repeated=
! is_repeated || repeated=--repeated
world own credentials $repeated
finish
