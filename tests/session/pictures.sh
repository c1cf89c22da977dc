#!/bin/sh
# SPDX-License-Identifier: MIT
# pictures.sh - `lazaret run` at a terminal: one that takes PNG files gets them, as base64 and as nothing
# else; at any other they are listed, and nothing is decoded.
. "${srcdir:-.}/tests/session/lib.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/pictures-lazaret.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
stage_open "$PWD/staged"
HOME=$work
export HOME
be_patient
cd "$work" || exit 1
: >out
: >err
if ! command -v python3 >/dev/null; then
    may_be_missing python3 'neither pictures nor a terminal can be created' || :
    finish
    exit
fi
python=$(python3 -c 'import sys; print(sys.executable)') || exit 1
unset TMUX STY KITTY_WINDOW_ID TERM_PROGRAM

cat >make.py <<'END'
import os, struct, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
def png(width, height, rows):
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
files = {
    "red": png(12, 7, (b"\0" + b"\xff\0\0" * 12) * 7),
    "large": png(64, 64, b"".join(b"\0" + os.urandom(64 * 3) for _ in range(64))),
    "bomb": png(60000, 60000, b"\0" * 1000),
    "hostile": png(12, 7, b"")[:33] + b"\x1b\\\x1b]0;pwned\x07",
    "garbage": b"\x1b]0;pwned\x07" * 40,
    "empty": b"",
}
for name, data in files.items():
    open(name + ".png", "wb").write(data)
END
"$python" -I -S make.py || exit 1

# What a terminal gets from a program, and what pictures are in it: by the protocol of kitty, by that of
# iTerm2, each decoded and compared with the file of this name.
cat >terminal.py <<'END'
import base64, os, pty, re, select, sys
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
shown = b""
while select.select([fd], [], [], 120)[0]:
    try:
        piece = os.read(fd, 65536)
    except OSError:
        break
    if not piece:
        break
    shown += piece
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
pieces = re.findall(rb"\x1b_G([a-zA-Z0-9=,]*);([A-Za-z0-9+/=]{1,4096})\x1b\\", shown)
pictures, part = [], b""
for keys, data in pieces:
    part += data
    if b"m=0" in keys.split(b","):
        pictures.append(("kitty", base64.b64decode(part, validate=True)))
        part = b""
iterm = re.findall(rb"\x1b\]1337;File=inline=1:([A-Za-z0-9+/=]*)\x07", shown)
pictures += [("iterm", base64.b64decode(data, validate=True)) for data in iterm]
rest = re.sub(rb"\x1b_G[^\x1b]*\x1b\\|\x1b\]1337;[^\x07]*\x07", b"", shown)
rest = rest.replace(b"\r\x1b[K", b"") # a line of progress goes away
print(rest.decode(errors="backslashreplace").replace("\r", ""))
print("status", status, "pictures", len(pictures), "pieces", len(pieces), "escapes", rest.count(b"\x1b"))
for kind, data in pictures:
    names = [n for n in os.listdir(".") if n.endswith(".png") and open(n, "rb").read() == data]
    print(kind, *names)
END
# The pictures that were made above, as the code's own.
cat >draw.lua <<'END'
for name in (os.getenv('PICTURES') or ''):gmatch('%S+') do
    local to = io.open('artifacts/' .. name, 'wb')
    to:write(io.open(name, 'rb'):read('a'))
    to:close()
end
END

# shows NAME WANT PICTURES [OPTION...]
shows() {
    name=$1 want=$2 pictures=$3 files=''
    shift 3
    cases=$((cases + 1))
    for one in $pictures; do
        files="$files --file $one"
    done
    # shellcheck disable=SC2086
    PICTURES=$pictures "$python" -I -S terminal.py "$lazaret" run --runtime lua --env PICTURES $files \
        "$@" draw.lua >out 2>err </dev/null || wrong "$name" 'the terminal failed'
    grep -qF "$want" out || wrong "$name" "expected $want"
    ! grep -qF pwned out || wrong "$name" 'the picture reached the terminal'
}
has() {
    grep -qF -e "$2" out || wrong "$1" "no: $2"
}

TERM=xterm-kitty
export TERM
shows kitty_gets_it 'status 0 pictures 1 pieces 1 escapes 0' red.png
has kitty_gets_it 'kitty red.png'
has kitty_gets_it 'artifact red.png (image/png'
shows kitty_gets_a_large_one_in_pieces 'pictures 1 pieces 5 escapes 0' large.png
has kitty_gets_a_large_one_in_pieces 'kitty large.png'
shows each_is_shown 'pictures 2' 'red.png large.png'
shows quiet_shows_it 'pictures 1' red.png -q
shows json_shows_none 'pictures 0' red.png --json
shows bytes_of_the_code_are_base64 'pictures 1 pieces 1 escapes 0' hostile.png
shows a_bomb 'pictures 0' bomb.png
has a_bomb 'artifact bomb.png'
shows what_is_not_a_png 'pictures 0 pieces 0 escapes 0' 'garbage.png empty.png'
TMUX=x
export TMUX
shows tmux_passes_nothing_on 'pictures 0' red.png
unset TMUX

TERM=xterm TERM_PROGRAM=iTerm.app
export TERM_PROGRAM
shows iterm_gets_it 'status 0 pictures 1 pieces 0 escapes 0' red.png
has iterm_gets_it 'iterm red.png'
unset TERM_PROGRAM

shows others_list_it 'status 0 pictures 0 pieces 0 escapes 0' 'red.png large.png'
has others_list_it 'artifact red.png (image/png'
shows others_name_the_file 'pictures 0' red.png --artifacts kept
has others_name_the_file 'saved kept/red.png (image/png'
TERM=dumb
shows a_dumb_terminal 'pictures 0 pieces 0 escapes 0' red.png
finish
