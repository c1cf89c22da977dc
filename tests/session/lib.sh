# SPDX-License-Identifier: MIT
# lib.sh - what the tests of the installed command share: the staged installation, cases, canaries.
#
# For POSIX sh, read with `.`. The build makes staged/paths once for all tests: `make install` into
# a directory of the build tree, and variables with the path of each part.
set -u
LC_ALL=C.UTF-8
export LC_ALL
unset LAZARET_CONFIG XDG_CONFIG_HOME LAZARET_AGENT LAZARET_PLUGIN_PATH

cases=0 failures=0

# may_be_missing NAME WHY - true unless LAZARET_TEST_NEED lists it.
may_be_missing() {
    case ,${LAZARET_TEST_NEED-}, in
        *",-$1,"*) ;;
        *",$1,"* | *,all,*)
            echo "needed but missing: $1: $2"
            failures=$((failures + 1))
            return 1
            ;;
    esac
    echo "    SKIP $1: $2"
}

# look_for RUNTIME... - finds out which of them are installed, once for all cases: R starts slowly.
# is_installed RUNTIME - is it one of these?
look_for() {
    installed=
    for runtime; do
        if "$lazaret" check --runtime "$runtime" -e '' >/dev/null 2>&1; then
            installed="$installed $runtime "
        else
            may_be_missing "$runtime" "no such runtime"
        fi
    done
}
is_installed() {
    case $installed in
        *" $1 "*) ;;
        *) false ;;
    esac
}

# is_repeated - is this the variant of an ordinary user (tests/as.sh) of what root tests as well? Not
# with LAZARET_TEST_FULL=yes, where nothing is left out.
is_repeated() {
    case ,${LAZARET_TEST_NEED-},${LAZARET_TEST_FULL-} in
        *,-root,) ;;
        *) false ;;
    esac
}

# stage_open DIRECTORY - the following cases test the installation below DIRECTORY.
stage_open() {
    staged=$1
    . "$staged/paths" || exit 1
    lazaret=$staged$staged_bin/lazaret-nowhere
    LAZARET_AGENT=$staged$staged_agent/lazaret-agent
    LAZARET_PLUGIN_PATH=$staged$staged_plugins
    LAZARET_TEST_TEMPLATES=$staged$staged_templates
    export LAZARET_AGENT LAZARET_PLUGIN_PATH LAZARET_TEST_TEMPLATES
}

# be_patient - writes user settings for a busy machine: no timeout ends a start or an execution,
# unless a case sets one. A file given with --config replaces them; $patient says the same of a command.
patient="--set session.start_timeout=600 --set session.timeout=0 --set session.deadline=0"
be_patient() {
    mkdir -p "$HOME/.config/lazaret"
    printf 'session.%s\n' 'start_timeout = 600' 'timeout = 0' 'deadline = 0' \
        >"$HOME/.config/lazaret/lazaret.toml"
}

# wrong NAME WHAT - reports a failed case, with the command's output.
wrong() {
    failures=$((failures + 1))
    printf 'FAILED %s: %s\n' "$1" "$2"
    sed 's/^/    out: /' "$work/out"
    sed 's/^/    err: /' "$work/err"
}

# contents FILE - sets $contents to what is in the file. The shell reads it itself, because a process
# takes longer to start than most commands that are tested here.
newline='
'
contents() {
    contents='' lib_line=''
    while IFS= read -r lib_line; do
        contents=$contents$lib_line$newline
    done <"$1"
    contents=$contents$lib_line
}

# contains FILE TEXT
contains() {
    contents "$1"
    case $contents in
        *"$2"*) ;;
        *) false ;;
    esac
}

# Is every line of standard error a message of lazaret?
messages_only() {
    while IFS= read -r lib_line || [ -n "$lib_line" ]; do
        case $lib_line in
            '' | 'lazaret: '*) ;;
            *) return 1 ;;
        esac
    done <"$work/err"
}

# out_is TEXT - is that standard output? A newline at its end does not count.
out_is() {
    contents "$work/out"
    [ "${contents%"$newline"}" = "$1" ]
}

