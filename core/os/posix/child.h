/* SPDX-License-Identifier: MIT */
/* child.h - between the spawner (posix/spawner.c), the system's way of making a child, and what is
 * the same in both (posix/child.c). */
#ifndef LAZ_OS_POSIX_CHILD_H
#define LAZ_OS_POSIX_CHILD_H

#include "os/spawner.h"

/* Makes a child, runs laz_spawn's program in it and waits until exec succeeded or failed. With
 * `warden` (warden.h; -1: none) it registers a group with a death signal there before that. Called
 * on the spawner's thread, with all signals blocked. process->pidfd is the child's from its first
 * moment on, so that another thread can kill a child that takes too long; the caller closes it,
 * also after a failure. */
int laz_os_child_start(const struct laz_spawn *spawn, int warden, struct laz_process *process,
                       struct laz_error *err);

/* Linux, for a launcher (launcher.h), whose children are the host's. In the launcher: makes a child
 * of the process `host`, its own parent, and does not wait for it. Fills *process and *errors, the
 * pipe for laz_os_child_adopt; both are the caller's. */
int laz_os_child_launch(const struct laz_spawn *spawn, pid_t host, int warden,
                        struct laz_process *process, int *errors, struct laz_error *err);
/* In the host: waits until its program runs, or did not. `errors`: taken; process->pidfd is that of
 * the child; -1: no descriptors could be had, and errno says why. */
int laz_os_child_adopt(const struct laz_spawn *spawn, int errors, pid_t pid,
                       struct laz_process *process, struct laz_error *err);

/* Checks the numbers of the descriptors that the child gets. *above: the first one above them. */
int laz_child_check_fds(const struct laz_spawn *spawn, int *above, struct laz_error *err);

/* What a child writes into its pipe `errors` when it cannot start its program. */
struct laz_child_failure {
    int step;
    int os_errno;
};
struct laz_child_way {
    const struct laz_spawn *spawn;
    const char *const *steps; /* texts; the last one also stands for a step that does not exist */
    size_t n_steps;
    int errors;
    bool waited; /* the child has started its program, or ended */
};
/* Reads how it went, and kills a child whose program does not run, or that has no pidfd (errno says
 * why). Else it sets process->pid. */
int laz_child_follow(const struct laz_child_way *way, pid_t pid, struct laz_process *process,
                     struct laz_error *err);

#endif
