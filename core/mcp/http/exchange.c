/* SPDX-License-Identifier: MIT */
/* exchange.c - a request by HTTP and its answer.
 * Side: host.  Input trusted: no.
 *
 * A request is answered by JSON if the answer is there at once, else by a stream of events, which
 * ends with the answer.  While a stream has nothing to say its connection is suspended; once a
 * second it says so, which shows whether somebody still listens: who has left has cancelled. */
#include "mcp/http/http.h"

#include "base/json.h"
#include "base/place.h"
#include "os/peer.h"
#include "os/users.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HTTP_PIECE    16384
#define HTTP_METHOD   "Mcp-Method"
#define HTTP_NAME     "Mcp-Name"
#define HTTP_MISMATCH (-32020)

#define HTTP_META_VERSION "io.modelcontextprotocol/protocolVersion"
#define HTTP_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"

/* ---- what goes out --------------------------------------------------------------------------- */

void mcp_exchange_wake(struct exchange *exchange)
{
    if (!exchange->is_suspended)
        return;
    exchange->is_suspended = false;
    exchange->http->mhd.resume_connection(exchange->connection);
    exchange->http->is_ready = true;
}

static struct laz_buf *exchange_add(struct mcp_out *out)
{
    struct exchange *exchange = (struct exchange *)(void *)out;

    if (exchange->is_answered)
        return NULL;
    exchange->line = exchange->lines.len;
    return &exchange->lines;
}

static void exchange_send(struct mcp_out *out, bool is_answer)
{
    struct exchange *exchange = (struct exchange *)(void *)out;

    exchange->is_answered = is_answer;
    mcp_exchange_wake(exchange);
}

size_t mcp_exchange_unread(const struct exchange *exchange)
{
    return exchange->lines.len - exchange->framed + exchange->wire.len - exchange->sent;
}

static bool exchange_is_full(const struct mcp_out *out)
{
    return mcp_exchange_unread((const struct exchange *)(const void *)out) > MCP_QUIET;
}

/* Makes events of the lines. */
static void exchange_frame(struct exchange *exchange)
{
    if (exchange->sent == exchange->wire.len) {
        laz_buf_clear(&exchange->wire);
        exchange->sent = 0;
    }
    while (exchange->framed < exchange->lines.len) {
        const char *line = exchange->lines.data + exchange->framed;
        const size_t len = (size_t)(strchr(line, '\n') - line) + 1;
        laz_buf_puts(&exchange->wire, "event: message\ndata: ");
        laz_buf_append(&exchange->wire, line, len);
        laz_buf_putc(&exchange->wire, '\n');
        exchange->framed += len;
    }
    if (!exchange->is_answered && exchange->framed) {
        laz_buf_clear(&exchange->lines);
        exchange->framed = exchange->line = 0;
    }
}

/* Called by libmicrohttpd for the next piece of a stream. */
static ssize_t exchange_read(void *user, uint64_t at, char *to, size_t max)
{
    struct exchange *exchange = user;

    (void)at;
    exchange_frame(exchange);
    size_t left = exchange->wire.len - exchange->sent;
    if (exchange->wire.failed || exchange->lines.failed)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (left) {
        left = left < max ? left : max;
        memcpy(to, exchange->wire.data + exchange->sent, left);
        exchange->sent += left;
        return (ssize_t)left;
    }
    if (exchange->is_answered || exchange->http->is_ending)
        return MHD_CONTENT_READER_END_OF_STREAM;
    exchange->is_suspended = true;
    exchange->http->mhd.suspend_connection(exchange->connection);
    return 0;
}

/* ---- responses ------------------------------------------------------------------------------- */

static enum MHD_Result exchange_respond(struct exchange *exchange, unsigned status,
                                        struct MHD_Response *response, const char *type,
                                        const char *session)
{
    if (!response)
        return MHD_NO;
    if (type)
        exchange->http->mhd.add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    exchange->http->mhd.add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    if (session)
        exchange->http->mhd.add_response_header(response, HTTP_SESSION, session);
    if (status == MHD_HTTP_UNAUTHORIZED)
        exchange->http->mhd.add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE,
                                                "Bearer");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        exchange->http->mhd.add_response_header(response, MHD_HTTP_HEADER_ALLOW, "POST, DELETE");
    const enum MHD_Result queued =
        exchange->http->mhd.queue_response(exchange->connection, status, response);
    exchange->http->mhd.destroy_response(response);
    return queued;
}

