#!/bin/sh
# SPDX-License-Identifier: MIT
# check.sh - loads the provider skeleton, and calls its tool from code in a sandbox.
set -eu
lazaret=${LAZARET:-lazaret}

fail() {
    echo "check.sh: $*" >&2
    exit 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/lazaret.toml" <<END
[session] # for a machine that is busy
start_timeout = 600
timeout = 600
deadline = 0

[[tools]]
provider = "skeleton"
greeting = "Hei"
END
runtime=$("$lazaret" plugins | awk '
    $1 == "runtime" && $2 ~ /^(lua|python|r)$/ && $3 != "cannot" { print $2; exit }')
[ -n "$runtime" ] || fail "no runtime can be used to call the tool: lazaret plugins says why"

declared=$("$lazaret" tools --config "$work/lazaret.toml")
case $declared in *greet*) ;; *) fail "it declares: $declared" ;; esac
answer=$("$lazaret" run --config "$work/lazaret.toml" --runtime "$runtime" -e 'greet("Ada")')
case $answer in *"Hei, Ada!"*) ;; *) fail "it answers: $answer" ;; esac
echo "skeleton works"
