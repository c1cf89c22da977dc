/* SPDX-License-Identifier: MIT */
/* pool.c - sessions kept ready, and callers that wait for them.
 * Side: host.  Input trusted: yes (the application; what the sessions run is theirs to judge).
 *
 * A member is a place for a session.  It is filled in the background: when its session has been
 * used and pool.reset wants a fresh one, and when it has died, whether or not anybody asks.
 * Whatever happens to a member or a caller stirs the pool, which then looks at all of it in one
 * place, pool_tend, between two turns of the loop.  Starts that fail are repeated after a pause
 * that grows; a caller is told of them only when nobody else's session could become free. */
#include "engine/pool.h"

#include "base/clock.h"
#include "engine/audit_events.h"
#include "engine/engine.h"
#include "engine/execution.h"
#include "engine/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POOL_MOST          100u /* members */
#define POOL_PAUSE_MS      100u /* after the first start that failed */
#define POOL_PAUSE_MOST_MS 30000u

struct laz_pool_member {
    struct laz_pool *pool;
    struct laz_session *session; /* NULL: none */
    bool is_busy;                /* somebody holds it */
};

/* A caller that waits for a session. */
struct pool_waiter {
    struct pool_waiter *next;
    struct laz_pool *pool;
    struct laz_timer *timer; /* NULL: as long as it takes, or not at all */
    bool is_patient;         /* false: it waits for sessions that are being started only */
    bool is_late;
    uint64_t wait_ms;
    void (*got)(void *user, struct laz_session *session, const struct laz_error *err);
    void *user;
};

struct laz_pool {
    struct laz_engine *engine;
    struct laz_pool *next;
    struct laz_stir stir;
    char *runtime;
    struct laz_session_options session_options;
    bool reset, closed;
    unsigned holds; /* its functions that call back; freed after the last of them */
    bool is_freed;
    unsigned failures; /* starts in a row */
    struct laz_error why;
    struct laz_timer *retry;
    bool is_pausing;
    struct pool_waiter *first, **last;
    unsigned n_waiting;
    unsigned n;
    struct laz_pool_member *members;
    char description[128];
};

/* ---- members -------------------------------------------------------------------------------- */

static bool member_is_starting(const struct laz_pool_member *member)
{
    return member->session && member->session->start.under_way;
}

static bool member_is_ready(const struct laz_pool_member *member)
{
    return member->session && !member->is_busy && !member->session->start.under_way &&
           member->session->state == LAZ_SESSION_IDLE && !member->session->misbehaved;
}

static void member_empty(struct laz_pool_member *member)
{
    struct laz_session *session = member->session;

    if (!session)
        return;
    member->session = NULL;
    session->member = NULL;
    laz_session_abandon_start(session);
    if (session->box)
        laz_session_drop_box(session, LAZ_EVENT_CLOSE);
    laz_audit_closed(session);
    if (session->waiters)
        atomic_store(&session->freeing, true); /* by who waits in it */
    else
        laz_session_destroy(session);
}

/* Begins to fill an empty place. What comes of it is seen by pool_tend. */
static void member_fill(struct laz_pool_member *member)
{
    struct laz_pool *pool = member->pool;
    struct laz_error err = {0};

    if (laz_session_make(pool->engine, &pool->session_options, &member->session, &err)) {
        pool->failures++;
        pool->why = err;
        return;
    }
    member->session->member = member;
    member->session->keeps_dead = pool->reset;
}

/* A start that has failed is noted, and its session goes. */
static void member_note_failure(struct laz_pool_member *member)
{
    struct laz_pool *pool = member->pool;
    const struct laz_start *start = &member->session->start;

    if (start->rc) {
        pool->failures++;
        pool->why = start->why;
    }
    member_empty(member);
}

void laz_pool_changed(struct laz_pool_member *member)
{
    laz_engine_stir(member->pool->engine, &member->pool->stir);
}

/* ---- callers -------------------------------------------------------------------------------- */

