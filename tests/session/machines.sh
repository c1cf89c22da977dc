#!/bin/sh
# SPDX-License-Identifier: MIT
# machines.sh - workers on three machines, which are network namespaces, a bus on a fourth and callers on a
# fifth: kill -9, cut links, paused workers, rolling drain, recorded frames. tests/session/machines.py has the parts.
#
# Each part has namespaces of its own, which end with it; the parts run side by side, because they mostly
# wait. The gate takes a part of them; LAZARET_TEST_FULL=yes takes what waits for leases as well.
. "${srcdir:-.}/tests/session/lib.sh"

if [ "$(id -u)" -ne 0 ]; then
    may_be_missing root "namespaces on a bridge are for root"
    exit $((failures ? 1 : 77))
fi
top=$(cd "${srcdir:-.}" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/machines-lazaret.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
stage_open "$PWD/staged"
HOME=$work
PYTHONDONTWRITEBYTECODE=1
export HOME PYTHONDONTWRITEBYTECODE
cd "$work" || exit 1
: >out
: >err

# part - the part of machines.py that the directory is for.
part() {
    cases=$((cases + 1)) status=0
    timeout -s KILL 1100 unshare -nmpf --kill-child --mount-proc python3 "$top/tests/session/machines.py" \
        "${work##*/}" "$lazaret" "$work" >out 2>err </dev/null || status=$?
    [ "$status" -eq 0 ] || wrong "${work##*/}" "status $status"
    tail -n 1 out
}

look_for lua
is_installed lua || exit $((failures ? 1 : 77))
if ! command -v nats-server >/dev/null 2>&1; then
    may_be_missing nats-server "it is the bus"
    exit $((failures ? 1 : 77))
fi
if ! "$lazaret" plugins nats >/dev/null 2>&1; then
    may_be_missing nats "this build has no carrier for it"
    exit $((failures ? 1 : 77))
fi
if ! unshare -nmpf --mount-proc ip link add bridge type bridge 2>/dev/null; then
    may_be_missing bridges "the kernel gives no network namespaces with bridges"
    exit $((failures ? 1 : 77))
fi
use() { part; }
worker() { part; }
server() { part; }
callers() { part; }
rolling() { part; }
brief() { part; }
frames() { part; }
tenants() { part; }
apart() { part; }
long() { part; }
side_by_side use worker callers rolling tenants
[ -z "${LAZARET_TEST_FULL-}" ] || side_by_side server brief frames apart long
finish
