/* SPDX-License-Identifier: MIT */
/* sockets.c - the one socket between host and agent.  System: POSIX.
 * Side: both.  Input trusted: yes (paths of the host); what is read from the socket is not.
 *
 * The socket is in a directory of mode 0700 that belongs to the session's uid, so between bind and
 * chown no process can connect that could not afterwards.  The umask belongs to the application and
 * is not changed. */
#include "os/sockets.h"

#include "base/buf.h"
#include "os/posix/descriptors.h"
#include "os/posix/sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

char *laz_os_socket_name(const char *directory)
{
    return laz_strdupf("%s/socket/ipc.sock", directory);
}

#ifndef SOCK_CLOEXEC
#define SOCK_CLOEXEC 0 /* macOS: in a second call */
#endif

static int sockets_address(const char *path, struct sockaddr_un *address, struct laz_error *err)
{
    size_t len = strlen(path);

    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    if (len == 0 || len >= sizeof address->sun_path)
        return laz_error_set(err, LAZ_ETOOBIG, 0,
                             "%s: the path of a socket must have 1 to %zu bytes, this has %zu",
                             path, sizeof address->sun_path - 1, len);
    memcpy(address->sun_path, path, len + 1);
    return 0;
}

/* Sets owner and mode of a socket that was just bound, whatever the umask made of them. */
static int sockets_own(const char *path, uint32_t uid, uint32_t gid)
{
    struct stat st;

    if (lstat(path, &st) != 0)
        return -1;
    if (!S_ISSOCK(st.st_mode)) {
        errno = ENOTSOCK;
        return -1;
    }
    if ((st.st_mode & 07777) != 0600 && chmod(path, 0600) != 0)
        return -1;
    if (uid != LAZ_OS_SAME_ID || gid != LAZ_OS_SAME_ID)
        return lchown(path, uid, gid); /* (uid_t)-1 leaves an id as it is */
    return 0;
}

int laz_os_listen(const char *path, uint32_t uid, uint32_t gid, int *fd, struct laz_error *err)
{
    struct sockaddr_un address;
    bool bound = false;
    int rc = sockets_address(path, &address, err);

    if (rc)
        return rc;
    int sock = laz_posix_socket(AF_UNIX, false);
    if (sock < 0)
        return laz_error_os(err, errno, "cannot create a socket");
    (void)fchmod(sock, 0600); /* Linux: the mode that bind gives to the path */
    if (bind(sock, (struct sockaddr *)&address, sizeof address) != 0)
        goto fail;
    bound = true;
    if (sockets_own(path, uid, gid) != 0 || listen(sock, 1) != 0)
        goto fail;
    *fd = sock;
    return 0;
fail:
    rc = laz_error_os(err, errno, "cannot listen at %s", path);
    if (bound)
        (void)unlink(path);
    (void)close(sock);
    return rc;
}

static int sockets_listen(const char *host, const struct sockaddr *address, socklen_t len,
                          uint16_t *port, int *fd, struct laz_error *err)
{
    struct sockaddr_storage bound;
    const int on = 1;

    int sock = laz_posix_socket(address->sa_family, false);
    if (sock < 0)
        return laz_error_os(err, errno, "cannot create a socket");
    (void)setsockopt(sock, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(sock, address, len) != 0 || listen(sock, 16) != 0 ||
        getsockname(sock, (struct sockaddr *)&bound, &len) != 0) {
        int rc = laz_error_os(err, errno, "cannot listen at %s, port %u", host, (unsigned)*port);
        (void)close(sock);
        return rc;
    }
    *port = ntohs(bound.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&bound)->sin6_port
                                              : ((struct sockaddr_in *)&bound)->sin_port);
    *fd = sock;
    return 0;
}

int laz_os_listen_address(const char *host, uint16_t *port, int *fd, struct laz_error *err)
{
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(*port)};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(*port)};

    if (inet_pton(AF_INET6, host, &six.sin6_addr) == 1)
        return sockets_listen(host, (struct sockaddr *)&six, sizeof six, port, fd, err);
    if (inet_pton(AF_INET, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, &four.sin_addr) !=
        1)
        return laz_error_set(err, LAZ_EINVAL, 0,
                             "%.100s is not an address of this machine: a number, or localhost",
                             host);
    return sockets_listen(host, (struct sockaddr *)&four, sizeof four, port, fd, err);
}

