#!/bin/sh
# SPDX-License-Identifier: MIT
# bench.sh - the bench measures every requested row or gives a reason; its JSON has the documented
# shape, and no value is negative; costs are counted where the system can; it fails when a row cannot
# be measured; --compare says what differs, and nothing else. Speed is not judged here:
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

groups() {
    find /sys/fs/cgroup -name 'lazaret-bench-*' 2>/dev/null || true
}

groups >"$scratch/groups"
floors='floor.pingpong floor.forkexec floor.bwrap floor.namespaces floor.interpreter.lua'
rows="--only $floors execute.lua tool_call.lua pool_acquire"
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
cost="(null|$number)"
shape='^  \{"name":"[a-z0-9_.]+","unit":"(us|1/s|B)","n":[1-9][0-9]*,'
shape="$shape\"median\":$number,\"p99\":$number,\"floor\":$number,\"ratio\":$number,\"cpu_ms\":$cost,"
shape="$shape\"kernel_ms\":$cost,\"page_faults\":$cost,\"system_calls\":$cost\},?\$"
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
            grep -q "absent: peer[.]${peer%%.*} (.*)" "$scratch/said" && continue
            ;;
        floor.interpreter.*)
            grep -q "absent: $name (.*)" "$scratch/said" && continue
            ;;
        *)
            runtime=${name##*.}
            grep -qx "bench: runtime not built: $runtime" "$scratch/said" &&
                [ ! -f "plugins/runtime/$runtime/$runtime.json" ] && continue
            ;;
    esac
    wrong "no row $name"
done
[ "$(grep -c '^| `' "$scratch/table")" -eq "$(wc -l <"$scratch/names")" ] || wrong "the table is short"

# Rows that have costs have at least CPU time and page faults, and it is said how they were counted.
# Nothing is left of the control groups.
cost_of() {
    sed -n "s/.*\"name\":\"$1\".*\"$2\":\([^,}]*\).*/\1/p" "$scratch/objects"
}
for name in floor.forkexec floor.bwrap floor.namespaces; do
    for member in cpu_ms page_faults; do
        case $(cost_of $name $member) in
            null | 0.000 | '') wrong "$name has no $member: $(grep "\"$name\"" "$scratch/objects")" ;;
        esac
    done
done
[ "$(cost_of floor.pingpong cpu_ms)" = null ] || wrong "floor.pingpong has costs"
more() {
    awk "BEGIN { exit !($1 > $2) }" || wrong "$3: $1 and $2"
}
more "$(cost_of floor.bwrap page_faults)" "$(cost_of floor.forkexec page_faults)" \
    'a box has as many page faults as a program'
[ "$(cost_of floor.bwrap system_calls)" = null ] ||
    more "$(cost_of floor.bwrap system_calls)" "$(cost_of floor.forkexec system_calls)" \
        'a box makes as many system calls as a program'
for file in "$scratch/said" "$scratch/table"; do
    grep -q 'Costs of a sample\. CPU: ..*\. Kernel: ..*\. Page faults: ..*\. System calls: .' "$file" ||
        wrong "it is not said how costs were counted: $(cat "$file")"
done
for group in $(groups); do
    grep -qxF "$group" "$scratch/groups" || [ -d "/proc/${group##*-}" ] ||
        [ ! -d "$group" ] || wrong "left behind: $group"
done

# CPU time is counted in each way that the system has, and what cannot be counted is refused.
for from in tasks children; do
    status=0
    ./lazaret-bench --quick --only floor.bwrap --count $from >"$scratch/counted" || status=$?
    [ $status -eq 77 ] && [ $from = tasks ] && continue # an ordinary user may not
    [ $status -eq 0 ] && grep -qE '^(0[.]0*)?[1-9]' "$scratch/counted" ||
        wrong "--count $from: $status: $(cat "$scratch/counted")"
done
status=0
./lazaret-bench --quick --only floor.bwrap --count "$scratch/nothing" >/dev/null || status=$?
[ $status -eq 77 ] || wrong "--count takes a file that is not there: $status"
./lazaret-bench --quick --only floor --count children 2>/dev/null && wrong "--count takes several rows"
./lazaret-bench --quick --only floor.pingpong --count children 2>/dev/null &&
    wrong "--count takes a row without costs"

# The list has the rows that documents and other programs name, and docs/performance.md explains
# each.
./lazaret-bench --list >"$scratch/list"
for name in floor.pingpong floor.forkexec floor.bwrap session.cold.python session.template.python \
    floor.namespaces floor.interpreter.lua peer.firejail.start peer.node_worker.session \
    peer.node_fork.execute sessions_per_second.r alive500.pss alive2000.turns execute.r tool_call.lua tool_call16.python \
    value_in_64k.python lines_per_second.r timeout_overshoot pool_acquire; do
    grep -qxF "$name" "$scratch/list" || wrong "$name is not listed"
done
for name in $(sed 's/\.\(lua\|python\|r\|javascript\)$//' "$scratch/list" | sort -u); do
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
for word in 0 -1 x 1001 ''; do
    ./lazaret-bench --list --part "$word" >/dev/null 2>&1 && wrong "--part takes '$word'"
done

