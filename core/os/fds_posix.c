/* SPDX-License-Identifier: MIT */
/* fds_posix.c - descriptors: pipes, blocking, numbers, closing.  System: POSIX.
 *
 * Every descriptor that lazaret makes is close-on-exec from its first moment: the host application
 * may fork and exec at any time, from any thread. */
#include "os/os.h"
#include "os/posix.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

int laz_os_cloexec_pipe(int *read_end, int *write_end, struct laz_error *err)
{
    int ends[2];

    if (laz_posix_pipe(ends) != 0)
        return laz_error_os(err, errno, "no pipe could be made");
    *read_end = ends[0];
    *write_end = ends[1];
    return 0;
}

void laz_os_nonblock(int fd, bool on)
{
    int flags = fcntl(fd, F_GETFL);

    if (flags >= 0)
        (void)fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK);
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
