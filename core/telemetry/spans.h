/* SPDX-License-Identifier: MIT */
/* spans.h - what an execution and its tool calls took, for a collector of traces (OpenTelemetry).
 *
 * A span is a name, two times and a few values; it never has code, arguments, results or output.
 * It is made on the loop and handed to a worker thread, which sends it by OTLP over HTTP (JSON).
 * Nothing waits for that: what finds the queue full is dropped and counted. */
#ifndef LAZ_TELEMETRY_SPANS_H
#define LAZ_TELEMETRY_SPANS_H

#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"

#include <lazaret/tool.h>

#include <stdint.h>

struct laz_spans; /* an exporter */
struct laz_span;

struct laz_spans_options {
    const char *endpoint;           /* "http://127.0.0.1:4318": /v1/traces is put behind it */
    const struct laz_strv *headers; /* NAME=VALUE, of each request; secret */
    const char *service;            /* the attribute service.name */
    const struct laz_log *log;      /* copied: told at the end what was not delivered */
};

/* Loads libcurl. Its thread is started by the first span. Copies the options. Errors: LAZ_EREFUSED:
 * built without libcurl; LAZ_EOS: that cannot be loaded; LAZ_ENOMEM. */
int laz_spans_new(const struct laz_spans_options *options, struct laz_spans **spans,
                  struct laz_error *err);
/* For one more engine, which frees it as well. NULL: NULL. */
struct laz_spans *laz_spans_share(struct laz_spans *spans);
/* Of its last holder: sends what is left in two seconds at most, and ends the thread. NULL is
 * allowed. */
void laz_spans_free(struct laz_spans *spans);

/* Begins a span in the trace of a caller (checked; NULL: it begins a trace). NULL: `spans` is NULL,
 * the caller does not record its trace, or memory is exhausted. A function below has no effect on
 * NULL. The thread of the engine. */
struct laz_span *laz_span_begin(struct laz_spans *spans, const char *name,
                                const struct laz_trace *caller);
/* Begins one inside of another one, which may end first; NULL: NULL. The name is NAME TEXT, cut to
 * what fits. */
struct laz_span *laz_span_begin_in(const struct laz_span *outer, const char *name,
                                   const char *text);
/* The context to be told to what is called in it; NULL: NULL. Borrowed. */
const struct laz_trace *laz_span_trace(const struct laz_span *span);
/* Adds an attribute; `key` is static text, `text` is copied and cut to 64 bytes. */
void laz_span_text(struct laz_span *span, const char *key, const char *text);
void laz_span_int(struct laz_span *span, const char *key, int64_t value);
void laz_span_seconds(struct laz_span *span, const char *key, uint64_t us);
/* It has failed; `why` is static text. */
void laz_span_fail(struct laz_span *span, const char *why);
/* It has ended: hands it to the exporter. */
void laz_span_end(struct laz_span *span);

#endif
