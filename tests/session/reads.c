/* SPDX-License-Identifier: MIT */
/* reads.c - a session with processes, files and locks, at which the host looks; then it is
 * cancelled, replaced and closed.
 *
 *     reads group|watchdog
 *
 * reads.sh runs it under strace. Marks in the trace are writes: "begin", when code is about to run,
 * and "look", in each thread that looks. `watchdog`: control groups are hidden from root. Exit
 * status 77: there is no Lua, or there are no groups. */
#include "engine/engine.h"
#include "session/looks.h"
#include "session/session.h"

#include <lazaret/lazaret.h>

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#define READS_LOOKS 5

static struct laz_session *session;
static atomic_uint looks;
static bool is_done;

static void looked(void *user, struct laz_tree_look *look)
{
    (void)user, (void)look;
    dprintf(1, "look\n");
    atomic_fetch_add(&looks, 1);
}

static void done(void *user, struct laz_result *result, const struct laz_error *err)
{
    (void)user, (void)err;
    laz_result_free(result);
    is_done = true;
}

/* Where a group counts memory, locks are looked for when the kernel's has grown: as if it had. */
static void progress(void *user, const struct laz_execution_usage *usage)
{
    (void)user, (void)usage;
    if (!session->guard.look)
        session->guard.tree.kernel_bytes = 0;
}

static bool hide_groups(void)
{
    return geteuid() != 0 ||
           (unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
            mount("none", "/sys/fs/cgroup", "tmpfs", MS_RDONLY, NULL) == 0);
}

static int fail(const struct laz_error *err)
{
    fprintf(stderr, "%s\n", err->text);
    return err->code == LAZ_ENOENT || err->code == LAZ_ESETUP ? 77 : 1;
}

int main(int argc, char **argv)
{
    static const char code[] = "os.execute('for i in 1 2 3 4 5 6 7 8; do sleep 300 & done')\n"
                               "local f = {}\n"
                               "for i = 1, 50 do f[i] = io.open('f' .. i, 'w') end\n"
                               "while true do end";
    const struct laz_session_options lua = {.size = sizeof lua, .runtime = "lua"};
    const struct laz_execute_options options = {.size = sizeof options,
                                                .timeout_ms = LAZ_NO_LIMIT,
                                                .progress = progress,
                                                .progress_ms = 10};
    struct laz_settings *settings = NULL;
    struct laz_result *result = NULL;
    struct laz_engine *engine = NULL;
    struct laz_error err = {0};

    const bool is_watched = argc == 2 && strcmp(argv[1], "watchdog") == 0;
    if (is_watched && !hide_groups())
        return 1;
    if (laz_settings_new(&settings, &err) ||
        laz_settings_set(settings, "session.start_timeout", "600", &err) ||
        laz_settings_set(settings, "limits.cpu", "unlimited", &err) ||
        laz_engine_new(settings, NULL, &engine, &err) ||
        laz_session_open(engine, &lua, &session, &err))
        return fail(&err);
    if (!session->box->host.memory != is_watched)
        return 77;
    laz_looks_hold(session->shared->looks, looked, NULL);
    dprintf(1, "begin\n");
    if (laz_session_execute_async(session, code, sizeof code - 1, &options, done, NULL, &err))
        return fail(&err);
    while (!is_done) {
        if (atomic_load(&looks) >= READS_LOOKS)
            laz_session_cancel(session);
        (void)laz_engine_step(engine, 50, &err);
    }
    if (laz_session_execute(session, "return 1", SIZE_MAX, NULL, &result, &err))
        return fail(&err);
    laz_result_free(result);
    const bool is_alive = laz_session_is_alive(session);
    laz_session_close(session);
    laz_engine_free(engine);
    laz_settings_free(settings);
    return is_alive ? 0 : 1;
}
