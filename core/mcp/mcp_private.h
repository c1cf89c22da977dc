/* SPDX-License-Identifier: MIT */
/* mcp_private.h - what the files of core/mcp share. Private to this directory. All but the
 * questions for approvals runs on one thread, that of the loop.
 *
 * A request is answered at once, or it is an execution (executions.c), which is answered when that
 * has ended; or it listens (listens.c), and is answered at the end. */
#ifndef LAZ_MCP_MCP_PRIVATE_H
#define LAZ_MCP_MCP_PRIVATE_H

#include "base/container.h"
#include "base/json_write.h"
#include "base/random.h"
#include "base/siphash.h"
#include "engine/engine.h"
#include "job/job.h"
#include "job/pool.h"
#include "lines/lines.h"
#include "loop/loop.h"
#include "mcp/mcp.h"
#include "mcp/message.h"
#include "telemetry/metrics.h"

#include <stdatomic.h>

struct mcp_answer; /* large_answers.c */

/* Bounds of a client. */
#define MCP_REQUESTS       256                 /* executions that were not answered */
#define MCP_LISTENS        16                  /* requests that listen */
#define MCP_WAITING        16                  /* executions that wait for their client, */
#define MCP_WAITING_MS     (300 * 1000)        /* and how long they do */
#define MCP_FILES          64                  /* files of an execution */
#define MCP_INPUT          ".stdin"            /* the file of its standard input */
#define MCP_QUIET          ((size_t)8 << 20)   /* bytes unread: no requests are read */
#define MCP_UNREAD         ((size_t)256 << 20) /* bytes unread: the client is given up */
#define MCP_SHOWN          ((size_t)16 << 10)  /* bytes of output, of a value, that a result has */
#define MCP_SHOWN_ERROR    ((size_t)4 << 10)   /* bytes of an error that it has */
#define MCP_SHOWN_LINES    40                  /* calls of its traceback */
#define MCP_SHOWN_LINE     ((size_t)500)       /* bytes of each */
#define MCP_RESOURCES      256                 /* results kept to be read */
#define MCP_RESOURCE_BYTES ((size_t)64 << 20)  /* of these together, unless one is larger */

/* The two ways to speak MCP: with a handshake (2025-06-18, 2025-11-25), or with all that is to be
 * known in each request (2026-07-28). */
enum mcp_era { MCP_LEGACY = 1, MCP_MODERN = 2 };

/* Where messages for a client go; the first member of who sends them. */
struct mcp_out {
    struct laz_buf *(*add)(struct mcp_out *out); /* where a line is to be appended; NULL: nowhere */
    void (*send)(struct mcp_out *out, bool is_answer); /* it was; NULL: its owner knows */
    bool (*is_full)(const struct mcp_out *out); /* so much is unread that less should be said */
    int error; /* the code of the last one that was sent; 0: none */
};

/* A client, and what it has said of itself. */
struct mcp_peer {
    struct laz_mcp *mcp;
    bool is_initialized, can_ask; /* the handshake, and what it has said */
    const char *version;          /* that was agreed on in it */
};

/* Who asks, and how the answer has to be. */
struct mcp_asked {
    struct mcp_peer *peer;
    struct mcp_out *out;
    char *id; /* NULL: nobody waits for an answer */
    enum mcp_era era;
    bool can_ask;                   /* its client can ask somebody */
    bool keeps;                     /* it executes in a session that goes on */
    bool is_new;                    /* which is not the one that it had: that has expired */
    size_t told;                    /* bytes of the output that it was told already */
    char *token;                    /* of progress, JSON; NULL: none is wanted */
    char *traceparent, *tracestate; /* NULL: there is none */
};

/* What a handle stands for: its first character. */
enum mcp_handle {
    MCP_OF_SESSION = 's',
    MCP_OF_RESOURCE = 'r',
    MCP_OF_STATE = 'q',
    MCP_OF_EXECUTION = 'x',
};
#define MCP_HANDLE 40 /* bytes of one */

/* A session that the client has opened, or the own one of a connection. */
struct mcp_session {
    struct mcp_session *next;
    struct laz_mcp *mcp;
    struct mcp_peer *of; /* the connection; NULL: it was opened, and has a handle */
    int64_t number;
    struct laz_session *session;
    char *runtime;
    uint64_t used_ms;            /* when it was last used */
    bool has_expired;            /* its `session` is NULL, or a new one that nobody was told of */
    struct mcp_request *running; /* NULL: it is idle */
};

