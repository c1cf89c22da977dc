/* SPDX-License-Identifier: MIT */
/* shared.c - all sessions of an engine: set up, cancelled, resumed together. */
#include "session/shared.h"

#include "os/system.h"
#include "session/audit_events.h"
#include "session/observe.h"
#include "session/session.h"

int laz_sessions_init(struct laz_session_shared *shared, struct laz_error *err)
{
    shared->listener = &laz_execution_listener;
    shared->processors = laz_os_processors();
    int rc = laz_session_rules_of(shared->values, &shared->rules, err);
    if (!rc && !shared->audit)
        rc = laz_audit_open(shared, err);
    return rc ? rc : laz_observe_open(shared, err);
}

void laz_sessions_leave(struct laz_session_shared *shared)
{
    for (struct laz_session *session = shared->sessions; session; session = session->next)
        laz_session_count(session->state, -1);
}

void laz_sessions_cancel(struct laz_session_shared *shared, bool all)
{
    for (struct laz_session *session = shared->sessions; session; session = session->next)
        if (atomic_exchange(&session->cancel, false) || all) {
            session->is_cancelled = true;
            laz_execution_cancel(session);
            laz_session_finish_cancel(session);
        }
}

void laz_sessions_be_patient(struct laz_session_shared *shared)
{
    for (struct laz_session *session = shared->sessions; session; session = session->next)
        laz_session_be_patient(session);
}
