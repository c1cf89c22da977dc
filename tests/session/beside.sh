#!/bin/sh
# SPDX-License-Identifier: MIT
# beside.sh - two installations of different versions on one machine, by one user: each has its own agent
# and plugins, both run at the same time with templates, pools, sockets and programs in the directories
# that they share, and what one has left is removed by the other, but not what that still uses.
. "${srcdir:-.}/tests/session/lib.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/beside-lazaret.XXXXXXXX") || exit 1
servers=''
trap 'for server in $servers; do kill -9 "$server"; done 2>/dev/null; rm -rf "$work"' EXIT
chmod 755 "$work"
. "$PWD/staged/paths" || exit 1
staged=$PWD/staged
HOME=$work/home
mkdir -m 755 "$HOME"
mkdir -m 700 "$work/run"
XDG_RUNTIME_DIR=$work/run
export HOME XDG_RUNTIME_DIR
be_patient
: >"$work/out"
: >"$work/err"
cd "$work" || exit 1

# The version is a text in the programs: here its first character is another one. What follows may be
# the text of another constant as well, because linkers join texts that end alike.
version=$("$staged$staged_bin/lazaret" version | sed 's/^lazaret //')
other=9${version#?}
cp -a "$staged$staged_prefix" one
cp -a one two
for file in "two${staged_bin#"$staged_prefix"}/lazaret" \
    "two${staged_agent#"$staged_prefix"}/lazaret-agent"; do
    LC_ALL=C sed "s/$(echo "$version" | sed 's/[.]/[.]/g')/$other/g" "$file" >changed
    cat changed >"$file"
done
for n in one two; do
    ln -s "$work/$n${staged_bin#"$staged_prefix"}/lazaret" "$n-lazaret"
done
agent=${staged_agent#"$staged_prefix"}/lazaret-agent plugins=${staged_plugins#"$staged_prefix"}
one=$work/one-lazaret two=$work/two-lazaret

if [ ! -e "one$plugins/lua.so" ]; then
    may_be_missing lua 'not installed'
    finish
elif ! "$one" run --runtime lua -e 1 >out 2>err; then
    cat err
    may_be_missing bwrap 'a session cannot be started'
    finish
fi

expect version_of_one 0 "lazaret $version" '' "$one" version
expect version_of_two 0 "lazaret $other" '' "$two" version
for n in one two; do
    expect "plugins_of_$n" 0 '*' '' "$work/$n-lazaret" plugins --json
    says "plugins_of_$n" "$work/$n$plugins/lua.so"
    cases=$((cases + 1))
    ! grep -q -e "$work/$([ $n = one ] && echo two || echo one)/" out || wrong "plugins_of_$n" 'those of the other'
    expect "agent_of_$n" 0 '*' '' "$work/$n-lazaret" plan --runtime lua
    says "agent_of_$n" "$work/$n$agent"
done

# start N PLACE - a server of installation N with a pool out of a template; one client each, which
# stays. $server is its process.
start() {
    rm -f "to.$1"
    mkfifo "to.$1"
    "$work/$1-lazaret" serve --runtime lua --set pool.warm=template <"to.$1" >"out.$1" 2>"err.$1" &
    server=$!
    servers="$servers $server"
}

# await FILE TEXT - until it is there. The harness ends a test that hangs.
await() {
    cases=$((cases + 1))
    until grep -qF -e "$2" "$1"; do
        if ! kill -0 "$server" 2>/dev/null; then
            cp "$1" out
            cp "err.${1#out.}" err
            wrong await "the server has ended without: $2"
            return
        fi
        sleep 0.05
    done
}

start one
one_server=$server
exec 8>to.one
start two
two_server=$server
exec 9>to.two
for n in 8 9; do
    printf '%s\n' '{"type":"open","id":1}' '{"type":"open_pool","id":2,"members":2}' >&$n
done
server=$one_server
await out.one "\"version\":\"$version\""
await out.one '"opened","id":2'
server=$two_server
await out.two "\"version\":\"$other\""
await out.two '"opened","id":2'
pool_one=$(sed -n 's/.*"opened","id":2,"pool":\([0-9]*\).*/\1/p' out.one)
pool_two=$(sed -n 's/.*"opened","id":2,"pool":\([0-9]*\).*/\1/p' out.two)

# execute N FD ID PLACE CODE VALUE
execute() {
    echo "{\"type\":\"execute\",\"id\":$3,$4,\"code\":\"$5\"}" >&"$2"
    await "out.$1" "\"id\":$3,\"result\":{"
    grep -qF -e "\"id\":$3,\"result\":{\"ok\":true,\"value\":$6" "out.$1" ||
        wrong "execute_$1_$3" "$(grep -F -e "\"id\":$3,\"result\":{" "out.$1")"
}
for round in 1 2 3; do
    server=$one_server
    execute one 8 "1${round}0" '"session":1' 'kept = (kept or 0) + 1 return kept' "$round"
    execute one 8 "1${round}1" "\"pool\":$pool_one" 'return 6 * 7' 42
    server=$two_server
    execute two 9 "1${round}0" '"session":1' 'kept = (kept or 0) + 10 return kept' "${round}0"
    execute two 9 "1${round}1" "\"pool\":$pool_two" 'return 6 * 8' 48
done

# Both at once, beside them.
cases=$((cases + 1))
for n in one two one two; do
    "$work/$n-lazaret" run --runtime lua -e "print('$n')" >>"runs.$n" 2>>err.runs &
    runs="${runs-} $!"
done
for run in $runs; do
    wait "$run" || wrong runs_at_once 'one has failed'
done
[ "$(sort runs.one runs.two | tr '\n' ' ')" = 'one one two two ' ] && [ ! -s err.runs ] ||
    wrong runs_at_once "$(cat runs.one runs.two err.runs)"

# The agent or plugins of the other version: they speak one protocol, and have one ABI.
expect agent_of_the_other 0 there '' env LAZARET_AGENT="$work/two$agent" "$one" run --runtime lua \
    -e 'print("there")'
expect plugins_of_the_other 0 there '' env LAZARET_PLUGIN_PATH="$work/two$plugins" "$one" run \
    --runtime lua -e 'print("there")'

# One host is killed: the other removes what it has left, and keeps what it uses itself.
directory_of() {
    find /proc/"$1"/fd -lname '/tmp/lazaret-????????' -printf '%l\n' 2>/dev/null | head -n 1
}
left=$(directory_of "$one_server") used=$(directory_of "$two_server")
cases=$((cases + 1))
[ -d "${left:-/none}" ] && [ -d "${used:-/none}" ] && [ "$left" != "$used" ] ||
    wrong directories "they are \"$left\" and \"$used\""
kill -9 "$one_server"
wait "$one_server" 2>/dev/null
exec 8>&-
tries=0
while [ -e "${left:-/none}" ]; do # until its boxes have ended
    "$two" run --runtime lua -e 1 >out 2>err || wrong after_a_kill 'a run has failed'
    [ $((tries += 1)) -lt 100 ] || break
done
cases=$((cases + 1))
[ ! -e "${left:-/none}" ] || wrong what_was_left_is_removed "$left is still there"
[ -d "${used:-/none}" ] || wrong what_is_used_is_kept "$used is gone"
server=$two_server
execute two 9 200 '"session":1' 'kept = kept + 10 return kept' 40
execute two 9 201 "\"pool\":$pool_two" 'return 1' 1
expect other_is_as_before 0 here '' "$one" run --runtime lua -e 'print("here")'
exec 9>&-
cases=$((cases + 1)) status=0
wait "$two_server" || status=$?
[ $status -eq 0 ] || wrong server_ends "status $status"
servers=''

finish
