/* SPDX-License-Identifier: MIT */
/* inet.h - connections and packets by address, and by path, for the host of a box with a network.
 * Linux only.
 *
 * Every descriptor that is made is closed by exec and does not block.  What can fail by the peer
 * returns -1 with errno, as the system call does: EAGAIN where there is nothing now. */
#ifndef LAZ_OS_INET_H
#define LAZ_OS_INET_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct laz_endpoint {
    uint8_t family;    /* 4 or 6; 0: none */
    uint8_t bytes[16]; /* in the order of the network; IPv4 has the first four */
    uint16_t port;
};

/* Sets what the connections of a listening socket are to have: no delay of small segments, and a
 * peer that has vanished is noticed (tcp(7)). */
void laz_os_inet_tune(int listener);
/* Acknowledges what has come now, and not with what is sent next: a peer that holds its next small
 * segment back until then goes on (RFC 9293, 3.7.4). */
void laz_os_inet_acknowledge(int fd);
/* The next connection, and the address that its peer wanted. */
int laz_os_inet_accept(int listener, struct laz_endpoint *wanted);
/* Begins a connection. It is made, or has failed, when it can be written to. */
int laz_os_inet_connect(const struct laz_endpoint *to);
/* An absolute path, on which no symbolic link is followed (ELOOP). */
int laz_os_path_connect(const char *path);
/* A listening socket for clients of other machines: `host` is an address of this one, or "0.0.0.0"
 * or "::" for all; *port 0: any, which it then is. Errors: LAZ_EINVAL (it is no address), LAZ_EOS.
 */
int laz_os_inet_listen(const char *host, uint16_t *port, int *fd, struct laz_error *err);
/* Connects to a server, by each of the addresses of its name in turn, and waits for that at most
 * `ms` milliseconds in all. Errors: LAZ_EOS, LAZ_ETIMEOUT. */
int laz_os_inet_reach(const char *host, uint16_t port, uint64_t ms, int *fd, struct laz_error *err);
/* The address of the peer of a connection, as text without its port; "", and family 0, where it has
 * gone. */
#define LAZ_OS_ADDRESS 64
void laz_os_inet_peer(int fd, char address[LAZ_OS_ADDRESS], struct laz_endpoint *peer);
/* May one host have both? The same address of IPv4, also where IPv6 has it in it, or a prefix of 64
 * bits of IPv6, which is what a network gives to one. */
bool laz_endpoint_is_of_one(const struct laz_endpoint *a, const struct laz_endpoint *b);
/* 0: it is made; else the errno of what went wrong. */
int laz_os_inet_outcome(int fd);
/* Nothing more will be sent. */
void laz_os_end_sending(int fd);
/* Closes a connection so that its peer learns that something is wrong (a reset), and sets it to -1.
 */
void laz_os_reset(int *fd);

/* A packet of UDP, cut to `len` bytes, and its sender. */
ssize_t laz_os_inet_receive(int fd, void *data, size_t len, struct laz_endpoint *from);
/* One that cannot be sent now is lost. */
void laz_os_inet_send(int fd, const void *data, size_t len, const struct laz_endpoint *to);
/* For a library that makes connections itself: socket(2), connect(2), recvfrom(2), writev(2), with
 * the types of these hidden. */
int laz_os_inet_socket(int domain, int type, int protocol);
int laz_os_inet_connect_to(int fd, const void *address, size_t len);
ssize_t laz_os_inet_receive_from(int fd, void *data, size_t len, int flags, void *from,
                                 void *from_len);
ssize_t laz_os_inet_send_parts(int fd, const void *parts, int n);

/* How many descriptors this process may have. */
uint64_t laz_os_most_descriptors(void);

#endif
