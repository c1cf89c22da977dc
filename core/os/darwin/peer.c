/* SPDX-License-Identifier: MIT */
/* peer.c - which process is at the other end of a socket, according to the kernel.  System: macOS.
 * Side: host.  Input trusted: no (any process may be the peer).
 *
 * LOCAL_PEERCRED and LOCAL_PEERPID (sys/un.h, unix(4)) give the uid and the pid of the process that
 * connected.  There are no pid namespaces: only the token distinguishes boxes. */
#include "os/peer.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/ucred.h>
#include <sys/un.h>

int laz_os_peer(int fd, struct laz_peer *peer, struct laz_error *err)
{
    struct xucred cred;
    socklen_t cred_len = sizeof cred, pid_len;
    pid_t pid = 0;

    pid_len = sizeof pid;
    if (getsockopt(fd, SOL_LOCAL, LOCAL_PEERCRED, &cred, &cred_len) != 0 ||
        getsockopt(fd, SOL_LOCAL, LOCAL_PEERPID, &pid, &pid_len) != 0)
        return laz_error_os(err, errno, "the system does not report which process connected");
    if (cred.cr_version != XUCRED_VERSION)
        return laz_error_set(err, LAZ_EOS, 0, "the system reports the peer in an unknown format");
    *peer = (struct laz_peer){.uid = cred.cr_uid, .pid = pid};
    return 0;
}
