#!/bin/sh
# SPDX-License-Identifier: MIT
# idle.sh - nobody wakes up while there is nothing to do: neither the threads of a host with idle
# sessions, nor those of a host that waits for a tool, nor anything in their boxes.
#
# Two witnesses.  The kernel counts how often each thread has gone to sleep: not once more in a
# second.  And strace sees no system call.  A process that ticks is looked at in the same way, so
# that a witness that sees nothing is found out.
set -u
folder=$(mktemp -d "${TMPDIR:-/tmp}/lazaret-idle.XXXXXXXX") || exit 1
pids=

# The programs end when nobody writes to their standard input any more.
finish() {
    exec 3>&- 4>&-
    for pid in $pids; do
        wait "$pid" 2>/dev/null
    done
    [ -z "${ticker-}" ] || kill "$ticker" 2>/dev/null
    rm -rf "$folder"
}
trap finish EXIT
trap 'exit 1' INT TERM

needed() {
    case ,${LAZARET_TEST_NEED-}, in
        *,-"$1",*) return 1 ;;
        *",$1,"* | *,all,*) return 0 ;;
    esac
    return 1
}

# await FILE PID - until the program has said "ready", or has ended.
await() {
    until grep -q ready "$1"; do
        if ! kill -0 "$2" 2>/dev/null; then
            wait "$2"
            status=$?
            cat "$1"
            [ $status -eq 77 ] && ! needed bwrap && exit 77
            exit 1
        fi
        sleep 0.05
    done
}

mkfifo "$folder/idle" "$folder/waiting" || exit 1
./idle idle <"$folder/idle" >"$folder/idle.out" 2>&1 &
idle=$!
./idle waiting <"$folder/waiting" >"$folder/waiting.out" 2>&1 &
waiting=$!
./idle ticking >"$folder/ticking.out" 2>&1 &
ticker=$!
pids="$idle $waiting"
exec 3>"$folder/idle" 4>"$folder/waiting"
await "$folder/idle.out" "$idle"
await "$folder/waiting.out" "$waiting"
await "$folder/ticking.out" "$ticker"

# tree PID - the process and everything below it.
tree() {
    echo "$1"
    for below in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
        tree "$below"
    done
}

# sleeps PID... - how often their threads have gone to sleep.
sleeps() {
    for of in "$@"; do
        cat /proc/"$of"/task/*/status
    done 2>/dev/null | awk '/^voluntary_ctxt_switches/ { n += $2 } END { print n + 0 }'
}

all="$(tree "$idle") $(tree "$waiting")"
set -- $all
echo "$# processes"
[ $# -ge 6 ] || { echo "two hosts with their boxes should be more"; exit 1; }

# What has just become ready may still be on its way to sleep, on a busy machine for a while: so one
# quiet second of five is enough.  Who wakes up all the time is seen in each of them.
for try in 1 2 3 4 5; do
    before=$(sleeps "$@")
    ticks=$(sleeps "$ticker")
    sleep 1
    ticked=$(($(sleeps "$ticker") - ticks))
    woken=$(($(sleeps "$@") - before))
    echo "sleeps in a second: $woken; of the process that ticks: $ticked"
    [ "$woken" -gt 0 ] || [ "$ticked" -lt 5 ] || break
done
failed=0
[ "$ticked" -ge 5 ] || { echo "the count does not see wake-ups"; failed=1; }
[ "$woken" -eq 0 ] || { echo "somebody wakes up"; failed=1; }
quiet=$failed # as the kernel counts

# look AFTER SECONDS - what strace sees from so long after its beginning on: attaching interrupts each
# call, and then everybody waits again.  Status 1: something else than the ticks.
look() {
    start=$(date +%s.%N)
    # shellcheck disable=SC2086
    timeout -s INT "$2" strace -f -ttt -o "$folder/calls" $options 2>"$folder/strace.err"
    awk -v from="$start" -v after="$1" -v ticker="$ticker" '
        $2 < from + after { next }
        $1 == ticker { ticks++; next }
        { calls++; print }
        END {
            printf "system calls: %d; of the process that ticks: %d\n", calls, ticks
            exit calls > 0 || ticks < 5
        }' "$folder/calls" 2>/dev/null
}

refused() {
    grep -qiE 'not permitted|could not' "$folder/strace.err"
}

if ! command -v strace >/dev/null 2>&1; then
    reason="strace is not installed"
else
    options=
    for pid in "$@" "$ticker"; do
        options="$options -p $pid"
    done
    # The longer ones are for a machine that is busy with other things.
    look 0.5 2 || refused || look 2 4 || look 6 8 || failed=1
    reason=
    ! refused || reason=$(head -n 1 "$folder/strace.err")
fi
if [ -n "$reason" ]; then
    ! needed strace || { echo "needed but missing: strace: $reason"; exit 1; }
    echo "SKIP strace: $reason"
    exit "$quiet"
fi
exit "$failed"
