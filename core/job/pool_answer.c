/* SPDX-License-Identifier: MIT */
/* pool_answer.c - what callers of a pool are told: one of an engine, or one whose slots are in
 * several engines.
 * Side: host.  Input trusted: yes (the application). */
#include "job/pool.h"

#include "session/shared.h"

#include <lazaret/lazaret.h>

#define POOL_MOST 100u /* sessions */

int laz_pool_count_in(atomic_uint *pooled, unsigned n, uint64_t most, struct laz_error *err)
{
    if (n < 1 || n > POOL_MOST)
        return laz_error_set(err, LAZ_EINVAL, 0, "a pool has 1 to %u sessions, not %u", POOL_MOST,
                             n);
    unsigned others = atomic_load(pooled);
    while (!most || others + n <= most)
        if (atomic_compare_exchange_weak(pooled, &others, others + n))
            return 0;
    return laz_error_set(err, LAZ_EREFUSED, 0,
                         "%u sessions of pools, and %u more, exceed pool.max_sessions (%llu)",
                         others, n, (unsigned long long)most);
}

int laz_pool_is_closed(struct laz_error *err)
{
    return laz_error_set(err, LAZ_ECLOSED, 0, "Pool is closed");
}

int laz_pool_is_full(unsigned waiting, struct laz_error *err)
{
    return laz_error_set(err, LAZ_EBUSY, 0,
                         "All sessions are busy, and %u callers wait (pool.max_waiting)", waiting);
}

static int pool_is_busy(uint64_t wait_ms, struct laz_error *err)
{
    if (wait_ms)
        return laz_error_set(err, LAZ_EBUSY, 0, "All sessions are busy (waited %g seconds)",
                             (double)wait_ms / 1000.0);
    return laz_error_set(err, LAZ_EBUSY, 0, "All sessions are busy");
}

int laz_pool_answer(const struct laz_pool_view *view, int ended, uint64_t wait_ms,
                    struct laz_error *err)
{
    if (view->closed)
        return laz_pool_is_closed(err);
    if (ended == LAZ_ECANCELLED)
        return laz_error_set(err, LAZ_ECANCELLED, 0, "The wait for a session was cancelled");
    if (view->failed == view->total)
        return err ? (*err = *view->why, view->why->code) : view->why->code;
    if (ended || (!wait_ms && view->busy + view->failed == view->total))
        return pool_is_busy(wait_ms, err);
    return 0;
}

void laz_pool_fill_status(const struct laz_pool_view *view, unsigned waiting,
                          struct laz_pool_status *status)
{
    status->waiting = waiting;
    if (view->closed)
        return;
    status->total = view->total;
    status->busy = view->busy;
    status->idle = view->idle;
    status->starting = view->starting;
    status->dead = view->total - view->busy - view->idle - view->starting;
}
