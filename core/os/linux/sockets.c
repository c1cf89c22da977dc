/* SPDX-License-Identifier: MIT */
/* sockets.c - making sockets, and receiving descriptors through them.  System: Linux. */
#include "os/posix/sockets.h"

#include "os/posix/descriptors.h"

#include <fcntl.h>
#include <sys/socket.h>

int laz_posix_accepted(int fd)
{
    return fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ? -1 : 0;
}

int laz_posix_socket(int family, bool blocking)
{
    return laz_posix_above(
        socket(family, SOCK_STREAM | SOCK_CLOEXEC | (blocking ? 0 : SOCK_NONBLOCK), 0));
}

bool laz_posix_has_abstract_names(void)
{
    return true;
}

ssize_t laz_posix_receive(int fd, struct msghdr *message)
{
    return recvmsg(fd, message, MSG_CMSG_CLOEXEC);
}
