/* SPDX-License-Identifier: MIT */
/* http.c - clients that cannot start programs: MCP by HTTP ("Streamable HTTP"), on a port of this
 * machine or a Unix socket.
 * Side: host.  Input trusted: no.
 *
 * libmicrohttpd has no thread: its epoll descriptor is watched by the loop of the engine, and it
 * runs between two steps, when sessions may be opened and freed.  A request is answered by JSON if
 * the answer is there at once, else by a stream of events, which ends with the answer.  While a
 * stream has nothing to say its connection is suspended; once a second it says so, which shows
 * whether somebody still listens: who has left has cancelled. */
#include "mcp/mcp_parts.h"

#include "base/json.h"
#include "os/descriptors.h"
#include "os/io.h"
#include "os/library.h"
#include "os/peer.h"
#include "os/sockets.h"
#include "os/users.h"

#include <inttypes.h>
#include <microhttpd.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HTTP_CONNECTIONS 64
#define HTTP_PEERS       64                 /* of clients with a handshake */
#define HTTP_MEMORY      ((size_t)32 << 10) /* of a connection, for its headers */
#define HTTP_TIMEOUT_S   30u                /* in which nothing comes of a request that has begun */
#define HTTP_TICK_MS     1000
#define HTTP_PIECE       16384
#define HTTP_SESSION     "Mcp-Session-Id"
#define HTTP_VERSION     "MCP-Protocol-Version"
#define HTTP_METHOD      "Mcp-Method"
#define HTTP_NAME        "Mcp-Name"
#define HTTP_MISMATCH    (-32020)

#define HTTP_META_VERSION "io.modelcontextprotocol/protocolVersion"
#define HTTP_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"

/* A client with a handshake. */
struct http_peer {
    struct mcp_peer peer; /* first */
    struct http_peer *next;
    char id[LAZ_TOKEN_LEN + 1];
    uint64_t used_ms;
};

/* A request and its answer. */
struct exchange {
    struct mcp_out out; /* first */
    struct exchange *next;
    struct mcp_http *http;
    struct MHD_Connection *connection;
    struct mcp_peer own; /* of a request that says all itself */
    struct laz_buf body;
    struct laz_buf lines; /* for the client */
    size_t line, framed;  /* where the last one begins; up to which they are in `wire` */
    struct laz_buf wire;
    size_t sent;
    bool is_answered, is_streaming, is_suspended;
};

/* The functions of libmicrohttpd that are called here. The library is loaded when the first server
 * by HTTP is asked for, and stays: it brings GnuTLS and seven more, half of the start of a command
 * that needs none of them. */
#define HTTP_FUNCTIONS(F)                                                                          \
    F(add_response_header)                                                                         \
    F(create_response_from_buffer)                                                                 \
    F(create_response_from_callback)                                                               \
    F(destroy_response)                                                                            \
    F(get_connection_info)                                                                         \
    F(get_daemon_info)                                                                             \
    F(get_timeout)                                                                                 \
    F(lookup_connection_value)                                                                     \
    F(queue_response)                                                                              \
    F(resume_connection)                                                                           \
    F(run)                                                                                         \
    F(start_daemon)                                                                                \
    F(stop_daemon)                                                                                 \
    F(suspend_connection)

struct http_library {
#define HTTP_MEMBER(name) __typeof__(MHD_##name) *name;
    HTTP_FUNCTIONS(HTTP_MEMBER)
#undef HTTP_MEMBER
};

struct mcp_http {
    struct laz_mcp *mcp;
    struct http_library mhd;
    struct MHD_Daemon *daemon;
    int listener;
    char *path, *address;
    struct laz_io *io;
    struct laz_timer *timer;
    char token[LAZ_TOKEN_LEN + 1]; /* "": by the socket, only this user comes */
    struct exchange *exchanges;
    struct http_peer *peers;
    size_t n_peers, body_bytes;
    uint64_t ticked_ms;
    bool is_ready;  /* something has come */
    bool is_ending; /* streams end */
};

/* ---- what goes out ----------------------------------------------------------------------------
 */

static void exchange_wake(struct exchange *exchange)
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
    exchange_wake(exchange);
}

static size_t exchange_unread(const struct exchange *exchange)
{
    return exchange->lines.len - exchange->framed + exchange->wire.len - exchange->sent;
}