static void waiter_unlink(struct pool_waiter *waiter)
{
    struct laz_pool *pool = waiter->pool;
    struct pool_waiter **at = &pool->first;

    while (*at != waiter)
        at = &(*at)->next;
    *at = waiter->next;
    if (!*at)
        pool->last = at;
    pool->n_waiting--;
}

/* Gives it a session, or says why there is none. */
static void waiter_tell(struct pool_waiter *waiter, struct laz_session *session,
                        const struct laz_error *err)
{
    struct laz_pool *pool = waiter->pool;
    struct pool_waiter told = *waiter;

    waiter_unlink(waiter);
    laz_timer_stop(waiter->timer);
    free(waiter);
    laz_engine_begin_callback(pool->engine);
    told.got(told.user, session, err);
    laz_engine_end_callback(pool->engine);
}

static void waiter_too_late(void *user)
{
    struct pool_waiter *waiter = user;

    waiter->is_late = true;
    laz_engine_stir(waiter->pool->engine, &waiter->pool->stir);
}

static int pool_is_busy(uint64_t wait_ms, struct laz_error *err)
{
    if (wait_ms)
        return laz_error_set(err, LAZ_EBUSY, 0, "All sessions are busy, for %g seconds",
                             (double)wait_ms / 1000.0);
    return laz_error_set(err, LAZ_EBUSY, 0, "All sessions are busy");
}

static int pool_is_closed(struct laz_error *err)
{
    return laz_error_set(err, LAZ_ECLOSED, 0, "Pool is closed");
}

/* ---- tending -------------------------------------------------------------------------------- */

static void pool_retry(void *user)
{
    struct laz_pool *pool = user;

    pool->is_pausing = false;
    laz_engine_stir(pool->engine, &pool->stir);
}

static void pool_pause(struct laz_pool *pool)
{
    unsigned doublings = pool->failures < 10 ? pool->failures - 1 : 9;
    uint64_t ms = (uint64_t)POOL_PAUSE_MS << doublings;

    pool->is_pausing = true;
    laz_timer_start(pool->retry, ms < POOL_PAUSE_MOST_MS ? ms : POOL_PAUSE_MOST_MS);
    laz_log(&pool->engine->log, LAZ_LOG_WARNING, "a session of the pool did not start: %s",
            pool->why.text);
}

/* Empties the places of what has died, and fills the empty ones. */
static void pool_fill(struct laz_pool *pool)
{
    unsigned failures = pool->failures;

    for (unsigned i = 0; i < pool->n; i++) {
        struct laz_pool_member *member = &pool->members[i];
        if (member->is_busy || member_is_starting(member))
            continue;
        if (member_is_ready(member)) {
            pool->failures = failures = 0;
            continue;
        }
        if (member->session)
            member_note_failure(member);
        if (!pool->is_pausing && pool->failures == failures)
            member_fill(member);
    }
    if (pool->failures > failures && !pool->is_pausing)
        pool_pause(pool);
}

static struct laz_pool_member *pool_ready(struct laz_pool *pool)
{
    for (unsigned i = 0; i < pool->n; i++) {
        struct laz_pool_member *member = &pool->members[i];
        if (!member_is_ready(member))
            continue;
        laz_session_look(member->session);
        if (member_is_ready(member))
            return member;
        laz_pool_changed(member); /* it died while nobody looked */
    }
    return NULL;
}

static unsigned pool_starting(const struct laz_pool *pool)
{
    unsigned n = 0;

    for (unsigned i = 0; i < pool->n; i++)
        n += !pool->members[i].is_busy && member_is_starting(&pool->members[i]);
    return n;
}

static unsigned pool_idle(const struct laz_pool *pool)
{
    unsigned n = 0;

    for (unsigned i = 0; i < pool->n; i++)
        n += member_is_ready(&pool->members[i]);
    return n;
}

static unsigned pool_busy(const struct laz_pool *pool)
{
    unsigned n = 0;

    for (unsigned i = 0; i < pool->n; i++)
        n += pool->members[i].is_busy;
    return n;
}

