#!/bin/sh
# SPDX-License-Identifier: MIT
# counts.sh - what an execution and a call of a tool cost at most: system calls of host and agent, and
# requests for memory in the host.  docs/architecture.md ("What a call costs") has the same figures.
#
# Two runs of tests/session/counts.c differ in nothing but the number of executions, two others in
# that of calls; so what is done once is in neither difference.  They keep to one processor: on several,
# how often the threads of the host wake each other is a matter of which is just awake, not of what
# an execution asks for.
set -u
folder=$(mktemp -d "${TMPDIR:-/tmp}/lazaret-counts.XXXXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
failed=0

# needed NAME - is it a failure when it is missing?
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
processor=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*\([0-9]*\).*/\1/p' /proc/self/status)

# run NAME EXECUTIONS CALLS - its trace, and what it prints.
run() {
    status=0
    taskset -c "$processor" strace -f -qq -o "$folder/$1.trace" ./counts "$2" "$3" \
        >"$folder/$1.out" 2>"$folder/$1.err" || status=$?
    [ "$status" -ne 77 ] || skip lua "$(cat "$folder/$1.err")"
    [ "$status" -eq 0 ] || { cat "$folder/$1.err"; exit 1; }
    # The agent is who says "ready"; the host's own processes are the threads of the program.
    awk '/"type\\":\\"ready/ && !agent { agent = $1 }
        / (sendmsg|sendto|recvfrom|read|write|pread64|poll|epoll_wait|futex|ioctl|openat|close|getpid|waitid|[a-z_0-9]+)\(/ && !/resumed>/ { n[$1]++ }
        END { for (p in n) if (p == agent) a += n[p]; else h += n[p]; print h + 0, a + 0 }' \
        "$folder/$1.trace" >"$folder/$1.calls"
}

# judge WHAT HOST AGENT MEMORY RUN OTHER N - the difference of two runs, by N, against bounds.
judge() {
    read -r host agent <"$folder/$5.calls"
    read -r host_more agent_more <"$folder/$6.calls"
    memory=$(sed -n "s/^$1 //p" "$folder/$5.out")
    memory_more=$(sed -n "s/^$1 //p" "$folder/$6.out")
    awk -v what="$1" -v n="$7" -v h=$((host_more - host)) -v a=$((agent_more - agent)) \
        -v m=$((memory_more - memory)) -v most_h="$2" -v most_a="$3" -v most_m="$4" 'BEGIN {
        printf "%s: %.1f system calls of the host, %.1f of the agent, %.1f requests for memory\n",
            what, h / n, a / n, m / n
        if (h < n || a < n) { print "these are too few to be true"; exit 1 }
        if (h / n > most_h || a / n > most_a || m / n > most_m) {
            printf "more than %s, %s, %s\n", most_h, most_a, most_m
            exit 1
        }
    }' || failed=1
}

run base 100 100
run execute 500 100
run call 100 900
judge execute 13 4 20 base execute 400
judge call 7 4 20 base call 800
exit "$failed"
