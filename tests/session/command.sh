#!/bin/sh
# SPDX-License-Identifier: MIT
# command.sh - the lazaret command as users see it: its output on both streams and its exit status.
#
# A case is one call of `expect`; its name says the rule. Standard output must be equal to the given
# text; standard error must contain the given text, or be empty for "". Nothing sleeps: events
# during an execution are tested with code that never ends by itself.
set -u
LC_ALL=C.UTF-8
export LC_ALL
unset LAZARET_CONFIG XDG_CONFIG_HOME

lazaret=$PWD/lazaret
work=$(mktemp -d "${TMPDIR:-/tmp}/command-test.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
HOME=$work
export HOME
mkdir -p "$HOME/.config/lazaret" # for a busy machine: no timeout ends a start or an execution
printf 'session.%s\n' 'start_timeout = 600' 'timeout = 0' 'deadline = 0' \
    >"$HOME/.config/lazaret/lazaret.toml"
cd "$work" || exit 1
failures=0 cases=0

# needed NAME - is it a failure when this is missing?
needed() {
    case ,${LAZARET_TEST_NEED-}, in
        *",$1,"* | *,all,*)
            echo "needed but missing: $1"
            failures=$((failures + 1))
            return 1
            ;;
    esac
    echo "    SKIP $1: is not installed"
}

fail() {
    failures=$((failures + 1))
    printf 'FAILED %s\n' "$1"
    sed 's/^/    out: /' out
    sed 's/^/    err: /' err
    echo "    status: $status, expected $2"
}

# contents FILE - sets $contents to what is in the file, and $strange to its first line that is no
# message of lazaret. The shell reads it itself: a process takes longer to start than most commands
# that are tested here.
newline='
'
contents() {
    contents='' strange='' line=''
    while IFS= read -r line || [ -n "$line" ]; do
        contents=$contents$line$newline
        case $line in
            '' | 'lazaret: '*) ;;
            *) strange=${strange:-$line} ;;
        esac
    done <"$1"
    while [ "${contents%"$newline"}" != "$contents" ]; do
        contents=${contents%"$newline"}
    done
}

# expect NAME STATUS OUT ERR ARGUMENTS... - OUT is exact ("*": anything), ERR a part.
expect() {
    name=$1 want=$2 want_out=$3 want_err=$4
    shift 4
    cases=$((cases + 1))
    "$lazaret" "$@" >out 2>err </dev/null
    status=$?
    [ "$status" -eq "$want" ] || { fail "$name" "$want"; return; }
    if [ "$want_out" != '*' ]; then
        contents out
        [ "$contents" = "$want_out" ] ||
            { fail "$name" "$want and on standard output: $want_out"; return; }
    fi
    contents err
    if [ -z "$want_err" ] && [ -s err ]; then
        fail "$name" "$want and nothing on standard error"
    elif [ "${contents#*"$want_err"}" = "$contents" ] && [ -n "$want_err" ]; then
        fail "$name" "$want and on standard error: $want_err"
    elif [ -n "$strange" ] && [ "${own_stderr-}" != yes ]; then
        fail "$name" "$want and every message behind its prefix"
    fi
}

# ---- usage ---------------------------------------------------------------------------------------
expect usage_needs_a_subcommand 2 '' "a subcommand is needed, such as lazaret run -e 'print(1)'"
expect usage_offers_the_nearest_subcommand 2 '' 'did you mean plugins?' plguins
expect usage_knows_what_comes_later 2 '' 'repl is not available in this version' repl
expect usage_knows_later_words_with_options 2 '' 'not available in this version' repl --install x
expect usage_offers_the_nearest_option 2 '' 'did you mean --timeout?' run --timeuot 3 -e 1
expect usage_refuses_a_letter 2 '' 'unknown option -x' run -x
expect usage_wants_an_argument 2 '' '--config needs an argument: FILE' run --config
expect usage_takes_no_argument 2 '' '--json takes no argument' run --json=yes -e 1
expect usage_option_of_another_subcommand 2 '' 'belongs to another subcommand' run --format r -e 1
expect usage_run_needs_code 2 '' "such as lazaret run -e 'print(1)'" run
expect usage_code_needs_a_subcommand 2 '' 'option -e belongs to another subcommand' -e 1
expect usage_code_has_one_origin 2 '' 'not from both' run -e 1 file.py
expect usage_too_many_files 2 '' 'too many arguments: b.py' check a.py b.py
expect help_goes_to_standard_output 0 '*' '' --help
expect help_of_a_subcommand 0 '*' '' run --help
"$lazaret" run --help >want
expect help_is_a_subcommand 0 "$(cat want)" '' help run
expect help_needs_no_settings 0 "$(cat want)" '' help run --config nowhere.toml
expect help_of_what_is_unknown 2 '' 'did you mean run?' help rum
expect version_is_printed 0 'lazaret 0.1.0' '' --version