/* Whose wait is over, and how: the first in order that can be told something. */
static struct pool_waiter *pool_next_told(struct laz_pool *pool, struct laz_session **session,
                                          struct laz_error *err)
{
    bool first = true;

    *session = NULL;
    for (struct pool_waiter *waiter = pool->first; waiter; waiter = waiter->next, first = false) {
        struct laz_pool_member *member = first && !pool->closed ? pool_ready(pool) : NULL;
        unsigned starting = pool_starting(pool);
        if (pool->closed) {
            pool_is_closed(err);
        } else if (member) {
            member->is_busy = true;
            *session = member->session;
        } else if (!starting && !pool_busy(pool) && pool->failures) {
            *err = pool->why;
        } else if (waiter->is_late || (!waiter->is_patient && !starting)) {
            pool_is_busy(waiter->wait_ms, err);
        } else {
            continue;
        }
        return waiter;
    }
    return NULL;
}

static void pool_destroy(struct laz_pool *pool)
{
    struct laz_pool **at = &pool->engine->pools;

    while (*at && *at != pool)
        at = &(*at)->next;
    if (*at)
        *at = pool->next;
    laz_engine_unstir(pool->engine, &pool->stir);
    laz_timer_stop(pool->retry);
    free(pool->members);
    free(pool->runtime);
    free(pool);
}

static void pool_let_go(struct laz_pool *pool)
{
    if (--pool->holds == 0 && pool->is_freed)
        pool_destroy(pool);
}

static void pool_tend(struct laz_stir *stir)
{
    struct laz_pool *pool =
        (struct laz_pool *)(void *)((char *)stir - offsetof(struct laz_pool, stir));
    struct pool_waiter *waiter;
    struct laz_session *session;
    struct laz_error err = {0};

    pool->holds++;
    if (!pool->closed)
        pool_fill(pool);
    while ((waiter = pool_next_told(pool, &session, &err)))
        waiter_tell(waiter, session, session ? NULL : &err);
    pool_let_go(pool);
}

/* ---- making and undoing --------------------------------------------------------------------- */

static unsigned pools_members(const struct laz_engine *engine)
{
    unsigned n = 0;

    for (const struct laz_pool *pool = engine->pools; pool; pool = pool->next)
        n += pool->closed ? 0 : pool->n;
    return n;
}

static int pool_check(const struct laz_engine *engine, unsigned n, struct laz_error *err)
{
    uint64_t most = engine->values->pool.max_sessions;
    unsigned others = pools_members(engine);

    if (n < 1 || n > POOL_MOST)
        return laz_error_set(err, LAZ_EINVAL, 0, "a pool has 1 to %u sessions, not %u", POOL_MOST,
                             n);
    if (most && others + n > most)
        return laz_error_set(err, LAZ_EREFUSED, 0,
                             "%u sessions of pools, and %u more, exceed pool.max_sessions (%llu)",
                             others, n, (unsigned long long)most);
    return 0;
}

static struct laz_pool *pool_prepare(struct laz_engine *engine,
                                     const struct laz_pool_options *options, unsigned n)
{
    struct laz_pool *pool = calloc(1, sizeof *pool);

    if (!pool)
        return NULL;
    pool->engine = engine;
    pool->stir.advance = pool_tend;
    pool->last = &pool->first;
    pool->reset = engine->values->pool.reset;
    pool->session_options = (struct laz_session_options){
        .size = sizeof pool->session_options,
        .warm = 1,
    };
    pool->next = engine->pools;
    engine->pools = pool;
    const char *runtime = options && LAZ_HAS(options, runtime) ? options->runtime : NULL;
    if (options && LAZ_HAS(options, pre_execute)) {
        pool->session_options.pre_execute = options->pre_execute;
        pool->session_options.pre_execute_user = options->pre_execute_user;
    }
    pool->runtime = laz_strdup(runtime ? runtime : "");
    pool->session_options.runtime = runtime ? pool->runtime : NULL;
    pool->retry = laz_timer_new(engine->loop, pool_retry, pool);
    pool->members = calloc(n, sizeof *pool->members);
    if (pool->runtime && pool->retry && pool->members) {
        pool->n = n;
        for (unsigned i = 0; i < n; i++)
            pool->members[i].pool = pool;
        return pool;
    }
    pool_destroy(pool);
    return NULL;
}

