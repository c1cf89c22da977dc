#!/bin/sh
# SPDX-License-Identifier: MIT
# usual.sh - code that names no runtime: it is of the default where that works, and else of the first
# other language that does, by its name, which is said; where none works, what can be installed is.
. "${srcdir:-.}/tests/session/lib.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/usual-lazaret.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
stage_open "$PWD/staged"
HOME=$work
export HOME
be_patient
: >"$work/out"
: >"$work/err"
built=$LAZARET_PLUGIN_PATH
look_for lua shell
if ! is_installed lua || ! is_installed shell || [ ! -e "$built/python.json" ]; then
    may_be_missing python 'lua, shell and python are needed'
    finish
fi

# with NAME... - the directory of plugins has these runtimes, and all else.
with() {
    rm -rf "$work/plugins"
    cp -R "$built" "$work/plugins"
    for name in javascript lua python r shell; do
        case " $* " in
            *" $name "*) ;;
            *) rm -f "$work/plugins/$name.so" "$work/plugins/$name.json" ;;
        esac
    done
}
LAZARET_PLUGIN_PATH=$work/plugins
export LAZARET_PLUGIN_PATH

# changed FILE EXPRESSION - edits a description.
changed() {
    sed "$2" "$1" >"$work/changed"
    cmp -s "$1" "$work/changed" && wrong "changed_$1" 'the description is as before'
    cat "$work/changed" >"$1"
}
which='import sys; print("python")'

with lua python r shell
expect default_is_taken 0 python '' "$lazaret" run -e "$which"
expect plan_says_nothing 0 '*' '' "$lazaret" plan

said='warning: no runtime was named, and python is not installed: '
with lua shell
expect first_other_is_taken 0 lua "${said}lua runs the code" "$lazaret" run -e 'print("lua")'
[ "$(grep -c 'no runtime' "$work/err")" -eq 1 ] || wrong said_once 'said more than once'
expect of_standard_input 0 '' "${said}lua runs the code" "$lazaret" run -
printf 'print("file")\n' >"$work/code"
expect of_a_file_without_a_suffix 0 file "${said}lua runs the code" "$lazaret" run "$work/code"
expect checked 0 '*' "${said}lua runs the code" "$lazaret" check -e 'print("lua")'
expect planned 0 '*' "${said}the plan is of lua" "$lazaret" plan
says plan_is_of_it lua.so
expect named_is_not_told 0 hi '' "$lazaret" run --runtime lua -e 'print("hi")'
expect set_is_not_told 0 hi '' "$lazaret" run --set session.runtime=shell -e 'echo hi'
expect named_is_not_replaced 2 '' 'the runtime "python" is not installed' \
    "$lazaret" run --runtime python -e 1
says named_can_be_installed 'apt-get install lazaret-python, for /usr/bin/lazaret'
says named_is_missing_there '"python" is not installed in /'
printf 'echo suffix\n' >"$work/code.sh"
expect suffix_is_not_told 0 suffix '' "$lazaret" run "$work/code.sh"
expect program_is_not_told 0 program '' "$lazaret" run -- echo program

with shell
expect only_shell 0 hi "${said}shell runs the code" "$lazaret" run -e 'echo hi'
cases=$((cases + 1))
printf '%s\n' '{"type":"open","id":1}' '{"type":"close","id":2,"session":1}' |
    "$lazaret" serve >"$work/out" 2>"$work/err"
contains "$work/out" '"type":"opened","id":1' && contains "$work/out" '"runtime":"shell"' ||
    wrong opened_names_the_runtime 'not so'
says serve_tells "${said}shell runs the code"

# A library that the loader does not find, and one that it is asked for.
with python shell
changed "$work/plugins/python.json" 's/"libraries":\[[^]]*/"libraries":["libqqq.so.1"/'
expect library_is_missing 0 hi \
    'and python does not work (' "$lazaret" run -e 'echo hi'
says library_is_named 'libqqq.so.1: cannot open shared object file'
says library_is_missing_so_shell '): shell runs the code'
with python shell
library=$(sed -n 's/.*"libraries":\["\([^"]*\)"\].*/\1/p' "$work/plugins/python.json")
changed "$work/plugins/python.json" "s/\"libraries\":\\[[^]]*/&,\"libc.so.6\"/"
expect libraries_are_found 0 python '' "$lazaret" run -e "$which"
: >"$work/plugins/$library"
expect library_beside_is_no_library 125 '' "$library: file too short" "$lazaret" run -e "$which"
# The process that opens it is outside of a box: it opens only what no other user can change, and it ends
# with this one.
with python shell
: >"$work/other.so"
chmod o+w "$work/other.so"
changed "$work/plugins/python.json" "s,\"libraries\":\\[[^]]*,\"libraries\":[\"$work/other.so\"\,\"libqqq.so.1\","
expect library_of_others_is_not_opened 0 hi 'other.so: every user can write this file' \
    "$lazaret" run -e 'echo hi'
changed "$work/plugins/python.json" "s,\"$work,\"${work#/},"
expect library_of_a_relative_path_is_not_opened 0 hi 'not an absolute path' \
    "$lazaret" run -e 'echo hi'
if [ -n "$staged_cc" ]; then
    with python shell
    cat >"$work/waits.c" <<END
#include <stdio.h>
#include <unistd.h>
__attribute__((constructor)) static void waits(void)
{
    FILE *file = fopen("$work/pid", "w");
    fprintf(file, "%d\\n", getpid());
    fclose(file);
    sleep(600);
}
END
    expect waits_builds 0 '' '' $staged_cc -shared -fPIC "$work/waits.c" -o "$work/plugins/waits.so"
    changed "$work/plugins/python.json" 's/"libraries":\[[^]]*/"libraries":["waits.so","libqqq.so.1"/'
    cases=$((cases + 1))
    "$lazaret" run -e 'echo hi' >"$work/out" 2>"$work/err" &
    until [ -s "$work/pid" ] || ! kill -0 $! 2>/dev/null; do sleep 0.05; done
    kill -KILL $!
    wait $! || :
    # The harness ends a test that hangs.
    while kill -0 "$(cat "$work/pid")" 2>/dev/null; do sleep 0.05; done
fi
with python shell
changed "$work/plugins/python.json" 's,"needs":\["[^"]*,"needs":["/nonexistent/os.py,'
expect needed_file_is_missing 0 hi \
    'python does not work (/nonexistent/os.py: No such file or directory): shell runs the code' \
    "$lazaret" run -e 'echo hi'
with python shell
chmod o+w "$work/plugins/python.json"
expect description_is_not_trusted 0 hi 'python.json: every user can write this file' \
    "$lazaret" run -e 'echo hi'

with
none='no language can be run here: python is not installed; install one (Debian: apt-get install '
none="${none}lazaret-javascript, lazaret-lua, lazaret-python, lazaret-r or lazaret-shell); \`lazaret plugins\`"
expect none_works 2 '' "$none" "$lazaret" run -e 1
expect none_works_for_a_plan 2 '' "$none" "$lazaret" plan
with shell
changed "$work/plugins/shell.json" 's,"needs":\["[^"]*,"needs":["/nonexistent/bash,'
expect each_is_told 2 '' \
    'python is not installed, shell does not work (/nonexistent/bash: No such file' \
    "$lazaret" run -e 1
finish
