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

bool js_has_more(const struct js_state *js)
{
    return js->has_timers || js->open || js_fetch_open(js);
}

bool js_is_over(const struct js_state *js)
{
    return js->failed || js->is_interrupted;
}

/* The ms to the next timer; -1: there is none. */
static double loop_run_timers(struct js_state *js)
{
    JSValueRef exception = NULL;

    if (!js->has_timers)
        return -1;
    JSValueRef next = js_call(js, JS_TIMERS, 0, NULL, &exception);

    if (!next) { /* those that are left are cleared at the end of the execution */
        if (!js_is_over(js)) {
            JSValueProtect(js->context, exception);
            js->failed = exception;
        }
        return -1;
    }
    const double ms = JSValueToNumber(js->context, next, NULL);
    js->has_timers = ms >= 0;
    return ms;
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

/* Waits for transfers, and for answers of tools beside them. */
static void loop_wait_for_fetches(struct js_state *js, int timeout_ms)
{
    const struct laz_agent_services *services = js->services;

    if (js->open && js_take_answer(js, 0))
        return;
    js_fetch_wait(js, js->open ? services->answers_fd(services->agent) : -1, timeout_ms);
}

enum js_end js_loop(struct js_state *js, bool has_main)
{
    for (;;) {
        double next = js_is_over(js) ? -1 : loop_run_timers(js);
        if (js->is_interrupted)
            return JS_END_INTERRUPTED;
        if (js->failed)
            return JS_END_FAILED;
        const bool fetches = js_fetch_open(js);
        if (next < 0 && !js->open && !fetches)
            return has_main && !loop_is_settled(js) ? JS_END_STUCK : JS_END_SETTLED;
        if (next > LOOP_LONGEST_MS)
            next = LOOP_LONGEST_MS;
        if (next != 0)
            js_flush(js);
        if (fetches)
            loop_wait_for_fetches(js, next < 0 ? -1 : (int)(next + 0.999));
        else if (js->open)
            js_take_answer(js, next < 0 ? -1 : (int)(next + 0.999));
        else if (next > 0)
            loop_sleep(next);
    }
}

/* timers(): there are some. */
JS_NATIVE(native_timers)
{
    JS_UNUSED;
    js_here->has_timers = true;
    return JSValueMakeUndefined(context);
}

const struct js_native js_natives_loop[] = {
    {"timers", native_timers},
    {NULL, NULL},
};