# ---- configuration -------------------------------------------------------------------------------
cat >wrong.toml <<'END'
[session]
timeuot = 3
verbose = "yes"
END
expect config_tells_every_mistake 2 '' 'wrong.toml:2:1' config --config wrong.toml
grep -qF 'wrong.toml:3:' err || { echo "the second mistake is not told"; failures=$((failures + 1)); }
grep -qF 'timeout' err || { echo "the nearest key is not told"; failures=$((failures + 1)); }
expect config_file_is_missing 2 '' 'missing.toml' config --config missing.toml
expect config_check_is_silent_when_right 0 '' '' config --check
expect config_check_looks_at_backends 2 '' 'nix' config --check --backend nix
expect set_needs_a_value 2 '' 'expected KEY=VALUE, found session' run --set session -e 1
expect set_refuses_unknown_keys 2 '' 'session.timeuot' config --set session.timeuot=3
expect a_size_as_elsewhere_is_understood 2 '' 'did you mean 512MiB?' config --set limits.memory=512M
expect a_size_in_small_letters_is_understood 2 '' 'did you mean 1.5GiB?' \
    config --set 'limits.memory="1.5 gb"'
expect a_variable_in_the_wrong_place 2 '' 'env.set sets a variable' config --set env.FOO=x
expect set_comes_before_named_options 0 '*' '' config --timeout 7 --set session.timeout=5
grep -qE '^session.timeout = 7 ' out || { echo "--timeout does not win"; failures=$((failures + 1)); }
"$lazaret" config --timeout 7 >again.toml
expect config_prints_a_configuration 0 '*' '' config --config again.toml
grep -qE '^session.timeout = 7 .*again.toml:' out ||
    { echo "config cannot be read back"; failures=$((failures + 1)); }
expect plugins_lists_what_is_there 0 '*' '' plugins
grep -qE '^backend +none ' out || { echo "plugins does not list none"; failures=$((failures + 1)); }
expect plugins_unknown_name 2 '' 'no plugin named nix' plugins nix
expect tools_of_no_configuration 0 '*' '' tools
expect tools_unknown_format 2 '' 'cobol' tools --format cobol
expect plan_is_shown_though_refused 126 '*' 'fs_read' plan --backend none
grep -q '^backend none' out || { echo "no plan was shown"; failures=$((failures + 1)); }
expect plan_shows_programs 0 '*' '' plan --set 'sandbox.programs=["cat"]'
sed -n '/^programs that can/,/^$/p' out >plan-programs
grep -q '/cat$' plan-programs && ! grep -q '/ls$' plan-programs ||
    { echo "a plan does not show the programs"; failures=$((failures + 1)); }
expect plan_shows_that_any_program_is_allowed 0 '*' '' plan --json --set 'sandbox.programs="any"'
grep -q '"programs":"any"' out || { echo "a plan does not say any"; failures=$((failures + 1)); }
expect plan_names_a_missing_program 2 '' 'no-such-program' \
    plan --set 'sandbox.programs=["no-such-program"]'
expect plan_for_macos_is_shown 0 '*' '' plan --platform darwin
grep -q '^backend seatbelt' out && grep -qF '    (deny default (with message "lazaret:' out &&
    grep -qE '^    -D WRITE_0=/private/tmp/' out && grep -qE '^  memory +weakly' out ||
    { echo "a plan for macOS does not show its profile"; failures=$((failures + 1)); }
