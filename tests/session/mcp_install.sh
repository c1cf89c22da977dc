#!/bin/sh
# SPDX-License-Identifier: MIT
# mcp_install.sh - lazaret mcp --install, through the installed command: what is written where, what
# is said, and that a file is not harmed. What becomes of a text is tests/unit/test_edit.c.
. "${srcdir:-.}/tests/session/lib.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/mcp-install-lazaret.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
data=$(cd "${srcdir:-.}/tests/data/mcp-install" && pwd) || exit 1
stage_open "$PWD/staged"
program=$(readlink -f "$lazaret")
HOME=$work/home
export HOME
unset CODEX_HOME
mkdir "$work/home" "$work/project"
cd "$work/project" || exit 1
: >"$work/out"
: >"$work/err"
: >team.toml

# is NAME FILE TEXT - the file has this content.
is() {
    cases=$((cases + 1))
    contents "$2"
    [ "$contents" = "$3$newline" ] || wrong "$1" "$2 is: $contents"
}

# unharmed NAME FILE ORIGINAL - the file is as it was, and nothing was left beside it.
unharmed() {
    cases=$((cases + 1))
    cmp -s "$2" "$3" || wrong "$1" "$2 is not $3"
    [ "$(find "${2%/*}" -name "${2##*/}*" | wc -l)" -eq 1 ] || wrong "$1" "something is beside $2"
}

install() {
    "$lazaret" mcp --install "$@"
}

# ---- each client, where it reads its configuration -----------------------------------------------

entry() {
    printf '{\n  "%s": {\n    "lazaret": {\n%s      "command": "%s",\n      "args": [%s]\n    }\n  }\n}' \
        "$1" "$2" "$program" "$3"
}
expect claude 0 '*' '' install claude
is claude .mcp.json "$(entry mcpServers '' '"mcp"')"
says claude "$work/project/.mcp.json: written"
expect claude_again 0 "$work/project/.mcp.json: has this entry already, nothing was written" '' install claude
unharmed claude_again ./.mcp.json ./.mcp.json
expect vscode 0 '*' '' install vscode --config team.toml --runtime lua
is vscode .vscode/mcp.json "$(entry servers "      \"type\": \"stdio\",$newline" \
    "\"mcp\", \"--config\", \"$work/project/team.toml\", \"--runtime\", \"lua\"")"
mkdir sub
ln -s ../team.toml sub/linked.toml
expect paths 0 '*' '' install vscode paths.json --config sub/../sub/./linked.toml --read sub/.. --write /tmp/../tmp
says paths "\"--read\", \"$work/project/sub/..\", \"--write\", \"/tmp\", \"--config\", \"$work/project/sub/linked.toml\""
expect cursor 0 '*' '' install cursor --set session.timeout=9
is cursor "$HOME/.cursor/mcp.json" "$(entry mcpServers '' '"mcp", "--set", "session.timeout=9"')"
expect codex 0 '*' '' install codex
is codex "$HOME/.codex/config.toml" "[mcp_servers.lazaret]
command = \"$program\"
args = [\"mcp\"]
tool_timeout_sec = 1800"
expect variable 0 '*' '' env LAZARET_CONFIG=team.toml "$lazaret" mcp --install cursor variable.json
is variable variable.json "$(entry mcpServers '' "\"mcp\", \"--config\", \"$work/project/team.toml\"")"
expect codex_home 0 '*' '' env CODEX_HOME="$work/codex" "$lazaret" mcp --install codex
says codex_home "$work/codex/config.toml: written"
expect desktop 0 '*' '' install claude-desktop
says desktop "$HOME/.config/Claude/claude_desktop_config.json: written"
expect named 0 '*' '' install claude other.json
is named other.json "$(entry mcpServers '' '"mcp"')"

# ---- what is said --------------------------------------------------------------------------------

cp "$data/claude/two-servers.json" two.json
expect dry_run 0 "$work/project/two.json:13:
       \"command\": \"npx\",
       \"args\": [\"-y\", \"@modelcontextprotocol/server-filesystem\", \".\"]
+    },
+    \"lazaret\": {
+      \"command\": \"$program\",
+      \"args\": [\"mcp\"]
     }
   }
