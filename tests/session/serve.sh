#!/bin/sh
# SPDX-License-Identifier: MIT
# serve.sh - `lazaret serve` on standard input and output, as its clients start it: what it prints,
# how it ends, and that nothing of it is left.
. "${srcdir:-.}/tests/session/lib.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/serve-lazaret.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
stage_open "$PWD/staged"
HOME=$work
export HOME
be_patient
cd "$work" || exit 1
: >out
: >err

# fed NAME STATUS LINES - starts it with these lines as its whole input.
fed() {
    name=$1 want=$2
    cases=$((cases + 1)) status=0
    printf '%s' "$3" | "$lazaret" serve >out 2>err || status=$?
    [ "$status" -eq "$want" ] || wrong "$name" "status $status, expected $want"
    head -n 1 out | grep -q '^{"type":"hello","protocol":1,"version":"[0-9.]*",.*}$' ||
        wrong "$name" "no hello"
}

fed ends_with_its_input 0 ''
[ "$(wc -l <out)" -eq 1 ] && [ ! -s err ] || wrong ends_with_its_input "it says more than hello"

# What runs when the input ends is cancelled, and reported.
fed reports_what_it_cancels 0 '{"type":"execute","id":7,"runtime":"lua","code":"while true do end"}
'
says reports_what_it_cancels '{"type":"result","id":7,"result":{"ok":false'
says reports_what_it_cancels '"reason":"cancelled"'

fed is_told_no_rubbish 125 'rubbish
'
says is_told_no_rubbish '{"type":"failed","code":"LAZ_EPROTO"'
says is_told_no_rubbish 'lazaret: '

expect takes_no_operands 2 '' 'serve' "$lazaret" serve file
expect engines_need_clients 2 '' '--engines needs --listen' "$lazaret" serve --engines 2
for n in 17 -1 2x ''; do
    expect engines_are_counted 2 '' "--engines: '$n' is not a number from 1 to 16" \
        "$lazaret" serve --listen "$work/socket" --engines "$n"
done
expect says_what_is_wrong_first 2 '' 'session.timeout: expected' \
    "$lazaret" serve --set session.timeout=soon
expect listens_nowhere 125 '' 'cannot listen at' "$lazaret" serve --listen "$work/none/socket"

# talk OPTIONS... - starts it with a client that keeps its end open, as descriptor 9.
talk() {
    rm -f to out && mkfifo to
    "$lazaret" serve --runtime lua "$@" <to >out 2>err &
    server=$!
    exec 9>to
}

# await TEXT - until it is in the output. The harness ends a test that hangs.
await() {
    until grep -qF -e "$1" out; do
        kill -0 $server 2>/dev/null || break
        sleep 0.05
    done
    cases=$((cases + 1))
    grep -qF -e "$1" out || wrong await "the server has ended without: $1"
}

talk
echo '{"type":"execute","id":1,"code":"6 * 7"}' >&9
await '"id":1,"result":{"ok":true,"value":42'
echo '{"type":"execute","id":2,"output":true,"code":"print(1) io.flush() while true do end"}' >&9
await '{"type":"output","id":2,"stream":"stdout","text":"1\n"}'
kill -TERM $server
cases=$((cases + 1)) status=0
wait $server || status=$?
[ $status -eq 143 ] || wrong ended_by_sigterm "status $status"
says ended_by_sigterm '"id":2,"result":{"ok":false'
exec 9>&-

# With a socket it says when clients can connect; also with several engines.
for n in 1 3; do
    rm -f err # what the last one said is not what this one says
    "$lazaret" serve --runtime lua --listen "$work/socket" --engines $n >out 2>err &
    server=$!
    until grep -q listening err 2>/dev/null; do
        kill -0 $server 2>/dev/null || break
        sleep 0.05
    done
    cases=$((cases + 1)) status=0
    [ "$(cat err)" = "lazaret: listening at $work/socket" ] && [ -S socket ] || wrong says_that_it_listens ''
    kill -TERM $server
    wait $server || status=$?
    [ $status -eq 143 ] && [ ! -e socket ] || wrong says_that_it_listens "status $status"
done

# A client that is killed: the server ends by itself, and its box with it.
talk
echo '{"type":"open","id":1}' >&9
await '"opened","id":1'
echo '{"type":"execute","id":2,"session":1,"code":"1"}' >&9
await '"id":2,"result":{"ok":true'
echo '{"type":"describe","id":3,"session":1}' >&9
await '"type":"description"'
box=$(sed -n 's/.*"type":"description".* pid=\([0-9]*\).*/\1/p' out)
exec 9>&-
cases=$((cases + 1)) status=0
wait $server || status=$?
[ $status -eq 0 ] || wrong client_was_killed "status $status"
[ -n "$box" ] && ! kill -0 "$box" 2>/dev/null || wrong client_was_killed "its box is still there"

# Nobody reads what it writes: it ends although its input goes on.
rm -f to out && mkfifo to
{ "$lazaret" serve --runtime lua <to 2>err; echo $? >status; } | head -n 1 >out &
pipeline=$!
exec 9>to
until [ -s out ]; do sleep 0.05; done
trap '' PIPE
while [ ! -s status ]; do
    echo '{"type":"execute","id":1,"code":"1"}' >&9
    sleep 0.05
done 2>/dev/null
exec 9>&-
wait $pipeline
cases=$((cases + 1))
[ "$(cat status)" = 0 ] || wrong nobody_reads "status $(cat status)"
finish
