/* SPDX-License-Identifier: MIT */
/* descriptors.c - pipes, blocking, numbers and closing of descriptors.  System: POSIX.
 *
 * Every descriptor that lazaret makes is close-on-exec from its first moment: the host application
 * may fork and exec at any time, from any thread.  And none is 0, 1 or 2, whatever the application
 * has closed: each is moved as soon as it is made, and where that is impossible (libuv) the numbers
 * are held meanwhile (posix/streams.c). */
#include "os/descriptors.h"

#include "os/posix/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

static _Thread_local unsigned descriptors_shortages;

unsigned laz_posix_shortages(void)
{
    return descriptors_shortages;
}

static void descriptors_note(bool failed)
{
    if (failed && laz_errno_is_shortage(errno))
        descriptors_shortages++;
}

int laz_posix_above(int fd)
{
    int above = fd;

    if (fd >= 0 && fd <= STDERR_FILENO) {
        above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        int failed = errno;
        (void)close(fd);
        errno = failed;
    }
    descriptors_note(above < 0);
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

    descriptors_note(fd >= 0 && !dir);
    if (!dir)
        laz_os_close(&fd);
    return dir;
}

FILE *laz_posix_fopen(const char *path)
{
    int fd = laz_posix_above(open(path, O_RDONLY | O_CLOEXEC));
    FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;

    descriptors_note(fd >= 0 && !file);
    if (!file)
        laz_os_close(&fd);
    return file;
}

int laz_os_cloexec_pipe(int *read_end, int *write_end, struct laz_error *err)
{
    int ends[2];

    if (laz_posix_pipe(ends) != 0)
        return laz_error_os(err, errno, "cannot create a pipe");
    *read_end = ends[0];
    *write_end = ends[1];
    return 0;
}

int laz_os_nonblock(int fd, bool on, struct laz_error *err)
{
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK) != 0)
        return laz_error_os(err, errno, "the blocking mode of a descriptor cannot be set");
    return 0;
}

void laz_os_close(int *fd)
{
    if (*fd >= 0)
        (void)close(
            *fd); /* on Linux it is closed after EINTR too; a second call could close another one */
    *fd = -1;
}

int laz_os_place(int *fd, int to, struct laz_error *err)
{
    if (*fd == to)
        return 0;
    int failed = laz_os_dup_onto(*fd, to) < 0 ? errno : 0;
    laz_os_close(fd);
    if (failed)
        return laz_error_os(err, failed, "a descriptor cannot get the number %d", to);
    *fd = to;
    return 0;
}

bool laz_os_is_pipe(int fd)
{
    struct stat stat;

    return fstat(fd, &stat) == 0 && S_ISFIFO(stat.st_mode);
}

bool laz_os_is_stream(int fd)
{
    struct stat stat;

    return fstat(fd, &stat) == 0 && (S_ISFIFO(stat.st_mode) || S_ISSOCK(stat.st_mode));
}

bool laz_os_is_terminal(int fd)
{
    return isatty(fd);
}

/* Of a terminal that controls another process, or none, the session is not told (ENOTTY). */
bool laz_os_can_lend(int fd)
{
    return laz_os_is_stream(fd) || (isatty(fd) && tcgetsid(fd) < 0);
}

void laz_os_give(int fd, uint32_t uid)
{
    (void)!fchown(fd, uid, (gid_t)-1);
}
