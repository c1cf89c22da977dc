/* SPDX-License-Identifier: MIT */
/* fsm.h - state machines: enums for states and events, their names, and one [state][event] table.
 *
 * laz_fsm_step is the only way from one state to another.  It logs each step.  An event that the
 * table does not allow is a bug of the code that raised it: it is logged as an error and changes
 * nothing. */
#ifndef LAZ_BASE_FSM_H
#define LAZ_BASE_FSM_H

#include "base/log.h"

#include <stdbool.h>

/* An entry of a table: the state after the event. 0: the event is not allowed. */
#define LAZ_FSM_TO(state) ((unsigned char)((state) + 1))

struct laz_fsm {
    const char *what;          /* what has the state: "session" */
    const char *const *states; /* names, by number */
    const char *const *events;
    unsigned n_states, n_events;
    const unsigned char *table; /* [n_states][n_events], entries by LAZ_FSM_TO */
};

/* Moves *state. False: the event is not allowed there, and *state is as it was. `name`: of the
 * object, for the log. */
bool laz_fsm_step(const struct laz_fsm *fsm, unsigned *state, unsigned event,
                  const struct laz_log *log, const char *name);

#endif
