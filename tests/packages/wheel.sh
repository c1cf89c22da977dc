#!/bin/sh
# SPDX-License-Identifier: MIT
# wheel.sh - the wheels of scripts/packages, installed by pip from files in fresh systems of Debian that have Python.
#
# usage: tests/packages/wheel.sh PACKAGES
#
# PACKAGES is the directory of the packages. In each release pip takes the wheel with the runtime for that Python; code in
# Python, Lua and bash runs by `python3 -m lazaret`, by the script and by the client, as root below /root and as
# an ordinary user below a home of mode 0700, by landlock, and once bubblewrap is installed by bwrap. A Python that no
# wheel has a runtime for gets the one without, which says so. What others can write is refused, with the remedy.
# Times are printed. Exit status: 0, 1, 77 where no such system can be made.
set -eu

. "$(dirname "$0")/lib.sh"

# installed USER DIRECTORY [WHEELS] - a virtual environment of the user's with the package.
installed() {
    as "$1" python3 -m venv "$2" || wrong "as $1: no virtual environment in $2"
    timed "as $1 by pip" as "$1" "$2/bin/python3" -m pip install --quiet --no-index --disable-pip-version-check \
        --find-links "${3-/opt/wheels}" lazaret-sandbox || wrong "as $1: pip cannot install it in $2"
}

# languages USER BACKEND PYTHON - each language by what is installed for that Python.
languages() {
    answers "$1" "$2" "$3" -m lazaret run --json \
        -e "import sys; assert '%d.%d' % sys.version_info[:2] == '$version', sys.version; print(6 * 7)"
    answers "$1" "$2" "$3" -m lazaret run --json --runtime lua -e 'print(6 * 7)'
    answers "$1" "$2" "$3" -m lazaret run --json --runtime shell -e 'echo $((6 * 7))'
    answers "$1" "$2" "${3%/*}/lazaret" run --json --runtime python -e 'print(6 * 7)'
    answers "$1" "$2" "$3" /opt/session.py
}

# refused USER WORDS COMMAND... - it fails, and its standard error has these words.
refused() {
    refused_user=$1 refused_words=$2
    shift 2
    ! as "$refused_user" "$@" >"$root.log" 2>"$root.errors" || wrong "as $refused_user: it runs: $*"
    grep -qF -- "$refused_words" "$root.errors" || wrong "as $refused_user: not '$refused_words': $(cat "$root.errors")"
}

home=/home super=/root
for codename in bookworm trixie; do
    system "$codename" python3-pip python3-venv
    version=$(inside python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    mkdir "$root/opt/wheels" "$root/opt/others"
    cp "$packages"/lazaret_sandbox-*_"$(uname -m)".whl "$root/opt/wheels/"
    cp "$packages"/lazaret_sandbox-*_"$(uname -m)".whl "$root/opt/others/"
    rm "$root/opt/others"/lazaret_sandbox-*-cp"$(echo "$version" | tr -d .)"-*.whl || wrong "no wheel is for Python $version"
    cat >"$root/opt/session.py" <<'END'
import json, lazaret

def price(item: str) -> float:
    """Price of an item."""
    return {"tea": 10.5}[item]

with lazaret.Session(runtime="python", tools=[price]) as session:
    result = session.execute("price('tea') * 4")
    print(json.dumps({"ok": True, "value": result.value, "backend": result.isolation["backend"]},
                     separators=(",", ":")))
END
    inside chmod 700 /home/tester
    place="$home/tester/a place"
    installed root "$super/venv"
    installed tester "$place"
    for backend in landlock bwrap; do
        [ $backend != bwrap ] || bubblewrap
        languages root $backend "$super/venv/bin/python3"
        languages tester $backend "$place/bin/python3"
    done

    # Without an environment, where the user's own programs are.
    as tester python3 -m pip install --quiet --no-index --find-links /opt/wheels --user --break-system-packages \
        --no-warn-script-location lazaret-sandbox || wrong "as tester: pip --user fails"
    answers tester bwrap python3 -m lazaret run --json -e 'print(6 * 7)'
    answers tester bwrap $home/tester/.local/bin/lazaret run --json -e 'print(6 * 7)'

    # Of the wheels none has a runtime for this Python.
    installed tester $home/tester/other /opt/others
    refused tester "this package has no runtime for Python $version" $home/tester/other/bin/python3 -m lazaret run \
        --runtime python -e 'print(6 * 7)'
    answers tester bwrap $home/tester/other/bin/python3 -m lazaret run --json --runtime lua -e 'print(6 * 7)'

    # A group of one's own may write, one with other members may not.
    inside useradd --create-home --user-group alone
    inside useradd --create-home --gid users shared
    inside usermod -a -G users tester
    for user in alone shared; do
        as $user sh -c "umask 002; python3 -m venv ~/venv && ~/venv/bin/python3 -m pip install --quiet --no-index \
            --disable-pip-version-check --find-links /opt/wheels lazaret-sandbox" || wrong "as $user: pip fails"
    done
    answers alone bwrap $home/alone/venv/bin/lazaret run --json -e 'print(6 * 7)'
    refused shared "chmod g-w $home/shared/venv" $home/shared/venv/bin/lazaret run --json -e 'print(6 * 7)'
    as shared chmod -R g-w $home/shared/venv
    answers shared bwrap $home/shared/venv/bin/lazaret run --json -e 'print(6 * 7)'
    gone
done
