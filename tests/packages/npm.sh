#!/bin/sh
# SPDX-License-Identifier: MIT
# npm.sh - the packages for npm, from a registry on loopback that has no others, in fresh systems with Node alone.
#
# usage: tests/packages/npm.sh PACKAGES
#
# PACKAGES is the directory of the packages. In each release of Debian @lazaret/cli is installed, as root for all
# and by an ordinary user for itself, for a project and with npx, without scripts; code runs by landlock, and once
# bubblewrap is installed by bwrap; the client opens a session, where Node is new enough for it. A program that is missing is said, with
# what to do, and so is a system without one. The command passes signals and statuses on. Times are printed. Exit
# status: 0, 1, 77 where no such system can be made.
set -eu

. "$(dirname "$0")/lib.sh"

command -v node >/dev/null || die "node is missing (Debian: apt-get install nodejs)"
mkdir -p "$top/build/debian"
fifo=$top/build/debian/registry.$$
mkfifo "$fifo"
node "$top/tests/packages/registry.js" "$packages" <"$fifo" >"$fifo.address" &
exec 9>"$fifo"
trap 'exec 9>&-; rm -f "$fifo" "$fifo.address"' EXIT
while [ ! -s "$fifo.address" ]; do
    kill -0 $! 2>/dev/null || die "the registry does not start"
    sleep 0.1
done
npm_options="--registry $(cat "$fifo.address") --no-audit --no-fund --no-update-notifier --ignore-scripts"

# npm_as USER DIRECTORY COMMAND... - npm, with the registry, in a directory of that user.
npm_as() {
    npm_user=$1 npm_directory=$2
    shift 2
    # shellcheck disable=SC2086
    as "$npm_user" env -C "$npm_directory" "$@" $npm_options >"$root.log" 2>&1 ||
        wrong "$*: $(tail -n 20 "$root.log")"
}

# fails STATUS TEXT USER COMMAND... - it ends with that status and says so.
fails() {
    fails_status=$1 fails_text=$2 fails_got=0
    shift 2
    as "$@" >"$root.log" 2>&1 || fails_got=$?
    [ $fails_got -eq "$fails_status" ] || wrong "$*: status $fails_got, not $fails_status: $(cat "$root.log")"
    [ -z "$fails_text" ] || grep -qF -- "$fails_text" "$root.log" || wrong "$*: it does not say '$fails_text': $(cat "$root.log")"
}

for codename in bookworm trixie; do
    system "$codename" nodejs npm procps
    home=/home/tester
    command=$home/project/node_modules/.bin/lazaret
    inside runuser -u tester -- mkdir "$home/project" "$home/other"
    timed "installed for all" npm_as root / npm install -g @lazaret/cli
    npm_as tester / npm install -g --prefix "$home/own" @lazaret/cli
    timed "installed in a project" npm_as tester "$home/project" npm install @lazaret/client
    for backend in landlock bwrap; do
        [ $backend != bwrap ] || bubblewrap
        for language in lua shell; do
            code='print(6 * 7)'
            # shellcheck disable=SC2016
            [ $language != shell ] || code='echo $((6 * 7))'
            answers root $backend lazaret run --json --runtime $language -e "$code"
            answers tester $backend lazaret run --json --runtime $language -e "$code"
            answers tester $backend "$command" run --json --runtime $language -e "$code"
        done
        answers tester $backend "$command" run --json -- sh -c 'echo 42'
        answers tester $backend "$command" run --json -e 'print(6 * 7)'
        answers tester $backend "$home/own/bin/lazaret" run --json -e 'print(6 * 7)'
    done
    # shellcheck disable=SC2086
    timed "npx, which installs" answers tester bwrap env -C "$home/other" \
        npx --yes $npm_options @lazaret/cli run --json --runtime lua -e 'print(6 * 7)'

    # It ends as the program does: by a status, by a signal that it alone was sent.
    fails 7 '' tester "$command" run --runtime lua -e 'os.exit(7)'
    # shellcheck disable=SC2016
    fails 143 ready tester sh -c '"$0" run --runtime lua -e '\''print("ready") while true do end'\'' >/tmp/said & pid=$!
        until grep ready /tmp/said || ! kill -0 $pid; do sleep 0.1; done
        kill -TERM $pid; wait $pid' "$command"
    ! inside sh -c 'ps -A -o args= | grep -q "[b]in/lazaret run"' || wrong "the program is left when its command is ended"

    # What is missing is said.
    npm_as tester "$home/other" npm install --omit=optional @lazaret/cli
    fails 127 'the package @lazaret/cli-linux-x64 is not installed' tester "$home/other/node_modules/.bin/lazaret" --version
    fails 1 'no package with the program for darwin-x64' tester env -C "$home/other" node -e \
        "Object.defineProperty(process, 'platform', { value: 'darwin' }); require('@lazaret/cli').program()"

    if inside node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 20 ? 1 : 0)'; then
        cat >"$root$home/project/try.mjs" <<'END'
import { Session } from '@lazaret/client';
const double = { name: 'double', description: 'Twice a number.', parameters: [{ name: 'x', type: 'number' }],
  execute: ({ x }) => 2 * x };
const session = await Session.open({ runtime: 'lua', tools: [double] });
console.log((await session.execute('return double(21)')).value);
await session.close();
END
        [ "$(as tester env -C "$home/project" node try.mjs 2>"$root.errors")" = 42 ] ||
            wrong "the client: $(cat "$root.errors")"
        say "$codename: the client has a session"
    fi
    inside npm uninstall -g @lazaret/cli >"$root.log" 2>&1 || wrong "not removed: $(cat "$root.log")"
    ! inside sh -c 'command -v lazaret' || wrong "the command is left"
    gone
done
