/* SPDX-License-Identifier: MIT */
/* process.c - following and ending a child by its pidfd.  System: Linux.
 *
 * A pidfd always means the same process, a pid only until it is reaped, and the application may
 * reap any child at any time (waitpid(-1), or SIGCHLD ignored).  So everything uses the pidfd; that
 * the child was reaped elsewhere is a valid result (`known` false), not an error. */
#include "os/process.h"

#include "os/pidfd.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef P_PIDFD
#define P_PIDFD 3
#endif
#define PROCESS_SIGNAL_GROUP (1u << 2) /* PIDFD_SIGNAL_PROCESS_GROUP, Linux 6.9 */

void laz_process_signal(const struct laz_process *process, int signal)
{
    if (process->pidfd >= 0)
        (void)syscall(SYS_pidfd_send_signal, process->pidfd, signal, NULL, 0u);
}

bool laz_process_signal_group(const struct laz_process *process, int signal)
{
    if (process->pidfd < 0 || process->pid <= 1)
        return false;
    if (syscall(SYS_pidfd_send_signal, process->pidfd, signal, NULL, PROCESS_SIGNAL_GROUP) == 0)
        return true;
    if (errno != EINVAL)
        return errno == EPERM; /* the group has a process */
    /* By number, which belongs to the process until it has been reaped, and afterwards is not
     * reused as long as its group has a process. */
    if (syscall(SYS_pidfd_send_signal, process->pidfd, 0, NULL, 0u) != 0 &&
        (kill(process->pid, 0) == 0 || errno != ESRCH))
        return false;
    return kill(-process->pid, signal) == 0 || errno == EPERM;
}

static void process_describe(const siginfo_t *info, const struct rusage *usage,
                             struct laz_exit *how)
{
    how->known = true;
    if (info->si_code == CLD_EXITED)
        how->status = info->si_status;
    else
        how->signal = info->si_status;
    how->cpu_us = (uint64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000u +
                  (uint64_t)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
    how->max_rss_bytes = (uint64_t)usage->ru_maxrss * 1024u;
}

bool laz_process_reap(struct laz_process *process, struct laz_exit *how)
{
    struct laz_exit none = {.known = false, .status = -1};
    struct rusage usage = {0};
    siginfo_t info = {.si_pid = 0};
    long rc;

    if (process->pidfd < 0)
        return false;
    do /* the C library's waitid omits the usage */
        rc = syscall(SYS_waitid, P_PIDFD, process->pidfd, &info, WEXITED | WNOHANG, &usage);
    while (rc < 0 && errno == EINTR);
    if (rc == 0 && info.si_pid == 0)
        return false;
    /* Not our child any more: reaped elsewhere, or by an earlier call. */
    if (rc < 0 && !laz_os_pidfd_has_ended(process->pidfd))
        return false;
    if (how) {
        *how = none;
        if (rc == 0)
            process_describe(&info, &usage, how);
    }
    return true;
}
