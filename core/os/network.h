/* SPDX-License-Identifier: MIT */
/* network.h - network namespaces in which nothing runs but what the host listens to.  Linux only.
 *
 * Such a namespace has a loopback interface, to which every address of IPv4 and IPv6 leads
 * ("AnyIP": a route of the type local), and listening sockets that were made in it; nothing else.
 * A socket belongs to the namespace it was made in, whoever holds it: the host accepts what
 * processes inside connect to, and getsockname(2) of what it accepts is the address that they
 * wanted.  The namespace ends with its last process and its last socket (network_namespaces(7)). */
#ifndef LAZ_OS_NETWORK_H
#define LAZ_OS_NETWORK_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAZ_OS_NETWORK_PORTS 64

/* The descriptors of one namespace, all closed by exec and not blocking; -1: there is none. */
struct laz_os_network {
    int user, space; /* namespaces to enter: of users (-1: that of the host), and of the network */
    int dns_udp, dns_tcp; /* 127.0.0.1, port 53 */
    int watch; /* AF_PACKET, SOCK_DGRAM: SYN without ACK, and UDP that is not DNS, of both IPs */
    int listeners[LAZ_OS_NETWORK_PORTS]; /* TCP, 0.0.0.0 */
    uint16_t ports[LAZ_OS_NETWORK_PORTS];
    size_t n_ports;
    bool is_bounded; /* buffers of its sockets are (LAZ_OS_SOCKET_BYTES); else as the kernel's */
};

#define LAZ_OS_NETWORK_NONE                                                                        \
    ((struct laz_os_network){.user = -1, .space = -1, .dns_udp = -1, .dns_tcp = -1, .watch = -1})

/* Most bytes that a socket in it may hold, each way. */
#define LAZ_OS_SOCKET_BYTES 262144u

/* Makes a namespace; `ports`: at most LAZ_OS_NETWORK_PORTS, each once. Takes about a millisecond.
 * Any thread. LAZ_EREFUSED: this kernel or container lets this user make none, with the reason. */
int laz_os_network_new(const uint16_t *ports, size_t n, struct laz_os_network *network,
                       struct laz_error *err);
void laz_os_network_close(struct laz_os_network *network);

#endif