expect plan_for_macos_is_shown_as_json 0 '*' '' plan --platform darwin --json
grep -qF '"files":[{"path":"/tmp/lazaret-session/seatbelt.sb","content":"(version 1)' out &&
    grep -qF '"-D","WRITE_0=/private/tmp/lazaret-session/home"' out ||
    { echo "a plan for macOS as JSON lacks its profile"; failures=$((failures + 1)); }
expect plan_for_macos_lacks_what_it_has_not 126 '*' 'does not enforce' \
    plan --platform darwin --set 'sandbox.require=["memory"]'
expect plan_of_a_backend_of_another_system 2 '' 'seatbelt is made for darwin' \
    plan --platform linux --backend seatbelt
expect plan_of_an_unknown_system 2 '' 'beos' plan --platform beos
expect plan_for_windows_is_shown_though_refused 126 '*' 'or in WSL with bwrap' \
    plan --platform windows --json
grep -qF '"job":{"memory":536870912,"nproc":50},"not_limited":{"fsize":' out ||
    { echo "a plan for Windows does not show the limits of its job"; failures=$((failures + 1)); }
expect plan_for_windows_where_nothing_is_required 0 '*' '' \
    plan --platform windows --set 'sandbox.require=[]'
grep -qx '  cpu  *weakly (watchdog)' out ||
    { echo "a plan for Windows does not say what counts CPU time"; failures=$((failures + 1)); }
expect plan_for_windows_has_a_job_for_the_time_of_a_session 0 '*' '' \
    plan --platform windows --set 'sandbox.require=[]' --set limits.session_cpu=90
for line in '  TEMP=C:.*' '  memory  *536870912' '  nofile  *Windows job objects have no such limit' \
    '  cpu  *90' '  cpu  *enforced (job object, user time only)' '  network  *not limited'; do
    grep -qx -e "$line" out ||
        { echo "a plan for Windows has no line: $line"; failures=$((failures + 1)); }
done
expect plan_of_a_backend_of_another_system 2 '' 'windows-job is made for windows and not for linux' \
    plan --platform linux --backend windows-job

# ---- code that is not there ----------------------------------------------------------------------
expect run_missing_file 2 '' 'missing.py: cannot be opened: No such file' run missing.py
expect run_directory 2 '' 'is a directory' run "$work"
: >code.cob
expect run_unknown_suffix 2 '' 'no installed runtime takes files that end in .cob' run code.cob
expect run_unknown_runtime 2 '' '"cobol"' run --runtime cobol -e 1
expect run_unknown_backend 2 '' '"nix"' run --backend nix -e 1

# ---- sessions ------------------------------------------------------------------------------------
in_python() { # NAME STATUS OUT ERR CODE OPTIONS...
    in_name=$1 in_status=$2 in_out=$3 in_err=$4 in_code=$5
    shift 5
    expect "$in_name" "$in_status" "$in_out" "$in_err" run --runtime python "$@" -e "$in_code"
}

