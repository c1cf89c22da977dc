/* SPDX-License-Identifier: MIT */
/* message.c - reads one message of a server (JSON-RPC 2.0).
 * Side: host.  Input trusted: no (a server's bytes). */
#include "mcp_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMBER_ID, MEMBER_METHOD, MEMBER_PARAMS, MEMBER_RESULT, MEMBER_ERROR, MEMBERS };

static const char *const message_members[] = {"id", "method", "params", "result", "error"};

static int message_error(const struct laz_json_api *json, struct mcp_raw error,
                         struct mcp_incoming *message, struct laz_error *err)
{
    static const char *const names[] = {"code", "message", "data"};
    struct mcp_raw found[3];

    if (!mcp_members(json, error, names, found, 3))
        return laz_fail(err, LAZ_EPARSE, "its error is not an object");
    if (!found[0].text || !mcp_integer(found[0], &message->code))
        message->code = 0;
    message->data = found[2];
    char *text = mcp_string(json, found[1]);
    message->error =
        mcp_clean(text ? text : "an error without a message",
                  strlen(text ? text : "an error without a message"), MCP_MAX_ERROR, true);
    free(text);
    return message->error ? 0 : laz_fail(err, LAZ_ENOMEM, "out of memory");
}

int mcp_incoming_read(const struct laz_json_api *json, char *text, size_t len,
                      struct mcp_incoming *message, struct laz_error *err)
{
    struct mcp_raw found[MEMBERS];
    int ret;

    *message = (struct mcp_incoming){0};
    mcp_mend(text, len);
    ret = json->scan(text, len, err);
    if (ret)
        return ret;
    while (len && strchr(" \t\r\n", *text)) { /* before the value, where none is NUL */
        text++;
        len--;
    }
    if (!mcp_members(json, (struct mcp_raw){text, len}, message_members, found, MEMBERS))
        return laz_fail(err, LAZ_EPARSE, "it is not JSON object");
    message->id_text = found[MEMBER_ID];
    message->has_id = found[MEMBER_ID].text && mcp_integer(found[MEMBER_ID], &message->id);
    message->params = found[MEMBER_PARAMS];
    message->result = found[MEMBER_RESULT];
    if (found[MEMBER_METHOD].text) {
        char *method = mcp_string(json, found[MEMBER_METHOD]);
        if (!method)
            return laz_fail(err, LAZ_EPARSE, "its method is not a string");
        snprintf(message->method, sizeof message->method, "%s", method);
        free(method);
        message->kind = found[MEMBER_ID].text ? MCP_REQUEST : MCP_NOTICE;
        return 0;
    }
    if (found[MEMBER_ERROR].text) {
        message->kind = MCP_ERROR;
        return message_error(json, found[MEMBER_ERROR], message, err);
    }
    message->kind = MCP_RESULT;
    if (!found[MEMBER_ID].text || !found[MEMBER_RESULT].text)
        return laz_fail(err, LAZ_EPARSE, "it is neither a request nor an answer");
    return 0;
}

void mcp_incoming_fini(struct mcp_incoming *message)
{
    free(message->error);
    *message = (struct mcp_incoming){0};
}
