#!/bin/sh
# SPDX-License-Identifier: MIT
# cluster.sh - workers and callers on a bus, which is the real nats-server: the same calls as with a server of
# this machine, and how all of it ends. tests/session/cluster.py has the parts.
. "${srcdir:-.}/tests/session/lib.sh"

top=$(cd "${srcdir:-.}" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/cluster-lazaret.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
stage_open "$PWD/staged"
HOME=$work
PYTHONDONTWRITEBYTECODE=1
export HOME PYTHONDONTWRITEBYTECODE
cd "$work" || exit 1
: >out
: >err

# part NAME - one of the parts of cluster.py, in a directory of its own.
part() {
    cases=$((cases + 1)) status=0
    timeout -k 10 1100 setsid -w python3 "$top/tests/session/cluster.py" "$1" "$lazaret" "$work" >out 2>err </dev/null ||
        status=$?
    [ "$status" -eq 0 ] || wrong "$1" "status $status"
    tail -n 1 out
}

look_for python
is_installed python || exit $((failures ? 1 : 77))
if ! command -v nats-server >/dev/null 2>&1; then
    may_be_missing nats-server "it is the bus"
    exit $((failures ? 1 : 77))
fi
if ! "$lazaret" plugins nats >/dev/null 2>&1; then
    may_be_missing nats "this build has no carrier for it"
    exit $((failures ? 1 : 77))
fi
# Most of what a part does is to wait for leases and heartbeats.
use() { part use; }
far() { part far; }
named() { part named; }
lost() { part lost; }
paused() { part paused; }
gone() { part gone; }
restart() { part restart; }
drain() { part drain; }
leaving() { part leaving; }
tenants() { part tenants; }
forged() { part forged; }
hostile() { part hostile; }
mistakes() { part wrong; }
side_by_side use far named lost gone restart drain leaving tenants forged hostile mistakes paused
finish
