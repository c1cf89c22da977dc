/* SPDX-License-Identifier: MIT */
/* box_fsm.c - which event is allowed in which state of a box. */
#include "box/box_fsm.h"

#include "base/fsm.h"

static const char *const state_names[LAZ_BOX_STATES] = {
    [LAZ_BOX_NEW] = "new",
    [LAZ_BOX_WAITING] = "waiting",
    [LAZ_BOX_SPAWNED] = "spawned",
    [LAZ_BOX_CONNECTED] = "connected",
    [LAZ_BOX_AUTHENTICATED] = "authenticated",
    [LAZ_BOX_UP] = "up",
    [LAZ_BOX_HUNG_UP] = "hung up",
    [LAZ_BOX_BROKEN] = "broken",
    [LAZ_BOX_ENDING] = "ending",
    [LAZ_BOX_REAPED] = "reaped",
    [LAZ_BOX_ENDED] = "ended",
};

static const char *const event_names[LAZ_BOX_EVENTS] = {
    [LAZ_BOX_EVENT_WAIT] = "wait",       [LAZ_BOX_EVENT_TURN] = "turn",
    [LAZ_BOX_EVENT_SPAWN] = "spawn",     [LAZ_BOX_EVENT_CONNECT] = "connect",
    [LAZ_BOX_EVENT_TOKEN] = "token",     [LAZ_BOX_EVENT_SETTLE] = "settle",
    [LAZ_BOX_EVENT_HANG_UP] = "hang up", [LAZ_BOX_EVENT_BREAK] = "break",
    [LAZ_BOX_EVENT_KILL] = "kill",       [LAZ_BOX_EVENT_OVERDUE] = "overdue",
    [LAZ_BOX_EVENT_REAP] = "reap",       [LAZ_BOX_EVENT_END] = "end",
};

#define TO(state)        LAZ_FSM_TO(LAZ_BOX_##state)
#define ON(event, state) [LAZ_BOX_EVENT_##event] = TO(state)
/* What can happen at any time to a box whose process runs. */
#define WHILE_IT_RUNS ON(BREAK, BROKEN), ON(KILL, ENDING), ON(REAP, REAPED), ON(END, ENDED)

static const unsigned char table[LAZ_BOX_STATES][LAZ_BOX_EVENTS] = {
    [LAZ_BOX_NEW] = {ON(WAIT, WAITING), ON(TURN, NEW),      /* the template refused to serve it */
                     ON(SPAWN, SPAWNED), ON(BREAK, BROKEN), /* turned, and could not be started */
                     ON(KILL, ENDING)},
    [LAZ_BOX_WAITING] = {ON(TURN, NEW), ON(SPAWN, SPAWNED), ON(BREAK, BROKEN), ON(KILL, ENDING)},
    [LAZ_BOX_SPAWNED] = {ON(CONNECT, CONNECTED), ON(HANG_UP, HUNG_UP), WHILE_IT_RUNS},
    [LAZ_BOX_CONNECTED] = {ON(TOKEN, AUTHENTICATED), ON(HANG_UP, HUNG_UP), WHILE_IT_RUNS},
    [LAZ_BOX_AUTHENTICATED] = {ON(SETTLE, UP), ON(HANG_UP, HUNG_UP), WHILE_IT_RUNS},
    [LAZ_BOX_UP] = {ON(HANG_UP, HUNG_UP), WHILE_IT_RUNS},
    [LAZ_BOX_HUNG_UP] = {WHILE_IT_RUNS}, /* broken: it did not end */
    [LAZ_BOX_BROKEN] = {WHILE_IT_RUNS},
    [LAZ_BOX_ENDING] = {ON(CONNECT, ENDING), /* killed before it had connected */
                        ON(HANG_UP, ENDING), ON(BREAK, ENDING), ON(OVERDUE, ENDING),
                        ON(REAP, REAPED), ON(END, ENDED)},
    [LAZ_BOX_REAPED] = {ON(CONNECT, REAPED), ON(HANG_UP, REAPED), ON(BREAK, REAPED),
                        ON(KILL, REAPED), /* what is left inside */
                        ON(OVERDUE, REAPED), ON(END, ENDED)},
    [LAZ_BOX_ENDED] = {ON(REAP, ENDED)}, /* later than was waited for */
};

static const struct laz_fsm box_fsm = {
    .what = "box",
    .states = state_names,
    .events = event_names,
    .n_states = LAZ_BOX_STATES,
    .n_events = LAZ_BOX_EVENTS,
    .table = &table[0][0],
};

const char *laz_box_state_name(enum laz_box_state state)
{
    return state_names[state];
}

bool laz_box_life_step(struct laz_box_life *life, enum laz_box_event event,
                       const struct laz_log *log, const char *name)
{
    unsigned state = life->state;

    if (!laz_fsm_step(&box_fsm, &state, event, log, name))
        return false;
    life->state = (enum laz_box_state)state;
    life->had |= 1u << event;
    return true;
}

bool laz_box_life_had(const struct laz_box_life *life, enum laz_box_event event)
{
    return life->had & 1u << event;
}
