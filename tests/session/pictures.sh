#!/bin/sh
# SPDX-License-Identifier: MIT
# pictures.sh - sixels: lazaret-picture and what no PNG makes it do; and `lazaret run` at a terminal,
# which it asks before it shows a picture, and to which it gives nothing but sixels.
. "${srcdir:-.}/tests/session/lib.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/pictures-lazaret.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
stage_open "$PWD/staged"
picture=$staged$staged_agent/lazaret-picture
HOME=$work
export HOME
be_patient
cd "$work" || exit 1
: >out
: >err
if [ ! -x "$picture" ]; then
    may_be_missing sixels 'built without libpng or without a filter of system calls' || :
    finish
    exit
fi
if ! command -v python3 >/dev/null; then
    may_be_missing python3 'neither pictures nor a terminal can be made' || :
    finish
    exit
fi
python=$(python3 -c 'import sys; print(sys.executable)') || exit 1
unset TMUX STY KITTY_WINDOW_ID TERM_PROGRAM

# ---- the decoder --------------------------------------------------------------------------------

cat >make.py <<'END'
import struct, zlib
def chunk(kind, data, crc=0):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data) ^ crc)
def png(width, height, rows, kind=2, depth=8, crc=0):
    header = struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows), crc)
        + chunk(b"IEND", b""))
red = b"".join(b"\0" + b"\xff\0\0" * 12 for _ in range(7))
files = {
    "red": png(12, 7, red),
    "transparent": png(12, 7, b"".join(b"\0" + b"\0\0" * 12 for _ in range(7)), kind=4),
    "wide": png(1600, 3, (b"\0" + b"\0" * 4800) * 3),
    "bad-crc": png(12, 7, red, crc=1),
    "truncated": png(12, 7, red)[:-20],
    "header-only": png(12, 7, red)[:33],
    "short-rows": png(12, 7, red[:40]),
    "bomb": png(60000, 60000, b"\0" * 1000),
    "too-many-pixels": png(4097, 4096, b"\0" * 4096 * (4097 * 3 + 1)),
    "no-pixels": png(0, 7, b""),
    "strange-depth": png(12, 7, red, depth=3),
    "garbage": bytes(range(256)) * 40,
    "empty": b"",
}
for name, data in files.items():
    open(name + ".png", "wb").write(data)
END
"$python" -I -S make.py || exit 1

# decodes NAME STATUS [TEXT] - what lazaret-picture makes of it.
decodes() {
    name=$1
    cases=$((cases + 1)) status=0
    "$picture" <"$1.png" >out 2>err || status=$?
    [ "$status" -eq "$2" ] || wrong "$name" "status $status"
    [ "$(cat out)" = "${3-}" ] || wrong "$name" 'other sixels'
}
decodes red 0 '"1;1;12;7#180;2;100;0;0#180!12~-#180!12@'
decodes transparent 0 '"1;1;12;7#215;2;100;100;100#215!12~-#215!12@'
decodes wide 0 '"1;1;800;1#0;2;0;0;0#0!800@'
for broken in bad-crc truncated header-only short-rows bomb too-many-pixels no-pixels strange-depth \
    garbage empty; do
    decodes $broken 1
done

# ---- at a terminal ------------------------------------------------------------------------------

# A terminal that answers the question for its attributes with ANSWER ("": not at all). AHEAD is
# typed before the command starts, TYPED when the question comes, before the answer. Prints what the
# terminal got without the pictures; then how often it was asked, how many pictures it got, whether
# it has the modes that it had, and the pictures.
cat >terminal.py <<'END'
import os, pty, re, select, sys, termios
answer, ahead, typed = (a.encode().decode("unicode_escape").encode("latin-1") for a in sys.argv[1:4])
question = b"\x1b[c"
pid, fd = pty.fork()
if pid == 0:
    os.read(0, 1)
    os.execv(sys.argv[4], sys.argv[4:])
