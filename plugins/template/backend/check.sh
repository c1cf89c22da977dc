#!/bin/sh
# SPDX-License-Identifier: MIT
# check.sh - shows a plan of the backend skeleton, and runs code in its box.
set -eu
lazaret=${LAZARET:-lazaret}

fail() {
    echo "check.sh: $*" >&2
    exit 1
}

runtime=$("$lazaret" plugins | awk '
    $1 == "runtime" && $2 ~ /^(lua|python|r)$/ && $3 != "cannot" { print $2; exit }')
[ -n "$runtime" ] || fail "no runtime can be used to run code: lazaret plugins says why"

# A session is refused unless the backend enforces all that sandbox.require names.
# It has time, for a machine that is busy.
set -- --backend skeleton --runtime "$runtime" --set 'sandbox.require=["syscalls"]' \
    --set session.start_timeout=600 --set session.timeout=600 --set session.deadline=0
plan=$("$lazaret" plan "$@")
case $plan in *seccomp*) ;; *) fail "it plans: $plan" ;; esac
answer=$("$lazaret" run "$@" -e '20 + 22')
case $answer in *42*) ;; *) fail "in its box 20 + 22 is: $answer" ;; esac
echo "skeleton works"
