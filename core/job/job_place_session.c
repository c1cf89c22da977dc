/* SPDX-License-Identifier: MIT */
/* job_place_session.c - a session that the caller has.
 * Side: host.  Input trusted: yes (the application). */
#include "job/job_private.h"

static void held_release(struct laz_job *job)
{
    struct laz_session *session = job->seat.session;

    laz_seat_leave(job);
    laz_session_settle(session); /* does nothing while a caller waits */
    laz_job_released(job);
}

/* A session that was closed meanwhile ends as ever: its interpreter may finish. */
static void held_left(struct laz_job *job)
{
    struct laz_session *session = job->seat.session;

    if (!session)
        return;
    session->waiters--;
    if (atomic_load(&session->closing) && !atomic_load(&session->freeing))
        laz_session_end(session);
    laz_session_settle(session);
}

static const struct laz_seat_ops held_ops = LAZ_SEAT_OPS(held_release);

static int held_acquire(struct laz_job *job, struct laz_error *err)
{
    const unsigned executing = atomic_load(&job->place.session->executing);

    if (executing)
        return laz_error_set(err, LAZ_EBUSY, 0, "%s, and a session does one thing at a time",
                             laz_session_activity(executing));
    job->seat.keeps = true;
    laz_seat_take(job, job->place.session, &held_ops);
    job->place.session->waiters += job->is_awaited; /* up to the end of held_left */
    return 0;
}

static const struct laz_place_ops held_place = {.acquire = held_acquire, .left = held_left};

struct laz_place laz_place_session(struct laz_session *session)
{
    return (struct laz_place){.ops = &held_place, .shared = session->shared, .session = session};
}
