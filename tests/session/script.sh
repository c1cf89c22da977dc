#!/bin/sh
# SPDX-License-Identifier: MIT
# script.sh - `lazaret run FILE` in the place of an interpreter: the command line of the code, its
# standard input, the files beside it, where it starts; as a #! line, in a pipe and in a Makefile.
#
# What lazaret shows is compared with what the interpreter shows for the same file, where it is
# installed, or with a text.
. "${0%/*}/lib.sh"

stage_open "$PWD/staged"
# Not in a directory of those in which anybody's files lie, and every user can reach it.
work=$(mktemp -d "${TMPDIR:-/tmp}/script-test.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
HOME=$work/home
export HOME
mkdir -p "$HOME" "$work/project/helpers" "$work/written"
chmod 777 "$work/written"
be_patient
cd "$work/project" || exit 1

look_for python lua r

# shows NAME STATUS OUT ARGUMENTS... - standard input is the file ../input.
shows() {
    name=$1 want_status=$2 want_out=$3
    shift 3
    cases=$((cases + 1)) status=0
    "$lazaret" run "$@" <../input >"$work/out" 2>"$work/err" || status=$?
    [ "$status" -eq "$want_status" ] || { wrong "$name" "status $status"; return; }
    [ "$(cat "$work/out")" = "$want_out" ] || wrong "$name" "expected on standard output: $want_out"
}

# Of a project with what people keep beside their scripts.
only_modules_are_shown() {
    mkdir -p mixed/conf mixed/whole/deep mixed/.hidden mixed/empty
    cd mixed || exit 1
    echo secret | tee conf/.env conf/key.pem whole.txt .hidden/more.py .settings.py >table.csv
    chmod 600 conf/.env conf/key.pem
    echo 'x = 1' | tee conf/settings.py whole/one.py whole/deep/two.py .hidden/three.py >one.py
    echo secret >"$(printf 'new\nline.py')"
    echo secret >native.so
    echo secret >empty/data
    ln -s conf/key.pem key.py
    ln -s .hidden/more.py more.py
    ln -s /etc/passwd passwd.py
    ln -s /etc etc
    ln -s one.py linked.py
    if [ "$(id -u)" -eq 0 ]; then
        echo secret >others.py
        chown 12345 others.py
    fi
    cat >main.py <<'END'
import os
import conf.settings, linked, whole.deep.two
seen = []
here = os.path.dirname(__file__)
for path in open(here + '/names.py').read().split('\0'):
    try:
        if open(here + path).read() == 'secret\n': seen.append(path)
    except OSError:
        pass
print(seen, sorted(os.listdir(here + '/whole')))
open('conf/key.pem')
END
    find . -type f -o -type l | sed 's/^[.]//' | tr '\n' '\0' >names.py
    for by in '' '--backend landlock'; do
        expect "only_modules_are_shown $by" 1 "['/native.so'] ['deep', 'one.py']" \
            'mixed/conf/key.pem is not shown to the code: of the files beside it only modules' \
            "$lazaret" run $by main.py
        says "the_option_is_said $by" "--read $work/project/mixed/conf/key.pem shows it under this path"
    done
    chmod 644 conf/key.pem # a session of root's has another user
    expect a_file_is_shown_by_an_option 0 secret '' \
        "$lazaret" run --read conf/key.pem ../reads.py
    expect a_plan_says_what_is_shown 0 '*' '' "$lazaret" plan main.py
    says a_plan_says_what_is_shown "$work/project/mixed/conf/settings.py"
    cases=$((cases + 1))
    ! grep -q 'key\|\.env\|\.csv\|hidden\|passwd\|others' "$work/out" ||
        wrong a_plan_says_what_is_shown 'more is shown'
    mkdir many much
    (cd many && touch data && seq 1 257 | while read -r i; do echo 'x = 1' >"m$i.py"; done)
    (cd much && seq 1 10001 | sed 's/^/f/' | xargs touch && touch m.py)
    echo 'import m1' >many/main.py
    echo 'import m' >much/main.py
    for main in many/main.py much/main.py; do
        expect "modules_are_bounded $main" 1 '' 'beside it are more than 256 modules' \
            "$lazaret" run $main
    done
    rm -r many much
    cd .. || exit 1
}

printf 'one\ntwo\n' >../input
echo 'print(open("'"$work"'/project/mixed/conf/key.pem").read().strip())' >reads.py
echo hidden >.env
echo data >table.csv

if is_installed python; then
    cat >main.py <<'END'
import inspect, os, sys
import util
from helpers import deep
class Shape:
    sides = 4
print(sys.argv[1:], os.path.basename(sys.argv[0]), __file__ == sys.argv[0], __name__)
print(util.where(), deep.where(), inspect.getsource(Shape).splitlines()[1])
print([line.strip() for line in sys.stdin])
try:
    open(os.path.join(os.path.dirname(__file__), 'table.csv'))
except OSError:
    print('not shown')
END
    echo 'def where(): return "beside"' | tee util.py >helpers/deep.py
    touch helpers/__init__.py
    want="['-v', '--json', 'a b'] main.py True __main__
beside beside     sides = 4
['one', 'two']
not shown"
    shows python_script 0 "$want" main.py -v --json 'a b'
    shows python_script_by_another_way 0 "$want" --backend landlock ./../project/main.py -v --json 'a b'
    printf '#!/usr/bin/python3\n# vim: set fileencoding=iso-8859-15 :\nprint("caf\351 \244")\n' >latin.py
    shows an_encoding_that_a_comment_names 0 'café €' latin.py
    printf '# coding: latin-1\nprint("caf\351", not_there)\n' >latin.py
    shows errors_in_another_encoding 1 '' latin.py
    grep -q 'not_there' "$work/err" || wrong errors_in_another_encoding
    printf '# coding: no-such\n1' >latin.py
    shows an_encoding_that_is_not_known 2 '' latin.py
    printf 'x = 1\n# coding: latin-1\nprint("caf\303\251")\n' >latin.py
    shows a_later_comment_names_no_encoding 0 'café' latin.py
    rm latin.py
    echo 'import sys; print(sys.argv)' >../input
    shows arguments_of_standard_input 0 "['-', 'x', '-q']" - x -q
    seq 1 100000 >../input
    shows much_input 0 5000050000 -e 'import sys; print(sum(map(int, sys.stdin)))'
    echo 'print(open("/proc/self/fd/0", "w"))' >../input
    # a pipe: code of the same user may write to it, and then reads it itself
    shows input_is_no_file 0 0 -e 'import os
try: open("/proc/self/fd/0", "r+b", 0).write(b"x")
except PermissionError: pass
print(os.fstat(0).st_size)'
    [ "$(cat ../input)" = 'print(open("/proc/self/fd/0", "w"))' ] ||
        wrong input_is_no_file "the code wrote to the file of its standard input"
    printf 'one\ntwo\n' >../input
    shows it_starts_where_it_is_told 0 'project True' --cwd . -e \
        'import os; print(os.path.basename(os.getcwd()), os.path.exists("table.csv"))'
    shows it_starts_where_it_may_write 0 '' --write ../written --cwd ../written -e \
        'with open("new", "w") as f: f.write("x")'
    [ "$(cat ../written/new)" = x ] || wrong it_starts_where_it_may_write "nothing was written"
    expect a_directory_is_missing 2 '' '--cwd: nowhere: No such file' \
        "$lazaret" run --cwd nowhere -e 1
    cp main.py util.py "$HOME"
    expect a_home_is_not_shown 1 '' "util.py is not shown to the code: anybody's files may lie" \
        "$lazaret" run "$HOME/main.py"
    expect a_home_can_be_shown 1 '' "No module named 'helpers'" \
        "$lazaret" run --read "$HOME/util.py" "$HOME/main.py"
    only_modules_are_shown
    echo 'import sys; print(sys.stdin.isatty(), sys.argv[1:])' >arguments.py
    printf '#!/usr/bin/env -S %s run\n' "$lazaret" | cat - arguments.py >program.py
    chmod 755 program.py
    expect a_program 0 "False ['-x', 'y']" '' ./program.py -x y
    expect non_utf8_arguments 2 '' 'is not valid UTF-8' "$lazaret" run arguments.py "$(printf 'a\377')"
    printf 'import sys\nfor line in sys.stdin: print(line.strip().upper())\nsys.exit(3)\n' >upper.py
    cases=$((cases + 1))
    [ "$(echo word | "$lazaret" run upper.py | tr A-Z a-z)" = word ] || wrong in_a_pipe "no word"
    cat >Makefile <<'END'
%.up: %.txt
	@$(LAZARET) run upper.py <$< >$@ || test $$? = 3
END
    echo text >a.txt
    cases=$((cases + 1))
    make -s LAZARET="$lazaret" a.up && [ "$(cat a.up)" = TEXT ] || wrong in_a_makefile "no text"
    cases=$((cases + 1))
    printf '1\n2\n3\n' >lines
    while read -r line; do "$lazaret" run -e "print('$line')"; done <lines >"$work/out"
    [ "$(cat "$work/out")" = "$(cat lines)" ] || wrong what_nobody_read_is_given_back "1 2 3"
fi

if is_installed lua; then
    cat >main.lua <<'END'
local beside = require "beside"
print(#arg, arg[1], arg[2], arg[0]:match("[^/]*$"), beside.value, ...)
for line in io.lines() do print(line) end
error("the end")
END
    echo 'return { value = 5 }' >beside.lua
    shows lua_script 1 '2	-v	a b	main.lua	5	-v	a b
one
two' main.lua -v 'a b'
    grep -q 'error: main.lua:4: the end' "$work/err" || wrong lua_script "no line of the error"
    echo '1 + 1' >value.lua
    shows lua_file_is_no_expression 1 '' value.lua
fi

if is_installed r; then
    cat >main.R <<'END'
commandArgs(trailingOnly = TRUE)
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "beside.R"))
beside()
readLines(file("stdin"))
file.exists(file.path(here, "table.csv"))
END
    echo 'beside <- function() "beside"' >beside.R
    shows r_script 0 '[1] "-v"  "a b"
