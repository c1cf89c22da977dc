/* SPDX-License-Identifier: MIT */
/* result.c - the result of an execution, field by field and as one JSON object. */
#include "session/result.h"

#include "base/json.h"
#include "base/outcome.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct laz_result *laz_result_nothing_ran(enum laz_verdict verdict, const char *kind,
                                          const char *message)
{
    struct laz_result *result = calloc(1, sizeof *result);

    if (!result)
        return NULL;
    result->verdict = verdict;
    result->has_error = true;
    result->detail = laz_strdup(message);
    result->error_kind = laz_strdup(kind ? kind : laz_verdict_error_kind(verdict));
    result->error_message = laz_strdup(message);
    if (!result->detail || !result->error_kind || !result->error_message) {
        laz_result_free(result);
        return NULL;
    }
    return result;
}

void laz_result_free(struct laz_result *result)
{
    if (!result)
        return;
    free(result->detail);
    free(result->evidence);
    free(result->value);
    free(result->text);
    free(result->error_kind);
    free(result->error_message);
    laz_strv_fini(&result->traceback);
    laz_strv_fini(&result->warnings);
    laz_output_fini(&result->output);
    free(result->isolation);
    free(result->json);
    free(result);
}

enum laz_verdict laz_result_verdict(const struct laz_result *result)
{
    return result->verdict;
}

const char *laz_result_detail(const struct laz_result *result)
{
    return result->detail ? result->detail : "";
}

const char *laz_result_value(const struct laz_result *result)
{
    return result->value ? result->value : "null";
}

const char *laz_result_text(const struct laz_result *result)
{
    return result->text;
}

size_t laz_result_outputs(const struct laz_result *result)
{
    return result->output.n_pieces;
}

const char *laz_result_output(const struct laz_result *result, size_t index, int *stream,
                              size_t *len)
{
    if (index >= result->output.n_pieces)
        return NULL;
    const struct laz_output_piece *piece = &result->output.pieces[index];
    if (stream)
        *stream = piece->stream;
    if (len)
        *len = piece->len;
    return laz_buf_text(&result->output.kept) + piece->at;
}

bool laz_result_is_truncated(const struct laz_result *result)
{
    return result->output.truncated;
}

const char *laz_result_error(const struct laz_result *result)
{
    return result->has_error ? result->error_message : NULL;
}

static void json_text(struct laz_buf *buf, const char *text)
{
    if (text)
        laz_json_quote(buf, text, strlen(text));
    else
        laz_buf_puts(buf, "null");
}

static void json_output(struct laz_buf *buf, const struct laz_output *output)
{
    laz_buf_puts(buf, ",\"output\":[");
    for (size_t i = 0; i < output->n_pieces; i++) {
        const struct laz_output_piece *piece = &output->pieces[i];
        laz_buf_printf(buf, "%s{\"stream\":\"%s\",\"text\":", i ? "," : "",
                       piece->stream == LAZ_STDERR ? "stderr" : "stdout");
        laz_json_quote(buf, laz_buf_text(&output->kept) + piece->at, piece->len);
        laz_buf_putc(buf, '}');
    }
    laz_buf_printf(buf, "],\"truncated\":%s", output->truncated ? "true" : "false");
}

static void json_error(struct laz_buf *buf, const struct laz_result *result)
{
    laz_buf_puts(buf, ",\"error\":");
    if (!result->has_error) {
        laz_buf_puts(buf, "null");
        return;
    }
    laz_buf_puts(buf, "{\"kind\":");
    json_text(buf, result->error_kind);
    laz_buf_puts(buf, ",\"message\":");
    json_text(buf, result->error_message);
    laz_buf_puts(buf, ",\"traceback\":");
    laz_json_strings(buf, &result->traceback);
    if (result->line > 0)
        laz_buf_printf(buf, ",\"line\":%lld", (long long)result->line);
    if (result->column > 0)
        laz_buf_printf(buf, ",\"column\":%lld", (long long)result->column);
    laz_buf_putc(buf, '}');
}

const char *laz_result_json(struct laz_result *result)
{
    struct laz_buf buf = LAZ_BUF_INIT;

    if (result->json)
        return result->json;
    laz_buf_printf(&buf, "{\"ok\":%s,\"value\":%s,\"text\":",
                   result->verdict == LAZ_VERDICT_OK ? "true" : "false", laz_result_value(result));
    json_text(&buf, result->text);
    json_output(&buf, &result->output);
    json_error(&buf, result);
    laz_buf_puts(&buf, ",\"warnings\":");
    laz_json_strings(&buf, &result->warnings);
    laz_buf_printf(
        &buf, ",\"verdict\":{\"reason\":\"%s\",\"detail\":", laz_verdict_name(result->verdict));
    json_text(&buf, laz_result_detail(result));
    laz_buf_printf(&buf, ",\"evidence\":%s}", result->evidence ? result->evidence : "{}");
    laz_buf_printf(&buf,
                   ",\"usage\":{\"wall_ms\":%llu.%03u,\"cpu_ms\":%llu.%03u,"
                   "\"max_rss_bytes\":%llu,\"tool_calls\":%llu}",
                   (unsigned long long)(result->wall_us / 1000), (unsigned)(result->wall_us % 1000),
                   (unsigned long long)(result->cpu_us / 1000), (unsigned)(result->cpu_us % 1000),
                   (unsigned long long)result->max_rss_bytes,
                   (unsigned long long)result->tool_calls);
    laz_buf_printf(
        &buf, ",\"isolation\":%s,\"session\":", result->isolation ? result->isolation : "null");
    json_text(&buf, *result->session ? result->session : NULL);
    laz_buf_putc(&buf, '}');
    result->json = laz_buf_steal(&buf);
    return result->json ? result->json : "{\"ok\":false,\"value\":null}";
}
