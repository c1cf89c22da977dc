/* SPDX-License-Identifier: MIT */
/* trust.c - access lists, groups and directories, for the rule for trusted files.  System: macOS.
 */
#include "os/posix/descriptors.h"
#include "os/posix/trust.h"

#include <fcntl.h>

/* Is it sent for nothing? Then the queue would tell of it all the same. */
/* There is no O_PATH; what may only be passed can be opened for that (O_SEARCH, open(2)). */
int laz_posix_enter(int parent, const char *name)
{
#ifdef O_SEARCH
    return laz_posix_above(openat(parent, name, O_SEARCH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
#else
    return laz_posix_above(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
#endif
}

/* Access lists stand beside the mode there, which shows nothing of them (chmod(1), ACL). */
bool laz_posix_has_acl(int parent, const char *name)
{
    (void)parent;
    (void)name;
    return false;
}

/* wheel, and admin, whose members may become root by sudo(8); Homebrew's folders are admin's. */
bool laz_posix_is_root_group(uint32_t gid)
{
    return gid == 0 || gid == 80;
}