/* An execution. */
struct mcp_request {
    struct mcp_request *next;
    struct laz_mcp *mcp;
    struct mcp_asked asked;
    struct mcp_session *in;    /* NULL: in a session that is used once */
    struct laz_job *job;       /* NULL: it has ended */
    bool is_queued;            /* it has not begun: no session is free for it */
    bool is_fresh;             /* it wants a session that is used once */
    char *runtime;             /* that it wants; NULL: the usual one */
    int64_t handle;            /* under which it goes on without its client; 0: it does not */
    uint64_t due_ms;           /* when its client is told what there is; 0: at its end */
    struct laz_buf so_far;     /* output that it was not told yet, */
    bool is_cut;               /* or the beginning of it */
    size_t told;               /* bytes of the output that it was told */
    bool is_new;               /* as in struct mcp_asked */
    size_t bytes;              /* of code and files */
    uint64_t progress;         /* that was told last */
    int64_t state;             /* it was answered by a question, and goes on with this; 0: not so */
    char *answered;            /* the id under which it was; NULL: `state` is 0 */
    uint64_t waits_ms;         /* since then, or since it has ended */
    struct laz_result *result; /* for who comes back with `state`: it has ended meanwhile */
    struct laz_error why;      /* the same, without a result */
    bool is_over;              /* it has ended so */
};

/* The question whether a tool may be called, from the callback to its end. */
struct mcp_question {
    struct mcp_question *next;
    struct laz_post post;        /* to the loop */
    struct mcp_request *request; /* valid while the reply is not cancelled */
    struct laz_mcp *mcp;
    int64_t number;
    struct laz_reply *reply;
    char *text;      /* that a human is shown */
    bool is_sent;    /* its client was asked */
    bool is_request; /* by a request of this server; else by an answer */
};

/* A result that can be read. */
struct mcp_resource {
    struct mcp_resource *next;
    int64_t number;
    char *uri, *name, *type;
    char *data;
    size_t len;
    unsigned readers; /* answers that are being made of it */
    bool is_gone;     /* the last of them frees it */
};

/* Those of one result, which nobody can read yet. */
struct mcp_resource_list {
    struct mcp_resource *first, *last;
};

struct mcp_listen {
    struct mcp_listen *next;
    struct mcp_asked asked;
};

struct laz_mcp {
    struct laz_engine *engine;
    struct laz_loop *loop; /* of the engine, as the next */
    const struct laz_settings_values *values;
    struct laz_input *input;
    struct mcp_out out; /* to `lines` */
    struct mcp_peer peer;
    struct laz_lines lines;
    struct mcp_http *http;         /* clients by HTTP, in place of `lines` */
    bool is_watched;               /* `lines` */
    struct laz_endpoint *endpoint; /* NULL: none */
    atomic_bool is_stopped;
    bool is_over;
    struct laz_error why;       /* it ended */
    struct laz_siphash_key key; /* of handles */
    _Atomic int64_t last_number;
    char *instructions;
    struct laz_buf tools;   /* the answer to tools/list */
    bool has_all_functions; /* all of the host were known when it was made */
    struct mcp_session *sessions;
    struct laz_pool *ready; /* of one session of the usual runtime, for the next that needs one */
    bool has_no_ready;      /* it could not be created, and is not tried again */
    struct mcp_request *requests;
    struct mcp_question *questions;                  /* that the loop has */
    struct mcp_resource *resources, **last_resource; /* the oldest first */
    struct mcp_listen *listens;
    struct mcp_answer *answers; /* that are being made */
    size_t n_answers;
    size_t n_sessions, n_requests, n_resources, n_listens;
    size_t request_bytes, resource_bytes;
    struct laz_timer *timer; /* of what expires */
    struct laz_rest rest;
};

/* ---- answer.c: what a client is sent --------------------------------------------------------- */

void mcp_asked_fini(struct mcp_asked *asked);
/* Begins an answer with a result, whose members follow; `type`: of the result, "complete". False:
 * there is nobody to answer. */
bool mcp_answer_begin(const struct mcp_asked *asked, const char *type,
                      struct laz_json_write *write);
