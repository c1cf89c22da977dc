# SPDX-License-Identifier: MIT
# lib.sh - what the tests of packages share: their argument, and fresh systems. Read with `.` by each of them.
#
# Each test is in a fresh system ($root) with an ordinary user, tester. Times are wall clock of a command in it, printed and
# never judged.

[ $# -eq 1 ] || { echo "usage: tests/packages/${0##*/} PACKAGES" >&2; exit 2; }
packages=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
top=$PWD
. "$top/scripts/lib.sh"
. "$top/scripts/debian.sh"

wrong() {
    die "${codename-}: $*"
}

# system CODENAME [PACKAGE...] - a fresh one, with these packages of Debian.
system() {
    codename=$1
    root=$top/build/debian/packages-$codename
    cannot=$(debian_cannot "$codename")
    if [ -n "$cannot" ]; then
        say "skipped: $cannot"
        exit 77
    fi
    rm -rf --one-file-system "$root".*
    shift
    [ $# -eq 0 ] || set -- "$(debian_install "$@")"
    debian_make "$codename" "$root" "$@" || wrong "no system"
    inside useradd --create-home tester
    say "$codename: a fresh system"
}

# gone - removes it, when all was well.
gone() {
    rm -rf --one-file-system "$root" "$root".*
}

inside() {
    debian_inside "$root" "$@"
}

# timed WHAT COMMAND... - runs it, and prints its time.
timed() {
    timed_what=$1
    shift
    timed_began=$(date +%s%N)
    "$@" || return $?
    printf '%s: %s: %s in %d.%02d s\n' "$script" "$codename" "$timed_what" \
        $((($(date +%s%N) - timed_began) / 1000000000)) $((($(date +%s%N) - timed_began) / 10000000 % 100))
}

bubblewrap() {
    inside sh -ec 'apt-get update && apt-get install -y --no-install-recommends bubblewrap' >"$root.log" 2>&1 ||
        wrong "bubblewrap is not installed: $(tail -n 3 "$root.log")"
}

# as USER COMMAND... - in the system's root directory, with the user's environment.
as() {
    as_user=$1
    shift
    inside runuser -u "$as_user" -- env -C / HOME="$(sed -n "s/^$as_user:.*:\([^:]*\):[^:]*$/\1/p" "$root/etc/passwd")" "$@"
}

# proxy FILE - doctor, which has said this, has found lazaret-proxy, and it has started.
proxy() {
    grep -q '^credential: ' "$1" || wrong "doctor says nothing of a credential: $(cat "$1")"
    ! grep -e '^credential: .*lazaret-proxy' "$1" || wrong 'lazaret-proxy is missing, or does not start'
}

# answers USER BACKEND COMMAND... - the answer of run --json is 42, from a box of that backend.
answers() {
    answers_user=$1 answers_backend=$2
    shift 2
    answers_began=$(date +%s%N)
    answers_said=$(as "$answers_user" "$@" 2>"$root.errors") ||
        wrong "as $answers_user by $answers_backend: $*: $answers_said $(cat "$root.errors")"
    answers_ms=$((($(date +%s%N) - answers_began) / 1000000))
    case $answers_said in
        '{"ok":true,'*'"text":"42\n"'*'"backend":"'"$answers_backend"'"'*) ;;
        '{"ok":true,"value":42'*'"backend":"'"$answers_backend"'"'*) ;;
        *) wrong "as $answers_user: not 42 by $answers_backend: $*: $answers_said" ;;
    esac
    say "$codename: as $answers_user by $answers_backend: 42 in $answers_ms ms: ${*##*/}"
}
