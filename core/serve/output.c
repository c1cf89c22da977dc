/* SPDX-License-Identifier: MIT */
/* output.c - what code writes, and how far it is, sent to its client as it comes.
 * Side: host.  Input trusted: no (bytes of the code). */
#include "serve/serve_private.h"

#include "base/utf8.h"

/* How many bytes at the end are the beginning of a character. */
static size_t output_cut(const char *text, size_t len)
{
    for (size_t back = 1; back <= 3 && back <= len; back++) {
        const size_t whole = laz_utf8_length(text[len - back]);
        if (whole > back)
            return back;
        if (whole)
            break;
    }
    return 0;
}

static void output_send(struct serve_request *request, int stream, const char *text, size_t len)
{
    if (len && laz_lines_is_full(&request->client->lines)) {
        request->dropped += len;
        return;
    }
    const struct serve_message output = {
        .has_id = true,
        .id = request->id,
        .stream = stream == LAZ_STDERR ? "stderr" : "stdout",
        .text = text,
        .text_len = len,
        .dropped = (int64_t)request->dropped,
    };
    request->dropped = 0;
    serve_send(request->client, SERVE_OUTPUT, &output);
}

/* A character that comes in two pieces is sent with the second. */
void serve_request_output(void *user, int stream, const char *data, size_t len)
{
    struct serve_request *request = user;
    struct laz_buf *tail = &request->tail[stream == LAZ_STDERR];

    laz_buf_append(tail, data, len);
    const size_t cut = output_cut(laz_buf_text(tail), tail->len);
    if (tail->len > cut)
        output_send(request, stream, tail->data, tail->len - cut);
    laz_buf_drop(tail, tail->len - cut);
}

void serve_request_progress(void *user, const struct laz_execution_usage *usage)
{
    struct serve_request *request = user;
    const struct serve_message progress = {
        .has_id = true,
        .id = request->id,
        .wall_ms = (int64_t)(usage->wall_us / 1000),
        .cpu_ms = (int64_t)(usage->cpu_us / 1000),
        .memory = (int64_t)usage->max_rss_bytes,
        .tool_calls = (int64_t)usage->tool_calls,
    };

    if (!laz_lines_is_full(&request->client->lines))
        serve_send(request->client, SERVE_PROGRESS, &progress);
}

void serve_request_output_ends(struct serve_request *request)
{
    for (int i = 0; i < 2; i++) {
        if (request->tail[i].len || (i == 1 && request->dropped))
            output_send(request, i ? LAZ_STDERR : LAZ_STDOUT, laz_buf_text(&request->tail[i]),
                        request->tail[i].len);
        laz_buf_fini(&request->tail[i]);
    }
}
