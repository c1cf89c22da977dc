#!/bin/sh
# SPDX-License-Identifier: MIT
# landlock.sh - the tests of sessions, with the backend landlock in place of the system's first one.
TEST_BACKEND=landlock
export TEST_BACKEND
failed=0
for test in test_behaviours test_values test_output test_limits test_reference test_misuse; do
    [ -x "./$test" ] || continue
    if ! "./$test" >"landlock-$test.out" 2>&1; then
        cat "landlock-$test.out"
        failed=1
    fi
    rm -f "landlock-$test.out"
done
exit "$failed"
