/* SPDX-License-Identifier: MIT */
/* dispatch.c - a line of a client: a request, a notification, an answer, or none of these.
 * Side: host.  Input trusted: no. */
#include "mcp/mcp_private.h"

#include "base/json.h"

/* A line that is not a message is answered, if it is not an answer itself. */
static void line_reject(struct mcp_peer *peer, struct mcp_out *out, const char *line, size_t len,
                        int code, const struct mcp_message *message, const struct laz_error *err)
{
    const struct mcp_asked asked = {.peer = peer, .out = out, .id = message->id};
    const char *raw;
    size_t raw_len;

    if (code != MCP_PARSE_ERROR && message->id &&
        !laz_json_member(line, len, "method", &raw, &raw_len))
        mcp_approval_answer(peer, message->id, NULL);
    else
        mcp_fail(&asked, code, err->text);
}

void mcp_line(struct mcp_peer *peer, struct mcp_out *out, const char *line, size_t len)
{
    struct mcp_message message;
    struct laz_error err = {0};
    const int code = mcp_message_read(line, len, &message, &err);

    if (code)
        line_reject(peer, out, line, len, code, &message, &err);
    else if (message.kind == MCP_REQUEST)
        mcp_request(peer, out, &message);
    else if (message.kind == MCP_NOTIFICATION)
        mcp_notification(peer, &message);
    else
        mcp_approval_answer(peer, message.id, &message);
    mcp_message_fini(&message);
}
