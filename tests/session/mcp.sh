#!/bin/sh
# SPDX-License-Identifier: MIT
# mcp.sh - `lazaret mcp` as its clients start it, in all versions of the protocol: what it says is
# checked against the schemas of MCP, hostile clients are bounded, and nothing is left of many
# executions. The tests are in tests/session/mcp.
. "${srcdir:-.}/tests/session/lib.sh"

MOCK_AGENT=$PWD/tests/mock/agent
export MOCK_AGENT
tests=$(cd "${srcdir:-.}/tests" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/mcp-lazaret.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
stage_open "$PWD/staged"
HOME=$work
export HOME
be_patient
cd "$work" || exit 1
: >out
: >err

# A Python that is first on the path may lack what the package brings; "python3" may be a script.
for python in python3 /usr/bin/python3 ''; do
    [ -n "$python" ] || break
    ! python=$("$python" -c 'import sys, jsonschema; jsonschema.Draft202012Validator
print(sys.executable)' 2>/dev/null) || break
done
if [ -z "$python" ]; then
    may_be_missing jsonschema "python3-jsonschema, with JSON Schema 2020-12" || exit 1
    exit 77
fi

# part NAME ARGUMENTS... - runs one of the programs.
part() {
    name=$1
    shift
    cases=$((cases + 1)) status=0
    PYTHONDONTWRITEBYTECODE=1 "$python" "$tests/session/mcp/test_$name.py" "$lazaret" "$tests/data/mcp" \
        "$work" "$@" >out 2>err || status=$?
    [ "$status" -ne 77 ] || may_be_missing microhttpd "libmicrohttpd-dev" || return
    [ "$status" -eq 0 ] || [ "$status" -eq 77 ] || wrong "$name" "status $status"
}

part protocol
part hostile
part http
if [ -n "${LAZARET_TEST_FULL-}" ]; then part many 1000; else part many 100; fi
finish
