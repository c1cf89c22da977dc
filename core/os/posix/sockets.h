/* SPDX-License-Identifier: MIT */
/* sockets.h - calls for sockets in which Linux and macOS differ. */
#ifndef LAZ_OS_POSIX_SOCKETS_H
#define LAZ_OS_POSIX_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct msghdr;

/* A stream socket of a family: closed by exec, from its first moment where the system can. Writing
 * to a peer that is gone raises no SIGPIPE where MSG_NOSIGNAL is given. A descriptor, or -1. */
int laz_posix_socket(int family, bool blocking);
/* Sets the same for a connection that was accepted: 0, or -1. */
int laz_posix_accepted(int fd);
/* Are there names of sockets that are not paths (unix(7), abstract)? */
bool laz_posix_has_abstract_names(void);
/* recvmsg(2); descriptors that come along are closed by exec. */
ssize_t laz_posix_receive(int fd, struct msghdr *message);

/* Sends all of a short message with 1 to LAZ_OS_HANDOVER descriptors (os/fd_passing.h); `flags` of
 * sendmsg(2). 0 or an errno. Async-signal-safe. */
int laz_posix_send_fds(int fd, const void *data, size_t len, const int *fds, size_t n, int flags);

#endif
