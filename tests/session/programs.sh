#!/bin/sh
# SPDX-License-Identifier: MIT
# programs.sh - `lazaret run -- CMD`: a program has the streams of the command, and its exit status
# is that of the command; what is lazaret's own is 125, a clock 124. Terminals are in terminals.py.
. "${srcdir:-.}/tests/session/lib.sh"

here=$(cd "${0%/*}" && pwd) || exit 1
stage_open "$PWD/staged"
work=$(mktemp -d "${TMPDIR:-/tmp}/programs-test.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
HOME=$work/home
export HOME
mkdir -p "$HOME"
be_patient
cd "$work" || exit 1
mkdir shared
chmod 1777 shared

run() {
    "$lazaret" run "$@"
}

statuses() {
    for status in 0 1 2 3 70 74 123 124 125 126 127 130 137 141 255; do
        expect "status_$status" "$status" '' '' run -- sh -c "exit $status"
    done
    expect a_status_is_that_of_the_program 1 '' '' run -- false
    expect a_signal_is_128_and_its_number 137 '' '' run -- sh -c 'kill -KILL $$'
    expect another_signal_too 143 '' '' run -- sh -c 'kill -TERM $$'
    expect no_such_program 127 '' 'lazaret: no-such-program: command not found' \
        run -- no-such-program
    expect no_such_path 127 '' '/no/such: No such file' run -- /no/such
    expect not_executable 126 '' '/etc/passwd: Permission denied' run -- /etc/passwd
    expect a_directory 126 '' '/usr: Is a directory' run -- /usr
    printf 'exit 5\n' >shared/plain
    printf '#!/no/such/interpreter\n' >shared/lost
    chmod 755 shared/plain shared/lost
    expect a_file_without_a_first_line_is_a_script 5 '' '' \
        run --read "$work/shared" -- "$work/shared/plain"
    expect an_interpreter_that_is_missing 126 '' 'cannot be executed' \
        run --read "$work/shared" -- "$work/shared/lost"
}

own_statuses() {
    expect an_unknown_option 125 '' 'unknown option --no-such' run --no-such -- true
    expect a_wrong_setting 125 '' 'unknown key' run --set session.no=1 -- true
    expect no_program 125 '' 'a program is needed' run --
    expect an_empty_name 125 '' 'a program is needed' run -- ''
    expect code_and_a_program 125 '' 'one of them' run -e 'x' -- true
    expect a_language_and_a_program 125 '' '--runtime lua' run --runtime lua -- true
    expect both_of_a_terminal 125 '' '-t and -T' run -t -T -- true
    expect a_terminal_in_a_result 125 '*' '-t and --json' run -t --json -- true
    expect no_box 125 '' 'no backend' run --backend no-such -- true
    expect a_hook_that_refuses 125 '' 'blocked' \
        run --set 'session.pre_execute_hook=["/bin/false"]' -- true
    # The message is one: an agent whose host no longer listens says nothing.
    python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' gone.sock
    cases=$((cases + 1))
    LAZARET_SOCKET=$work/gone.sock LAZARET_TOKEN=x "$LAZARET_AGENT" >out.gone 2>&1
    [ $? -ne 0 ] && [ ! -s out.gone ] || wrong an_agent_without_a_host "it says $(cat out.gone)"
    expect a_clock 124 '' 'timed out' run --timeout 0.1 -- sleep 1000
    expect another_clock 124 '' 'deadline' run --set session.deadline=0.1 -- sleep 1000
    expect a_limit 137 '' 'CPU time' run --set limits.cpu=1 -- sh -c 'while :; do :; done'
    expect arguments_of_the_program_are_its_own 0 'x -e --json -h' '' run -- echo x -e --json -h
}

told_apart() {
    expect json_of_a_status 124 '*' '' run --json -- sh -c 'echo out; exit 124'
    json_is_one_object json_of_a_status ok
    says its_value '"value":124'
    says its_evidence '"exit_status":124'
    says its_output '"text":"out\n"'
    expect json_of_a_clock 124 '*' '' run --json --timeout 0.1 -- sleep 1000
    json_is_one_object json_of_a_clock timeout
    expect json_of_a_mistake 125 '*' 'unknown key' run --json --set session.no=1 -- true
    json_is_one_object json_of_a_mistake setup_failed
    all_json_is_valid
}

# Of a session whose programs are listed.
listed() {
    command -v git >/dev/null || return 0
    expect a_program_that_is_not_listed 127 '' '    programs = ["sh","git"]' \
        run --set 'sandbox.programs=["sh"]' -- git --version
    expect a_program_that_nobody_has 127 '' 'command not found' \
        run --set 'sandbox.programs=["sh"]' -- no-such-program
    cases=$((cases + 1))
    ! contains "$work/err" 'not among' || wrong a_program_that_nobody_has 'a hint that is wrong'
    expect a_program_that_is_listed 3 '' '' run --set 'sandbox.programs=["sh"]' -- sh -c 'exit 3'
}

# same NAME WANT GOT
same() {
    cases=$((cases + 1))
    cmp -s "$2" "$3" || wrong "$1" "other bytes than it should be"
}

streams() {
    head -c 300000 /dev/urandom >bytes
    run -- sh -c 'tee /dev/stderr; printf end' <bytes >"$work/copy" 2>"$work/copy2"
    { cat bytes && printf end; } >wanted
    same bytes_pass_unchanged wanted copy
    same bytes_of_the_other_stream_too bytes copy2
    run -- cat </dev/null >copy
    same an_empty_input /dev/null copy
    run -- printf '%s|' "$(printf 'a\377b')" '' 'two words' >copy
    printf 'a\377b||two words|' >wanted
    same words_are_bytes wanted copy
    cases=$((cases + 1)) # four times what a session keeps, and more than its clock for output
    n=$(head -c 40000000 /dev/zero | run --set session.max_output_size=64KiB -- cat | wc -c)
    [ "$n" -eq 40000000 ] || wrong any_amount_passes "$n bytes came"
    cases=$((cases + 1))
    { run -- yes && echo 0 >ended || echo $? >ended; } | head -n 1 >first
    read -r ended <ended
    [ "$ended $(cat first)" = '141 y' ] || wrong a_reader_that_leaves "status $ended"
    cases=$((cases + 1))
    run -- sh -c 'sleep 1000 & echo gone' </dev/null >copy
    [ "$(cat copy)" = gone ] || wrong the_end_of_the_program_is_that_of_its_box "$(cat copy)"
    cases=$((cases + 1))
    printf 'one\ntwo\n' >lines
    { run -- sh -c 'read -r line; echo "$line"' && cat; } <lines >copy
    [ "$(cat copy)" = "$(printf 'one\ntwo')" ] || [ "$(cat copy)" = one ] ||
        wrong what_was_not_read_is_given_back "$(cat copy)"
}

# A signal to the command ends the program, which may say so first.
signals() {
    for name in TERM HUP INT; do
        cases=$((cases + 1))
        mkfifo "begun$name"
        # without job control a shell starts what is in the background with SIGINT ignored
        python3 -I -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$lazaret" run -- sh -c 'echo begun; exec sleep 1000' \
            >"begun$name" 2>"$work/err" </dev/null &
        pid=$!
        read -r line <"begun$name"
        kill -"$name" "$pid"
        wait "$pid"
        status=$?
        case $name:$status:$line in
            TERM:143:begun | HUP:129:begun | INT:130:begun) ;;
            *) wrong "signal_$name" "status $status" ;;
        esac
    done
}

