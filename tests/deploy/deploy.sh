#!/bin/sh
# SPDX-License-Identifier: MIT
# deploy.sh - the manifests of config/kubernetes, run as a node would run them, beside a real nats-server: what a
# worker may do, what isolation callers get, probes, metrics, the end of a Pod, the profile for seccomp.
# tests/deploy/deploy.py has the parts. The root directory is made of this machine's; with LAZARET_TEST_FULL
# each call that the profile adds is taken out as well. What an image has is tried by `scripts/image-root test`.
. "${srcdir:-.}/tests/session/lib.sh"

top=$(cd "${srcdir:-.}" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/deploy-lazaret.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
stage_open "$PWD/staged"
HOME=$work
PYTHONDONTWRITEBYTECODE=1
export HOME PYTHONDONTWRITEBYTECODE
: >"$work/out"
: >"$work/err"
cd "$work" || exit 1

# part NAME - one of the parts of deploy.py, where there is no network but its own.
part() {
    cases=$((cases + 1)) status=0
    mkdir "$work/$1"
    # shellcheck disable=SC2016
    timeout -k 10 1100 unshare --net --mount --pid --fork --kill-child --mount-proc sh -c \
        'ip link set lo up && exec python3 "$@"' deploy "$top/tests/deploy/deploy.py" "$1" "$lazaret" "$work/$1" \
        "host:$staged$staged_prefix" >out 2>err </dev/null || status=$?
    [ "$status" -eq 0 ] || wrong "$1" "status $status"
    tail -n 1 out
}

# without NAME WHY - the test needs it.
without() {
    may_be_missing "$1" "$2"
    exit $((failures ? 1 : 77))
}

[ "$(id -u)" -eq 0 ] || without root "a container is started by root"
unshare --net --mount --pid --fork --mount-proc true 2>/dev/null || without namespaces "unshare is not allowed"
python3 -c 'import yaml' 2>/dev/null || without yaml "python3-yaml"
python3 -c 'import ctypes; ctypes.CDLL("libseccomp.so.2")' 2>/dev/null || without seccomp "libseccomp"
command -v nats-server >/dev/null 2>&1 || without nats-server "it is the bus"
"$lazaret" plugins nats >/dev/null 2>&1 || without nats "this build has no carrier for it"
look_for python
is_installed python || exit $((failures ? 1 : 77))
parts='kubernetes services'
[ -z "${LAZARET_TEST_FULL-}" ] || parts="$parts sandbox needed"
for name in $parts; do
    part $name
done
finish
