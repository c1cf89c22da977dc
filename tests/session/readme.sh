#!/bin/sh
# SPDX-License-Identifier: MIT
# readme.sh - the examples of README.md do what it says.
#
# A block of the README that begins with "# NAME" is that file. A line "$ build/lazaret ..." is run,
# with its continuation lines; the lines up to the next command or the end of the block are its
# output.
set -u
LC_ALL=C.UTF-8
export LC_ALL
unset LAZARET_CONFIG XDG_CONFIG_HOME

lazaret=$PWD/lazaret
readme=$(cd "${srcdir:-.}" && pwd)/README.md
work=$(mktemp -d "${TMPDIR:-/tmp}/readme-test.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
HOME=$work
export HOME
mkdir -p "$HOME/.config/lazaret" # for a busy machine: no timeout ends a start or an execution
printf 'session.%s\n' 'start_timeout = 600' 'timeout = 0' 'deadline = 0' \
    >"$HOME/.config/lazaret/lazaret.toml"
cd "$work" || exit 1

for runtime in python r javascript lua; do
    "$lazaret" run --runtime $runtime -e 1 >out 2>&1 </dev/null && continue
    cat out
    case ,${LAZARET_TEST_NEED-}, in
        *,$runtime,* | *,all,*)
            echo "needed but missing: $runtime, or a box"
            exit 1
            ;;
    esac
    echo "SKIP $runtime: it does not run here"
    exit 77
done

mkdir build
ln -s "$lazaret" build/lazaret

# Cases: 1.cmd, 1.want, ...; and the files.
awk '
    /^    / {
        text = substr($0, 5)
        if (!inside && text ~ /^# [a-z.]+$/) { file = substr(text, 3); inside = 1; next }
        inside = 1
        if (file) print text > file
        else if (continued) { print text > (n ".cmd"); continued = text ~ /\\$/ }
        else if (text ~ /^\$ build\/lazaret /) {
            n++
            print substr(text, 3) > (n ".cmd")
            printf "" > (n ".want")
            continued = text ~ /\\$/
            shown = 1
        } else if (shown) print text > (n ".want")
        next
    }
    /^$/ && file { print "" > file; next }
    { inside = 0; file = ""; shown = 0 }
' "$readme"

[ ! -f tools.toml ] || printf '[session]\nstart_timeout = 600\ntimeout = 0\n' >>tools.toml

failures=0 n=1
while [ -f $n.cmd ]; do
    sh ./$n.cmd >out 2>err </dev/null
    if ! cmp -s out $n.want || [ -s err ]; then
        failures=$((failures + 1))
        echo "FAILED: $(cat $n.cmd)"
        diff $n.want out
        cat err
    fi
    n=$((n + 1))
done
echo "$((n - 1)) examples, $failures failures"
[ "$n" -gt 6 ] && [ "$failures" -eq 0 ]
