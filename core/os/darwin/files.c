/* SPDX-License-Identifier: MIT */
/* files.c - times of files, and writing them to the disk.  System: macOS. */
#include "os/posix/files.h"

#include "os/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <mach-o/dyld.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* fsync(2) lets the drive decide when it writes; F_FULLFSYNC is not supported by every file system.
 */
int laz_posix_sync(int fd)
{
    return fcntl(fd, F_FULLFSYNC) == 0 || fsync(fd) == 0 ? 0 : errno;
}

void laz_posix_times(const struct stat *st, struct timespec *modified, struct timespec *changed)
{
    *modified = st->st_mtimespec;
    *changed = st->st_ctimespec;
}

char *laz_os_own_program(void)
{
    char path[4096];
    uint32_t size = sizeof path;

    if (_NSGetExecutablePath(path, &size) == 0)
        return realpath(path, NULL);
    errno = ENAMETOOLONG;
    return NULL;
}

/* dyld gives a program's path as it was called by: relative to a directory that may be another by
 * now. */
char *laz_posix_own_file(void)
{
    errno = ENOENT;
    return NULL;
}
