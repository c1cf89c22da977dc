#!/bin/sh
# SPDX-License-Identifier: MIT
# proxy_answer.sh - lazaret-proxy --answer, the server by which `lazaret doctor` tries a credential: it says that the
# secret has come for nothing but that secret. tests/session/proxy_answer.py has the requests.
. "${srcdir:-.}/tests/session/lib.sh"

top=$(cd "${srcdir:-.}" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/answer-lazaret.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
stage_open "$PWD/staged"
proxy=$(dirname "$LAZARET_AGENT")/lazaret-proxy
if ! [ -x "$proxy" ]; then
    may_be_missing tls "this build has no TLS"
    exit $((failures ? 1 : 77))
fi
if ! python3 -c 'import ssl' 2>/dev/null; then
    may_be_missing python "there is no python3 with TLS"
    exit $((failures ? 1 : 77))
fi
mkdir "$work/directory"
expect answers 0 '*' '' timeout -k 10 1100 python3 "$top/tests/session/proxy_answer.py" "$proxy" "$work/directory"
finish
