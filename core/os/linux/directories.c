/* SPDX-License-Identifier: MIT */
/* directories.c - removing what its owner has protected; mount options.  System: Linux. */
#include "os/directories.h"

#include "os/posix/descriptors.h"
#include "os/posix/directories.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

bool laz_posix_unlock(int parent, const char *name)
{
    char path[64];
    int fd = laz_posix_above(openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));

    if (fd < 0)
        return false;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    bool done = chmod(path, 0700) == 0;
    (void)close(fd);
    return done;
}

bool laz_os_can_execute_below(const char *folder)
{
    struct statvfs fs;

    return statvfs(folder, &fs) == 0 && !(fs.f_flag & ST_NOEXEC);
}
