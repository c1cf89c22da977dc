/* SPDX-License-Identifier: MIT */
/* group_pool.c - a pool whose slots are spread over the engines of a group, with one queue.
 * Side: host.  Input trusted: yes (the application; sessions check what comes from their boxes).
 *
 * Each engine that has slots has a *part*, which is a pool of that engine.  After each turn in
 * which something happened to it, the part publishes how many of its slots are in which state, and
 * takes the first callers of the queue for the sessions that are ready.  A caller that comes when a
 * part has published an idle slot wakes that part, which is promised to it until the part looks;
 * so two callers wake two.  Where that is out of date the next part with an idle slot is woken.
 *
 * What a caller gets that is not served is decided by the numbers of all parts (laz_pool_answer),
 * and told by the thread of the *clerk*, the first engine with a part, whose clock is that of the
 * waits. It is woken when a wait is to be timed, and when there may be such an answer.  The
 * invariant: when the lock is free, a caller waits only where no idle slot is unpromised, and
 * where none of its answers is due unless the clerk was woken. */
#include "group/group.h"

#include "base/container.h"
#include "base/options.h"
#include "telemetry/metrics.h"

#include <stdlib.h>

/* What one engine has of a pool. */
struct group_part {
    struct laz_group_pool *pool;
    struct group_lane *lane;
    unsigned members;       /* 0: nothing */
    struct laz_pool *slots; /* thread of the engine; NULL: not made yet */
    struct laz_post look;
    /* By the lock of the pool: */
    bool is_woken;             /* `look` is posted */
    bool retries;              /* slots that have failed are to be filled: they count as empty */
    unsigned promised;         /* callers for whom it was woken */
    struct laz_pool_view view; /* as published */
    struct laz_error why;      /* of it */
    int rc;                    /* of making it */
};

struct laz_group_pool {
    struct laz_group *group;
    struct laz_group_pool *next;
    struct laz_pool_options options;
    struct laz_kept *kept; /* what these point to */
    unsigned n;            /* sessions */
    struct group_part *clerk;
    struct laz_stir stir; /* of the clerk's thread, as is the timer */
    struct laz_timer *timer;
    struct laz_post tell;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a part has published */
    bool is_ending;         /* the group closes it; by the lock of the group */
    bool closed;            /* and all below: by the lock */
    bool is_told;           /* `tell` is posted, and has not run */
    struct group_call *first, **last;
    unsigned n_waiting;
    unsigned n_untimed;   /* of these: those whose clock does not run yet */
    unsigned n_impatient; /* those that wait for starts only */
    unsigned cancels;     /* of the group, when the clerk last looked */
    struct group_part parts[];
};

static bool call_is_timed(const struct group_call *call)
{
    return call->wait_ms && call->wait_ms != LAZ_NO_LIMIT;
}

/* ---- by the lock ---------------------------------------------------------------------------- */

/* All parts together. */
static struct laz_pool_view pool_view(const struct laz_group_pool *pool)
{
    struct laz_pool_view all = {.closed = pool->closed, .total = pool->n};

    for (unsigned i = 0; i < pool->group->n; i++) {
        const struct group_part *part = &pool->parts[i];
        all.busy += part->view.busy;
        all.idle += part->view.idle;
        all.starting += part->view.starting;
        all.failed += part->view.failed;
        if (part->view.failed && !all.why)
            all.why = &part->why;
    }
    return all;
}

static void part_wake(struct group_part *part)
{
    if (part->is_woken)
        return;
    part->is_woken = true;
    laz_loop_post(part->lane->engine->driver.loop, &part->look);
}

/* All slots have failed, and a caller waits: they are filled now. */
static void pool_retry(struct laz_group_pool *pool)
{
    for (unsigned i = 0; i < pool->group->n; i++) {
        struct group_part *part = &pool->parts[i];
        if (!part->members)
            continue;
        part->retries = true;
        part->view.failed = 0;
        part_wake(part);
    }
}

