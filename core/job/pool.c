/* SPDX-License-Identifier: MIT */
/* pool.c - sessions kept ready, and callers that wait for them.
 * Side: host.  Input trusted: yes (the application; sessions check what comes from their boxes).
 *
 * A slot is filled in the background, whether or not a caller waits.  Its state is computed from
 * its members (slot_state) and stored nowhere else:
 *
 *     EMPTY     to be filled by the next check     -> STARTING, or FAILED
 *     STARTING  its session starts                 -> READY, or ENDED
 *     READY     its session is for the next caller -> BUSY, or ENDED
 *     BUSY      a caller holds its session         -> any, when it is given back
 *     ENDED     its session has ended, or is stale -> EMPTY, or FAILED if it did not start, or is
 *                                                     the second in a row that no caller used
 *     FAILED    waits for the timer `retry`        -> EMPTY
 *
 * Every event of a slot or a caller puts the pool on the driver's list, and pool_tend checks all
 * of it between two turns of the loop.  The invariant: a pool that is not on the list has no slot
 * that is EMPTY or ENDED, and `retry` runs if and only if a slot has FAILED.
 *
 * A caller is *waiting*, or *ended*: its time has passed, or it was cancelled.  Only waiter_answer
 * decides what it gets.  It continues to wait only while a slot is neither READY nor FAILED, so
 * that a start, a release or the next check wakes it; when all have FAILED it gets the error. */
#include "job/pool_private.h"

#include "base/container.h"
#include "telemetry/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POOL_PAUSE_MS      100u /* after the first start that failed */
#define POOL_PAUSE_MOST_MS 30000u

/* A caller that waits for a session. */
struct pool_waiter {
    struct pool_waiter *next;
    struct laz_pool *pool;
    struct laz_timer *timer; /* NULL: wait_ms is 0 or LAZ_NO_LIMIT */
    uint64_t wait_ms;        /* 0: it waits only for sessions that are being started */
    int ended;               /* 0: it waits; LAZ_EBUSY: its time has passed; LAZ_ECANCELLED */
    void (*got)(void *user, struct laz_session *session, const struct laz_error *err);
    void *user;
};

/* ---- slots --------------------------------------------------------------------------------- */

enum laz_slot_state laz_slot_state(const struct laz_pool_member *member)
{
    const struct laz_session *session = member->session;

    if (member->is_busy)
        return LAZ_SLOT_BUSY;
    if (!session)
        return member->why.code ? LAZ_SLOT_FAILED : LAZ_SLOT_EMPTY;
    if (session->start.under_way)
        return LAZ_SLOT_STARTING;
    return session->state == LAZ_SESSION_IDLE && !session->misbehaved &&
                   !laz_session_is_stale(session)
               ? LAZ_SLOT_READY
               : LAZ_SLOT_ENDED;
}

struct laz_pool_counts laz_pool_counts(const struct laz_pool *pool)
{
    struct laz_pool_counts count = {0};

    for (unsigned i = 0; i < pool->n; i++)
        count.of[laz_slot_state(&pool->members[i])]++;
    return count;
}

static void member_empty(struct laz_pool_member *member)
{
    struct laz_session *session = member->session;

    member->session = NULL;
    if (session)
        laz_session_discard(session);
}

static void member_changed(struct laz_pool_member *member)
{
    laz_driver_stir(member->pool->shared->driver, &member->pool->stir);
}

static void member_session_changed(struct laz_session_owner *owner)
{
    struct laz_pool_member *member = LAZ_CONTAINER(owner, struct laz_pool_member, owner);

    laz_session_look(member->session);
    member_changed(member);
}

static void member_session_freed(struct laz_session_owner *owner)
{
    struct laz_pool_member *member = LAZ_CONTAINER(owner, struct laz_pool_member, owner);

    member->is_busy = false;
    member_empty(member);
    member_changed(member);
}

struct laz_pool_member *laz_pool_member(const struct laz_session *session)
{
    struct laz_session_owner *owner = session->owner;

    return owner && owner->changed == member_session_changed
               ? LAZ_CONTAINER(owner, struct laz_pool_member, owner)
               : NULL;
}

