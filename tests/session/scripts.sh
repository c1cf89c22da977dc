#!/bin/sh
# SPDX-License-Identifier: MIT
# scripts.sh - `lazaret run FILE` shows what the interpreter shows: standard output, the exit status
# and the files that the script leaves in its working directory.
#
# Each script of scripts/LANGUAGE is run by both, with the same arguments and standard input, in a
# directory of its own. Scripts in Lua have their expected output beside them, because Lua may be
# installed as a library alone; where its program exists, it has to agree. What cannot work in a
# sandbox follows: it ends with a sentence that says what does. Of the scripts in Python and R, which
# start slowly, every sixth is run, the first chosen by a seed, and of the levels of R's compiler
# that a variable sets one; all are with LAZARET_TEST_FULL=yes.
. "${0%/*}/lib.sh"

scripts=$(cd "${0%/*}/scripts" && pwd) || exit 1
lazaret=$PWD/lazaret
work=$(mktemp -d "${TMPDIR:-/tmp}/scripts-test.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
HOME=$work/home
export HOME
mkdir -p "$HOME"
cp -R "$scripts" "$work/scripts"
scripts=$work/scripts
chmod -R u+w,a+rX "$scripts"
be_patient
unset TZ LANG DISPLAY
printf 'first line\nsecond\n42 is it\nlast line\nno newline at the end' >"$work/input"
input=$work/input

seed=${LAZARET_TEST_SEED:-$(date +%s)}
echo "    LAZARET_TEST_SEED=$seed"

# chosen ONE_OF - is the next file one of the sample? $place counts them.
chosen() {
    place=$((place + 1))
    [ -n "${LAZARET_TEST_FULL-}" ] || [ $(((place + seed) % $1)) -eq 0 ]
}

look_for python r lua shell

# left SIDE COMMAND... - runs it in an empty directory; leaves its output, status and files in
# $work/SIDE.
left() {
    side=$work/$1 status=0
    shift
    rm -rf "$side"
    mkdir -p "$side/files"
    chmod 777 "$side/files"
    (cd "$side/files" && "$@" alpha --number 5 'b c' <"$input" >../out 2>"$work/err") ||
        status=$?
    { cat "$side/out" && echo "status $status"; } >"$side/out.new"
    mv "$side/out.new" "$side/out"
}

# in_box OPTIONS... FILE - the same for lazaret.
in_box() {
    # what sandbox.protect keeps would be in a listing of the directory
    left box "$lazaret" run --set 'sandbox.protect=[]' --write "$work/box/files" --cwd "$work/box/files" "$@"
}

# same NAME WHAT - is in $work/box what is in $work/WHAT?
same() {
    cases=$((cases + 1))
    diff -r "$work/$2" "$work/box" >"$work/out" 2>&1 ||
        wrong "$1" "is not shown as by the interpreter (<)"
}

# refuses NAME TEXT OPTIONS... - the code ends with the status of an error, and the text (a regular
# expression) is in its message.
refuses() {
    name=$1 text=$2 status=0
    shift 2
    cases=$((cases + 1))
    "$lazaret" run "$@" >"$work/out" 2>"$work/err" || status=$?
    [ "$status" = 1 ] || wrong "$name" "status $status"
    grep -q "error: .*$text" "$work/err" || wrong "$name" "not on standard error: $text"
}

scripts_in_python() {
    is_installed python || return 0
    python=$("$lazaret" run -e 'import sys; print(sys.executable)')
    place=0
    for file in "$scripts"/python/*.py; do
        chosen 6 || continue
        case $file in
            */numpy_*)
                "$python" -I -c 'import numpy' 2>/dev/null || {
                    may_be_missing numpy "python3-numpy"
                    continue
                }
                ;;
        esac
        left plain "$python" -I "$file"
        in_box "$file"
        same "${file##*/}" plain
    done
}

# What the interpreter searches, in the same order, less what is in no .pth file as a path: code adds
# that. And what subprocesses of it search.
paths_of_python() {
    is_installed python || return 0
    python=$("$lazaret" run -e 'import sys; print(sys.executable)')
    cat >"$work/declared.py" <<'END'
import os, site, sys
listed = [directory for directory in site.getsitepackages() if os.path.isdir(directory)]
for directory in list(listed):
    for name in sorted(os.listdir(directory)):
        if name.endswith('.pth'):
            with open(os.path.join(directory, name)) as file:
                listed += [os.path.abspath(os.path.join(directory, line.rstrip())) for line in file
                           if line.strip() and not line.startswith(('#', 'import ', 'import\t'))]
own = sys.argv[1].splitlines() # without site
print(*(path for path in sys.path if path in own + listed), sep='\n')
END
    cat >"$work/paths.py" <<'END'
import subprocess, sys
here = sys.path[1:] if sys.path[0] == sys.argv[1] else sys.path
print(*here, sep='\n')
sys.stdout.flush()
subprocess.run([sys.executable, *subprocess._args_from_interpreter_flags(), '-c',
                'import sys; print(*sys.path, sep="\\n")'])
END
    cases=$((cases + 1)) show='import sys; print(*sys.path, sep="\n")'
    {
        "$python" -I "$work/declared.py" "$("$python" -I -S -c "$show")"
        "$python" -I -c "$show"
    } >"$work/want"
    "$lazaret" run "$work/paths.py" "$work" >"$work/ours" 2>"$work/err" ||
        wrong paths_of_python "does not run"
    diff "$work/want" "$work/ours" >"$work/out" || wrong paths_of_python "other paths than (<)"
}