sessions() {
    in_python value_is_printed_as_a_prompt_would 0 "'a'" '' '"a"'
    in_python nothing_is_printed_for_none 0 '' '' 'x = 1'
    in_python output_and_value 0 'hi
3' '' 'print("hi"); 1 + 2'
    own_stderr=yes
    in_python errors_of_the_code_keep_their_stream 0 '' 'to stderr' \
        'import sys; print("to stderr", file=sys.stderr)'
    own_stderr=
    in_python uncaught_error 1 '' 'error: -e:2: ValueError: no' 'x = 1
raise ValueError("no")'
    in_python syntax_error 1 '' 'syntax error: -e:1:' 'x = = 1'
    expect several_are_lines_of_one_program 0 3 '' run --runtime python -e 'for i in 1, 2:' \
        -e '    x = i' -e 'x + 1'
    in_python status_of_the_code_passes 3 '' '' 'import sys; sys.exit(3)'
    in_python status_with_a_meaning_of_its_own_does_not 1 '' '' 'import sys; sys.exit(137)'
    in_python output_that_was_cut_is_no_success 74 'kept' 'was dropped' 'print("kept"); print("cut")' \
        -q --set session.max_output_lines=1
    in_python messages_cannot_move_the_cursor 1 '' 'a\x1b[2Jb' 'raise ValueError("a\033[2Jb")'
    in_python messages_cannot_pose_as_others 1 '' 'lazaret: lazaret: all is well' \
        'raise ValueError("x\nlazaret: all is well")'
    in_python timeout_is_124 124 '' 'timeout' 'while True: pass' --timeout 1
    in_python blocked_is_126 126 '' 'Code too long' '1 + 1' --set session.max_code_length=3
    in_python crash_is_70 70 '' 'crashed' 'import os; os.kill(os.getpid(), 11)'
    in_python hook_decides 126 '' 'not today' '1' \
        --set 'session.pre_execute_hook=["/bin/sh","-c","echo not today >&2; exit 1"]'
    in_python warnings_are_told 1 '*' 'os.chroot' 'import os; os.chroot("/")'
    in_python warnings_are_of_what_fails 0 0 '' 'import os; os.system("true")'
    in_python warnings_depend_on_the_box 0 '*' 'os.system' 'import os; os.system("true")' \
        --set 'sandbox.programs=[]'
    in_python quiet_is_without_warnings 0 '*' '' 'import os; os.system("true")' -q \
        --set 'sandbox.programs=[]'
    in_python refused_policy_is_126 126 '' 'fs_read' 1 --backend none
    in_python without_a_box_if_asked_for 0 2 '' '1+1' --backend none --set 'sandbox.require=[]'

    printf '#!/usr/bin/env python3\nimport sys\n1/0\n' >code.py
    expect suffix_decides_and_lines_keep_their_numbers 1 '' 'code.py:3: ZeroDivisionError' \
        run code.py
    chmod 755 . && echo data >shown && mkdir -p written && chmod 777 written
    in_python a_path_is_shown 0 data '' "print(open('$work/shown').read().strip())" --read shown
    in_python a_path_is_not_shown 1 '' 'No such file' "open('$work/shown')"
    in_python a_path_can_be_written_to 0 '' '' \
        "f = open('$work/written/new', 'w'); n = f.write('x'); f = None" --write written
    [ "$(cat written/new)" = x ] || { status=; fail a_path_can_be_written_to x; }
    in_python a_host_is_reached_by_name 0 198.18 '' \
        'import socket; print(socket.gethostbyname("a.example.com")[:6])' \
        --backend bwrap --allow 'https://a.example.com' --allow b.example.com:22
    in_python another_host_is_not_found 1 '' 'lazaret: network: c.example.com is not in the network list' \
        'import socket; socket.gethostbyname("c.example.com")' --backend bwrap --allow a.example.com
    expect a_rule_is_wrong 2 '' '--allow: network.allow: ' run --allow a..b -e 1
    expect a_path_to_show_is_missing 2 '' '--read: nowhere: No such file' run --read nowhere -e 1
    in_python a_variable_is_set 0 'a "b"' '' 'import os; print(os.environ["GREETING"])' \
        --env 'GREETING=a "b"'
    PASSED_ON=yes && export PASSED_ON
    in_python a_variable_is_passed_on 0 yes '' 'import os; print(os.environ["PASSED_ON"])' --env PASSED_ON
    in_python a_variable_is_not_passed_on 0 None '' 'import os; print(os.environ.get("PASSED_ON"))'
    in_python a_variable_has_a_name 2 '' 'expected NAME or NAME=VALUE, found no name' 1 --env '=x'
    printf 'print(1)\n6 * 7\n' >value.py
    expect a_file_of_python_shows_no_value 0 1 '' run value.py
    printf '6 * 7' | "$lazaret" run - >out 2>err
    [ "$(cat out)" = 42 ] || { status=; fail standard_input 42; }
    expect check_runs_nothing 0 '' '' check -e 'raise SystemExit(3)'
    expect check_finds_syntax_errors 1 '' 'syntax error: -e:1' check -e 'def'

    expect json_is_one_object 0 '*' '' run --json -e 'print("a"); 5'
    [ "$(wc -l <out)" -eq 1 ] && grep -qF '"ok":true' out && grep -qF '"value":5' out ||
        { status=; fail json_is_one_object 'one line with the value'; }
    expect json_of_an_error 1 '*' '' run --json -e '1/0'
    grep -qF '"reason":"error"' out || { status=; fail json_of_an_error 'the verdict'; }

    # Reads the first line while the code, which never ends by itself, is running; then Ctrl-C.
    mkfifo pipe
    env --default-signal=INT "$lazaret" run -e 'print("first", flush=True)
while True: pass' >pipe 2>err &
    child=$!
    : >out
    { IFS= read -r line && kill -INT "$child"; cat >/dev/null; } <pipe
    wait "$child"
    status=$?
    cases=$((cases + 1))
    [ "$line" = first ] && [ "$status" -eq 130 ] && grep -qF cancelled err ||
        fail interrupt_is_130_and_output_comes_at_once 130
}

