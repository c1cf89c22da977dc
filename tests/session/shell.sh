#!/bin/sh
# SPDX-License-Identifier: MIT
# shell.sh - shell scripts do in a box what they do in plain bash, as files and as code of a session,
# cold and from a template; what a box keeps from a shell is tried; and a coding task is played in one
# session of `lazaret mcp`. The tests are in tests/session/shell.
. "${srcdir:-.}/tests/session/lib.sh"

top=$(cd "${srcdir:-.}" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/shell-lazaret.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
stage_open "$PWD/staged"
HOME=$work
export HOME
cd "$work" || exit 1
: >out
: >err

look_for shell
is_installed shell || exit $((failures ? 1 : 77))

# part NAME ARGUMENTS... - runs one of the programs.
part() {
    name=$1
    shift
    mkdir "$work/$name" && chmod 755 "$work/$name"
    cases=$((cases + 1)) status=0
    PYTHONDONTWRITEBYTECODE=1 python3 "$top/tests/session/shell/test_$name.py" "$lazaret" "$@" >out 2>err ||
        status=$?
    [ "$status" -eq 0 ] || wrong "$name" "status $status"
    for program in $(sed -n 's/.*skipped: \(.*\) is not installed.*/\1/p' out | sort -u); do
        may_be_missing "$program" "scripts call it"
    done
}

# What bash makes of a script does not depend on the user: an ordinary one runs each sixth.
scripts=$top/tests/data/shell/scripts.txt
if is_repeated; then
    awk '/^== / { n++ } n % 6 == 1' "$scripts" >"$work/some.txt"
    scripts=$work/some.txt
fi
part scripts "$scripts" "$work/scripts"
part probes "$work/probes"
part task "$top/config/examples/coding-agent.toml" "$work/task"
finish
