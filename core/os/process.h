/* SPDX-License-Identifier: MIT */
/* process.h - starting a child with exactly what it is given, following it, ending it.
 *
 * One thread of each engine forks all of its children (the spawner): on Linux the parent-death
 * signal follows the *thread* that forked (prctl(2), PR_SET_PDEATHSIG), so that thread lives as
 * long as the engine.  Never a shell; never a search in PATH; every descriptor that is not listed
 * is closed; the signal mask and dispositions are the defaults. */
#ifndef LAZ_OS_PROCESS_H
#define LAZ_OS_PROCESS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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
    const char *folder; /* working folder; NULL: "/" */
    uint32_t uid;       /* with gid: set (with no other groups) before exec; LAZ_SPAWN_SAME_ID */
    uint32_t gid;
    bool group;       /* a session and process group of its own (setsid) */
    bool no_priority; /* neither a real-time policy nor a negative nice value of the caller's */
    bool own_keys;    /* an empty session keyring (keyrings(7)) in place of the caller's */
    const struct laz_cgroup_door *cgroup; /* entered before all else; NULL: the caller's */
    int death_signal; /* sent when the spawner's thread or process ends, with `group` to all of the
                         group (warden.h); 0: none. Linux: elsewhere a reaper looks for itself
                         (laz_os_die_with_parent) */
    const struct laz_job_limits *job; /* a job object with them is made for it and all that it
                                         starts, before it runs; NULL: none. Only Windows has it */
    uint32_t *job_missing; /* with job: gets the limits that do not hold, 1 << LAZ_JOB_* */
    uint64_t start_ms;     /* to get to its program (POSIX); ten seconds at least */
};

#define LAZ_SPAWN_SAME_ID UINT32_MAX

struct laz_process {
    pid_t pid;
    int pidfd; /* readable when the process has ended (pidfd_open(2), Linux 5.3; a kqueue(2)) */
};

#define LAZ_PROCESS_INIT                                                                           \
    {                                                                                              \
        -1, -1                                                                                     \
    }

/* How a process ended. */
struct laz_exit {
    bool known;      /* false: somebody else reaped it */
    int status;      /* 0 to 255, or -1 */
    int signal;      /* 0: it exited */
    uint64_t cpu_us; /* user and system time, its waited-for descendants included */
    uint64_t max_rss_bytes;
};

int laz_spawner_new(struct laz_spawner **spawner, struct laz_error *err);
/* Before the first spawn: `agent` (copied) is the program of the warden (warden.h), which is
 * started with the first child that needs it. Without it a death signal reaches only the child
 * itself. */
int laz_spawner_guard(struct laz_spawner *spawner, const char *agent, struct laz_error *err);
void laz_spawner_free(struct laz_spawner *spawner); /* children with a death signal get it */

/* Any thread. Fails with LAZ_EOS when the program cannot be executed: the errno of exec is
 * reported, not a child that dies; with LAZ_ETIMEOUT when a child has not got to its program in its
 * time, and was ended (POSIX). The caller owns *process (laz_process_close). */
int laz_spawner_spawn(struct laz_spawner *spawner, const struct laz_spawn *spawn,
                      struct laz_process *process, struct laz_error *err);

/* Signals the process (by pidfd: never another that got its number) or its whole group. False:
 * there is nobody in it. */
void laz_process_signal(const struct laz_process *process, int signal);
bool laz_process_signal_group(const struct laz_process *process, int signal);
/* True when it has ended, and how (reaps it; later calls give the same only through `how`). */
bool laz_process_reap(struct laz_process *process, struct laz_exit *how);
/* Waits at most `ms` for the end. True when it has ended. */
bool laz_process_wait(struct laz_process *process, uint64_t ms, struct laz_exit *how);
void laz_process_close(struct laz_process *process);
/* Is the process with this id one of those that were started with it, itself or by it? True where
 * the system does not keep them together. */
bool laz_process_has(const struct laz_process *process, int64_t pid);

/* What a signal is called, in words; borrowed until the thread asks again. */
const char *laz_os_signal_words(int signal);

/* As root: kills every process of a uid that is no person's and no service's. False when that could
 * not be done; then the uid must not be given to anybody else. Any thread. */
bool laz_os_end_all_of(uint32_t uid);

#endif