/* The lines, as they are. */
static enum MHD_Result exchange_json(struct exchange *exchange, unsigned status,
                                     const char *session)
{
    return exchange_respond(exchange, status,
                            exchange->http->mhd.create_response_from_buffer(
                                exchange->lines.len, exchange->lines.data, MHD_RESPMEM_MUST_COPY),
                            "application/json", session);
}

/* `message`: the one that is refused; NULL: it was not read. */
static enum MHD_Result exchange_refuse(struct exchange *exchange, const struct mcp_message *message,
                                       unsigned status, int code, const char *why)
{
    const struct mcp_asked asked = {.out = &exchange->out, .id = message ? message->id : NULL};

    laz_buf_clear(&exchange->lines);
    mcp_fail(&asked, code, why);
    return exchange_json(exchange, status, NULL);
}

static unsigned exchange_status(const struct exchange *exchange, bool is_modern)
{
    switch (exchange->out.error) {
    case MCP_PARSE_ERROR:
    case MCP_INVALID:
    case MCP_NO_VERSION:
        return MHD_HTTP_BAD_REQUEST;
    case MCP_NO_METHOD:
        return is_modern ? MHD_HTTP_NOT_FOUND : MHD_HTTP_OK;
    default:
        return MHD_HTTP_OK;
    }
}

/* What was asked has been handled: the answer, or a stream up to it. */
static enum MHD_Result exchange_answer(struct exchange *exchange, bool is_modern,
                                       const char *session)
{
    if (exchange->is_answered && !exchange->line)
        return exchange_json(exchange, exchange_status(exchange, is_modern), session);
    exchange->is_streaming = true;
    return exchange_respond(exchange, MHD_HTTP_OK,
                            exchange->http->mhd.create_response_from_callback(
                                MHD_SIZE_UNKNOWN, HTTP_PIECE, exchange_read, exchange, NULL),
                            "text/event-stream", session);
}

static enum MHD_Result exchange_nothing(struct exchange *exchange, unsigned status)
{
    return exchange_respond(
        exchange, status,
        exchange->http->mhd.create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT), NULL,
        NULL);
}

/* ---- requests -------------------------------------------------------------------------------- */

static const char *exchange_header(const struct exchange *exchange, const char *name)
{
    return exchange->http->mhd.lookup_connection_value(exchange->connection, MHD_HEADER_KIND, name);
}

struct seen {
    unsigned singles; /* a bit for each header that may be there once */
    bool is_twice;
    bool has_space; /* a name, before its colon: others take it for a header of that name */
};

static enum MHD_Result seen_header(void *user, enum MHD_ValueKind kind, const char *name,
                                   const char *value)
{
    struct seen *seen = user;
    const unsigned bit = mcp_http_single(name);

    (void)kind, (void)value;
    seen->has_space |= name[strcspn(name, " \t")] != '\0';
    seen->is_twice |= (seen->singles & bit) != 0;
    seen->singles |= bit;
    return MHD_YES;
}

/* Is it plain where the message ends? Where whoever passes a request on sees another end, the rest
 * of it is a request of its own. */
static bool exchange_has_an_end(const struct exchange *exchange)
{
    const char *coding = exchange_header(exchange, MHD_HTTP_HEADER_TRANSFER_ENCODING);

    return !coding || (!exchange_header(exchange, MHD_HTTP_HEADER_CONTENT_LENGTH) &&
                       strcasecmp(coding, "chunked") == 0);
}