$work/project/two.json: would be changed so, nothing was written" '' install claude --dry-run two.json
unharmed dry_run ./two.json "$data/claude/two-servers.json"
expect dry_run_of_none 0 '*' '' install claude --dry-run none/none.json
cases=$((cases + 1))
[ ! -e none ] || wrong dry_run_of_none 'something was made'
expect written 0 '*' '' install claude two.json
says written "$work/project/two.json: written, what was there is in $work/project/two.json.bak"
unharmed written ./two.json.bak "$data/claude/two-servers.json"
expect changed 0 '*' '' install claude two.json --backend landlock
says changed "-      \"args\": [\"mcp\"]"
says changed "+      \"args\": [\"mcp\", \"--backend\", \"landlock\"]"
says changed "what was there is in $work/project/two.json.bak.1"
expect json 0 '*' '' install claude two.json --dry-run --json
says json '"changes":true,"written":false,"backup":null,'
says json "\"command\":\"$program\",\"args\":[\"mcp\"],\"diff\":"
printf '{ // \033[2J\n}' >escape.json
expect escape 0 '*' '' install claude escape.json
says escape '\x1b[2J'

# ---- what is refused -----------------------------------------------------------------------------

expect client 2 '' 'there is no client cursr; did you mean cursor?' install cursr
expect clients 2 '' 'expected claude, claude-desktop, codex, cursor or vscode' install notepad
expect alone 2 '' '--dry-run belongs to --install' "$lazaret" mcp --dry-run
expect listen 2 '' '--listen for one that does not' install cursor --listen 127.0.0.1:0
expect operand 2 '' 'belongs to --install' "$lazaret" mcp two.json
expect settings 2 '' 'session.timeuot: unknown key' install claude --set session.timeuot=3
expect no_config 2 '' 'missing.toml' install claude --config missing.toml
printf '{\n  "mcpServers": {,}\n}\n' >torn.json
cp torn.json torn
expect torn 2 '' "$work/project/torn.json:2:18: nothing was written: expected a key in double quotes" \
    install claude torn.json
unharmed torn ./torn.json torn
expect directory 2 '' "$work/project is a directory" install claude .
expect below_a_file 125 '' 'Not a directory' install claude torn.json/mcp.json
expect no_home 2 '' 'the variable HOME is not set to an absolute path' env -u HOME "$lazaret" mcp --install cursor
mkdir huge
dd if=/dev/zero bs=1024 count=1025 2>/dev/null | tr '\0' ' ' >huge/huge.json
expect huge 125 '' 'has more than 1048576 bytes' install claude huge/huge.json

# ---- the file ------------------------------------------------------------------------------------

mkdir links
cp "$data/claude/crlf.json" links/real.json
chmod 640 links/real.json
ln -s links/real.json link.json
expect link 0 '*' '' install claude link.json
says link "$work/project/links/real.json: written"
cases=$((cases + 1))
[ -h link.json ] && [ "$(stat -c %a links/real.json links/real.json.bak)" = "640${newline}640" ] ||
    wrong link 'the link, or the mode, is another one'

# A disk without room: no file may have more than this many blocks of 512 bytes.
mkdir full
{
    printf '{"a": "'
    dd if=/dev/zero bs=1024 count=16 2>/dev/null | tr '\0' x
    printf '"}'
} >full/full.json
cp full/full.json kept.json
full() {
    ulimit -f 8
    install claude full/full.json
}
expect full 125 '' 'cannot be written' full
unharmed full ./full/full.json kept.json

# What others own, and, as another user: what may not be read, and a directory that may not be written.
if [ "$(id -u)" -eq 0 ]; then
    # what belongs to another user still does
    echo '{}' >theirs.json
    chown 65533:65533 theirs.json
    expect owner 0 '*' '' install claude theirs.json
    [ "$(stat -c %u:%g theirs.json)" = 65533:65533 ] || wrong owner 'the file has another owner'
    chmod 755 "$work" "$work/project" "$work/home"
    as_other() { HOME=/nowhere setpriv --reuid=65533 --regid=65533 --clear-groups "$@"; }
else
    as_other() { "$@"; }
fi
if as_other "$lazaret" --version >/dev/null 2>&1; then
    mkdir -p closed
    cp "$data/claude/two-servers.json" closed/two.json
    cp closed/two.json closed.json
    chmod 444 closed/two.json
    chmod 555 closed
    expect closed 125 '' 'Permission denied' as_other "$lazaret" mcp --install claude closed/two.json
    unharmed closed ./closed/two.json closed.json
    chmod 000 closed/two.json
    expect unreadable 125 '' 'Permission denied' as_other "$lazaret" mcp --install claude closed/two.json
    chmod 644 closed/two.json
    chmod 755 closed
fi

finish
