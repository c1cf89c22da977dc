/* SPDX-License-Identifier: MIT */
/* trial.h - asking which backend an engine has: it may have to be tried first.
 * Side: host. */
#ifndef LAZ_BOX_TRIAL_H
#define LAZ_BOX_TRIAL_H

#include "box/shared.h"

/* A request for the backend. Owned by the caller, who withdraws it before it is freed. */
struct laz_backend_asker {
    struct laz_backend_asker *next; /* of those that wait */
    bool wants_next;                /* asked by laz_box_next_backend */
    void *user;
    /* rc: as from the function that asked; why->code 0: that left `err` as it is. */
    void (*answer)(void *user, int rc, const struct laz_error *why);
};

#define LAZ_BACKEND_TRIED 1 /* no error: the answer comes later */

/* Asks for the backend of this engine, which is found on first use. 0: it is shared->choice.
 * LAZ_BACKEND_TRIED: one is being tried on the loop; the asker is answered between two turns of it,
 * unless it withdraws. Errors (LAZ_ENOENT, LAZ_ECONFIG, LAZ_EREFUSED, LAZ_ESETUP) name the setting;
 * LAZ_EBUSY: all uids are in use. */
int laz_box_backend(struct laz_box_shared *shared, struct laz_backend_asker *asker,
                    struct laz_error *err);
/* A session did not start: was it the backend that does not work? 0: yes, and another one of the
 * settings' list, which does, was taken. LAZ_BACKEND_TRIED: as above. Errors: no other was taken;
 * `err` stays as it is, or says what is wrong with all of them. */
int laz_box_next_backend(struct laz_box_shared *shared, struct laz_backend_asker *asker,
                         struct laz_error *err);
/* The asker waits no more. A trial that has no askers left is ended. */
void laz_box_withdraw(struct laz_box_shared *shared, struct laz_backend_asker *asker);
/* Ends a trial that is under way; its askers are answered with LAZ_ECANCELLED. */
void laz_box_cancel_trial(struct laz_box_shared *shared);

#endif
