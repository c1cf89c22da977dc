#!/bin/sh
# SPDX-License-Identifier: MIT
# seatbelt.sh - checks the profiles of the backend seatbelt with a model of their language.
#
# The plans are those of the command, `lazaret plan --platform darwin`, for each runtime that is
# built and for paths that would end a string or a rule. ask.scm (guile) reads them and asks the
# questions of queries.scm; each change of mutations.scm has to make an answer wrong: in the profile
# of one runtime, chosen by a seed, or of each with LAZARET_TEST_FULL. This tests the text, not
# macOS: the behaviour of the kernel has to be tested there.
set -u
LC_ALL=C.UTF-8
export LC_ALL
unset LAZARET_CONFIG XDG_CONFIG_HOME

# needed NAME - is it a failure when this is missing?
needed() {
    case ,${LAZARET_TEST_NEED-}, in
        *",-$1,"*) return 1 ;;
        *",$1,"* | *,all,*) return 0 ;;
    esac
    return 1
}

guile=
for name in ${GUILE-} guile guile-3.0 guile3.0; do
    "$name" -c '(exit (string<=? "3" (major-version)))' >/dev/null 2>&1 && guile=$name && break
done
if [ -z "$guile" ]; then
    if needed guile; then
        echo "needed but missing: guile (Debian: guile-3.0)"
        exit 1
    fi
    echo "SKIP guile: version 3 is not installed"
    exit 77
fi

lazaret=$PWD/lazaret
built=$PWD/plugins/runtime/python
model=$(cd "${srcdir:-.}/tests/model" && pwd) || exit 1
work=$(mktemp -d "${TMPDIR:-/tmp}/model-test.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
HOME=$work
export HOME
cd "$work" || exit 1
failures=0

wrong() {
    echo "FAILED $*"
    failures=$((failures + 1))
}

# The model answers some ten thousand questions: compiled once, it takes a fraction of the time.
"$guile" --no-auto-compile -L "$model" -c '
    (use-modules (system base compile))
    (define (compiled name)
      (compile-file (string-append (cadr (command-line)) "/" name ".scm")
                    #:output-file (string-append name ".go") #:optimization-level 1))
    (for-each compiled (list "json" "profile"))' "$model" || wrong 'the model cannot be compiled'

# ask WORDS... - runs the model once.
ask() {
    "$guile" --no-auto-compile -L "$model" -C "$work" -s "$model/ask.scm" "$@"
}

# plan NAME RUNTIME OPTIONS... - makes NAME.json.
plan() {
    plan_name=$1 plan_runtime=$2
    shift 2
    "$lazaret" plan --platform darwin --json --runtime "$plan_runtime" "$@" >"$plan_name.json" || {
        wrong "no plan for $plan_name"
        return 1
    }
    grep -q '^{"ok":true,"plan":{"backend":"seatbelt"' "$plan_name.json" || wrong "the plan $plan_name is not seatbelt's"
}

# questions NAME SETS... - asks the questions of these sets of the plan NAME.
questions() {
    questions_name=$1
    shift
    printf '%-8s ' "$questions_name"
    ask plan "$questions_name.json" "$model/queries.scm" "$@" || wrong "questions of $questions_name"
}

mutations() {
    mutations_name=$1
    shift
    printf '%-8s ' "$mutations_name"
    ask mutations "$mutations_name.json" "$model/queries.scm" "$model/mutations.scm" "$@" ||
        wrong "mutations of $mutations_name"
}

read=/Users/Ada/data
write='sandbox.write=["/Users/Ada/out"]'

printf '%-8s ' language
ask language "$model/language.scm" || wrong 'the model itself'

# Most rules of the profiles are the same for all runtimes, and so are the changes.
seed=${LAZARET_TEST_SEED:-$(date +%s)}
echo "    LAZARET_TEST_SEED=$seed"
number=0
for runtime in r python lua; do
    number=$((number + 1))
    case $runtime in
        r) place=/Library/Frameworks/R.framework/Versions/4.4 ;;
        python) place=/opt/homebrew/Cellar/python@3.12 ;;
        lua) place=/opt/homebrew/Cellar/lua ;;
    esac
    if ! "$lazaret" plugins "$runtime" >/dev/null 2>&1; then
        if needed "$runtime"; then
            wrong "needed but missing: $runtime"
        else
            echo "    SKIP $runtime: not built"
        fi
        continue
    fi
    last=$runtime
    plan $runtime $runtime --set "sandbox.read=[\"$read\", \"$place\"]" --set "$write" || continue
    questions $runtime all listed named $runtime
    if [ -n "${LAZARET_TEST_FULL-}" ] || [ $(((number + seed) % 3)) -eq 0 ]; then
        mutations $runtime all listed named $runtime
    fi
done
if [ -z "${last-}" ]; then
    [ "$failures" -eq 0 ] || exit 1
    echo 'SKIP runtimes: none is built'
    exit 77
fi

plan cat "$last" --set "sandbox.read=[\"$read\"]" --set "$write" --set 'sandbox.programs=["cat"]' &&
    questions cat all listed cat
plan any "$last" --set "sandbox.read=[\"$read\"]" --set "$write" --set 'sandbox.programs="any"' &&
    questions any all any

# A Python of python.org, which is a framework: described as a plugin built there would be.
if [ "$("$lazaret" plugins python 2>/dev/null)" ] && [ -f "$built/python.json" ]; then
    mkdir framework
    cp "$built/.libs/python.so" framework/
    places=$model/../../plugins/runtime/python/py_places.h
    for list in READ PROGRAMS; do
        # shellcheck disable=SC2086 # a compiler and its options
        printf '%s\n' '#define PYTHON_PREFIX "/Library/Frameworks/Python.framework/Versions/3.12"' \
            '#define PYTHON_VERSION "3.12"' '#define PYTHON_FRAMEWORK "Python"' \
            '#define PYTHON_SONAME PYTHON_PREFIX "/lib/libpython3.12.dylib"' \
            "#include \"$places\"" "PY_PLACES_$list" | ${CC:-cc} -E -P -x c - |
            tr -d '\n' | sed -e 's/" *"//g' >$list
    done
    sed -e "s|^ *\"read\":.*|\"read\":[$(cat READ)],|" -e "s|^ *\"programs\":.*|\"programs\":[$(cat PROGRAMS)],|" \
        "$built/python.json" >framework/python.json
    (
        LAZARET_PLUGIN_PATH=$work/framework:$LAZARET_PLUGIN_PATH
        export LAZARET_PLUGIN_PATH
        plan framework python --set "sandbox.read=[\"$read\"]" --set "$write" &&
            questions framework framework
        [ "$failures" -eq 0 ]
    ) || failures=$((failures + 1))
fi

# Paths of the settings that would not remain plain paths if they became part of the text.
cat >strange.toml <<'END'
[sandbox]
read = [
    "/Users/Ada/data",
    "/Users/Ada/a\") (allow default) (allow file-read* (subpath \"/b",
    "/Users/Ada/two\nlines",
    "/Users/Ada/back\\slash\\",
    "/Users/Ada/READ_0=",
    "/Users/Ada/; #| (param",
]
write = ["/Users/Ada/out", "/Users/Ada/my (out) [1] {2}", "/Users/Ada/Größe 数据 🙂"]
programs = ["default", "/Users/Ada/bin \"(q)\"/tool"]
END
plan strange "$last" --config strange.toml && questions strange all listed named strange

[ "$failures" -eq 0 ]
