/* SPDX-License-Identifier: MIT */
/* pidfd.c - a descriptor for a process.  System: macOS.
 *
 * It is a queue (kqueue(2)) with one event, the end of the process (EVFILT_PROC, NOTE_EXIT): it is
 * readable when the process has ended, for poll(2) and for another queue.  A process that has
 * already ended cannot be watched (ESRCH): then the queue gets an event that has happened
 * (EVFILT_USER). The same replaces the event of an end that was read, with its status, because
 * reading removes the event. */
#include "os/pidfd.h"

#include "os/posix/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/event.h>
#include <sys/wait.h>
#include <unistd.h>

#define PIDFD_EVENT  1
#define PIDFD_KNOWN  0x10000u /* a bit of our own event: the others are the status */
#define PIDFD_STATUS 0xffffu

/* Makes a queue readable, permanently. */
static int pidfd_note(int queue, unsigned own)
{
    struct kevent event;

    EV_SET(&event, PIDFD_EVENT, EVFILT_USER, EV_ADD, NOTE_TRIGGER | NOTE_FFCOPY | own, 0, NULL);
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
                                                   (errno == ESRCH && pidfd_note(queue, 0) == 0)))
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
    unsigned how = event.filter == EVFILT_PROC ? PIDFD_KNOWN | ((unsigned)event.data & PIDFD_STATUS)
                                               : event.fflags;
    if (event.filter == EVFILT_PROC)
        (void)pidfd_note(pidfd, how);
    if (!(how & PIDFD_KNOWN))
        return false;
    int told = (int)(how & PIDFD_STATUS);
    *signal = WIFSIGNALED(told) ? WTERMSIG(told) : 0;
    *status = WIFEXITED(told) ? WEXITSTATUS(told) : -1;
    return true;
}

/* Only the first process of a pid namespace is killed in this way: there is none. */
void laz_os_pidfd_kill(int pidfd)
{
    (void)pidfd;
}

/* There are no signals with a number. */
bool laz_os_pidfd_interrupt(int pidfd, uint32_t number)
{
    (void)pidfd;
    (void)number;
    return false;
}