/* Does it come from who may use the server? 0, or a status and why not. */
static unsigned exchange_allow(const struct exchange *exchange, const char **why)
{
    const struct mcp_http *http = exchange->http;
    const char *host = exchange_header(exchange, MHD_HTTP_HEADER_HOST);
    const char *origin = exchange_header(exchange, MHD_HTTP_HEADER_ORIGIN);
    struct seen seen = {0};

    (void)http->mhd.get_connection_values(exchange->connection, MHD_HEADER_KIND, seen_header,
                                          &seen);
    *why = "a header is there twice: which one is meant?";
    if (seen.is_twice)
        return MHD_HTTP_BAD_REQUEST;
    *why = "the end of the message is given by Content-Length or by Transfer-Encoding: chunked";
    if (seen.has_space || !exchange_has_an_end(exchange))
        return MHD_HTTP_BAD_REQUEST;
    *why = "the server is called by the name of this machine: localhost, 127.0.0.1, [::1]";
    if (!host || !laz_place_is_local(host))
        return MHD_HTTP_FORBIDDEN;
    *why = "pages of other machines may not use the server";
    if (origin && !mcp_http_is_local_origin(origin))
        return MHD_HTTP_FORBIDDEN;
    *why = "the header Authorization: Bearer TOKEN is needed, with the token of --token-file";
    return *http->token &&
                   !mcp_http_is_token(exchange_header(exchange, MHD_HTTP_HEADER_AUTHORIZATION),
                                      http->token)
               ? MHD_HTTP_UNAUTHORIZED
               : 0;
}

/* May this request be read at all? 0, or a status and why not. */
static unsigned exchange_check(const struct exchange *exchange, const char *url, const char *method,
                               const char **why)
{
    const struct mcp_http *http = exchange->http;
    const char *length = exchange_header(exchange, MHD_HTTP_HEADER_CONTENT_LENGTH);
    const char *type = exchange_header(exchange, MHD_HTTP_HEADER_CONTENT_TYPE);
    const char *accept = exchange_header(exchange, MHD_HTTP_HEADER_ACCEPT);

    *why = "there is /mcp and nothing else";
    if (strcmp(url, "/mcp") != 0)
        return MHD_HTTP_NOT_FOUND;
    if (strcmp(method, MHD_HTTP_METHOD_DELETE) == 0)
        return 0;
    *why = "messages come by POST; nothing is sent without a request";
    if (strcmp(method, MHD_HTTP_METHOD_POST) != 0)
        return MHD_HTTP_METHOD_NOT_ALLOWED;
    *why = "Content-Type has to be application/json";
    if (!type || !mcp_http_is_type(type, "application/json"))
        return MHD_HTTP_UNSUPPORTED_MEDIA_TYPE;
    *why = "Accept has to list application/json and text/event-stream";
    if (!accept ||
        (!mcp_http_lists(accept, "*/*") && (!mcp_http_lists(accept, "application/json") ||
                                            !mcp_http_lists(accept, "text/event-stream"))))
        return MHD_HTTP_NOT_ACCEPTABLE;
    *why = "the message is too long (session.max_value_size)";
    return length && strtoull(length, NULL, 10) > http->mcp->values->session.max_value_size
               ? MHD_HTTP_CONTENT_TOO_LARGE
               : 0;
}

/* Without a handshake `_meta` says the version as well, and is answered with those that there are.
 */
static bool exchange_has_version(const struct exchange *exchange)
{
    const char *said = exchange_header(exchange, HTTP_VERSION);

    return !said || mcp_is_version(said);
}

#define EXCHANGE_NO_VERSION "the header MCP-Protocol-Version has none that the server speaks"

/* A member of `_meta` of a message, as JSON. */
static bool message_meta(const struct mcp_message *message, const char *name, const char **raw,
                         size_t *len)
{
    return message->params &&
           laz_json_member(message->params, message->params_len, "_meta", raw, len) &&
           **raw == '{' && laz_json_member(*raw, *len, name, raw, len);
}

/* The text that a member of the parameters, or (`is_meta`) of their `_meta` is, to be freed. NULL:
 * there is none. */
static char *message_text(const struct mcp_message *message, bool is_meta, const char *name)
{
    const char *raw;
    size_t len;

    return (is_meta ? message_meta(message, name, &raw, &len)
                    : message->params &&
                          laz_json_member(message->params, message->params_len, name, &raw, &len))
               ? laz_json_to_string(raw, len, &len)
               : NULL;
}

