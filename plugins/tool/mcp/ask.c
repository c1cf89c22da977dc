/* SPDX-License-Identifier: MIT */
/* ask.c - the messages of the client, in both eras of the protocol.
 *
 * Since 2026-07-28 each request says in `_meta` which version it is of and what its client can do
 * (nothing here); before, `initialize` said it once. */
#include "server.h"

#include <stdlib.h>
#include <string.h>

#define ASK_MODERN "2026-07-28"
#define ASK_LEGACY "2025-11-25"
#define ASK_META   "io.modelcontextprotocol/"

static void ask_client(const struct laz_json_api *json, struct laz_json_writer *writer,
                       const char *key)
{
    mcp_put_key(json, writer, key);
    json->object_begin(writer);
    mcp_put_text(json, writer, "name", "lazaret");
    mcp_put_text(json, writer, "version", "0.1.0");
    json->object_end(writer);
}

/* The trace that the call of a tool belongs to: SEP-414 names the members as the headers of W3C
 * Trace Context. */
static void ask_trace(const struct mcp_server *server, struct laz_json_writer *writer,
                      const struct laz_call *call)
{
    const struct laz_tool_services *services = server->services;
    const struct laz_caller *caller =
        LAZ_HAS(services, caller) ? services->caller(services->host, call) : NULL;

    if (!caller || !LAZ_HAS(caller, trace) || !caller->trace)
        return;
    mcp_put_text(server->json, writer, "traceparent", caller->trace->parent);
    if (caller->trace->state)
        mcp_put_text(server->json, writer, "tracestate", caller->trace->state);
}

/* Begins a message, up to its members of `params`. `id` 0: a notification. `call`: of a tool, which
 * may report progress; NULL: it is none. */
static struct laz_json_writer *ask_begin(struct mcp_server *server, int64_t id, const char *method,
                                         const struct laz_call *call)
{
    const struct laz_json_api *json = server->json;
    struct laz_json_writer *writer = json->writer_new(0);

    if (!writer)
        return NULL;
    json->object_begin(writer);
    mcp_put_text(json, writer, "jsonrpc", "2.0");
    if (id) {
        mcp_put_key(json, writer, "id");
        json->write_int(writer, id);
    }
    mcp_put_text(json, writer, "method", method);
    mcp_put_key(json, writer, "params");
    json->object_begin(writer);
    const bool is_modern = id && server->era != MCP_LEGACY && strcmp(method, "initialize") != 0;
    if (!is_modern && !call)
        return writer;
    mcp_put_key(json, writer, "_meta");
    json->object_begin(writer);
    if (is_modern) {
        mcp_put_text(json, writer, ASK_META "protocolVersion", ASK_MODERN);
        ask_client(json, writer, ASK_META "clientInfo");
        mcp_put_key(json, writer, ASK_META "clientCapabilities");
        json->object_begin(writer);
        json->object_end(writer);
    }
    if (call) {
        mcp_put_key(json, writer, "progressToken");
        json->write_int(writer, id);
        ask_trace(server, writer, call);
    }
    json->object_end(writer);
    return writer;
}

/* Ends and sends it. */
static bool ask_end(struct mcp_server *server, struct laz_json_writer *writer, int64_t id,
                    const char *method, const char *name)
{
    const struct mcp_envelope envelope = {id, method, name};
    const struct laz_json_api *json = server->json;
    size_t len = 0;

    if (!writer)
        return false;
    json->object_end(writer);
    json->object_end(writer);
    char *text = mcp_take(json, writer, &len);
    const bool sent = text && server->transport->send(server, text, len, &envelope);
    free(text);
    return sent;
}

/* A request of the server's own, whose answer it awaits. */
static struct mcp_request *ask_new(struct mcp_server *server, enum mcp_asked what)
{
    struct mcp_request *request = calloc(1, sizeof *request), **at = &server->requests;

    if (!request)
        return NULL;
    request->server = server;
    request->what = what;
    request->id = ++server->last_id;
    while (*at)
        at = &(*at)->next;
    *at = request;
    return request;
}

