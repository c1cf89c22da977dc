#!/bin/sh
# SPDX-License-Identifier: MIT
# telemetry.sh - what a scraper and a collector of traces get from `lazaret serve`, and what becomes
# of them where they are hostile, slow or gone (telemetry.py).
. "${srcdir:-.}/tests/session/lib.sh"

tests=$(cd "${srcdir:-.}/tests" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/telemetry-lazaret.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
stage_open "$PWD/staged"
HOME=$work
export HOME
be_patient
cd "$work" || exit 1
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY
: >out
: >err

command -v python3 >/dev/null 2>&1 || {
    may_be_missing python3 "python3" || exit 1
    exit 77
}

"$lazaret" serve --metrics 127.0.0.1:0 </dev/null >out 2>err
if grep -q 'built without libmicrohttpd' err; then
    may_be_missing microhttpd "libmicrohttpd-dev" || exit 1
    exit 77
fi
parts='metrics off'
"$lazaret" serve --set telemetry.endpoint=http://127.0.0.1:1 </dev/null >out 2>err
if grep -q 'built without libcurl' err; then
    may_be_missing curl "libcurl4-gnutls-dev" || exit 1
else
    parts="$parts traces failing"
fi
for part in $parts; do
    cases=$((cases + 1)) status=0
    PYTHONDONTWRITEBYTECODE=1 python3 "$tests/session/telemetry.py" "$lazaret" "$part" "$tests/../docs/telemetry.md" >out 2>err || status=$?
    [ $status -eq 0 ] || wrong "$part" "status $status"
    cat out
done
finish
