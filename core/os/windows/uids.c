/* SPDX-License-Identifier: MIT */
/* uids.c - sessions have no uid of their own.  System: Windows. */
#include "os/uids.h"

static int uids_refuse(struct laz_error *err)
{
    return laz_error_set(err, LAZ_EREFUSED, 0, "Windows has no uids");
}

int laz_uids_new(const char *range, struct laz_uids **uids, struct laz_error *err)
{
    (void)range;
    *uids = NULL;
    return uids_refuse(err);
}

void laz_uids_free(struct laz_uids *uids)
{
    (void)uids;
}

int laz_uids_take(struct laz_uids *uids, uint32_t *uid, struct laz_error *err)
{
    (void)uids;
    (void)uid;
    return uids_refuse(err);
}

void laz_uids_give_back(struct laz_uids *uids, uint32_t uid)
{
    (void)uids;
    (void)uid;
}

bool laz_os_end_all_of(uint32_t uid)
{
    (void)uid;
    return false;
}
