/* SPDX-License-Identifier: MIT */
/* job_engine.c - all jobs, pools and sessions of an engine: served, cancelled, resumed, freed
 * together.
 */
#include "job/job_private.h"

#include "job/pool.h"

/* ---- callbacks of the driver (driver.h) ------------------------------------------------------ */

static bool jobs_serve(void *user)
{
    struct laz_session_shared *shared = user;

    return shared->tools->lend && laz_lend_serve(shared->tools->lend);
}

static void jobs_cancelled(void *user)
{
    struct laz_session_shared *shared = user;
    bool all = atomic_exchange(&shared->driver->cancel_all, false);

    if (all)
        laz_box_cancel_waits(shared->boxes);
    laz_sessions_cancel(shared, all);
    if (all)
        laz_pools_cancel(shared);
}

static void jobs_resumed(void *user)
{
    laz_sessions_be_patient(user);
}

/* ---- making and freeing --------------------------------------------------------------------- */

int laz_jobs_init(struct laz_session_shared *shared, struct laz_error *err)
{
    shared->driver->owner =
        (struct laz_driver_owner){shared, jobs_serve, jobs_cancelled, jobs_resumed};
    return laz_sessions_init(shared, err);
}

/* Reports those that do not wait for a pool, before any session is freed: callbacks may know the
 * others. */
static void jobs_report(struct laz_session_shared *shared)
{
    struct laz_job *job = shared->jobs;

    while (job) {
        if (job->wait) {
            job = job->next;
            continue;
        }
        laz_job_drop(job);
        job = shared->jobs; /* callbacks may have ended others */
    }
}

void laz_jobs_free(struct laz_session_shared *shared)
{
    struct laz_driver *driver = shared->driver;

    laz_driver_let_in(driver);
    if ((shared->sessions || shared->jobs || shared->pools) && !laz_driver_enter(driver, NULL)) {
        jobs_report(shared);
        laz_pools_end(shared);
        laz_driver_leave(driver);
    }
    laz_pools_free(shared);
    while (shared->sessions)
        laz_session_free(shared->sessions);
    laz_driver_end_callback(driver);
}
