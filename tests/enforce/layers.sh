#!/bin/sh
# SPDX-License-Identifier: MIT
# layers.sh - a certain test fails when one step of the agent's confinement is missing.
#
# agent-layers is the agent, built with a check before each step; a text in the program, which is
# overwritten in a copy, says which step to leave out. The installed agent has neither.
set -u
LC_ALL=C
export LC_ALL
directory=$(mktemp -d /tmp/layers-test.XXXXXXXX) || exit 1
trap 'rm -rf "$directory"' EXIT
chmod 755 "$directory"
failed=0
whole= # tests that pass with the complete agent
ulimit -S -c "$(ulimit -H -c)" # otherwise the step that disables core dumps would change nothing

# agent STEP - makes a copy that leaves STEP out.
agent() {
    word=$(printf '%s________________' "$1" | cut -c1-15)
    rm -f "$directory/lazaret-agent" # the last one may still run, and cannot be written then
    sed "s/LAZ_TEST_WITHOUT=nothing________/LAZ_TEST_WITHOUT=${word}/" tests/enforce/agent-layers \
        >"$directory/lazaret-agent"
    chmod 755 "$directory/lazaret-agent"
    grep -q "LAZ_TEST_WITHOUT=$word" "$directory/lazaret-agent" && return 0
    echo "$1: the copy does not leave it out"
    failed=1
}

# red TEST PROGRAM - 0: the test failed; 2: it was not run.
red() {
    UNIT_ONLY=$1 LAZARET_AGENT=$directory/lazaret-agent "./$2" >"$directory/out" 2>&1
    awk -v name="$1" '
        /^  Test: / { inside = index($0, "Test: " name " ") > 0; if (inside) found = 1 }
        inside && /FAILED/ { bad = 1 }
        END { exit found ? !bad : 2 }' "$directory/out"
}

# noticed STEP PROGRAM TEST - the test passes with the complete agent and fails without STEP.
noticed() {
    case " $whole " in
        *" $2:$3 "*) ;; # already checked for another step
        *)
            agent nothing
            red "$3" "$2"
            [ $? -eq 1 ] || {
                echo "$3 of $2 fails, or is not run, though nothing is left out"
                cat "$directory/out"
                failed=1
            }
            whole="$whole $2:$3"
            ;;
    esac
    agent "$1"
    red "$3" "$2" && {
        echo "without $1: $3 of $2 fails"
        return
    }
    echo "without $1 nothing fails in $3 of $2"
    cat "$directory/out"
    failed=1
}

grep -q 'LAZ_TEST_WITHOUT' lazaret-agent && { echo "the installed agent asks, too"; failed=1; }

# The address sanitizer keeps a copy of the initial environment.
grep -q __asan_init tests/enforce/agent-layers ||
    noticed token test_agent agent_keeps_no_token_in_memory
noticed descriptors test_agent agent_wipes_token_before_init
noticed no_new_privs test_agent agent_confines_itself_before_ready
noticed limits test_agent agent_confines_itself_before_ready
noticed quotas test_agent agent_confines_itself_before_ready
case $(ulimit -S -c) in
    0 | 1) echo "core: the hard limit is that small already" ;;
    *) noticed core test_agent agent_confines_itself_before_ready ;;
esac
if [ -e core/os/linux/filter_made.h ]; then
    noticed landlock test_confine landlock_keeps_files_from_the_code
    noticed filter test_confine code_cannot_make_what_the_filter_refuses
fi
exit "$failed"