/* Wakes the least loaded part with an idle slot that is nobody's yet. False: there is none. */
static bool pool_promise(struct laz_group_pool *pool)
{
    struct group_part *best = NULL;
    unsigned least = 0;

    for (unsigned i = 0; i < pool->group->n; i++) {
        struct group_part *part = &pool->parts[i];
        if (part->view.idle <= part->promised)
            continue;
        const unsigned load = atomic_load(&part->lane->load.n) + part->promised;
        if (!best || load < least) {
            best = part;
            least = load;
        }
    }
    if (!best)
        return false;
    best->promised++;
    part_wake(best);
    return true;
}

/* Wakes the clerk if a wait is to be timed, or may have an answer. */
static void pool_settle(struct laz_group_pool *pool)
{
    if (!pool->first || pool->closed)
        return;
    const struct laz_pool_view view = pool_view(pool);
    const bool is_due = pool->n_untimed || view.failed == view.total ||
                        (pool->n_impatient && view.busy + view.failed == view.total) ||
                        pool->cancels != atomic_load(&pool->group->cancels);
    if (!is_due || pool->is_told)
        return;
    pool->is_told = true;
    laz_loop_post(pool->clerk->lane->engine->driver.loop, &pool->tell);
}

static void queue_add(struct laz_group_pool *pool, struct group_call *call)
{
    call->next = NULL;
    *pool->last = call;
    pool->last = &call->next;
    pool->n_waiting++;
    laz_metrics_add(LAZ_METRIC_WAITING, 0, 1);
    pool->n_untimed += call_is_timed(call);
    pool->n_impatient += !call->wait_ms;
    atomic_fetch_add(&pool->clerk->lane->engine->driver.busy, 1); /* so it can be cancelled */
}

static void queue_remove(struct laz_group_pool *pool, struct group_call *call)
{
    struct group_call **at = &pool->first;

    while (*at != call)
        at = &(*at)->next;
    *at = call->next;
    if (!*at)
        pool->last = at;
    pool->n_waiting--;
    laz_metrics_add(LAZ_METRIC_WAITING, 0, -1);
    pool->n_untimed -= call_is_timed(call) && !call->has_due;
    pool->n_impatient -= !call->wait_ms;
    atomic_fetch_sub(&pool->clerk->lane->engine->driver.busy, 1);
}

/* The first caller that a session is for: not those that the clerk will tell of a cancel. */
static struct group_call *queue_first(const struct laz_group_pool *pool)
{
    struct group_call *call = pool->first;

    while (call && group_call_is_cancelled(call, pool->group))
        call = call->next;
    return call;
}

static struct group_call *queue_take(struct laz_group_pool *pool)
{
    struct group_call *call = queue_first(pool);

    if (call)
        queue_remove(pool, call);
    return call;
}

static void part_publish(struct group_part *part)
{
    laz_pool_count(part->slots, &part->view);
    if (part->retries)
        part->view.failed = 0;
    if (part->view.failed)
        part->why = *part->view.why;
    part->view.why = NULL;
    part->promised = 0;
    pthread_cond_broadcast(&part->pool->changed);
}

/* ---- serving: on the thread of a part ----------------------------------------------------------
 */

void group_part_done(struct group_part *part)
{
    pthread_mutex_lock(&part->pool->lock);
    part_publish(part); /* who has the result finds its session back */
    pthread_mutex_unlock(&part->pool->lock);
    atomic_fetch_sub(&part->lane->load.n, 1);
}

static void part_serve(struct group_part *part, struct group_call *call,
                       struct laz_session *session)
{
    const struct laz_place place = laz_place_slot(session);
    struct laz_driver *driver = &part->lane->engine->driver;
    struct laz_error why = {0};

    call->part = part;
    call->lane = part->lane;
    laz_driver_begin_callback(driver);
    if (group_call_run(call, &place, &why))
        group_call_ended(call, NULL, &why);
    laz_driver_end_callback(driver);
}

/* Takes callers for the sessions that are ready, and publishes. A session is looked at before the
 * lock is taken, because that may write to the log. */
