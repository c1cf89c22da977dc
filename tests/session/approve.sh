#!/bin/sh
# SPDX-License-Identifier: MIT
# approve.sh - `lazaret run` asks at its terminal before a call that needs an approval; without one
# it refuses the call. At the terminal it shows how long the code has been running, and what else it
# writes there disturbs neither.
. "${srcdir:-.}/tests/session/lib.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/approve-lazaret.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
stage_open "$PWD/staged"
HOME=$work
export HOME
be_patient
cd "$work" || exit 1
python=$(python3 -c 'import sys; print(sys.executable)') || exit 1

cat >tools.toml <<'END'
[session]
runtime = "lua"
start_timeout = 600
timeout = 0
deadline = 0
[[tools]]
provider = "command"
[[tools.tool]]
name = "erase"
command = ["/bin/echo", "erased", "--", "{path}"]
parameters = { path = "string" }
output = "text"
approve = true
[[tools.tool]]
name = "show"
command = ["/bin/echo", "shown", "--", "{path}"]
parameters = { path = "string" }
output = "text"
[[approve]]
tool = "sh*"
when = { path = "/etc/*" }
END
# The first returns when the terminal has written into a pipe; with the second the code says that it
# has got so far.
mkfifo woken told || exit 1
cat >with_pipes.toml <<END
[session]
runtime = "lua"
start_timeout = 600
timeout = 0
deadline = 0
[[tools]]
provider = "command"
[[tools.tool]]
name = "wake"
command = ["/bin/cat", "$work/woken"]
output = "text"
timeout = 0
[[tools.tool]]
name = "tell"
command = ["/usr/bin/tee", "$work/told"]
parameters = { text = "string" }
output = "text"
timeout = 0
[[tools.tool]]
name = "erase"
command = ["/bin/echo", "erased", "--", "{path}"]
parameters = { path = "string" }
output = "text"
approve = true
END

# A terminal with somebody at it: types the next of its answers whenever a question is there, and
# prints what the terminal shows and the exit status. "early": two lines are typed when the code says
# that it is ready; "watch": Ctrl-C is, when the terminal shows for how long the code has run, and has
# shown "begun"; "wake": the tool of this name returns when the time is shown below its call, and
# Ctrl-C is typed when it is shown again below the message that the tool has returned; "ask": the tool returns while the first question stands, which is
# answered when the code has called the tool "tell".
cat >terminal.py <<'END'
import os, pty, re, sys
answers, command = sys.argv[1].split(","), sys.argv[2:]
pid, fd = pty.fork()
if pid == 0:
    os.execv(command[0], command)
shown, asked = b"", 0

def is_time_shown_after(text):
    return re.search(text + rb"(?s:.*)lazaret: [0-9]+:[0-9][0-9]", shown)

after = rb"begun"
while True:
    try:
        piece = os.read(fd, 4096)
    except OSError:
        break
    if not piece:
        break
    shown += piece
    if answers[0] == "early" and b"ready" in shown:
        os.write(fd, b"x\ny\n")
        answers[0] = "typed"
    if answers[0] == "wake" and is_time_shown_after(rb"Tool call"):
        open("woken", "w").write("awake")
        answers[0], after = "watch", rb"Tool result"
    if answers[0] == "ask" and b"[y/N] " in shown:
        open("woken", "w").write("awake")
        open("told").read()
        answers[0] = "typed"
    if answers[0] == "watch" and is_time_shown_after(after):
        os.write(fd, b"\x03")
        answers[0] = "typed"
    while asked < shown.count(b"[y/N] "):
        asked += 1
        if asked < len(answers):
            os.write(fd, answers[asked].encode().decode("unicode_escape").encode())