static struct laz_session *member_hand_out(struct laz_pool_member *member)
{
    member->is_busy = member->is_used = true;
    member->is_doubtful = false;
    member->session->replaced = NULL; /* what an earlier caller had is nobody's business */
    return member->session;
}

/* Begins to start a session for an empty slot. */
static void member_fill(struct laz_pool_member *member)
{
    struct laz_pool *pool = member->pool;

    if (laz_session_make(pool->shared, &pool->session_options, &member->session, &member->why))
        return;
    member->is_used = false;
    member->owner = (struct laz_session_owner){member_session_changed, member_session_freed};
    member->session->owner = &member->owner;
    member->session->keeps_dead = pool->reset;
}

/* Removes a session that has ended or did not start. One that ended before a caller used it may
 * have been killed from outside, once. If the next one ends like that too, the slot has failed:
 * otherwise sessions could be started in an endless loop. */
static void member_clear(struct laz_pool_member *member)
{
    const struct laz_start *start = &member->session->start;

    if (laz_session_is_stale(member->session)) {
        member->is_doubtful = false; /* it has not ended by itself */
    } else if (start->rc) {
        member->why = start->why;
        member->why.code = start->rc;
    } else if (!member->is_used) {
        if (member->is_doubtful)
            laz_error_set(
                &member->why, LAZ_ESETUP, 0,
                "two sessions of the pool, one after the other, ended before they were used");
        member->is_doubtful = true;
    }
    member_empty(member);
}

/* ---- callers -------------------------------------------------------------------------------- */

/* Calls back a caller, with a session or with the reason why there is none. */
static void waiter_finish(struct pool_waiter *waiter, struct laz_session *session,
                          const struct laz_error *err)
{
    struct laz_pool *pool = waiter->pool;
    struct pool_waiter told = *waiter;
    struct pool_waiter **at = &pool->first;

    while (*at != waiter)
        at = &(*at)->next;
    *at = waiter->next;
    if (!*at)
        pool->last = at;
    pool->n_waiting--;
    laz_metrics_add(LAZ_METRIC_WAITING, 0, -1);
    laz_timer_stop(waiter->timer);
    free(waiter);
    atomic_fetch_sub(&pool->shared->driver->busy, 1);
    laz_driver_begin_callback(pool->shared->driver);
    told.got(told.user, session, err);
    laz_driver_end_callback(pool->shared->driver);
}

static void waiter_end(struct pool_waiter *waiter, int why)
{
    waiter->ended = why;
    laz_driver_stir(waiter->pool->shared->driver, &waiter->pool->stir);
}

static void waiter_timed_out(void *user)
{
    waiter_end(user, LAZ_EBUSY);
}

/* The error that a caller gets while no session is ready; 0: it continues to wait, for an event
 * that will come. */
static int waiter_answer(const struct pool_waiter *waiter, const struct laz_pool_counts *count,
                         struct laz_error *err)
{
    const struct laz_pool *pool = waiter->pool;
    const struct laz_pool_view view = {.closed = pool->closed,
                                       .total = pool->n,
                                       .busy = count->of[LAZ_SLOT_BUSY],
                                       .failed = count->of[LAZ_SLOT_FAILED],
                                       .why = &pool->members[0].why};

    return laz_pool_answer(&view, waiter->ended, waiter->wait_ms, err);
}

/* ---- checking the slots -------------------------------------------------------------------- */

/* Makes slots that have failed empty, so that the next check fills them. */
static void pool_retry(void *user)
{
    struct laz_pool *pool = user;

    laz_timer_cancel(pool->retry);
    for (unsigned i = 0; i < pool->n; i++)
        pool->members[i].why.code = 0;
    laz_driver_stir(pool->shared->driver, &pool->stir);
}

static void pool_pause(struct laz_pool *pool, const struct laz_error *why)
{
    uint64_t ms = pool->pause_ms ? pool->pause_ms * 2 : POOL_PAUSE_MS;

    pool->pause_ms = ms < POOL_PAUSE_MOST_MS ? ms : POOL_PAUSE_MOST_MS;
    laz_timer_start(pool->retry, pool->pause_ms);
    laz_log(&pool->shared->driver->log, LAZ_LOG_WARNING,
            "the pool waits %g seconds before the next start: %s", (double)pool->pause_ms / 1000.0,
            why->text);
}