void mcp_answer_end(const struct mcp_asked *asked, struct laz_json_write *write);
/* Members of results that a client may keep for this long. */
void mcp_answer_keep(const struct mcp_asked *asked, uint64_t ms, struct laz_json_write *write);
/* Who answers; the versions of the protocol; a text, as an item of `content`. */
void mcp_answer_server(struct laz_json_write *write, const char *key);
void mcp_answer_versions(struct laz_json_write *write, const char *key);
void mcp_answer_text(struct laz_json_write *write, const char *text, size_t len);
/* Ends `content`, and the same as an object follows, JSON, where the settings want it (that clients
 * find who do not know the member, too). */
void mcp_answer_object(const struct laz_mcp *mcp, struct laz_json_write *write, const char *json,
                       size_t len);
/* Answers by an error; asked->id NULL: of what is not known. */
void mcp_fail(const struct mcp_asked *asked, int code, const char *text);
/* The same, and its member `data` may follow, and mcp_answer_end. False: there is nobody. */
bool mcp_fail_begin(const struct mcp_asked *asked, int code, const char *text,
                    struct laz_json_write *write);
/* Answers that the call of a tool has failed, and how to mend it. */
void mcp_refuse(const struct mcp_asked *asked, const struct laz_error *err);
/* Begins a notification, or a request with an id; its `params` follow, an object. */
bool mcp_tell_begin(struct mcp_out *out, const char *id, const char *method,
                    struct laz_json_write *write);
void mcp_tell_end(struct mcp_out *out, struct laz_json_write *write);

/* A handle is a number with a proof that this process has given it out. */
void mcp_handle_make(const struct laz_mcp *mcp, enum mcp_handle kind, int64_t number,
                     char text[MCP_HANDLE]);
/* The number of a handle; 0: it is none of this process. */
int64_t mcp_handle_number(const struct laz_mcp *mcp, enum mcp_handle kind, const char *text);

/* ---- dispatch.c: a line of a client ---------------------------------------------------------- */

/* Handles a line of a client, whose answers go to `out`; or a message that was read of one, whose
 * id is taken. */
void mcp_line(struct mcp_peer *peer, struct mcp_out *out, const char *line, size_t len);
void mcp_dispatch(struct mcp_peer *peer, struct mcp_out *out, struct mcp_message *message);

/* ---- methods.c: what clients ask for --------------------------------------------------------- */

struct mcp_method {
    const char *name;
    unsigned eras;
    void (*run)(struct mcp_asked *asked, const struct mcp_params *params);
    const char *needs; /* a parameter; NULL: none */
    size_t needs_at;
};
/* NULL: there is none. */
const struct mcp_method *mcp_method_find(const char *name);

/* ---- listens.c: requests that listen --------------------------------------------------------- */

void mcp_listen(struct mcp_asked *asked, const struct mcp_params *params);
/* The one with this id; NULL: there is none. */
struct mcp_listen *mcp_listen_find(const struct mcp_peer *peer, const char *id);
/* Its client has cancelled it. */
void mcp_listen_free(struct mcp_listen *listen);
/* Forgets those whose answers would go there. */
void mcp_listens_gone(struct laz_mcp *mcp, const struct mcp_out *out);
/* Answers those that listen. */
void mcp_listens_end(struct laz_mcp *mcp);

/* ---- tools.c: the tools that the client has -------------------------------------------------- */

/* Makes instructions and the list of tools. */
int mcp_tools_init(struct laz_mcp *mcp, struct laz_error *err);
/* Makes the list again where more is known of the functions of the host than was then. */
void mcp_tools_refresh(struct laz_mcp *mcp);
/* Calls the tool of params->name. Takes what it needs of *asked. */
void mcp_tools_call(struct mcp_asked *asked, const struct mcp_params *params);

/* ---- schema.c -------------------------------------------------------------------------------- */

/* Writes the JSON Schema of an object; its member `runtime` is one of `languages` (NULL: any
 * text). */
void mcp_schema_add(struct laz_json_write *write, const char *key, const struct laz_fields *fields,
                    const struct laz_strv *languages);

/* ---- describe.c ------------------------------------------------------------------------------ */

/* Adds the languages that there are. */
void mcp_languages(struct laz_mcp *mcp, struct laz_strv *names);
void mcp_describe_languages(struct laz_mcp *mcp, const struct laz_strv *names,
                            struct laz_buf *text);
/* Appends to the description of `execute` what is true of this server. */
void mcp_describe(struct laz_mcp *mcp, const struct laz_strv *languages, struct laz_buf *text);

