/* SPDX-License-Identifier: MIT */
/* attack_network.c - attempts to connect: addresses, names, families of sockets. */
#include "attack.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int network_connect(int family, int type, const void *address, socklen_t len)
{
    int fd = socket(family, type | SOCK_CLOEXEC, 0);
    int result = fd < 0 ? errno : attack_result(connect(fd, address, len));

    if (fd >= 0)
        close(fd);
    return result;
}

static int network_tcp4(char **args)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)atoi(args[0])),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    return network_connect(AF_INET, SOCK_STREAM, &address, sizeof address);
}

static int network_tcp6(char **args)
{
    struct sockaddr_in6 address = {.sin6_family = AF_INET6,
                                   .sin6_port = htons((uint16_t)atoi(args[0])),
                                   .sin6_addr = IN6ADDR_LOOPBACK_INIT};

    return network_connect(AF_INET6, SOCK_STREAM, &address, sizeof address);
}

/* An IPv4 address mapped into IPv6. */
static int network_mapped(char **args)
{
    struct sockaddr_in6 address = {.sin6_family = AF_INET6,
                                   .sin6_port = htons((uint16_t)atoi(args[0]))};

    inet_pton(AF_INET6, "::ffff:127.0.0.1", &address.sin6_addr);
    return network_connect(AF_INET6, SOCK_STREAM, &address, sizeof address);
}

/* Sends two datagrams: without a listener, the answer to the first makes the second fail. */
static int network_udp(char **args)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)atoi(args[0])),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), result = 0;

    if (fd < 0)
        return errno;
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0 || send(fd, "a", 1, 0) != 1 ||
        send(fd, "b", 1, 0) != 1)
        result = errno;
    close(fd);
    return result;
}

/* Begins to connect to an external address; it succeeds if there is a route. */
static int network_outside(char **args)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(80)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return errno;
    inet_pton(AF_INET, args[0], &address.sin_addr);
    int result = attack_result(connect(fd, (struct sockaddr *)&address, sizeof address));
    close(fd);
    return result == EINPROGRESS || result == ECONNREFUSED ? 0 : result;
}

static int network_unix(const char *path, size_t len)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (len > sizeof address.sun_path)
        return ENAMETOOLONG;
    memcpy(address.sun_path, path, len);
    return network_connect(AF_UNIX, SOCK_STREAM, &address,
                           (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
}

static int network_path(char **args)
{
    return network_unix(args[0], strlen(args[0]));
}

static int network_abstract(char **args)
{
    char name[108] = {0};

    snprintf(name + 1, sizeof name - 1, "%s", args[0]);
    return network_unix(name, 1 + strlen(args[0]));
}

static int network_listen(char **args)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), result = 0;

    (void)args;
    if (fd < 0)
        return errno;
    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 1) != 0)
        result = errno;
    close(fd);
    return result;
}

static const struct {
    const char *name;
    int family, type;
} network_families[] = {
    {"inet", AF_INET, SOCK_STREAM},
    {"inet6", AF_INET6, SOCK_DGRAM},
    {"raw", AF_INET, SOCK_RAW},
    {"packet", AF_PACKET, SOCK_RAW},
    {"netlink", AF_NETLINK, SOCK_RAW},
    {"vsock", AF_VSOCK, SOCK_STREAM},
    {"alg", AF_ALG, SOCK_SEQPACKET},
    {"unix", AF_UNIX, SOCK_STREAM},
    {"unix-datagram", AF_UNIX, SOCK_DGRAM},
    {"xdp", 44, SOCK_RAW},
    {"bluetooth", AF_BLUETOOTH, SOCK_RAW},
    {"tipc", 30, SOCK_RAW},
};

static int network_family(char **args)
{
    for (size_t i = 0; i < sizeof network_families / sizeof *network_families; i++) {
        if (strcmp(network_families[i].name, args[0]) != 0)
            continue;
        int protocol = network_families[i].type == SOCK_RAW && network_families[i].family == AF_INET
                           ? IPPROTO_ICMP
                           : 0;
        int fd = socket(network_families[i].family, network_families[i].type, protocol);
        int result = attack_result(fd);
        if (fd >= 0)
            close(fd);
        return result;
    }
    return EINVAL;
}

/* Looks for interfaces of the host in the kernel's information about this process's network. */
static int network_interfaces(char **args)
{
    char line[256];
    FILE *file = fopen("/proc/self/net/dev", "re");
    int result = ATTACK_NOTHING;

    (void)args;
    if (!file)
        return errno;
    for (int n = 0; fgets(line, sizeof line, file); n++) {
        const char *name = line + strspn(line, " ");
        if (n >= 2 && strncmp(name, "lo:", 3) != 0)
            result = 0;
    }
    (void)fclose(file);
    return result;
}

/* setns PID KIND: enters a namespace of that process. */
static int network_setns(char **args)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%s/ns/%s", args[0], args[1]);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int result = fd < 0 ? errno : attack_result(setns(fd, 0));
    if (fd >= 0)
        close(fd);
    return result;
}

const struct attack attack_network[] = {
    {"tcp4", 1, network_tcp4},         {"tcp6", 1, network_tcp6},
    {"mapped", 1, network_mapped},     {"udp", 1, network_udp},
    {"outside", 1, network_outside},   {"unix", 1, network_path},
    {"abstract", 1, network_abstract}, {"listen", 0, network_listen},
    {"family", 1, network_family},     {"interfaces", 0, network_interfaces},
    {"setns", 2, network_setns},       {0},
};
