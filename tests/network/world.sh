# SPDX-License-Identifier: MIT
# world.sh - for scripts that start lazaret in the small internet of world.py: the installation, the
# environment, and whether this user can have such a world at all. Read with `.`, after lib.sh.

top=$(cd "${srcdir:-.}" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/network-lazaret.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
stage_open "$PWD/staged"
# What is found in a box is found outside of one: the interpreters are the same.
PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin
PYTHONDONTWRITEBYTECODE=1
HOME=$work
export PATH PYTHONDONTWRITEBYTECODE HOME
cd "$work" || exit 1
: >out
: >err

# world SERVERS PART ARGUMENTS... - runs one of the programs; to the standard output of the test goes
# what failed, and what was skipped.
world() {
    servers=$1 part=$2
    shift 2
    cases=$((cases + 1)) status=0
    python3 "$top/tests/network/world.py" --with "$servers" python3 "$top/tests/network/$part.py" "$lazaret" "$@" \
        >out 2>err || status=$?
    [ "$status" -eq 0 ] || wrong "$part" "status $status"
    tail -n 1 out
    for program in $(sed -n 's/^skipped: \(.*\) is not installed.*/\1/p' out | sort -u); do
        may_be_missing "$program" "a test of the network list runs it"
    done
}

look_for python
is_installed python || exit $((failures ? 1 : 77))
if ! unshare -rnm true 2>/dev/null; then
    may_be_missing namespaces "this user may make none"
    exit $((failures ? 1 : 77))
fi
