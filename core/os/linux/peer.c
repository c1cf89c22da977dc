/* SPDX-License-Identifier: MIT */
/* peer.c - which process is at the other end of a socket, according to the kernel.  System: Linux.
 * Side: host.  Input trusted: no (any process may be the peer).
 *
 * SO_PEERCRED gives the uid and pid of the process that connected, as the host sees them, whatever
 * the peer claims inside its namespaces.  The inode of its pid namespace distinguishes boxes. A pid
 * can be reused between two calls: the namespace is trusted only when a descriptor of that very
 * process (SO_PEERPIDFD, Linux 6.5) shows that it still lives. */
#include "os/peer.h"

#include "os/posix/descriptors.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

/* True while the process behind the descriptor has not ended. */
static bool peer_is_alive(int pidfd)
{
    struct pollfd ended = {.fd = pidfd, .events = POLLIN};

    return poll(&ended, 1, 0) == 0;
}

static int peer_pidfd(int fd, pid_t pid)
{
    int pidfd = -1;
    socklen_t len = sizeof pidfd;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &len) == 0)
        return laz_posix_above(pidfd);
    /* Older kernels: the pid of the connecting process, which may have ended since. */
    return laz_posix_above((int)syscall(SYS_pidfd_open, pid, 0u));
}

static uint64_t peer_namespace(int fd, pid_t pid)
{
    char path[64];
    struct stat st;
    uint64_t inode = 0;
    int pidfd = peer_pidfd(fd, pid);

    if (pidfd < 0)
        return 0;
    snprintf(path, sizeof path, "/proc/%ld/ns/pid", (long)pid);
    if (stat(path, &st) == 0 && peer_is_alive(pidfd))
        inode = (uint64_t)st.st_ino;
    (void)close(pidfd);
    return inode;
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
