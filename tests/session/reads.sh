#!/bin/sh
# SPDX-License-Identifier: MIT
# reads.sh - of the processes of a box the thread of the loop reads nothing that they can make long:
# other threads do. Looked at are all system calls that name a file, and kcmp(2).
#
# What remains are a stat, which has one line, the name of a namespace, and the groups of a process
# that is killed (docs/design-limits.md, "What the loop reads").
set -u
unset LD_PRELOAD # delays (tests/mock/delays.c) would be counted
directory=$(mktemp -d "${TMPDIR:-/tmp}/lazaret-reads.XXXXXXXX") || exit 1
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

# reads HOW WHAT... - the loop reads nothing else, and another thread has read all of WHAT.
reads() {
    how=$1
    shift
    status=0
    strace -f -qq -e trace=%file,write,kcmp -o "$directory/trace" ./reads "$how" >"$directory/out" 2>&1 ||
        status=$?
    if [ "$status" -eq 77 ] && [ "$how" = group ]; then
        echo '    SKIP group: no control group counts memory here'
        return
    fi
    [ "$status" -ne 77 ] || skip lua "$(cat "$directory/out")"
    [ "$status" -eq 0 ] || { cat "$directory/out"; failed=1; return; }
    awk -v how="$how" -v what="$*" '
        NR == 1 { loop = $1 }
        $1 == loop && / write\(1, "begin/ { inside = 1 }
        / write\(1, "look/ { looks[$1] = 1 }
        !inside { next }
        $1 == loop && / kcmp\(/ { print; wrong++ }
        !match($0, /"\/proc\/[0-9]+\/[a-z_]+/) { next }
        {
            split(substr($0, RSTART, RLENGTH), part, "/")
            if ($1 == loop && part[4] !~ /^(stat|ns|cgroup)$/) { print; wrong++ }
            if ($1 in looks) seen[part[4]]++
        }
        END {
            if (loop in looks) { print "the loop looks itself"; wrong++ }
            n = split(what, names, " ")
            for (i = 1; i <= n; i++)
                if (!seen[names[i]]) { print "nothing has read " names[i]; wrong++ }
            for (name in seen) total += seen[name]
            printf "%s: %d reads by other threads, %d wrong\n", how, total, wrong
            exit !!wrong
        }' "$directory/trace" || failed=1
}

reads group task fdinfo stat
reads watchdog task fd fdinfo stat status
exit "$failed"
