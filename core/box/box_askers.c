/* SPDX-License-Identifier: MIT */
/* box_askers.c - starts that wait: for the backend that is being tried, or for a uid.
 * Side: host.  Input trusted: yes.
 *
 * A box that was released ends by itself, and has its uid until then.  Where the range of uids is
 * narrow, the next start would find none: it waits for the end of such a box instead, which the
 * timers of that box bound. */
#include "box/box_private.h"

#include "base/container.h"

/* ---- lists of askers ------------------------------------------------------------------------- */

int laz_askers_join(struct laz_box_asker **list, struct laz_box_asker *asker, bool starts_again)
{
    while (*list)
        list = &(*list)->next;
    asker->next = NULL;
    asker->starts_again = starts_again;
    *list = asker;
    return LAZ_BOX_ASKED;
}

static void askers_unlink(struct laz_box_asker **list, struct laz_box_asker *asker)
{
    while (*list && *list != asker)
        list = &(*list)->next;
    if (*list)
        *list = asker->next;
}

void laz_askers_begin(struct laz_box_shared *shared, struct laz_box_asker **list)
{
    shared->answered = *list;
    *list = NULL;
}

struct laz_box_asker *laz_askers_next(struct laz_box_shared *shared)
{
    struct laz_box_asker *asker = shared->answered;

    if (asker)
        shared->answered = asker->next;
    return asker;
}

void laz_box_withdraw(struct laz_box_shared *shared, struct laz_box_asker *asker)
{
    askers_unlink(&shared->askers, asker);
    askers_unlink(&shared->for_uid, asker);
    askers_unlink(&shared->answered, asker);
    if (shared->trial && !shared->askers)
        laz_trial_drop(shared);
}

/* ---- uids ------------------------------------------------------------------------------------ */

static void uids_answer(struct laz_box_shared *shared, int rc, const struct laz_error *why)
{
    struct laz_box_asker *asker;

    laz_askers_begin(shared, &shared->for_uid);
    while ((asker = laz_askers_next(shared))) /* the next may find it taken, and wait again */
        asker->answer(asker->user, rc, why);
}

static void uids_advance(struct laz_stir *stir)
{
    const struct laz_error nothing = {0};

    uids_answer(LAZ_CONTAINER(stir, struct laz_box_shared, uid_stir), 0, &nothing);
}

bool laz_box_await_uid(struct laz_box_shared *shared, struct laz_box_asker *asker)
{
    const struct laz_box *box = shared->leaving;

    while (box && (!box->kind->give_back || box->uid == LAZ_SPAWN_SAME_ID))
        box = box->next;
    if (!box)
        return false;
    shared->uid_stir.advance = uids_advance;
    laz_askers_join(&shared->for_uid, asker, true);
    return true;
}

/* ---- cancelling ------------------------------------------------------------------------------ */

void laz_box_cancel_waits(struct laz_box_shared *shared)
{
    struct laz_error why = {0};

    laz_trial_cancel(shared);
    laz_error_set(&why, LAZ_ECANCELLED, 0, "The wait for a uid was cancelled");
    uids_answer(shared, LAZ_ECANCELLED, &why);
}
