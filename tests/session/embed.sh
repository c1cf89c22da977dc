#!/bin/sh
# SPDX-License-Identifier: MIT
# embed.sh - builds the programs of docs/examples as their head comments say, against what is
# installed, and runs them (without timeouts, for a busy machine); and header.c, which uses all of
# lazaret.h, in C and in C++.
. "${srcdir:-.}/tests/session/lib.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/embed-lazaret.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
stage_open "$PWD/staged"
examples=$(cd "${srcdir:-.}" && pwd)/docs/examples
for source in embed pool; do
    [ -f "$examples/$source.c" ] || { echo "$examples/$source.c is missing"; exit 1; }
done
HOME=$work
export HOME
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
    # for a busy machine: no timeout ends a start or a tool
    cat >patient.h <<END
#include <lazaret/lazaret.h>
static int patient_engine_new(const struct laz_settings *none, const struct laz_engine_options *options,
                              struct laz_engine **engine, struct laz_error *err)
{
    struct laz_settings *settings;

    int rc = none ? LAZ_EINVAL : laz_settings_new(&settings, err);
    if (rc == 0)
        rc = laz_settings_set(settings, "session.start_timeout", "600", err);
    if (rc == 0)
        rc = laz_engine_new(settings, options, engine, err);
    laz_settings_free(settings);
    return rc;
}
#define laz_engine_new patient_engine_new
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

    cp "$examples/../../tests/session/header.c" header.c
    # shellcheck disable=SC2086
    expect header_builds 0 '' '' $staged_cc -Wall -Wextra -Werror header.c $flags -lpthread -o header
    expect header_runs 0 '' '' env LD_LIBRARY_PATH="$staged$staged_lib" ./header
    if command -v g++ >/dev/null 2>&1; then
        # shellcheck disable=SC2086
        expect header_builds_in_c++ 0 '' '' g++ ${staged_cc#"${staged_cc%% -*}"} -x c++ -Wall -Wextra \
            -Werror header.c $flags -lpthread -o header++
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
