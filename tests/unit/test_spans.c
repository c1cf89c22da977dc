/* SPDX-License-Identifier: MIT */
/* test_spans.c - spans: their contexts, their form, which answers of a collector are tried again,
 * and what becomes of those that find no room. tests/session/telemetry.py is a collector. */
#include "unit.h"

#include "base/json_tree.h"
#include "telemetry/metrics.h"
#include "telemetry/spans_private.h"

#include <lazaret/lazaret.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRACE "0af7651916cd43dd8448eb211c80319c"
#define OUTER "b7ad6b7169203331"

static const struct laz_log silent = {0};
static struct laz_strv no_headers;

/* Nobody listens at port 1. NULL: built without libcurl. */
static struct laz_spans *spans_open(void)
{
    const struct laz_spans_options options = {
        .endpoint = "http://127.0.0.1:1/",
        .headers = &no_headers,
        .service = "a \"service\"",
        .log = &silent,
    };
    struct laz_spans *spans = NULL;
    struct laz_error err = {0};

    if (laz_spans_new(&options, &spans, &err)) {
        CU_ASSERT_EQUAL(err.code, LAZ_EREFUSED);
        unit_skip("curl", err.text);
    }
    return spans;
}

static struct laz_trace trace_of(const char *parent, const char *state)
{
    return (struct laz_trace){.size = sizeof(struct laz_trace), .parent = parent, .state = state};
}

static void a_span_belongs_to_the_trace_of_its_caller(void)
{
    struct laz_spans *spans = spans_open();
    const struct laz_trace caller = trace_of("00-" TRACE "-" OUTER "-03", "a=1,b=2");

    if (!spans)
        return;
    struct laz_span *span = laz_span_begin(spans, "execute", &caller);
    CU_ASSERT_PTR_NOT_NULL_FATAL(span);
    const struct laz_trace *own = laz_span_trace(span);
    CU_ASSERT(laz_trace_parent_is_valid(own->parent));
    CU_ASSERT(strncmp(own->parent, "00-" TRACE "-", 36) == 0);
    CU_ASSERT(strncmp(own->parent + 36, OUTER, 16) != 0);
    UNIT_TEXT(own->parent + 52, "-03");
    UNIT_TEXT(own->state, "a=1,b=2");
    UNIT_TEXT(span->parent, OUTER);
    struct laz_span *inner = laz_span_begin_in(span, "tool", "add");
    CU_ASSERT_PTR_NOT_NULL_FATAL(inner);
    UNIT_TEXT(inner->name, "tool add");
    CU_ASSERT(strncmp(inner->parent, own->parent + 36, 16) == 0 && !inner->is_remote);
    CU_ASSERT(strncmp(laz_span_trace(inner)->parent, "00-" TRACE "-", 36) == 0);
    laz_span_end(inner);
    laz_span_end(span);
    laz_spans_free(spans);
}

static void without_a_caller_a_trace_begins(void)
{
    struct laz_spans *spans = spans_open();

    if (!spans)
        return;
    struct laz_span *one = laz_span_begin(spans, "execute", NULL);
    struct laz_span *other = laz_span_begin(spans, "execute", NULL);
    CU_ASSERT_FATAL(one && other);
    CU_ASSERT(laz_trace_parent_is_valid(laz_span_trace(one)->parent));
    UNIT_TEXT(laz_span_trace(one)->parent + 52, "-01");
    CU_ASSERT(strncmp(laz_span_trace(one)->parent + 3, laz_span_trace(other)->parent + 3, 32) != 0);
    UNIT_TEXT(one->parent, "");
    laz_span_end(one);
    laz_span_end(other);
    laz_spans_free(spans);
}

static void what_is_not_sampled_is_not_recorded(void)
{
    struct laz_spans *spans = spans_open();
    const struct laz_trace not_sampled = trace_of("00-" TRACE "-" OUTER "-00", NULL);
    const struct laz_trace random_only = trace_of("00-" TRACE "-" OUTER "-02", NULL);

    CU_ASSERT_PTR_NULL(laz_span_begin(NULL, "execute", NULL));
    CU_ASSERT_PTR_NULL(laz_span_begin_in(NULL, "tool", "x"));
    CU_ASSERT_PTR_NULL(laz_span_trace(NULL));
    laz_span_text(NULL, "a", "b");
    laz_span_int(NULL, "a", 1);
    laz_span_seconds(NULL, "a", 1);
    laz_span_fail(NULL, "x");
    laz_span_end(NULL);
    laz_spans_free(NULL);
    CU_ASSERT_PTR_NULL(laz_spans_share(NULL));
    if (!spans)
        return;
    CU_ASSERT_PTR_NULL(laz_span_begin(spans, "execute", &not_sampled));
    CU_ASSERT_PTR_NULL(laz_span_begin(spans, "execute", &random_only));
    laz_spans_free(spans);
}

