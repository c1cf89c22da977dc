/* SPDX-License-Identifier: MIT */
/* pidfd.c - processes by a descriptor, and what they have used.  System: macOS.
 *
 * What stands for a process is a queue (kqueue(2)) with one event, its end (EVFILT_PROC,
 * NOTE_EXIT): it is readable when the process has ended, for poll(2) and for another queue.  One
 * that has ended already cannot be watched (ESRCH): then the queue gets an event that has happened
 * (EVFILT_USER).  So does one whose end was looked at, with its status, for looking takes the event
 * out. What a process has used comes from proc_pid_rusage (libproc.h), by its number and the time
 * when it began. */
#include "os/io.h"
#include "os/os.h"
#include "os/posix/posix.h"
#include "os/darwin/usage.h"

#include <errno.h>
#include <fcntl.h>
#include <libproc.h>
#include <mach/mach_time.h>
#include <poll.h>
#include <signal.h>
#include <sys/event.h>
#include <sys/wait.h>
#include <unistd.h>

#define OTHER_EVENT  1
#define OTHER_KNOWN  0x10000u /* of the event's own bits: the rest is its status */
#define OTHER_STATUS 0xffffu

/* Makes a queue readable, for good. */
static int other_note(int queue, unsigned own)
{
    struct kevent event;

    EV_SET(&event, OTHER_EVENT, EVFILT_USER, EV_ADD, NOTE_TRIGGER | NOTE_FFCOPY | own, 0, NULL);
    return kevent(queue, &event, 1, NULL, 0, NULL);
}

int laz_os_pidfd(int64_t pid)
{
    struct kevent event;
    int queue = pid > 0 ? laz_posix_above(kqueue()) : -1;

    if (queue < 0)
        return -1;
    EV_SET(&event, (uintptr_t)pid, EVFILT_PROC, EV_ADD, NOTE_EXIT | NOTE_EXITSTATUS, 0, NULL);
    if (fcntl(queue, F_SETFD, FD_CLOEXEC) == 0 && (kevent(queue, &event, 1, NULL, 0, NULL) == 0 ||
                                                   (errno == ESRCH && other_note(queue, 0) == 0)))
        return queue;
    int failed = errno;
    (void)close(queue);
    errno = failed;
    return -1;
}

int laz_os_pidfd_within(int64_t pid, uint64_t pid_namespace)
{
    return pid_namespace ? -1 : laz_os_pidfd(pid);
}

bool laz_os_pidfd_has_ended(int pidfd)
{
    struct pollfd ended = {.fd = pidfd, .events = POLLIN};

    return pidfd < 0 || poll(&ended, 1, 0) == 1;
}

bool laz_os_pidfd_end(int pidfd, int *signal, int *status)
{
    const struct timespec now = {0, 0};
    struct kevent event;

    if (pidfd < 0 || kevent(pidfd, NULL, 0, &event, 1, &now) != 1)
        return false;
    unsigned how = event.filter == EVFILT_PROC ? OTHER_KNOWN | ((unsigned)event.data & OTHER_STATUS)
                                               : event.fflags;
    if (event.filter == EVFILT_PROC)
        (void)other_note(pidfd, how);
    if (!(how & OTHER_KNOWN))
        return false;
    int told = (int)(how & OTHER_STATUS);
    *signal = WIFSIGNALED(told) ? WTERMSIG(told) : 0;
    *status = WIFEXITED(told) ? WEXITSTATUS(told) : -1;
    return true;
}

/* What is ended by descriptor is the first process of a pid namespace: there is none. */
void laz_os_pidfd_kill(int pidfd)
{
    (void)pidfd;
}

/* ---- what a process has used ---------------------------------------------------------------- */

uint64_t laz_darwin_us(uint64_t ticks)
{
    mach_timebase_info_data_t base;

    if (mach_timebase_info(&base) != KERN_SUCCESS || base.denom == 0)
        return 0;
    return (uint64_t)((double)ticks * base.numer / base.denom / 1000.0);
}

bool laz_darwin_usage(int64_t pid, struct rusage_info_v2 *used)
{
    return pid > 0 && proc_pid_rusage((int)pid, RUSAGE_INFO_V2, (rusage_info_t *)used) == 0;
}

bool laz_os_usage_open(int64_t pid, struct laz_usage *usage)
{
    struct rusage_info_v2 used;

    *usage = (struct laz_usage)LAZ_USAGE_INIT;
    if (!laz_darwin_usage(pid, &used))
        return false;
    usage->pid = pid;
    usage->begun = used.ri_proc_start_abstime;
    return true;
}

bool laz_os_usage_is_open(const struct laz_usage *usage)
{
    return usage->pid > 0;
}

void laz_os_usage_read(const struct laz_usage *usage, uint64_t *cpu_us, uint64_t *rss_bytes)
{
    struct rusage_info_v2 used;

    *cpu_us = *rss_bytes = 0;
    if (!laz_darwin_usage(usage->pid, &used) || used.ri_proc_start_abstime != usage->begun)
        return;
    *cpu_us = laz_darwin_us(used.ri_user_time + used.ri_system_time + used.ri_child_user_time +
                            used.ri_child_system_time);
    *rss_bytes = used.ri_resident_size;
}

void laz_os_usage_close(struct laz_usage *usage)
{
    *usage = (struct laz_usage)LAZ_USAGE_INIT;
}
