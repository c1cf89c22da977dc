/* SPDX-License-Identifier: MIT */
/* io.h - reading and writing, with one answer for all that can happen. */
#ifndef LAZ_OS_IO_H
#define LAZ_OS_IO_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Bytes read; 0: nothing is there now; -1: the other end is gone (errno is 0), or cannot be read
 * from. For sockets and pipes that do not block. */
ssize_t laz_os_read(int fd, void *data, size_t len);
/* Writes all of it to a file; *done: bytes that were written. Returns 0 or an errno. Raises no
 * SIGXFSZ: a file that may not grow so far (RLIMIT_FSIZE) is EFBIG. */
int laz_os_write_all(int fd, const void *data, size_t len, size_t *done);
/* Waits until something can be read, or `ms` milliseconds (LAZ_OS_FOREVER: without end). False:
 * nothing can. */
#define LAZ_OS_FOREVER UINT64_MAX
bool laz_os_await(int fd, uint64_t ms);
/* What a loop that is not ours can watch (poll(2)) to learn the same; -1: the system has nothing of
 * the kind. */
int laz_os_watchable(int fd);
/* Bytes written to a socket, maybe fewer than asked, 0 when it takes none now; -1: the other end is
 * gone (EPIPE, ECONNRESET), or cannot be written to. Raises no SIGPIPE. */
ssize_t laz_os_send(int fd, const void *data, size_t len);
/* A piece of a message. */
struct laz_part {
    const void *data;
    size_t len;
};
/* Sends the parts as one over a blocking connection, in one system call where they are few and it
 * is not full. False: the other end is gone. Raises no SIGPIPE. */
bool laz_os_send_parts(int fd, const struct laz_part *parts, size_t n);
/* Bytes read from a blocking connection; 0 at its end, or when it broke; -1: none came within
 * `wait_ms` (-1: without end). */
ssize_t laz_os_read_within(int fd, void *data, size_t len, int wait_ms);
/* Writes all of it, and waits where the pipe takes none now. False: nobody reads it. */
bool laz_os_write_waiting(int fd, const void *data, size_t len);

/* Waits until one of them can be read, or has come to its end, or `ms` milliseconds have passed
 * (LAZ_OS_FOREVER: none). How many; 0 also for no reason; -1: errno tells. */
struct laz_awaited {
    int fd; /* -1: passed over */
    bool ready;
};
int laz_os_await_any(struct laz_awaited *awaited, size_t n, uint64_t ms);
/* Bytes that can be read from a pipe without waiting. */
size_t laz_os_pending(int fd);

/* Reads from a blocking Unix socket, with the descriptors that came along (close-on-exec; the
 * caller owns them): at most so many, all of one message. What read(2) returns. */
#define LAZ_OS_HANDOVER 8
ssize_t laz_os_receive(int fd, void *data, size_t len, int fds[LAZ_OS_HANDOVER], size_t *n_fds);
/* Sends all of a short message with copies of 1 to LAZ_OS_HANDOVER descriptors. False: the peer is
 * gone. */
bool laz_os_hand_over(int fd, const void *data, size_t len, const int *fds, size_t n_fds);
/* A connection of a listening socket, non-blocking; -1 with errno, EAGAIN where there is none. */
int laz_os_accept(int listener);

/* CPU time and resident memory of a process as the kernel tells them: of that very process, never
 * of another that gets its number. */
struct laz_usage {
    int fd;         /* Linux: /proc/PID/stat; Windows: the process; -1 */
    int64_t pid;    /* macOS: its number, 0: none ... */
    uint64_t begun; /* ... and when it began, in a unit of the system's */
};
#define LAZ_USAGE_INIT                                                                             \
    {                                                                                              \
        .fd = -1                                                                                   \
    }
/* False: it cannot be told; then both are 0 below. */
bool laz_os_usage_open(int64_t pid, struct laz_usage *usage);
void laz_os_usage_read(const struct laz_usage *usage, uint64_t *cpu_us, uint64_t *rss_bytes);
bool laz_os_usage_is_open(const struct laz_usage *usage);
void laz_os_usage_close(struct laz_usage *usage);

/* A descriptor for a process that is not a child of ours (pidfd_open(2), kqueue(2)), -1 when there
 * is none; and SIGKILL to it, which reaches that process or nobody (-1 is passed over; macOS:
 * nobody, for what is ended so is the first process of a namespace). */
int laz_os_pidfd(int64_t pid);
/* The same for a process of this pid namespace (its inode; 0: not known, any): a number that was
 * learned a while ago may be another process's by now. */
int laz_os_pidfd_within(int64_t pid, uint64_t pid_namespace);
void laz_os_pidfd_kill(int pidfd);
bool laz_os_pidfd_has_ended(int pidfd); /* true for -1 */
/* How the process ended, in the kernel's words: true, and the number of the signal or 0, and its
 * exit status or -1. False: it has not ended and been reaped, or the kernel (before 6.15) does not
 * tell. */
bool laz_os_pidfd_end(int pidfd, int *signal, int *status);

#endif
