#!/bin/sh
# SPDX-License-Identifier: MIT
# audit.sh - the installed command verifies and shows an audit log that it has written, detects
# every kind of change, and compares it with a hash kept elsewhere. The script of docs/audit.md
# verifies it too, so that the document and the log agree.
. "${srcdir:-.}/tests/session/lib.sh"

docs=$(cd "${srcdir:-.}/docs" && pwd) || exit 1
work=$(mktemp -d "${TMPDIR:-/tmp}/audit-lazaret.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
stage_open "$PWD/staged"
HOME=$work
export HOME
be_patient
cd "$work" || exit 1
: >out
: >err
audit="$lazaret audit"

# In the directory of the cases: their log, and what their code would leave.
make_log() {
    log=$work/logs/audit.jsonl
    run="$lazaret run --runtime lua --set audit.file=$log"
    canary=$work/canary
    mkdir "$canary"
}

written() {
    expect writes_a_log 0 5 '' $run -e '2 + 3'
    expect appends_to_it 1 '' 'no luck' $run -e 'error("no luck\27[2J")'
    expect verifies 0 '*' '' $audit verify "$log"
    says verifies 'intact: 8 records, last 8 '
    hash=$(sed 's/.* //' out)
    expect verifies_without_a_word 0 "$(cat out)" '' $audit "$log"
    expect verifies_what_is_read 0 "$(cat out)" '' sh -c "cat '$log' | $audit -"
    expect verifies_the_hash 0 '*' '' $audit verify --expect "$hash" "$log"
    expect verifies_in_json 0 '*' '' $audit verify --json --expect "$hash" "$log"
    says verifies_in_json "{\"ok\":true,\"lines\":8,\"records\":8,\"lost\":0,\"last_seq\":8,"
    says verifies_in_json "\"last_hash\":\"$hash\",\"expected\":true,\"findings\":[]}"
    cases=$((cases + 1))
    [ "$(stat -c %a "$log")" = 600 ] || wrong mode "the log has not the mode 0600"
}

shown() {
    expect shows 0 '*' '' $audit show "$log"
    says shows 'execute_start  execution=1  code="2 + 3"'
    says shows 'u001b[2J'
    cases=$((cases + 1))
    [ "$(wc -l <out)" -eq 8 ] || wrong shows "not a line for each record"
    ! grep -q "$(printf '\033')" out || wrong shows "a control character"
    expect shows_json 0 '*' '' $audit show --json "$log"
    cases=$((cases + 1)) # each record is a line of the one document, unchanged
    sed 's/^{"records":\[//; s/^ //; s/,$//; s/\],"ok":true}$//' out | cmp -s - "$log" || wrong shows_json "a record was changed"
}

# change NAME LINE TEXT COMMAND... - the log as changed by COMMAND is not intact: the message names
# LINE and contains TEXT.
change() {
    change_name=$1 change_line=$2 change_text=$3
    shift 3
    "$@" <"$log" >"$work/changed" || wrong "$change_name" "cannot be created"
    expect "$change_name" 1 '*' "changed:$change_line: " $audit verify "$work/changed"
    says "$change_name" "$change_text"
    says "$change_name" 'NOT INTACT'
    expect "$change_name --json" 1 '*' '' $audit verify --json "$work/changed"
    says "$change_name --json" "{\"ok\":false,"
    says "$change_name --json" "\"findings\":[{\"line\":$change_line,"
}

changed() {
    change removed 3 'missing' sed 3d
    change removed_first 1 'missing' sed 1d
    change edited 2 'was changed' sed '2s/2 + 3/2 + 2/'
    change swapped 3 'missing' awk 'NR == 3 { held = $0; next } { print } NR == 4 { print held }'
    change inserted 5 'not a record' sed '4a {"seq":5,"event":"all is well"}'
    change repeated 6 'comes after' sed '5{p;}'
    change line_cut 4 'not a record' sed '4s/.....$//'
    change end_cut 8 'has no end' head -c -20
    change new_hash 6 'was changed' sed '6s/"hash":"......../"hash":"00000000/'
    sed '$d' "$log" >shorter
    expect end_removed_is_intact 0 '*' '' $audit verify shorter
    expect end_removed_is_told_by_the_hash 1 '*' 'records were removed from the end' \
        $audit verify --expect "$hash" shorter
    printf '\033[2Jhello\n' >>shorter
    expect shows_strangers 1 '*' 'not a record: "\u001b[2Jhello"' $audit show shorter
}

misused() {
    expect needs_a_file 2 '' 'the file of an audit log' $audit
    expect needs_a_file_that_is_there 2 '' 'No such file' $audit verify "$work/none"
    expect needs_a_regular_file 2 '' 'is not a regular file' $audit "$work"
    expect knows_its_words 2 '' 'expected verify or show' $audit prove "$log"
    expect expects_a_hash 2 '' '--expect takes the hash' $audit verify --expect abc "$log"
    expect expects_when_verifying 2 '' 'belongs to verify' $audit show --expect "$hash" "$log"
    ln -s "$log" link
    fails log_is_a_link 2 setup_failed 'is a symbolic link' \
        $lazaret run --runtime lua --set "audit.file=$work/link" -e "$(canary_code)"
    mkdir shared
    chmod 777 shared
    fails log_where_all_write 2 setup_failed 'every user can write this directory' \
        $lazaret run --runtime lua --set "audit.file=$work/shared/log" -e "$(canary_code)"
}

# faults ERROR CALL LEAST - makes the first, the second, ... CALL on the log fail, alone and then with all
# later ones: no code runs without a record, and the log stays a chain. Each case begins with the
# log of one run. The host's own thread writes the log; a box takes no part in that, so there is none.
# At least LEAST of the faults come about.
faults() {
    make_log
    bare="$run -q --backend none --set sandbox.require=[]"
    injected=0
    expect fault_control 0 RAN '' $bare -e 'print("RAN")'
    cp -R logs one-run
    for when in 1 2 3 4 5 1+ 2+ 3+ 4+; do
        rm -rf logs
        cp -R one-run logs
        cases=$((cases + 1)) status=0
        timeout 600 strace -qq -o calls -P "$log" -e "trace=$2" \
            -e "inject=$2:error=$1:when=$when" $bare -e 'print("RAN")' >out 2>err </dev/null ||
            status=$?
        grep -q INJECTED calls && injected=$((injected + 1))
        name="fault $2 $1 $when"
        case $status in
            0 | 2 | 125 | 126) ;;
            *) wrong "$name" "status $status" ;;
        esac
        if grep -q RAN out; then
            [ "$(grep -c '"execute_start"' "$log")" -eq 2 ] || wrong "$name" "the code ran off record"
        elif [ "$status" -eq 0 ]; then
            wrong "$name" "status 0, and the code did not run"
        fi
        expect "$name goes on" 0 RAN '' $bare -e 'print("RAN")'
        expect "$name verifies" 0 '*' '' $audit verify -q "$log"
    done
    [ "$injected" -ge "$3" ] || wrong "faults of $2" "only $injected came about"
}

