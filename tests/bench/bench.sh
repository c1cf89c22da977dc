#!/bin/sh
# SPDX-License-Identifier: MIT
# bench.sh - the bench measures every requested row or gives a reason; its JSON has the documented
# shape, and no value is negative; it fails when a row cannot be measured. Speed is not judged here:
# scripts/bench --check does that on a quiet machine. With LAZARET_TEST_FULL all rows are requested,
# else a few of each kind.
set -eu
srcdir=${srcdir:-.}
scratch=$(mktemp -d /tmp/bench-test.XXXXXXXX)
trap 'rm -rf "$scratch"' EXIT

wrong() {
    echo "bench.sh: $*" >&2
    exit 1
}

rows='--only floor execute.lua tool_call.lua pool_acquire'
[ -z "${LAZARET_TEST_FULL-}" ] || rows=
# shellcheck disable=SC2086
./lazaret-bench --quick --json --markdown "$scratch/table" $rows >"$scratch/rows" 2>"$scratch/said" || {
    cat "$scratch/said" >&2
    wrong "it failed"
}
[ "$(head -n 1 "$scratch/rows")" = "[" ] && [ "$(tail -n 1 "$scratch/rows")" = "]" ] ||
    wrong "no list: $(cat "$scratch/rows")"

# One object a line, nonnegative numbers, at least one sample, no repeated name.
number='[0-9]+(\.[0-9]+)?'
shape='^  \{"name":"[a-z0-9_.]+","unit":"(us|1/s|B)","n":[1-9][0-9]*,'
shape="$shape\"median\":$number,\"p99\":$number,\"floor\":$number,\"ratio\":$number\},?\$"
sed '1d;$d' "$scratch/rows" >"$scratch/objects"
odd=$(grep -vE "$shape" "$scratch/objects") && wrong "not as documented: $odd"
sed '$d' "$scratch/objects" | grep -v ',$' && wrong "objects are not separated"
tail -n 1 "$scratch/objects" | grep ',$' && wrong "a comma after the last object"
sed 's/^ *{"name":"\([^"]*\)".*/\1/' "$scratch/objects" >"$scratch/names"
twice=$(sort "$scratch/names" | uniq -d)
[ -z "$twice" ] || wrong "twice: $twice"

# Every row of the list is present, except for runtimes that are not built and missing peers.
# shellcheck disable=SC2086
for name in $(./lazaret-bench --list $rows); do
    grep -qxF "$name" "$scratch/names" && continue
    case $name in
        peer.*)
            peer=${name#peer.}
            grep -q "absent:.* ${peer%%.*}" "$scratch/said" && continue
            ;;
        *)
            runtime=${name##*.}
            grep -qx "bench: runtime not built: $runtime" "$scratch/said" &&
                [ ! -f "plugins/runtime/$runtime/$runtime.json" ] && continue
            ;;
    esac
    wrong "no row $name"
done
[ "$(wc -l <"$scratch/table")" -eq $(($(wc -l <"$scratch/names") + 2)) ] || wrong "the table is short"

# The list has the rows that documents and other programs name, and docs/performance.md explains
# each.
./lazaret-bench --list >"$scratch/list"
for name in floor.pingpong floor.forkexec floor.bwrap session.cold.python session.template.python \
    sessions_per_second.r alive500.pss execute.r tool_call.lua tool_call16.python \
    value_in_64k.python lines_per_second.r timeout_overshoot pool_acquire; do
    grep -qxF "$name" "$scratch/list" || wrong "$name is not listed"
done
for name in $(sed 's/\.\(lua\|python\|r\)$//' "$scratch/list" | sort -u); do
    case $name in
        peer.*) continue ;;
    esac
    grep -qF "\`$name" "$srcdir/docs/performance.md" || wrong "docs/performance.md has no $name"
done

./lazaret-bench --only floor.pingpong --quick --json | grep -c '"name"' | grep -qx 1 ||
    wrong "--only measures something else"
if LAZARET_AGENT=/nowhere/agent ./lazaret-bench --only execute --quick >"$scratch/rows" 2>"$scratch/said"
then
    wrong "it does not fail where no session can be started"
fi
grep -q '/nowhere/agent' "$scratch/said" || wrong "not said why: $(cat "$scratch/said")"
./lazaret-bench --only nothing 2>/dev/null && wrong "--only takes any name"
./lazaret-bench --samples 0 2>/dev/null && wrong "an unknown option is taken"
if command -v gnuplot >/dev/null; then
    ./lazaret-bench --only floor --quick --svg "$scratch/picture" >/dev/null
    grep -q '<svg' "$scratch/picture" && grep -q 'floor.forkexec' "$scratch/picture" ||
        wrong "no picture"
fi