/* ---- the form -------------------------------------------------------------------------------- */

static void spans_have_the_form_of_otlp(void)
{
    struct laz_span span = {.parent = OUTER,
                            .is_remote = true,
                            .name = "tool \"x\"",
                            .begun_us = UINT64_C(1700000000123456),
                            .ended_us = UINT64_C(1700000000123460),
                            .failed = "timeout"};
    struct laz_span root = {.name = "execute", .begun_us = 1, .ended_us = 2};
    const struct laz_trace trace = trace_of("00-" TRACE "-00f067aa0ba902b7-01", "a=1");
    const struct laz_trace plain = trace_of("00-" TRACE "-00f067aa0ba902b8-01", NULL);
    struct laz_buf json = LAZ_BUF_INIT;

    laz_trace_take(&span.trace, &trace);
    laz_trace_take(&root.trace, &plain);
    span.next = &root;
    laz_span_text(&span, "lazaret.outcome", "timeout");
    laz_span_int(&span, "lazaret.max_rss_bytes", INT64_C(9007199254740993));
    laz_span_seconds(&span, "lazaret.cpu_seconds", 1500001);
    spans_json("s", &span, 2, &json);
    UNIT_TEXT(laz_buf_text(&json),
              "{\"resourceSpans\":[{\"resource\":{\"attributes\":["
              "{\"key\":\"service.name\",\"value\":{\"stringValue\":\"s\"}},"
              "{\"key\":\"service.version\",\"value\":{\"stringValue\":\"" LAZ_VERSION "\"}}]},"
              "\"scopeSpans\":[{\"scope\":{\"name\":\"lazaret\",\"version\":\"" LAZ_VERSION "\"},"
              "\"spans\":["
              "{\"traceId\":\"" TRACE "\",\"spanId\":\"00f067aa0ba902b7\",\"traceState\":\"a=1\","
              "\"parentSpanId\":\"" OUTER "\",\"flags\":769,\"name\":\"tool \\\"x\\\"\",\"kind\":1,"
              "\"startTimeUnixNano\":\"1700000000123456000\","
              "\"endTimeUnixNano\":\"1700000000123460000\",\"attributes\":["
              "{\"key\":\"lazaret.outcome\",\"value\":{\"stringValue\":\"timeout\"}},"
              "{\"key\":\"lazaret.max_rss_bytes\",\"value\":{\"intValue\":\"9007199254740993\"}},"
              "{\"key\":\"lazaret.cpu_seconds\",\"value\":{\"doubleValue\":1.500001}}],"
              "\"status\":{\"message\":\"timeout\",\"code\":2}},"
              "{\"traceId\":\"" TRACE "\",\"spanId\":\"00f067aa0ba902b8\",\"flags\":257,"
              "\"name\":\"execute\",\"kind\":1,\"startTimeUnixNano\":\"1000\","
              "\"endTimeUnixNano\":\"2000\",\"attributes\":[],\"status\":{}}]}]}]}");
    laz_buf_fini(&json);
}

static void attributes_and_names_are_bounded(void)
{
    struct laz_span span = {.name = ""};
    char longer[400];

    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    for (unsigned i = 0; i < SPANS_ATTRIBUTES + 3; i++)
        laz_span_text(&span, "key", longer);
    CU_ASSERT_EQUAL(span.n_attributes, SPANS_ATTRIBUTES);
    CU_ASSERT_EQUAL(strlen(span.attributes[0].text), SPANS_TEXT - 1);
}

/* ---- answers --------------------------------------------------------------------------------- */

