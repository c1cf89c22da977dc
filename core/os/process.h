/* SPDX-License-Identifier: MIT */
/* process.h - a child process: signalling it, learning how it ended. */
#ifndef LAZ_OS_PROCESS_H
#define LAZ_OS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct laz_process {
    pid_t pid;
    int pidfd; /* readable when the process has ended (pidfd_open(2), Linux 5.3; a kqueue(2)) */
};

#define LAZ_PROCESS_INIT ((struct laz_process){-1, -1})

/* How a process ended. */
struct laz_exit {
    bool known;      /* false: it was reaped elsewhere in this process */
    int status;      /* 0 to 255, or -1 */
    int signal;      /* 0: it exited */
    uint64_t cpu_us; /* user and system time, its waited-for descendants included */
    uint64_t max_rss_bytes;
};

/* Signals the process (by pidfd: never another that got its number) or its whole group. False: the
 * group has no process. */
void laz_process_signal(const struct laz_process *process, int signal);
bool laz_process_signal_group(const struct laz_process *process, int signal);
/* True when it has ended, and how (reaps it; later calls give the same only through `how`). */
bool laz_process_reap(struct laz_process *process, struct laz_exit *how);
/* Waits at most `ms` for the end. True when it has ended. */
bool laz_process_wait(struct laz_process *process, uint64_t ms, struct laz_exit *how);
void laz_process_close(struct laz_process *process);
/* Is the process with this id the child, or was it started by it? True where the system does not
 * keep them together. */
bool laz_process_has(const struct laz_process *process, int64_t pid);

#endif
