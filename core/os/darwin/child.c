/* SPDX-License-Identifier: MIT */
/* child.c - makes a child and starts its program.  System: macOS.
 * Side: host.  Input trusted: yes.
 *
 * posix_spawn(2) in the child of a fork(2), in place of execve(2) (POSIX_SPAWN_SETEXEC): only in
 * this way can a process have another user and session and yet inherit nothing but what is listed
 * (POSIX_SPAWN_CLOEXEC_DEFAULT), whatever other threads of the application open meanwhile.  All
 * that it needs is made before the fork, so that the child makes system calls only.  The outcome is
 * read from a pipe whose other end the new program does not have.
 *
 * There is no parent-death signal: a reaper and an agent notice the end of their host by themselves
 * (laz_os_die_with_parent, the channel).  Control groups and keyrings do not exist. */
#include "os/posix/child.h"

#include "os/descriptors.h"
#include "os/pidfd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <unistd.h>

enum child_step { CHILD_SESSION, CHILD_USER, CHILD_DIRECTORY, CHILD_EXEC };

static const char *const child_steps[] = {
    [CHILD_SESSION] = "it cannot get a session of its own",
    [CHILD_USER] = "its user cannot be set",
    [CHILD_DIRECTORY] = "its working directory cannot be entered",
    [CHILD_EXEC] = "it cannot be executed",
};

/* All that the child needs, made before it exists. */
struct child_plan {
    const struct laz_spawn *spawn;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    bool has_actions, has_attributes;
    int *moved; /* copies of the descriptors above every number of the child */
    size_t n_moved;
    int error_fd; /* write end of the pipe for struct laz_child_failure */
};

/* ---- in the child --------------------------------------------------------------------------- */

static void child_fail(const struct child_plan *plan, enum child_step step, int os_errno)
{
    struct laz_child_failure failure = {.step = (int)step, .os_errno = os_errno};

    (void)!write(plan->error_fd, &failure, sizeof failure);
    _exit(127);
}

static void child_main(const struct child_plan *plan)
{
    const struct laz_spawn *spawn = plan->spawn;
    pid_t self;

    if (spawn->group && setsid() < 0)
        child_fail(plan, CHILD_SESSION, errno);
    if (spawn->uid != LAZ_SPAWN_SAME_ID && (setgroups(0, NULL) != 0 || setgid(spawn->gid) != 0 ||
                                            setuid(spawn->uid) != 0 || setuid(0) == 0))
        child_fail(plan, CHILD_USER, errno);
    if (chdir(spawn->directory ? spawn->directory : "/") != 0)
        child_fail(plan, CHILD_DIRECTORY, errno);
    int failed =
        posix_spawn(&self, spawn->argv[0], &plan->actions, &plan->attributes,
                    (char *const *)(uintptr_t)spawn->argv, (char *const *)(uintptr_t)spawn->env);
    child_fail(plan, CHILD_EXEC, failed);
}

/* ---- in the host ---------------------------------------------------------------------------- */

/* Every source is first copied above all numbers of the child: no number that is still needed is
 * overwritten, whatever the numbers are. */
static int child_plan_fds(struct child_plan *plan, struct laz_error *err)
{
    const struct laz_spawn *spawn = plan->spawn;
    bool standard[3] = {false, false, false};
    int above, rc = laz_child_check_fds(spawn, &above, err);

    if (rc)
        return rc;
    plan->moved = calloc(spawn->n_fds + 1, sizeof *plan->moved);
    if (!plan->moved)
        return laz_error_nomem(err);
    for (size_t i = 0; i < spawn->n_fds && !rc; i++) {
        const struct laz_spawn_fd *fd = &spawn->fds[i];
        if (fd->child < 3)
            standard[fd->child] = true;
        if (fd->parent < 0) {
            rc =
                posix_spawn_file_actions_addopen(&plan->actions, fd->child, "/dev/null", O_RDWR, 0);
            continue;
        }
        int moved = fcntl(fd->parent, F_DUPFD_CLOEXEC, above);
        if (moved < 0)
            return laz_error_os(err, errno, "%s cannot be started: its descriptors cannot be set",
                                spawn->argv[0]);
        plan->moved[plan->n_moved++] = moved;
        rc = posix_spawn_file_actions_adddup2(&plan->actions, moved, fd->child);
    }
    for (int i = 0; i < 3 && !rc; i++)
        if (!standard[i])
            rc = posix_spawn_file_actions_addopen(&plan->actions, i, "/dev/null", O_RDWR, 0);
    return rc ? laz_error_os(err, rc, "the descriptors of %s cannot be set", spawn->argv[0]) : 0;
}

static int child_plan_make(struct child_plan *plan, struct laz_error *err)
{
    sigset_t none, all;
    int failed = posix_spawn_file_actions_init(&plan->actions);

    plan->has_actions = !failed;
    if (!failed)
        failed = posix_spawnattr_init(&plan->attributes);
    plan->has_attributes = plan->has_actions && !failed;
    sigemptyset(&none);
    sigfillset(&all);
    sigdelset(&all, SIGKILL); /* always have the default action */
    sigdelset(&all, SIGSTOP);
    if (!failed)
        failed = posix_spawnattr_setflags(&plan->attributes,
                                          POSIX_SPAWN_SETEXEC | POSIX_SPAWN_CLOEXEC_DEFAULT |
                                              POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    if (!failed)
        failed = posix_spawnattr_setsigdefault(&plan->attributes, &all);
    if (!failed)
        failed = posix_spawnattr_setsigmask(&plan->attributes, &none);
    if (failed)
        return laz_error_os(err, failed, "no process can be prepared for %s", plan->spawn->argv[0]);
    return child_plan_fds(plan, err);
}

static void child_plan_fini(struct child_plan *plan)
{
    for (size_t i = 0; i < plan->n_moved; i++)
        laz_os_close(&plan->moved[i]);
    free(plan->moved);
    laz_os_close(&plan->error_fd);
    if (plan->has_actions)
        posix_spawn_file_actions_destroy(&plan->actions);
    if (plan->has_attributes)
        posix_spawnattr_destroy(&plan->attributes);
}

int laz_os_child_start(const struct laz_spawn *spawn, int warden, struct laz_process *process,
                       struct laz_error *err)
{
    struct child_plan plan = {.spawn = spawn, .error_fd = -1};
    struct laz_child_way way = {spawn, child_steps, sizeof child_steps / sizeof *child_steps,
                                .errors = -1};
    int rc = child_plan_make(&plan, err);

    (void)warden; /* there is none */

    if (rc || (rc = laz_os_cloexec_pipe(&way.errors, &plan.error_fd, err)))
        goto out;
    pid_t pid = fork();
    if (pid == 0)
        child_main(&plan);
    if (pid < 0) {
        rc = laz_error_os(err, errno, "cannot create a process for %s", spawn->argv[0]);
        goto out;
    }
    laz_os_close(&plan.error_fd);
    process->pidfd = laz_os_pidfd(pid);
    rc = laz_child_follow(&way, pid, process, err);
out:
    laz_os_close(&way.errors);
    child_plan_fini(&plan);
    return rc;
}
