/* SPDX-License-Identifier: MIT */
/* job_place_fresh.c - a session for one job: it is made for it, and ends with it.
 * Side: host.  Input trusted: yes (the application; sessions check what comes from their boxes).
 *
 * The application never sees the session, whose events list the entry `stir` of the seat; that
 * looks how far its end is. So nothing here waits in a turn of the loop, however many there are. */
#include "job/job_private.h"

#include "base/container.h"
#include "job/pool.h"

enum fresh_stage {
    FRESH_RUNS,
    FRESH_FINISHES, /* the interpreter ends by itself */
    FRESH_CLOSES,   /* its box ends */
};

static void fresh_changed(struct laz_session_owner *owner)
{
    struct laz_job *job = LAZ_CONTAINER(owner, struct laz_job, seat.owner);

    laz_driver_stir(job->place.shared->driver, &job->seat.stir);
}

/* The session is closed and freed after this turn, or in the next. */
static void fresh_let_go(struct laz_session *session)
{
    atomic_store(&session->closing, true);
    atomic_store(&session->freeing, true);
    laz_session_stir(session);
}

/* A caller who has waited has the result before its session is closed. */
static void fresh_left(struct laz_job *job)
{
    if (job->seat.session)
        fresh_let_go(job->seat.session);
}

/* Whoever has the result finds nothing of the session running, unless he does not wait for that. */
static void fresh_end(struct laz_job *job)
{
    struct laz_session *session = job->seat.session;
    const bool lingers = job->session.no_wait && !job->is_abandoned;

    laz_seat_leave(job);
    session->owner = NULL;
    if (job->result)
        laz_session_settle_last(session, job->result);
    if (!lingers || !job->is_awaited)
        job->seat.session = NULL; /* else fresh_left has it */
    if (!lingers)
        laz_session_discard(session);
    else if (!job->is_awaited)
        fresh_let_go(session);
    laz_job_released(job);
}

static void fresh_close(struct laz_job *job)
{
    struct laz_session *session = job->seat.session;

    job->seat.stage = FRESH_CLOSES;
    if (session->box && !laz_box_is_ended(session->box) && !job->session.no_wait)
        laz_box_kill(session->box);
}

static void fresh_advance(struct laz_stir *stir)
{
    struct laz_job *job = LAZ_CONTAINER(stir, struct laz_job, seat.stir);
    struct laz_session *session = job->seat.session;

    if (!session) { /* none could be created */
        laz_job_unseated(job, NULL);
        return;
    }
    if (job->seat.stage == FRESH_FINISHES && laz_session_finish_is_over(session)) {
        laz_session_finish_told(session, job->result);
        fresh_close(job);
    }
    if (job->seat.stage == FRESH_CLOSES &&
        (job->session.no_wait || !session->box || laz_box_is_ended(session->box)))
        fresh_end(job);
}

static void fresh_release(struct laz_job *job)
{
    struct laz_session *session = job->seat.session;

    if (job->is_abandoned && job->seat.stage == FRESH_FINISHES) {
        laz_session_finish_cancel(session);
        laz_session_finish_told(session, job->result);
    }
    if (job->is_abandoned) {
        fresh_end(job);
        return;
    }
    if (job->result && !session->is_ending && laz_session_finish_ask(session, job->result))
        job->seat.stage = FRESH_FINISHES;
    else
        fresh_close(job);
    laz_driver_stir(job->place.shared->driver, &job->seat.stir);
}

static const struct laz_seat_ops fresh_ops = LAZ_SEAT_OPS(fresh_release);

/* Makes the session, or takes one that is ready. */
static int fresh_open(struct laz_job *job, struct laz_session **session, struct laz_error *err)
{
    struct laz_session_shared *shared = job->place.shared;
    int rc = 0;

    *session = job->place.pool ? laz_pool_take(job->place.pool) : NULL;
    if (!*session && !shared->values->mistakes)
        rc = laz_tools_prepare(shared->tools, err);
    return rc || *session ? rc : laz_session_make(shared, &job->session, session, err);
}

/* A session that is not set up is a verdict, as where its start fails later. */
static int fresh_acquire(struct laz_job *job, struct laz_error *err)
{
    struct laz_error why = {0};
    struct laz_session *session;
    int rc = fresh_open(job, &session, &why);

    job->seat.stir.advance = fresh_advance;
    if (!rc) {
        job->seat.owner.changed = fresh_changed;
        job->seat.starts = job->seat.is_last = true;
        session->owner = &job->seat.owner;
        laz_seat_take(job, session, &fresh_ops);
        return 0;
    }
    if (rc != LAZ_ESETUP && rc != LAZ_ECANCELLED)
        return err ? (*err = why, rc) : rc;
    job->result = laz_result_not_started(rc, why.text);
    if (!job->result)
        return laz_error_nomem(err);
    laz_driver_stir(job->place.shared->driver, &job->seat.stir);
    return 0;
}

static const struct laz_place_ops fresh_place = {.acquire = fresh_acquire, .left = fresh_left};

struct laz_place laz_place_fresh(struct laz_session_shared *shared, struct laz_pool *ready)
{
    return (struct laz_place){.ops = &fresh_place, .shared = shared, .pool = ready};
}
