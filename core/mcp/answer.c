/* SPDX-License-Identifier: MIT */
/* answer.c - what a client is sent: answers, errors, notifications; and handles.
 * Side: host.  Input trusted: no (texts of the sandbox). */
#include "mcp/mcp_private.h"

#include "base/visible.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mcp_asked_fini(struct mcp_asked *asked)
{
    free(asked->id);
    free(asked->token);
    free(asked->traceparent);
    free(asked->tracestate);
    *asked = (struct mcp_asked){0};
}

/* ---- messages to the client ------------------------------------------------------------------ */

/* Begins a message, up to what follows its id; `id` NULL: it has none. */
static bool message_begin(struct mcp_out *out, const char *id, struct laz_json_write *write)
{
    *write = (struct laz_json_write){.to = out ? out->add(out) : NULL};
    if (!write->to)
        return false;
    laz_json_begin_object(write, NULL);
    laz_json_add_text(write, "jsonrpc", "2.0");
    if (id)
        laz_json_add_raw(write, "id", id, strlen(id));
    return true;
}

static void message_end(struct mcp_out *out, bool is_answer, struct laz_json_write *write)
{
    laz_json_end_object(write);
    laz_buf_putc(write->to, '\n');
    if (out->send)
        out->send(out, is_answer);
}

void mcp_answer_server(struct laz_json_write *write, const char *key)
{
    laz_json_begin_object(write, key);
    laz_json_add_text(write, "name", "lazaret");
    laz_json_add_text(write, "version", laz_version());
    laz_json_end_object(write);
}

/* Who answers, and the trace that the request belongs to. */
static void answer_meta(const struct mcp_asked *asked, struct laz_json_write *write)
{
    if (asked->era != MCP_MODERN && !asked->traceparent)
        return;
    laz_json_begin_object(write, "_meta");
    if (asked->era == MCP_MODERN)
        mcp_answer_server(write, "io.modelcontextprotocol/serverInfo");
    if (asked->traceparent)
        laz_json_add_text(write, "traceparent", asked->traceparent);
    if (asked->traceparent && asked->tracestate)
        laz_json_add_text(write, "tracestate", asked->tracestate);
    laz_json_end_object(write);
}

bool mcp_answer_begin(const struct mcp_asked *asked, const char *type, struct laz_json_write *write)
{
    if (!asked->id || !message_begin(asked->out, asked->id, write))
        return false;
    laz_json_begin_object(write, "result");
    if (asked->era == MCP_MODERN)
        laz_json_add_text(write, "resultType", type);
    answer_meta(asked, write);
    return true;
}

void mcp_answer_end(const struct mcp_asked *asked, struct laz_json_write *write)
{
    laz_json_end_object(write);
    message_end(asked->out, true, write);
}

void mcp_answer_keep(const struct mcp_asked *asked, uint64_t ms, struct laz_json_write *write)
{
    if (asked->era != MCP_MODERN)
        return;
    laz_json_add_uint(write, "ttlMs", ms);
    laz_json_add_text(write, "cacheScope", "private");
}

void mcp_answer_versions(struct laz_json_write *write, const char *key)
{
    laz_json_begin_list(write, key);
    for (size_t i = 0; i < MCP_N_VERSIONS; i++)
        laz_json_add_text(write, NULL, mcp_versions[i]);
    laz_json_end_list(write);
}

void mcp_answer_text(struct laz_json_write *write, const char *text, size_t len)
{
    laz_json_begin_object(write, NULL);
    laz_json_add_text(write, "type", "text");
    laz_json_add_bytes(write, "text", text, len);
    laz_json_end_object(write);
}

void mcp_answer_object(const struct laz_mcp *mcp, struct laz_json_write *write, const char *json,
                       size_t len)
{
    const bool is_wanted = mcp->values->mcp.structured;

    if (is_wanted)
        mcp_answer_text(write, json, len);
    laz_json_end_list(write);
    if (is_wanted)
        laz_json_add_raw(write, "structuredContent", json, len);
}

bool mcp_fail_begin(const struct mcp_asked *asked, int code, const char *text,
                    struct laz_json_write *write)
{
    if (!message_begin(asked->out, asked->id, write))
        return false;
    asked->out->error = code;
    laz_json_begin_object(write, "error");
    laz_json_add_int(write, "code", code);
    laz_json_add_text(write, "message", text);
    return true;
}

void mcp_fail(const struct mcp_asked *asked, int code, const char *text)
{
    struct laz_json_write write;

    if (mcp_fail_begin(asked, code, text, &write))
        mcp_answer_end(asked, &write);
}

bool mcp_tell_begin(struct mcp_out *out, const char *id, const char *method,
                    struct laz_json_write *write)
{
    if (!message_begin(out, id, write))
        return false;
    laz_json_add_text(write, "method", method);
    laz_json_begin_object(write, "params");
    return true;
}

void mcp_tell_end(struct mcp_out *out, struct laz_json_write *write)
{
    laz_json_end_object(write);
    message_end(out, false, write);
}

void mcp_refuse(const struct mcp_asked *asked, const struct laz_error *err)
{
    struct laz_json_write write;
    struct laz_visible visible = {0};
    struct laz_buf text = LAZ_BUF_INIT;

    if (!mcp_answer_begin(asked, "complete", &write))
        return;
    laz_visible_add(&visible, &text, err->text, strlen(err->text));
    laz_visible_end(&visible, &text);
    laz_json_begin_list(&write, "content");
    mcp_answer_text(&write, laz_buf_text(&text), text.len);
    laz_json_end_list(&write);
    laz_json_add_bool(&write, "isError", true);
    mcp_answer_end(asked, &write);
    laz_buf_fini(&text);
}

/* ---- handles -------------------------------------------------------------------------------- */

void mcp_handle_make(const struct laz_mcp *mcp, enum mcp_handle kind, int64_t number,
                     char text[MCP_HANDLE])
{
    const int len = snprintf(text, MCP_HANDLE, "%c%" PRId64, (char)kind, number);
    const uint64_t proof = laz_siphash(&mcp->key, text, (size_t)len);

    snprintf(text + len, MCP_HANDLE - (size_t)len, "-%016" PRIx64, proof);
}

int64_t mcp_handle_number(const struct laz_mcp *mcp, enum mcp_handle kind, const char *text)
{
    char made[MCP_HANDLE];
    const size_t len = strlen(text);
    char *end;

    if (len < 3 || text[0] != (char)kind || text[1] < '1' || text[1] > '9' || len >= MCP_HANDLE)
        return 0;
    const int64_t number = strtoll(text + 1, &end, 10);
    if (*end != '-' || number > mcp->last_number)
        return 0;
    mcp_handle_make(mcp, kind, number, made);
    return len == strlen(made) && laz_equal_constant_time(made, text, len) ? number : 0;
}
