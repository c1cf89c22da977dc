/* SPDX-License-Identifier: MIT */
/* process.c - following and ending a child by a queue that waits for its end (kqueue(2)).
 * System: macOS.
 *
 * A queue with NOTE_EXIT always means the same process, a number only until it is reaped, and the
 * application may reap any child at any time.  There are no signals by descriptor: so the number is
 * used only after the queue shows that the process has not ended, or while waitid(2) shows that it
 * has not been reaped.  The end is reported before the process can be waited for: after the report,
 * wait4(2) blocks for that moment. */
#include "os/process.h"

#include "os/pidfd.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

void laz_process_signal(const struct laz_process *process, int signal)
{
    if (process->pidfd >= 0 && process->pid > 0 && !laz_os_pidfd_has_ended(process->pidfd))
        (void)kill(process->pid, signal);
}

bool laz_process_signal_group(const struct laz_process *process, int signal)
{
    siginfo_t info;

    if (process->pidfd < 0 || process->pid <= 1)
        return false;
    /* By number, which belongs to the child as long as it has not been reaped. */
    return waitid(P_PID, (id_t)process->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           kill(-process->pid, signal) == 0;
}

static void process_describe(int status, const struct rusage *usage, struct laz_exit *how)
{
    how->known = true;
    how->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    how->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    how->cpu_us = (uint64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000u +
                  (uint64_t)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
    how->max_rss_bytes = (uint64_t)usage->ru_maxrss; /* bytes here (getrusage(2)) */
}

bool laz_process_reap(struct laz_process *process, struct laz_exit *how)
{
    struct laz_exit none = {.known = false, .status = -1};
    struct rusage usage = {0};
    int status = 0;
    pid_t reaped;

    if (process->pidfd < 0 || !laz_os_pidfd_has_ended(process->pidfd))
        return false;
    do
        reaped = wait4(process->pid, &status, 0, &usage);
    while (reaped < 0 && errno == EINTR);
    if (how) {
        *how = none; /* not our child any more: reaped elsewhere, or by an earlier call */
        if (reaped == process->pid)
            process_describe(status, &usage, how);
    }
    return true;
}
