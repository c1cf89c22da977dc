/* SPDX-License-Identifier: MIT */
/* io.h - reading, writing and waiting for descriptors, with one way to report each outcome. */
#ifndef LAZ_OS_IO_H
#define LAZ_OS_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Bytes read; 0: nothing is available now; -1: the peer is gone (errno is 0), or an error. For
 * sockets and pipes that do not block. */
ssize_t laz_os_read(int fd, void *data, size_t len);
/* Writes all of it to a file; *done: bytes that were written. Returns 0 or an errno. Raises no
 * SIGXFSZ: a file that would exceed RLIMIT_FSIZE is EFBIG. */
int laz_os_write_all(int fd, const void *data, size_t len, size_t *done);
/* Waits until something can be read, or `ms` milliseconds (LAZ_OS_FOREVER: without end). False:
 * nothing can. */
#define LAZ_OS_FOREVER UINT64_MAX
bool laz_os_await(int fd, uint64_t ms);
/* The descriptor that a foreign event loop can watch (poll(2)) to learn the same; -1: the system
 * has none. */
int laz_os_watchable(int fd);
/* Bytes written to a socket, maybe fewer than asked, 0 when it takes none now; -1: the peer is gone
 * (EPIPE, ECONNRESET), or an error. Raises no SIGPIPE; but for a pipe, which may be given as well,
 * where the process does not ignore that. */
ssize_t laz_os_send(int fd, const void *data, size_t len);
/* The same for what is known to be a pipe: a system call less. */
ssize_t laz_os_send_pipe(int fd, const void *data, size_t len);
/* A piece of a message. */
struct laz_part {
    const void *data;
    size_t len;
};
/* Sends the parts as one message over a blocking connection, in one system call where they are few
 * and the connection is not full. False: the peer is gone. Raises no SIGPIPE. */
bool laz_os_send_parts(int fd, const struct laz_part *parts, size_t n);
/* Bytes read from a blocking connection; 0 at its end, or when it broke; -1: none came within
 * `wait_ms` (-1: without end). */
ssize_t laz_os_read_within(int fd, void *data, size_t len, int wait_ms);
/* Writes all of it, and waits while the pipe is full. False: the pipe has no reader. */
bool laz_os_write_waiting(int fd, const void *data, size_t len);

/* Waits until one of them can be read, or has come to its end, or `ms` milliseconds have passed
 * (LAZ_OS_FOREVER: without end). Returns how many are ready; 0 also when it was interrupted; -1
 * with errno. */
struct laz_awaited {
    int fd; /* -1: ignored */
    bool ready;
};
int laz_os_await_any(struct laz_awaited *awaited, size_t n, uint64_t ms);
/* Bytes that can be read from a pipe without waiting; on Linux either end can be asked. */
size_t laz_os_pending(int fd);
/* Waits until all that was written to this end of a pipe has been read, or the pipe has no reader,
 * or goes_on(user) is false. It does not wait where the system does not say how much is there
 * (macOS and Windows). */
void laz_os_await_reader(int fd, bool (*goes_on)(void *user), void *user);

#endif
