/* SPDX-License-Identifier: MIT */
/* spans.c - spans, the queue of those that have ended, and the thread that sends them.
 * Side: host.  Input trusted: a trace of a caller was checked (base/trace.h).
 *
 * The loop holds the lock for a few instructions.  The thread takes a batch from the queue, and
 * keeps it through all tries; meanwhile the queue fills, and what does not fit is dropped. */
#include "telemetry/spans.h"

#include "base/clock.h"
#include "base/random.h"
#include "os/thread.h"
#include "telemetry/metrics.h"
#include "telemetry/spans_private.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct laz_spans {
    atomic_uint holders;
    struct laz_log log;
    char *url, *service;
    struct laz_strv headers;
    struct otlp *otlp;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t more;  /* spans, or its end */
    struct laz_span *first, **last;
    unsigned n;
    bool has_thread, is_ending;
    pthread_t thread;
    _Atomic uint64_t until_us; /* after its end has begun; 0: it has not */
    uint64_t lost;             /* dropped or given up */
    char why[200];             /* of the last that was given up */
};

/* ---- one span -------------------------------------------------------------------------------- */

/* False: the system has no random numbers. */
static bool span_id(char *text, size_t bytes)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char raw[16] = {0};

    if (laz_random_bytes(raw, bytes, NULL))
        return false;
    raw[0] |= 1; /* it is not all zeros */
    for (size_t i = 0; i < bytes; i++) {
        text[2 * i] = digits[raw[i] >> 4];
        text[2 * i + 1] = digits[raw[i] & 15];
    }
    text[2 * bytes] = '\0';
    return true;
}

/* Its own context: that of the caller with another id of a span, or a trace that begins. */
static bool span_take_trace(struct laz_span *span, const struct laz_trace *caller)
{
    char trace[33], id[17], flags[3] = "01";
    struct laz_trace own = {.size = sizeof own, .parent = NULL};
    char parent[56];

    if (!span_id(id, 8) || (!caller && !span_id(trace, 16)))
        return false;
    if (caller) {
        memcpy(trace, caller->parent + 3, 32);
        trace[32] = '\0';
        memcpy(span->parent, caller->parent + 36, 16);
        memcpy(flags, caller->parent + 53, 2);
        own.state = caller->state;
    }
    snprintf(parent, sizeof parent, "00-%s-%s-%s", trace, id, flags);
    own.parent = parent;
    laz_trace_take(&span->trace, &own);
    return true;
}

/* The flag "sampled": somebody records the trace. */
static bool span_is_recorded(const struct laz_trace *caller)
{
    const char digit = caller->parent[54];

    return ((digit >= 'a' ? digit - 'a' + 10 : digit - '0') & 1) != 0;
}

struct laz_span *laz_span_begin(struct laz_spans *spans, const char *name,
                                const struct laz_trace *caller)
{
    if (!spans || (caller && !span_is_recorded(caller)))
        return NULL;
    struct laz_span *span = calloc(1, sizeof *span);
    if (!span || !span_take_trace(span, caller)) {
        laz_metrics_add(LAZ_METRIC_SPANS, LAZ_METRIC_DROPPED, 1);
        free(span);
        return NULL;
    }
    span->spans = spans;
    span->is_remote = caller != NULL;
    span->begun_us = laz_clock_epoch_us();
    span->clock_us = laz_clock_us();
    snprintf(span->name, sizeof span->name, "%s", name);
    return span;
}

struct laz_span *laz_span_begin_in(const struct laz_span *outer, const char *name, const char *text)
{
    struct laz_span *span =
        outer ? laz_span_begin(outer->spans, name, laz_trace_of(&outer->trace)) : NULL;

    if (!span)
        return NULL;
    span->is_remote = false;
    snprintf(span->name, sizeof span->name, "%s %s", name, text);
    return span;
}

const struct laz_trace *laz_span_trace(const struct laz_span *span)
{
    return span ? laz_trace_of(&span->trace) : NULL;
}

static struct span_attribute *span_add(struct laz_span *span, const char *key)
{
    if (!span || span->n_attributes == SPANS_ATTRIBUTES)
        return NULL;
    span->attributes[span->n_attributes].key = key;
    return &span->attributes[span->n_attributes++];
}

