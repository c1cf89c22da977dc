/* SPDX-License-Identifier: MIT */
/* fd_passing.h - a connected pair of sockets, descriptors sent through one, and who it was that
 * sent. Side: host. */
#ifndef LAZ_OS_FD_PASSING_H
#define LAZ_OS_FD_PASSING_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define LAZ_PASS_MOST 16 /* descriptors of one message */

/* Two ends of one connection, closed by exec. The host's end does not block, and the kernel notes
 * for it who sends (unix(7), SO_PASSCRED) until laz_os_forget_senders. */
int laz_os_channel(int *host, int *other, struct laz_error *err);

/* A pair of sockets that keep messages apart (SOCK_SEQPACKET), closed by exec: 0, or -1 with errno.
 */
int laz_os_message_pair(int ends[2]);

/* A process that sent something, in the kernel's words, whatever it calls itself. */
struct laz_sender {
    int64_t pid; /* in the namespace of the receiver; 0: not told */
    uint32_t uid;
};

/* As laz_os_read, from one sender; descriptors that came with it are closed unseen. */
ssize_t laz_os_read_sender(int fd, void *data, size_t len, struct laz_sender *sender);
void laz_os_forget_senders(int fd);

/* Sends all of it in one message with `n` descriptors, without waiting. 0, or an errno: nothing was
 * sent. */
int laz_os_send_fds(int fd, const void *data, size_t len, const int *fds, size_t n);

/* A descriptor of the process `pid`, when it is the first one of a pid namespace that was made
 * directly inside of the one with the inode `above` (ioctl_ns(2)). LAZ_EPROTO: it is something
 * else, or has ended. */
int laz_os_adopt(int64_t pid, uint64_t above, int *pidfd, struct laz_error *err);

#endif