# What holds for other runtimes holds for programs.
as_others() {
    expect variables 0 'bar cat' '' run --env FOO=bar -- sh -c 'echo $FOO $PAGER'
    expect a_directory_to_write 0 '' '' \
        run --write "$work/shared" --cwd "$work/shared" -- sh -c 'echo written >here'
    cases=$((cases + 1))
    [ "$(cat shared/here)" = written ] || wrong a_directory_to_write "it has no file"
    echo given >given
    expect files 0 given '' run --file note=given -- cat note
    mkdir saved
    expect artifacts 0 '' saved/it run --artifacts saved -- sh -c 'echo made >artifacts/it'
    cases=$((cases + 1))
    find saved -name it | grep -q . || wrong artifacts "nothing was saved"
    "$lazaret" plugins --json >"$work/out" 2>"$work/err"
    says it_is_a_runtime '"name":"program"'
}

# Scripts of the shell pass their status on, and other languages keep their rule.
languages() {
    look_for shell lua
    if is_installed shell; then
        for status in 0 3 124 255; do
            echo "exit $status" >script.sh
            expect "script_$status" "$status" '' '' run script.sh
            expect "shell_$status" "$status" '' '' run --runtime shell -e "(exit $status)"
        done
        expect the_clock_of_a_script 124 '' 'timed out' \
            run --runtime shell --timeout 0.1 -e 'sleep 1000'
        expect a_hook_and_a_script 125 '' blocked \
            run --runtime shell --set 'session.pre_execute_hook=["/bin/false"]' -e true
    fi
    if is_installed lua; then
        expect an_error_is_1 1 '' 'error' run --runtime lua -e 'error("x")'
        expect a_mistake_is_2 2 '' 'unknown key' run --set session.no=1 --runtime lua -e 'x=1'
        echo 'os.exit(3)' >three.lua
        expect a_file_is_run_without_dashes 3 '' '' run three.lua
        expect a_file_behind_dashes_is_a_program 127 '' 'three.lua: command not found' \
            run -- three.lua
    fi
}

terminals() {
    cases=$((cases + 1))
    LAZARET=$lazaret TERMINALS_OUT=$work/terminal python3 -I "$here/terminals.py" >"$work/out" 2>"$work/err" ||
        wrong terminals "some fail"
}

statuses
own_statuses
told_apart
listed
streams
signals
as_others
languages
terminals
finish