static void part_changed(void *user)
{
    struct group_part *part = user;
    struct laz_group_pool *pool = part->pool;
    struct group_call *call;

    pthread_mutex_lock(&pool->lock);
    const bool retries = part->retries;
    part->retries = false;
    pthread_mutex_unlock(&pool->lock);
    if (retries)
        laz_pool_retry(part->slots);
    do {
        struct laz_session *session = laz_pool_ready(part->slots);
        pthread_mutex_lock(&pool->lock);
        call = session && !pool->closed ? queue_take(pool) : NULL;
        if (call) {
            laz_pool_hand_out(session);
            atomic_fetch_add(&part->lane->load.n, 1);
        }
        part_publish(part);
        if (!call && pool->first && !pool->closed) {
            pool_settle(pool);
            if (queue_first(pool))
                (void)pool_promise(pool);
        }
        pthread_mutex_unlock(&pool->lock);
        if (call)
            part_serve(part, call, session);
    } while (call);
}

static void part_woken(struct laz_post *post)
{
    struct group_part *part = LAZ_CONTAINER(post, struct group_part, look);

    pthread_mutex_lock(&part->pool->lock);
    part->is_woken = false;
    pthread_mutex_unlock(&part->pool->lock);
    if (part->slots)
        laz_pool_look(part->slots);
}

/* ---- the clerk ------------------------------------------------------------------------------- */

/* A caller whose wait is over, with its error; NULL: there is none, and the timer is set. By the
 * lock. */
static struct group_call *clerk_next(struct laz_group_pool *pool, struct laz_error *err)
{
    struct laz_pool_view view = pool_view(pool);
    const uint64_t now = laz_loop_now_ms(pool->clerk->lane->engine->driver.loop);
    uint64_t first_due = UINT64_MAX;

    if (pool->first && view.failed == view.total && view.why->code == LAZ_ECANCELLED) {
        pool_retry(pool); /* those starts were not of callers that came after the cancel */
        view = pool_view(pool);
    }
    pool->cancels = atomic_load(&pool->group->cancels);
    for (struct group_call *call = pool->first; call; call = call->next) {
        if (call_is_timed(call) && !call->has_due) {
            call->has_due = true;
            call->due_ms = call->wait_ms < UINT64_MAX - now ? now + call->wait_ms : UINT64_MAX;
            pool->n_untimed--;
        }
        const int ended = group_call_is_cancelled(call, pool->group) ? LAZ_ECANCELLED
                          : call->has_due && now >= call->due_ms     ? LAZ_EBUSY
                                                                     : 0;
        if (laz_pool_answer(&view, ended, call->wait_ms, err)) {
            queue_remove(pool, call);
            return call;
        }
        if (call->has_due && call->due_ms < first_due)
            first_due = call->due_ms;
    }
    if (first_due == UINT64_MAX)
        laz_timer_cancel(pool->timer);
    else
        laz_timer_start(pool->timer, first_due - now);
    return NULL;
}

static void clerk_tells(struct laz_stir *stir)
{
    struct laz_group_pool *pool = LAZ_CONTAINER(stir, struct laz_group_pool, stir);
    struct laz_driver *driver = &pool->clerk->lane->engine->driver;
    struct group_call *call;

    do {
        struct laz_error why = {0};
        pthread_mutex_lock(&pool->lock);
        call = pool->closed ? NULL : clerk_next(pool, &why);
        pthread_mutex_unlock(&pool->lock);
        if (!call)
            return;
        laz_driver_begin_callback(driver);
        group_call_report(call, NULL, &why);
        laz_driver_end_callback(driver);
    } while (call);
}

static void clerk_woken(struct laz_post *post)
{
    struct laz_group_pool *pool = LAZ_CONTAINER(post, struct laz_group_pool, tell);

    pthread_mutex_lock(&pool->lock);
    pool->is_told = false; /* not before: a post that is in the loop's list may not be posted */
    pthread_mutex_unlock(&pool->lock);
    laz_driver_stir(&pool->clerk->lane->engine->driver, &pool->stir);
}

static void clerk_due(void *user)
{
    struct laz_group_pool *pool = user;

    laz_driver_stir(&pool->clerk->lane->engine->driver, &pool->stir);
}

/* ---- making ---------------------------------------------------------------------------------- */

