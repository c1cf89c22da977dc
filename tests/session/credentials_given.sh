#!/bin/sh
# SPDX-License-Identifier: MIT
# credentials_given.sh - credentials that a client of `lazaret serve` gives its sessions, by names of those of the
# settings and by values of its own, also by the package for Python; and what `lazaret run` says of them.
# tests/session/credentials_given.py has the cases; it runs in namespaces of users and mounts, in which the authority
# of its server is among those of the system.
. "${srcdir:-.}/tests/session/lib.sh"

top=$(cd "${srcdir:-.}" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/given-lazaret.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
stage_open "$PWD/staged"
HOME=$work
PYTHONDONTWRITEBYTECODE=1
export HOME PYTHONDONTWRITEBYTECODE
cd "$work" || exit 1
: >out
: >err
bundle=/etc/ssl/certs/ca-certificates.crt

look_for python
is_installed python || exit $((failures ? 1 : 77))
if ! [ -x "$(dirname "$LAZARET_AGENT")/lazaret-proxy" ]; then
    may_be_missing tls "this build has no TLS"
    exit $((failures ? 1 : 77))
fi
own="unshare -m" as=env
if [ "$(id -u)" -ne 0 ]; then # root mounts; what is tested runs as an ordinary user again
    own="unshare -Urm" as="unshare -U --map-user=1000 --map-group=1000"
fi
if ! [ -f "$bundle" ] || ! $own true 2>/dev/null; then
    may_be_missing namespaces "the authority of a test cannot be among those of the system"
    exit $((failures ? 1 : 77))
fi
cases=$((cases + 1)) status=0
cp "$bundle" "$work/bundle"
timeout -k 10 1100 setsid -w $own sh -c 'mount --bind "$1" "$2" && shift 2 && exec "$@"' - "$work/bundle" "$bundle" \
    $as python3 "$top/tests/session/credentials_given.py" "$lazaret" "$work" "$work/bundle" "$top/clients/python/src" \
    >out 2>err </dev/null || status=$?
[ "$status" -eq 0 ] || wrong given "status $status"
finish
