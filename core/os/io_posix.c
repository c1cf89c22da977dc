/* SPDX-License-Identifier: MIT */
/* io_posix.c - non-blocking reading and writing; writing of whole texts to files. */
#include "os/io.h"

#include "os/posix.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

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

static int io_write_all(int fd, const char *data, size_t len, size_t *done)
{
    while (*done < len) {
        ssize_t n = write(fd, data + *done, len - *done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        if (n == 0)
            return ENOSPC;
        *done += (size_t)n;
    }
    return 0;
}

/* Beyond RLIMIT_FSIZE write(2) sends its thread SIGXFSZ, which would end the application: it is
 * held back, and taken from the thread again (sigpending(2)). */
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
    int failed = io_write_all(fd, data, len, done);
    if (failed && !was_pending && sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1)
        sigwait(&limit, &taken);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

bool laz_os_await(int fd, uint64_t ms)
{
    struct pollfd wanted = {.fd = fd, .events = POLLIN};

    return poll(&wanted, 1, (int)ms) > 0;
}

ssize_t laz_os_send(int fd, const void *data, size_t len)
{
    ssize_t n;

    do
        n = send(fd, data, len, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return io_result(n);
}

int laz_os_accept(int listener)
{
    int fd;

    do
        fd = accept(listener, NULL, NULL);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return -1;
    if (laz_posix_accepted(fd) < 0 || fcntl(fd, F_SETFL, O_NONBLOCK) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}
