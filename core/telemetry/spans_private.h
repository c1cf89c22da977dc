/* SPDX-License-Identifier: MIT */
/* spans_private.h - what spans.c (spans and their queue), spans_json.c (their form), spans_retry.c
 * and spans_otlp.c (the way to the collector) share. Private to this directory, and tests. */
#ifndef LAZ_TELEMETRY_SPANS_PRIVATE_H
#define LAZ_TELEMETRY_SPANS_PRIVATE_H

#include "base/trace.h"
#include "telemetry/spans.h"

#include <stdbool.h>

#define SPANS_QUEUE      4096u /* more are dropped */
#define SPANS_BATCH      512u
#define SPANS_WAIT_US    UINT64_C(1000000) /* for a batch to fill */
#define SPANS_LAST_US    UINT64_C(2000000) /* for what is left at the end */
#define SPANS_TRIES      5u
#define SPANS_MOST_MS    30000u /* between two tries, whatever the collector says */
#define SPANS_ATTRIBUTES 8u
#define SPANS_TEXT       65

struct span_attribute {
    const char *key;
    enum { SPAN_TEXT, SPAN_INT, SPAN_SECONDS } type;
    int64_t number; /* of seconds: microseconds */
    char text[SPANS_TEXT];
};

struct laz_span {
    struct laz_span *next;
    struct laz_spans *spans;
    struct laz_trace_copy trace; /* its own context: "00-TRACE-SPAN-FLAGS" */
    char parent[17];             /* "": none */
    bool is_remote;              /* the parent is a caller's */
    char name[160];
    uint64_t begun_us, ended_us; /* since the epoch; */
    uint64_t clock_us;           /* what it took is by this clock */
    struct span_attribute attributes[SPANS_ATTRIBUTES];
    unsigned n_attributes;
    const char *failed; /* static text; NULL: it has not */
};

/* spans_json.c: appends an ExportTraceServiceRequest of OTLP in its JSON form, of the first `n`
 * spans of a list. */
void spans_json(const char *service, const struct laz_span *first, unsigned n,
                struct laz_buf *json);
/* How many spans the collector says it has rejected (an ExportTraceServiceResponse; what is none
 * has rejected nothing), `n` at most. */
unsigned spans_rejected(const char *json, size_t len, unsigned n);

/* ---- spans_otlp.c, spans_otlp_none.c: one request
 * -------------------------------------------------------- */

struct otlp; /* a connection to a collector, of one thread */

struct otlp_answer {
    long status;         /* of HTTP; 0: there was none, and `why` says why */
    uint64_t retry_ms;   /* that the collector asks for; 0: it does not */
    struct laz_buf body; /* its first bytes; the caller frees it */
    char why[200];
};

/* Borrows the strings. As laz_spans_new. */
int otlp_new(const char *url, const struct laz_strv *headers, struct otlp **otlp,
             struct laz_error *err);
/* Sends a body and waits for the answer. Ends early when `*until_us` (laz_clock_us, read by this
 * thread; 0: none) has passed. */
void otlp_post(struct otlp *otlp, const struct laz_buf *body, const _Atomic uint64_t *until_us,
               struct otlp_answer *answer);
/* Any thread: has otlp_post look at `*until_us`. */
void otlp_wake(struct otlp *otlp);
void otlp_free(struct otlp *otlp); /* NULL is allowed */

/* spans_retry.c: is it worth another try (OTLP 1.x, "Failures"), and after which time? False: it is
 * not. `tries`: how many there were. */
bool otlp_may_retry(const struct otlp_answer *answer, unsigned tries, uint64_t *ms);

#endif