faults_of_write() {
    faults ENOSPC write 7
}

faults_of_pread64() {
    faults EIO pread64 2
}

faults_of_flock() {
    faults ENOLCK flock 8
}

faults_of_openat() {
    faults EMFILE openat 2
}

faulty() {
    # In a sanitizer build: leak detection does not work under ptrace(2).
    ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
    export ASAN_OPTIONS
    if strace -qq -o calls true >out 2>err; then
        side_by_side faults_of_write faults_of_pread64 faults_of_flock faults_of_openat
    else
        may_be_missing strace "$(head -n 1 err)"
    fi
}

# The script in the document reports the same as the command.
document() {
    if ! command -v python3 >/dev/null 2>&1; then
        may_be_missing python3 'not installed'
        return
    fi
    sed -n '/^    import hashlib/,/^$/s/^    //p' "$docs/audit.md" >verify.py
    expect document_agrees 0 '' '' python3 -I verify.py "$log"
    sed '2s/2 + 3/2 + 2/' "$log" >changed
    cases=$((cases + 1))
    ! python3 -I verify.py changed >out 2>err || wrong document_agrees "it finds no change"
    grep -q 'line 2' err || wrong document_agrees "it names another line"
}

sound() {
    make_log
    written
    shown
    changed
    misused
    document
}

if [ ! -e "$LAZARET_PLUGIN_PATH/lua.so" ]; then
    may_be_missing lua 'not installed'
elif ! $lazaret run --runtime lua -e 1 >out 2>err; then
    cat err
    may_be_missing bwrap 'a session cannot be started'
else
    side_by_side sound faulty
fi
finish
