#!/bin/sh
# SPDX-License-Identifier: MIT
# warm.sh - the tests of sessions, with sessions that come from a template. Where a test asks for
# what none can give (another backend, a folder inside of the home) its sessions are cold.
# each WARM TEST... - one after the other; false when one failed.
each() {
    TEST_WARM=$1
    export TEST_WARM
    shift
    good=0
    for test; do
        [ -x "./$test" ] || continue
        if ! "./$test" >"warm-$test.out" 2>&1; then
            cat "warm-$test.out"
            good=1
        fi
        rm -f "warm-$test.out"
    done
    return "$good"
}

each template test_output test_misuse test_inside test_values test_reference &
other=$!
failed=0
each auto test_behaviours test_limits || failed=1
wait "$other" || failed=1
exit "$failed"