# --compare: with a program that always says the same, a build that measures something differs, in
# the direction that is right; with itself nothing fails. Other builds may not know --part, or not
# have a row; one that fails, or prints something else, ends with status 1.
other() {
    printf '#!/bin/sh\n%s\n' "$1" >"$scratch/other"
    chmod 755 "$scratch/other"
}
compare() {
    status=0
    ./lazaret-bench --compare "$scratch/other" --quick --only "$@" >"$scratch/rows" \
        2>"$scratch/said" || status=$?
}
say_row() {
    printf 'printf '\''[\\n  {"name":"x","unit":"us","n":1,"median":%s,"page_faults":%s}\\n]\\n'\' "$1" "$2"
}
listed='case $* in *--list*) echo floor.forkexec; echo floor.pingpong; exit ;; esac
'
other "$listed$(say_row 1e12 0.5)"
compare floor.forkexec --pairs 10
[ $status -eq 0 ] || wrong "--compare: $status: $(cat "$scratch/said")"
grep -qE '^differs: floor\.forkexec is less here \(p 0\.0' "$scratch/rows" &&
    grep -qE '^differs: floor\.forkexec page_faults is more here' "$scratch/rows" &&
    grep -q '^2 of 2 values differ beyond the noise: signed ranks of 10 pairs' "$scratch/rows" &&
    grep -qE '^floor\.forkexec +us +10 ' "$scratch/rows" ||
    wrong "--compare does not say what differs: $(cat "$scratch/rows")"
compare floor.forkexec --pairs 3
grep -q '^0 of 2 values differ' "$scratch/rows" && grep -q '^so few pairs cannot show' "$scratch/rows" ||
    wrong "three pairs show a difference: $(cat "$scratch/rows")"
# An older program that does not know --part is asked without it, once for each pair.
other '
case $* in
    *--part*) exit 2 ;;
    *--list*) echo floor.pingpong; exit ;;
esac
echo turn >>'"$scratch/turns"'
'"$(say_row 1 1)"
compare floor.pingpong --pairs 2
[ $status -eq 0 ] && grep -q 'has no --part' "$scratch/rows" &&
    [ "$(wc -l <"$scratch/turns")" -eq 2 ] ||
    wrong "--compare with an older build: $status: $(cat "$scratch/rows" "$scratch/said")"
other "$listed"'printf "[\n]\n"'
compare floor.pingpong --pairs 2
[ $status -eq 0 ] && grep -qE '^floor\.pingpong +not measured by .*other$' "$scratch/rows" ||
    wrong "--compare with a build that has no such row: $status: $(cat "$scratch/rows")"
compare floor.bwrap --pairs 2
[ $status -eq 0 ] && grep -qE '^floor\.bwrap +not measured by .*other$' "$scratch/rows" ||
    wrong "--compare with a build that lists no such row: $status: $(cat "$scratch/rows")"
other "$listed"'echo it is broken >&2; exit 3'
compare floor.pingpong --pairs 2
[ $status -eq 1 ] && grep -q 'other has failed (status 3)' "$scratch/said" &&
    grep -q 'it is broken' "$scratch/said" ||
    wrong "--compare with a build that fails: $status: $(cat "$scratch/said")"
other 'echo it is not a bench >&2; exit 2'
compare floor.pingpong --pairs 2
[ $status -eq 1 ] && grep -q 'it is not a bench' "$scratch/said" ||
    wrong "--compare with a program that lists no rows: $status: $(cat "$scratch/said")"
other "$listed$(say_row '"none"' 1)"
compare floor.pingpong --pairs 2
[ $status -eq 1 ] || wrong "--compare takes a row without a median: $status"
cp "$(readlink -f ./lazaret-bench)" "$scratch/other"
compare floor.pingpong floor.namespaces --pairs 2
[ $status -eq 0 ] && grep -q '^floor.namespaces cpu_ms' "$scratch/rows" &&
    ! grep -q '^differs' "$scratch/rows" || wrong "--compare with itself: $status: $(cat "$scratch/rows")"
for wrong_use in '--pairs 5' "--compare $scratch/other --json" "--compare $scratch/other --check" \
    "--compare $scratch/nothing" "--compare $scratch/other --pairs 0" \
    "--compare $scratch/other --pairs 201"; do
    status=0
    # shellcheck disable=SC2086
    ./lazaret-bench $wrong_use --quick --only floor.pingpong >/dev/null 2>&1 || status=$?
    [ $status -eq 2 ] || wrong "$wrong_use: $status"
done
if [ -x "$srcdir/scripts/bench" ]; then
    for wrong_use in "$scratch/nothing" "$scratch"; do
        status=0
        (
            unset LAZARET_AGENT LAZARET_PLUGIN_PATH
            BUILD=$PWD exec "$srcdir/scripts/bench" --compare "$wrong_use"
        ) >/dev/null 2>"$scratch/said" || status=$?
        [ $status -eq 2 ] && grep -q "no lazaret-bench in $wrong_use" "$scratch/said" ||
            wrong "scripts/bench --compare $wrong_use: $status: $(cat "$scratch/said")"
    done
fi
if command -v gnuplot >/dev/null; then
    ./lazaret-bench --only floor.forkexec floor.bwrap --quick --svg "$scratch/picture" >/dev/null
    grep -q '<svg' "$scratch/picture" && grep -q 'floor.forkexec' "$scratch/picture" ||
        wrong "no picture"
fi
