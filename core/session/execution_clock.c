/* SPDX-License-Identifier: MIT */
/* execution_clock.c - what time brings to an execution: its two clocks, that of the code, which
 * stands while a call of a tool is open, and that of the deadline, which stands while an approval
 * is awaited; and reports of what it has used so far. Side: host.  Input trusted: yes (the kernel's
 * counters). */
#include "session/execution.h"

#include "session/result.h"

void laz_execution_clock_run(struct laz_execution *execution)
{
    if (!execution->request.options->timeout_ms || execution->stop != LAZ_STOP_NONE)
        return;
    execution->code_since_ms = laz_loop_now_ms(execution->session->shared->driver->loop);
    laz_timer_start(execution->session->code_timer, execution->code_left_ms);
}

/* Stops a clock that has run since then. */
static void clock_stand(const struct laz_session *session, struct laz_timer *timer,
                        uint64_t since_ms, uint64_t *left_ms)
{
    const uint64_t spent = laz_loop_now_ms(session->shared->driver->loop) - since_ms;

    *left_ms -= spent < *left_ms ? spent : *left_ms;
    laz_timer_cancel(timer);
}

void laz_execution_clock_stand(struct laz_execution *execution)
{
    if (!execution->request.options->timeout_ms)
        return;
    clock_stand(execution->session, execution->session->code_timer, execution->code_since_ms,
                &execution->code_left_ms);
}

void laz_execution_deadline_run(struct laz_execution *execution)
{
    if (!execution->request.options->deadline_ms || execution->stop != LAZ_STOP_NONE)
        return;
    execution->deadline_since_ms = laz_loop_now_ms(execution->session->shared->driver->loop);
    laz_timer_start(execution->session->deadline_timer, execution->deadline_left_ms);
}

void laz_execution_deadline_stand(struct laz_execution *execution)
{
    if (!execution->request.options->deadline_ms)
        return;
    clock_stand(execution->session, execution->session->deadline_timer,
                execution->deadline_since_ms, &execution->deadline_left_ms);
}

/* ---- progress -------------------------------------------------------------------------------- */

static uint64_t progress_ms(const struct laz_execution *execution)
{
    const uint64_t ms = execution->request.options->progress_ms;

    return ms ? ms : 1000;
}

static void progress_due(void *user)
{
    struct laz_execution *execution = user;
    struct laz_session *session = execution->session;
    struct laz_execution_usage usage = {.size = sizeof usage};
    uint64_t cpu_us;

    laz_timer_start(execution->progress_timer, progress_ms(execution));
    laz_box_usage(session->box, &cpu_us, &usage.max_rss_bytes);
    if (usage.max_rss_bytes < session->guard.peak_bytes)
        usage.max_rss_bytes = session->guard.peak_bytes;
    usage.cpu_us = cpu_us > execution->cpu_before_us ? cpu_us - execution->cpu_before_us : 0;
    usage.wall_us = laz_loop_now_us(session->shared->driver->loop) - execution->started_us;
    usage.tool_calls = execution->result->tool_calls;
    execution->request.options->progress(execution->request.options->user, &usage);
}

void laz_execution_progress_begin(struct laz_execution *execution)
{
    if (!execution->request.options->progress || execution->request.asked != LAZ_ASKED_EXECUTE)
        return;
    execution->progress_timer =
        laz_timer_new(execution->session->shared->driver->loop, progress_due, execution);
    if (execution->progress_timer)
        laz_timer_start(execution->progress_timer, progress_ms(execution));
}

void laz_execution_progress_end(struct laz_execution *execution)
{
    laz_timer_stop(execution->progress_timer);
    execution->progress_timer = NULL;
}

uint64_t laz_execution_left_ms(const struct laz_execution *execution)
{
    const uint64_t now_ms = laz_loop_now_ms(execution->session->shared->driver->loop);
    const uint64_t spent_ms = now_ms - execution->code_since_ms;
    const uint64_t wall_ms = execution->result->wall_us / 1000;
    uint64_t code_ms = LAZ_UNLIMITED, whole_ms = LAZ_UNLIMITED;

    if (execution->request.options->timeout_ms)
        code_ms = execution->code_left_ms > spent_ms ? execution->code_left_ms - spent_ms : 0;
    if (execution->request.options->deadline_ms)
        whole_ms = execution->request.options->deadline_ms > wall_ms
                       ? execution->request.options->deadline_ms - wall_ms
                       : 0;
    return code_ms < whole_ms ? code_ms : whole_ms;
}
