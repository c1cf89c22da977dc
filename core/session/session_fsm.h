/* SPDX-License-Identifier: MIT */
/* session_fsm.h - states of a session and what moves them. */
#ifndef LAZ_SESSION_SESSION_FSM_H
#define LAZ_SESSION_SESSION_FSM_H

#include "base/log.h"

#include <stdbool.h>

enum laz_session_state {
    LAZ_SESSION_NEW,            /* nothing was started yet */
    LAZ_SESSION_AUTHENTICATING, /* a box was spawned; its agent has to connect and show the token */
    LAZ_SESSION_STARTING,       /* init was sent; the runtime is being loaded */
    LAZ_SESSION_IDLE,           /* ready for an execution */
    LAZ_SESSION_RUNNING,        /* an execution or a check is under way */
    LAZ_SESSION_RESTARTING,     /* the box is being replaced: the old one is gone, no new one yet */
    LAZ_SESSION_CLOSING,        /* the box is being ended for good */
    LAZ_SESSION_CLOSED,         /* no box; only a restart brings one */
    LAZ_SESSION_STATES,
};

enum laz_session_event {
    LAZ_EVENT_SPAWNED, /* a box was spawned */
    LAZ_EVENT_TOKEN,   /* its agent connected, is the right process and knows the token */
    LAZ_EVENT_READY,   /* the runtime is loaded, the tools are defined */
    LAZ_EVENT_EXECUTE, /* code was sent */
    LAZ_EVENT_DONE,    /* its outcome has come */
    LAZ_EVENT_REPLACE, /* the box has to go and another to come */
    LAZ_EVENT_GONE,    /* the box has ended, or could not be started */
    LAZ_EVENT_CLOSE,   /* the session is to end */
    LAZ_SESSION_EVENTS,
};

const char *laz_session_state_name(enum laz_session_state state);
/* The one setter: true and the new state in *state, logged; false, and *state as it was, when the
 * event is not legal there. */
bool laz_session_step(enum laz_session_state *state, enum laz_session_event event,
                      const struct laz_log *log, const char *session);
/* The state in which the wire's message table is asked (LAZ_WIRE_*), 0: nothing is legal. */
unsigned laz_session_wire_state(enum laz_session_state state);

#endif
