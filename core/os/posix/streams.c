/* SPDX-License-Identifier: MIT */
/* streams.c - opens the standard streams, or holds their numbers.  System: POSIX.
 *
 * No descriptor of lazaret is 0, 1 or 2, whatever the application has closed, before an engine is
 * made or later: each is moved as soon as it is made, and where that is impossible (libuv) the
 * numbers are held meanwhile.  They are not held for the life of an engine, because they belong to
 * the application, which may open and close them at any time. */
#include "os/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

/* The numbers belong to the process, so one thread holds them at a time: a second one would find
 * them open, and the first would close them while it needs them. */
static pthread_mutex_t streams_lock = PTHREAD_MUTEX_INITIALIZER;
static struct laz_held_streams streams_forking;

/* 0 or an errno. It opens a directory for reading, which exists without /dev: writing to it fails
 * like writing to a closed descriptor. */
static int streams_hold(struct laz_held_streams *held)
{
    int fd = 0;

    *held = (struct laz_held_streams){.n = 0};
    while (held->n < 3 && (fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) >= 0 &&
           fd <= STDERR_FILENO)
        held->fds[held->n++] = fd;
    if (fd > STDERR_FILENO)
        (void)close(fd);
    return fd < 0 ? errno : 0;
}

bool laz_os_set_input(int fd, int *former)
{
    if (former && (*former = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)) < 0)
        return false;
    if (dup2(fd, STDIN_FILENO) >= 0)
        return true;
    if (former) {
        const int failed = errno;
        (void)close(*former);
        *former = -1;
        errno = failed;
    }
    return false;
}

int laz_os_hold_streams(struct laz_held_streams *held, struct laz_error *err)
{
    pthread_mutex_lock(&streams_lock);
    int failed = streams_hold(held);
    if (!failed)
        return 0;
    laz_os_give_streams_back(held);
    return laz_error_os(err, failed, "the numbers of the standard streams cannot be held");
}

void laz_os_give_streams_back(struct laz_held_streams *held)
{
    while (held->n > 0)
        (void)close(held->fds[--held->n]);
    pthread_mutex_unlock(&streams_lock);
}

static void streams_before_fork(void)
{
    pthread_mutex_lock(&streams_lock);
    (void)streams_hold(&streams_forking);
}

static void streams_after_fork(void)
{
    laz_os_give_streams_back(&streams_forking);
}

static void streams_guard_forks(void)
{
    (void)pthread_atfork(streams_before_fork, streams_after_fork, streams_after_fork);
}

void laz_os_hold_streams_in_forks(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, streams_guard_forks);
}

/* A closed standard output becomes one that cannot be written, a closed standard input one that
 * cannot be read, so that the loss is noticed. */
bool laz_os_secure_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) == -1 && open("/dev/null", fd == 1 ? O_RDONLY : O_WRONLY) != fd)
            return false;
    return signal(SIGPIPE, SIG_IGN) != SIG_ERR && signal(SIGXFSZ, SIG_IGN) != SIG_ERR;
}
