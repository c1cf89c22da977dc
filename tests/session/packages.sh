#!/bin/sh
# SPDX-License-Identifier: MIT
# packages.sh - what loads without a sandbox loads in one: the packages of packages.txt that are
# installed. Every third of a language, the first chosen by a seed, and matplotlib are loaded in one
# process, which takes more memory than the settings allow; with LAZARET_TEST_FULL all of them, each
# in a process of its own, with the settings as they are.
. "${0%/*}/lib.sh"

stage_open "$PWD/staged"
list=$(cd "${0%/*}" && pwd)/packages.txt
work=$(mktemp -d "${TMPDIR:-/tmp}/packages-test.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
HOME=$work
export HOME
be_patient
seed=${LAZARET_TEST_SEED:-$(date +%s)}
echo "    LAZARET_TEST_SEED=$seed"
set_all='--set limits.memory="4GiB"'
[ -z "${LAZARET_TEST_FULL-}" ] || set_all=

# code LANGUAGE - a program that loads the packages given, and says which did not load and why.
code() {
    case $1 in
        python)
            cat <<'END'
import importlib, sys, warnings
warnings.simplefilter("ignore")
for name in sys.stdin.read().split():
    try:
        importlib.import_module(name)
        print("loaded", name)
    except ModuleNotFoundError as error:
        print("missing" if error.name == name.split(".")[0] else "failed: %s" % error, name)
    except BaseException as error:
        print("failed: %s: %s" % (type(error).__name__, error), name)
END
            ;;
        r)
            cat <<'END'
for (name in readLines(file("stdin"))) {
    result <- if (!nzchar(system.file(package = name))) "missing"
        else tryCatch({ suppressMessages(suppressWarnings(loadNamespace(name))); "loaded" },
                      error = function(e) paste0("failed: ", conditionMessage(e)))
    cat(result, name, "\n")
}
END
            ;;
    esac
}

# bare LANGUAGE - its interpreter, the one that lazaret has.
bare() {
    case $1 in
        python) "$lazaret" run --runtime python -e 'import sys; print(sys.executable)' ;;
        r) command -v Rscript ;;
    esac
}

# loads NAME LANGUAGE - standard input: the names.
loads() {
    cases=$((cases + 1))
    tee -a "$work/tried" >"$work/names"
    "$interpreter" "$work/code.$2" <"$work/names" >"$work/want" 2>"$work/err.bare" &
    # shellcheck disable=SC2086
    "$lazaret" run $set_all --runtime "$2" "$work/code.$2" <"$work/names" >"$work/out" 2>"$work/err"
    wait
    diff "$work/want" "$work/out" >"$work/diff" || {
        cp "$work/diff" "$work/out"
        wrong "$1" "what loads in a box and what without one (>, <)"
    }
    loaded=$((loaded + $(grep -c '^loaded' "$work/want")))
}

language() {
    language=$1 loaded=0
    code "$language" >"$work/code.$language"
    interpreter=$(bare "$language") && [ -x "$interpreter" ] || {
        may_be_missing "$language" "no such interpreter"
        return
    }
    awk -v language="$language" '$1 == language { print $2 }' "$list" >"$work/all"
    if [ -n "${LAZARET_TEST_FULL-}" ]; then
        for name in $(cat "$work/all"); do
            echo "$name" >"$work/one"
            loads "$name" "$language" <"$work/one"
        done
    else
        # matplotlib is one of those that read a file of /etc
        awk -v seed="$seed" '(NR + seed) % 3 == 0 || /^matplotlib/' "$work/all" >"$work/some"
        loads "some_of_$language" "$language" <"$work/some"
    fi
    [ "$language" = r ] || [ -n "${LAZARET_TEST_FULL-}" ] || grep -q '^loaded matplotlib' "$work/out" ||
        may_be_missing matplotlib "is not installed"
    echo "$language: $loaded of $(wc -l <"$work/tried") are installed and load without a sandbox"
}

packages_of_python() {
    language python
}

packages_of_r() {
    language r
}

[ -s "$list" ] || wrong the_list "there is none"
side_by_side packages_of_python packages_of_r
finish