/* ---- sessions.c ------------------------------------------------------------------------------ */

/* Opens a session for the client. Errors: as laz_session_open; LAZ_EREFUSED: it has too many. */
int mcp_session_open(struct laz_mcp *mcp, const char *runtime, struct mcp_session **session,
                     struct laz_error *err);
/* The session of a handle; NULL and a sentence. */
struct mcp_session *mcp_session_find(struct laz_mcp *mcp, const char *handle,
                                     struct laz_error *err);
/* Ends it: what it executes is answered in here. */
void mcp_session_free(struct mcp_session *session);
/* The own session of a connection for a runtime (NULL: the usual one), which is opened when there
 * is none. As mcp_session_open. */
int mcp_session_own(struct mcp_peer *peer, const char *runtime, struct mcp_session **session,
                    struct laz_error *err);
/* The same; NULL: there is none. */
struct mcp_session *mcp_session_find_own(const struct mcp_peer *peer, const char *runtime);
/* Ends those of a connection. */
void mcp_sessions_gone(struct laz_mcp *mcp, const struct mcp_peer *peer);
/* Gives it a fresh interpreter. As laz_session_open. */
int mcp_session_restart(struct mcp_session *session, struct laz_error *err);
/* May the client have one more? LAZ_EREFUSED. */
int mcp_session_may_be(const struct laz_mcp *mcp, struct laz_error *err);
/* The pool with the sessions that are ready for this runtime; NULL: there is none. */
struct laz_pool *mcp_session_ready(const struct laz_mcp *mcp, const char *runtime);
/* Ends those that have expired, and has one made that is ready. Returns when the next expires, as
 * mcp_requests_tend. */
uint64_t mcp_sessions_tend(struct laz_mcp *mcp);
void mcp_sessions_end(struct laz_mcp *mcp);

/* ---- executions.c ---------------------------------------------------------------------------- */

extern const struct laz_fields mcp_execute_fields;
void mcp_execute(struct laz_mcp *mcp, struct mcp_asked *asked, const char *arguments, size_t len);
/* The execution that a client waits for by this id; or (`is_answered`) that was answered by a
 * question under this id, and waits for its client. NULL: none. */
struct mcp_request *mcp_request_find(const struct mcp_peer *peer, const char *id, bool is_answered);
/* Ends it, and nobody is answered; outside of a step of the engine. */
void mcp_request_cancel(struct mcp_request *request);
/* Its client waits no more: one that has a handle goes on, another is cancelled. */
void mcp_request_forgo(struct mcp_request *request);
/* It was answered by a question, and waits for its client to come back. Returns its state. */
int64_t mcp_request_wait(struct mcp_request *request);
/* Goes on with what was answered by a question. */
void mcp_request_resume(struct mcp_asked *asked, const struct mcp_params *params);
/* The execution that goes on under this handle; or (handle NULL) the last one of a connection that
 * has a handle, or where `any` has not. NULL and a sentence. */
struct mcp_request *mcp_request_going_on(const struct mcp_asked *asked, const char *handle,
                                         bool any, struct laz_error *err);
/* Its client waits for it again, at most so long. Takes *asked. */
void mcp_request_go_on(struct mcp_request *request, struct mcp_asked *asked, uint64_t ms);
/* The same, and interrupts it. */
void mcp_request_interrupt(struct mcp_request *request, struct mcp_asked *asked, uint64_t ms);
/* Tells clients what there is, begins what was queued, gives up those that wait for their client
 * for too long, and the oldest of too many. Returns when the next is due, in milliseconds;
 * UINT64_MAX: there is none. */
uint64_t mcp_requests_tend(struct laz_mcp *mcp);
void mcp_requests_end(struct laz_mcp *mcp);
/* Nobody reads what goes to `out` any more, or the client is gone (NULL: not so): what was asked
 * from there is cancelled. */
void mcp_gone(struct laz_mcp *mcp, const struct mcp_out *out, const struct mcp_peer *peer);

/* ---- results.c ------------------------------------------------------------------------------- */

extern const struct laz_fields mcp_result_fields;
/* Answers a request by the result of its execution. What can be read later is added to `kept`, also
 * where the answer is an error: no memory. Any thread. */
void mcp_result_write(struct laz_mcp *mcp, const struct mcp_asked *asked,
                      const struct laz_result *result, struct mcp_resource_list *kept);

