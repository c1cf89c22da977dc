/* SPDX-License-Identifier: MIT */
/* spans_json.c - spans in the JSON form of OTLP: opentelemetry-proto, trace.proto, by the mapping
 * of proto3 with three exceptions (ids are hexadecimal, enumerations are numbers, keys are in lower
 * camel case).  64-bit integers are strings.
 * Side: host.  Input trusted: what a collector answers is not. */
#include "telemetry/spans_private.h"

#include "base/json_tree.h"
#include "base/json_write.h"

#include <lazaret/lazaret.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPAN_INTERNAL 1      /* SPAN_KIND_INTERNAL */
#define STATUS_ERROR  2      /* STATUS_CODE_ERROR */
#define FLAG_KNOWN    0x100u /* SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK */
#define FLAG_REMOTE   0x200u /* SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK */
#define LIBRARY_NAME  "lazaret"

static void json_number_text(struct laz_json_write *write, const char *key, uint64_t number,
                             const char *more)
{
    char text[48];

    snprintf(text, sizeof text, "%" PRIu64 "%s", number, more);
    laz_json_add_text(write, key, text);
}

static void json_attribute_text(struct laz_json_write *write, const char *key, const char *text)
{
    laz_json_begin_object(write, NULL);
    laz_json_add_text(write, "key", key);
    laz_json_begin_object(write, "value");
    laz_json_add_text(write, "stringValue", text);
    laz_json_end_object(write);
    laz_json_end_object(write);
}

static void json_attribute(struct laz_json_write *write, const struct span_attribute *attribute)
{
    char number[48];

    if (attribute->type == SPAN_TEXT) {
        json_attribute_text(write, attribute->key, attribute->text);
        return;
    }
    laz_json_begin_object(write, NULL);
    laz_json_add_text(write, "key", attribute->key);
    laz_json_begin_object(write, "value");
    if (attribute->type == SPAN_INT) {
        snprintf(number, sizeof number, "%" PRId64, attribute->number);
        laz_json_add_text(write, "intValue", number);
    } else { /* without printf's notion of a decimal point */
        snprintf(number, sizeof number, "%" PRId64 ".%06u", attribute->number / 1000000,
                 (unsigned)(attribute->number % 1000000));
        laz_json_add_raw(write, "doubleValue", number, strlen(number));
    }
    laz_json_end_object(write);
    laz_json_end_object(write);
}

static void json_span(struct laz_json_write *write, const struct laz_span *span)
{
    const char *own = span->trace.parent;
    const unsigned flags = (unsigned)strtoul(own + 53, NULL, 16) & 0xff;

    laz_json_begin_object(write, NULL);
    laz_json_add_bytes(write, "traceId", own + 3, 32);
    laz_json_add_bytes(write, "spanId", own + 36, 16);
    if (*span->trace.state)
        laz_json_add_text(write, "traceState", span->trace.state);
    if (*span->parent)
        laz_json_add_text(write, "parentSpanId", span->parent);
    laz_json_add_uint(write, "flags", flags | FLAG_KNOWN | (span->is_remote ? FLAG_REMOTE : 0));
    laz_json_add_text(write, "name", span->name);
    laz_json_add_uint(write, "kind", SPAN_INTERNAL);
    json_number_text(write, "startTimeUnixNano", span->begun_us, "000");
    json_number_text(write, "endTimeUnixNano", span->ended_us, "000");
    laz_json_begin_list(write, "attributes");
    for (unsigned i = 0; i < span->n_attributes; i++)
        json_attribute(write, &span->attributes[i]);
    laz_json_end_list(write);
    laz_json_begin_object(write, "status");
    if (span->failed) {
        laz_json_add_text(write, "message", span->failed);
        laz_json_add_uint(write, "code", STATUS_ERROR);
    }
    laz_json_end_object(write);
    laz_json_end_object(write);
}

void spans_json(const char *service, const struct laz_span *first, unsigned n, struct laz_buf *json)
{
    struct laz_json_write write = {.to = json};

    laz_json_begin_object(&write, NULL);
    laz_json_begin_list(&write, "resourceSpans");
    laz_json_begin_object(&write, NULL);
    laz_json_begin_object(&write, "resource");
    laz_json_begin_list(&write, "attributes");
    json_attribute_text(&write, "service.name", service);
    json_attribute_text(&write, "service.version", LAZ_VERSION);
    laz_json_end_list(&write);
    laz_json_end_object(&write);
    laz_json_begin_list(&write, "scopeSpans");
    laz_json_begin_object(&write, NULL);
    laz_json_begin_object(&write, "scope");
    laz_json_add_text(&write, "name", LIBRARY_NAME);
    laz_json_add_text(&write, "version", LAZ_VERSION);
    laz_json_end_object(&write);
    laz_json_begin_list(&write, "spans");
    for (unsigned i = 0; i < n; i++, first = first->next)
        json_span(&write, first);
    laz_json_end_list(&write);
    laz_json_end_object(&write);
    laz_json_end_list(&write);
    laz_json_end_object(&write);
    laz_json_end_list(&write);
    laz_json_end_object(&write);
}

unsigned spans_rejected(const char *json, size_t len, unsigned n)
{
    struct laz_json *root = len ? laz_json_parse(json, len, NULL) : NULL;
    const struct laz_json *partial = root ? laz_json_get(root, "partialSuccess") : NULL;
    const struct laz_json *rejected = partial ? laz_json_get(partial, "rejectedSpans") : NULL;
    const char *text = laz_json_string(rejected);
    const double number = text ? strtod(text, NULL) : rejected ? laz_json_number(rejected) : 0;

    laz_json_free(root);
    if (!(number > 0))
        return 0;
    return number < n ? (unsigned)number : n;
}
