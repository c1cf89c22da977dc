/* SPDX-License-Identifier: MIT */
/* js_watch.c - ends code that runs, when it is interrupted.
 * Side: box.  Input trusted: no.
 *
 * The engine's time limit: a thread of the engine makes the running code call back after a while,
 * and the answer ends it or not. What ends so runs no handler of the language, and the context
 * stays good. The functions are exported, but in no header of this port.
 *
 * When the time is over the engine compares it with CPU time and sets its clock again for what is
 * left, microseconds say. If that is over while the running thread is still in the engine's
 * handler, because the machine is busy, an assertion of the engine (2.50,
 * VMTraps::requestThreadStopIfNeeded) aborts the process. So it is asked rarely, and not at all in
 * short executions. */
#include "js.h"

#define WATCH_SECONDS 0.25 /* a quarter of the default of session.interrupt_grace */

typedef bool js_should_terminate(JSContextRef context, void *user);
__attribute__((weak)) void JSContextGroupSetExecutionTimeLimit(JSContextGroupRef group,
                                                               double seconds,
                                                               js_should_terminate *callback,
                                                               void *user);

/* The engine asks once; so it is told to ask again. */
static bool watch_ends(JSContextRef context, void *user)
{
    struct js_state *js = user;

    (void)context;
    if (js->is_interrupted)
        return true;
    JSContextGroupSetExecutionTimeLimit(js->group, WATCH_SECONDS, watch_ends, js);
    return false;
}

/* Once: the engine starts its clock whenever code is entered. A template has no other thread. */
void js_watch(struct js_state *js)
{
    if (js->is_watched || js->is_template || !JSContextGroupSetExecutionTimeLimit)
        return;
    JSContextGroupSetExecutionTimeLimit(js->group, WATCH_SECONDS, watch_ends, js);
    js->is_watched = true;
}