# expect NAME STATUS OUT ERR COMMAND... - standard output is exactly OUT ("*": anything), standard
# error contains ERR ("": is empty). Every line of standard error is a message of lazaret.
expect() {
    name=$1 want=$2 want_out=$3 want_err=$4
    shift 4
    cases=$((cases + 1)) status=0
    "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
    if [ "$status" -ne "$want" ]; then
        wrong "$name" "status $status, expected $want"
    elif [ "$want_out" != '*' ] && ! out_is "$want_out"; then
        wrong "$name" "standard output is not: $want_out"
    elif [ -z "$want_err" ] && [ -s "$work/err" ]; then
        wrong "$name" "something on standard error"
    elif [ -n "$want_err" ] && ! contains "$work/err" "$want_err"; then
        wrong "$name" "not on standard error: $want_err"
    elif ! messages_only; then
        wrong "$name" "a message without its prefix"
    else
        return 0
    fi
    return 1
}

# says NAME TEXT - the last command also printed this text, on either stream.
says() {
    cases=$((cases + 1))
    contains "$work/err" "$2" || contains "$work/out" "$2" || wrong "$1" "not said: $2"
}

# json_is_one_object NAME REASON - the output of the last command is one object with that verdict.
json_is_one_object() {
    contents "$work/out"
    case $contents in
        *"$newline"?*) wrong "$1" "more than one line" ;;
        '{"ok":'*"\"verdict\":{\"reason\":\"$2\""*"}$newline") ;;
        '{"ok":'*"}$newline") wrong "$1" "the verdict is not $2" ;;
        *) wrong "$1" "not one JSON object on one line" ;;
    esac
    printf '%s\t%s' "$1" "$contents" >>"$work/json"
}

# all_json_is_valid - checks all lines seen by json_is_one_object in one process, because an
# interpreter for each line would take longer than the rest of a test.
all_json_is_valid() {
    [ -s "$work/json" ] && command -v python3 >/dev/null 2>&1 || return 0
    python3 -I -c '
import json, sys
for line in sys.stdin.buffer:
    name, _, text = line.partition(b"\t")
    try:
        json.loads(text)
    except ValueError as error:
        print("FAILED", name.decode(), "not valid JSON:", error)' <"$work/json" >"$work/invalid" ||
        echo 'FAILED json: it could not be looked at' >>"$work/invalid"
    cat "$work/invalid"
    failures=$((failures + $(wc -l <"$work/invalid")))
}

# The code of failing cases: it prints a text, and makes a file if it can.
canary_code() {
    echo "print('CANARY') local f = io.open('$canary/here', 'w') if f then f:close() end"
}

canary_is_quiet() {
    if [ -e "$canary/here" ] || contains "$work/out" CANARY || contains "$work/err" CANARY; then
        rm -f "$canary/here"
        wrong "$1" "the code ran"
    fi
}

# fails NAME STATUS REASON ERR COMMAND... - standard output is empty, standard error has the
# message, and no code ran; then the same with --json, which has to print one object.
fails() {
    fails_name=$1 fails_status=$2 fails_reason=$3 fails_err=$4
    shift 4
    expect "$fails_name" "$fails_status" '' "$fails_err" "$@"
    canary_is_quiet "$fails_name"
    for word; do # behind "run": what follows a file belongs to the code
        shift
        set -- "$@" "$word"
        [ "$word" != run ] || set -- "$@" --json
    done
    cases=$((cases + 1)) status=0
    "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
    [ "$status" -eq "$fails_status" ] || wrong "$fails_name --json" "status $status"
    json_is_one_object "$fails_name --json" "$fails_reason"
    canary_is_quiet "$fails_name --json"
}

# side_by_side FUNCTION... - runs them at the same time, each in a process and a directory of its
# own: $work, the current directory. What they print follows in their order; their cases count.
side_by_side() {
    for part; do
        (
            work=$work/$part cases=0 failures=0
            mkdir "$work" && cd "$work" || exit 1
            : >out
            : >err
            "$part"
            all_json_is_valid
            echo "$cases $failures" >"$work/count"
        ) >"$work/$part.log" 2>&1 &
    done
    wait
    for part; do
        cat "$work/$part.log"
        part_cases=0 part_failures=1
        read -r part_cases part_failures <"$work/$part/count" || echo "FAILED $part: it did not end"
        cases=$((cases + part_cases)) failures=$((failures + part_failures))
        rm -rf "${work:?}/$part"
    done
}

finish() {
    all_json_is_valid
    echo "$cases cases, $failures failures"
    [ "$failures" -eq 0 ]
}
