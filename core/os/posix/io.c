/* SPDX-License-Identifier: MIT */
/* io.c - reading and writing of connections, pipes and files, and waiting for them.
 * System: POSIX. */
#include "os/io.h"

#include "base/clock.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define IO_PARTS  8
#define IO_YIELDS 10 /* before it sleeps: a reader that is awake is quick */

static ssize_t io_result(ssize_t n)
{
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return 0;
    return n < 0 ? -1 : n;
}

ssize_t laz_os_read(int fd, void *data, size_t len)
{
    ssize_t n;

    do
        n = read(fd, data, len);
    while (n < 0 && errno == EINTR);
    if (n == 0)
        errno = 0;
    return n == 0 ? -1 : io_result(n);
}

/* Writes all of it; `waits`: while a pipe is full. 0 or an errno. */
static int io_write_all(int fd, const char *data, size_t len, bool waits, size_t *done)
{
    while (*done < len) {
        ssize_t n = write(fd, data + *done, len - *done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN && waits) {
            struct pollfd wanted = {.fd = fd, .events = POLLOUT};
            (void)poll(&wanted, 1, -1);
            continue;
        }
        if (n < 0)
            return errno;
        if (n == 0)
            return ENOSPC;
        *done += (size_t)n;
    }
    return 0;
}

/* Beyond RLIMIT_FSIZE write(2) sends its thread SIGXFSZ, which would end the application: the
 * signal is blocked, and removed from the thread (sigpending(2)). */
int laz_os_write_all(int fd, const void *data, size_t len, size_t *done)
{
    sigset_t limit, before, pending;
    int taken;

    *done = 0;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    sigpending(&pending);
    bool was_pending = sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &limit, &before);
    int failed = io_write_all(fd, data, len, false, done);
    if (failed && !was_pending && sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1)
        sigwait(&limit, &taken);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

static int io_poll_ms(uint64_t ms)
{
    return ms == LAZ_OS_FOREVER ? -1 : ms < INT_MAX ? (int)ms : INT_MAX;
}

bool laz_os_await(int fd, uint64_t ms)
{
    struct pollfd wanted = {.fd = fd, .events = POLLIN};

    return poll(&wanted, 1, io_poll_ms(ms)) > 0;
}

int laz_os_watchable(int fd)
{
    return fd;
}

int laz_os_await_any(struct laz_awaited *awaited, size_t n, uint64_t ms)
{
    struct pollfd fds[IO_PARTS];

    if (n > IO_PARTS) {
        errno = EINVAL;
        return -1;
    }
    for (size_t i = 0; i < n; i++)
        fds[i] = (struct pollfd){.fd = awaited[i].fd, .events = POLLIN};
    int ready = poll(fds, n, io_poll_ms(ms));
    for (size_t i = 0; i < n; i++)
        awaited[i].ready = ready > 0 && fds[i].revents;
    return ready < 0 && errno == EINTR ? 0 : ready;
}

size_t laz_os_pending(int fd)
{
    int there = 0;

    return ioctl(fd, FIONREAD, &there) == 0 && there > 0 ? (size_t)there : 0;
}

void laz_os_await_reader(int fd, bool (*goes_on)(void *user), void *user)
{
    const struct timespec pause = {.tv_nsec = 20 * 1000};

    for (unsigned round = 0; laz_os_pending(fd) && goes_on(user); round++) {
        struct pollfd end = {.fd = fd}; /* POLLERR: no reader */
        if (poll(&end, 1, 0) > 0)
            return;
        if (round < IO_YIELDS)
            sched_yield();
        else
            nanosleep(&pause, NULL);
    }
}

/* ---- connections that block ----------------------------------------------------------------- */

bool laz_os_send_parts(int fd, const struct laz_part *parts, size_t n)
{
    size_t done = 0; /* bytes of the first part */

    while (n) {
        struct iovec pieces[IO_PARTS];
        struct msghdr message = {.msg_iov = pieces};
        for (size_t i = 0; i < n && i < IO_PARTS; i++) {
            size_t sent = i ? 0 : done;
            pieces[i].iov_base = (char *)(uintptr_t)parts[i].data + sent;
            pieces[i].iov_len = parts[i].len - sent;
            message.msg_iovlen = i + 1;
        }
        ssize_t sent = sendmsg(fd, &message, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR)
            return false;
        for (done += sent > 0 ? (size_t)sent : 0; n && done >= parts->len; n--, parts++)
            done -= parts->len;
    }
    return true;
}

ssize_t laz_os_read_within(int fd, void *data, size_t len, int wait_ms)
{
    const uint64_t until = wait_ms > 0 ? laz_clock_ms() + (uint64_t)wait_ms : 0;

    for (;;) {
        if (wait_ms > 0) {
            struct pollfd wanted = {.fd = fd, .events = POLLIN};
            uint64_t now = laz_clock_ms();
            int n = poll(&wanted, 1, now < until ? (int)(until - now) : 0);
            if (n == 0)
                return -1;
            if (n < 0 && errno == EINTR)
                continue;
        }
        ssize_t got = recv(fd, data, len, wait_ms < 0 ? 0 : MSG_DONTWAIT);
        if (got >= 0)
            return got;
        bool none = errno == EAGAIN || errno == EWOULDBLOCK;
        if (none && wait_ms == 0)
            return -1;
        if (errno != EINTR && !(none && wait_ms > 0))
            return 0;
    }
}

bool laz_os_write_waiting(int fd, const void *data, size_t len)
{
    size_t done = 0;

    return io_write_all(fd, data, len, true, &done) == 0;
}

/* ---- connections that do not ---------------------------------------------------------------- */

ssize_t laz_os_send_pipe(int fd, const void *data, size_t len)
{
    ssize_t n;

    do
        n = write(fd, data, len);
    while (n < 0 && errno == EINTR);
    return io_result(n);
}

ssize_t laz_os_send(int fd, const void *data, size_t len)
{
    ssize_t n;

    do
        n = send(fd, data, len, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n < 0 && errno == ENOTSOCK ? laz_os_send_pipe(fd, data, len) : io_result(n);
}
