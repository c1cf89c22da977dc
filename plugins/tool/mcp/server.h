/* SPDX-License-Identifier: MIT */
/* server.h - one MCP server: how it is started, asked and ended, whatever carries the messages.
 *
 * Everything happens on the loop thread.  A transport gives the server each message that arrives,
 * and tells it when the connection is lost; the server never calls back into a transport from
 * mcp_server_take but by the functions of struct mcp_transport, after which the transport must
 * look whether it is still open. */
#ifndef LAZ_PLUGIN_MCP_SERVER_H
#define LAZ_PLUGIN_MCP_SERVER_H

#include "mcp_private.h"

#include <lazaret/options.h>

#define MCP_MAX_START  ((size_t)16 << 20) /* bytes of a message before it is ready */
#define MCP_MAX_IDLE   10000              /* messages in a row that answer nothing */
#define MCP_MAX_LISTS  100  /* lists that it is asked for between two answers to calls */
#define MCP_STOP_MS    2000 /* to end by itself, and again after SIGTERM */
#define MCP_FIRST_MS   500  /* the first pause before a start; twice as long each time, to */
#define MCP_LONGEST_MS 30000

struct mcp_server;

/* The options of a [[tools]] table. */
struct mcp_options {
    char *name;
    char **command, *url;
    char *env, **env_from;                      /* of a command */
    char *headers, *headers_env, *headers_file; /* of a url */
    char **tools, **except;
    bool approve, required;
    int64_t start_timeout_ms, timeout_ms, max_timeout_ms, max_concurrent, max_output;
};

/* What a message is about, for transports that show it outside of the message as well. */
struct mcp_envelope {
    int64_t id;         /* of a request; 0: it is none */
    const char *method; /* NULL: an answer */
    const char *name;   /* of the tool that is called, or NULL */
};

struct mcp_transport {
    int (*open)(struct mcp_server *server, struct laz_error *err);
    /* False: it cannot be sent (mcp_server_lost follows, by the caller). */
    bool (*send)(struct mcp_server *server, const char *text, size_t len,
                 const struct mcp_envelope *envelope);
    /* Nobody waits for the answer to this request any more. May be NULL. */
    void (*forget)(struct mcp_server *server, int64_t id);
    void (*close)(struct mcp_server *server); /* no effect on one that is not open */
    void (*fini)(struct mcp_server *server);
};

extern const struct mcp_transport mcp_stdio, mcp_http;

/* How far a server is. */
enum mcp_state {
    MCP_DOWN,
    MCP_STARTING, /* asked which protocol it speaks */
    MCP_LISTING,  /* asked for its tools */
    MCP_READY,
};

enum mcp_era { MCP_UNKNOWN, MCP_MODERN, MCP_LEGACY };

enum mcp_asked { MCP_DISCOVER, MCP_INITIALIZE, MCP_LIST, MCP_LISTEN, MCP_CALL };

/* A request without an answer. */
struct mcp_request {
    struct mcp_request *next;
    struct mcp_server *server;
    enum mcp_asked what;
    int64_t id;            /* 0: it waits until the server is ready */
    struct laz_call *call; /* of a call */
    size_t tool;
    char *args;
    size_t args_len;
    struct laz_watch *timer;
};

/* The tools of a list, as far as it has come. */
struct mcp_list {
    struct mcp_tool *tools;
    size_t n, room, bytes, seen, pages;
    char *cursor;
    bool *patterns; /* which of options.tools were met */
    bool *excepted; /* and of options.except */
};

