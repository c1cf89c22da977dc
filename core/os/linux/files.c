/* SPDX-License-Identifier: MIT */
/* files.c - times of files, and writing them to the disk.  System: Linux. */
#include "os/posix/files.h"

#include <errno.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int laz_posix_sync(int fd)
{
    return fdatasync(fd) == 0 ? 0 : errno;
}

void laz_posix_times(const struct stat *st, struct timespec *modified, struct timespec *changed)
{
    *modified = st->st_mtim;
    *changed = st->st_ctim;
}
