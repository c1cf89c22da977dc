/* SPDX-License-Identifier: MIT */
/* methods.c - what clients ask for: the methods of both eras, and which era a request is of.
 * Side: host.  Input trusted: no.
 *
 * A request with a version in its `_meta` is of the era without a handshake, any other one of the
 * era with one; both may come on one connection. */
#include "mcp/mcp_private.h"

#include "base/json.h"
#include "base/trace.h"

#include <stdlib.h>
#include <string.h>

#define METHODS_KEEP_MS (3600 * 1000) /* what never changes while this process lives */

/* ---- who the server is ----------------------------------------------------------------------- */

static void methods_capabilities(struct laz_json_write *write)
{
    laz_json_begin_object(write, "capabilities");
    laz_json_begin_object(write, "tools");
    laz_json_end_object(write);
    laz_json_begin_object(write, "resources");
    laz_json_end_object(write);
    laz_json_end_object(write);
}

/* The version that both speak; if there is none, the client decides. */
static const char *methods_agree(const char *wanted)
{
    for (size_t i = 0; wanted && i < MCP_N_LEGACY; i++)
        if (strcmp(mcp_legacy[i], wanted) == 0)
            return mcp_legacy[i];
    return mcp_legacy[0];
}

static void methods_initialize(struct mcp_asked *asked, const struct mcp_params *params)
{
    struct laz_mcp *mcp = asked->peer->mcp;
    struct mcp_peer *peer = asked->peer;
    struct laz_json_write write;

    if (peer->is_initialized || !params->version) {
        mcp_fail(asked, peer->is_initialized ? MCP_INVALID : MCP_INVALID_PARAMS,
                 peer->is_initialized ? "the connection is initialized already"
                                      : "'initialize' lacks 'protocolVersion'");
        return;
    }
    peer->is_initialized = true;
    peer->version = methods_agree(params->version);
    peer->can_ask =
        params->capabilities && mcp_can_ask(params->capabilities, params->capabilities_len);
    if (!mcp_answer_begin(asked, "complete", &write))
        return;
    laz_json_add_text(&write, "protocolVersion", peer->version);
    methods_capabilities(&write);
    laz_json_begin_object(&write, "serverInfo");
    laz_json_add_text(&write, "name", "lazaret");
    laz_json_add_text(&write, "version", laz_version());
    laz_json_end_object(&write);
    laz_json_add_text(&write, "instructions", mcp->instructions);
    mcp_answer_end(asked, &write);
}

static void methods_versions(struct laz_json_write *write, const char *key)
{
    laz_json_begin_list(write, key);
    laz_json_add_text(write, NULL, mcp_modern);
    for (size_t i = 0; i < MCP_N_LEGACY; i++)
        laz_json_add_text(write, NULL, mcp_legacy[i]);
    laz_json_end_list(write);
}

static void methods_discover(struct mcp_asked *asked, const struct mcp_params *params)
{
    struct laz_mcp *mcp = asked->peer->mcp;
    struct laz_json_write write;

    (void)params;
    if (!mcp_answer_begin(asked, "complete", &write))
        return;
    methods_versions(&write, "supportedVersions");
    methods_capabilities(&write);
    laz_json_add_text(&write, "instructions", mcp->instructions);
    mcp_answer_keep(asked, METHODS_KEEP_MS, &write);
    mcp_answer_end(asked, &write);
}

static void methods_ping(struct mcp_asked *asked, const struct mcp_params *params)
{
    struct laz_json_write write;

    (void)params;
    if (mcp_answer_begin(asked, "complete", &write))
        mcp_answer_end(asked, &write);
}

/* ---- tools ---------------------------------------------------------------------------------- */

static void methods_tools(struct mcp_asked *asked, const struct mcp_params *params)
{
    struct laz_mcp *mcp = asked->peer->mcp;
    struct laz_json_write write;

    (void)params;
    if (!mcp_answer_begin(asked, "complete", &write))
        return;
    laz_json_add_raw(&write, "tools", mcp->tools.data, mcp->tools.len);
    mcp_answer_keep(asked, METHODS_KEEP_MS, &write);
    mcp_answer_end(asked, &write);
}

static void methods_call(struct mcp_asked *asked, const struct mcp_params *params)
{
    if (params->name)
        mcp_tools_call(asked, params);
    else
        mcp_fail(asked, MCP_INVALID_PARAMS, "'tools/call' lacks 'name'");
}

/* ---- resources ------------------------------------------------------------------------------ */

static void resource_missing(const struct mcp_asked *asked, const char *uri, const char *why)
{
    struct laz_json_write write;

    if (!mcp_fail_begin(asked, asked->era == MCP_MODERN ? MCP_INVALID_PARAMS : MCP_NO_RESOURCE, why,
                        &write))
        return;
    laz_json_add_text(&write, "uri", uri);
    mcp_fail_end(asked, &write);
}

