#!/bin/sh
# SPDX-License-Identifier: MIT
# embed.sh - builds the programs of docs/examples as their head comments say, against what is
# installed, and runs them (without timeouts, for a busy machine); and so all examples in C, C++ and
# Python of the documents, and those in the comments of the public headers; and header.c, which uses
# all of lazaret.h, in C and in C++.
#
# An example with a main() is a program; one with LAZ_PLUGIN and what belongs to it is a plugin. Any
# other is put into a file of fragments/, in the place of its line EXAMPLE: fragments/NAME.c if
# "<!-- with: NAME -->" stands before it, or for a header NAME; declarations.c otherwise.
. "${srcdir:-.}/tests/session/lib.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/embed-lazaret.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
stage_open "$PWD/staged"
top=$(cd "${srcdir:-.}" && pwd)
examples=$top/docs/examples
for source in embed pool; do
    [ -f "$examples/$source.c" ] || { echo "$examples/$source.c is missing"; exit 1; }
done
HOME=$work
export HOME
be_patient
cd "$work" || exit 1
: >out
: >err

if ! command -v pkg-config >/dev/null 2>&1; then
    may_be_missing pkg-config 'not installed'
elif [ ! -e "$LAZARET_PLUGIN_PATH/python.so" ]; then
    may_be_missing python 'not installed'
elif ! "$lazaret" run --runtime python -e 1 >out 2>err; then
    cat err
    may_be_missing bwrap 'a session cannot be started'
else
    flags=$(PKG_CONFIG_PATH=$staged$staged_pkgconfig pkg-config --cflags --libs \
        --define-variable=libdir="$staged$staged_lib" \
        --define-variable=includedir="$staged$staged_include" lazaret) || exit 1
    # for a busy machine: no timeout ends a start, an execution or a tool
    cat >patient.h <<END
#ifndef PATIENT_H
#define PATIENT_H
#include <lazaret/lazaret.h>
static inline int patient_settings_new(struct laz_settings **settings, struct laz_error *err)
{
    int rc = laz_settings_new(settings, err);
    return rc ? rc : laz_settings_load(*settings, NULL, err);
}
static inline int patient_engine_new(const struct laz_settings *settings,
                                     const struct laz_engine_options *options,
                                     struct laz_engine **engine, struct laz_error *err)
{
    struct laz_settings *made = NULL;

    int rc = settings ? 0 : patient_settings_new(&made, err);
    if (rc == 0)
        rc = laz_engine_new(settings ? settings : made, options, engine, err);
    laz_settings_free(made);
    return rc;
}
#define laz_settings_new patient_settings_new
#define laz_engine_new patient_engine_new
#endif
END
    for source in embed pool; do
        sed 's/\.timeout_ms = 5000/.timeout_ms = 600000/' "$examples/$source.c" >$source.c
    done
    # shellcheck disable=SC2086
    expect embed_builds 0 '' '' $staged_cc -Wall -Wextra -Werror -include patient.h embed.c $flags -o embed
    expect embed_runs 0 'out: Turku -3.5
