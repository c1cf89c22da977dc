/* SPDX-License-Identifier: MIT */
/* uids.c - sessions have no uid of their own.  System: macOS.
 *
 * A uid without an account is possible, but how the directory service, the keychain and launchd(8)
 * treat one was never tested, and sessions under root's own uid would be no sandbox: so root is
 * refused, with a message that says what to do. */
#include "os/uids.h"

#include "os/users.h"

int laz_uids_new(const char *range, struct laz_uids **uids, struct laz_error *err)
{
    (void)range;
    *uids = NULL;
    if (!laz_os_is_root())
        return laz_error_set(err, LAZ_EREFUSED, 0, "only root can give sessions uids of their own");
    return laz_error_set(err, LAZ_EREFUSED, 0,
                         "sessions of root need uids of their own, which lazaret cannot give them "
                         "on macOS: run it as an ordinary user");
}

void laz_uids_free(struct laz_uids *uids)
{
    (void)uids;
}

int laz_uids_take(struct laz_uids *uids, uint32_t *uid, struct laz_error *err)
{
    (void)uids;
    (void)uid;
    return laz_error_set(err, LAZ_EREFUSED, 0, "there are no uids for sessions on macOS");
}

void laz_uids_give_back(struct laz_uids *uids, uint32_t uid)
{
    (void)uids;
    (void)uid;
}

/* There is no uid of a session to end. */
bool laz_os_end_all_of(uint32_t uid)
{
    (void)uid;
    return false;
}