bool mcp_ask_discover(struct mcp_server *server)
{
    const struct mcp_request *request = ask_new(server, MCP_DISCOVER);

    return request && ask_end(server, ask_begin(server, request->id, "server/discover", NULL),
                              request->id, "server/discover", NULL);
}

bool mcp_ask_initialize(struct mcp_server *server)
{
    const struct laz_json_api *json = server->json;
    const struct mcp_request *request = ask_new(server, MCP_INITIALIZE);
    struct laz_json_writer *writer =
        request ? ask_begin(server, request->id, "initialize", NULL) : NULL;

    if (!writer)
        return false;
    mcp_put_text(json, writer, "protocolVersion", ASK_LEGACY);
    mcp_put_key(json, writer, "capabilities");
    json->object_begin(writer);
    json->object_end(writer);
    ask_client(json, writer, "clientInfo");
    return ask_end(server, writer, request->id, "initialize", NULL);
}

bool mcp_ask_list(struct mcp_server *server, const char *cursor)
{
    const struct mcp_request *request = ask_new(server, MCP_LIST);
    struct laz_json_writer *writer =
        request ? ask_begin(server, request->id, "tools/list", NULL) : NULL;

    if (!writer)
        return false;
    if (cursor)
        mcp_put_text(server->json, writer, "cursor", cursor);
    return ask_end(server, writer, request->id, "tools/list", NULL);
}

bool mcp_ask_listen(struct mcp_server *server)
{
    const struct laz_json_api *json = server->json;
    const struct mcp_request *request = ask_new(server, MCP_LISTEN);
    struct laz_json_writer *writer =
        request ? ask_begin(server, request->id, "subscriptions/listen", NULL) : NULL;

    if (!writer)
        return false;
    mcp_put_key(json, writer, "notifications");
    json->object_begin(writer);
    mcp_put_key(json, writer, "toolsListChanged");
    json->write_bool(writer, true);
    json->object_end(writer);
    return ask_end(server, writer, request->id, "subscriptions/listen", NULL);
}

int mcp_ask_call(struct mcp_server *server, struct mcp_request *request, bool *sent,
                 struct laz_error *err)
{
    const struct laz_json_api *json = server->json;
    const struct mcp_tool *tool = &server->tools[request->tool];
    struct laz_json_writer *writer;

    request->id = ++server->last_id;
    writer = ask_begin(server, request->id, "tools/call", request->call);
    if (!writer)
        return laz_fail(err, LAZ_ENOMEM, "out of memory");
    mcp_put_text(json, writer, "name", tool->remote);
    mcp_put_key(json, writer, "arguments");
    int ret = mcp_write_arguments(json, tool, request->args, request->args_len, writer, err);
    if (ret)
        json->writer_free(writer);
    else
        *sent = ask_end(server, writer, request->id, "tools/call", tool->remote);
    return ret;
}

bool mcp_say_initialized(struct mcp_server *server)
{
    return ask_end(server, ask_begin(server, 0, "notifications/initialized", NULL), 0,
                   "notifications/initialized", NULL);
}

bool mcp_say_cancelled(struct mcp_server *server, int64_t id, const char *reason)
{
    struct laz_json_writer *writer = ask_begin(server, 0, "notifications/cancelled", NULL);

    if (!writer)
        return false;
    mcp_put_key(server->json, writer, "requestId");
    server->json->write_int(writer, id);
    mcp_put_text(server->json, writer, "reason", reason);
    return ask_end(server, writer, 0, "notifications/cancelled", NULL);
}

bool mcp_say_answer(struct mcp_server *server, struct mcp_raw id, bool is_known)
{
    const struct laz_json_api *json = server->json;
    struct laz_json_writer *writer = json->writer_new(0);

    if (!writer)
        return false;
    json->object_begin(writer);
    mcp_put_text(json, writer, "jsonrpc", "2.0");
    mcp_put_raw(json, writer, "id", id);
    mcp_put_key(json, writer, is_known ? "result" : "error");
    json->object_begin(writer);
    if (!is_known) {
        mcp_put_key(json, writer, "code");
        json->write_int(writer, -32601);
        mcp_put_text(json, writer, "message", "Method not found: this client has no such ability");
    }
    return ask_end(server, writer, 0, NULL, NULL);
}