print(shown.decode().replace("\r", ""), end="")
print("status", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END

# at_terminal NAME ANSWERS CODE OPTIONS... - the answers, separated by commas, come behind a first
# one, which is empty or "early".
at_terminal() {
    name=$1 answers=$2 code=$3
    shift 3
    cases=$((cases + 1))
    TERM=xterm "$python" -I -S terminal.py "$answers" "$lazaret" run --config tools.toml "$@" -e "$code" >out 2>err ||
        wrong "$name" "the terminal failed"
}

# shows NAME TEXT, shows_not NAME TEXT
shows() {
    grep -qF -e "$2" out || wrong "$1" "the terminal does not show: $2"
}
shows_not() {
    ! grep -qF -e "$2" out || wrong "$1" "the terminal shows: $2"
}

at_terminal asks_and_goes_on ',y\n' 'x = 1 print("before") print(show("/etc/hosts"), x)'
shows asks_and_goes_on 'lazaret: the code calls show, which needs an approval'
shows asks_and_goes_on '    path = "/etc/hosts"'
shows asks_and_goes_on 'lazaret: allow this call? [y/N] y'
shows asks_and_goes_on 'shown -- /etc/hosts'
shows asks_and_goes_on 'status 0'

at_terminal asks_only_where_needed ',n\n' 'print(show("/tmp/a"))'
shows asks_only_where_needed 'shown -- /tmp/a'
shows_not asks_only_where_needed 'needs an approval'

for answer in 'n\n' '\n' 'yess\n' 'no y\n' '\x04'; do
    at_terminal no_clear_yes_is_a_no ",$answer" 'print(pcall(erase, "a"))'
    shows no_clear_yes_is_a_no 'the call was not approved'
    shows_not no_clear_yes_is_a_no 'erased --'
done
at_terminal asks_each_time ',YES\n,n\n, y \n' \
    'print(erase("1")) print(pcall(erase, "2")) print(erase("3"))'
shows asks_each_time 'erased -- 1'
shows asks_each_time 'erased -- 3'
shows_not asks_each_time 'erased -- 2'

# Nothing in an argument may hide what it says, or act on the terminal.
at_terminal shows_what_would_be_used ',n\n' 'pcall(erase, "/etc/\27[2Kpasswd\r\"y\n\u{202e}")'
shows shows_what_would_be_used '    path = "/etc/\x1b[2Kpasswd\x0d\"y\x0a\u202e"'
at_terminal says_what_is_not_shown ',n\n' 'pcall(erase, ("x"):rep(100000))'
shows says_what_is_not_shown 'x" ... (100002 bytes in all; the rest is not shown)'

# What is typed before the question is input of the code, or is discarded, but never an answer. The
# code has read the first line when it asks, so the second has been typed, too.
at_terminal keys_before_the_question_are_no_answer 'early,n\n' \
    'io.write("ready\n") io.flush() io.read() print(pcall(erase, "a"))'
shows_not keys_before_the_question_are_no_answer 'erased --'
shows keys_before_the_question_are_no_answer 'the call was not approved'
at_terminal input_goes_on_afterwards ',y\n,hello\n' \
    'print(erase("a")) io.write("name? [y/N] ") io.flush() print("it is " .. io.read())'
shows input_goes_on_afterwards 'it is hello'

at_terminal is_cancelled_by_ctrl_c ',\x03' 'erase("a")'
shows is_cancelled_by_ctrl_c 'status 130'
shows_not is_cancelled_by_ctrl_c 'erased --'
at_terminal has_a_timeout ',' 'print(pcall(erase, "a"))' --set session.approval_timeout=100ms
shows has_a_timeout 'not approved: no decision came within 0.1 seconds'
shows has_a_timeout 'status 0'

# How long it takes is shown after two seconds, in a line that goes away; not in a line of the code.
at_terminal shows_progress watch 'print("begun") os.execute("sleep 3600")' --timeout 0
shows shows_progress 'begun'
progress='.\[Klazaret: [0-9]+:[0-9][0-9](, 1 tool call)?(, [0-9]+ MiB)?(\^C)?'
grep -qE "^$progress($progress)*.\[K" out ||
    wrong shows_progress "the line does not come and go"
shows shows_progress 'status 130'
wait='os.execute("sleep 4")' # longer than two seconds in any case
at_terminal overwrites_no_output ',' "io.write('half a line') io.flush() $wait" --timeout 0
shows overwrites_no_output 'half a line'
sed 's/.*half a line//' out >behind && mv behind out # the code may have begun late
shows_not overwrites_no_output 'lazaret: '
at_terminal is_quiet_if_told_so ',' "$wait" --timeout 0 -q
shows_not is_quiet_if_told_so 'lazaret: '

# A message takes the line away, which comes again; it does not disturb a question that stands.
at_terminal message_takes_the_line_away wake 'wake() os.execute("sleep 3600")' \
    --config with_pipes.toml -v --timeout 0
grep -qE "^$progress($progress)*.\[Klazaret: Tool result: \"awake\"$" out ||
    wrong message_takes_the_line_away "the message is not on a line of its own"
shows message_takes_the_line_away 'status 130'
at_terminal message_begins_a_line '' 'io.write("half a line") error("broken")'
grep -qE '(^|.\[K)half a line$' out || wrong message_begins_a_line "the message is in a line of output"
grep -qE '^lazaret: error: .*broken' out || wrong message_begins_a_line "there is no message"
if "$lazaret" plugins python >out 2>err; then
    at_terminal message_waits_for_the_answer 'ask,y\n' '
import threading
def other():
    wake()
    tell("so far")
thread = threading.Thread(target=other)
thread.start()
print(erase("a"))
thread.join()' --config with_pipes.toml -v --runtime python
    question=$(grep -nx 'lazaret: allow this call? \[y/N\] y' out | cut -d : -f 1)
    message=$(grep -nx 'lazaret: Tool result: "awake"' out | cut -d : -f 1)
    [ "${question:-0}" -gt 0 ] && [ "${message:-0}" -gt "$question" ] ||
        wrong message_waits_for_the_answer "lines of question and message: '$question', '$message'"
    shows message_waits_for_the_answer 'erased -- a'
else
    may_be_missing python "no message is written while a question stands"
fi

# Streams are not terminal here, and it is asked all the same.
cases=$((cases + 1))
"$python" -I -S terminal.py ',y\n' /bin/sh -c "echo input |
    '$lazaret' run --config tools.toml -e 'print(erase(io.read()))' >piped 2>&1" >out 2>err
shows asks_beside_pipes 'allow this call?'
grep -qx 'erased -- input' piped || wrong asks_beside_pipes "$(cat piped)"

# A call by a command is refused as any other, and says so by its status.
expect commands_are_refused_too 0 "126${newline}erase: the call was not approved: there is no terminal" '' \
    "$lazaret" --config tools.toml run -q -e '
    local p = io.popen("erase /tmp/x 2>why; echo $?; cat why") local out = p:read("a") p:close()
    io.write(out)'
expect refuses_without_a_terminal 0 'the call was not approved: there is no terminal' '' \
    setsid -w "$lazaret" run --config tools.toml -e 'print(select(2, pcall(erase, "a")))'

finish
