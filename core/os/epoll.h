/* SPDX-License-Identifier: MIT */
/* epoll.h - descriptors that the kernel tells of, epoll(7). Linux alone has it; the loop's other
 * ways are libuv's own, and os/wait.h. One thread. */
#ifndef LAZ_OS_EPOLL_H
#define LAZ_OS_EPOLL_H

#include <stdbool.h>
#include <stddef.h>

struct laz_epoll_event {
    void *user;
    bool read, write; /* can be done now; both at an error or an end, which doing it will tell */
};

/* The descriptor of an empty set, closed on exec; -1 with errno. It is readable when there is
 * something to tell. */
int laz_os_epoll_new(void);
/* Watches `fd`, which must be taken out before it is closed. False with errno: ENOSPC when the user
 * has as many watches as the kernel gives, EPERM for what cannot be watched, epoll_ctl(2). */
bool laz_os_epoll_add(int epoll, int fd, bool read, bool write, void *user);
/* Of what is watched: the kernel needs nothing for it, and fails only where this is not a watch of
 * that set; false with errno. With neither `read` nor `write` an end or an error is told once, else
 * for as long as it lasts. */
bool laz_os_epoll_change(int epoll, int fd, bool read, bool write, void *user);
/* False: it may be told of yet. A descriptor that was closed before is one whose file may be open
 * elsewhere, under another number or in a process that was just forked: then its watch lives on. */
bool laz_os_epoll_remove(int epoll, int fd);
/* What can be told now, without waiting, at most `n`: how many. */
size_t laz_os_epoll_told(int epoll, struct laz_epoll_event *events, size_t n);

#endif