void laz_span_text(struct laz_span *span, const char *key, const char *text)
{
    struct span_attribute *added = span_add(span, key);

    if (!added)
        return;
    added->type = SPAN_TEXT;
    snprintf(added->text, sizeof added->text, "%s", text);
}

void laz_span_int(struct laz_span *span, const char *key, int64_t value)
{
    struct span_attribute *added = span_add(span, key);

    if (!added)
        return;
    added->type = SPAN_INT;
    added->number = value;
}

void laz_span_seconds(struct laz_span *span, const char *key, uint64_t us)
{
    struct span_attribute *added = span_add(span, key);

    if (!added)
        return;
    added->type = SPAN_SECONDS;
    added->number = (int64_t)us;
}

void laz_span_fail(struct laz_span *span, const char *why)
{
    if (span)
        span->failed = why;
}

static void spans_drop(struct laz_span *first)
{
    for (struct laz_span *next; first; first = next) {
        next = first->next;
        free(first);
    }
}

/* ---- the thread ------------------------------------------------------------------------------ */

static void spans_count(struct laz_spans *spans, enum laz_metric_span outcome, unsigned n,
                        const char *why)
{
    if (!n)
        return;
    laz_metrics_add(LAZ_METRIC_SPANS, outcome, n);
    if (outcome == LAZ_METRIC_SENT)
        return;
    pthread_mutex_lock(&spans->lock);
    spans->lost += n;
    if (*why)
        snprintf(spans->why, sizeof spans->why, "%s", why);
    pthread_mutex_unlock(&spans->lock);
}

/* Waits so long before another try; its end cuts that short. False: there is none, because its end
 * had begun before. */
static bool spans_pause(struct laz_spans *spans, uint64_t ms)
{
    const uint64_t until_us = laz_clock_us() + ms * 1000;

    pthread_mutex_lock(&spans->lock);
    const bool goes_on = !spans->is_ending;
    while (!spans->is_ending && laz_clock_us() < until_us)
        (void)laz_os_condition_wait(&spans->more, &spans->lock, until_us);
    pthread_mutex_unlock(&spans->lock);
    return goes_on;
}

static void spans_deliver(struct laz_spans *spans, struct laz_span *batch, unsigned n)
{
    struct laz_buf body = LAZ_BUF_INIT;
    struct otlp_answer answer = {.status = 0};
    unsigned rejected = n;
    uint64_t ms = 0;
    bool again = true;

    spans_json(spans->service, batch, n, &body);
    spans_drop(batch);
    for (unsigned tries = 1; again && !body.failed; tries++) {
        otlp_post(spans->otlp, &body, &spans->until_us, &answer);
        if (answer.status >= 200 && answer.status < 300)
            rejected = spans_rejected(laz_buf_text(&answer.body), answer.body.len, n);
        laz_buf_fini(&answer.body);
        again = otlp_may_retry(&answer, tries, &ms) && spans_pause(spans, ms);
    }
    spans_count(spans, LAZ_METRIC_SENT, n - rejected, "");
    spans_count(spans, LAZ_METRIC_FAILED, rejected, answer.why);
    laz_buf_fini(&body);
}

/* With the lock: the first ones of the queue. */
static struct laz_span *spans_take(struct laz_spans *spans, unsigned *n)
{
    struct laz_span *batch = spans->first, *last = batch;

    *n = spans->n < SPANS_BATCH ? spans->n : SPANS_BATCH;
    for (unsigned i = 1; i < *n; i++)
        last = last->next;
    if (!last)
        return NULL;
    spans->first = last->next;
    if (!spans->first)
        spans->last = &spans->first;
    last->next = NULL;
    spans->n -= *n;
    return batch;
}

static void *spans_thread(void *user)
{
    struct laz_spans *spans = user;
    unsigned n;

    pthread_mutex_lock(&spans->lock);
    for (;;) {
        while (!spans->n && !spans->is_ending)
            pthread_cond_wait(&spans->more, &spans->lock);
        const uint64_t until_us = laz_clock_us() + SPANS_WAIT_US;
        while (spans->n < SPANS_BATCH && !spans->is_ending &&
               laz_os_condition_wait(&spans->more, &spans->lock, until_us))
            ;
        const uint64_t last_us = atomic_load(&spans->until_us);
        if (!spans->n || (last_us && laz_clock_us() >= last_us))
            break;
        struct laz_span *batch = spans_take(spans, &n);
        pthread_mutex_unlock(&spans->lock);
        spans_deliver(spans, batch, n);
        pthread_mutex_lock(&spans->lock);
    }
    pthread_mutex_unlock(&spans->lock);
    return NULL;
}

