/* SPDX-License-Identifier: MIT */
/* execution_clock.c - the two clocks of an execution: that of the code, which stands while a call
 * of a tool is open, and that of the deadline, which stands while an approval is awaited. Side:
 * host.  Input trusted: yes. */
#include "session/execution.h"

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
