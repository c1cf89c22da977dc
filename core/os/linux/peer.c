/* SPDX-License-Identifier: MIT */
/* peer.c - which process is at the other end of a socket, according to the kernel.  System: Linux.
 * Side: host.  Input trusted: no (any process may be the peer).
 *
 * SO_PEERCRED gives the uid and pid of the process that connected, as the host sees them, whatever
 * the peer claims inside its namespaces.  The inode of its pid namespace distinguishes boxes. A pid
 * can be reused between two calls: the namespace is trusted only when a descriptor of that very
 * process (SO_PEERPIDFD, Linux 6.5) shows that it still lives. */
#include "os/peer.h"

#include "os/descriptors.h"
#include "os/linux/proc.h"
#include "os/pidfd.h"
#include "os/posix/descriptors.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

static int peer_pidfd(int fd, pid_t pid)
{
    int pidfd = -1;
    socklen_t len = sizeof pidfd;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &len) == 0)
        return laz_posix_above(pidfd);
    /* Older kernels: the pid of the connecting process, which may have ended since. */
    return laz_os_pidfd(pid);
}

static uint64_t peer_namespace(int fd, pid_t pid)
{
    struct pollfd ended = {.fd = peer_pidfd(fd, pid), .events = POLLIN};
    uint64_t inode = proc_namespace(pid, "pid");
    bool is_alive = ended.fd >= 0 && poll(&ended, 1, 0) == 0;

    laz_os_close(&ended.fd);
    return is_alive ? inode : 0;
}

int laz_os_peer(int fd, struct laz_peer *peer, struct laz_error *err)
{
    struct ucred cred;
    socklen_t len = sizeof cred;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) != 0)
        return laz_error_os(err, errno, "the system does not report which process connected");
    *peer = (struct laz_peer){
        .uid = cred.uid,
        .pid = cred.pid,
        .pid_namespace = cred.pid > 0 ? peer_namespace(fd, cred.pid) : 0,
    };
    return 0;
}
