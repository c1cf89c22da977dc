/* SPDX-License-Identifier: MIT */
/* pool_status.c - what a pool says of itself. */
#include "job/pool_private.h"

#include "base/options.h"

#include <stdio.h>

void laz_pool_count(const struct laz_pool *pool, struct laz_pool_view *view)
{
    const struct laz_pool_counts count = laz_pool_counts(pool);
    const struct laz_pool_member *failed = pool->members; /* one of them has, or nobody asks why */

    while (count.of[LAZ_SLOT_FAILED] && laz_slot_state(failed) != LAZ_SLOT_FAILED)
        failed++;
    *view = (struct laz_pool_view){.closed = pool->closed,
                                   .total = pool->n,
                                   .busy = count.of[LAZ_SLOT_BUSY],
                                   .idle = count.of[LAZ_SLOT_READY],
                                   .starting = count.of[LAZ_SLOT_STARTING],
                                   .failed = count.of[LAZ_SLOT_FAILED],
                                   .why = &failed->why};
}

/* ---- status --------------------------------------------------------------------------------- */

/* The driver is held. */
static void pool_look(struct laz_pool *pool, struct laz_pool_status *status)
{
    struct laz_pool_view view;

    for (unsigned i = 0; i < pool->n && !pool->closed; i++)
        if (laz_slot_state(&pool->members[i]) == LAZ_SLOT_READY)
            laz_session_look(pool->members[i].session);
    laz_pool_count(pool, &view);
    laz_pool_fill_status(&view, pool->n_waiting, status);
    if (status->dead)
        laz_driver_stir(pool->shared->driver, &pool->stir);
}

int laz_pool_status(struct laz_pool *pool, struct laz_pool_status *out, struct laz_error *err)
{
    struct laz_pool_status status = LAZ_POOL_STATUS_INIT;

    if (!pool || !out)
        return laz_error_null(err, pool ? "the pointer for the status" : "the pool");
    int rc = LAZ_OPTIONS_GIVE(out, &status, laz_pool_status, err); /* checks the size */
    if (!rc)
        rc = laz_driver_enter(pool->shared->driver, err);
    if (rc)
        return rc;
    pool_look(pool, &status);
    laz_driver_leave(pool->shared->driver);
    return LAZ_OPTIONS_GIVE(out, &status, laz_pool_status, err);
}

const char *laz_pool_describe(struct laz_pool *pool)
{
    struct laz_pool_status status = LAZ_POOL_STATUS_INIT;

    if (!pool)
        return NULL;
    struct laz_driver *driver = pool->shared->driver;
    if (laz_driver_enter(driver, NULL))
        return "<pool [in use]>";
    pool_look(pool, &status);
    const char *runtime =
        pool->session_options.runtime
            ? pool->session_options.runtime
            : laz_registry_usual_name(pool->shared->registry, pool->shared->values);
    if (pool->closed)
        snprintf(pool->description, sizeof pool->description, "<pool [closed]>");
    else
        snprintf(pool->description, sizeof pool->description,
                 "<pool %s size=%u idle=%u busy=%u starting=%u dead=%u waiting=%u>", runtime,
                 status.total, status.idle, status.busy, status.starting, status.dead,
                 status.waiting);
    laz_driver_leave(driver);
    return pool->description;
}