scripts_in_r() {
    is_installed r || return 0
    place=0
    for file in "$scripts"/r/*.R; do
        chosen 6 || continue
        left plain Rscript "$file"
        in_box "$file"
        same "${file##*/}" plain
    done
}

# The compiler of R is paused while a session starts: after that it is what R_ENABLE_JIT says.
compiler_of_r() {
    is_installed r || return 0
    cat >"$work/compiler.R" <<'END'
f <- function(x) for (i in 1:3) x <- x + i
for (i in 1:3) f(i)
c(compiler::enableJIT(-1L), typeof(.Internal(bodyCode(f))), Sys.getenv("R_ENABLE_JIT", "not set"))
c("compiler" %in% loadedNamespaces(), system("echo $R_ENABLE_JIT", intern = TRUE))
END
    place=0
    for level in '' 0 1 2 -1; do
        [ -z "$level" ] || chosen 4 || continue
        left plain env ${level:+R_ENABLE_JIT=$level} Rscript "$work/compiler.R"
        in_box ${level:+--set "env.set.R_ENABLE_JIT=\"$level\""} "$work/compiler.R"
        same "compiler_of_r ${level:-as it is}" plain
    done
}

scripts_in_lua() {
    is_installed lua || return 0
    lua=$(command -v lua5.4) || may_be_missing lua-program "no lua5.4 to compare with"
    for file in "$scripts"/lua/*.lua; do
        in_box "$file"
        mkdir -p "$work/kept"
        cp "${file%.lua}.out" "$work/kept/out"
        rm -rf "$work/kept/files"
        cp -R "$work/box/files" "$work/kept/files"
        same "${file##*/}" kept
        [ -z "$lua" ] || {
            left plain "$lua" "$file"
            same "${file##*/} by $lua" plain
        }
    done
}

# Programs that are not there are not in the box either.
scripts_in_shell() {
    is_installed shell || return 0
    for file in "$scripts"/shell/*.sh; do
        program=${file##*/} program=${program%.sh}
        case $program in
            git | make)
                command -v "$program" >/dev/null || {
                    may_be_missing "$program" "no such program"
                    continue
                }
                ;;
        esac
        left plain bash "$file"
        in_box "$file"
        same "${file##*/}" plain
    done
}

# What cannot work says what does.
python_refuses() {
    is_installed python || return 0
    import='from multiprocessing import Manager, Lock, get_context, shared_memory'
    working='Pool and Process with the start method fork work'
    refuses a_manager_needs_a_socket "Manager needs a socket.*$working" -e "$import" -e 'Manager()'
    refuses forkserver_needs_a_socket "forkserver needs a socket.*$working" \
        -e "$import" -e 'get_context("forkserver").Process(target=print).start()'
    refuses spawn_needs_a_file "spawn needs the functions of __main__ in a file.*$working" \
        -e "$import" -e 'def f(x): return x' -e 'get_context("spawn").Pool(1).map(f, [1])'
    refuses the_tracker_needs_a_program "needs the program python3.*$working" \
        --set 'sandbox.programs=[]' -e "$import" \
        -e 'shared_memory.SharedMemory(create=True, size=1)'
    if "$lazaret" run --backend landlock -e 1 >"$work/out" 2>&1; then
        refuses a_lock_needs_shared_memory 'needs a semaphore in /dev/shm.*threads' \
            --backend landlock -e "$import" -e 'Lock()'
    else
        may_be_missing landlock "$(tail -n 1 "$work/out")" || :
    fi
}

r_refuses() {
    is_installed r || return 0
    working='mclapply(), pvec() and mcparallel()'
    cat >"$work/clusters.R" <<'END'
said <- tryCatch(parallel::makeForkCluster(2), error = conditionMessage)
cat("of forks:", said, "\n")
parallel::makeCluster(2)
END
    refuses a_cluster_needs_sockets "a cluster needs sockets.*$working" \
        --runtime r "$work/clusters.R"
    cases=$((cases + 1))
    grep -q "^of forks: a cluster needs sockets.*$working" "$work/out" ||
        wrong a_cluster_of_forks_does_too "it is not refused"
}

side_by_side scripts_in_python paths_of_python scripts_in_r compiler_of_r scripts_in_lua scripts_in_shell \
    python_refuses r_refuses
finish
