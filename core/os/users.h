/* SPDX-License-Identifier: MIT */
/* users.h - the user of this process, and private groups. */
#ifndef LAZ_OS_USERS_H
#define LAZ_OS_USERS_H

#include <stdbool.h>
#include <stdint.h>

#define LAZ_OS_SAME_ID UINT32_MAX /* a uid or gid that is left as it is */

bool laz_os_is_root(void);
uint32_t laz_os_uid(void); /* the owner of the files that this process makes */
/* The user of this process, for people. */
struct laz_os_user {
    char name[64]; /* "": it has none (no entry in passwd(5)) */
    bool has_uid;  /* its uid is laz_os_uid; false on a system without uids */
};
void laz_os_user(struct laz_os_user *user);
/* Has the group the name of the user `uid`, and no other member? */
bool laz_os_is_private_group(uint32_t gid, uint32_t uid);

#endif
