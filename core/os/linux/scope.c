/* SPDX-License-Identifier: MIT */
/* scope.c - asks the user's systemd for a part of the tree of control groups.  System: Linux.
 * Side: host.  Input trusted: yes (the user's own manager; its words are shown only). */
#include "os/scope.h"

#include "os/current_process.h"
#include "os/descriptors.h"
#include "os/fd_passing.h"
#include "os/io.h"
#include "os/linux/cgroup.h"
#include "os/programs.h"
#include "os/trust.h"
#include "os/users.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCOPE_WORDS  300
#define SCOPE_END_MS 1000
#define SCOPE_GROUP  "launcher" /* the launcher's own, in the scope */

struct laz_scope {
    struct laz_process process; /* systemd-run, then the launcher */
    int fd;                     /* connected to the launcher */
    int words;                  /* what systemd-run has to say */
};

static bool scope_is_there(const char *directory, const char *name)
{
    char *path = laz_strdupf("%s/%s", directory, name);
    struct stat st;
    bool is = path && stat(path, &st) == 0 && S_ISSOCK(st.st_mode);

    free(path);
    return is;
}

/* The variables by which systemd-run finds the manager. LAZ_EREFUSED: there is none. */
static int scope_find_manager(struct laz_strv *env, struct laz_error *err)
{
    const char *bus = laz_os_getenv("DBUS_SESSION_BUS_ADDRESS");
    const char *given = laz_os_getenv("XDG_RUNTIME_DIR");
    char *directory = given && *given ? laz_strdup(given)
                                      : laz_strdupf("/run/user/%lu", (unsigned long)laz_os_uid());

    if (!directory)
        return laz_error_nomem(err);
    bool is_there = (bus && *bus) || scope_is_there(directory, "systemd/private") ||
                    scope_is_there(directory, "bus");
    laz_strv_addf(env, "XDG_RUNTIME_DIR=%s", directory);
    if (bus && *bus)
        laz_strv_addf(env, "DBUS_SESSION_BUS_ADDRESS=%s", bus);
    laz_strv_add(env, "LC_ALL=C");
    free(directory);
    if (env->failed)
        return laz_error_nomem(err);
    return is_there ? 0
                    : laz_error_set(err, LAZ_EREFUSED, 0,
                                    "no systemd runs for this user (systemd --user)");
}

/* *program: an absolute path, a new string. */
static int scope_find_program(char **program, struct laz_error *err)
{
    struct laz_error why = {0};

    if (laz_os_find_program("systemd-run", program, &why))
        return laz_error_is_shortage(&why)
                   ? (err ? (*err = why, why.code) : why.code)
                   : laz_error_set(err, LAZ_EREFUSED, 0, "systemd-run is not installed");
    if (!laz_trust_file(*program, err))
        return 0;
    free(*program);
    *program = NULL;
    return LAZ_EREFUSED;
}

/* Makes the connection and the pipe, and starts systemd-run with their other ends. */
static int scope_start(struct laz_scope *scope, struct laz_spawner *spawner,
                       const char *const *argv, const char *const *env, struct laz_error *err)
{
    int ends[2], words = -1;
    struct laz_spawn_fd fds[] = {{-1, 0}, {-1, 2}};

    if (laz_os_message_pair(ends) != 0)
        return laz_error_os(err, errno, "cannot create a pair of sockets");
    scope->fd = ends[0];
    int rc = laz_os_cloexec_pipe(&scope->words, &words, err);
    if (!rc)
        rc = laz_os_nonblock(scope->words, true, err);
    if (!rc) {
        fds[0].parent = ends[1];
        fds[1].parent = words;
        const struct laz_spawn spawn = {
            LAZ_SPAWN_OWN(argv, env, fds),
            .own_keys = true,
            .death_signal = SIGKILL,
        };
        rc = laz_spawner_spawn(spawner, &spawn, &scope->process, err);
    }
    laz_os_close(&ends[1]);
    laz_os_close(&words);
    return rc;
}

/* As rootless container engines ask: one scope, with all controllers that the manager has. It has
 * no number of processes of its own (systemd.resource-control(5), TasksMax=), which sessions would
 * have to share; that of the user holds. */
static int scope_begin(struct laz_scope *scope, struct laz_spawner *spawner, const char *agent,
                       const char *const *env, struct laz_error *err)
{
    char *program = NULL;
    char *about = laz_strdupf("--description=Sandboxes of process %ld (lazaret)", (long)getpid());
    int rc = about ? scope_find_program(&program, err) : laz_error_nomem(err);

    if (!rc) {
        const char *const argv[] = {program,
                                    "--user",
                                    "--scope",
                                    "--quiet",
                                    "--collect",
                                    "--no-ask-password",
                                    about,
                                    "--property=Delegate=yes",
                                    "--property=TasksMax=infinity",
                                    "--",
                                    agent,
                                    "--launcher",
                                    SCOPE_GROUP,
                                    NULL};
        rc = scope_start(scope, spawner, argv, env, err);
    }
    free(program);
    free(about);
    return rc;
}

int laz_scope_ask(struct laz_spawner *spawner, const char *agent, struct laz_scope **out,
                  struct laz_error *err)
{
    struct laz_strv env = LAZ_STRV_INIT;
    struct laz_scope *scope = calloc(1, sizeof *scope);

    *out = NULL;
    if (!scope)
        return laz_error_nomem(err);
    scope->process = LAZ_PROCESS_INIT;
    scope->fd = scope->words = -1;
    int rc = cgroup_v2_can_limit() ? scope_find_manager(&env, err)
                                   : laz_error_set(err, LAZ_EREFUSED, 0,
                                                   "the controllers of memory and processes are "
                                                   "not of version 2 here");
    if (!rc)
        rc = scope_begin(scope, spawner, agent, (const char *const *)env.items, err);
    laz_strv_fini(&env);
    if (rc) {
        laz_scope_free(scope);
        return rc;
    }
    *out = scope;
    return 0;
}

int laz_scope_fd(const struct laz_scope *scope)
{
    return scope->fd;
}

/* The connection was closed: what systemd-run, or the launcher, says about it. */
static int scope_explain(const struct laz_scope *scope, struct laz_error *err)
{
    char words[SCOPE_WORDS];
    ssize_t n = laz_os_read(scope->words, words, sizeof words - 1);

    while (n > 0 && words[n - 1] == '\n')
        n--;
    words[n > 0 ? n : 0] = '\0';
    return laz_error_set(err, LAZ_EREFUSED, 0, "systemd-run: %s",
                         *words ? words : "it ended without a word");
}

int laz_scope_take(struct laz_scope *scope, struct laz_cgroups *groups, struct laz_error *err)
{
    char word[64];
    int fds[LAZ_OS_HANDOVER];
    size_t n;

    if (!laz_os_await(scope->fd, 0))
        return laz_error_set(err, LAZ_ETIMEOUT, 0, "the user's systemd does not answer");
    if (laz_os_receive(scope->fd, word, sizeof word, fds, &n) <= 0)
        return scope_explain(scope, err);
    return cgroup_move_places(groups, &scope->process, &scope->fd, err);
}

void laz_scope_free(struct laz_scope *scope)
{
    if (!scope)
        return;
    laz_os_close(&scope->fd);
    laz_os_close(&scope->words);
    if (scope->process.pidfd >= 0) {
        laz_process_signal(&scope->process, SIGKILL);
        (void)laz_process_wait(&scope->process, SCOPE_END_MS, NULL);
        laz_process_close(&scope->process);
    }
    free(scope);
}
