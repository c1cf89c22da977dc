/* SPDX-License-Identifier: MIT */
/* inet.c - connections and packets by address.  System: Linux.
 * Side: host.  Input trusted: no (what peers send); yes (addresses to connect to, which were judged
 * by the caller). */
#include "os/inet.h"

#include "os/descriptors.h"
#include "os/posix/descriptors.h"
#include "os/posix/sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#define INET_IDLE_S     60 /* without a segment, until the peer is asked whether it lives */
#define INET_INTERVAL_S 15
#define INET_PROBES     4

union inet_address {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
};

static socklen_t inet_of_endpoint(const struct laz_endpoint *end, union inet_address *address)
{
    memset(address, 0, sizeof *address);
    if (end->family == 6) {
        address->six.sin6_family = AF_INET6;
        address->six.sin6_port = htons(end->port);
        memcpy(&address->six.sin6_addr, end->bytes, 16);
        return sizeof address->six;
    }
    address->four.sin_family = AF_INET;
    address->four.sin_port = htons(end->port);
    memcpy(&address->four.sin_addr, end->bytes, 4);
    return sizeof address->four;
}

static void inet_to_endpoint(const union inet_address *address, struct laz_endpoint *end)
{
    memset(end, 0, sizeof *end);
    if (address->any.sa_family == AF_INET6) {
        end->family = 6;
        end->port = ntohs(address->six.sin6_port);
        memcpy(end->bytes, &address->six.sin6_addr, 16);
    } else if (address->any.sa_family == AF_INET) {
        end->family = 4;
        end->port = ntohs(address->four.sin_port);
        memcpy(end->bytes, &address->four.sin_addr, 4);
    }
}

/* ---- connections ----------------------------------------------------------------------------- */

void laz_os_inet_tune(int fd)
{
    static const struct {
        int level, name, value;
    } rows[] = {
        {IPPROTO_TCP, TCP_NODELAY, 1},
        {SOL_SOCKET, SO_KEEPALIVE, 1},
        {IPPROTO_TCP, TCP_KEEPIDLE, INET_IDLE_S},
        {IPPROTO_TCP, TCP_KEEPINTVL, INET_INTERVAL_S},
        {IPPROTO_TCP, TCP_KEEPCNT, INET_PROBES},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        (void)setsockopt(fd, rows[i].level, rows[i].name, &rows[i].value, sizeof rows[i].value);
}

int laz_os_inet_accept(int listener, struct laz_endpoint *wanted)
{
    union inet_address address = {.any.sa_family = AF_UNSPEC};
    socklen_t len = sizeof address;
    int fd = laz_posix_above(accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC));

    if (fd >= 0 && getsockname(fd, &address.any, &len) != 0)
        address.any.sa_family = AF_UNSPEC;
    inet_to_endpoint(&address, wanted);
    return fd;
}

static int inet_begin(int fd, const void *address, socklen_t len)
{
    if (fd < 0 || connect(fd, address, len) == 0 || errno == EINPROGRESS)
        return fd;
    const int why = errno;
    laz_os_reset(&fd);
    errno = why;
    return -1;
}

int laz_os_inet_connect(const struct laz_endpoint *to)
{
    union inet_address address;
    socklen_t len = inet_of_endpoint(to, &address);
    int fd = laz_posix_socket(address.any.sa_family, false);

    if (fd >= 0)
        laz_os_inet_tune(fd);
    return inet_begin(fd, &address, len);
}

/* What has this path, opened as a place only. No link is followed: code may be able to write a
 * directory on the way, and a link of its own would lead to any socket of the host. */
static int inet_open_path(const char *path)
{
    struct stat st;
    int at = laz_posix_above(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));

    for (path += strspn(path, "/"); at >= 0 && *path; path += strspn(path, "/")) {
        char part[NAME_MAX + 1];
        const size_t len = strcspn(path, "/");
        snprintf(part, sizeof part, "%.*s", (int)len, path);
        int next = len >= sizeof part
                       ? -1
                       : laz_posix_above(openat(at, part, O_PATH | O_NOFOLLOW | O_CLOEXEC));
        int why = len >= sizeof part ? ENAMETOOLONG : errno;
        if (next >= 0 && (fstat(next, &st) != 0 || S_ISLNK(st.st_mode))) {
            why = ELOOP;
            laz_os_close(&next);
        }
        laz_os_close(&at);
        at = next;
        errno = why;
        path += len;
    }
    return at;
}

int laz_os_path_connect(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int at = inet_open_path(path);

    if (at < 0)
        return -1;
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d", at);
    int fd = inet_begin(laz_posix_socket(AF_UNIX, false), &address, sizeof address);
    const int why = errno;
    laz_os_close(&at);
    errno = why;
    return fd;
}

int laz_os_inet_outcome(int fd)
{
    int why = 0;
    socklen_t len = sizeof why;

    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &len) == 0 ? why : errno;
}

void laz_os_end_sending(int fd)
{
    (void)shutdown(fd, SHUT_WR);
}

void laz_os_reset(int *fd)
{
    const struct linger at_once = {.l_onoff = 1};

    if (*fd < 0)
        return;
    (void)setsockopt(*fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    (void)close(*fd);
    *fd = -1;
}

/* ---- packets --------------------------------------------------------------------------------- */

ssize_t laz_os_inet_receive(int fd, void *data, size_t len, struct laz_endpoint *from)
{
    union inet_address address = {.any.sa_family = AF_UNSPEC};
    socklen_t size = sizeof address;
    ssize_t n = recvfrom(fd, data, len, MSG_DONTWAIT, &address.any, &size);

    inet_to_endpoint(&address, from);
    return n;
}

void laz_os_inet_send(int fd, const void *data, size_t len, const struct laz_endpoint *to)
{
    union inet_address address;
    socklen_t size = inet_of_endpoint(to, &address);

    (void)sendto(fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL, &address.any, size);
}

/* ---- for a library --------------------------------------------------------------------------- */

int laz_os_inet_socket(int domain, int type, int protocol)
{
    return laz_posix_above(socket(domain, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol));
}

int laz_os_inet_connect_to(int fd, const void *address, size_t len)
{
    return connect(fd, address, (socklen_t)len);
}

ssize_t laz_os_inet_receive_from(int fd, void *data, size_t len, int flags, void *from,
                                 void *from_len)
{
    return recvfrom(fd, data, len, flags, from, from_len);
}

ssize_t laz_os_inet_send_parts(int fd, const void *parts, int n)
{
    const struct msghdr message = {.msg_iov = (struct iovec *)parts, .msg_iovlen = (size_t)n};

    return sendmsg(fd, &message, MSG_NOSIGNAL);
}

uint64_t laz_os_most_descriptors(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}