/* The header Mcp-Name of some methods has a member of their parameters. */
static bool exchange_is_named(const struct exchange *exchange, const struct mcp_message *message)
{
    static const struct {
        const char *method, *member;
    } rows[] = {{"tools/call", "name"}, {"resources/read", "uri"}, {"prompts/get", "name"}};
    bool is_named = true;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].method, message->method) != 0)
            continue;
        char *name = message_text(message, false, rows[i].member);
        is_named = !name || mcp_http_says(exchange_header(exchange, HTTP_NAME), name);
        free(name);
    }
    return is_named;
}

/* A request without a handshake repeats in its headers what is in it. */
static enum MHD_Result exchange_modern(struct exchange *exchange, struct mcp_message *message,
                                       const char *version)
{
    const char *said = exchange_header(exchange, HTTP_VERSION);
    const char *raw, *why = NULL;
    size_t len;
    const bool lacks = !version || !message_meta(message, HTTP_CAPABILITIES, &raw, &len);

    if (lacks)
        why = "'_meta' lacks '" HTTP_META_VERSION "' or '" HTTP_CAPABILITIES "'";
    else if (!said || strcmp(said, version) != 0)
        why = "the header MCP-Protocol-Version is not what '_meta' says";
    else if (!mcp_http_says(exchange_header(exchange, HTTP_METHOD), message->method))
        why = "the header Mcp-Method is not the method";
    else if (!exchange_is_named(exchange, message))
        why = "the header Mcp-Name is not the name, or the URI, of the parameters";
    if (why)
        return exchange_refuse(exchange, message, MHD_HTTP_BAD_REQUEST,
                               lacks ? MCP_INVALID_PARAMS : HTTP_MISMATCH, why);
    mcp_dispatch(&exchange->own, &exchange->out, message);
    return exchange_answer(exchange, true, NULL);
}

static enum MHD_Result exchange_legacy(struct exchange *exchange, struct mcp_message *message)
{
    struct mcp_http *http = exchange->http;
    const char *session = exchange_header(exchange, HTTP_SESSION);
    const bool begins = message->method && strcmp(message->method, "initialize") == 0;
    struct http_peer *peer = session ? mcp_http_peer_find(http, session) : NULL;
    const char *why = NULL;

    if (!exchange_has_version(exchange))
        why = EXCHANGE_NO_VERSION;
    else if (!session && !begins)
        why = "the header Mcp-Session-Id is missing, and '_meta' with the version";
    if (why)
        return exchange_refuse(exchange, message, MHD_HTTP_BAD_REQUEST, MCP_INVALID, why);
    if (session && !peer)
        return exchange_refuse(exchange, message, MHD_HTTP_NOT_FOUND, MCP_INVALID,
                               "this Mcp-Session-Id is over: initialize again");
    if (!peer && !(peer = mcp_http_peer_new(http)))
        return exchange_refuse(exchange, message, MHD_HTTP_SERVICE_UNAVAILABLE, MCP_INTERNAL,
                               "out of memory");
    mcp_dispatch(&peer->peer, &exchange->out, message);
    if (message->kind != MCP_REQUEST)
        return exchange_nothing(exchange, MHD_HTTP_ACCEPTED);
    return exchange_answer(exchange, false, begins ? peer->id : NULL);
}

/* All of a message is there. */
static enum MHD_Result exchange_post(struct exchange *exchange)
{
    struct mcp_message message;
    struct laz_error err = {0};
    enum MHD_Result result;
    const int code =
        mcp_message_read(laz_buf_text(&exchange->body), exchange->body.len, &message, &err);
    const char *said = exchange_header(exchange, HTTP_VERSION);
    char *version = code ? NULL : message_text(&message, true, HTTP_META_VERSION);

    if (code)
        result = exchange_refuse(exchange, &message, MHD_HTTP_BAD_REQUEST, code, err.text);
    else if ((version || (said && mcp_is_modern(said))) && message.kind == MCP_REQUEST)
        result = exchange_modern(exchange, &message, version);
    else
        result = exchange_legacy(exchange, &message);
    free(version);
    mcp_message_fini(&message);
    exchange->http->body_bytes -= exchange->body.len; /* a stream may be there for long */
    laz_buf_fini(&exchange->body);
    return result;
}

