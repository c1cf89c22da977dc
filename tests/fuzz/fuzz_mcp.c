/* SPDX-License-Identifier: MIT */
/* fuzz_mcp.c - what a client of `lazaret mcp` sends, on any bytes: a message that is accepted has
 * what its kind must have, ids have one spelling, one that is refused has a reason in one line of
 * UTF-8, and no handle is accepted that was not given out. */
#include "base/json.h"
#include "base/trace.h"
#include "base/utf8.h"
#include "mcp/mcp_private.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool held)
{
    if (!held)
        abort();
}

static void check_reason(const struct laz_error *err)
{
    must(err->code && *err->text);
    must(laz_utf8_is_valid(err->text, strlen(err->text)) && !strchr(err->text, '\n'));
}

static void check_id(const char *id)
{
    char *again = mcp_id_of(id, strlen(id));

    must(laz_json_scan(id, strlen(id), NULL) == 0);
    must(!again || strcmp(again, id) == 0); /* NULL: escapes have made it longer */
    free(again);
}

static void check_meta(const char *raw, size_t len)
{
    struct mcp_meta meta = {0};
    struct laz_trace_copy copy;
    struct laz_error err = {0};

    if (mcp_read(&mcp_meta_fields, raw, len, &meta, &err) != 0) {
        check_reason(&err);
        return;
    }
    const struct laz_trace trace = {
        .size = sizeof trace,
        .parent = meta.traceparent,
        .state = meta.tracestate,
    };
    if (laz_trace_check(&trace, NULL) == 0) {
        laz_trace_take(&copy, &trace);
        must(laz_trace_of(&copy) && strcmp(laz_trace_of(&copy)->parent, meta.traceparent) == 0);
        must(laz_trace_check(laz_trace_of(&copy), NULL) == 0);
    }
    if (meta.capabilities)
        (void)mcp_can_ask(meta.capabilities, meta.capabilities_len);
    laz_fields_free(&mcp_meta_fields, &meta);
}

static void check_handles(const char *text)
{
    static struct laz_mcp mcp = {.last_number = 1000, .key = {1, 2}};

    if (!text)
        return;
    must(!mcp_handle_number(&mcp, MCP_OF_SESSION, text));
    must(!mcp_handle_number(&mcp, MCP_OF_STATE, text));
    must(!mcp_resource_find(&mcp, text, NULL));
}

static void check_params(const char *raw, size_t len)
{
    struct mcp_params params = {0};
    struct laz_error err = {0};
    void *args = calloc(1, mcp_execute_fields.size);

    must(args != NULL);
    if (mcp_read(&mcp_params_fields, raw, len, &params, &err) != 0) {
        check_reason(&err);
        free(args);
        return;
    }
    if (params.meta)
        check_meta(params.meta, params.meta_len);
    if (params.arguments &&
        mcp_read(&mcp_execute_fields, params.arguments, params.arguments_len, args, &err) != 0)
        check_reason(&err);
    check_handles(params.state);
    check_handles(params.uri);
    laz_fields_free(&mcp_execute_fields, args);
    laz_fields_free(&mcp_params_fields, &params);
    free(args);
}

static void check_line(const char *line, size_t len)
{
    struct mcp_message message;
    struct laz_error err = {0};
    const int code = mcp_message_read(line, len, &message, &err);

    if (message.id)
        check_id(message.id);
    if (code) {
        must(code == MCP_PARSE_ERROR || code == MCP_INVALID);
        check_reason(&err);
    } else {
        must(laz_json_scan(line, len, NULL) == 0);
        must(!message.method == (message.kind == MCP_ANSWER));
        must((message.kind == MCP_NOTIFICATION) == !message.id);
        if (message.params)
            check_params(message.params, message.params_len);
    }
    mcp_message_fini(&message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *at = (const char *)data, *end = at + size;

    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const size_t len = (size_t)((newline ? newline : end) - at);
        char *line = malloc(len + 1); /* of its own, so that reading beyond it is noticed */
        must(line != NULL);
        memcpy(line, at, len);
        line[len] = '\0';
        check_line(line, len);
        free(line);
        at += len + 1;
    }
    return 0;
}
