/* SPDX-License-Identifier: MIT */
/* fd_passing.c - descriptors sent through a socket, and which process sent what.  System: Linux.
 * Side: host.  Input trusted: no (any process may be the sender).
 *
 * A connection that was made beforehand does not identify its other end: SO_PEERCRED names the
 * process that made the pair.  The kernel notes the sender of each message when it is sent, and
 * translates pids into the namespace of the reader. */
#include "os/fd_passing.h"

#include "os/posix/descriptors.h"
#include "os/posix/sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int laz_os_channel(int *host, int *other, struct laz_error *err)
{
    int ends[2], on = 1;

    if (laz_posix_above_both(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), ends) != 0)
        return laz_error_os(err, errno, "cannot create a pair of sockets");
    if (fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0 ||
        setsockopt(ends[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) {
        int rc = laz_error_os(err, errno, "a socket cannot be set up");
        (void)close(ends[0]);
        (void)close(ends[1]);
        return rc;
    }
    *host = ends[0];
    *other = ends[1];
    return 0;
}

int laz_os_message_pair(int ends[2])
{
    return laz_posix_above_both(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), ends);
}

void laz_os_forget_senders(int fd)
{
    int off = 0;

    (void)setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &off, sizeof off);
}

/* Notes the sender of a message, and closes descriptors that came with it. */
static void pass_control(struct msghdr *message, struct laz_sender *sender)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
        if (c->cmsg_level != SOL_SOCKET)
            continue;
        if (c->cmsg_type == SCM_CREDENTIALS && c->cmsg_len >= CMSG_LEN(sizeof(struct ucred))) {
            struct ucred who;
            memcpy(&who, CMSG_DATA(c), sizeof who);
            sender->pid = who.pid;
            sender->uid = who.uid;
        } else if (c->cmsg_type == SCM_RIGHTS) {
            size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
            for (size_t i = 0; i < n; i++) {
                int fd;
                memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
                (void)close(fd);
            }
        }
    }
}

ssize_t laz_os_read_sender(int fd, void *data, size_t len, struct laz_sender *sender)
{
    /* space for credentials only: the kernel drops descriptors that do not fit (unix(7)) */
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
    } control;
    struct iovec part = {data, len};
    struct msghdr message = {
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = sizeof control,
    };
    ssize_t n;

    *sender = (struct laz_sender){.uid = UINT32_MAX};
    do
        n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -1;
    pass_control(&message, sender);
    if (n == 0)
        errno = 0;
    return n == 0 ? -1 : n;
}

int laz_os_send_fds(int fd, const void *data, size_t len, const int *fds, size_t n)
{
    return laz_posix_send_fds(fd, data, len, fds, n, MSG_DONTWAIT);
}