/* Advances each slot: none is EMPTY or ENDED afterwards, unless the pool is on the driver's list.
 */
static void pool_check_slots(struct laz_pool *pool)
{
    bool pauses = laz_pool_counts(pool).of[LAZ_SLOT_FAILED] > 0;

    for (unsigned i = 0; i < pool->n; i++) {
        struct laz_pool_member *member = &pool->members[i];
        if (laz_slot_state(member) == LAZ_SLOT_ENDED)
            member_clear(member);
        if (laz_slot_state(member) == LAZ_SLOT_EMPTY)
            member_fill(member);
        if (laz_slot_state(member) == LAZ_SLOT_READY && !member->is_doubtful)
            pool->pause_ms = 0;
    }
    for (unsigned i = 0; i < pool->n && !pauses; i++) {
        pauses = laz_slot_state(&pool->members[i]) == LAZ_SLOT_FAILED;
        if (pauses)
            pool_pause(pool, &pool->members[i].why);
    }
}

static struct laz_pool_member *pool_ready(struct laz_pool *pool)
{
    for (unsigned i = 0; i < pool->n && !pool->closed; i++) {
        struct laz_pool_member *member = &pool->members[i];
        if (laz_slot_state(member) != LAZ_SLOT_READY)
            continue;
        laz_session_look(member->session);
        if (laz_slot_state(member) == LAZ_SLOT_READY)
            return member;
        member_changed(member); /* it died while nobody looked */
    }
    return NULL;
}

/* The first caller in order whose wait is over, with a session or an error for it; or NULL. */
static struct pool_waiter *pool_next_answered(struct laz_pool *pool, struct laz_session **session,
                                              struct laz_error *err)
{
    struct laz_pool_member *member = pool->first ? pool_ready(pool) : NULL;
    struct pool_waiter *waiter = pool->first;
    struct laz_pool_counts count = laz_pool_counts(pool);

    *session = NULL;
    if (member) {
        *session = member_hand_out(member);
        return waiter;
    }
    while (waiter && !waiter_answer(waiter, &count, err))
        waiter = waiter->next;
    return waiter;
}

static void pool_destroy(struct laz_pool *pool)
{
    struct laz_pool **at = &pool->shared->pools;

    while (*at && *at != pool)
        at = &(*at)->next;
    if (*at)
        *at = pool->next;
    laz_driver_unstir(pool->shared->driver, &pool->stir);
    laz_timer_stop(pool->retry);
    free(pool->members);
    laz_options_forget(&pool->kept);
    free(pool);
}

void laz_pool_let_go(struct laz_pool *pool)
{
    if (--pool->holds == 0 && pool->is_freed)
        pool_destroy(pool);
}

static void pool_tend(struct laz_stir *stir)
{
    struct laz_pool *pool = LAZ_CONTAINER(stir, struct laz_pool, stir);
    struct pool_waiter *waiter;
    struct laz_session *session;
    struct laz_error err = {0};

    pool->holds++;
    if (!pool->closed)
        pool_check_slots(pool);
    while ((waiter = pool_next_answered(pool, &session, &err)))
        waiter_finish(waiter, session, session ? NULL : &err);
    if (pool->feed.changed)
        pool->feed.changed(pool->feed.user);
    laz_pool_let_go(pool);
}

/* ---- making and undoing --------------------------------------------------------------------- */

/* Takes *kept. */
static struct laz_pool *pool_prepare(struct laz_session_shared *shared,
                                     const struct laz_pool_options *options, unsigned n,
                                     struct laz_kept **kept)
{
    struct laz_pool *pool = calloc(1, sizeof *pool);

    if (!pool)
        return NULL;
    pool->shared = shared;
    pool->stir.advance = pool_tend;
    pool->last = &pool->first;
    pool->reset = shared->values->pool.reset;
    pool->session_options = (struct laz_session_options){
        .size = sizeof pool->session_options,
        .runtime = options->runtime,
        .pre_execute = options->pre_execute,
        .pre_execute_user = options->pre_execute_user,
        .warm = 1,
        .tools = options->tools,
        .n_tools = options->n_tools,
        .network = options->network,
        .credentials = options->credentials,
        .identity = options->identity,
    };
    pool->kept = *kept;
    *kept = NULL;
    pool->next = shared->pools;
    shared->pools = pool;
    pool->retry = laz_timer_new(shared->driver->loop, pool_retry, pool);
    pool->members = calloc(n, sizeof *pool->members);
    if (pool->retry && pool->members) {
        pool->n = n;
        for (unsigned i = 0; i < n; i++)
            pool->members[i].pool = pool;
        return pool;
    }
    pool_destroy(pool);
    return NULL;
}

