/* SPDX-License-Identifier: MIT */
/* session_fsm.h - the states of a session and the events that change them. */
#ifndef LAZ_SESSION_SESSION_FSM_H
#define LAZ_SESSION_SESSION_FSM_H

#include "base/log.h"

#include <stdbool.h>

enum laz_session_state {
    LAZ_SESSION_NEW,            /* nothing was started yet */
    LAZ_SESSION_AUTHENTICATING, /* a box was spawned; its agent has to connect and send the token */
    LAZ_SESSION_STARTING,       /* init was sent; the agent loads the runtime */
    LAZ_SESSION_IDLE,           /* ready for an execution */
    LAZ_SESSION_RUNNING,        /* an execution or a check is in progress */
    LAZ_SESSION_RESTARTING,     /* the old box was dropped, the next is not spawned yet */
    LAZ_SESSION_CLOSING,        /* the box is being ended, and will not be replaced */
    LAZ_SESSION_CLOSED,         /* no box; only a restart makes one */
    LAZ_SESSION_STATES,
};

enum laz_session_event {
    LAZ_EVENT_SPAWNED, /* a box was spawned */
    LAZ_EVENT_TOKEN,   /* its agent has connected, is the right process and has sent the token */
    LAZ_EVENT_READY,   /* the runtime is loaded, the tools are defined */
    LAZ_EVENT_EXECUTE, /* code was sent */
    LAZ_EVENT_DONE,    /* its outcome has arrived */
    LAZ_EVENT_REPLACE, /* the box has to be replaced */
    LAZ_EVENT_GONE,    /* the box has ended, or could not be started */
    LAZ_EVENT_CLOSE,   /* the session is to be closed */
    LAZ_SESSION_EVENTS,
};

const char *laz_session_state_name(enum laz_session_state state);
/* The only setter of the state: logs the transition and sets *state. False: the event is not legal
 * in this state, which stays unchanged; that is logged as an error. */
bool laz_session_step(enum laz_session_state *state, enum laz_session_event event,
                      const struct laz_log *log, const char *session);
/* Counts a session in this state among those that are shown, or (`n` negative) no more: the setter
 * does, and whoever frees one in a state in which it has not ended. */
void laz_session_count(enum laz_session_state state, int n);

#endif
