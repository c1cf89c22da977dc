/* SPDX-License-Identifier: MIT */
/* users.c - there are no uids, and sessions have the user of the host.  System: Windows. */
#include "os/users.h"

/* Also for an administrator, sessions get no users of their own. */
bool laz_os_is_root(void)
{
    return false;
}

uint32_t laz_os_uid(void)
{
    return 0;
}

bool laz_os_is_private_group(uint32_t gid, uint32_t uid)
{
    (void)gid;
    (void)uid;
    return false;
}