/* Its sessions end; `waits`: for that. */
static void pool_end(struct laz_pool *pool, bool waits)
{
    if (!pool->closed && !pool->feed.changed)
        atomic_fetch_sub(pool->shared->pooled, pool->n);
    pool->closed = true;
    laz_driver_stir(pool->shared->driver, &pool->stir); /* calls back while sessions end below */
    laz_timer_cancel(pool->retry);
    for (unsigned i = 0; i < pool->n; i++)
        if (!pool->members[i].is_busy)
            member_empty(&pool->members[i]);
    for (unsigned i = 0; i < pool->n; i++) { /* these stay, closed, until the pool is freed */
        struct laz_session *session = pool->members[i].session;
        if (!session)
            continue;
        if (waits)
            laz_session_end(session);
        else
            laz_session_abandon(session);
        laz_session_settle(session);
    }
}

/* Why one of its slots has failed so far, or 0. */
static int pool_failed(const struct laz_pool *pool, struct laz_error *err)
{
    for (unsigned i = 0; i < pool->n; i++) {
        const struct laz_error *why = &pool->members[i].why;
        if (why->code)
            return err ? (*err = *why, why->code) : why->code;
    }
    return 0;
}

/* Runs the loop until all slots are ready or one has failed. */
static int pool_await(struct laz_pool *pool, struct laz_error *err)
{
    struct laz_pool_counts count;

    while ((count = laz_pool_counts(pool)).of[LAZ_SLOT_READY] < pool->n &&
           !count.of[LAZ_SLOT_FAILED])
        laz_driver_turn(pool->shared->driver, LAZ_LOOP_FOREVER);
    return pool_failed(pool, err);
}

/* The driver is held. */
static int pool_open(struct laz_session_shared *shared, const struct laz_pool_options *options,
                     unsigned n, const struct laz_pool_feed *feed, struct laz_kept **kept,
                     struct laz_pool **out, struct laz_error *err)
{
    int rc =
        feed ? 0 : laz_pool_count_in(shared->pooled, n, shared->values->pool.max_sessions, err);

    if (rc)
        return rc;
    rc = laz_tools_prepare(shared->tools, err);
    struct laz_pool *pool = rc ? NULL : pool_prepare(shared, options, n, kept);
    if (!pool && !feed)
        atomic_fetch_sub(shared->pooled, n);
    if (!pool)
        return rc ? rc : laz_error_nomem(err);
    if (feed)
        pool->feed = *feed;
    pool->holds++;
    pool_check_slots(pool);
    rc = options->no_wait ? pool_failed(pool, err) : pool_await(pool, err);
    if (rc) {
        pool_end(pool, false);
        pool->feed = (struct laz_pool_feed){0};
        pool->is_freed = true;
    }
    laz_pool_let_go(pool);
    if (!rc)
        *out = pool;
    return rc;
}

int laz_pools_open(struct laz_session_shared *shared, const struct laz_pool_options *given,
                   const struct laz_pool_feed *feed, struct laz_pool **out, struct laz_error *err)
{
    struct laz_pool_options options;
    struct laz_kept *kept = NULL;
    int rc = laz_options_copy(&laz_pool_members, &options, given, false, &kept, err);

    if (!rc)
        rc = laz_driver_enter(shared->driver, err);
    if (!rc) {
        unsigned n = options.members ? options.members : (unsigned)shared->values->pool.size;
        rc = pool_open(shared, &options, n, feed, &kept, out, err);
        laz_driver_leave(shared->driver);
    }
    laz_options_forget(&kept);
    return rc;
}

