/* SPDX-License-Identifier: MIT */
/* epoll.c - descriptors whose events the kernel reports, epoll(7).  System: Linux. */
#include "os/epoll.h"

#include "os/posix/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/epoll.h>

#define EPOLL_BATCH 64

int laz_os_epoll_new(void)
{
    return laz_posix_above(epoll_create1(EPOLL_CLOEXEC));
}

int laz_os_epoll_again(int epoll)
{
    return laz_posix_above(fcntl(epoll, F_DUPFD_CLOEXEC, 0));
}

/* Errors and ends are reported whatever was requested, epoll_ctl(2): where nothing was, only once
 * before the next change. */
static int epoll_control(int epoll, int operation, int fd, uint32_t wish, void *user)
{
    const uint32_t events = (wish & LAZ_EPOLL_READ ? EPOLLIN : 0) |
                            (wish & LAZ_EPOLL_WRITE ? EPOLLOUT : 0) |
                            (wish & LAZ_EPOLL_URGENT ? EPOLLPRI : 0);
    struct epoll_event event = {.events = events ? events : EPOLLONESHOT, .data.ptr = user};

    return epoll_ctl(epoll, operation, fd, &event);
}

bool laz_os_epoll_add(int epoll, int fd, uint32_t wish, void *user)
{
    return epoll_control(epoll, EPOLL_CTL_ADD, fd, wish, user) == 0;
}

bool laz_os_epoll_change(int epoll, int fd, uint32_t wish, void *user)
{
    return epoll_control(epoll, EPOLL_CTL_MOD, fd, wish, user) == 0;
}

bool laz_os_epoll_has(int epoll, int fd, uint32_t wish, void *user)
{
    return laz_os_epoll_change(epoll, fd, wish, user) ||
           (errno != EBADF && errno != EINVAL && errno != ENOENT && errno != EPERM);
}

bool laz_os_epoll_remove(int epoll, int fd)
{
    return epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL) == 0 || errno == ENOENT;
}

int laz_os_epoll_wait(int epoll, struct laz_epoll_event *events, size_t n, uint64_t us)
{
    const uint64_t ms = us / 1000 + (us % 1000 != 0);
    struct epoll_event told[EPOLL_BATCH];

    int found = epoll_wait(epoll, told, n < EPOLL_BATCH ? (int)n : EPOLL_BATCH,
                           us == UINT64_MAX ? -1
                           : ms < INT_MAX   ? (int)ms
                                            : INT_MAX);
    for (int i = 0; i < found; i++) {
        uint32_t is = told[i].events & (EPOLLHUP | EPOLLERR) ? UINT32_MAX : told[i].events;
        events[i] =
            (struct laz_epoll_event){told[i].data.ptr, (is & EPOLLIN ? LAZ_EPOLL_READ : 0) |
                                                           (is & EPOLLOUT ? LAZ_EPOLL_WRITE : 0) |
                                                           (is & EPOLLPRI ? LAZ_EPOLL_URGENT : 0)};
    }
    return found;
}
