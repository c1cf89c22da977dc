/* SPDX-License-Identifier: MIT */
/* spawner.h - starting a child that gets exactly what is listed and inherits nothing else.
 *
 * One thread of each engine forks all of its children (the spawner): on Linux the parent-death
 * signal follows the *thread* that forked (prctl(2), PR_SET_PDEATHSIG), so that thread lives as
 * long as the engine.  There is never a shell and never a search in PATH; every descriptor that is
 * not listed is closed; the signal mask and dispositions are the defaults. */
#ifndef LAZ_OS_SPAWNER_H
#define LAZ_OS_SPAWNER_H

#include "base/error.h"
#include "os/process.h"

struct laz_cgroup_door; /* cgroup.h */
struct laz_job_limits;  /* job_values.h */
struct laz_spawner;

struct laz_spawn_fd {
    int parent; /* borrowed; -1: /dev/null */
    int child;  /* its number in the child; 0, 1 and 2 that are not listed become /dev/null */
};

struct laz_spawn {
    const char *const *argv; /* argv[0] absolute; on Windows no batch file: LAZ_EREFUSED */
    const char *const *env;  /* all of it */
    const struct laz_spawn_fd *fds;
    size_t n_fds;
    const char *directory; /* working directory; NULL: "/" */
    uint32_t uid;          /* with gid: set (with no other groups) before exec; LAZ_SPAWN_SAME_ID */
    uint32_t gid;
    bool group;       /* a session and process group of its own (setsid) */
    bool no_priority; /* neither a real-time policy nor a negative nice value of the caller's */
    bool own_keys;    /* an empty session keyring (keyrings(7)) in place of the caller's */
    const struct laz_cgroup_door *cgroup; /* entered before all else; NULL: the caller's */
    int death_signal; /* sent when the spawner's thread or process ends, with `group` to all of the
                         group (warden.h); 0: none. Linux: elsewhere a reaper checks by itself
                         (laz_os_die_with_parent) */
    const struct laz_job_limits *job; /* makes a job object with these limits for the child and all
                                         that it starts, before it runs; NULL: none. Windows only */
    uint32_t *job_missing; /* with job: gets the limits that do not hold, 1 << LAZ_JOB_* */
    uint64_t start_ms;     /* until its program runs (POSIX); at least ten seconds */
};

#define LAZ_SPAWN_SAME_ID UINT32_MAX
/* A child of the caller's user in a group of its own, with an array of descriptors. */
#define LAZ_SPAWN_OWN(argv_of, env_of, fds_of)                                                     \
    .argv = (argv_of), .env = (env_of), .fds = (fds_of),                                           \
    .n_fds = sizeof(fds_of) / sizeof *(fds_of), .uid = LAZ_SPAWN_SAME_ID,                          \
    .gid = LAZ_SPAWN_SAME_ID, .group = true

/* Errors: LAZ_EOS where the system lacks what it needs, or a thread cannot be created; LAZ_ENOMEM.
 */
int laz_spawner_new(struct laz_spawner **spawner, struct laz_error *err);
/* Before the first spawn: `agent` (copied) is the program of the warden (warden.h), which is
 * started with the first child that needs it. Without it a death signal reaches only the child
 * itself. */
int laz_spawner_guard(struct laz_spawner *spawner, const char *agent, struct laz_error *err);
/* A child that needs the warden will be asked for soon: its program is started while the caller
 * prepares that. What fails is tried again, and said, by the spawn. Returns at once. */
void laz_spawner_expect(struct laz_spawner *spawner);
/* A process that a child has started, in a group of its own, and that may outlive it: when this
 * process is gone, the group gets SIGKILL as well. Does not wait, and does nothing without a warden
 * that listens. The descriptor stays the caller's. Any thread. */
void laz_spawner_include(struct laz_spawner *spawner, const struct laz_process *leader);
void laz_spawner_free(struct laz_spawner *spawner); /* children with a death signal get it */

/* Any thread. Fails with LAZ_EOS when the program cannot be executed: the errno of exec is
 * reported, not a child that exits; with LAZ_ETIMEOUT when a child has not started its program in
 * time, and was killed (POSIX). The caller owns *process (laz_process_close). */
int laz_spawner_spawn(struct laz_spawner *spawner, const struct laz_spawn *spawn,
                      struct laz_process *process, struct laz_error *err);

#endif
