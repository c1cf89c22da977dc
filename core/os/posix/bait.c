/* SPDX-License-Identifier: MIT */
/* bait.c - listeners that accept no connection, to test that a session cannot reach them.
 *
 * For `lazaret doctor`: nothing reads from them, and the connecting side reports whether it could
 * connect.  They are on the loopback address, on an abstract name (unix(7), Linux) that cannot be
 * guessed, and on a path, open to every uid, because a session has one of its own where root starts
 * it.  System: POSIX. */
#include "os/bait.h"

#include "os/descriptors.h"
#include "os/posix/sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BAIT_BACKLOG 64

static int bait_listen(int family, const void *address, socklen_t len, int *fd,
                       struct laz_error *err)
{
    int sock = laz_posix_socket(family, false);

    if (sock < 0)
        return laz_error_os(err, errno, "cannot create a socket");
    if (bind(sock, address, len) != 0 || listen(sock, BAIT_BACKLOG) != 0) {
        int rc = laz_error_os(err, errno, "cannot listen");
        (void)close(sock);
        return rc;
    }
    *fd = sock;
    return 0;
}

int laz_os_bait_port(int *fd, uint16_t *port, struct laz_error *err)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof address;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int rc = bait_listen(AF_INET, &address, len, fd, err);
    if (rc)
        return rc;
    if (getsockname(*fd, (struct sockaddr *)&address, &len) != 0) {
        rc = laz_error_os(err, errno, "the port of a socket cannot be determined");
        laz_os_close(fd);
        return rc;
    }
    *port = ntohs(address.sin_port);
    return 0;
}

int laz_os_bait_socket(const char *path, int *fd, struct laz_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t len = strlen(path);

    if (len == 0 || len >= sizeof address.sun_path)
        return laz_error_set(err, LAZ_ETOOBIG, 0, "%s: too long for a socket", path);
    if (path[0] == '@' && !laz_posix_has_abstract_names())
        return laz_error_set(err, LAZ_ENOENT, 0, "this system has no abstract names of sockets");
    memcpy(address.sun_path, path, len);
    if (path[0] == '@')
        address.sun_path[0] = '\0';
    else
        len++;
    int rc = bait_listen(AF_UNIX, &address,
                         (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len), fd, err);
    if (!rc && path[0] != '@' && chmod(path, 0666) != 0) {
        rc = laz_error_os(err, errno, "the mode of %s cannot be set", path);
        laz_os_close(fd);
    }
    return rc;
}
