/* SPDX-License-Identifier: MIT */
/* sockets.h - the connection between host and agent: a Unix socket, on Windows a pipe. */
#ifndef LAZ_OS_SOCKETS_H
#define LAZ_OS_SOCKETS_H

#include "base/error.h"
#include "os/users.h"

/* What the agent connects to in the session with this directory: a socket in its directory
 * "socket"; on Windows its standard input, which is an end of a pipe. A new string. */
char *laz_os_socket_name(const char *directory);
/* A listening Unix socket at `path` (mode 0600, owner uid and gid unless LAZ_OS_SAME_ID),
 * non-blocking, backlog of 1. The path must fit sun_path. */
int laz_os_listen(const char *path, uint32_t uid, uint32_t gid, int *fd, struct laz_error *err);
/* The end of the connection that a child has to inherit as its standard input (Windows), which the
 * caller closes after the start; -1: children connect by the path. */
int laz_os_take_end(int listener);
/* A connection of a listening socket, non-blocking; -1 with errno, EAGAIN where there is none. */
int laz_os_accept(int listener);
int laz_os_connect(const char *path, int *fd, struct laz_error *err); /* blocking */
/* A listening TCP socket of this machine alone, non-blocking: `host` is "localhost", "127.0.0.1" or
 * "::1"; *port 0: any, which it then is. Errors: LAZ_EINVAL (another host), LAZ_EOS, LAZ_EREFUSED
 * (not on this system). */
int laz_os_listen_loopback(const char *host, uint16_t *port, int *fd, struct laz_error *err);
/* The same at any address of this machine: a number ("0.0.0.0", "10.0.0.5", "::1"), or "localhost".
 */
int laz_os_listen_address(const char *host, uint16_t *port, int *fd, struct laz_error *err);
/* Lets more connections than one wait until they are accepted. Errors: LAZ_EOS. */
int laz_os_let_wait(int listener, int connections, struct laz_error *err);
/* Ends a connection in both directions; its descriptor stays open, and reading finds the end. */
void laz_os_hang_up(int fd);
/* Removes a socket of this user at the path if nobody listens there any more: connect(2) says
 * ECONNREFUSED, and any other answer may come from somebody who lives. 0 also if there is nothing.
 * Errors: LAZ_EREFUSED: somebody listens, or there is something else; LAZ_EOS. */
int laz_os_remove_dead_socket(const char *path, struct laz_error *err);
/* Removes a socket of this user at the path. 0 also if there is nothing. Errors: LAZ_EREFUSED:
 * there is something else; LAZ_EOS. */
int laz_os_remove_socket(const char *path, struct laz_error *err);
/* Two ends of one connection for a child's standard input, closed by exec. `ours` does not block;
 * `theirs` is as a program expects it. Errors: LAZ_EOS; LAZ_EREFUSED on Windows. */
int laz_os_stream_pair(int *ours, int *theirs, struct laz_error *err);
bool laz_os_is_ipv6(const char *text); /* an address, as inet_pton(3) reads it */

#endif
