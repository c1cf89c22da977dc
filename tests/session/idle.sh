#!/bin/sh
# SPDX-License-Identifier: MIT
# idle.sh - no thread wakes up while there is nothing to do: neither of a host with idle sessions,
# nor of a host that waits for a tool, nor in their boxes.
#
# There are two measurements. The kernel counts how often each thread has gone to sleep: the count
# must not change while another process ticks twenty times. And strace must see no system call
# meanwhile. The ticking process is measured in the same way, which shows that the measurements
# work. The speed of the machine does not matter: a host that has just become ready may take time to
# come to rest, and the ticking process itself counts its ticks.
set -u
unset LD_PRELOAD # delays (tests/mock/delays.c) would be counted
directory=$(mktemp -d "${TMPDIR:-/tmp}/lazaret-idle.XXXXXXXX") || exit 1
pids=

# The programs exit at the end of their standard input.
finish() {
    [ -z "${tracer-}" ] || kill -INT "$tracer" 2>/dev/null
    exec 3>&- 4>&- 5>&-
    for pid in $pids; do
        wait "$pid" 2>/dev/null
    done
    rm -rf "$directory"
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

# await WORD FILE PID - waits until the program has printed the word or has ended.
await() {
    until grep -q "$1" "$2"; do
        if ! kill -0 "$3" 2>/dev/null; then
            wait "$3"
            status=$?
            cat "$2"
            [ $status -eq 77 ] && ! needed bwrap && exit 77
            exit 1
        fi
        sleep 0.05
    done
}

mkfifo "$directory/idle" "$directory/waiting" "$directory/ticking" || exit 1
: >"$directory/idle.out" >"$directory/waiting.out" >"$directory/ticking.out"
./idle idle <"$directory/idle" >"$directory/idle.out" 2>&1 &
idle=$!
./idle waiting <"$directory/waiting" >"$directory/waiting.out" 2>&1 &
waiting=$!
./idle ticking <"$directory/ticking" >"$directory/ticking.out" 2>&1 &
ticking=$!
pids="$idle $waiting $ticking"
exec 3>"$directory/idle" 4>"$directory/waiting" 5>"$directory/ticking"
await ready "$directory/idle.out" "$idle"
await ready "$directory/waiting.out" "$waiting"
await ready "$directory/ticking.out" "$ticking"

# tree PID... - prints the processes and all their descendants.
tree() {
    for of; do
        echo "$of"
        # shellcheck disable=SC2046
        tree $(cat /proc/"$of"/task/*/children 2>/dev/null)
    done
}

# look PID... - prints for each of their threads: its state, how often it has gone to sleep, its
# tracer.
look() {
    for of; do
        cat /proc/"$of"/task/*/status
    done 2>/dev/null | awk '
        /^Pid:/ { pid = $2 }
        /^State:/ { state = $2 }
        /^TracerPid:/ { tracer = $2 }
        /^voluntary_ctxt_switches/ { print pid, state, $2, tracer }'
}

# rest - waits until all threads sleep at the same time; $resting is the result of `look` then. A
# thread that sleeps in two looks and has not gone to sleep in between slept throughout, so all of
# them slept when the second look began. From then on only a timer can wake one.
rest() {
    looks=0
    until resting=$(look $(tree "$idle" "$waiting")) &&
        ! printf '%s\n' "$resting" | grep -qv "^[0-9]* S [0-9]* ${tracer:-0}\$" &&
        [ "$(look $(tree "$idle" "$waiting"))" = "$resting" ]; do
        looks=$((looks + 1))
        [ $((looks % 100)) -ne 0 ] || printf 'not at rest yet:\n%s\n' "$resting"
        sleep 0.05
    done
}

# trace - attaches strace to all of them; $reason: why it cannot.
trace() {
    options= reason=
    if ! command -v strace >/dev/null 2>&1; then
        reason='it is not installed'
        return
    fi
    rest # so that no process is started meanwhile
    for pid in $(tree "$idle" "$waiting" "$ticking"); do
        options="$options -p $pid"
    done
    # shellcheck disable=SC2086
    strace -f -ttt -o "$directory/calls" $options 2>"$directory/strace.err" &
    tracer=$!
    until [ -z "$(look $(tree "$idle" "$waiting" "$ticking") | grep -v " $tracer\$")" ]; do
        if grep -qiE 'not permitted|could not' "$directory/strace.err" || ! kill -0 "$tracer" 2>/dev/null
        then
            kill -INT "$tracer" 2>/dev/null
            wait "$tracer"
            tracer=
            reason=$(head -n 1 "$directory/strace.err")
            return
        fi
        sleep 0.05
    done
}

sleeps() {
    look "$ticking" | awk '{ print $3 }'
}

tracer=
trace
rest
before=$resting
printf '%s\n' "$before" | awk '{ n++ } END { print n " threads"; exit n < 6 }' ||
    { echo "two hosts with their boxes should be more"; exit 1; }
begin=$(date +%s.%N)
ticks=$(sleeps)
echo tick >&5
await ticked "$directory/ticking.out" "$ticking"
after=$(look $(tree "$idle" "$waiting"))
ticks=$(($(sleeps) - ticks))
failed=0
echo "the process that ticks has gone to sleep $ticks times"
[ "$ticks" -ge 20 ] || { echo "the count does not see wake-ups"; failed=1; }
if [ "$before" != "$after" ]; then
    printf 'somebody wakes up:\n%s\nbecame\n%s\n' "$before" "$after"
    failed=1
fi
if [ -n "$tracer" ]; then
    kill -INT "$tracer"
    wait "$tracer"
    tracer= # its number may be another's by now
    # Attaching interrupted each call, and each thread waited again: that was before $begin.
    awk -v from="$begin" -v ticking="$ticking" '
        $2 < from { next }
        $1 == ticking { ticks++; next }
        { calls++; print }
        END {
            printf "system calls: %d; of the process that ticks: %d\n", calls, ticks
            exit calls > 0 || ticks < 20
        }' "$directory/calls" || failed=1
elif needed strace; then
    echo "needed but missing: strace: $reason"
    failed=1
else
    echo "SKIP strace: $reason"
fi
exit "$failed"
