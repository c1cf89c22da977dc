#!/bin/sh
# SPDX-License-Identifier: MIT
# clients.sh - the packages of clients/ are installed as README.md and their own pages say, from a
# copy of this tree and without a network, and the lines of README.md do there what they say.
#
# One of the three is installed, chosen by a seed, where what it needs is there; all are, and what is
# missing is a failure, with LAZARET_TEST_CLIENTS=all (scripts/check --only clients).
. "${srcdir:-.}/tests/session/lib.sh"

top=$(cd "${srcdir:-.}" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/clients-lazaret.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
stage_open "$PWD/staged"
HOME=$work LAZARET=$work/bin/lazaret
export HOME LAZARET
be_patient
mkdir "$work/bin" "$work/clients" "$work/library"
ln -s "$lazaret" "$LAZARET"
cp -R "$top/clients/python" "$top/clients/r" "$top/clients/typescript" "$work/clients"
chmod -R u+w "$work/clients"
cd "$work" || exit 1
: >out
: >err

# lacks NAME WHY - reports what is missing; fails where it must not be.
lacks() {
    echo "    SKIP $1: $2"
    [ "${LAZARET_TEST_CLIENTS-}" != all ] || wrong "$1" "needed but missing: $2"
}

seed=${LAZARET_TEST_SEED:-$(date +%s)}
echo "    LAZARET_TEST_SEED=$seed"
# chosen N - is client N, of 0 to 2, to be installed?
chosen() {
    [ "${LAZARET_TEST_CLIENTS-}" = all ] || [ $((seed % 3)) -eq "$1" ]
}

# The command of README.md that installs a client, and where the page of the client has it, too.
command_of() {
    command=$(sed -n "s,^    \\(.*clients/$1\\)\$,\\1,p" "$top/README.md")
    cases=$((cases + 1))
    [ -n "$command" ] && grep -qxF "    $command" "$top/clients/$1/README.md" ||
        wrong "$1" "README.md and clients/$1/README.md do not have the same command: $command"
}
# program FENCE FILE - the block of README.md between ```FENCE and ```.
program() {
    awk -v fence="\`\`\`$1" '$0 == "```" { inside = 0 } inside { print } $0 == fence { inside = 1 }' \
        "$top/README.md" >"$2"
    cases=$((cases + 1))
    [ "$(wc -l <"$2")" -eq 3 ] || wrong "$1" 'README.md has not three lines for it'
}
# does NAME COMMAND... - it succeeds.
does() {
    name=$1 cases=$((cases + 1))
    shift
    "$@" >out 2>err </dev/null || wrong "$name" "status $?"
}
# prints NAME TEXT COMMAND... - it prints this alone.
prints() {
    prints_name=$1 prints_text=$2
    shift 2
    does "$prints_name" "$@"
    [ "$(cat out)" = "$prints_text" ] || wrong "$prints_name" "it does not print: $prints_text"
}

command_of python
program python three.py
python=
for candidate in python3 /usr/bin/python3; do
    [ -n "$python" ] || ! "$candidate" -c 'import setuptools, wheel, pip' 2>/dev/null || python=$candidate
done
if ! "$lazaret" check --runtime python -e 1 >out 2>&1; then
    lacks python 'the runtime'
elif ! chosen 0; then
    prints python 45 env PYTHONPATH="$work/clients/python/src" python3 three.py
elif [ -n "$python" ]; then
    printf '#!/bin/sh\nexec %s -m pip "$@"\n' "$(command -v "$python")" >bin/pip
    chmod 755 bin/pip
    # "off" is how pip is told by a variable not to isolate the build, which would download setuptools
    does python env PATH="$work/bin:$PATH" PIP_NO_INDEX=1 PIP_NO_BUILD_ISOLATION=off \
        PIP_BREAK_SYSTEM_PACKAGES=1 PIP_TARGET="$work/library" PIP_DISABLE_PIP_VERSION_CHECK=1 \
        sh -c "$command"
    [ -f library/lazaret/__init__.py ] || wrong python 'nothing was installed'
    prints python 45 env PYTHONPATH="$work/library" "$python" three.py
else
    lacks python 'pip, setuptools and wheel; it is used where it is'
    prints python 45 env PYTHONPATH="$work/clients/python/src" python3 three.py
fi

command_of r
program r three.R
if ! chosen 1; then
    :
elif Rscript -e 'stopifnot(requireNamespace("jsonlite"), requireNamespace("processx"))' >out 2>&1 &&
    "$lazaret" check --runtime r -e 1 >out 2>&1; then
    mkdir rlib
    does r env R_LIBS="$work/rlib" sh -c "$command"
    [ -f rlib/lazaret/DESCRIPTION ] || wrong r 'nothing was installed'
    prints r '[1] 3' env R_LIBS="$work/rlib" Rscript three.R
else
    lacks r 'R, jsonlite or processx'
fi

command_of typescript
program js three.mjs
if ! chosen 2; then
    :
elif node -e 'process.exit(parseInt(process.versions.node) >= 20 ? 0 : 1)' 2>/dev/null &&
    command -v npm >/dev/null 2>&1 && "$lazaret" check --runtime python -e 1 >out 2>&1; then
    echo '{"private": true}' >package.json
    does typescript env npm_config_offline=true npm_config_audit=false npm_config_fund=false \
        npm_config_update_notifier=false sh -c "$command"
    [ -e node_modules/@lazaret/client/package.json ] || wrong typescript 'nothing was installed'
    prints typescript 45 node three.mjs
else
    lacks typescript 'node 20 or npm'
fi
finish
