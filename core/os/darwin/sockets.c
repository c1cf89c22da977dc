/* SPDX-License-Identifier: MIT */
/* sockets.c - making sockets, and receiving descriptors through them.  System: macOS.
 *
 * Descriptors become close-on-exec in a second call, because there is no accept4(2) and no
 * SOCK_CLOEXEC (see darwin/descriptors.c).  MSG_NOSIGNAL is younger than some systems that lazaret
 * runs on: sockets have SO_NOSIGPIPE (setsockopt(2)) as well. */
#include "os/posix/sockets.h"

#include "os/posix/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int laz_posix_accepted(int fd)
{
    int on = 1;

    return fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ||
                   setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on) != 0
               ? -1
               : 0;
}

int laz_posix_socket(int family, bool blocking)
{
    int fd = laz_posix_above(socket(family, SOCK_STREAM, 0));

    if (fd < 0 ||
        (laz_posix_accepted(fd) == 0 && (blocking || fcntl(fd, F_SETFL, O_NONBLOCK) == 0)))
        return fd;
    int failed = errno;
    (void)close(fd);
    errno = failed;
    return -1;
}

bool laz_posix_has_abstract_names(void)
{
    return false;
}

ssize_t laz_posix_receive(int fd, struct msghdr *message)
{
    ssize_t got = recvmsg(fd, message, 0);

    for (struct cmsghdr *head = got >= 0 ? CMSG_FIRSTHDR(message) : NULL; head;
         head = CMSG_NXTHDR(message, head)) {
        if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
            continue;
        size_t n = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < n; i++) {
            int came;
            memcpy(&came, CMSG_DATA(head) + i * sizeof came, sizeof came);
            (void)fcntl(came, F_SETFD, FD_CLOEXEC);
        }
    }
    return got;
}