static void pool_end(struct laz_pool *pool)
{
    pool->closed = true;
    laz_timer_cancel(pool->retry);
    for (unsigned i = 0; i < pool->n; i++)
        if (!pool->members[i].is_busy)
            member_empty(&pool->members[i]);
    for (unsigned i = 0; i < pool->n; i++) /* these stay, closed, until the pool is freed */
        if (pool->members[i].session)
            laz_session_end(pool->members[i].session);
    laz_engine_stir(pool->engine, &pool->stir);
}

int laz_pool_new(struct laz_engine *engine, const struct laz_pool_options *options,
                 struct laz_pool **out, struct laz_error *err)
{
    unsigned n = options && LAZ_HAS(options, members) ? options->members
                                                      : (unsigned)engine->values->pool.size;
    bool waits = !(options && LAZ_HAS(options, no_wait));

    *out = NULL;
    int rc = laz_engine_enter(engine, err);
    if (rc)
        return rc;
    rc = pool_check(engine, n, err);
    struct laz_pool *pool = rc ? NULL : pool_prepare(engine, options, n);
    if (!rc && !pool)
        rc = laz_error_nomem(err);
    if (pool) {
        pool->holds++;
        pool_fill(pool);
        while (waits && !pool->failures && pool_idle(pool) < n)
            laz_engine_turn(engine, LAZ_LOOP_FOREVER);
        if (waits && pool->failures) {
            rc = pool->why.code;
            if (err)
                *err = pool->why;
            pool_end(pool);
            pool->is_freed = true;
        }
        pool_let_go(pool);
    }
    if (!rc)
        *out = pool;
    laz_engine_leave(engine);
    return rc;
}

int laz_pool_close(struct laz_pool *pool, struct laz_error *err)
{
    struct laz_engine *engine = pool->engine;
    int rc = laz_engine_enter(engine, err);

    if (rc)
        return rc;
    pool->holds++;
    if (!pool->closed)
        pool_end(pool);
    while (pool->first && !engine->is_ending)
        laz_engine_turn(engine, LAZ_LOOP_FOREVER);
    pool_let_go(pool);
    laz_engine_leave(engine);
    return 0;
}

void laz_pool_free(struct laz_pool *pool)
{
    if (!pool)
        return;
    struct laz_engine *engine = pool->engine;
    if (laz_engine_enter(engine, NULL))
        return; /* in use: the engine frees it with everything else */
    pool->holds++;
    if (!pool->closed)
        pool_end(pool);
    while (pool->first)
        laz_engine_turn(engine, LAZ_LOOP_FOREVER);
    for (unsigned i = 0; i < pool->n; i++)
        member_empty(&pool->members[i]);
    pool->is_freed = true;
    pool_let_go(pool);
    laz_engine_leave(engine);
}

void laz_pools_free(struct laz_engine *engine)
{
    while (engine->pools)
        laz_pool_free(engine->pools);
}

/* ---- sessions for callers ------------------------------------------------------------------- */

