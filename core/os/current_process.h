/* SPDX-License-Identifier: MIT */
/* current_process.h - the environment, privileges and limits of the calling process. */
#ifndef LAZ_OS_CURRENT_PROCESS_H
#define LAZ_OS_CURRENT_PROCESS_H

#include "base/error.h"

int64_t laz_os_process_id(void);
/* How many times fork(2) lies between this process and the one that called this first: a child has
 * another number than its parent. Costs no system call. Not on Windows, which has no fork: 0. */
uint32_t laz_os_forks(void);
/* A variable of this process's environment; NULL also in a program that is set-user-id. */
const char *laz_os_getenv(const char *name);
/* Removes a variable from the environment: a copy of its value, NULL when it is not set. `wipe`:
 * overwrites its memory, which other processes can read (/proc/PID/environ). */
char *laz_os_take_variable(const char *name, bool wipe);
/* Sets a variable. False: out of memory. Before there are other threads. */
bool laz_os_set_variable(const char *name, const char *value);
/* Called before untrusted code runs: set-id programs and file capabilities give no privilege from
 * then on, also in descendants (prctl(2), PR_SET_NO_NEW_PRIVS). LAZ_ENOENT: this system has nothing
 * of the kind, and the plan has to refuse such programs. */
int laz_os_no_new_privs(struct laz_error *err);
/* Orphans below this process become its children (PR_SET_CHILD_SUBREAPER). On macOS they are out of
 * reach, which is not an error. False: the system could do it, and the call failed. */
bool laz_os_inherit_orphans(void);
/* This process gets the signal when its parent, or the thread of it that forked, ends. False: the
 * parent has ended, or the call failed. Call it last before, or instead of, an exec. */
bool laz_os_die_with_parent(int64_t parent, int signal);

/* Applies one limit to the calling process, soft and hard: "cpu" (seconds; soft N, hard N+1, so
 * that SIGXCPU distinguishes it from other kills), "memory" (RLIMIT_DATA: RLIMIT_AS would stop
 * threads), "fsize", "nproc", "nofile", "stack", "core". A value over the present hard limit is
 * lowered to it. "nproc_beside": this number more than the user has now, and a reserve. */
int laz_os_set_limit(const char *name, uint64_t value, struct laz_error *err);
/* Lowers the quotas that the kernel counts by user (locked memory, pending signals, POSIX queues)
 * to fixed values for the calling process. LAZ_ENOENT: this system has none. */
int laz_os_set_quotas(struct laz_error *err);

#endif
