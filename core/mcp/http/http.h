/* SPDX-License-Identifier: MIT */
/* http.h - what the files of the server by HTTP share: its connections, clients and requests.
 *
 * Everything happens in mcp_http_work, in which libmicrohttpd calls back. */
#ifndef LAZ_MCP_HTTP_HTTP_H
#define LAZ_MCP_HTTP_HTTP_H

#include "mcp/mcp_private.h"

#include <microhttpd.h>
#include <stddef.h>

#define HTTP_CONNECTIONS 64  /* of those who may use the server */
#define HTTP_STRANGERS   64  /* of others, in callers of their own */
#define HTTP_TIMEOUT_S   30u /* in which headers are whole, and nothing comes of what has begun */
#define HTTP_VERSION     "MCP-Protocol-Version"
#define HTTP_SESSION     "Mcp-Session-Id"

/* A connection. */
struct http_caller {
    struct http_caller *next; /* the oldest first */
    int fd;
    uint64_t since_ms; /* it was made, or its last request has ended */
    bool is_known;     /* by a request that was allowed */
    bool is_asking;    /* the headers of a request are whole */
    bool is_leaving;   /* it was shut down */
};

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

/* The functions of libmicrohttpd that are called. The library is loaded when the first server
 * by HTTP is asked for, and stays: it brings GnuTLS and seven more, half of the start of a command
 * that needs none of them. */
#define HTTP_FUNCTIONS(F)                                                                          \
    F(add_response_header)                                                                         \
    F(create_response_from_buffer)                                                                 \
    F(create_response_from_callback)                                                               \
    F(destroy_response)                                                                            \
    F(get_connection_info)                                                                         \
    F(get_connection_values)                                                                       \
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
    struct http_caller *callers;
    struct exchange *exchanges;
    struct http_peer *peers;
    size_t n_peers, body_bytes;
    uint64_t ticked_ms;
    bool is_ready;  /* something has come */
    bool is_ending; /* streams end */
};

/* ---- exchange.c: requests and their answers -------------------------------------------------- */

/* What libmicrohttpd calls with a request, and at its end; `user` is the server. */
enum MHD_Result mcp_http_asked(void *user, struct MHD_Connection *connection, const char *url,
                               const char *method, const char *version, const char *data,
                               size_t *len, void **state);
void mcp_http_completed(void *user, struct MHD_Connection *connection, void **state,
                        enum MHD_RequestTerminationCode why);
/* Has an answer go on that waits. */
void mcp_exchange_wake(struct exchange *exchange);
/* Bytes of an answer that its client has not read. */
size_t mcp_exchange_unread(const struct exchange *exchange);

/* ---- clients.c: connections, and clients with a handshake ------------------------------------ */

/* What libmicrohttpd calls when a connection begins and ends. */
void mcp_caller_changed(void *user, struct MHD_Connection *connection, void **context,
                        enum MHD_ConnectionNotificationCode what);
/* The caller of a connection; NULL: there was no memory for it. */
struct http_caller *mcp_caller_of(const struct mcp_http *http, struct MHD_Connection *connection);
/* Closes connections whose headers are not whole in time. Returns the milliseconds to the next;
 * UINT64_MAX: there is none. */
uint64_t mcp_callers_tend(struct mcp_http *http);

/* A new client takes the place of that which was quiet for the longest time. */
struct http_peer *mcp_http_peer_new(struct mcp_http *http);
struct http_peer *mcp_http_peer_find(struct mcp_http *http, const char *id);
void mcp_http_peer_free(struct mcp_http *http, struct http_peer *peer);

#endif
