/* SPDX-License-Identifier: MIT */
/* fd_passing.h - descriptors sent through sockets, and which process sent them. */
#ifndef LAZ_OS_FD_PASSING_H
#define LAZ_OS_FD_PASSING_H

#include "base/error.h"

#include <sys/types.h>

#define LAZ_OS_HANDOVER 8 /* descriptors of one message */
#define LAZ_OS_CUT      (LAZ_OS_HANDOVER + 1)

/* ---- every POSIX system, in the agent ------------------------------------------------------- */

/* Reads from a blocking Unix socket, with the descriptors that came along (close-on-exec; the
 * caller owns them): all of one message. *n_fds is LAZ_OS_CUT, and the caller gets none of them,
 * where this process had no number left for one (RLIMIT_NOFILE). Returns what read(2) returns. */
ssize_t laz_os_receive(int fd, void *data, size_t len, int fds[LAZ_OS_HANDOVER], size_t *n_fds);
/* Sends all of a short message with copies of 1 to LAZ_OS_HANDOVER descriptors. False: the peer is
 * gone. */
bool laz_os_hand_over(int fd, const void *data, size_t len, const int *fds, size_t n_fds);

/* ---- Linux, in the host --------------------------------------------------------------------- */

/* Two ends of one connection, closed by exec. The host's end does not block, and the kernel notes
 * the sender of what arrives there (unix(7), SO_PASSCRED) until laz_os_forget_senders. */
int laz_os_channel(int *host, int *other, struct laz_error *err);

/* A pair of sockets that keep messages apart (SOCK_SEQPACKET), closed by exec: 0, or -1 with errno.
 */
int laz_os_message_pair(int ends[2]);

/* A process that sent something, according to the kernel, whatever the process claims. */
struct laz_sender {
    int64_t pid; /* in the namespace of the receiver; 0: not known */
    uint32_t uid;
};

/* As laz_os_read, from one sender; descriptors that came with it are closed unread. */
ssize_t laz_os_read_sender(int fd, void *data, size_t len, struct laz_sender *sender);
void laz_os_forget_senders(int fd);

/* Sends all of it in one message with 1 to LAZ_OS_HANDOVER descriptors, without waiting. 0, or an
 * errno: nothing was sent. */
int laz_os_send_fds(int fd, const void *data, size_t len, const int *fds, size_t n);

#endif
