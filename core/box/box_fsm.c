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

#define TO(state) LAZ_FSM_TO(LAZ_BOX_##state)

static const unsigned char table[LAZ_BOX_STATES][LAZ_BOX_EVENTS] = {
    [LAZ_BOX_NEW] = {[LAZ_BOX_EVENT_WAIT] = TO(WAITING),
                     [LAZ_BOX_EVENT_TURN] = TO(NEW), /* the template refused to serve it */
                     [LAZ_BOX_EVENT_SPAWN] = TO(SPAWNED),
                     [LAZ_BOX_EVENT_BREAK] = TO(BROKEN), /* turned, and could not be started */
                     [LAZ_BOX_EVENT_KILL] = TO(ENDING)},
    [LAZ_BOX_WAITING] = {[LAZ_BOX_EVENT_TURN] = TO(NEW),
                         [LAZ_BOX_EVENT_SPAWN] = TO(SPAWNED),
                         [LAZ_BOX_EVENT_BREAK] = TO(BROKEN),
                         [LAZ_BOX_EVENT_KILL] = TO(ENDING)},
    [LAZ_BOX_SPAWNED] = {[LAZ_BOX_EVENT_CONNECT] = TO(CONNECTED),
                         [LAZ_BOX_EVENT_HANG_UP] = TO(HUNG_UP),
                         [LAZ_BOX_EVENT_BREAK] = TO(BROKEN),
                         [LAZ_BOX_EVENT_KILL] = TO(ENDING),
                         [LAZ_BOX_EVENT_REAP] = TO(REAPED),
                         [LAZ_BOX_EVENT_END] = TO(ENDED)},
    [LAZ_BOX_CONNECTED] = {[LAZ_BOX_EVENT_TOKEN] = TO(AUTHENTICATED),
                           [LAZ_BOX_EVENT_HANG_UP] = TO(HUNG_UP),
                           [LAZ_BOX_EVENT_BREAK] = TO(BROKEN),
                           [LAZ_BOX_EVENT_KILL] = TO(ENDING),
                           [LAZ_BOX_EVENT_REAP] = TO(REAPED),
                           [LAZ_BOX_EVENT_END] = TO(ENDED)},
    [LAZ_BOX_AUTHENTICATED] = {[LAZ_BOX_EVENT_SETTLE] = TO(UP),
                               [LAZ_BOX_EVENT_HANG_UP] = TO(HUNG_UP),
                               [LAZ_BOX_EVENT_BREAK] = TO(BROKEN),
                               [LAZ_BOX_EVENT_KILL] = TO(ENDING),
                               [LAZ_BOX_EVENT_REAP] = TO(REAPED),
                               [LAZ_BOX_EVENT_END] = TO(ENDED)},
    [LAZ_BOX_UP] = {[LAZ_BOX_EVENT_HANG_UP] = TO(HUNG_UP),
                    [LAZ_BOX_EVENT_BREAK] = TO(BROKEN),
                    [LAZ_BOX_EVENT_KILL] = TO(ENDING),
                    [LAZ_BOX_EVENT_REAP] = TO(REAPED),
                    [LAZ_BOX_EVENT_END] = TO(ENDED)},
    [LAZ_BOX_HUNG_UP] = {[LAZ_BOX_EVENT_BREAK] = TO(BROKEN), /* and did not end */
                         [LAZ_BOX_EVENT_KILL] = TO(ENDING),
                         [LAZ_BOX_EVENT_REAP] = TO(REAPED),
                         [LAZ_BOX_EVENT_END] = TO(ENDED)},
    [LAZ_BOX_BROKEN] = {[LAZ_BOX_EVENT_BREAK] = TO(BROKEN),
                        [LAZ_BOX_EVENT_KILL] = TO(ENDING),
                        [LAZ_BOX_EVENT_REAP] = TO(REAPED),
                        [LAZ_BOX_EVENT_END] = TO(ENDED)},
    [LAZ_BOX_ENDING] = {[LAZ_BOX_EVENT_CONNECT] = TO(ENDING), /* killed before it had connected */
                        [LAZ_BOX_EVENT_HANG_UP] = TO(ENDING),
                        [LAZ_BOX_EVENT_BREAK] = TO(ENDING),
                        [LAZ_BOX_EVENT_OVERDUE] = TO(ENDING),
                        [LAZ_BOX_EVENT_REAP] = TO(REAPED),
                        [LAZ_BOX_EVENT_END] = TO(ENDED)},
    [LAZ_BOX_REAPED] = {[LAZ_BOX_EVENT_CONNECT] = TO(REAPED),
                        [LAZ_BOX_EVENT_HANG_UP] = TO(REAPED),
                        [LAZ_BOX_EVENT_BREAK] = TO(REAPED),
                        [LAZ_BOX_EVENT_KILL] = TO(REAPED), /* what is left inside */
                        [LAZ_BOX_EVENT_OVERDUE] = TO(REAPED),
                        [LAZ_BOX_EVENT_END] = TO(ENDED)},
    [LAZ_BOX_ENDED] = {[LAZ_BOX_EVENT_REAP] = TO(ENDED)}, /* later than was waited for */
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
