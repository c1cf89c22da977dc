/* SPDX-License-Identifier: MIT */
/* metrics.h - counters of this process, whether it is well, and the port at which both are read.
 *
 * What is counted is a row of LAZ_METRICS.  Labels have fixed words alone: no text that code or a
 * remote caller has chosen, so that there are never more series than this table has.  Any thread
 * may call everything here, unless it says otherwise. */
#ifndef LAZ_TELEMETRY_METRICS_H
#define LAZ_TELEMETRY_METRICS_H

#include "base/buf.h"
#include "base/error.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- what is counted ------------------------------------------------------------------------- */

/* Words of labels, in the order of their enum. */
enum laz_metric_state { LAZ_METRIC_STARTING, LAZ_METRIC_IDLE, LAZ_METRIC_EXECUTING };
enum laz_metric_kind { LAZ_METRIC_COLD, LAZ_METRIC_TEMPLATE, LAZ_METRIC_WORKER };
enum laz_metric_outcome {
    LAZ_METRIC_OK,
    LAZ_METRIC_ERROR,
    LAZ_METRIC_REFUSED,
    LAZ_METRIC_TIMEOUT,
    LAZ_METRIC_CANCELLED,
};
enum laz_metric_decision { LAZ_METRIC_APPROVED, LAZ_METRIC_NOT_APPROVED };
enum laz_metric_layer { LAZ_METRIC_BY_CODE, LAZ_METRIC_BY_TOOL, LAZ_METRIC_BY_NETWORK };
enum laz_metric_span { LAZ_METRIC_SENT, LAZ_METRIC_DROPPED, LAZ_METRIC_FAILED };
#define LAZ_METRIC_N_DENIED 10 /* of "what": enum laz_denied (network/network.h) */
#define LAZ_METRIC_NO_VERDICT                                                                      \
    (LAZ_METRIC_WORDS - 1)  /* of "verdict": behind those of laz_verdict                           \
                             */
#define LAZ_METRIC_WORDS 16 /* of a label, at most */

/* METRIC(ID, TYPE, LABEL, name, help): TYPE is COUNTER, GAUGE, or HISTOGRAM of seconds; LABEL is
 * NONE, or a row of the labels in metrics.c. */
#define LAZ_METRICS(METRIC)                                                                        \
    METRIC(SESSIONS, GAUGE, STATE, "lazaret_sessions",                                             \
           "Sessions that have a sandbox, by what they do.")                                       \
    METRIC(STARTS, HISTOGRAM, KIND, "lazaret_session_start_seconds",                               \
           "Starts of sandboxes that have succeeded, by kind: the time until the session was "     \
           "ready.")                                                                               \
    METRIC(START_FAILURES, COUNTER, NONE, "lazaret_session_start_failures_total",                  \
           "Starts of sandboxes that have failed; those that were cancelled do not count.")        \
    METRIC(EXECUTIONS, COUNTER, VERDICT, "lazaret_executions_total",                               \
           "Executions that have ended, by verdict; no_result: an error in its place.")            \
    METRIC(EXECUTION_TIME, HISTOGRAM, NONE, "lazaret_execution_seconds",                           \
           "Wall clock time of executions whose code was sent to a sandbox.")                      \
    METRIC(TOOL_CALLS, COUNTER, OUTCOME, "lazaret_tool_calls_total",                               \
           "Tool calls of code that have ended, by outcome.")                                      \
    METRIC(TOOL_TIME, HISTOGRAM, NONE, "lazaret_tool_call_seconds",                                \
           "Wall clock time of tool calls that were answered by a tool.")                          \
    METRIC(APPROVALS, COUNTER, DECISION, "lazaret_approvals_total",                                \
           "Decisions on tool calls that needed an approval.")                                     \
    METRIC(DENIALS, COUNTER, LAYER, "lazaret_denials_total",                                       \
           "What was denied, by layer: code that was blocked, calls of tools, the network.")       \
    METRIC(NETWORK_DENIALS, COUNTER, WHAT, "lazaret_network_denials_total",                        \
           "What was denied to code on the network, by reason.")                                   \
    METRIC(WAITING, GAUGE, NONE, "lazaret_pool_waiting",                                           \
           "Callers that wait for a session of a pool.")                                           \
    METRIC(CLIENTS, GAUGE, NONE, "lazaret_clients", "Clients of lazaret serve.")                   \
    METRIC(PLACES, GAUGE, NONE, "lazaret_places",                                                  \
           "Callers that a worker can have at a time; 0 while it drains.")                         \
    METRIC(PLACES_USED, GAUGE, NONE, "lazaret_places_used", "Callers that a worker has.")          \
    METRIC(SPANS, COUNTER, SPAN, "lazaret_spans_total",                                            \
           "Spans of traces: accepted by the collector, dropped because the queue was full, or "   \
           "given up.")