static bool exchange_is_full(const struct mcp_out *out)
{
    return exchange_unread((const struct exchange *)(const void *)out) > MCP_QUIET;
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

/* ---- responses ---------------------------------------------------------------------------------
 */

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

/* `message`: the one that is refused; NULL: it was not read. */
static enum MHD_Result exchange_refuse(struct exchange *exchange, const struct mcp_message *message,
                                       unsigned status, int code, const char *why)
{
    const struct mcp_asked asked = {.out = &exchange->out, .id = message ? message->id : NULL};

    laz_buf_clear(&exchange->lines);
    mcp_fail(&asked, code, why);
    return exchange_respond(exchange, status,
                            exchange->http->mhd.create_response_from_buffer(
                                exchange->lines.len, exchange->lines.data, MHD_RESPMEM_MUST_COPY),
                            "application/json", NULL);
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
        return exchange_respond(
            exchange, exchange_status(exchange, is_modern),
            exchange->http->mhd.create_response_from_buffer(
                exchange->lines.len, exchange->lines.data, MHD_RESPMEM_MUST_COPY),
            "application/json", session);
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

/* ---- clients with a handshake ------------------------------------------------------------------
 */

static struct http_peer *peer_find(struct mcp_http *http, const char *id)
{
    struct http_peer *peer = http->peers;

    while (peer &&
           (strlen(id) != LAZ_TOKEN_LEN || !laz_equal_constant_time(peer->id, id, LAZ_TOKEN_LEN)))
        peer = peer->next;
    if (peer)
        peer->used_ms = laz_loop_now_ms(http->mcp->loop);
    return peer;
}

static void peer_free(struct mcp_http *http, struct http_peer *peer)
{
    struct http_peer **at = &http->peers;

    while (*at != peer)
        at = &(*at)->next;
    *at = peer->next;
    http->n_peers--;
    mcp_peer_gone(http->mcp, &peer->peer);
    free(peer);
}

/* A new one takes the place of that which was quiet for the longest time. */
static struct http_peer *peer_new(struct mcp_http *http)
{
    struct http_peer *peer = calloc(1, sizeof *peer), *oldest = http->peers;

    if (!peer || laz_random_name(peer->id, LAZ_TOKEN_LEN, NULL) != 0) {
        free(peer);
        return NULL;
    }
    for (struct http_peer *one = oldest; one; one = one->next)
        if (one->used_ms <= oldest->used_ms)
            oldest = one;
    if (http->n_peers >= HTTP_PEERS)
        peer_free(http, oldest);
    peer->peer.mcp = http->mcp;
    peer->used_ms = laz_loop_now_ms(http->mcp->loop);
    peer->next = http->peers;
    http->peers = peer;
    http->n_peers++;
    return peer;
}

/* ---- requests ----------------------------------------------------------------------------------
 */

static const char *exchange_header(const struct exchange *exchange, const char *name)
{
    return exchange->http->mhd.lookup_connection_value(exchange->connection, MHD_HEADER_KIND, name);
}

/* May this request be read at all? 0, or a status and why not. */
static unsigned exchange_check(const struct exchange *exchange, const char *url, const char *method,
                               const char **why)
{
    const struct mcp_http *http = exchange->http;
    const char *host = exchange_header(exchange, MHD_HTTP_HEADER_HOST);
    const char *origin = exchange_header(exchange, MHD_HTTP_HEADER_ORIGIN);
    const char *length = exchange_header(exchange, MHD_HTTP_HEADER_CONTENT_LENGTH);
    const char *type = exchange_header(exchange, MHD_HTTP_HEADER_CONTENT_TYPE);
    const char *accept = exchange_header(exchange, MHD_HTTP_HEADER_ACCEPT);

    *why = "the server is called by the name of this machine: localhost, 127.0.0.1, [::1]";
    if (!host || !mcp_http_is_local(host))
        return MHD_HTTP_FORBIDDEN;
    *why = "pages of other machines may not use the server";
    if (origin && !mcp_http_is_local_origin(origin))
        return MHD_HTTP_FORBIDDEN;
    *why = "the header Authorization: Bearer TOKEN is needed, with the token of --token-file";
    if (*http->token &&
        !mcp_http_is_token(exchange_header(exchange, MHD_HTTP_HEADER_AUTHORIZATION), http->token))
        return MHD_HTTP_UNAUTHORIZED;
    *why = "there is /mcp and nothing else";
    if (strcmp(url, "/mcp") != 0)
        return MHD_HTTP_NOT_FOUND;
    if (strcmp(method, MHD_HTTP_METHOD_DELETE) == 0)
        return 0;
    *why = "messages come by POST; nothing is sent without a request";
    if (strcmp(method, MHD_HTTP_METHOD_POST) != 0)
        return MHD_HTTP_METHOD_NOT_ALLOWED;
    *why = "Content-Type has to be application/json";
    if (!type || strncasecmp(type, "application/json", 16) != 0)
        return MHD_HTTP_UNSUPPORTED_MEDIA_TYPE;
    *why = "Accept has to list application/json and text/event-stream";
    if (!accept || (!strstr(accept, "*/*") &&
                    (!strstr(accept, "application/json") || !strstr(accept, "text/event-stream"))))
        return MHD_HTTP_NOT_ACCEPTABLE;
    *why = "the message is too long (session.max_value_size)";
    return length && strtoull(length, NULL, 10) > http->mcp->limits.max_line
               ? MHD_HTTP_CONTENT_TOO_LARGE
               : 0;
}

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
static enum MHD_Result exchange_modern(struct exchange *exchange, const struct mcp_message *message,
                                       const char *version)
{
    const char *said = exchange_header(exchange, HTTP_VERSION);
    const char *raw;
    size_t len;

    if (!version || !message_meta(message, HTTP_CAPABILITIES, &raw, &len))
        return exchange_refuse(exchange, message, MHD_HTTP_BAD_REQUEST, MCP_INVALID_PARAMS,
                               "'_meta' lacks 'io.modelcontextprotocol/protocolVersion' or "
                               "'" HTTP_CAPABILITIES "'");
    if (!said || strcmp(said, version) != 0)
        return exchange_refuse(exchange, message, MHD_HTTP_BAD_REQUEST, HTTP_MISMATCH,
                               "the header MCP-Protocol-Version is not what '_meta' says");
    if (!mcp_http_says(exchange_header(exchange, HTTP_METHOD), message->method))
        return exchange_refuse(exchange, message, MHD_HTTP_BAD_REQUEST, HTTP_MISMATCH,
                               "the header Mcp-Method is not the method");
    if (!exchange_is_named(exchange, message))
        return exchange_refuse(
            exchange, message, MHD_HTTP_BAD_REQUEST, HTTP_MISMATCH,
            "the header Mcp-Name is not the name, or the URI, of the parameters");
    mcp_line(&exchange->own, &exchange->out, laz_buf_text(&exchange->body), exchange->body.len);
    return exchange_answer(exchange, true, NULL);
}

static enum MHD_Result exchange_legacy(struct exchange *exchange, const struct mcp_message *message)
{
    struct mcp_http *http = exchange->http;
    const char *session = exchange_header(exchange, HTTP_SESSION);
    const bool begins = message->method && strcmp(message->method, "initialize") == 0;
    struct http_peer *peer = session ? peer_find(http, session) : NULL;

    if (!session && !begins)
        return exchange_refuse(
            exchange, message, MHD_HTTP_BAD_REQUEST, MCP_INVALID,
            "the header Mcp-Session-Id is missing, and '_meta' with the version");
    if (session && !peer)
        return exchange_refuse(exchange, message, MHD_HTTP_NOT_FOUND, MCP_INVALID,
                               "this Mcp-Session-Id is over: initialize again");
    if (!peer && !(peer = peer_new(http)))
        return exchange_refuse(exchange, message, MHD_HTTP_SERVICE_UNAVAILABLE, MCP_INTERNAL,
                               "out of memory");
    mcp_line(&peer->peer, &exchange->out, laz_buf_text(&exchange->body), exchange->body.len);
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
    struct http_peer *peer = session ? peer_find(exchange->http, session) : NULL;

    if (!peer)
        return exchange_refuse(exchange, NULL, MHD_HTTP_NOT_FOUND, MCP_INVALID,
                               "there is no such Mcp-Session-Id");
    peer_free(exchange->http, peer);
    return exchange_nothing(exchange, MHD_HTTP_NO_CONTENT);
}

static bool exchange_is_full_body(const struct exchange *exchange, size_t more)
{
    const struct mcp_http *http = exchange->http;

    return http->body_bytes + more > http->mcp->limits.max_line;
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

static enum MHD_Result http_asked(void *user, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *len, void **state)
{
    struct mcp_http *http = user;
    struct exchange *exchange = *state;
    const char *why;

    (void)version;
    if (!exchange) {
        if (!http_is_ours(http, connection) || !(exchange = exchange_new(http, connection)))
            return MHD_NO;
        *state = exchange;
        const unsigned status = exchange_check(exchange, url, method, &why);
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
static void http_completed(void *user, struct MHD_Connection *connection, void **state,
                           enum MHD_RequestTerminationCode why)
{
    struct exchange *exchange = *state, **at;
    struct mcp_http *http = user;

    (void)connection, (void)why;
    if (!exchange)
        return;
    mcp_out_gone(http->mcp, &exchange->out);
    mcp_peer_gone(http->mcp, &exchange->own);
    for (at = &http->exchanges; *at != exchange;)
        at = &(*at)->next;
    *at = exchange->next;
    http->body_bytes -= exchange->body.len;
    laz_buf_fini(&exchange->body);
    laz_buf_fini(&exchange->lines);
    laz_buf_fini(&exchange->wire);
    free(exchange);
    *state = NULL;
}

/* ---- running ------------------------------------------------------------------------------------
 */

static void http_ready(void *user, uint32_t events)
{
    (void)events;
    ((struct mcp_http *)user)->is_ready = true;
}

static void http_due(void *user)
{
    ((struct mcp_http *)user)->is_ready = true;
}

/* Has each stream say something, so that one that nobody reads is noticed. */
static bool http_tick(struct mcp_http *http)
{
    const uint64_t now = laz_loop_now_ms(http->mcp->loop);
    const bool is_time = now - http->ticked_ms >= HTTP_TICK_MS;
    bool has_streams = false;

    for (struct exchange *one = http->exchanges; one; one = one->next) {
        has_streams |= one->is_streaming;
        if (!is_time || !one->is_suspended)
            continue;
        laz_buf_puts(&one->wire, ":\n\n");
        exchange_wake(one);
    }
    if (is_time)
        http->ticked_ms = now;
    return has_streams;
}

void mcp_http_work(struct mcp_http *http)
{
    const bool has_streams = http_tick(http);
    MHD_UNSIGNED_LONG_LONG ms = UINT64_MAX;

    while (http->is_ready) { /* a stream that was woken wants to be read */
        http->is_ready = false;
        (void)http->mhd.run(http->daemon);
    }
    if (http->mhd.get_timeout(http->daemon, &ms) != MHD_YES)
        ms = UINT64_MAX;
    if (has_streams && ms > HTTP_TICK_MS)
        ms = HTTP_TICK_MS;
    if (ms != UINT64_MAX)
        laz_timer_start(http->timer, ms);
}

size_t mcp_http_unread(const struct mcp_http *http)
{
    size_t unread = 0;

    for (const struct exchange *one = http->exchanges; one; one = one->next)
        unread += one->is_streaming ? exchange_unread(one) : 0;
    return unread;
}

const char *mcp_http_address(const struct mcp_http *http)
{
    return http->address;
}

/* ---- making -------------------------------------------------------------------------------------
 */

static int http_listen_path(struct mcp_http *http, const char *path, struct laz_error *err)
{
    int rc = laz_os_is_listening(path)
                 ? laz_error_set(err, LAZ_EREFUSED, 0, "%s: another process listens there", path)
                 : laz_os_remove_socket(path, err);

    if (!rc)
        rc = laz_os_listen(path, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, &http->listener, err);
    if (!rc)
        rc = laz_os_let_wait(http->listener, HTTP_CONNECTIONS, err);
    if (rc)
        return rc;
    http->path = laz_strdup(path); /* from now on it is removed at the end */
    http->address = laz_strdup(path);
    return http->path && http->address ? 0 : laz_error_nomem(err);
}

/* HOST:PORT, where an address of version 6 is in brackets. */
static int http_listen_port(struct mcp_http *http, const char *listen, struct laz_error *err)
{
    const char *colon = strrchr(listen, ':');
    char host[64] = "";
    uint16_t port;

    if (!colon || (size_t)(colon - listen) >= sizeof host || !colon[1] ||
        colon[1 + strspn(colon + 1, "0123456789")] || strlen(colon + 1) > 5 ||
        strtoul(colon + 1, NULL, 10) > UINT16_MAX)
        return laz_error_set(err, LAZ_EINVAL, 0,
                             "--listen: '%.100s' is neither HOST:PORT nor a path with '/'", listen);
    const bool is_six = *listen == '[' && colon[-1] == ']';
    memcpy(host, listen + is_six, (size_t)(colon - listen) - 2 * is_six);
    port = (uint16_t)strtoul(colon + 1, NULL, 10);
    int rc = laz_os_listen_loopback(host, &port, &http->listener, err);
    if (rc)
        return rc;
    http->address =
        laz_strdupf(is_six ? "http://[%s]:%u/mcp" : "http://%s:%u/mcp", host, (unsigned)port);
    return http->address ? 0 : laz_error_nomem(err);
}

static void http_log(void *user, const char *format, va_list args)
{
    (void)user, (void)format, (void)args; /* what clients do wrong is answered */
}

static int http_load(struct http_library *mhd, struct laz_error *err)
{
    static const struct {
        const char *name;
        size_t offset;
    } rows[] = {
#define HTTP_ROW(name) {"MHD_" #name, offsetof(struct http_library, name)},
        HTTP_FUNCTIONS(HTTP_ROW)
#undef HTTP_ROW
    };
    const char *words = NULL;
    void *library = laz_library_open(LAZ_HTTP_LIBRARY, false, &words);

    if (!library)
        return laz_error_set(err, LAZ_EOS, 0, "--listen: libmicrohttpd cannot be loaded: %s",
                             words);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        void (*function)(void) = laz_library_function(library, rows[i].name);
        if (!function)
            return laz_error_set(err, LAZ_EOS, 0, "--listen: %s has no function %s",
                                 LAZ_HTTP_LIBRARY, rows[i].name);
        memcpy((char *)mhd + rows[i].offset, &function, sizeof function);
    }
    return 0;
}

static int http_start(struct mcp_http *http, struct laz_error *err)
{
    int rc = http_load(&http->mhd, err);

    if (rc)
        return rc;
    http->daemon = http->mhd.start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, http_asked, http,
        MHD_OPTION_EXTERNAL_LOGGER, http_log, NULL, MHD_OPTION_LISTEN_SOCKET, http->listener,
        MHD_OPTION_NOTIFY_COMPLETED, http_completed, http, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)HTTP_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, HTTP_TIMEOUT_S,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, HTTP_MEMORY, MHD_OPTION_END);
    if (!http->daemon)
        return laz_error_set(err, LAZ_EOS, 0, "libmicrohttpd does not start");
    http->listener = -1; /* it closes it */
    const union MHD_DaemonInfo *info =
        http->mhd.get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    http->timer = laz_timer_new(http->mcp->loop, http_due, http);
    http->io =
        info ? laz_io_start(http->mcp->loop, info->epoll_fd, LAZ_IO_READ, http_ready, http) : NULL;
    return http->timer && http->io ? 0 : laz_error_nomem(err);
}

int mcp_http_new(struct laz_mcp *mcp, const char *listen, const char *token_file,
                 struct mcp_http **out, struct laz_error *err)
{
    struct mcp_http *http = calloc(1, sizeof *http);
    const bool is_path = strchr(listen, '/') != NULL;
    int rc = 0;

    *out = NULL;
    if (!http)
        return laz_error_nomem(err);
    http->mcp = mcp;
    http->listener = -1;
    if (!is_path && !token_file)
        rc = laz_error_set(err, LAZ_EINVAL, 0,
                           "a port needs --token-file: any program of this machine can connect");
    if (!rc && token_file)
        rc = mcp_http_token(token_file, http->token, err);
    if (!rc)
        rc = is_path ? http_listen_path(http, listen, err) : http_listen_port(http, listen, err);
    if (!rc)
        rc = http_start(http, err);
    if (rc)
        mcp_http_free(http);
    else
        *out = http;
    return rc;
}

void mcp_http_free(struct mcp_http *http)
{
    if (!http)
        return;
    laz_io_stop(http->io);
    laz_timer_stop(http->timer);
    http->is_ending = true;
    for (struct exchange *one = http->exchanges; one; one = one->next)
        exchange_wake(one); /* it must not be stopped while one is suspended */
    if (http->daemon) {
        (void)http->mhd.run(http->daemon);
        http->mhd.stop_daemon(http->daemon);
    }
    laz_os_close(&http->listener);
    while (http->peers)
        peer_free(http, http->peers);
    if (http->path)
        (void)laz_os_remove_socket(http->path, NULL);
    laz_wipe(http->token, sizeof http->token);
    free(http->path);
    free(http->address);
    free(http);
}
