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

/* -1 with errno. */
static int peer_pidfd(int fd, pid_t pid)
{
    int pidfd = -1;
    socklen_t len = sizeof pidfd;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &len) == 0)
        return laz_posix_above(pidfd);
    if (laz_errno_is_shortage(errno))
        return -1;
    /* Older kernels: the pid of the connecting process, which may have ended since. */
    return laz_os_pidfd(pid);
}

/* The inode of the peer's namespace; 0: not known, because it has ended. Unless that could not be
 * found out: a peer must not be judged by less for lack of descriptors. 0, or an errno. */
static int peer_namespace(int fd, pid_t pid, uint64_t *inode)
{
    struct pollfd ended = {.fd = peer_pidfd(fd, pid), .events = POLLIN};
    int failed = ended.fd < 0 ? errno : 0;

    *inode = failed ? 0 : proc_namespace(pid, "pid");
    if (!failed && !*inode)
        failed = errno;
    int n = failed ? 0 : poll(&ended, 1, 0);
    failed = n < 0 ? errno : failed;
    *inode = n == 0 ? *inode : 0;
    laz_os_close(&ended.fd);
    return laz_errno_is_shortage(failed) ? failed : 0;
}

int laz_os_peer(int fd, struct laz_peer *peer, struct laz_error *err)
{
    struct ucred cred;
    socklen_t len = sizeof cred;

    int failed = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) != 0 ? errno : 0;
    if (!failed)
        *peer = (struct laz_peer){.uid = cred.uid, .pid = cred.pid};
    if (!failed && cred.pid > 0)
        failed = peer_namespace(fd, cred.pid, &peer->pid_namespace);
    return failed ? laz_error_os(err, failed, "it cannot be found out which process connected") : 0;
}
