/* SPDX-License-Identifier: MIT */
/* users.c - the user of this process, and private groups.  System: POSIX. */
#include "os/users.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool laz_os_is_root(void)
{
    return geteuid() == 0;
}

uint32_t laz_os_uid(void)
{
    return (uint32_t)geteuid();
}

void laz_os_user(struct laz_os_user *user)
{
    char text[4096];
    struct passwd entry, *found = NULL;

    *user = (struct laz_os_user){.has_uid = true};
    if (getpwuid_r(geteuid(), &entry, text, sizeof text, &found) == 0 && found)
        snprintf(user->name, sizeof user->name, "%.63s", found->pw_name);
}

bool laz_os_is_private_group(uint32_t gid, uint32_t uid)
{
    char users[4096], groups[4096];
    struct passwd user, *found_user = NULL;
    struct group group, *found_group = NULL;

    if (getpwuid_r(uid, &user, users, sizeof users, &found_user) != 0 || !found_user ||
        getgrgid_r(gid, &group, groups, sizeof groups, &found_group) != 0 || !found_group ||
        strcmp(found_user->pw_name, found_group->gr_name) != 0)
        return false;
    for (char **member = found_group->gr_mem; member && *member; member++)
        if (strcmp(*member, found_user->pw_name) != 0)
            return false;
    return true;
}
