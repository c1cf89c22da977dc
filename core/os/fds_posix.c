/* SPDX-License-Identifier: MIT */
/* fds_posix.c - descriptors: pipes, blocking, closing.  System: POSIX.
 *
 * Every descriptor that lazaret makes is close-on-exec from its first moment: the host application
 * may fork and exec at any time, from any thread. */
#include "os/os.h"
#include "os/posix.h"

#include <errno.h>
#include <fcntl.h>
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