out: Atlantis failed: no such city
value: 42
verdict: ok' '' env LD_LIBRARY_PATH="$staged$staged_lib" ./embed
    # shellcheck disable=SC2086
    expect pool_builds 0 '' '' $staged_cc -Wall -Wextra -Werror -include patient.h pool.c $flags -o pool
    expect pool_runs 0 'sum: 36' '' env LD_LIBRARY_PATH="$staged$staged_lib" ./pool

    # N.c, N.cpp, N.python: the examples; N.with: the name of the file around it
    for page in README.md CONTRIBUTING.md SECURITY.md NEWS.md docs/*.md core/include/lazaret/*.h; do
        for page in "$top"/$page; do echo "$page"; done
    done | while read -r page; do
        awk -v page="${page#"$top"/}" -v n="$(ls | grep -c '[.]from$')" '
            function begin(kind) {
                out = ++n "." kind
                print page ":" FNR >(n ".from")
                if (with != "") print with >(n ".with")
            }
            function finish() { if (out != "") close(out); out = with = ""; inside = 0 }
            page ~ /[.]h$/ {
                if (/^ [*]     /) {
                    if (!held) text = ""
                    held = 1
                    text = text substr($0, 8) "\n"
                } else if (held && /^ [*]$/) text = text "\n"
                else if (held) {
                    held = 0
                    if (text ~ /(laz|LAZ)_/) {
                        with = page
                        sub(/.*\//, "", with)
                        if (text ~ /int main[(]/) with = ""
                        begin("c")
                        printf "%s", text >out
                        finish()
                    }
                }
                next
            }
            /^<!-- with: / { with = $3 }
            /^```/ && inside { finish(); next }
            /^```(c|cpp|python)$/ { begin(substr($0, 4)); inside = 1; next }
            /^```/ { inside = 1; next }
            out != "" { print >out }' "$page"
    done
    libraries=$staged$staged_lib
    for from in *.from; do
        n=${from%.from} name=$(cat "$from")
        case $(echo "$n".[cp]*) in
            *.python)
                case $staged_cc in
                    *-fsanitize=*) continue ;; # the library works only in a program built so
                esac
                command -v python3 >/dev/null 2>&1 || { may_be_missing python3 'not installed'; continue; }
                expect "$name" 0 '*' '' env LD_LIBRARY_PATH="$libraries" LAZARET="$lazaret" \
                    PYTHONPATH="$top/clients/python/src" PYTHONDONTWRITEBYTECODE=1 python3 "$n.python"
                continue
                ;;
            *.cpp)
                command -v g++ >/dev/null 2>&1 || { may_be_missing g++ 'not installed'; continue; }
                # shellcheck disable=SC2086
                expect "$name builds" 0 '' '' g++ ${staged_cc#"${staged_cc%% -*}"} -std=c++17 \
                    -Wall -Wextra -Werror -include patient.h "$n.cpp" $flags -o "$n"
                ;;
            *)
                if grep -q '^LAZ_PLUGIN(' "$n.c" && [ ! -e "$n.with" ]; then
                    mkdir -p plugins
                    plugin=$(sed -n 's/^LAZ_PLUGIN(\([a-z_]*\)).*/\1/p' "$n.c")
                    # shellcheck disable=SC2086
                    expect "$name builds" 0 '' '' $staged_cc -Wall -Wextra -Werror -shared -fPIC \
                        -fvisibility=hidden "$n.c" $flags -o "plugins/$plugin.so"
                    expect "$name loads" 0 '*' '' env LAZARET_PLUGIN_PATH="$PWD/plugins" \
                        "$lazaret" plugins "$plugin"
                    continue
                fi
                if ! grep -q 'int main(' "$n.c"; then
                    with=declarations
                    [ ! -e "$n.with" ] || with=$(cat "$n.with")
                    [ -e "$top/tests/session/fragments/$with.c" ] || {
                        wrong "$name" "there is no tests/session/fragments/$with.c"
                        continue
                    }
                    awk -v part="$n.c" '$0 != "EXAMPLE" { print; next }
                        { while ((getline line <part) > 0) print line }' \
                        "$top/tests/session/fragments/$with.c" >whole.c && mv whole.c "$n.c"
                fi
                # shellcheck disable=SC2086
                expect "$name builds" 0 '' '' $staged_cc -Wall -Wextra -Werror -include patient.h \
                    "$n.c" $flags -o "$n"
                ;;
        esac
        [ ! -x "$n" ] || expect "$name runs" 0 '*' '' env LD_LIBRARY_PATH="$libraries" "./$n"
    done
    [ "$(ls ./*.from | wc -l)" -ge 7 ] || wrong examples "only these were found: $(cat ./*.from)"

    cp "$examples"/../../tests/session/header.[ch] "$examples"/../../tests/session/header_*.c .
    # shellcheck disable=SC2086
    expect header_builds 0 '' '' $staged_cc -Wall -Wextra -Werror header.c header_*.c $flags \
        -lpthread -o header
    expect header_runs 0 '' '' env LD_LIBRARY_PATH="$staged$staged_lib" ./header
    if command -v g++ >/dev/null 2>&1; then
        # shellcheck disable=SC2086
        expect header_builds_in_c++ 0 '' '' g++ ${staged_cc#"${staged_cc%% -*}"} -x c++ -Wall -Wextra \
            -Werror header.c header_*.c $flags -lpthread -o header++
        expect header_runs_in_c++ 0 '' '' env LD_LIBRARY_PATH="$staged$staged_lib" ./header++
    else
        may_be_missing g++ 'not installed'
    fi

    # where there is no pidfd_open(2), as with valgrind 3.19: one sentence that says so
    cat >old.c <<END
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof rules / sizeof *rules, rules};

    if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
        return 99;
    execv(argv[1], argv + 1);
    return 98;
}
END
    expect old_builds 0 '' '' cc -Wall -Wextra -Werror old.c -o old
    # shellcheck disable=SC2016
    expect without_pidfd_open 1 '*' '' env LD_LIBRARY_PATH="$staged$staged_lib" sh -c './old ./embed 2>&1'
    says without_pidfd_open_says 'embed: pidfd_open(2) is refused here'
fi
finish
