#!/bin/sh
# SPDX-License-Identifier: MIT
# own_packages.sh - the commands of docs/packages.md do what it says, and a variable of env.set that
# names packages works, or says what does.
#
# A line "$ ..." of the document is run, and what follows it is its output. Nothing comes from a
# network: what a command would download is made here (`instead`).
. "${srcdir:-.}/tests/session/lib.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/packages-lazaret.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
stage_open "$PWD/staged"
document=$staged$staged_doc/packages.md
HOME=$work/home
PATH=$work/bin:/usr/local/bin:/usr/bin:/bin
export HOME PATH
mkdir "$HOME" "$work/bin" "$work/here"
be_patient
ln -s "$lazaret" "$work/bin/lazaret"
cd "$work/here" || exit 1
: >"$work/out"
: >"$work/err"

# package NAME CODE - the sources of a package of R.
package() {
    mkdir -p "$1/R"
    printf '%s\n' "Package: $1" 'Version: 1.0' 'Title: A' 'Description: A.' 'License: MIT' \
        'Author: A' 'Maintainer: A <a@b>' >"$1/DESCRIPTION"
    echo 'exportPattern("^[a-z]")' >"$1/NAMESPACE"
    echo "$2" >"$1/R/all.R"
}
mkdir modules project
echo 'return {answer = 42}' >modules/mine.lua
package mine 'answer <- function() 42'
mkdir -p lodash node_modules/zod
echo 'exports.chunk = () => [[1, 2], [3]]' >lodash/index.js
echo 'exports.z = {string: () => ({parse: (text) => text})}' >node_modules/zod/index.js
echo 'import {z} from "zod"; z.string()' >script.mjs
package renv "paths <- list(cache = function() '$work/cache')"

# instead COMMAND - what is run for it here.
instead() {
    case $1 in
        'python3 -m venv '*) echo "$1 --without-pip" ;;
        *' install tabulate') echo 'cp /dev/null $(echo env/lib/python*/site-packages)/tabulate.py' ;;
        'R CMD INSTALL '*) # and what renv would have made: a cache with a link to it
            echo "$1 renv mine >'$work/log' 2>&1 && mkdir -p '$work/cache' project/renv &&
                mv library/mine '$work/cache' && cp -R '$work/cache/mine' library &&
                ln -s '$work/cache/mine' project/renv/mine &&
                echo '.libPaths(c(\"renv\", \"../library\"))' >project/.Rprofile"
            ;;
        'npm '*) echo : ;;
        *) echo "$1" ;;
    esac
}

look_for python r lua javascript
commands=0
# run_commands RUNTIME - the commands of the document that are about it.
run_commands() {
    is_installed "$1" || return 0
    awk -v title="## $1" '
        /^## / { inside = index(tolower($0), title) == 1 }
        inside && sub(/^    \$ /, "") { if (n++) print "\001"; print; next }
        inside && sub(/^    /, "") { print "\002" $0 }' "$document" >"$work/$1.commands"
    command='' want=''
    while IFS= read -r line || [ -n "$line" ]; do
        case $line in
            "$(printf '\001')") run_one; command='' want='' ;;
            "$(printf '\002')"*) want=${line#?} ;;
            *) command=$line ;;
        esac
    done <"$work/$1.commands"
    run_one
}
run_one() {
    commands=$((commands + 1))
    expect "$command" 0 "$want" '' sh -c "$(instead "$command")"
}

# The Python of the document is that of the runtime.
if is_installed python; then
    version=$(lazaret run --runtime python -e 'import sys; print("%d.%d" % sys.version_info[:2])')
    ln -s "$(command -v "python$version" || command -v python3)" "$work/bin/python3"
fi
command -v R >/dev/null 2>&1 || installed=$(echo "$installed" | sed 's/ r //')
run_commands python
run_commands r
run_commands lua
run_commands javascript
cases=$((cases + 1))
[ "$installed" != ' python  r  lua  javascript ' ] || [ "$commands" -eq 15 ] ||
    wrong document "$commands commands were found in it"

# ---- variables -----------------------------------------------------------------------------------
# sets RUNTIME NAME=VALUE WARNING OUT CODE OPTIONS... - with the variable, the code prints OUT.
sets() {
    is_installed "$1" || return 0
    sets_runtime=$1 sets_pair=$2 sets_warning=$3 sets_out=$4 sets_code=$5
    shift 5
    expect "$sets_pair" 0 "$sets_out" "$sets_warning" lazaret run --runtime "$sets_runtime" \
        --env "$sets_pair" "$@" -e "$sets_code"
}
here=$PWD
sets python "PYTHONPATH=$here/modules" 'runtime.python.path names directories of modules' 1 1
sets python "PYTHONHASHSEED=1" 'PYTHONHASHSEED is not read by the runtime python' 1 1
sets lua "PYTHONPATH=$here/modules" '' 1 1
sets lua "LUA_PATH=$here/modules/?.lua;;" '' 42 'return require("mine").answer' --read "$here/modules"
sets lua "LUA_PATH=$here/modules/?.lua;;" "$here/modules is not shown to the code: name it in sandbox.read, or use runtime.lua.path" 1 1
sets lua 'LUA_CPATH=/usr/lib/?.so;?.so;;' '' 1 1
sets lua 'LUA_INIT=x' 'LUA_INIT is not read by the runtime lua' 1 1
sets r "R_LIBS=$here/library" '' '[1] 42' 'mine::answer()' --read "$here/library"
sets r "R_LIBS=/usr/lib:$here/library" "$here/library is not shown to the code" '[1] 1' 1
if is_installed r; then
    expect R_LIBS_USER 2 '' 'the runtime needs it as it is; runtime.r.libs names libraries' \
        lazaret config --check --runtime r --env "R_LIBS_USER=$here/library"
fi
expect warned_by_check 0 '' 'LUA_INIT is not read' lazaret config --check --runtime lua --env LUA_INIT=x
expect warned_by_plan 0 '*' 'LUA_INIT is not read' lazaret plan --runtime lua --backend bwrap \
    --env LUA_INIT=x
finish
