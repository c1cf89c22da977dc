/* SPDX-License-Identifier: MIT */
/* descriptors.c - data as a descriptor, and closing ranges of descriptors.  System: macOS.
 *
 * There is no memory file (memfd_create(2)): the data is in a file of mode 0600 whose name is
 * removed before anything is written to it, and whose only remaining descriptor cannot write.  Open
 * descriptors are listed by proc_pidinfo (libproc.h), because /dev/fd shows those of the process at
 * the time when it was opened.
 *
 * Descriptors become close-on-exec in a second call, because there is no pipe2(2): a process that
 * the application forks from another thread in between, and that executes another program, inherits
 * them. The children of lazaret do not (posix_spawn(2) closes all others for those). */
#include "os/descriptors.h"

#include "base/random.h"
#include "os/io.h"
#include "os/posix/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <libproc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/proc_info.h>
#include <unistd.h>

#define FDS_RANDOM 16
#define FDS_MOST   65536
#define FDS_ROUNDS 16 /* upper bound; it ends at the first round that closes nothing */

int laz_os_data_fd(const char *name, const void *data, size_t len, int *fd, struct laz_error *err)
{
    char random[FDS_RANDOM + 1], path[64];
    size_t done;
    int rc = laz_random_name(random, FDS_RANDOM, err);

    if (rc)
        return rc;
    snprintf(path, sizeof path, "/tmp/.lazaret-data-%s", random);
    int out =
        laz_posix_above(open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (out < 0)
        return laz_error_os(err, errno, "cannot create a file in /tmp for %s", name);
    int in = laz_posix_above(open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    int failed = in < 0 ? errno : 0;
    (void)unlink(path);
    if (!failed)
        failed = laz_os_write_all(out, data, len, &done);
    (void)close(out);
    if (failed) {
        laz_os_close(&in);
        return laz_error_os(err, failed, "the file in /tmp for %s could not be filled", name);
    }
    *fd = in;
    return 0;
}

/* Where they cannot be listed, in a sandbox that refuses it for example, every number is tried. */
static void fds_close_numbers(int first, int keep)
{
    long most = sysconf(_SC_OPEN_MAX);

    for (int fd = first; fd < (most > 0 && most < FDS_MOST ? (int)most : FDS_MOST); fd++)
        if (fd != keep)
            (void)close(fd);
}

/* Closes those that are open now; false: it closed none. */
static bool fds_close_listed(int first, int keep)
{
    bool closed = false;
    int size = proc_pidinfo(getpid(), PROC_PIDLISTFDS, 0, NULL, 0);
    struct proc_fdinfo *list = size > 0 ? malloc((size_t)size) : NULL;

    if (list)
        size = proc_pidinfo(getpid(), PROC_PIDLISTFDS, 0, list, size);
    if (!list || size <= 0)
        fds_close_numbers(first, keep);
    for (int i = 0; list && i < size / (int)sizeof *list; i++)
        if (list[i].proc_fd >= first && list[i].proc_fd != keep)
            closed |= close(list[i].proc_fd) == 0;
    free(list);
    return closed;
}

void laz_os_close_from(int first, int keep)
{
    for (int i = 0; i < FDS_ROUNDS && fds_close_listed(first, keep); i++)
        ;
}

int laz_posix_pipe(int ends[2])
{
    if (laz_posix_above_both(pipe(ends), ends) != 0)
        return -1;
    if (fcntl(ends[0], F_SETFD, FD_CLOEXEC) == 0 && fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0)
        return 0;
    int failed = errno;
    laz_os_close(&ends[0]);
    laz_os_close(&ends[1]);
    errno = failed;
    return -1;
}

int laz_os_dup_onto(int fd, int number)
{
    if (dup2(fd, number) < 0 || fcntl(number, F_SETFD, FD_CLOEXEC) < 0)
        return -1;
    return number;
}
