/* SPDX-License-Identifier: MIT */
/* trust.c - access lists, groups and directories, for the rule for trusted files.  System: Linux.
 */
#include "os/posix/trust.h"

#include "os/posix/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/xattr.h>

int laz_posix_enter(int parent, const char *name)
{
    return laz_posix_above(openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

/* There is no lgetxattrat(2) before Linux 6.13: it uses the name that /proc gives the directory. */
bool laz_posix_has_acl(int parent, const char *name)
{
    char path[64 + NAME_MAX];

    snprintf(path, sizeof path, "/proc/self/fd/%d/%s", parent, name);
    return lgetxattr(path, "system.posix_acl_access", NULL, 0) >= 0 ||
           (errno != ENODATA && errno != EOPNOTSUPP);
}

bool laz_posix_is_root_group(uint32_t gid)
{
    return gid == 0;
}