static void part_make(void *user, struct laz_engine *engine)
{
    struct group_part *part = user;
    struct laz_group_pool *pool = part->pool;
    struct laz_pool_options options = pool->options;
    const struct laz_pool_feed feed = {.user = part, .changed = part_changed};

    options.members = part->members;
    options.no_wait = 1;
    if (part == pool->clerk) {
        pool->timer = laz_timer_new(engine->driver.loop, clerk_due, pool);
        if (!pool->timer) {
            part->rc = laz_error_nomem(&part->why);
            return;
        }
    }
    part->rc = laz_pools_open(&engine->sessions, &options, &feed, &part->slots, &part->why);
    if (!part->rc && !laz_driver_enter(&engine->driver, NULL)) {
        laz_pool_look(part->slots);
        laz_driver_leave(&engine->driver);
    }
}

static void part_unmake(void *user, struct laz_engine *engine)
{
    struct group_part *part = user;

    laz_pool_free(part->slots);
    part->slots = NULL;
    if (part != part->pool->clerk)
        return;
    laz_driver_unstir(&engine->driver, &part->pool->stir);
    laz_timer_stop(part->pool->timer);
    part->pool->timer = NULL;
}

/* Each engine gets a slot before one gets a second; first come those that have the fewest. */
static void pool_spread(struct laz_group_pool *pool)
{
    struct laz_group *group = pool->group;

    for (unsigned k = 0; k < pool->n; k++) {
        struct group_part *best = &pool->parts[0];
        for (unsigned i = 1; i < group->n; i++) {
            struct group_part *part = &pool->parts[i];
            if (part->members < best->members ||
                (part->members == best->members && part->lane->pooled < best->lane->pooled))
                best = part;
        }
        best->members++;
        best->lane->pooled++;
    }
    for (unsigned i = group->n; i-- > 0;)
        if (pool->parts[i].members)
            pool->clerk = &pool->parts[i];
}

/* It is in the list of the group from here on, and takes *kept. */
static struct laz_group_pool *pool_prepare(struct laz_group *group,
                                           const struct laz_pool_options *options, unsigned n,
                                           struct laz_kept **kept)
{
    struct laz_group_pool *pool = calloc(1, sizeof *pool + group->n * sizeof *pool->parts);

    if (!pool)
        return NULL;
    pool->group = group;
    pool->n = n;
    pool->options = *options;
    pool->kept = *kept;
    *kept = NULL;
    pool->last = &pool->first;
    pool->stir.advance = clerk_tells;
    pool->tell.run = clerk_woken;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->changed, NULL);
    for (unsigned i = 0; i < group->n; i++) {
        struct group_part *part = &pool->parts[i];
        part->pool = pool;
        part->lane = &group->lanes[i];
        part->look.run = part_woken;
    }
    pthread_mutex_lock(&group->lock);
    pool_spread(pool);
    pool->next = group->pools;
    group->pools = pool;
    pthread_mutex_unlock(&group->lock);
    return pool;
}

/* What is left of it when no thread uses it any more. One that the group closes is the group's. */
static void pool_destroy(struct laz_group_pool *pool, bool by_group)
{
    struct laz_group *group = pool->group;
    struct laz_group_pool **at = &group->pools;

    pthread_mutex_lock(&group->lock);
    if (pool->is_ending && !by_group) {
        pthread_mutex_unlock(&group->lock);
        return;
    }
    while (*at != pool)
        at = &(*at)->next;
    *at = pool->next;
    for (unsigned i = 0; i < group->n; i++)
        pool->parts[i].lane->pooled -= pool->parts[i].members;
    pthread_mutex_unlock(&group->lock);
    atomic_fetch_sub(&group->pooled, pool->n);
    pthread_cond_destroy(&pool->changed);
    pthread_mutex_destroy(&pool->lock);
    laz_options_forget(&pool->kept);
    free(pool);
}

/* Callers that wait are told, on this thread. */
static void pool_close(struct laz_group_pool *pool)
{
    struct laz_error why = {0};

    (void)laz_pool_is_closed(&why);
    pthread_mutex_lock(&pool->lock);
    pool->closed = true;
    pthread_cond_broadcast(&pool->changed);
    struct group_call *left = pool->first;
    while (pool->first)
        queue_remove(pool, pool->first);
    pthread_mutex_unlock(&pool->lock);
    const struct laz_group *before = group_calls_back(pool->group);
    while (left) {
        struct group_call *call = left;
        left = call->next;
        group_call_report(call, NULL, &why);
    }
    (void)group_calls_back(before);
}

