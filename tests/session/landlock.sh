#!/bin/sh
# SPDX-License-Identifier: MIT
# landlock.sh - the tests of sessions, with the backend landlock in place of the system's first one.
# Two at a time: most of what they do is to wait.
TEST_BACKEND=landlock
export TEST_BACKEND

# each TEST... - one after the other; false when one failed.
each() {
    good=0
    for test; do
        [ -x "./$test" ] || continue
        if ! "./$test" >"landlock-$test.out" 2>&1; then
            cat "landlock-$test.out"
            good=1
        fi
        rm -f "landlock-$test.out"
    done
    return "$good"
}

each test_limits test_output test_misuse &
other=$!
failed=0
each test_behaviours test_values test_reference || failed=1
wait "$other" || failed=1
exit "$failed"