static int pool_wait(struct laz_pool *pool, uint64_t wait_ms,
                     void (*got)(void *user, struct laz_session *session,
                                 const struct laz_error *err),
                     void *user, struct laz_error *err)
{
    uint64_t most = pool->engine->values->pool.max_waiting;

    if (pool->closed)
        return pool_is_closed(err);
    if (most && pool->n_waiting >= most)
        return laz_error_set(err, LAZ_EBUSY, 0,
                             "All sessions are busy, and %u callers wait (pool.max_waiting)",
                             pool->n_waiting);
    struct pool_waiter *waiter = calloc(1, sizeof *waiter);
    if (!waiter)
        return laz_error_nomem(err);
    waiter->pool = pool;
    waiter->wait_ms = wait_ms;
    waiter->is_patient = wait_ms != 0;
    waiter->got = got;
    waiter->user = user;
    if (wait_ms && wait_ms != LAZ_NO_LIMIT) {
        waiter->timer = laz_timer_new(pool->engine->loop, waiter_too_late, waiter);
        if (!waiter->timer) {
            free(waiter);
            return laz_error_nomem(err);
        }
        laz_timer_start(waiter->timer, wait_ms);
    }
    *pool->last = waiter;
    pool->last = &waiter->next;
    pool->n_waiting++;
    if (pool->is_pausing && !pool_busy(pool)) { /* somebody needs one: now, not later */
        laz_timer_cancel(pool->retry);
        pool->is_pausing = false;
        pool->failures = 0;
    }
    laz_engine_stir(pool->engine, &pool->stir);
    return 0;
}

int laz_pool_acquire_async(struct laz_pool *pool, uint64_t wait_ms,
                           void (*got)(void *user, struct laz_session *session,
                                       const struct laz_error *err),
                           void *user, struct laz_error *err)
{
    if (!got)
        return laz_error_set(err, LAZ_EINVAL, 0, "there is nobody to give a session to");
    int rc = laz_engine_enter(pool->engine, err);
    if (rc)
        return rc;
    rc = pool_wait(pool, wait_ms, got, user, err);
    laz_engine_leave(pool->engine);
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
    struct laz_pool_member *ready = NULL;

    *session = NULL;
    int rc = laz_engine_enter(pool->engine, err);
    if (rc)
        return rc;
    if (!pool->closed && !pool->first)
        ready = pool_ready(pool);
    if (ready) {
        ready->is_busy = true;
        *session = ready->session;
    } else if (!(rc = pool_wait(pool, wait_ms, pool_acquired, &acquired, err))) {
        while (!acquired.session && !acquired.err.code)
            laz_engine_turn(pool->engine, LAZ_LOOP_FOREVER);
        *session = acquired.session;
        rc = acquired.err.code;
        if (rc && err)
            *err = acquired.err;
    }
    laz_engine_leave(pool->engine);
    return rc;
}

/* Ours again. With pool.reset its session goes, and so does one that does not run. */
static void member_return(struct laz_pool_member *member)
{
    member->is_busy = false;
    if (member->pool->reset || member->pool->closed)
        member_empty(member);
    laz_pool_changed(member);
}

void laz_pool_take_back(struct laz_pool_member *member)
{
    member->is_busy = false;
    member_empty(member);
    laz_pool_changed(member);
}

int laz_pool_release(struct laz_pool *pool, struct laz_session *session, struct laz_error *err)
{
    if (!session || !session->member || session->member->pool != pool || !session->member->is_busy)
        return laz_error_set(err, LAZ_EINVAL, 0, "the session was not acquired from this pool");
    if (atomic_load(&session->executing))
        return laz_error_set(err, LAZ_EBUSY, 0, "the session is executing");
    int rc = laz_engine_enter(pool->engine, err);
    if (rc)
        return rc;
    member_return(session->member);
    laz_engine_leave(pool->engine);
    return 0;
}

/* ---- executing ------------------------------------------------------------------------------ */

/* One execution in a session of the pool, from the wait for it to its return. */
struct pool_run {
    struct laz_pool *pool;
    struct laz_session *session;
    char *code;
    size_t len;
    struct laz_execute_options options;
    void (*done)(void *user, struct laz_result *result, const struct laz_error *err);
    void *user;
};

static void run_end(struct pool_run *run, struct laz_result *result, const struct laz_error *err)
{
    struct pool_run ended = *run;

    if (ended.session)
        member_return(ended.session->member);
    free(ended.code);
    free(run);
    ended.done(ended.user, result, err); /* who calls us has opened the engine to it */
}

static void run_done(void *user, struct laz_result *result, const struct laz_error *err)
{
    run_end(user, result, err);
}

