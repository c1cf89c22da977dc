#!/bin/sh
# SPDX-License-Identifier: MIT
# check.sh - runs code of the language skeleton in a sandbox: values, calls of a tool, errors.
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
provider = "command"

[[tools.tool]]
name = "add"
command = ["$(command -v expr)", "--", "{a}", "+", "{b}"]
parameters = { a = { type = "integer" }, b = { type = "integer" } }
END

# run CODE - its output, or what it failed with.
run() {
    "$lazaret" run --config "$work/lazaret.toml" --runtime skeleton -e "$1" 2>&1 || :
}

[ "$(run 42)" = 42 ] || fail "42 is: $(run 42)"
[ "$(run 'add 20 22')" = 42 ] || fail "add 20 22 is: $(run 'add 20 22')"
case $(run 'take 1') in *"no tool is called take"*) ;; *) fail "take 1 is: $(run 'take 1')" ;; esac
if "$lazaret" check --config "$work/lazaret.toml" --runtime skeleton -e 'add x' >/dev/null 2>&1; then
    fail "'add x' has no syntax error"
fi
echo "skeleton works"
