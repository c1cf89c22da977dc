#!/bin/sh
# SPDX-License-Identifier: MIT
# files.sh - `lazaret run --file` and `--artifacts`: what goes in, what comes out, what is said.
. "${srcdir:-.}/tests/session/lib.sh"

mock=$PWD/tests/mock/agent
work=$(mktemp -d "${TMPDIR:-/tmp}/files-lazaret.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
stage_open "$PWD/staged"
HOME=$work
export HOME
be_patient
cd "$work" || exit 1

# runs NAME STATUS ARGUMENTS... - Lua, in the file code.lua
runs() {
    name=$1 want_status=$2
    shift 2
    cases=$((cases + 1)) status=0
    "$lazaret" run --runtime lua "$@" >out 2>err || status=$?
    [ "$status" -eq "$want_status" ] || wrong "$name" "status $status"
}

# has FILE TEXT
has() {
    grep -qF -- "$2" "$1" || wrong "$name" "no '$2' in $1: $(cat "$1")"
}

printf 'a,b\n1,2\n' >table.csv
cat >save.lua <<'END'
local f = io.open('artifacts/copy.csv', 'w')
f:write(io.open('in.csv'):read('a'))
f:close()
f = io.open('artifacts/large', 'w')
f:write(string.rep('x', 5000))
f:close()
END

runs file_goes_in_and_comes_out 0 --file in.csv=table.csv --artifacts saved save.lua
cmp table.csv saved/copy.csv || wrong "$name" "the copy differs"
has err 'saved saved/copy.csv (text/csv, 8 bytes)'
runs nothing_is_overwritten 0 --file in.csv=table.csv --artifacts saved save.lua
has err 'saved saved/copy-2.csv (text/csv, 8 bytes)'
runs without_a_directory_they_are_named 0 --file in.csv=table.csv save.lua
has err 'artifact copy.csv (text/csv, 8 bytes)'
has err '--artifacts DIR saves them'
runs quiet_is_quiet 0 -q --file in.csv=table.csv save.lua
[ ! -s err ] || wrong "$name" "$(cat err)"
runs json_has_paths 0 --json --file in.csv=table.csv --artifacts listed save.lua
has out '"artifacts":[{"name":"copy.csv","type":"text/csv","size":8,"sha256":"'
has out '"path":"listed/copy.csv"}'
runs what_is_too_large_is_named 0 --set artifacts.max_size=4KiB --file in.csv=table.csv save.lua
has err 'warning: save.lua: left out: artifacts/large: there is no room for it (artifacts.max_size)'
runs a_file_has_its_own_name 0 --file table.csv -e "io.open('table.csv'):read('l')"
has out 'a,b'
runs missing_file_is_named 125 --file in.csv=missing save.lua
has err '--file: the file missing cannot be read'
runs bad_name_is_named 2 --file ../x=table.csv save.lua
has err '--file: the name of a file for a session has 1 to 255 bytes'
runs a_directory_is_no_file 2 --file in=. save.lua
has err 'not a regular file'
echo x >occupied
runs no_directory_to_save_in 74 --file in.csv=table.csv --artifacts occupied save.lua
has err '--artifacts: the artifact copy.csv cannot be saved in occupied'
runs artifacts_of_code_that_fails 1 --artifacts failed -e \
    "io.open('artifacts/x', 'w'):close()" -e "error('no')"
[ -f failed/x ] || wrong "$name" "it was not saved"

# What is saved where the code begins.
cat >plot.lua <<'END'
io.open('plot.csv', 'w'):write('a,b')
END
runs what_is_elsewhere_is_named 0 --file in.csv=table.csv plot.lua
has err 'warning: plot.lua: left out: plot.csv: in the working directory; what is saved in artifacts/ is kept'
runs what_is_elsewhere_can_be_saved 0 --file in.csv=table.csv --artifacts elsewhere-too plot.lua
[ "$(ls elsewhere-too)$(cat elsewhere-too/plot.csv)" = plot.csva,b ] || wrong "$name" "$(ls elsewhere-too)"
runs settings_come_first 0 --set artifacts.collect=artifacts --artifacts not-saved plot.lua
has err 'left out: plot.csv'
runs as_the_settings_say 0 --set artifacts.collect=cwd plot.lua
has err 'artifact plot.csv (text/csv, 3 bytes)'
mkdir host && chmod 777 host
cat >there.lua <<'END'
io.open('there', 'w'):close()
END
runs directories_of_the_host_are_not_collected 0 --write "$work/host" --cwd "$work/host" \
    --artifacts none there.lua
[ -f host/there ] && [ ! -e none ] || wrong "$name" "$(ls host none)"

# Each that cannot be saved is named, wherever it stands in the list, and the others are saved.
cat >several.lua <<'END'
for _, name in ipairs({'a', 'link', 'z'}) do os.execute('mkdir artifacts/' .. name) end
for _, name in ipairs({'a/b', 'c', 'link/d', 'z/y'}) do
    local f = io.open('artifacts/' .. name, 'w')
    f:write(name)
    f:close()
end
END
mkdir mixed elsewhere
echo mine >mixed/a
ln -s "$work/elsewhere" mixed/link
runs one_that_cannot_be_saved_stops_no_other 74 --artifacts mixed several.lua
has err '--artifacts: the artifact a/b cannot be saved in mixed: a file or a link'
has err '--artifacts: the artifact link/d cannot be saved in mixed'
has err 'artifact a/b (application/octet-stream, 3 bytes)'
has err 'saved mixed/z/y (application/octet-stream, 3 bytes)'
[ "$(cat mixed/a mixed/c mixed/z/y)" = "mine
cz/y" ] || wrong "$name" "$(cat mixed/a mixed/c mixed/z/y)"
[ -z "$(ls elsewhere)" ] || wrong "$name" "something is behind the link"
runs the_result_has_each_problem 74 --json --artifacts mixed several.lua
has out '"path":null,"problem":"the artifact a/b cannot be saved in mixed'
has out '"path":"mixed/c-2"}'
has out '"problem":"the artifact link/d cannot be saved in mixed'
rm -r mixed

# The agent (tests/mock/agent.c) ends before it has sent all of it.
cat >half.lua <<'END'
send {"type":"part","id":$id,"of":"file","name":"a.txt","data":"YWJj"}
send {"type":"part","id":$id,"of":"file","name":"b.png","data":"iVBORw0KGgo=","more":true}
sync
die 9
END
LAZARET_AGENT=$mock
runs what_is_not_whole_is_not_saved 70 --artifacts half half.lua
has err 'the artifact b.png is lost, after 8 bytes: the execution ended before all of it had come: crashed'
has err 'saved half/a.txt (text/plain, 3 bytes)'
[ "$(ls half)" = a.txt ] || wrong "$name" "$(ls half)"
runs quiet_names_what_is_lost 70 -q half.lua
has err 'the artifact b.png is lost'
runs json_names_what_is_lost 70 --json half.lua
has out '"artifacts_lost":[{"name":"b.png","bytes":8,"why":"the execution ended before'
LAZARET_AGENT=$staged$staged_agent/lazaret-agent

# A terminal that shows pictures gets them, once each; a file and a pipe get nothing of the kind.
cat >terminal.py <<'END'
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
shown = b""
while True:
    try:
        piece = os.read(fd, 4096)
    except OSError:
        break
    if not piece:
        break
    shown += piece
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
if status < 0:
    print("signal", -status)
print(shown.count(b"\x1b_G"), shown.count(b"\x1b]1337;File=inline=1:iVBORw0KGgo"))
END
# The smallest PNG: one pixel.
cat >draw.lua <<'END'
local hex = '89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489' ..
    '0000000a49444154789c6360000000020001e221bc330000000049454e44ae426082'
local f = io.open('artifacts/dot.png', 'w')
f:write((hex:gsub('..', function(c) return string.char(tonumber(c, 16)) end)))
f:close()
END
if command -v python3 >/dev/null; then
    unset TMUX STY KITTY_WINDOW_ID TERM_PROGRAM
    show() {
        name=$1 want=$2
        shift 2
        cases=$((cases + 1))
        got=$(env "$@" python3 terminal.py "$lazaret" run --runtime lua draw.lua)
        [ "$got" = "$want" ] || wrong "$name" "expected $want, got $got"
    }
    show kitty_shows_it '1 0' TERM=xterm-kitty
    show iterm_shows_it '0 1' TERM=xterm TERM_PROGRAM=iTerm.app
    show others_list_it '0 0' TERM=xterm
    show nothing_passes_tmux '0 0' TERM=xterm-kitty TMUX=x
    mv draw.lua drawn.lua
    cp half.lua draw.lua
    show what_is_not_whole_is_not_shown '0 0' TERM=xterm-kitty LAZARET_AGENT="$mock"
    mv drawn.lua draw.lua
    runs no_picture_in_a_file 0 draw.lua
    has err 'artifact dot.png (image/png, 67 bytes)'
    [ ! -s out ] || wrong "$name" "standard output has something"
else
    may_be_missing python3 "no terminal can be created" || :
fi
finish
