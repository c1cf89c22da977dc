/* SPDX-License-Identifier: MIT */
/* fsm.c - steps of state machines by their tables, and what the log says of them. */
#include "base/fsm.h"

#include <lazaret/plugin.h>

bool laz_fsm_step(const struct laz_fsm *fsm, unsigned *state, unsigned event,
                  const struct laz_log *log, const char *name)
{
    const unsigned next = fsm->table[*state * fsm->n_events + event];

    if (!next) {
        laz_log(log, LAZ_LOG_ERROR, "%s %s: event '%s' in state '%s' is not legal", fsm->what, name,
                fsm->events[event], fsm->states[*state]);
        return false;
    }
    laz_log(log, LAZ_LOG_DEBUG, "%s %s: %s, %s -> %s", fsm->what, name, fsm->events[event],
            fsm->states[*state], fsm->states[next - 1]);
    *state = next - 1;
    return true;
}
