/* SPDX-License-Identifier: MIT */
/* directories.c - removing what its owner has protected; mount options.  System: macOS. */
#include "os/directories.h"

#include "os/posix/files.h"

#include <fcntl.h>
#include <sys/attr.h>
#include <sys/mount.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <unistd.h>

/* Flags that an owner can set (chflags(2): uchg, uappnd) keep a file from being removed, and a
 * directory from being emptied. There is no chflagsat(2). */
bool laz_posix_unlock(int parent, const char *name)
{
    struct attrlist flags = {.bitmapcount = ATTR_BIT_MAP_COUNT, .commonattr = ATTR_CMN_FLAGS};
    uint32_t none = 0;
    struct stat st;

    if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    bool cleared = st.st_flags == 0 ||
                   setattrlistat(parent, name, &flags, &none, sizeof none, FSOPT_NOFOLLOW) == 0;
    if (!S_ISDIR(st.st_mode))
        return cleared && st.st_flags != 0;
    return fchmodat(parent, name, 0700, AT_SYMLINK_NOFOLLOW) == 0 && cleared;
}

bool laz_os_can_execute_below(const char *directory)
{
    struct statfs fs;

    return statfs(directory, &fs) == 0 && !(fs.f_flags & MNT_NOEXEC);
}
