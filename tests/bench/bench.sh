#!/bin/sh
# SPDX-License-Identifier: MIT
# bench.sh - the bench runs, and its rows are those the documents name. How fast is not looked at
# here: scripts/bench --check does that, on a quiet machine.
set -eu
rows=$(./lazaret-bench --json --samples 20 --starts 1)
for name in floor.pingpong floor.forkexec floor.bwrap; do
    case $rows in
        *"\"name\":\"$name\",\"unit\":\"us\",\"n\":"*) ;;
        *)
            echo "bench.sh: no row $name in: $rows" >&2
            exit 1
            ;;
    esac
done
for runtime in lua python r; do
    [ -f "plugins/runtime/$runtime/$runtime.json" ] || continue
    for name in "execute.$runtime" "tool_call.$runtime" "session.cold.$runtime"; do
        case $rows in
            *"\"name\":\"$name\""*) ;;
            *)
                echo "bench.sh: no row $name in: $rows" >&2
                exit 1
                ;;
        esac
    done
done
! ./lazaret-bench --samples 0 2>/dev/null
