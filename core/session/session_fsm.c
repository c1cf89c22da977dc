/* SPDX-License-Identifier: MIT */
/* session_fsm.c - which event is legal in which session state.
 * Side: host.  Input trusted: no (events come from messages of the agent and from its death). */
#include "session/session_fsm.h"

#include "base/fsm.h"
#include "telemetry/metrics.h"

static const char *const state_names[LAZ_SESSION_STATES] = {
    [LAZ_SESSION_NEW] = "new",           [LAZ_SESSION_AUTHENTICATING] = "authenticating",
    [LAZ_SESSION_STARTING] = "starting", [LAZ_SESSION_IDLE] = "idle",
    [LAZ_SESSION_RUNNING] = "running",   [LAZ_SESSION_RESTARTING] = "restarting",
    [LAZ_SESSION_CLOSING] = "closing",   [LAZ_SESSION_CLOSED] = "closed",
};

static const char *const event_names[LAZ_SESSION_EVENTS] = {
    [LAZ_EVENT_SPAWNED] = "spawned", [LAZ_EVENT_TOKEN] = "token", [LAZ_EVENT_READY] = "ready",
    [LAZ_EVENT_EXECUTE] = "execute", [LAZ_EVENT_DONE] = "done",   [LAZ_EVENT_REPLACE] = "replace",
    [LAZ_EVENT_GONE] = "gone",       [LAZ_EVENT_CLOSE] = "close",
};

#define TO(state) LAZ_FSM_TO(LAZ_SESSION_##state)

static const unsigned char table[LAZ_SESSION_STATES][LAZ_SESSION_EVENTS] = {
    [LAZ_SESSION_NEW] = {[LAZ_EVENT_SPAWNED] = TO(AUTHENTICATING),
                         [LAZ_EVENT_GONE] = TO(CLOSED),
                         [LAZ_EVENT_CLOSE] = TO(CLOSED)},
    [LAZ_SESSION_AUTHENTICATING] = {[LAZ_EVENT_TOKEN] = TO(STARTING),
                                    [LAZ_EVENT_REPLACE] = TO(RESTARTING),
                                    [LAZ_EVENT_GONE] = TO(CLOSED),
                                    [LAZ_EVENT_CLOSE] = TO(CLOSING)},
    [LAZ_SESSION_STARTING] = {[LAZ_EVENT_READY] = TO(IDLE),
                              [LAZ_EVENT_REPLACE] = TO(RESTARTING),
                              [LAZ_EVENT_GONE] = TO(CLOSED),
                              [LAZ_EVENT_CLOSE] = TO(CLOSING)},
    [LAZ_SESSION_IDLE] = {[LAZ_EVENT_EXECUTE] = TO(RUNNING),
                          [LAZ_EVENT_REPLACE] = TO(RESTARTING),
                          [LAZ_EVENT_GONE] = TO(CLOSED),
                          [LAZ_EVENT_CLOSE] = TO(CLOSING)},
    [LAZ_SESSION_RUNNING] = {[LAZ_EVENT_DONE] = TO(IDLE),
                             [LAZ_EVENT_REPLACE] = TO(RESTARTING),
                             [LAZ_EVENT_CLOSE] = TO(CLOSING)},
    [LAZ_SESSION_RESTARTING] = {[LAZ_EVENT_SPAWNED] = TO(AUTHENTICATING),
                                [LAZ_EVENT_REPLACE] = TO(RESTARTING),
                                [LAZ_EVENT_GONE] = TO(CLOSED),
                                [LAZ_EVENT_CLOSE] = TO(CLOSING)},
    [LAZ_SESSION_CLOSING] = {[LAZ_EVENT_GONE] = TO(CLOSED), [LAZ_EVENT_CLOSE] = TO(CLOSING)},
    [LAZ_SESSION_CLOSED] = {[LAZ_EVENT_REPLACE] = TO(RESTARTING), [LAZ_EVENT_CLOSE] = TO(CLOSED)},
};

static const struct laz_fsm session_fsm = {
    .what = "session",
    .states = state_names,
    .events = event_names,
    .n_states = LAZ_SESSION_STATES,
    .n_events = LAZ_SESSION_EVENTS,
    .table = &table[0][0],
};

const char *laz_session_state_name(enum laz_session_state state)
{
    return state_names[state];
}

/* What is shown of sessions in this state; -1: they are not counted. */
static int state_shown(enum laz_session_state state)
{
    switch (state) {
    case LAZ_SESSION_AUTHENTICATING:
    case LAZ_SESSION_STARTING:
        return LAZ_METRIC_STARTING;
    case LAZ_SESSION_IDLE:
        return LAZ_METRIC_IDLE;
    case LAZ_SESSION_RUNNING:
        return LAZ_METRIC_EXECUTING;
    default:
        return -1;
    }
}

void laz_session_count(enum laz_session_state state, int n)
{
    const int shown = state_shown(state);

    if (shown >= 0)
        laz_metrics_add(LAZ_METRIC_SESSIONS, (unsigned)shown, n);
}

bool laz_session_step(enum laz_session_state *state, enum laz_session_event event,
                      const struct laz_log *log, const char *session)
{
    unsigned number = *state;
    bool allowed = laz_fsm_step(&session_fsm, &number, event, log, session);

    if (state_shown(*state) != state_shown((enum laz_session_state)number)) {
        laz_session_count(*state, -1);
        laz_session_count((enum laz_session_state)number, 1);
    }
    *state = (enum laz_session_state)number;
    return allowed;
}