static void run_begin(void *user, struct laz_session *session, const struct laz_error *err)
{
    struct pool_run *run = user;
    struct laz_error why = {0};

    run->session = session;
    if (session &&
        laz_session_execute_async(session, run->code, run->len, &run->options, run_done, run, &why))
        err = &why;
    if (err)
        run_end(run, NULL, err);
}

int laz_pool_execute_async(struct laz_pool *pool, uint64_t wait_ms, const char *code, size_t len,
                           const struct laz_execute_options *options,
                           void (*done)(void *user, struct laz_result *result,
                                        const struct laz_error *err),
                           void *user, struct laz_error *err)
{
    if (!code || !done)
        return laz_error_set(err, LAZ_EINVAL, 0, "there is no code, or nobody to tell of its end");
    struct pool_run *run = calloc(1, sizeof *run);
    if (!run)
        return laz_error_nomem(err);
    run->pool = pool;
    run->len = len == SIZE_MAX ? strlen(code) : len;
    run->code = laz_strndup(code, run->len);
    run->done = done;
    run->user = user;
    if (options)
        memcpy(&run->options, options,
               options->size < sizeof run->options ? options->size : sizeof run->options);
    run->options.size = sizeof run->options;
    int rc = run->code ? laz_pool_acquire_async(pool, wait_ms, run_begin, run, err)
                       : laz_error_nomem(err);
    if (rc) {
        free(run->code);
        free(run);
    }
    return rc;
}

int laz_pool_execute(struct laz_pool *pool, uint64_t wait_ms, const char *code, size_t len,
                     const struct laz_execute_options *options, struct laz_result **result,
                     struct laz_error *err)
{
    struct laz_engine *engine = pool->engine;
    struct laz_session *session;

    *result = NULL;
    int rc = laz_engine_enter(engine, err);
    if (rc)
        return rc;
    pool->holds++;
    laz_engine_leave(engine);
    rc = laz_pool_acquire(pool, wait_ms, &session, err);
    if (!rc) {
        rc = laz_session_execute(session, code, len, options, result, err);
        if (!pool->is_freed)
            laz_pool_release(pool, session, NULL);
    }
    laz_engine_enter(engine, NULL);
    pool_let_go(pool);
    laz_engine_leave(engine);
    return rc;
}

/* ---- telling -------------------------------------------------------------------------------- */

int laz_pool_status(struct laz_pool *pool, struct laz_pool_status *out, struct laz_error *err)
{
    struct laz_pool_status status = {.size = out->size};
    int rc = laz_engine_enter(pool->engine, err);

    if (rc)
        return rc;
    for (unsigned i = 0; !pool->closed && i < pool->n; i++) {
        struct laz_pool_member *member = &pool->members[i];
        if (member_is_ready(member))
            laz_session_look(member->session);
        status.total++;
        if (member->is_busy)
            status.busy++;
        else if (member_is_ready(member))
            status.idle++;
        else if (member_is_starting(member))
            status.starting++;
        else
            status.dead++;
    }
    status.waiting = pool->n_waiting;
    if (status.dead)
        laz_engine_stir(pool->engine, &pool->stir);
    memcpy(out, &status, out->size < sizeof status ? out->size : sizeof status);
    laz_engine_leave(pool->engine);
    return 0;
}

const char *laz_pool_describe(struct laz_pool *pool)
{
    struct laz_pool_status status = {.size = sizeof status};
    const char *runtime = pool->session_options.runtime;

    if (pool->closed || laz_pool_status(pool, &status, NULL))
        snprintf(pool->description, sizeof pool->description, "<pool %s>",
                 pool->closed ? "[closed]" : "[in use]");
    else
        snprintf(pool->description, sizeof pool->description,
                 "<pool %s size=%u idle=%u busy=%u starting=%u dead=%u waiting=%u>",
                 runtime                                 ? runtime
                 : pool->engine->values->session.runtime ? pool->engine->values->session.runtime
                                                         : "python",
                 status.total, status.idle, status.busy, status.starting, status.dead,
                 status.waiting);
    return pool->description;
}
