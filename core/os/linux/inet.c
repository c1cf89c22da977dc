/* SPDX-License-Identifier: MIT */
/* inet.c - connections and packets by address.  System: Linux.
 * Side: host.  Input trusted: no (what peers send); yes (addresses to connect to, which were judged
 * by the caller). */
#include "os/inet.h"

#include "base/clock.h"
#include "os/descriptors.h"
#include "os/posix/descriptors.h"
#include "os/posix/sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
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

void laz_os_inet_acknowledge(int fd)
{
    const int on = 1;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
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

int laz_os_inet_listen(const char *host, uint16_t *port, int *fd, struct laz_error *err)
{
    union inet_address address;
    struct laz_endpoint end = {.port = *port};
    const int on = 1;

    end.family = inet_pton(AF_INET, host, end.bytes) == 1    ? 4
                 : inet_pton(AF_INET6, host, end.bytes) == 1 ? 6
                                                             : 0;
    if (!end.family)
        return laz_error_set(err, LAZ_EINVAL, 0,
                             "%.100s is not an address, such as 192.0.2.1, or 0.0.0.0 for all",
                             host);
    socklen_t len = inet_of_endpoint(&end, &address);
    int sock = laz_posix_socket(address.any.sa_family, false);
    if (sock < 0)
        return laz_error_os(err, errno, "cannot create a socket");
    (void)setsockopt(sock, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    laz_os_inet_tune(sock);
    if (bind(sock, &address.any, len) != 0 || listen(sock, SOMAXCONN) != 0 ||
        getsockname(sock, &address.any, &len) != 0) {
        int rc = laz_error_os(err, errno, "cannot listen at %s, port %u", host, (unsigned)*port);
        laz_os_close(&sock);
        return rc;
    }
    inet_to_endpoint(&address, &end);
    *port = end.port;
    *fd = sock;
    return 0;
}

/* Connects to one address; 0 or an errno, ETIMEDOUT when that has taken until `until_us`. */
static int inet_try(const struct addrinfo *to, uint64_t until_us, int *fd)
{
    int sock = laz_posix_socket(to->ai_family, false);
    int why = sock < 0 ? errno : 0;

    if (!why)
        laz_os_inet_tune(sock);
    if (!why && connect(sock, to->ai_addr, to->ai_addrlen) != 0 && errno != EINPROGRESS)
        why = errno;
    struct pollfd ready = {.fd = sock, .events = POLLOUT};
    for (int n = 0; !why && n == 0;) {
        const uint64_t now_us = laz_clock_us();
        n = now_us < until_us ? poll(&ready, 1, (int)((until_us - now_us) / 1000) + 1) : -1;
        if (n < 0)
            why = now_us >= until_us ? ETIMEDOUT : errno == EINTR ? 0 : errno;
        if (n < 0 && !why)
            n = 0;
    }
    if (!why)
        why = laz_os_inet_outcome(sock);
    if (why)
        laz_os_close(&sock);
    *fd = sock;
    return why;
}

int laz_os_inet_reach(const char *host, uint16_t port, uint64_t ms, int *fd, struct laz_error *err)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    const uint64_t until_us = laz_clock_us() + ms * 1000;
    struct addrinfo *all = NULL;
    char service[8];
    int why = ENOENT;

    snprintf(service, sizeof service, "%u", (unsigned)port);
    const int unknown = getaddrinfo(host, service, &hints, &all);
    if (unknown)
        return laz_error_set(err, LAZ_EOS, 0, "%.255s: %s", host, gai_strerror(unknown));
    for (const struct addrinfo *one = all; one && why; one = one->ai_next)
        why = inet_try(one, until_us, fd);
    freeaddrinfo(all);
    if (why == ETIMEDOUT)
        return laz_error_set(err, LAZ_ETIMEOUT, 0, "%.255s, port %u, does not answer", host,
                             (unsigned)port);
    return why ? laz_error_os(err, why, "cannot connect to %.255s, port %u", host, (unsigned)port)
               : 0;
}

void laz_os_inet_peer(int fd, char text[LAZ_OS_ADDRESS], struct laz_endpoint *peer)
{
    union inet_address address = {.any.sa_family = AF_UNSPEC};
    socklen_t len = sizeof address;

    *text = '\0';
    if (getpeername(fd, &address.any, &len) != 0)
        address.any.sa_family = AF_UNSPEC;
    inet_to_endpoint(&address, peer);
    if (address.any.sa_family == AF_INET6)
        (void)inet_ntop(AF_INET6, &address.six.sin6_addr, text, LAZ_OS_ADDRESS);
    else if (address.any.sa_family == AF_INET)
        (void)inet_ntop(AF_INET, &address.four.sin_addr, text, LAZ_OS_ADDRESS);
}

/* The bytes of its IPv4 address; NULL: it has none. */
static const uint8_t *inet_four(const struct laz_endpoint *end)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff}; /* RFC 4291, 2.5.5.2 */

    return end->family == 4                                                 ? end->bytes
           : end->family == 6 && !memcmp(end->bytes, mapped, sizeof mapped) ? end->bytes + 12
                                                                            : NULL;
}

bool laz_endpoint_is_of_one(const struct laz_endpoint *a, const struct laz_endpoint *b)
{
    const uint8_t *four = inet_four(a), *other = inet_four(b);

    if (four || other)
        return four && other && memcmp(four, other, 4) == 0;
    return a->family == b->family && memcmp(a->bytes, b->bytes, 8) == 0;
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
