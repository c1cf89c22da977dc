/* SPDX-License-Identifier: MIT */
/* network.h - sockets of the host in the network namespace of a box.  Linux only.
 *
 * A box has a network namespace of its own, with nothing in it.  The host enters that and makes
 * there: a loopback interface to which every address of IPv4 and IPv6 leads ("AnyIP": a route of
 * the type local), and listening sockets.  A socket belongs to the namespace it was made in,
 * whoever holds it: the host accepts what processes inside connect to, and getsockname(2) of what
 * it accepts is the address that they wanted.  The namespace ends with its last process and its
 * last socket (network_namespaces(7)).
 *
 * No descriptor comes out of the box, and no process in it ever has a capability over the
 * namespace: the user who made the box has them all, as the owner of its user namespace. */
#ifndef LAZ_OS_NETWORK_H
#define LAZ_OS_NETWORK_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define LAZ_OS_NETWORK_PORTS 64
#define LAZ_OS_WATCHES       4 /* TCP and UDP, each over IPv4 and IPv6 */

/* The sockets of one namespace, all closed by exec and not blocking; -1: there is none. */
struct laz_os_network {
    int dns_udp, dns_tcp;                /* 127.0.0.1, port 53 */
    int watches[LAZ_OS_WATCHES];         /* for laz_os_network_hear */
    int listeners[LAZ_OS_NETWORK_PORTS]; /* TCP, 0.0.0.0 */
    uint16_t ports[LAZ_OS_NETWORK_PORTS];
    size_t n_ports;
    bool is_bounded; /* buffers of its sockets are (LAZ_OS_SOCKET_BYTES); else as the kernel's */
};

#define LAZ_OS_NETWORK_NONE                                                                        \
    ((struct laz_os_network){.dns_udp = -1, .dns_tcp = -1, .watches = {-1, -1, -1, -1}})

/* Most bytes that a socket in it may hold, each way. */
#define LAZ_OS_SOCKET_BYTES 262144u
/* What is kept of a packet that is heard: its headers. */
#define LAZ_OS_WATCH_BYTES 64u

/* A process in the namespace. */
struct laz_os_network_of {
    int64_t pid;
    int pidfd;    /* its descriptor, by which it is known not to be another one by now */
    uint32_t uid; /* of the user who has made its namespaces; LAZ_SPAWN_SAME_ID: this one */
};

/* Makes the sockets; `ports`: at most LAZ_OS_NETWORK_PORTS, each once, none of them 53; 0: only DNS
 * is answered. Takes less than a millisecond. Any thread. Errors, of which none leaves a socket:
 * LAZ_EINVAL: the ports; LAZ_EREFUSED: the process has no namespace of its own, or this kernel or
 * container does not let this user enter it, with the step and the reason; LAZ_EOS: descriptors or
 * memory are exhausted. */
int laz_os_network_listen(const struct laz_os_network_of *of, const uint16_t *ports, size_t n,
                          struct laz_os_network *network, struct laz_error *err);
void laz_os_network_close(struct laz_os_network *network);
/* The head of the next packet that was sent to nobody: of TCP one that would begin a connection,
 * where no port is listened to; of UDP any but those of DNS. Of IPv6 the address that it was for,
 * the protocol, and what follows the header are filled in. Its bytes; not more than 0: there is
 * none now. */
ssize_t laz_os_network_hear(const struct laz_os_network *network, uint8_t head[LAZ_OS_WATCH_BYTES]);

#endif