static void a_collector_can_reject_some(void)
{
    static const struct {
        const char *json;
        unsigned rejected;
    } rows[] = {
        {"", 0},
        {"{}", 0},
        {"{\"partialSuccess\":{}}", 0},
        {"{\"partialSuccess\":{\"rejectedSpans\":\"3\"}}", 3},
        {"{\"partialSuccess\":{\"rejectedSpans\":4,\"errorMessage\":\"x\"}}", 4},
        {"{\"partialSuccess\":{\"rejectedSpans\":\"99\"}}", 10},
        {"{\"partialSuccess\":{\"rejectedSpans\":1e300}}", 10},
        {"{\"partialSuccess\":{\"rejectedSpans\":-1}}", 0},
        {"{\"partialSuccess\":{\"rejectedSpans\":\"nan\"}}", 0},
        {"{\"partialSuccess\":{\"rejectedSpans\":{}}}", 0},
        {"{\"partialSuccess\":7}", 0},
        {"[1]", 0},
        {"not JSON", 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CU_ASSERT_EQUAL(spans_rejected(rows[i].json, strlen(rows[i].json), 10), rows[i].rejected);
}

static void only_what_passes_is_tried_again(void)
{
    static const struct {
        long status;
        uint64_t retry_ms;
        unsigned tries;
        bool again;
        uint64_t ms;
    } rows[] = {
        {200, 0, 1, false, 0},
        {400, 0, 1, false, 0},
        {401, 5000, 1, false, 0},
        {404, 0, 1, false, 0},
        {413, 0, 1, false, 0},
        {500, 0, 1, false, 0},
        {0, 0, 1, true, 1000},
        {429, 0, 1, true, 1000},
        {502, 0, 2, true, 2000},
        {503, 0, 3, true, 4000},
        {504, 0, 4, true, 8000},
        {503, 7000, 1, true, 7000},
        {503, 3600000, 1, true, SPANS_MOST_MS},
        {503, 0, SPANS_TRIES, false, 0},
        {0, 0, SPANS_TRIES + 100, false, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct otlp_answer answer = {.status = rows[i].status, .retry_ms = rows[i].retry_ms};
        uint64_t ms = 0;
        const bool again = otlp_may_retry(&answer, rows[i].tries, &ms);
        CU_ASSERT_EQUAL(again, rows[i].again);
        CU_ASSERT(!again || ms == rows[i].ms);
        CU_ASSERT(ms <= SPANS_MOST_MS);
    }
}

/* ---- the queue ------------------------------------------------------------------------------- */

static int64_t spans_counted(enum laz_metric_span what)
{
    return laz_metrics_value(LAZ_METRIC_SPANS, what);
}

/* Nobody takes them: the thread has a batch at most, the queue what it may have, and the rest is
 * dropped at once; at the end all are accounted for. */
static void what_finds_no_room_is_dropped_and_counted(void)
{
    const unsigned n = SPANS_QUEUE + SPANS_BATCH + 100;
    const int64_t before = spans_counted(LAZ_METRIC_DROPPED) + spans_counted(LAZ_METRIC_FAILED) +
                           spans_counted(LAZ_METRIC_SENT);
    struct laz_spans *spans = spans_open();

    if (!spans)
        return;
    struct laz_spans *shared = laz_spans_share(spans);
    const int64_t dropped = spans_counted(LAZ_METRIC_DROPPED);
    for (unsigned i = 0; i < n; i++)
        laz_span_end(laz_span_begin(spans, "execute", NULL));
    CU_ASSERT(spans_counted(LAZ_METRIC_DROPPED) - dropped >= 100);
    laz_spans_free(shared); /* not the last holder */
    laz_span_end(laz_span_begin(spans, "execute", NULL));
    laz_spans_free(spans);
    CU_ASSERT_EQUAL(spans_counted(LAZ_METRIC_DROPPED) + spans_counted(LAZ_METRIC_FAILED) +
                        spans_counted(LAZ_METRIC_SENT),
                    before + n + 1);
}

static const struct unit_test tests[] = {
    UNIT(a_span_belongs_to_the_trace_of_its_caller),
    UNIT(without_a_caller_a_trace_begins),
    UNIT(what_is_not_sampled_is_not_recorded),
    UNIT(spans_have_the_form_of_otlp),
    UNIT(attributes_and_names_are_bounded),
    UNIT(a_collector_can_reject_some),
    UNIT(only_what_passes_is_tried_again),
    UNIT(what_finds_no_room_is_dropped_and_counted),
    {0},
};

int main(void)
{
    return unit_run("spans", tests);
}