before = termios.tcgetattr(fd)
os.write(fd, b"\n" + ahead)
shown, asked, modes = b"", 0, None
while True:
    if not select.select([fd], [], [], 120)[0]:
        os.kill(pid, 9) # something typed is lost
        break
    try:
        piece = os.read(fd, 65536)
    except OSError:
        break
    if not piece:
        break
    shown += piece
    while asked < shown.count(question):
        asked += 1
        os.write(fd, typed + answer)
    if modes is None and b"over\r\n" in shown:
        modes = termios.tcgetattr(fd) == before
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
pictures = re.findall(rb"\x1bPq([^\x1b]*)\x1b\\", shown)
rest = re.sub(rb"\x1bPq[^\x1b]*\x1b\\", b"", shown.replace(question, b""))
print(rest.decode(errors="backslashreplace").replace("\r", "").replace("\x1b", "ESC"))
print("asked", asked, "pictures", len(pictures), "modes", modes, "status", status)
for picture in pictures:
    print("picture", picture.decode("latin-1"))
END
cat >run.sh <<'END'
"$LAZARET" run --runtime lua "$@" </dev/null
echo over
if [ -n "$READS" ]; then
    IFS= read -r line
    echo "next: <$line>"
fi
END
# The pictures that were made above, as the code's own.
cat >draw.lua <<'END'
for name in (os.getenv('PICTURES') or ''):gmatch('%S+') do
    local to = io.open('artifacts/' .. name, 'wb')
    to:write(io.open(name, 'rb'):read('a'))
    to:close()
end
END
READS='' ahead='' typed='' LAZARET=$lazaret TERM=xterm LAZARET_TERMINAL_WAIT=600
export READS LAZARET TERM LAZARET_TERMINAL_WAIT

# shows NAME WANT ANSWER PICTURES [OPTION...]
shows() {
    name=$1 want=$2 answer=$3 pictures=$4 files=''
    shift 4
    cases=$((cases + 1))
    for one in $pictures; do
        files="$files --file $one"
    done
    # shellcheck disable=SC2086
    PICTURES=$pictures "$python" -I -S terminal.py "$answer" "$ahead" "$typed" /bin/sh run.sh \
        --env PICTURES $files "$@" draw.lua >out 2>err || wrong "$name" 'the terminal failed'
    grep -qF "$want" out || wrong "$name" "expected $want"
}
has() {
    grep -qF -e "$2" out || wrong "$1" "no: $2"
}
has_not() {
    ! grep -qF -e "$2" out || wrong "$1" "there is: $2"
}

yes='\x1b[?62;4;22c' no='\x1b[?62;22c'
shows sixels_are_shown 'asked 1 pictures 1 modes True status 0' "$yes" red.png
has sixels_are_shown 'picture "1;1;12;7#180;2;100;0;0#180!12~-#180!12@'
has sixels_are_shown 'artifact red.png (image/png'
shows the_question_is_asked_once 'asked 1 pictures 2 modes True' "$yes" 'red.png wide.png'
shows others_list_it 'asked 1 pictures 0 modes True status 0' "$no" 'red.png wide.png'
has others_list_it 'artifact red.png (image/png'
shows the_class_is_no_attribute 'asked 1 pictures 0' '\x1b[?4;6c' red.png
shows forty_is_not_four 'asked 1 pictures 0' '\x1b[?62;40;14c' red.png
shows four_may_be_the_last 'asked 1 pictures 1' '\x1b[?1;2;4c' red.png
LAZARET_TERMINAL_WAIT=1 # over in any case
shows no_answer_is_a_no 'asked 1 pictures 0 modes True status 0' '' red.png
shows another_answer_is_a_no 'asked 1 pictures 0 modes True' '\x1b[0n' red.png
LAZARET_TERMINAL_WAIT=0
shows without_a_wait_nothing_is_asked 'asked 0 pictures 0 modes True status 0' "$yes" red.png
LAZARET_TERMINAL_WAIT=soon
shows a_wrong_wait_is_named 'LAZARET_TERMINAL_WAIT: expected seconds from 0 to 600' "$yes" red.png
has a_wrong_wait_is_named 'asked 0 pictures 0'
LAZARET_TERMINAL_WAIT=600
shows without_a_picture_nothing_is_asked 'asked 0 pictures 0' "$yes" ''
shows quiet_shows_it 'asked 1 pictures 1' "$yes" red.png -q
for broken in bad-crc truncated short-rows; do
    shows $broken 'asked 1 pictures 0 modes True status 0' "$yes" $broken.png
    has $broken "artifact $broken.png"