/* Closes the pool, and `frees` it. LAZ_EBUSY: the engine is in use. */
static int pool_leave(struct laz_pool *pool, bool frees, struct laz_error *err)
{
    struct laz_session_shared *shared = pool->shared;
    int rc = laz_driver_enter(shared->driver, err);

    if (rc)
        return rc;
    pool->holds++;
    if (!pool->closed || frees)
        pool_end(pool, !frees);
    if (frees)
        pool_tend(&pool->stir); /* callers that wait get their answer */
    while (pool->first && !shared->driver->is_ending)
        laz_driver_turn(shared->driver, LAZ_LOOP_FOREVER);
    for (unsigned i = 0; i < pool->n && frees; i++)
        member_empty(&pool->members[i]);
    pool->is_freed |= frees;
    laz_pool_let_go(pool);
    laz_driver_leave(shared->driver);
    return 0;
}

int laz_pool_close(struct laz_pool *pool, struct laz_error *err)
{
    return pool ? pool_leave(pool, false, err) : laz_error_null(err, "the pool");
}

void laz_pool_free(struct laz_pool *pool)
{
    if (pool)
        pool_leave(pool, true, NULL); /* in use: laz_engine_free frees the pool */
}

void laz_pools_cancel(struct laz_session_shared *shared)
{
    for (struct laz_pool *pool = shared->pools; pool; pool = pool->next) {
        for (struct pool_waiter *waiter = pool->first; waiter; waiter = waiter->next)
            waiter_end(waiter, LAZ_ECANCELLED);
        if (pool->feed.changed)
            laz_driver_stir(shared->driver, &pool->stir); /* its callers are told */
    }
}

void laz_pools_end(struct laz_session_shared *shared)
{
    for (struct laz_pool *pool = shared->pools; pool; pool = pool->next) {
        pool_end(pool, false);
        pool_tend(&pool->stir); /* callers that wait get their answer */
    }
}

void laz_pools_free(struct laz_session_shared *shared)
{
    while (shared->pools) {
        shared->pools->holds = 0; /* no function of it is in progress any more */
        laz_pool_free(shared->pools);
    }
}

/* ---- sessions for callers ------------------------------------------------------------------- */

int laz_pool_wait(struct laz_pool *pool, uint64_t wait_ms,
                  void (*got)(void *user, struct laz_session *session, const struct laz_error *err),
                  void *user, void **wait, struct laz_error *err)
{
    uint64_t most = pool->shared->values->pool.max_waiting;

    if (pool->closed)
        return laz_pool_is_closed(err);
    if (most && pool->n_waiting >= most)
        return laz_pool_is_full(pool->n_waiting, err);
    struct pool_waiter *waiter = calloc(1, sizeof *waiter);
    if (!waiter)
        return laz_error_nomem(err);
    waiter->pool = pool;
    waiter->wait_ms = wait_ms;
    waiter->got = got;
    waiter->user = user;
    if (wait_ms && wait_ms != LAZ_NO_LIMIT) {
        waiter->timer = laz_timer_new(pool->shared->driver->loop, waiter_timed_out, waiter);
        if (!waiter->timer) {
            free(waiter);
            return laz_error_nomem(err);
        }
        laz_timer_start(waiter->timer, wait_ms);
    }
    *pool->last = waiter;
    pool->last = &waiter->next;
    *wait = waiter;
    pool->n_waiting++;
    laz_metrics_add(LAZ_METRIC_WAITING, 0, 1);
    atomic_fetch_add(&pool->shared->driver->busy, 1); /* so that it can be cancelled */
    if (laz_pool_counts(pool).of[LAZ_SLOT_FAILED] == pool->n)
        pool_retry(pool); /* a caller waits: retry now */
    laz_driver_stir(pool->shared->driver, &pool->stir);
    return 0;
}

int laz_pool_acquire_async(struct laz_pool *pool, uint64_t wait_ms,
                           void (*got)(void *user, struct laz_session *session,
                                       const struct laz_error *err),
                           void *user, struct laz_error *err)
{
    if (!pool)
        return laz_error_null(err, "the pool");
    if (!got)
        return laz_error_set(err, LAZ_EINVAL, 0, "a callback for the session is required");
    int rc = laz_driver_enter(pool->shared->driver, err);
    if (rc)
        return rc;
    void *wait;
    rc = laz_pool_wait(pool, wait_ms, got, user, &wait, err);
    laz_driver_leave(pool->shared->driver);
    return rc;
}