enum laz_metric {
#define LAZ_METRIC_ID(id, type, label, name, help) LAZ_METRIC_##id,
    LAZ_METRICS(LAZ_METRIC_ID)
#undef LAZ_METRIC_ID
        LAZ_N_METRICS
};

/* Adds to a counter or a gauge; of a gauge `n` may be negative. `label`: which word, 0 where there
 * is none. */
void laz_metrics_add(enum laz_metric metric, unsigned label, int64_t n);
/* Counts a time in a histogram. */
void laz_metrics_observe(enum laz_metric metric, unsigned label, uint64_t us);
/* What was counted; of a histogram, how many times. */
int64_t laz_metrics_value(enum laz_metric metric, unsigned label);
/* A word of the label; NULL: it has no more. */
const char *laz_metrics_word(enum laz_metric metric, unsigned label);

/* Something whose age is shown: a template. Part of what knows it, and not moved. */
struct laz_metrics_life {
    struct laz_metrics_life *next;
    const char *name; /* of the runtime; borrowed until it ends */
    uint64_t since_us;
    bool is_on;
};
/* No effect where it has begun, or has ended. */
void laz_metrics_begin_life(struct laz_metrics_life *life, const char *name);
void laz_metrics_end_life(struct laz_metrics_life *life);

/* Appends all of it, with what the system says of this process, in the text format 0.0.4 of
 * Prometheus. */
void laz_metrics_write(struct laz_buf *text);

/* ---- whether it is well ---------------------------------------------------------------------- */

/* Why this process should get no new work ("draining"), static text; NULL: nothing is wrong. */
void laz_health_set(const char *reason);

/* A loop. All zero: it waits, or was never turned. */
struct laz_pulse {
    struct laz_pulse *next;
    _Atomic uint64_t since_us; /* laz_clock_us of its last turn, while it works; 0: it waits */
};
/* One store each, for the thread of the loop. */
static inline void laz_pulse_works(struct laz_pulse *pulse, uint64_t now_us)
{
    atomic_store_explicit(&pulse->since_us, now_us, memory_order_relaxed);
}
static inline void laz_pulse_waits(struct laz_pulse *pulse)
{
    atomic_store_explicit(&pulse->since_us, 0, memory_order_relaxed);
}
/* From here to laz_health_forget (no effect if it is not watched), a loop that has work and does
 * not turn makes the process unwell. Borrowed meanwhile. */
void laz_health_watch(struct laz_pulse *pulse);
void laz_health_forget(struct laz_pulse *pulse);
#define LAZ_HEALTH_STALL_US UINT64_C(10000000)
/* Appends "ok", or why it is not well, and a newline. */
bool laz_health_write(struct laz_buf *text, uint64_t now_us);

/* ---- where it is read ------------------------------------------------------------------------ */

/* GET /metrics and /healthz by HTTP, on a thread of its own. In programs alone: liblazaret has it
 * not. */
struct laz_endpoint;

/* `listen`: PORT of 127.0.0.1, or HOST:PORT. The caller frees *endpoint. Errors: LAZ_EINVAL: it is
 * neither; LAZ_EOS; LAZ_EREFUSED: not built. */
int laz_endpoint_new(const char *listen, struct laz_endpoint **endpoint, struct laz_error *err);
/* The URL of /metrics. Borrowed. */
const char *laz_endpoint_address(const struct laz_endpoint *endpoint);
void laz_endpoint_free(struct laz_endpoint *endpoint); /* NULL is allowed */

#endif