done
# The host looks at the header before it asks.
shows a_bomb 'asked 0 pictures 0' "$yes" bomb.png
shows a_broken_one_does_not_hide_others 'asked 1 pictures 1' "$yes" 'bad-crc.png red.png'
shows verbose_names_it 'bad-crc.png cannot be shown' "$yes" bad-crc.png -v
TERM=dumb
shows a_dumb_terminal_is_not_asked 'asked 0 pictures 0' "$yes" red.png
TERM=xterm-kitty
shows kitty_is_not_asked 'asked 0 pictures 0' "$yes" red.png
TMUX=x
export TMUX
shows tmux_is_asked 'asked 1 pictures 1' "$yes" red.png
unset TMUX
TERM=xterm
shows json_asks_nothing 'asked 0 pictures 0' "$yes" red.png --json

# What a person types is read by the next program. It was typed before the command asks, which then
# does not; or behind the answer, or before that, where the kernel lets a process put it back.
READS=yes
ahead='hello\n'
shows typed_ahead_is_kept 'next: <hello>' "$yes" red.png
has typed_ahead_is_kept 'asked 0 pictures 0 modes True'
ahead=''
shows typed_behind_is_kept 'next: <rest>' "${yes}rest\\n" red.png
has typed_behind_is_kept 'asked 1 pictures 1 modes True'
tiocsti=1
[ ! -r /proc/sys/dev/tty/legacy_tiocsti ] || read -r tiocsti </proc/sys/dev/tty/legacy_tiocsti
if [ "$tiocsti" -eq 1 ]; then
    typed='ec\x1b[Ao\x1b[?6'
    shows typed_before_is_kept 'asked 1 pictures 1 modes True' "${yes} x\\n" red.png
    has typed_before_is_kept 'next: <ecESC[AoESC[?6 x>'
else
    echo '    SKIP typed_before_is_kept: this kernel lets no process type'
fi
READS='' typed=''

# ---- a decoder in the hands of a picture --------------------------------------------------------

# Beside this agent is another program in place of lazaret-picture.
mkdir agent
cp "$LAZARET_AGENT" agent/lazaret-agent
chmod 755 agent agent/lazaret-agent
LAZARET_AGENT=$work/agent/lazaret-agent

# hostile NAME WANT COMMAND
hostile() {
    printf '#!/bin/sh\n%s\n' "$3" >agent/lazaret-picture
    chmod 755 agent/lazaret-picture
    shows "$1" "$2" "$yes" 'red.png wide.png'
    has_not "$1" pwned
    has "$1" 'artifact wide.png'
}
hostile an_honest_one_is_shown 'asked 1 pictures 2' "printf '\"1;1;1;1#0@'"
hostile a_command_of_the_terminal 'asked 1 pictures 0' "printf '\"1;1;1;1#0@\\033\\\\\\033]0;pwned\\007'"
hostile text 'asked 1 pictures 0' 'echo pwned'
hostile text_on_standard_error 'asked 1 pictures 0' 'echo pwned >&2'
hostile a_large_raster 'asked 1 pictures 0' "printf '\"1;1;9000;9000#0@'"
hostile a_long_repetition 'asked 1 pictures 0' "printf '\"1;1;8;1#0!2000000000@'"
hostile a_status 'asked 1 pictures 0' "printf '\"1;1;1;1#0@'; exit 1"
hostile a_death 'asked 1 pictures 0' "printf '\"1;1;1;1#0@'; echo >>'$work/deaths'; kill -9 \$\$"
[ "$(wc -l <deaths)" -eq 1 ] || wrong a_death 'another picture was tried'
hostile endless_output 'asked 1 pictures 0' 'exec cat /dev/zero'
hostile nothing 'asked 1 pictures 0' ':'
rm agent/lazaret-picture
shows without_the_program_nothing_is_asked 'asked 0 pictures 0 modes True status 0' "$yes" red.png
cp "$picture" agent/lazaret-picture
chmod 777 agent/lazaret-picture
shows one_that_others_can_change_is_not_run 'asked 0 pictures 0' "$yes" red.png
finish
