/* SPDX-License-Identifier: MIT */
/* shared.c - all sessions and pools of an engine: served, cancelled, resumed, freed together. */
#include "session/shared.h"

#include "os/system.h"
#include "session/audit_events.h"
#include "session/pool.h"
#include "session/session.h"

/* ---- callbacks of the driver (driver.h) ------------------------------------------------------ */

static bool sessions_serve(void *user)
{
    struct laz_session_shared *shared = user;

    return shared->tools->lend && laz_lend_serve(shared->tools->lend);
}

static void sessions_cancelled(void *user)
{
    struct laz_session_shared *shared = user;
    bool all = atomic_exchange(&shared->driver->cancel_all, false);

    if (all)
        laz_box_cancel_waits(shared->boxes);
    for (struct laz_session *session = shared->sessions; session; session = session->next)
        if (atomic_exchange(&session->cancel, false) || all) {
            laz_execution_cancel(session);
            laz_session_finish_cancel(session);
        }
    if (all)
        laz_pools_cancel(shared);
}

static void sessions_resumed(void *user)
{
    struct laz_session_shared *shared = user;

    for (struct laz_session *session = shared->sessions; session; session = session->next)
        laz_session_be_patient(session);
}

/* ---- making and freeing --------------------------------------------------------------------- */

int laz_sessions_init(struct laz_session_shared *shared, struct laz_error *err)
{
    shared->driver->owner =
        (struct laz_driver_owner){shared, sessions_serve, sessions_cancelled, sessions_resumed};
    shared->listener = &laz_execution_listener;
    shared->processors = laz_os_processors();
    return shared->audit ? 0 : laz_audit_open(shared, err);
}

/* Reports what they execute, before any of them is freed: callbacks may know the others. */
static void sessions_report(struct laz_session_shared *shared)
{
    struct laz_session *session = shared->sessions;

    while (session) {
        if (!session->wanted) {
            session = session->next;
            continue;
        }
        laz_session_abandon(session);
        laz_session_settle(session);
        session = shared->sessions; /* one of a pool may be gone */
    }
}

void laz_sessions_free(struct laz_session_shared *shared)
{
    struct laz_driver *driver = shared->driver;

    laz_driver_let_in(driver);
    if ((shared->sessions || shared->onces || shared->pools) && !laz_driver_enter(driver, NULL)) {
        laz_onces_abandon(shared);
        sessions_report(shared);
        laz_pools_end(shared);
        laz_driver_leave(driver);
    }
    laz_pools_free(shared);
    while (shared->sessions)
        laz_session_free(shared->sessions);
    laz_driver_end_callback(driver);
}