static enum MHD_Result exchange_delete(struct exchange *exchange)
{
    const char *session = exchange_header(exchange, HTTP_SESSION);
    struct http_peer *peer = session ? mcp_http_peer_find(exchange->http, session) : NULL;

    if (!exchange_has_version(exchange))
        return exchange_refuse(exchange, NULL, MHD_HTTP_BAD_REQUEST, MCP_INVALID,
                               EXCHANGE_NO_VERSION);
    if (!peer)
        return exchange_refuse(exchange, NULL, MHD_HTTP_NOT_FOUND, MCP_INVALID,
                               "there is no such Mcp-Session-Id");
    mcp_http_peer_free(exchange->http, peer);
    return exchange_nothing(exchange, MHD_HTTP_NO_CONTENT);
}

static bool exchange_is_full_body(const struct exchange *exchange, size_t more)
{
    const struct mcp_http *http = exchange->http;

    return http->body_bytes + more > http->mcp->values->session.max_value_size;
}

/* A process of another user cannot connect, whatever the mode of the socket. */
static bool http_is_ours(const struct mcp_http *http, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        http->mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct laz_peer peer;

    return !http->path || (info && laz_os_peer(info->connect_fd, &peer, NULL) == 0 &&
                           !peer.inherited && peer.uid == laz_os_uid());
}

static struct exchange *exchange_new(struct mcp_http *http, struct MHD_Connection *connection)
{
    struct exchange *exchange = calloc(1, sizeof *exchange);

    if (!exchange)
        return NULL;
    exchange->out =
        (struct mcp_out){.add = exchange_add, .send = exchange_send, .is_full = exchange_is_full};
    exchange->own.mcp = http->mcp;
    exchange->http = http;
    exchange->connection = connection;
    exchange->next = http->exchanges;
    http->exchanges = exchange;
    return exchange;
}

enum MHD_Result mcp_http_asked(void *user, struct MHD_Connection *connection, const char *url,
                               const char *method, const char *version, const char *data,
                               size_t *len, void **state)
{
    struct mcp_http *http = user;
    struct exchange *exchange = *state;
    const char *why;

    (void)version;
    if (!exchange) {
        struct http_caller *caller = mcp_caller_of(http, connection);
        if (!caller || caller->is_leaving || !http_is_ours(http, connection) ||
            !(exchange = exchange_new(http, connection)))
            return MHD_NO;
        *state = exchange;
        caller->is_asking = true;
        unsigned status = exchange_allow(exchange, &why);
        caller->is_known |= status == 0;
        if (!status)
            status = exchange_check(exchange, url, method, &why);
        return status ? exchange_refuse(exchange, NULL, status, MCP_INVALID, why) : MHD_YES;
    }
    if (*len) {
        if (exchange_is_full_body(exchange, *len))
            return MHD_NO; /* it is longer than its header says, or all together are */
        laz_buf_append(&exchange->body, data, *len);
        http->body_bytes += *len;
        *len = 0;
        return exchange->body.failed ? MHD_NO : MHD_YES;
    }
    return strcmp(method, MHD_HTTP_METHOD_DELETE) == 0 ? exchange_delete(exchange)
                                                       : exchange_post(exchange);
}

/* The exchange is over, or its client has left. */
void mcp_http_completed(void *user, struct MHD_Connection *connection, void **state,
                        enum MHD_RequestTerminationCode why)
{
    struct exchange *exchange = *state;
    struct mcp_http *http = user;
    struct http_caller *caller = mcp_caller_of(http, connection);

    (void)why;
    if (!exchange)
        return;
    if (caller) {
        caller->is_asking = false;
        caller->since_ms = laz_loop_now_ms(http->mcp->loop);
    }
    mcp_gone(http->mcp, &exchange->out, &exchange->own);
    LAZ_LIST_REMOVE(http->exchanges, exchange);
    http->body_bytes -= exchange->body.len;
    laz_buf_fini(&exchange->body);
    laz_buf_fini(&exchange->lines);
    laz_buf_fini(&exchange->wire);
    free(exchange);
    *state = NULL;
}
