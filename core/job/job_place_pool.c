/* SPDX-License-Identifier: MIT */
/* job_place_pool.c - a session of a pool, which goes back there.
 * Side: host.  Input trusted: yes (the application; sessions check what comes from their boxes).
 *
 * What was an earlier caller's is nobody's business: where the session goes on with the next one
 * (pool.reset is false) the files of the job are removed, one after the other. If one cannot be,
 * the session ends. */
#include "job/job_private.h"

#include "job/pool_private.h"

/* For a file: an agent that stands still must not hold up the result. */
#define POOLED_REMOVE_MS 2000u

static void pooled_release(struct laz_job *job);

static void pooled_leave(struct laz_job *job, bool ends)
{
    struct laz_session *session = job->seat.session;
    struct laz_pool *held = job->is_awaited ? job->place.pool : NULL;

    laz_seat_leave(job);
    if (session->owner)
        laz_pool_give_back(session, ends);
    else
        laz_session_settle(session); /* the pool was freed meanwhile */
    laz_job_released(job);
    if (held)
        laz_pool_let_go(held);
}

static void pooled_removed(void *user, struct laz_result *result, const struct laz_error *err)
{
    struct laz_job *job = user;
    const bool is_gone = !err && laz_result_verdict(result) == LAZ_VERDICT_OK;

    laz_result_free(result);
    job->seat.stage++;
    if (is_gone)
        pooled_release(job);
    else
        pooled_leave(job, true);
}

static void pooled_release(struct laz_job *job)
{
    struct laz_session *session = job->seat.session;
    const bool is_same = session->owner && session->box && session->state == LAZ_SESSION_IDLE;
    const bool has_files = job->seat.stage < job->n_put && is_same && !job->is_abandoned &&
                           !job->place.pool->reset && !job->place.pool->closed;
    const struct laz_request removal = {
        .asked = LAZ_ASKED_REMOVE,
        .code = "",
        .file = has_files ? job->options.files[job->seat.stage]->name : NULL,
        .options = &job->plain,
        .done = pooled_removed,
        .user = job,
    };

    job->plain.timeout_ms = POOLED_REMOVE_MS;
    session->is_cancelled = false; /* that was the job */
    if (job->is_abandoned && session->wanted)
        laz_seat_cancel(job); /* a file is being removed: pooled_removed comes in here */
    else if (!has_files)
        pooled_leave(job, false);
    else if (laz_session_ask(session, &removal, false, NULL))
        pooled_leave(job, true);
}

static const struct laz_seat_ops pooled_ops = LAZ_SEAT_OPS(pooled_release);

static void pooled_take(struct laz_job *job, struct laz_session *session)
{
    job->seat.keeps = !job->place.pool->reset;
    laz_seat_take(job, session, &pooled_ops);
}

/* ---- a pool ---------------------------------------------------------------------------------- */

static void pool_got(void *user, struct laz_session *session, const struct laz_error *err)
{
    struct laz_job *job = user;
    struct laz_pool *held = job->is_awaited ? job->place.pool : NULL;

    job->wait = NULL;
    if (session) {
        pooled_take(job, session);
        laz_job_seated(job);
        return;
    }
    laz_job_unseated(job, err);
    if (held)
        laz_pool_let_go(held);
}

static int pool_acquire(struct laz_job *job, struct laz_error *err)
{
    struct laz_pool *pool = job->place.pool;
    struct laz_session *session = job->is_awaited ? laz_pool_next(pool) : NULL;

    if (session) {
        laz_pool_hand_out(session);
        pooled_take(job, session);
    }
    int rc = session ? 0 : laz_pool_wait(pool, job->place.wait_ms, pool_got, job, &job->wait, err);
    if (!rc && job->is_awaited)
        pool->holds++;
    return rc;
}

static const struct laz_place_ops pool_place = {.acquire = pool_acquire, .forgo = laz_pool_forgo};

struct laz_place laz_place_pool(struct laz_pool *pool, uint64_t wait_ms)
{
    return (struct laz_place){
        .ops = &pool_place, .shared = pool->shared, .pool = pool, .wait_ms = wait_ms};
}

/* ---- a slot of a pool ------------------------------------------------------------------------ */

static int slot_acquire(struct laz_job *job, struct laz_error *err)
{
    (void)err;
    pooled_take(job, job->place.session);
    return 0;
}

static const struct laz_place_ops slot_place = {.acquire = slot_acquire};

struct laz_place laz_place_slot(struct laz_session *session)
{
    return (struct laz_place){.ops = &slot_place,
                              .shared = session->shared,
                              .session = session,
                              .pool = laz_pool_member(session)->pool};
}
