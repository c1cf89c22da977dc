/* SPDX-License-Identifier: MIT */
/* execution_progress.c - reports what a running execution has used so far.
 * Side: host.  Input trusted: yes (the kernel's counters). */
#include "session/execution.h"

#include "session/result.h"

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