void laz_span_end(struct laz_span *span)
{
    struct laz_spans *spans = span ? span->spans : NULL;
    bool is_taken = false;

    if (!span)
        return;
    span->ended_us = span->begun_us + (laz_clock_us() - span->clock_us);
    pthread_mutex_lock(&spans->lock);
    if (!spans->has_thread)
        spans->has_thread = laz_os_thread(&spans->thread, 0, spans_thread, spans) == 0;
    if (spans->has_thread && spans->n < SPANS_QUEUE) {
        is_taken = true;
        *spans->last = span;
        spans->last = &span->next;
        spans->n++;
        if (spans->n == 1 || spans->n == SPANS_BATCH)
            pthread_cond_signal(&spans->more);
    } else {
        spans->lost++;
    }
    pthread_mutex_unlock(&spans->lock);
    if (is_taken)
        return;
    laz_metrics_add(LAZ_METRIC_SPANS, LAZ_METRIC_DROPPED, 1);
    free(span);
}

/* ---- making and freeing ---------------------------------------------------------------------- */

static char *spans_url(const char *endpoint)
{
    size_t len = strlen(endpoint);

    while (len && endpoint[len - 1] == '/')
        len--;
    return laz_strdupf("%.*s/v1/traces", (int)len, endpoint);
}

int laz_spans_new(const struct laz_spans_options *options, struct laz_spans **out,
                  struct laz_error *err)
{
    struct laz_spans *spans = calloc(1, sizeof *spans);

    *out = NULL;
    if (!spans)
        return laz_error_nomem(err);
    atomic_store(&spans->holders, 1);
    spans->last = &spans->first;
    spans->log = *options->log;
    pthread_mutex_init(&spans->lock, NULL);
    laz_os_condition_init(&spans->more);
    spans->url = spans_url(options->endpoint);
    spans->service = laz_strdup(options->service);
    for (size_t i = 0; options->headers && i < options->headers->n; i++)
        laz_strv_add(&spans->headers, options->headers->items[i]);
    int rc = spans->url && spans->service && !spans->headers.failed
                 ? otlp_new(spans->url, &spans->headers, &spans->otlp, err)
                 : laz_error_nomem(err);
    if (rc)
        laz_spans_free(spans);
    else
        *out = spans;
    return rc;
}

struct laz_spans *laz_spans_share(struct laz_spans *spans)
{
    if (spans)
        atomic_fetch_add(&spans->holders, 1);
    return spans;
}

static void spans_end_thread(struct laz_spans *spans)
{
    pthread_mutex_lock(&spans->lock);
    spans->is_ending = true;
    atomic_store(&spans->until_us, laz_clock_us() + SPANS_LAST_US);
    pthread_cond_broadcast(&spans->more);
    pthread_mutex_unlock(&spans->lock);
    if (!spans->has_thread)
        return;
    otlp_wake(spans->otlp);
    pthread_join(spans->thread, NULL);
}

void laz_spans_free(struct laz_spans *spans)
{
    if (!spans || atomic_fetch_sub(&spans->holders, 1) > 1)
        return;
    spans_end_thread(spans);
    spans_count(spans, LAZ_METRIC_DROPPED, spans->n, "");
    spans_drop(spans->first);
    if (spans->lost)
        laz_log(&spans->log, LAZ_LOG_WARNING,
                "%" PRIu64 " spans of traces were not delivered to %s%s%s", spans->lost, spans->url,
                *spans->why ? ": " : "", spans->why);
    otlp_free(spans->otlp);
    pthread_cond_destroy(&spans->more);
    pthread_mutex_destroy(&spans->lock);
    for (size_t i = 0; i < spans->headers.n; i++)
        laz_wipe(spans->headers.items[i], strlen(spans->headers.items[i]));
    laz_strv_fini(&spans->headers);
    free(spans->url);
    free(spans->service);
    free(spans);
}
