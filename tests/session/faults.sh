#!/bin/sh
# SPDX-License-Identifier: MIT
# faults.sh - system calls of the host, of the backend's program and of the agent fail in turn, and
# descriptors run out.
#
# The rule: the code runs in its box or not at all. The code looks for a file of the host and
# reports whether it is inside; a run without isolation shows first that it can find the file. A
# fault gives an error with its status (2, 70, 125), or the command recovers and the code is INSIDE;
# the command never hangs.
. "${srcdir:-.}/tests/session/lib.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/faults-lazaret.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
HOME=$work
export HOME
be_patient
# Each program in the box costs a hundred calls, which strace stops, and none of them is among those
# that fail.
echo 'sandbox.programs = ["sh"]' >>"$HOME/.config/lazaret/lazaret.toml"
stage_open "$PWD/staged"
: >"$work/out"
: >"$work/err"
: >"$work/file"
chmod 644 "$work/file"
code="print(io.open('$work/file') and 'OUTSIDE' or 'INSIDE')"
run="$lazaret run --runtime lua -e"
# In a sanitizer build: leak detection does not work under ptrace(2).
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export ASAN_OPTIONS

# holds NAME STATUS - the result of the last command is one of those allowed.
holds() {
    cases=$((cases + 1))
    if grep -q OUTSIDE "$work/out"; then
        wrong "$1" "the code ran outside of its box"
    elif grep -q 'AddressSanitizer getrlimit() failed' "$work/err"; then
        : # the call was the sanitizer's own
    elif [ "$2" -eq 0 ]; then
        grep -qx INSIDE "$work/out" || wrong "$1" "status 0, and the code did not run"
    elif [ "$2" -ne 2 ] && [ "$2" -ne 70 ] && [ "$2" -ne 125 ]; then
        wrong "$1" "status $2"
    elif grep -q INSIDE "$work/out" && [ "$2" -eq 125 ]; then
        wrong "$1" "the code ran, and setup failed"
    fi
}

# What is repeated tries every second call.
every=1 least=15
! is_repeated || every=2 least=5

# faults ERROR CALLS... - the first or the second of each call (per process) fails, as the seed
# selects; with LAZARET_TEST_FULL both do.
faults() {
    error=$1
    shift
    for calls; do
        tried=$((tried + 1))
        [ $((tried % every)) -eq 0 ] || continue
        seed=$(((seed * 1103515245 + 12345) % 2147483648))
        which="$((seed / 65536 % 2 + 1))"
        [ -z "${LAZARET_TEST_FULL-}" ] || which="1 2"
        for nth in $which; do
            status=0
            timeout 600 strace -f -qq -o "$work/calls" -e "trace=$calls" \
                -e "inject=$calls:error=$error:when=$nth" \
                $run "$code" >"$work/out" 2>"$work/err" </dev/null || status=$?
            grep -q INJECTED "$work/calls" && injected=$((injected + 1))
            holds "$calls $nth $error" "$status"
        done
    done
}

expect control_outside 0 OUTSIDE '' $run "$code" --backend none --set 'sandbox.require=[]'
expect control_inside 0 INSIDE '' $run "$code"

# The loader needs at least four descriptors to find a library, so none may be inherited.
descriptors() {
    for most in 4 5 6 8 10 12 15 20 25 30 35 40; do
        status=0
        (exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- && ulimit -n "$most" && exec timeout 600 $run "$code") \
            >"$work/out" 2>"$work/err" </dev/null || status=$?
        holds "descriptors $most" "$status"
    done
}

memory() {
    faults ENOMEM socket bind listen fchown fchmod pipe2 memfd_create clone,clone3,fork,vfork
    echo "$injected" >"$counts/memory"
}

more_memory() {
    faults ENOMEM mkdir epoll_create1 eventfd2 pidfd_open getrandom connect prlimit64
    echo "$injected" >"$counts/more_memory"
}

others() {
    faults EMFILE openat socket pipe2
    faults EPERM clone3 unshare mount umount2 pivot_root prctl setresuid setgroups setsid chdir
    faults EDQUOT keyctl
    echo "$injected" >"$counts/others"
}

counts=$work/counts
mkdir "$counts"
injected=0
seed=${LAZARET_TEST_SEED:-$(date +%s)}
tried=$((seed % 2))
echo "    LAZARET_TEST_SEED=$seed"
if ! strace -f -qq -o "$work/calls" true >"$work/out" 2>"$work/err"; then
    may_be_missing strace "$(head -n 1 "$work/err")"
    side_by_side descriptors
else
    side_by_side descriptors memory more_memory others
    injected=$(cat "$counts"/* | awk '{ sum += $1 } END { print sum }')
    echo "    $injected faults came about"
    [ "$injected" -ge "$least" ] || wrong faults "only $injected faults came about"
fi
finish