int laz_os_listen_loopback(const char *host, uint16_t *port, int *fd, struct laz_error *err)
{
    if (strcmp(host, "::1") != 0 && strcmp(host, "localhost") != 0 &&
        strcmp(host, "127.0.0.1") != 0)
        return laz_error_set(err, LAZ_EINVAL, 0,
                             "%.100s is not this machine alone: localhost, 127.0.0.1 or ::1", host);
    return laz_os_listen_address(host, port, fd, err);
}

int laz_os_let_wait(int listener, int connections, struct laz_error *err)
{
    return listen(listener, connections) == 0 ? 0 : laz_error_os(err, errno, "listen(2)");
}

void laz_os_hang_up(int fd)
{
    (void)shutdown(fd, SHUT_RDWR);
}

int laz_os_remove_socket(const char *path, struct laz_error *err)
{
    struct stat st;

    if (lstat(path, &st) != 0)
        return errno == ENOENT ? 0 : laz_error_os(err, errno, "%s", path);
    if (!S_ISSOCK(st.st_mode) || st.st_uid != geteuid())
        return laz_error_set(err, LAZ_EREFUSED, 0, "%s exists, and is not a socket of this user",
                             path);
    return unlink(path) == 0 || errno == ENOENT ? 0 : laz_error_os(err, errno, "%s", path);
}

int laz_os_remove_dead_socket(const char *path, struct laz_error *err)
{
    struct sockaddr_un address;
    int rc = sockets_address(path, &address, err);
    int sock = rc ? -1 : laz_posix_socket(AF_UNIX, false);

    if (sock < 0)
        return rc ? rc : laz_error_os(err, errno, "%s: cannot tell whether it is in use", path);
    const int answer = connect(sock, (struct sockaddr *)&address, sizeof address) ? errno : 0;
    (void)close(sock);
    if (answer == ECONNREFUSED || answer == ENOENT)
        return laz_os_remove_socket(path, err);
    /* EAGAIN: too many others wait to be accepted; EPROTOTYPE: of another type (unix(7)) */
    if (!answer || answer == EAGAIN || answer == EPROTOTYPE)
        return laz_error_set(err, LAZ_EREFUSED, 0, "%s: another process listens there", path);
    return laz_error_os(err, answer, "%s: cannot tell whether it is in use", path);
}

bool laz_os_is_ipv6(const char *text)
{
    unsigned char address[16];

    return inet_pton(AF_INET6, text, address) == 1;
}

int laz_os_connect(const char *path, int *fd, struct laz_error *err)
{
    struct sockaddr_un address;
    int rc = sockets_address(path, &address, err);

    if (rc)
        return rc;
    int sock = laz_posix_socket(AF_UNIX, true);
    if (sock < 0)
        return laz_error_os(err, errno, "cannot create a socket");
    while (connect(sock, (struct sockaddr *)&address, sizeof address) != 0) {
        if (errno == EINTR)
            continue;
        rc = laz_error_os(err, errno, "cannot connect to %s", path);
        (void)close(sock);
        return rc;
    }
    *fd = sock;
    return 0;
}

int laz_os_stream_pair(int *ours, int *theirs, struct laz_error *err)
{
    int ends[2];

    if (laz_posix_above_both(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), ends) != 0)
        return laz_error_os(err, errno, "cannot create a pair of sockets");
    if (laz_posix_accepted(ends[0]) < 0 || laz_posix_accepted(ends[1]) < 0 ||
        fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0) {
        int rc = laz_error_os(err, errno, "a socket cannot be set up");
        (void)close(ends[0]);
        (void)close(ends[1]);
        return rc;
    }
    *ours = ends[0];
    *theirs = ends[1];
    return 0;
}

int laz_os_accept(int listener)
{
    int fd;

    do
        fd = laz_posix_above(accept(listener, NULL, NULL));
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return -1;
    if (laz_posix_accepted(fd) < 0 || fcntl(fd, F_SETFL, O_NONBLOCK) < 0) {
        int failed = errno;
        (void)close(fd);
        errno = failed;
        return -1;
    }
    return fd;
}
