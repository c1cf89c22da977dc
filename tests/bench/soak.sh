#!/bin/sh
# SPDX-License-Identifier: MIT
# soak.sh - the soak rejects wrong arguments and fails when no session can be started; scripts/soak
# makes long runs.
#
# The result of a run depends on the load of the machine, so a short run is made only with
# LAZARET_TEST_FULL, or for LAZARET_TEST_SOAK seconds.
set -u

wrong() {
    echo "soak.sh: $*" >&2
    exit 1
}

# ends STATUS TEXT COMMAND... - the command exits with the status and prints the text.
ends() {
    ends_status=$1 ends_text=$2 status=0
    shift 2
    said=$("$@" 2>&1 </dev/null) || status=$?
    [ "$status" -eq "$ends_status" ] || wrong "status $status for: $*: $said"
    case $said in
        *"$ends_text"*) ;;
        *) wrong "not said for: $*: $ends_text: $said" ;;
    esac
}

ends 2 'usage: lazaret-soak' ./lazaret-soak
ends 2 'usage: lazaret-soak' ./lazaret-soak 0
ends 2 'usage: lazaret-soak' ./lazaret-soak 1 2 3
ends 1 'nothing could be started' env LAZARET_AGENT=/nowhere/agent ./lazaret-soak 1
ends 1 'soak: seed 7' env LAZARET_AGENT=/nowhere/agent ./lazaret-soak 1 7
[ -n "${LAZARET_TEST_FULL-}${LAZARET_TEST_SOAK-}" ] || exit 0
exec ./lazaret-soak "${LAZARET_TEST_SOAK:-8}"