static void methods_read(struct mcp_asked *asked, const struct mcp_params *params)
{
    struct laz_mcp *mcp = asked->peer->mcp;
    struct laz_error err = {0};

    if (!params->uri) {
        mcp_fail(asked, MCP_INVALID_PARAMS, "'resources/read' lacks 'uri'");
        return;
    }
    struct mcp_resource *resource = mcp_resource_find(mcp, params->uri, &err);
    if (resource)
        mcp_answer_resource(mcp, asked, resource);
    else
        resource_missing(asked, params->uri, err.text);
}

/* ---- the table ------------------------------------------------------------------------------- */

struct method {
    const char *name;
    unsigned eras;
    void (*run)(struct mcp_asked *asked, const struct mcp_params *params);
};

#define MCP_BOTH (MCP_LEGACY | MCP_MODERN)

static const struct method methods[] = {
    {"initialize", MCP_LEGACY, methods_initialize},
    {"ping", MCP_LEGACY, methods_ping},
    {"server/discover", MCP_MODERN, methods_discover},
    {"tools/list", MCP_BOTH, methods_tools},
    {"tools/call", MCP_BOTH, methods_call},
    {"resources/list", MCP_BOTH, mcp_resources_list},
    {"resources/templates/list", MCP_BOTH, mcp_resources_templates},
    {"resources/read", MCP_BOTH, methods_read},
    {"subscriptions/listen", MCP_MODERN, mcp_listen},
};

static const struct method *method_find(const char *name)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(methods[i].name, name) == 0)
            return &methods[i];
    return NULL;
}

/* ---- eras ------------------------------------------------------------------------------------ */

static void era_unsupported(const struct mcp_asked *asked, const char *version)
{
    struct laz_json_write write;

    if (!mcp_fail_begin(asked, MCP_NO_VERSION, "this version of the protocol is not supported",
                        &write))
        return;
    methods_versions(&write, "supported");
    laz_json_add_text(&write, "requested", version);
    mcp_fail_end(asked, &write);
}

/* Of which era is this request? Fills asked->era and what its client can do; false: it was answered
 * by an error. */
static bool era_find(const struct method *method, const struct mcp_meta *meta,
                     struct mcp_asked *asked)
{
    const bool begins = method->eras == MCP_LEGACY; /* may come before the handshake */

    asked->era = meta->version ? MCP_MODERN : MCP_LEGACY;
    if (meta->version && !mcp_is_modern(meta->version)) {
        era_unsupported(asked, meta->version);
        return false;
    }
    if (meta->version && !meta->capabilities) {
        mcp_fail(asked, MCP_INVALID_PARAMS,
                 "'_meta' lacks 'io.modelcontextprotocol/clientCapabilities'");
        return false;
    }
    if (!meta->version && !asked->peer->is_initialized && !begins) {
        mcp_fail(asked, MCP_INVALID_PARAMS,
                 "the request has no '_meta' with 'io.modelcontextprotocol/protocolVersion' "
                 "(2026-07-28), and no 'initialize' came before it (2025-11-25)");
        return false;
    }
    asked->can_ask = meta->version ? mcp_can_ask(meta->capabilities, meta->capabilities_len)
                                   : asked->peer->can_ask;
    return true;
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

/* ---- dispatch ------------------------------------------------------------------------------- */

static void request_run(const struct method *method, struct mcp_asked *asked,
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
    else
        method->run(asked, params);
    laz_fields_free(&mcp_meta_fields, &meta);
}

void mcp_request(struct mcp_peer *peer, struct mcp_out *out, struct mcp_message *message)
{
    const struct method *method = method_find(message->method);
    struct mcp_asked asked = {.peer = peer, .out = out, .id = message->id};
    struct mcp_params params = {0};
    struct laz_error err = {0};

    message->id = NULL;
    if (mcp_request_find(peer, asked.id) || mcp_listen_find(peer, asked.id))
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
void mcp_notification(struct mcp_peer *peer, const struct mcp_message *message)
{
    struct mcp_params params = {0};
    char *id = NULL;

    if (strcmp(message->method, "notifications/cancelled") != 0 || !message->params ||
        mcp_read(&mcp_params_fields, message->params, message->params_len, &params, NULL) != 0)
        return;
    if (params.request)
        id = mcp_id_of(params.request, params.request_len);
    struct mcp_request *request = id ? mcp_request_find(peer, id) : NULL;
    struct mcp_listen *listen = id ? mcp_listen_find(peer, id) : NULL;
    if (id && !request && !listen)
        request = mcp_request_find_waiting(peer, id);
    if (request)
        mcp_request_cancel(request);
    else if (listen)
        mcp_listen_end(listen);
    free(id);
    laz_fields_free(&mcp_params_fields, &params);
}
