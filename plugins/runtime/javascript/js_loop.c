/* SPDX-License-Identifier: MIT */
/* js_loop.c - what the code waits for: timers, answers of tools, transfers.
 * Side: box.  Input trusted: no.
 *
 * Each turn runs what is due and then waits for the next thing. Jobs of promises run inside, when
 * the engine's outermost call returns. The loop ends when nothing is pending, as a program of Node
 * does; a promise that is still open then will never be settled. */
#include "js.h"

#include <errno.h>
#include <time.h>

#define LOOP_LONGEST_MS 3600000.0

bool js_is_over(const struct js_state *js)
{
    return js->failed || js->exits || js->is_interrupted;
}

/* The ms to the next timer; -1: there is none. */
static double loop_run_timers(struct js_state *js)
{
    JSValueRef exception = NULL;
    JSValueRef next = js_call(js, JS_TIMERS, 0, NULL, &exception);

    if (!next && !js->failed && !js->exits && !js->is_interrupted) {
        JSValueProtect(js->context, exception);
        js->failed = exception;
    }
    return next ? JSValueToNumber(js->context, next, NULL) : -1;
}

static void loop_sleep(double ms)
{
    const struct timespec time = {(time_t)(ms / 1000),
                                  (long)((ms - 1000 * (double)(long)(ms / 1000)) * 1e6)};

    nanosleep(&time, NULL); /* interrupted: the caller looks why */
}

/* 0: the promise is open; 1: settled, or there is none. */
static bool loop_is_settled(struct js_state *js)
{
    JSValueRef outcome = js_call(js, JS_OUTCOME, 0, NULL, NULL);

    return outcome && !JSValueIsUndefined(js->context, outcome);
}

enum js_end js_loop(struct js_state *js, bool has_main)
{
    for (;;) {
        double next = js_is_over(js) ? -1 : loop_run_timers(js);
        if (js->exits)
            return JS_END_EXIT;
        if (js->is_interrupted)
            return JS_END_INTERRUPTED;
        if (js->failed)
            return JS_END_FAILED;
        if (next < 0 && !js->open)
            return has_main && !loop_is_settled(js) ? JS_END_STUCK : JS_END_SETTLED;
        if (next > LOOP_LONGEST_MS)
            next = LOOP_LONGEST_MS;
        if (next != 0)
            js_flush(js);
        if (js->open)
            js_take_answer(js, next < 0 ? -1 : (int)(next + 0.999));
        else if (next > 0)
            loop_sleep(next);
    }
}
