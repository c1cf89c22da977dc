/* SPDX-License-Identifier: MIT */
/* descriptors.c - descriptors: pipes, blocking, numbers, closing.  System: POSIX.
 *
 * Every descriptor that lazaret makes is close-on-exec from its first moment: the host application
 * may fork and exec at any time, from any thread.  And none is 0, 1 or 2, whatever the application
 * has closed, before an engine is made or later: what is made is moved, and where it cannot be
 * (libuv) the numbers are held meanwhile.  To hold them as long as there is an engine would be one
 * place less, but they are the application's, which may open them again, and close them, at any
 * time. */
#include "os/os.h"
#include "os/posix/posix.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

int laz_posix_above(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    int above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), failed = errno;
    (void)close(fd);
    errno = failed;
    return above;
}

int laz_posix_above_both(int made, int ends[2])
{
    if (made != 0)
        return -1;
    ends[0] = laz_posix_above(ends[0]);
    int failed = errno;
    ends[1] = laz_posix_above(ends[1]);
    if (ends[0] >= 0 && ends[1] >= 0)
        return 0;
    failed = ends[0] < 0 ? failed : errno;
    laz_os_close(&ends[0]);
    laz_os_close(&ends[1]);
    errno = failed;
    return -1;
}

DIR *laz_posix_opendir(const char *path)
{
    int fd = laz_posix_above(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

    if (!dir)
        laz_os_close(&fd);
    return dir;
}

FILE *laz_posix_fopen(const char *path)
{
    int fd = laz_posix_above(open(path, O_RDONLY | O_CLOEXEC));
    FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;

    if (!file)
        laz_os_close(&fd);
    return file;
}

/* They are the process's, so one holds them at a time: a second one would find them open, and see
 * them closed by the first. */
static pthread_mutex_t fds_lock = PTHREAD_MUTEX_INITIALIZER;
static struct laz_held_streams fds_forking;

/* 0 or an errno. What is opened is a folder to read, which is there without /dev: to write to it is
 * the same error as to write to what is closed. */
static int fds_hold(struct laz_held_streams *held)
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

static void fds_give_back(struct laz_held_streams *held)
{
    while (held->n > 0)
        (void)close(held->fds[--held->n]);
}

int laz_os_hold_streams(struct laz_held_streams *held, struct laz_error *err)
{
    pthread_mutex_lock(&fds_lock);
    int failed = fds_hold(held);
    if (!failed)
        return 0;
    laz_os_give_streams_back(held);
    return laz_error_os(err, failed, "the numbers of standard streams cannot be held");
}

void laz_os_give_streams_back(struct laz_held_streams *held)
{
    fds_give_back(held);
    pthread_mutex_unlock(&fds_lock);
}

static void fds_before_fork(void)
{
    pthread_mutex_lock(&fds_lock);
    (void)fds_hold(&fds_forking);
}

static void fds_after_fork(void)
{
    laz_os_give_streams_back(&fds_forking);
}

static void fds_guard_forks(void)
{
    (void)pthread_atfork(fds_before_fork, fds_after_fork, fds_after_fork);
}

void laz_os_hold_streams_in_forks(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, fds_guard_forks);
}

int laz_os_cloexec_pipe(int *read_end, int *write_end, struct laz_error *err)
{
    int ends[2];

    if (laz_posix_pipe(ends) != 0)
        return laz_error_os(err, errno, "no pipe could be made");
    *read_end = ends[0];
    *write_end = ends[1];
    return 0;
}

int laz_os_nonblock(int fd, bool on, struct laz_error *err)
{
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK) != 0)
        return laz_error_os(err, errno, "whether a descriptor waits cannot be set");
    return 0;
}

void laz_os_close(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd); /* EINTR closes too on Linux; asking again could hit somebody else's */
    *fd = -1;
}

int laz_os_place(int *fd, int to, struct laz_error *err)
{
    if (*fd == to)
        return 0;
    int failed = laz_os_dup_onto(*fd, to) < 0 ? errno : 0;
    laz_os_close(fd);
    if (failed)
        return laz_error_os(err, failed, "descriptor %d cannot be set", to);
    *fd = to;
    return 0;
}

void laz_os_raw_streams(void)
{
}

/* A closed standard output becomes one that cannot be written, a closed standard input one that
 * cannot be read, so that the loss is noticed. */
bool laz_os_secure_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) == -1 && open("/dev/null", fd == 1 ? O_RDONLY : O_WRONLY) != fd)
            return false;
    return signal(SIGPIPE, SIG_IGN) != SIG_ERR;
}
