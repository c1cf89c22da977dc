/* SPDX-License-Identifier: MIT */
/* job_place_session.c - a session that the caller has.
 * Side: host.  Input trusted: yes (the application). */
#include "job/job_private.h"

/* Who closes the session meanwhile lets a caller who waits end it as ever: its interpreter may
 * finish. */
static void held_release(struct laz_job *job)
{
    struct laz_session *session = job->seat.session;
    const bool ends = job->is_awaited && atomic_load(&session->closing) &&
                      !atomic_load(&session->freeing) && !job->is_abandoned;

    laz_seat_leave(job);
    if (ends)
        laz_session_end(session);
    laz_session_settle(session);
    laz_job_released(job);
}

static const struct laz_seat_ops held_ops = LAZ_SEAT_OPS(held_release);

static int held_acquire(struct laz_job *job, struct laz_error *err)
{
    const unsigned executing = atomic_load(&job->place.session->executing);

    if (executing)
        return laz_error_set(err, LAZ_EBUSY, 0, "%s, and a session does one thing at a time",
                             laz_session_activity(executing));
    laz_seat_take(job, job->place.session, &held_ops);
    return 0;
}

static const struct laz_place_ops held_place = {.acquire = held_acquire};

struct laz_place laz_place_session(struct laz_session *session)
{
    return (struct laz_place){.ops = &held_place, .shared = session->shared, .session = session};
}