[1] "beside"
[1] "one" "two"
[1] FALSE' main.R -v 'a b'
    shows r_console 0 '[1] "one" "two"' --runtime r -e 'readLines(stdin())'
fi

# What an interpreter writes to both streams arrives in the order of the writes. As JSON not for R,
# which starts slowly: the host makes it, in the same way for all.
in_order() {
    cases=$((cases + 1))
    "$lazaret" run "$1" 2>&1 </dev/null |
        awk '$1 != (NR % 2 ? "o" : "e") || $2 != int((NR + 1) / 2) { exit 1 } END { exit NR != 400 }' ||
        wrong "order_in_text_$1" "the streams are not in the order of the writes"
    [ "$1" != order.R ] || [ -n "${LAZARET_TEST_FULL-}" ] || return 0
    cases=$((cases + 1))
    "$lazaret" run --json "$1" </dev/null >"$work/out" 2>"$work/err"
    grep -o '"[oe] [0-9]*' "$work/out" | tr -d '"' |
        awk '$1 != (NR % 2 ? "o" : "e") || $2 != int((NR + 1) / 2) { exit 1 } END { exit NR != 400 }' ||
        { : >"$work/out" && wrong "order_in_json_$1" "the pieces are not in the order of the writes"; }
}
cat >order.py <<'END'
import sys
for i in range(1, 201):
    print("o", i)
    print("e", i, file=sys.stderr)
END
cat >order.lua <<'END'
for i = 1, 200 do
    print("o " .. i)
    io.stderr:write("e " .. i .. "\n")
end
END
cat >order.R <<'END'
for (i in 1:200) {
    cat("o", i, "\n")
    message("e ", i)
}
END
! is_installed python || in_order order.py
! is_installed lua || in_order order.lua
! is_installed r || in_order order.R

echo "$cases cases, $failures failures"
[ "$failures" = 0 ]