/* Waits until all slots are ready or one has failed. */
static int pool_await(struct laz_group_pool *pool, struct laz_error *err)
{
    struct laz_pool_view view;
    int rc = 0;

    pthread_mutex_lock(&pool->lock);
    while ((view = pool_view(pool)).idle < pool->n && !view.failed && !pool->closed)
        pthread_cond_wait(&pool->changed, &pool->lock);
    if (view.failed) {
        rc = view.why->code;
        if (err)
            *err = *view.why;
    } else if (view.closed) {
        rc = laz_pool_is_closed(err);
    }
    pthread_mutex_unlock(&pool->lock);
    return rc;
}

static int pool_make(struct laz_group_pool *pool, struct laz_error *err)
{
    int rc = 0;

    for (unsigned i = 0; i < pool->group->n && !rc; i++) {
        struct group_part *part = &pool->parts[i];
        if (!part->members)
            continue;
        rc = group_run_at(part->lane, part_make, part, err);
        if (!rc && (rc = part->rc) != 0 && err)
            *err = part->why;
    }
    return rc || pool->options.no_wait ? rc : pool_await(pool, err);
}

/* Each engine lets go of it. False: the group is being freed, and does that itself. */
static bool pool_unmake(struct laz_group_pool *pool)
{
    bool done = true;

    for (unsigned i = 0; i < pool->group->n; i++)
        if (pool->parts[i].members)
            done &= !group_run_at(pool->parts[i].lane, part_unmake, &pool->parts[i], NULL);
    return done;
}

static void pool_free(struct laz_group_pool *pool)
{
    pool_close(pool);
    if (pool_unmake(pool))
        pool_destroy(pool, false);
}

static int pool_new(struct laz_group *group, const struct laz_pool_options *options,
                    struct laz_kept **kept, struct laz_group_pool **out, struct laz_error *err)
{
    const unsigned n = options->members ? options->members : (unsigned)group->values->pool.size;
    int rc = laz_pool_count_in(&group->pooled, n, group->values->pool.max_sessions, err);

    if (rc)
        return rc;
    struct laz_group_pool *pool = pool_prepare(group, options, n, kept);
    if (!pool) {
        atomic_fetch_sub(&group->pooled, n);
        return laz_error_nomem(err);
    }
    rc = pool_make(pool, err);
    if (rc)
        pool_free(pool);
    else
        *out = pool;
    return rc;
}

int laz_group_pool_new(struct laz_group *group, const struct laz_pool_options *given,
                       struct laz_group_pool **pool, struct laz_error *err)
{
    struct laz_pool_options options;
    struct laz_kept *kept = NULL;

    if (!pool)
        return laz_error_null(err, "the pointer for the pool");
    *pool = NULL;
    int rc = group_enter(group, true, err);
    if (rc)
        return rc;
    rc = laz_options_copy(&laz_pool_members, &options, given, false, &kept, err);
    if (!rc)
        rc = pool_new(group, &options, &kept, pool, err);
    laz_options_forget(&kept);
    group_leave(group);
    return rc;
}

void laz_group_pool_free(struct laz_group_pool *pool)
{
    struct laz_group *group = pool ? pool->group : NULL;

    if (!pool || group_enter(group, true, NULL))
        return;
    pool_free(pool);
    group_leave(group);
}

/* ---- when the group is freed ------------------------------------------------------------------
 */

/* The list may change: another thread may free one of them. */
void group_pools_close(struct laz_group *group)
{
    for (;;) {
        pthread_mutex_lock(&group->lock);
        struct laz_group_pool *pool = group->pools;
        while (pool && pool->is_ending)
            pool = pool->next;
        if (pool)
            pool->is_ending = true;
        pthread_mutex_unlock(&group->lock);
        if (!pool)
            return;
        pool_close(pool);
    }
}