struct mcp_server {
    const struct laz_tool_services *services;
    const struct laz_json_api *json;
    struct mcp_options options;
    const struct mcp_transport *transport;
    void *link; /* of the transport */
    enum mcp_state state;
    enum mcp_era era;
    char version[16];     /* of the protocol */
    bool tells_changes;   /* the modern era: it can be listened to */
    bool is_blunt;        /* it died of server/discover: initialize comes first */
    bool is_asked;        /* by `prepare`: somebody waits */
    bool has_said;        /* it has answered anything since it was started */
    bool lists_again;     /* its tools changed while they were listed */
    bool is_heard;        /* it tells of changes: it has acknowledged that */
    bool is_stale;        /* it does not any more: its tools are listed before the next call */
    unsigned failures;    /* starts and lives that ended badly, in a row */
    unsigned idle, lists; /* see MCP_MAX_IDLE, MCP_MAX_LISTS */
    int64_t last_id;
    struct mcp_request *requests; /* the newest last */
    struct laz_watch *start_timer, *probe_timer, *pause;
    uint64_t pause_ms;
    char failure[512]; /* why the last start or life has ended */
    struct mcp_list list;
    struct mcp_tool *tools; /* that were declared; never changes */
    size_t n_tools;
    bool is_known; /* `tools` is set */
    struct laz_tool *declared;
    char *notice;
};

/* ---- server.c -------------------------------------------------------------------------------- */

void mcp_server_prepare(struct mcp_server *server);
/* Calls tool number `tool`; the call is answered in any case. */
void mcp_server_call(struct mcp_server *server, size_t tool, struct laz_call *call,
                     const char *args, size_t len);
void mcp_server_cancel(struct mcp_server *server, struct laz_call *call);
void mcp_server_fini(struct mcp_server *server);

/* ---- server.c, for transports -----------------------------------------------------------------
 */

/* Bytes that a message may have now. */
size_t mcp_server_most(const struct mcp_server *server);
/* A message has arrived; `text` may be changed. */
void mcp_server_take(struct mcp_server *server, char *text, size_t len);
/* One has arrived that was not read: the request that it answers fails with the reason, if that is
 * known, and nothing else does. */
void mcp_server_unread(struct mcp_server *server, const struct mcp_glance *glance,
                       const char *format, ...) LAZ_PRINTF(3, 4);
/* The connection is lost, or the server must be ended: open calls fail with the reason. */
void mcp_server_lost(struct mcp_server *server, const char *format, ...) LAZ_PRINTF(2, 3);
/* No answer to this request comes any more, because the server cannot be reached; or because it has
 * refused it, as if it had answered with an error. No effect on one that is not open. */
void mcp_server_failed(struct mcp_server *server, int64_t id, const char *reason);
void mcp_server_refused(struct mcp_server *server, int64_t id, const char *reason);
void mcp_server_log(const struct mcp_server *server, uint32_t level, const char *format, ...)
    LAZ_PRINTF(3, 4);

/* ---- ask.c: the requests of a client ----------------------------------------------------------
 */

bool mcp_ask_discover(struct mcp_server *server);
bool mcp_ask_initialize(struct mcp_server *server);
bool mcp_ask_list(struct mcp_server *server, const char *cursor);
bool mcp_ask_listen(struct mcp_server *server);
/* Errors: LAZ_EINVAL: the arguments cannot be said. *sent: false: the server does not take it. */
int mcp_ask_call(struct mcp_server *server, struct mcp_request *request, bool *sent,
                 struct laz_error *err);
bool mcp_say_initialized(struct mcp_server *server);
bool mcp_say_cancelled(struct mcp_server *server, int64_t id, const char *reason);
/* Answers a request of the server: with an empty result, or that there is no such method. */
bool mcp_say_answer(struct mcp_server *server, struct mcp_raw id, bool is_known);

/* ---- list.c -----------------------------------------------------------------------------------
 */

/* Takes a page of the list. *more: there is another, after list.cursor. Errors: LAZ_EPARSE,
 * LAZ_ETOOBIG, LAZ_ENOMEM. */
int mcp_list_take(struct mcp_server *server, struct mcp_raw result, bool *more,
                  struct laz_error *err);
/* The list is complete: declares its tools, or compares it with those that were declared. */
int mcp_list_end(struct mcp_server *server, struct laz_error *err);
void mcp_list_fini(struct mcp_list *list);

#endif
