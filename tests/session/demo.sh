#!/bin/sh
# SPDX-License-Identifier: MIT
# demo.sh - the demonstration of config/examples: each script prints the content of its .out file,
# and the stubs of the tools given to a model are valid in its language.
#
# Parts without their runtime, or without any box, are skipped unless LAZARET_TEST_NEED lists them.
set -u
LC_ALL=C.UTF-8
export LC_ALL
unset LAZARET_CONFIG XDG_CONFIG_HOME

lazaret=$PWD/lazaret
examples=$(cd "${srcdir:-.}/config/examples" && pwd) || exit 1
work=$(mktemp -d "${TMPDIR:-/tmp}/lazaret-demo.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
HOME=$work
export HOME
mkdir -p "$HOME/.config/lazaret" # for a busy machine: no timeout ends a start or an execution
printf 'session.%s\n' 'start_timeout = 600' 'timeout = 0' 'deadline = 0' \
    >"$HOME/.config/lazaret/lazaret.toml"
sed 's/^timeout = 10$/timeout = 600/' "$examples/demo.toml" >"$work/demo.toml" # of a tool
demo="--config $work/demo.toml --set session.start_timeout=600 --set session.timeout=0"
failures=0 cases=0

wrong() {
    failures=$((failures + 1))
    echo "FAILED $1"
    sed 's/^/    err: /' "$work/err"
}

# may_be_missing NAME - true unless LAZARET_TEST_NEED lists it.
may_be_missing() {
    case ,${LAZARET_TEST_NEED-}, in
        *",$1,"* | *,all,*) return 1 ;;
    esac
    echo "    SKIP $1: a session cannot be started"
}

helps() { # helps RUNTIME CODE... - each CODE prints the help of the tool "measurements", in one run
    runtime=$1 number=0
    shift
    for code; do
        shift
        set -- "$@" -e "$code"
        number=$((number + 1))
    done
    cases=$((cases + number))
    if ! "$lazaret" run --runtime "$runtime" $demo "$@" \
        >"$work/out" 2>"$work/err" </dev/null; then
        wrong "the help of $runtime ends well"
    elif [ "$(grep -c '^ *The measurements of one site' "$work/out")" -ne "$number" ] ||
        [ "$(grep -c '^ *site (string.*): which site$' "$work/out")" -ne "$number" ]; then
        wrong "$* of $runtime print the help $number times"
        sed 's/^/    out: /' "$work/out"
    fi
}

try() { # try RUNTIME SCRIPT CODE... - and the help of a tool by each CODE, if there is any
    if ! "$lazaret" run $demo "$examples/$2" \
        >"$work/out" 2>"$work/err" </dev/null; then
        if "$lazaret" run --runtime "$1" -e 1 >/dev/null 2>&1; then
            wrong "$2 ends well"
        else
            may_be_missing "$1" || wrong "a session of $1 starts"
            return
        fi
    elif ! diff -u "$examples/${2%.*}.out" "$work/out"; then
        wrong "$2 prints what it should"
    elif [ -s "$work/err" ]; then
        wrong "$2 prints nothing on standard error"
    fi
    cases=$((cases + 2))
    if ! "$lazaret" tools --config "$examples/demo.toml" --format "$1" \
        >"$work/stubs" 2>"$work/err" || ! grep -q measurements "$work/stubs"; then
        wrong "the tools are shown in $1"
    elif ! "$lazaret" check --runtime "$1" - <"$work/stubs" >"$work/out" 2>"$work/err" &&
        ! grep -q 'built without sucrase' "$work/err"; then
        wrong "the tools as shown in $1 are valid"
    fi
    language=$1
    shift 2
    [ $# -eq 0 ] || helps "$language" "$@"
}

try r model.R '?measurements' 'help(measurements)' 'help("measurements")' 'print(measurements)'
try python aggregate.py 'help(measurements)'
try javascript compare.js
try lua report.lua 'help(measurements)' 'help("measurements")' 'help()'

echo "$cases cases, $failures failed"
[ "$failures" -eq 0 ] || exit 1
[ "$cases" -gt 0 ] || exit 77
