/* SPDX-License-Identifier: MIT */
/* trust.c - access lists, groups and directories, for the rule for trusted files.  System: macOS.
 */
#include "os/posix/files.h"

#include "os/posix/descriptors.h"

#include <fcntl.h>

/* There is no O_PATH; O_SEARCH opens a directory that may only be passed (open(2)). */
int laz_posix_enter(int parent, const char *name)
{
#ifdef O_SEARCH
    return laz_posix_above(openat(parent, name, O_SEARCH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
#else
    return laz_posix_above(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
#endif
}

/* Access lists are separate from the mode there, which does not show them (chmod(1), ACL). */
bool laz_posix_has_acl(int parent, const char *name)
{
    (void)parent;
    (void)name;
    return false;
}

/* wheel, and admin, whose members may become root by sudo(8); Homebrew's directories are admin's.
 */
bool laz_posix_is_root_group(uint32_t gid)
{
    return gid == 0 || gid == 80;
}
