#!/bin/sh
# SPDX-License-Identifier: MIT
# driver.sh - runs one test for `make check`, and measures it. What Automake requires of a driver is
# in its manual ("Command-line arguments for test drivers", "Log files generation and test results
# recording").
#
# The last line of the log has the outcome, wall time and CPU time (of the test and of all processes
# that were waited for); the .trs file has them as :wall-ms: and :cpu-ms:. Tests have no time limits
# of their own: only a hanging one is killed, after HANG_S seconds.
set -u
HANG_S=${LAZARET_TEST_HANG_S-1200}

name='' log='' trs='' color=no hard_errors=yes expect_failure=no
while [ $# -gt 0 ]; do
    case $1 in
        --test-name) name=$2 ;;
        --log-file) log=$2 ;;
        --trs-file) trs=$2 ;;
        --color-tests) color=$2 ;;
        --enable-hard-errors) hard_errors=$2 ;;
        --expect-failure) expect_failure=$2 ;;
        --)
            shift
            break
            ;;
        *) break ;;
    esac
    shift 2
done
[ -n "$name" ] && [ -n "$log" ] && [ -n "$trs" ] && [ $# -gt 0 ] || {
    echo "usage: driver.sh --test-name NAME --log-file FILE --trs-file FILE [OPTIONS] -- COMMAND..." >&2
    exit 2
}
trap 'rm -f "$log" "$trs"; exit 130' HUP INT TERM

# Milliseconds, in whole seconds where date(1) has no finer unit.
now_ms() {
    case $(date +%s%N) in
        *N) echo "$(date +%s)000" ;;
        *) echo $(($(date +%s%N) / 1000000)) ;;
    esac
}

# Milliseconds of CPU time of the children so far, from the output of `times`: 0m1.250s 0m0.110s.
# This shell itself has to run it, because a subshell has other children.
cpu_ms() {
    awk 'NR == 2 {
        for (i = 1; i <= 2; i++) {
            split($i, part, /[ms]/)
            ms += (part[1] * 60 + part[2]) * 1000
        }
        printf "%d\n", ms
    }' "$trs"
}

if command -v timeout >/dev/null 2>&1; then
    set -- timeout -k 10 "$HANG_S" "$@"
fi
began=$(now_ms)
times >"$trs"
before=$(cpu_ms)
"$@" >"$log" 2>&1
status=$?
wall=$(($(now_ms) - began))
times >"$trs"
cpu=$(($(cpu_ms) - before))

[ "$hard_errors" = no ] && [ $status -eq 99 ] && status=1
case $status:$expect_failure in
    0:yes) outcome=XPASS again=yes copy=yes ;;
    0:*) outcome=PASS again=no copy=no ;;
    77:*) outcome=SKIP again=no copy=yes ;;
    99:*) outcome=ERROR again=yes copy=yes ;;
    *:yes) outcome=XFAIL again=no copy=yes ;;
    *) outcome=FAIL again=yes copy=yes ;;
esac
[ $status -ne 124 ] && [ $status -ne 137 ] || [ $wall -lt "${HANG_S}000" ] ||
    echo "ended after $HANG_S seconds: it hangs" >>"$log"
printf '%s %s (exit status: %d); %d ms, %d ms of CPU time\n' $outcome "$name" $status $wall $cpu >>"$log"
tint='' plain=''
if [ "$color" = yes ]; then
    plain=$(printf '\033[m')
    case $outcome in
        PASS | XFAIL) tint=$(printf '\033[32m') ;;
        SKIP) tint=$(printf '\033[34m') ;;
        *) tint=$(printf '\033[31m') ;;
    esac
fi
echo "$tint$outcome$plain: $name"
cat >"$trs" <<END
:test-result: $outcome
:global-test-result: $outcome
:recheck: $again
:copy-in-global-log: $copy
:wall-ms: $wall
:cpu-ms: $cpu
END