/* Answers by the output so far of an execution that has not ended, and how it goes on (`what`);
 * `handle`: where to ask for more, or NULL. */
void mcp_result_going_on(const struct mcp_asked *asked, const char *what, const char *handle,
                         const struct laz_buf *output);

/* ---- large_answers.c ------------------------------------------------------------------------- */

/* Answers by a result, which it takes, or by an error; or by a resource. What is large is made
 * beside the loop, takes *asked, and is sent when it is there. */
void mcp_answer_result(struct laz_mcp *mcp, struct mcp_asked *asked, struct laz_result *result,
                       const struct laz_error *err);
void mcp_answer_resource(struct laz_mcp *mcp, struct mcp_asked *asked,
                         struct mcp_resource *resource);
/* Nobody waits for answers that go there, or belong to this peer (NULL: not asked). */
void mcp_answers_gone(struct laz_mcp *mcp, const struct mcp_out *out, const struct mcp_peer *peer);

/* ---- resources.c ----------------------------------------------------------------------------- */

/* Adds a copy of what can be read later to a list; NULL: out of memory. Any thread. */
const struct mcp_resource *mcp_resource_make(struct laz_mcp *mcp, struct mcp_resource_list *list,
                                             const char *name, const char *type, const void *data,
                                             size_t len);
/* From now on they can be read, until newer ones take their place. */
void mcp_resources_keep(struct laz_mcp *mcp, struct mcp_resource_list *list);
/* The resource of a URI; NULL and a sentence. */
struct mcp_resource *mcp_resource_find(const struct laz_mcp *mcp, const char *uri,
                                       struct laz_error *err);
/* Answers by its content. Any thread. */
void mcp_resource_write(const struct mcp_asked *asked, const struct mcp_resource *resource);
/* No other answer is made of it. */
void mcp_resource_release(struct mcp_resource *resource);
void mcp_resources_list(struct mcp_asked *asked, const struct mcp_params *params);
void mcp_resources_templates(struct mcp_asked *asked, const struct mcp_params *params);
void mcp_resources_end(struct laz_mcp *mcp);

/* ---- http/, http_rules.c; http_none.c in place of them --------------------------------------- */

/* Listens for clients. Errors: see struct laz_mcp_options. */
int mcp_http_new(struct laz_mcp *mcp, const char *listen, const char *token_file,
                 struct mcp_http **http, struct laz_error *err);
const char *mcp_http_address(const struct mcp_http *http);
/* Handles what has come, outside of a step of the engine. */
void mcp_http_work(struct mcp_http *http);
/* Bytes that clients have not read. */
size_t mcp_http_unread(const struct mcp_http *http);
void mcp_http_free(struct mcp_http *http); /* NULL is allowed */

/* Says this header, NULL where it is missing, this text? One that a header cannot hold is there as
 * "=?base64?...?=". */
bool mcp_http_says(const char *header, const char *text);
bool mcp_http_is_local_origin(const char *origin);
/* A bit for a header that may be there once, because two that read it would take different ones; 0:
 * for any other. */
unsigned mcp_http_single(const char *name);
/* Is it this media type, with any parameters; does a list name it? */
bool mcp_http_is_type(const char *header, const char *type);
bool mcp_http_lists(const char *header, const char *type);
/* "Bearer TOKEN" with this token. */
bool mcp_http_is_token(const char *authorization, const char *token);
/* Takes the token of a file, or makes the file. LAZ_EREFUSED: others can read it. */
int mcp_http_token(const char *file, char token[LAZ_TOKEN_LEN + 1], struct laz_error *err);

/* ---- approvals.c ----------------------------------------------------------------------------- */

/* Has the client decide on approvals. Errors: as laz_engine_set_approver. */
int mcp_approvals_begin(struct laz_mcp *mcp, struct laz_error *err);
/* A client answers a request of this server, or what it sent is not an answer (`message` NULL). */
void mcp_approval_answer(const struct mcp_peer *peer, const char *id,
                         const struct mcp_message *message);
/* Somebody came back to this request, with answers (NULL: none). If questions are open, it is
 * answered by these. */
void mcp_approvals_take(struct mcp_request *request, const char *responses, size_t len);
/* A call waits for this request again: asks what came up while none did. */
void mcp_approvals_go_on(struct mcp_request *request);
void mcp_approvals_end(struct laz_mcp *mcp);

#endif
