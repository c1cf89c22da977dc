/* SPDX-License-Identifier: MIT */
/* epoll.h - descriptors whose events the kernel reports, epoll(7). Only Linux has it; on other
 * systems the loop waits with libuv, or with os/wait.h. One thread. */
#ifndef LAZ_OS_EPOLL_H
#define LAZ_OS_EPOLL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is watched for: EPOLLIN, EPOLLOUT, EPOLLPRI. */
#define LAZ_EPOLL_READ   1u
#define LAZ_EPOLL_WRITE  2u
#define LAZ_EPOLL_URGENT 4u

struct laz_epoll_event {
    void *user;
    uint32_t ready; /* all after an error or an end, which the call itself reports */
};

/* The descriptor of an empty set, closed on exec; -1 with errno. It is readable when there are
 * events. */
int laz_os_epoll_new(void);
/* Another descriptor of the same set, closed on exec; -1 with errno. */
int laz_os_epoll_again(int epoll);
/* Watches `fd`, which must be removed before it is closed. False with errno: ENOSPC when the user
 * has as many watches as the kernel allows, EPERM for what cannot be watched, epoll_ctl(2). */
bool laz_os_epoll_add(int epoll, int fd, uint32_t wish, void *user);
/* Changes a watch: the kernel allocates nothing for it, and it fails only when `fd` is not in the
 * set, or `epoll` is not a set; false with errno. With no wish an end or an error is reported once,
 * else for as long as it lasts. */
bool laz_os_epoll_change(int epoll, int fd, uint32_t wish, void *user);
/* Changes a watch as above, and tells whether `fd` is in the set. It is not when `epoll` is closed
 * or not a set (EBADF, EINVAL), or has another `fd` or none (ENOENT, EPERM); no other failure says
 * so. */
bool laz_os_epoll_has(int epoll, int fd, uint32_t wish, void *user);
/* False: its events may still be reported. The file of a descriptor that was closed first may be
 * open under another number, or in a process that was just forked: then its watch lives on. */
bool laz_os_epoll_remove(int epoll, int fd);
/* Waits at most `us` microseconds (rounded up to what the kernel counts; UINT64_MAX: as long as it
 * takes) until there are events, and takes at most `n`: how many, or -1 with errno. */
int laz_os_epoll_wait(int epoll, struct laz_epoll_event *events, size_t n, uint64_t us);

#endif
