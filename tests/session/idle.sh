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

# What has just become ready may still be on its way to sleep.
before=$(sleeps "$@")
for try in 1 2 3 4 5 6 7 8 9 10; do
    sleep 0.2
    now=$(sleeps "$@")
    [ "$now" != "$before" ] || break
    before=$now
done

ticks=$(sleeps "$ticker")
sleep 1
ticked=$(($(sleeps "$ticker") - ticks))
woken=$(($(sleeps "$@") - before))
echo "sleeps in a second: $woken; of the process that ticks: $ticked"
failed=0
[ "$ticked" -ge 5 ] || { echo "the count does not see wake-ups"; failed=1; }
[ "$woken" -eq 0 ] || { echo "somebody wakes up (after $try looks)"; failed=1; }

if ! command -v strace >/dev/null 2>&1; then
    reason="strace is not installed"
else
    options=
    for pid in "$@" "$ticker"; do
        options="$options -p $pid"
    done
    start=$(date +%s.%N)
    # shellcheck disable=SC2086
    timeout -s INT 2 strace -f -ttt -o "$folder/calls" $options 2>"$folder/strace.err"
    reason=
    ! grep -qiE 'not permitted|could not' "$folder/strace.err" ||
        reason=$(head -n 1 "$folder/strace.err")
fi
if [ -n "$reason" ]; then
    ! needed strace || { echo "needed but missing: strace: $reason"; exit 1; }
    echo "SKIP strace: $reason"
    [ "$failed" -ne 0 ] || exit 0
    exit 1
fi

# Attaching interrupts each call; half a second later everybody waits again.
awk -v from="$start" -v ticker="$ticker" '
    $2 < from + 0.5 { next }
    $1 == ticker { ticks++; next }
    { calls++; print }
    END {
        printf "system calls in 1.5 seconds: %d; of the process that ticks: %d\n", calls, ticks
        exit calls > 0 || ticks < 5
    }' "$folder/calls" || failed=1
exit "$failed"
