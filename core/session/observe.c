/* SPDX-License-Identifier: MIT */
/* observe.c - what is counted of sessions and executions, and recorded as spans of a trace.
 * Side: host.  Input trusted: yes (verdicts and times are the host's own).
 *
 * A span never has code, arguments, values or output, nor a name that code has chosen: calls of
 * tools that do not exist are all recorded under one. */
#include "session/observe.h"

#include "base/clock.h"
#include "settings/settings.h"
#include "telemetry/spans.h"

int laz_observe_open(struct laz_session_shared *shared, struct laz_error *err)
{
    const struct laz_settings_values *values = shared->values;
    const struct laz_spans_options options = {
        .endpoint = values->telemetry.endpoint,
        .headers = &values->telemetry.headers,
        .service = values->telemetry.service,
        .log = &shared->driver->log,
    };

    if (shared->spans || !options.endpoint || !*options.endpoint || values->mistakes)
        return 0;
    int rc = laz_spans_new(&options, &shared->spans, err);
    if (rc)
        laz_settings_blame(values, "telemetry.endpoint", NULL, err);
    return rc;
}

void laz_observe_started(const struct laz_session *session, int rc)
{
    const uint64_t now_us = laz_loop_now_us(session->shared->driver->loop);
    const unsigned kind = laz_session_is_far(session)          ? LAZ_METRIC_WORKER
                          : session->box && session->box->from ? LAZ_METRIC_TEMPLATE
                                                               : LAZ_METRIC_COLD;

    if (!rc)
        laz_metrics_observe(LAZ_METRIC_STARTS, kind, now_us - session->start.begun_us);
    else if (rc != LAZ_ECANCELLED)
        laz_metrics_add(LAZ_METRIC_START_FAILURES, 0, 1);
}

void laz_observe_execution(struct laz_execution *execution)
{
    if (execution->request.asked == LAZ_ASKED_EXECUTE)
        execution->span = laz_span_begin(execution->session->shared->spans, "execute",
                                         execution->request.options->trace);
}

static void observe_result(struct laz_span *span, const struct laz_execution *execution,
                           const struct laz_result *result)
{
    const char *verdict = result ? laz_verdict_name(result->verdict)
                                 : laz_metrics_word(LAZ_METRIC_EXECUTIONS, LAZ_METRIC_NO_VERDICT);

    laz_span_text(span, "lazaret.session", execution->session->id);
    laz_span_text(span, "lazaret.runtime", execution->session->runtime->name);
    laz_span_text(span, "lazaret.verdict", verdict);
    if (!result || result->verdict != LAZ_VERDICT_OK)
        laz_span_fail(span, verdict);
    if (!result)
        return;
    laz_span_int(span, "lazaret.tool_calls", (int64_t)result->tool_calls);
    laz_span_seconds(span, "lazaret.cpu_seconds", result->cpu_us);
    laz_span_int(span, "lazaret.max_rss_bytes", (int64_t)result->max_rss_bytes);
}

void laz_observe_executed(struct laz_execution *execution, const struct laz_result *result)
{
    if (execution->request.asked != LAZ_ASKED_EXECUTE)
        return;
    laz_metrics_add(LAZ_METRIC_EXECUTIONS, result ? result->verdict : LAZ_METRIC_NO_VERDICT, 1);
    if (execution->phase == LAZ_PHASE_RUNNING && result)
        laz_metrics_observe(LAZ_METRIC_EXECUTION_TIME, 0, result->wall_us);
    if (result && result->verdict == LAZ_VERDICT_BLOCKED)
        laz_metrics_add(LAZ_METRIC_DENIALS, LAZ_METRIC_BY_CODE, 1);
    if (execution->span)
        observe_result(execution->span, execution, result);
    laz_span_end(execution->span);
    execution->span = NULL;
}

const struct laz_trace *laz_observe_trace(const struct laz_execution *execution)
{
    return execution->span ? laz_span_trace(execution->span) : execution->request.options->trace;
}

struct laz_span *laz_observe_call(const struct laz_execution *execution, const char *tool)
{
    struct laz_span *span = laz_span_begin_in(execution->span, "tool", tool ? tool : "(unknown)");

    laz_span_text(span, "lazaret.session", execution->session->id);
    return span;
}

const struct laz_trace *laz_observe_call_trace(const struct laz_execution *execution,
                                               const struct laz_span *span)
{
    return span ? laz_span_trace(span) : laz_observe_trace(execution);
}

void laz_observe_called(struct laz_span **span, enum laz_metric_outcome outcome)
{
    const char *word = laz_metrics_word(LAZ_METRIC_TOOL_CALLS, outcome);

    laz_metrics_add(LAZ_METRIC_TOOL_CALLS, outcome, 1);
    if (outcome == LAZ_METRIC_REFUSED)
        laz_metrics_add(LAZ_METRIC_DENIALS, LAZ_METRIC_BY_TOOL, 1);
    laz_span_text(*span, "lazaret.outcome", word);
    if (outcome != LAZ_METRIC_OK)
        laz_span_fail(*span, word);
    laz_span_end(*span);
    *span = NULL;
}

void laz_observe_answered(const struct laz_call *call, bool is_ok)
{
    const struct laz_call_owner *owner = laz_call_owner(call);
    struct laz_span *span = owner->span;

    laz_metrics_observe(LAZ_METRIC_TOOL_TIME, 0, laz_clock_us() - owner->started_us);
    laz_observe_called(&span, is_ok            ? LAZ_METRIC_OK
                              : owner->is_late ? LAZ_METRIC_TIMEOUT
                                               : LAZ_METRIC_ERROR);
}

void laz_observe_approval(bool is_approved)
{
    laz_metrics_add(LAZ_METRIC_APPROVALS,
                    is_approved ? LAZ_METRIC_APPROVED : LAZ_METRIC_NOT_APPROVED, 1);
}
