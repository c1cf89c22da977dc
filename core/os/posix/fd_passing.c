/* SPDX-License-Identifier: MIT */
/* fd_passing.c - descriptors that come with the bytes of a Unix socket (unix(7), SCM_RIGHTS).
 *
 * On Linux one read never takes the descriptors of two messages: those of a message are delivered
 * before anything that was sent after it.  The kernel closes those for which the receiver has no
 * space or no number left, and says so (recvmsg(2), MSG_CTRUNC).  System: POSIX. */
#include "os/fd_passing.h"

#include "os/descriptors.h"
#include "os/posix/descriptors.h"
#include "os/posix/sockets.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

/* A message has all of its descriptors, or none. */
static size_t pass_whole(int *fds, size_t n, bool cut)
{
    for (size_t i = 0; i < n; i++)
        cut |= fds[i] < 0;
    for (size_t i = 0; i < n && cut; i++)
        laz_os_close(&fds[i]);
    return cut ? LAZ_OS_CUT : n;
}

ssize_t laz_os_receive(int fd, void *data, size_t len, int fds[LAZ_OS_HANDOVER], size_t *n_fds)
{
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(LAZ_OS_HANDOVER * sizeof(int))];
    } control;
    struct iovec part = {data, len};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.room,
                             .msg_controllen = sizeof control.room};
    ssize_t got;

    *n_fds = 0;
    do
        got = laz_posix_receive(fd, &message);
    while (got < 0 && errno == EINTR);
    for (struct cmsghdr *head = got > 0 ? CMSG_FIRSTHDR(&message) : NULL; head;
         head = CMSG_NXTHDR(&message, head)) {
        if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
            continue;
        size_t n = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        memcpy(fds, CMSG_DATA(head), n * sizeof(int));
        for (size_t i = 0; i < n; i++)
            fds[i] = laz_posix_above(fds[i]); /* -1: it could not be moved */
        *n_fds = n;
    }
    if (got > 0)
        *n_fds = pass_whole(fds, *n_fds, message.msg_flags & MSG_CTRUNC);
    return got;
}

int laz_posix_send_fds(int fd, const void *data, size_t len, const int *fds, size_t n, int flags)
{
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(LAZ_OS_HANDOVER * sizeof(int))];
    } control;
    struct iovec part = {(void *)(uintptr_t)data, len};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.room,
                             .msg_controllen = CMSG_SPACE(n * sizeof(int))};
    ssize_t sent;

    if (n == 0 || n > LAZ_OS_HANDOVER)
        return EINVAL;
    memset(&control, 0, sizeof control);
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(n * sizeof(int));
    memcpy(CMSG_DATA(head), fds, n * sizeof(int));
    do
        sent = sendmsg(fd, &message, MSG_NOSIGNAL | flags);
    while (sent < 0 && errno == EINTR);
    if (sent < 0)
        return errno;
    return (size_t)sent == len ? 0 : EMSGSIZE; /* the kernel takes no part of a short message */
}

bool laz_os_hand_over(int fd, const void *data, size_t len, const int *fds, size_t n_fds)
{
    return laz_posix_send_fds(fd, data, len, fds, n_fds, 0) == 0;
}