void group_pools_leave(struct group_lane *lane)
{
    struct laz_group *group = lane->group;

    pthread_mutex_lock(&group->lock);
    for (struct laz_group_pool *pool = group->pools; pool; pool = pool->next) {
        if (pool->clerk->lane != lane)
            continue;
        laz_driver_unstir(&lane->engine->driver, &pool->stir);
        laz_timer_stop(pool->timer);
        pool->timer = NULL;
    }
    pthread_mutex_unlock(&group->lock);
}

void group_pools_free(struct laz_group *group)
{
    while (group->pools)
        pool_destroy(group->pools, true);
}

/* ---- for callers ----------------------------------------------------------------------------- */

/* Puts a caller into the queue, or says why it need not wait. By the lock. Those to whom slots are
 * promised do not count as waiting. */
static int pool_enqueue(struct laz_group_pool *pool, struct group_call *call, struct laz_error *err)
{
    const uint64_t most = pool->group->values->pool.max_waiting;
    unsigned promised = 0;
    int rc = 0;

    if (pool->closed)
        return laz_pool_is_closed(err);
    for (unsigned i = 0; i < pool->group->n; i++)
        promised += pool->parts[i].promised;
    if (pool_promise(pool)) {
        queue_add(pool, call);
        if (call_is_timed(call))
            pool_settle(pool); /* the engine may be in a function of the application */
        return 0;
    }
    if (most && pool->n_waiting >= most + promised)
        return laz_pool_is_full(pool->n_waiting, err);
    struct laz_pool_view view = pool_view(pool);
    if (view.failed == view.total) {
        pool_retry(pool);
        view = pool_view(pool);
    }
    rc = laz_pool_answer(&view, 0, call->wait_ms, err);
    if (rc)
        return rc;
    queue_add(pool, call);
    pool_settle(pool);
    return 0;
}

int laz_group_pool_execute_async(struct laz_group_pool *pool, uint64_t wait_ms, const char *code,
                                 size_t len, const struct laz_execute_options *options,
                                 void (*done)(void *user, struct laz_result *result,
                                              const struct laz_error *err),
                                 void *user, struct laz_error *err)
{
    struct laz_group *group = pool ? pool->group : NULL;
    const struct laz_job_asked asked = {LAZ_JOB_OF(code, len, options, done, user)};
    struct group_call *call;

    if (!pool)
        return laz_error_null(err, "the pool");
    int rc = group_enter(group, false, err);
    if (rc)
        return rc;
    rc = group_call_new(group, &asked, &call, err);
    if (!rc) {
        call->wait_ms = wait_ms;
        pthread_mutex_lock(&pool->lock);
        rc = pool_enqueue(pool, call, err);
        pthread_mutex_unlock(&pool->lock);
    }
    if (rc)
        group_call_free(call);
    group_leave(group);
    return rc;
}

int laz_group_pool_execute(struct laz_group_pool *pool, uint64_t wait_ms, const char *code,
                           size_t len, const struct laz_execute_options *options,
                           struct laz_result **result, struct laz_error *err)
{
    struct laz_group *group = pool ? pool->group : NULL;
    struct group_caller caller = {0};

    if (!result)
        return laz_error_null(err, "the pointer for the result");
    *result = NULL;
    int rc = pool ? group_enter(group, true, err) : laz_error_null(err, "the pool");
    if (rc)
        return rc;
    group_wait_init(&caller.wait);
    rc = laz_group_pool_execute_async(pool, wait_ms, code, len, options, group_caller_told, &caller,
                                      err);
    rc = group_caller_wait(&caller, rc, result, err);
    group_leave(group);
    return rc;
}

int laz_group_pool_status(struct laz_group_pool *pool, struct laz_pool_status *out,
                          struct laz_error *err)
{
    struct laz_pool_status status = LAZ_POOL_STATUS_INIT;

    if (!pool || !out)
        return laz_error_null(err, pool ? "the pointer for the status" : "the pool");
    struct laz_group *group = pool->group;
    int rc = group_enter(group, false, err);
    if (rc)
        return rc;
    pthread_mutex_lock(&pool->lock);
    const struct laz_pool_view view = pool_view(pool);
    laz_pool_fill_status(&view, pool->n_waiting, &status);
    pthread_mutex_unlock(&pool->lock);
    group_leave(group);
    return LAZ_OPTIONS_GIVE(out, &status, laz_pool_status, err);
}
