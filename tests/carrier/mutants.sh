#!/bin/sh
# SPDX-License-Identifier: MIT
# mutants.sh - the simulation of many machines shows where one of the safeguards is taken away: each
# of its mutants fails, by the sentence of its invariant. The simulation itself is carrier-sim.
set -u
seed=${LAZARET_TEST_SEED:-1}
failed=0

echo "seed: $seed"
# mutant NAME SENTENCE OPTIONS
mutant() {
    # shellcheck disable=SC2086
    output=$(./carrier-sim-$1 --seed "$seed" --workers 30 --sessions 1500 --failures 60 $3 2>&1)
    status=$?
    if [ $status -eq 1 ] && echo "$output" | grep -q "WRONG.*$2"; then
        echo "without $1: $(echo "$output" | grep -m 1 "WRONG.*$2")"
        return
    fi
    echo "without $1 the simulation does not fail as it should (status $status):"
    echo "$output"
    failed=1
}
mutant dedup 'in place of line' '--duplicate 30'
mutant gaps 'in place of line' '--drop 5'
mutant lease 'on its worker for' '--duplicate 0'
mutant idempotent 'two places to one opening' '--duplicate 50'
mutant credit 'a link holds' '--load 60'
exit $failed
