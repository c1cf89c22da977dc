/* SPDX-License-Identifier: MIT */
/* peer.c - the peer of a pipe is the child that was given its end.  System: Windows. */
#include "os/peer.h"

#include "os/windows/descriptors.h"

#include <errno.h>
#include <string.h>

int laz_os_peer(int fd, struct laz_peer *peer, struct laz_error *err)
{
    struct fds_entry *entry = laz_windows_entry(fd);

    memset(peer, 0, sizeof *peer);
    if (!entry || entry->kind != FDS_PIPE)
        return laz_error_set(err, LAZ_EOS, EBADF,
                             "this descriptor is not a connection, and has no peer");
    peer->inherited = true;
    return 0;
}
