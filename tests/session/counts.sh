#!/bin/sh
# SPDX-License-Identifier: MIT
# counts.sh - what an execution and a call of a tool cost at most: system calls of host and agent, and
# requests for memory in the host; and what the start of a session does not do again.
# docs/design-tools.md ("What a call costs") has the same figures.
#
# tests/session/counts.c marks in the trace where each begins and ends, because the cost of a start
# depends on other processes of the machine. How often the threads of the host wait for each other
# depends on scheduling and on how many calls are served while the loop is lent (two milliseconds),
# so waiting and waking are counted separately. The rest is the same on any machine, and its bounds
# leave no room for one more call.
set -u
unset LD_PRELOAD # delays (tests/mock/delays.c) would be counted
directory=$(mktemp -d "${TMPDIR:-/tmp}/lazaret-counts.XXXXXXXX") || exit 1
trap 'rm -rf "$directory"' EXIT
trap 'exit 1' INT TERM
failed=0

if grep -q -e '-fsanitize' staged/paths; then
    echo '    SKIP sanitize: the sanitizers make calls of their own, and do not work under ptrace(2)'
    exit 77
fi

# needed NAME - is it a failure when this is missing?
needed() {
    case ,${LAZARET_TEST_NEED-}, in
        *,-"$1",*) return 1 ;;
        *",$1,"* | *,all,*) return 0 ;;
    esac
    return 1
}

skip() {
    needed "$1" && { echo "needed but missing: $1: $2"; exit 1; }
    echo "    SKIP $1: $2"
    exit 77
}

command -v strace >/dev/null 2>&1 || skip strace 'not installed'
strace -qq -o /dev/null true 2>/dev/null || skip strace 'no process can be traced here'

executions=400 calls=800
status=0
strace -f -qq -o "$directory/trace" ./counts $executions $calls >"$directory/out" 2>"$directory/err" || status=$?
[ "$status" -ne 77 ] || skip lua "$(cat "$directory/err")"
[ "$status" -eq 0 ] || { cat "$directory/err"; exit 1; }

# Counts for each part: calls of the host, its calls to wait or wake, calls of the agent. The agent
# is the process that sends "ready"; the host's are the threads of the program. Its first eventfd is
# the one that wakes the loop. All else in the trace belongs to boxes: a process that makes itself small
# while the code runs is not the host's.
awk '
    NR == 1 { host = $1; threads[$1] }
    $1 in threads && (/ clone3?\(.*CLONE_THREAD/ || ($1 in cloning && / clone3? resumed>/)) {
        delete cloning[$1]
        if (/<unfinished/) cloning[$1]
        else threads[$NF]
    }
    /"type\\":\\"ready/ && !agent { agent = $1 }
    $1 == host && /eventfd2.*= [0-9]+$/ && !loop { loop = $NF }
    $1 == host && match($0, / write\(1, "begin [a-z]+/) {
        part = substr($0, RSTART + 17, RLENGTH - 17)
        next
    }
    $1 == host && / write\(1, "(start|first|execute|call) / { part = "" }
    # The agent may begin to wait for a message before or after the part has begun: what counts is that
    # it has come.
    $1 == agent && / recvfrom\(.*<unfinished/ { next }
    part && $1 == agent && /recvfrom resumed>/ { a[part]++; next }
    !part || /resumed>/ || !/ [a-z_0-9]+\(/ { next }
    $1 == agent { a[part]++; next }
    !($1 in threads) { next }
    # where the kernel does not trust the counter of the processor, reading the clock is a call
    / (clock_gettime\(CLOCK_(MONOTONIC|REALTIME))/ { next }
    / (futex|poll|ppoll|epoll_wait|epoll_pwait)\(/ { w[part]++; next }
    loop && $2 ~ "^(read|write)[(]" loop ",$" { w[part]++; next }
    { h[part]++ }
    END { for (p in h) print p, h[p], w[p], a[p] }' "$directory/trace" >"$directory/calls"

# judge WHAT N HOST WAITS AGENT MEMORY - compares the counts for N of them with bounds for each one.
judge() {
    awk -v what="$1" -v n="$2" -v most_h="$3" -v most_w="$4" -v most_a="$5" -v most_m="$6" '
        $1 == what && NF == 2 { m = $2 / n }
        $1 == what && NF == 4 { h = $2 / n; w = $3 / n; a = $4 / n }
        END {
            printf "%s: %.2f system calls of the host and %.2f to wait, %.2f of the agent, ", what,
                h, w, a
            printf "%.2f requests for memory\n", m
            if (h < 1 || a < 1 || m < 1) { print "these are too few to be true"; exit 1 }
            if (h > most_h || w > most_w || a > most_a || m > most_m) {
                printf "more than %s, %s, %s, %s\n", most_h, most_w, most_a, most_m
                exit 1
            }
        }' "$directory/out" "$directory/calls" || failed=1
}

# The fresh box is searched for nothing: the code before it cannot have locked files. Three calls read
# the size of the memory of the kernel, and the two counters of the group are opened. One call of each
# execution checks the descriptor that the application was lent. Where no group counts, as for most
# ordinary users, the host looks at each process of the box.
if [ "$(id -u)" -eq 0 ]; then
    judge first 1 18.5 3.5 4.5 14.5
else
    echo '    SKIP root: the first execution of an ordinary user has no bound'
fi
# The fourth call of the agent looks whether there are artifacts.
judge execute $executions 10.5 3.5 4.5 14.5
# A call for which the loop is lent alone waits the most: for its message, for the change of threads
# and back (a wake-up and a wait of each, and for the lock), for the end of the loan, and for a
# wake-up of the loop.
judge call $calls 2.5 20 3.5 16

# What an engine has found out about the files of this host holds for all of its sessions: the start of
# the second asks for nothing below the directories that its box shows, but where the program of the
# backend is. Its own programs and plugins are looked at again, in case they have changed.
awk '
    NR == 1 { host = $1 }
    $1 == host && / write\(1, "begin start/ { inside = 1 }
    $1 == host && / write\(1, "start / { inside = 0; ended = 1 }
    !inside || $1 != host { next }
    / (readlink|readlinkat|faccessat|faccessat2)\(/ { print; wrong++ }
    / (stat|lstat|newfstatat|statx|access|open|openat|getdents64)\(/ && /"\/(usr|etc|bin|sbin|lib|lib64|nix|gnu)["\/]/ &&
        !/"\/usr\/(local\/)?bin\/bwrap"|\/(lazaret-agent|lazaret-tool|lua\.so)"/ { print; wrong++ }
    / openat\(/ { opened++ }
    END {
        printf "second start: %d opened, %d asked again\n", opened, wrong
        exit !ended || !opened || wrong
    }' "$directory/trace" || failed=1
exit "$failed"