# A result that is longer than a pipe holds and that nobody has read yet: the command waits, and its
# session, whose end the audit log tells, has not been closed.
results_come_first() {
    mkfifo long
    mkdir -m 700 log
    for form in text json; do
        cases=$((cases + 1))
        set -- --set "audit.file=\"$work/log/$form\""
        [ $form = text ] || set -- "$@" --json
        "$lazaret" run "$@" -e '"x" * 500000' >long 2>err &
        child=$!
        exec 3<long
        first=$(dd bs=1 count=1 <&3 2>/dev/null)
        grep -c '"execute_complete"\|"session_close"' "log/$form" >out
        cat <&3 >long.out
        exec 3<&-
        wait "$child"
        status=$?
        grep -c '"execute_complete"\|"session_close"' "log/$form" >>out
        [ -n "$first" ] && [ "$status" -eq 0 ] && [ "$(wc -c <long.out)" -ge 500000 ] &&
            [ "$(tr '\n' ' ' <out)" = '1 2 ' ] ||
            fail "the_${form}_of_a_result_comes_before_the_end_of_its_box" 0
    done
}

# Output that cannot be written is an error, whatever the code did.
writing() {
    for target in /dev/full closed; do
        cases=$((cases + 1))
        if [ "$target" = closed ]; then
            "$lazaret" config >&- 2>err
        else
            "$lazaret" config >"$target" 2>err
        fi
        status=$?
        : >out
        [ "$status" -eq 74 ] && grep -qF 'standard output cannot be written' err ||
            fail "output_to_$target" 74
    done
    # When the reader goes away, code that would write for ever is ended.
    cases=$((cases + 1))
    mkfifo gone
    "$lazaret" run -e 'while True: print("x" * 1000)' >gone 2>err &
    child=$!
    head -c 1 <gone >out
    wait "$child"
    status=$?
    [ "$status" -eq 141 ] && [ ! -s err ] || fail reader_that_went_away '141, and silent'
}

# Code cannot send control characters to a terminal; a file gets every byte.
terminals() {
    cases=$((cases + 1))
    cat >marks.py <<'EOT'
import sys
print("a\x1b[31mb\x1b]0;title\x07")
print("10%\r20%", end="")
print("\x1b[1A", file=sys.stderr)
"\x9b\u202e"
EOT
    "$lazaret" run marks.py >out 2>err </dev/null
    status=$?
    LC_ALL=C grep -q "$(printf '\033')" out && LC_ALL=C grep -q "$(printf '\033')" err ||
        fail bytes_to_a_file 0
    TERM=xterm script -qec "'$lazaret' run -q marks.py" /dev/null >out 2>err </dev/null
    status=$?
    if LC_ALL=C grep -q "$(printf '\033')" out || ! grep -qF 'a\x1b[31mb\x1b]0;title\x07' out ||
        ! grep -qx "20%.*" out || ! grep -qF '\x1b[1A' out; then
        fail escapes_on_a_terminal 0
    fi
}

"$lazaret" run --runtime python -e '1' >out 2>err </dev/null
case $? in
    0)
        sessions
        terminals
        results_come_first
        [ ! -c /dev/full ] || writing
        ;;
    2) needed python && cat err ;;
    *)
        cat err
        needed bwrap
        ;;
esac

echo "$cases cases, $failures failures"
[ "$failures" -eq 0 ]
