/* SPDX-License-Identifier: MIT */
/* peer.h - which process is at the other end of a connection, according to the kernel. */
#ifndef LAZ_OS_PEER_H
#define LAZ_OS_PEER_H

#include "base/error.h"

struct laz_peer {
    uint32_t uid;
    int64_t pid;
    uint64_t pid_namespace; /* inode of its pid namespace; 0: not known */
    bool inherited;         /* no process connected: the peer is the child that got its end */
};
/* Who is at the other end of a connected socket (SO_PEERCRED, SO_PEERPIDFD where it exists).
 * LAZ_EOS: that cannot be found out, for lack of descriptors for example. */
int laz_os_peer(int fd, struct laz_peer *peer, struct laz_error *err);

#endif
