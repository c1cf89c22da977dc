/* SPDX-License-Identifier: MIT */
/* wake.c - a descriptor that becomes readable: a queue with an event of our own (kqueue(2),
 * EVFILT_USER), because a pipe would be two descriptors.  System: macOS. */
#include "os/wake.h"

#include "os/posix/descriptors.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/event.h>
#include <unistd.h>

#define WAKE_EVENT 1

int laz_os_wake_new(void)
{
    struct kevent event;
    int queue = laz_posix_above(kqueue());

    if (queue < 0)
        return -1;
    EV_SET(&event, WAKE_EVENT, EVFILT_USER, EV_ADD, 0, 0, NULL);
    if (fcntl(queue, F_SETFD, FD_CLOEXEC) == 0 && kevent(queue, &event, 1, NULL, 0, NULL) == 0)
        return queue;
    (void)close(queue);
    return -1;
}

void laz_os_wake(int fd)
{
    struct kevent event;

    EV_SET(&event, WAKE_EVENT, EVFILT_USER, 0, NOTE_TRIGGER, 0, NULL);
    (void)kevent(fd, &event, 1, NULL, 0, NULL);
}

/* EV_CLEAR is not set, so the event stays until it is added anew. */
void laz_os_wake_clear(int fd)
{
    struct kevent event;

    EV_SET(&event, WAKE_EVENT, EVFILT_USER, EV_DELETE, 0, 0, NULL);
    (void)kevent(fd, &event, 1, NULL, 0, NULL);
    EV_SET(&event, WAKE_EVENT, EVFILT_USER, EV_ADD, 0, 0, NULL);
    (void)kevent(fd, &event, 1, NULL, 0, NULL);
}
