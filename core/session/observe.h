/* SPDX-License-Identifier: MIT */
/* observe.h - what is counted of sessions and executions, and recorded as spans of a trace.
 *
 * Each function is called at the one place where its event is decided, by the thread that holds the
 * loop.  Nothing depends on what they do. */
#ifndef LAZ_SESSION_OBSERVE_H
#define LAZ_SESSION_OBSERVE_H

#include "session/execution.h"
#include "session/session.h"
#include "telemetry/metrics.h"

/* Makes the exporter of the settings, if any, unless there is one already. Errors: as
 * laz_spans_new, with the place of the setting. */
int laz_observe_open(struct laz_session_shared *shared, struct laz_error *err);

/* The start of a box has ended: by rc. */
void laz_observe_started(const struct laz_session *session, int rc);

/* Code is executed from here on: the execution has its span. */
void laz_observe_execution(struct laz_execution *execution);
/* It has ended, with a result or (NULL) without. */
void laz_observe_executed(struct laz_execution *execution, const struct laz_result *result);
/* The trace that what it does belongs to: that of its span, or of its caller; NULL: none. */
const struct laz_trace *laz_observe_trace(const struct laz_execution *execution);

/* A call of a tool that the code may call (`tool`: its name), or of one that there is not (NULL).
 * NULL: it is not recorded. */
struct laz_span *laz_observe_call(const struct laz_execution *execution, const char *tool);
/* The trace that it belongs to; `span` may be NULL. */
const struct laz_trace *laz_observe_call_trace(const struct laz_execution *execution,
                                               const struct laz_span *span);
/* It has ended; *span is NULL then. */
void laz_observe_called(struct laz_span **span, enum laz_metric_outcome outcome);
/* The same for one that a tool has answered: how long it took counts. */
void laz_observe_answered(const struct laz_call *call, bool is_ok);
/* Whether it was approved. */
void laz_observe_approval(bool is_approved);

#endif
