/* SPDX-License-Identifier: MIT */
/* dispatch.c - a line of a client: a request, a notification, an answer, or none of these; which
 * era a request is of, and which method it calls.
 * Side: host.  Input trusted: no.
 *
 * A request with a version in its `_meta` is of the era without a handshake, any other one of the
 * era with one; both may come on one connection. */
#include "mcp/mcp_private.h"

#include "base/json.h"
#include "base/trace.h"

#include <stdlib.h>
#include <string.h>

/* ---- eras ------------------------------------------------------------------------------------ */

static void era_unsupported(const struct mcp_asked *asked, const char *version)
{
    struct laz_json_write write;

    if (!mcp_fail_begin(asked, MCP_NO_VERSION, "this version of the protocol is not supported",
                        &write))
        return;
    laz_json_begin_object(&write, "data");
    mcp_answer_versions(&write, "supported");
    laz_json_add_text(&write, "requested", version);
    laz_json_end_object(&write);
    mcp_answer_end(asked, &write);
}

/* Of which era is this request? Fills asked->era and what its client can do; false: it was answered
 * by an error. */
static bool era_find(const struct mcp_method *method, const struct mcp_meta *meta,
                     struct mcp_asked *asked)
{
    const bool begins = method->eras == MCP_LEGACY; /* may come before the handshake */
    const char *lack = NULL;

    asked->era = meta->version ? MCP_MODERN : MCP_LEGACY;
    if (meta->version && !mcp_is_modern(meta->version)) {
        era_unsupported(asked, meta->version);
        return false;
    }
    if (meta->version && !meta->capabilities)
        lack = "'_meta' lacks 'io.modelcontextprotocol/clientCapabilities'";
    else if (meta->version)
        asked->can_ask = mcp_can_ask(meta->capabilities, meta->capabilities_len);
    else if (asked->peer->is_initialized || begins)
        asked->can_ask = asked->peer->can_ask;
    else
        lack = "the request has no '_meta' with 'io.modelcontextprotocol/protocolVersion' "
               "(2026-07-28), and no 'initialize' came before it (2025-11-25)";
    if (lack)
        mcp_fail(asked, MCP_INVALID_PARAMS, lack);
    return !lack;
}

/* Takes what the answer needs from `_meta`. */
static bool asked_take(struct mcp_asked *asked, const struct mcp_meta *meta, struct laz_error *err)
{
    if (meta->token && !(asked->token = mcp_id_of(meta->token, meta->token_len))) {
        laz_error_set(err, LAZ_EPROTO, 0,
                      "'progressToken' is neither an integer nor a text of up to %d bytes",
                      MCP_ID - 2);
        return false;
    }
    if (!meta->traceparent || !laz_trace_parent_is_valid(meta->traceparent))
        return true; /* a trace that is broken ends here, as the standard asks */
    asked->traceparent = laz_strdup(meta->traceparent);
    if (meta->tracestate && laz_trace_state_is_valid(meta->tracestate))
        asked->tracestate = laz_strdup(meta->tracestate);
    return true;
}

/* ---- messages -------------------------------------------------------------------------------- */

static bool request_lacks(const struct mcp_method *method, const struct mcp_params *params,
                          struct laz_error *err)
{
    const char *const *needed =
        (const char *const *)(const void *)((const char *)params + method->needs_at);

    if (!method->needs || *needed)
        return false;
    laz_error_set(err, LAZ_EPROTO, 0, "'%s' lacks '%s'", method->name, method->needs);
    return true;
}

static void request_run(const struct mcp_method *method, struct mcp_asked *asked,
                        const struct mcp_params *params)
{
    struct mcp_meta meta = {0};
    struct laz_error err = {0};
    int rc =
        params->meta ? mcp_read(&mcp_meta_fields, params->meta, params->meta_len, &meta, &err) : 0;

    if (rc || !asked_take(asked, &meta, &err))
        mcp_fail(asked, MCP_INVALID_PARAMS, err.text);
    else if (!era_find(method, &meta, asked))
        ; /* it was answered */
    else if (!(method->eras & asked->era))
        mcp_fail(asked, MCP_NO_METHOD, "this version of the protocol has no such method");
    else if (params->cursor)
        mcp_fail(asked, MCP_INVALID_PARAMS, "'cursor' is none of this server");
    else if (request_lacks(method, params, &err))
        mcp_fail(asked, MCP_INVALID_PARAMS, err.text);
    else
        method->run(asked, params);
    laz_fields_free(&mcp_meta_fields, &meta);
}

static void request_take(struct mcp_peer *peer, struct mcp_out *out, struct mcp_message *message)
{
    const struct mcp_method *method = mcp_method_find(message->method);
    struct mcp_asked asked = {.peer = peer, .out = out, .id = message->id};
    struct mcp_params params = {0};
    struct laz_error err = {0};

    message->id = NULL;
    if (mcp_request_find(peer, asked.id, false) || mcp_listen_find(peer, asked.id))
        mcp_fail(&asked, MCP_INVALID, "a request with this id is open");
    else if (!method)
        mcp_fail(&asked, MCP_NO_METHOD, "there is no such method");
    else if (message->params &&
             mcp_read(&mcp_params_fields, message->params, message->params_len, &params, &err) != 0)
        mcp_fail(&asked, MCP_INVALID_PARAMS, err.text);
    else
        request_run(method, &asked, &params);
    laz_fields_free(&mcp_params_fields, &params);
    mcp_asked_fini(&asked);
}

/* Only one concerns this server; the others tell what it need not know. */
static void notification_take(const struct mcp_peer *peer, const struct mcp_message *message)
{
    struct mcp_params params = {0};
    struct mcp_request *request;
    struct mcp_listen *listen;

    if (strcmp(message->method, "notifications/cancelled") != 0 || !message->params ||
        mcp_read(&mcp_params_fields, message->params, message->params_len, &params, NULL) != 0)
        return;
    char *id = params.request ? mcp_id_of(params.request, params.request_len) : NULL;
    if (id && (request = mcp_request_find(peer, id, false)))
        mcp_request_forgo(request);
    else if (id && (listen = mcp_listen_find(peer, id)))
        mcp_listen_free(listen);
    else if (id && (request = mcp_request_find(peer, id, true)))
        mcp_request_cancel(request);
    free(id);
    laz_fields_free(&mcp_params_fields, &params);
}

void mcp_dispatch(struct mcp_peer *peer, struct mcp_out *out, struct mcp_message *message)
{
    if (message->kind == MCP_REQUEST)
        request_take(peer, out, message);
    else if (message->kind == MCP_NOTIFICATION)
        notification_take(peer, message);
    else
        mcp_approval_answer(peer, message->id, message);
}

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
    else
        mcp_dispatch(peer, out, &message);
    mcp_message_fini(&message);
}