struct pool_acquired {
    struct laz_session *session;
    struct laz_error err;
};

static void pool_acquired(void *user, struct laz_session *session, const struct laz_error *err)
{
    struct pool_acquired *acquired = user;

    acquired->session = session;
    if (err)
        acquired->err = *err;
}

int laz_pool_acquire(struct laz_pool *pool, uint64_t wait_ms, struct laz_session **session,
                     struct laz_error *err)
{
    struct pool_acquired acquired = {0};
    void *wait;

    if (!session)
        return laz_error_null(err, "the pointer for the session");
    *session = NULL;
    if (!pool)
        return laz_error_null(err, "the pool");
    struct laz_session_shared *shared = pool->shared;
    int rc = laz_driver_enter(shared->driver, err);
    if (rc)
        return rc;
    pool->holds++;
    *session = laz_pool_next(pool);
    if (*session) {
        laz_pool_hand_out(*session);
    } else if (!(rc = laz_pool_wait(pool, wait_ms, pool_acquired, &acquired, &wait, err))) {
        while (!acquired.session && !acquired.err.code)
            laz_driver_turn(shared->driver, LAZ_LOOP_FOREVER);
        if (acquired.session && pool->closed) { /* by a callback in this turn */
            acquired.session = NULL;
            acquired.err.code = laz_pool_is_closed(&acquired.err);
        }
        *session = acquired.session;
        rc = acquired.err.code;
        if (rc && err)
            *err = acquired.err;
    }
    laz_pool_let_go(pool);
    laz_driver_leave(shared->driver);
    return rc;
}

void laz_pool_give_back(struct laz_session *session, bool ends)
{
    struct laz_pool_member *member = laz_pool_member(session);

    member->is_busy = false;
    if (member->pool->reset || member->pool->closed || ends ||
        laz_session_restore_network(session, NULL))
        member_empty(member);
    member_changed(member);
}

int laz_pool_release(struct laz_pool *pool, struct laz_session *session, struct laz_error *err)
{
    if (!pool)
        return laz_error_null(err, "the pool");
    int rc = laz_driver_enter(pool->shared->driver, err);
    if (rc)
        return rc;
    const unsigned executing = session ? atomic_load(&session->executing) : 0;
    const struct laz_pool_member *member = session ? laz_pool_member(session) : NULL;
    if (!member || member->pool != pool || !member->is_busy)
        rc = laz_error_set(err, LAZ_EINVAL, 0, "the session was not acquired from this pool");
    else if (executing)
        rc = laz_error_set(err, LAZ_EBUSY, 0, "%s in the session", laz_session_activity(executing));
    else
        laz_pool_give_back(session, false);
    laz_driver_leave(pool->shared->driver);
    return rc;
}

/* ---- callers that wait elsewhere --------------------------------------------------------------
 */

void laz_pool_look(struct laz_pool *pool)
{
    laz_driver_stir(pool->shared->driver, &pool->stir);
}

void laz_pool_retry(struct laz_pool *pool)
{
    pool_retry(pool);
}

struct laz_session *laz_pool_ready(struct laz_pool *pool)
{
    struct laz_pool_member *member = pool_ready(pool);

    return member ? member->session : NULL;
}

struct laz_session *laz_pool_next(struct laz_pool *pool)
{
    return pool->first ? NULL : laz_pool_ready(pool);
}

void laz_pool_hand_out(struct laz_session *session)
{
    (void)member_hand_out(laz_pool_member(session));
}

struct laz_session *laz_pool_take(struct laz_pool *pool)
{
    struct laz_pool_member *member = pool_ready(pool);
    struct laz_session *session = member ? member_hand_out(member) : NULL;

    if (!session)
        return NULL;
    session->owner = NULL;
    session->keeps_dead = false;
    member->session = NULL;
    member->is_busy = false;
    member_changed(member);
    return session;
}

void laz_pool_forgo(void *wait)
{
    struct pool_waiter *waiter = wait;
    const struct laz_pool_counts count = laz_pool_counts(waiter->pool);
    struct laz_error err = {0};

    waiter->ended = LAZ_ECANCELLED;
    (void)waiter_answer(waiter, &count, &err);
    waiter_finish(waiter, NULL, &err);
}
