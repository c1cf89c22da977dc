/* SPDX-License-Identifier: MIT */
/* serve_private.h - what the files of core/serve share: clients, their sessions, requests and
 * calls. Private to this directory, and tests.
 *
 * A server is one engine and its clients.  Those of several engines are a list, whose first one
 * accepts and owns the others.  Of a server all but the callbacks of tools runs on one thread, that
 * of its loop; what others may touch is atomic. */
#ifndef LAZ_SERVE_SERVE_PRIVATE_H
#define LAZ_SERVE_SERVE_PRIVATE_H

#include "base/container.h"
#include "engine/engine.h"
#include "job/job.h"
#include "lines/lines.h"
#include "loop/loop.h"
#include "host/message.h"
#include "serve/serve.h"
#include "telemetry/metrics.h"
#include "token/quota.h"

#include <pthread.h>
#include <stdatomic.h>

struct laz_input;  /* os/input.h */
struct laz_worker; /* cluster/cluster.h */

#define SERVE_CLIENTS 64 /* of this user, of all engines */

/* Bounds of one client. */
#define SERVE_REQUESTS    1024              /* executions that were not answered */
#define SERVE_FILES       64                /* of an execution */
#define SERVE_CREDENTIALS 64                /* of a session */
#define SERVE_LIST        ((size_t)1 << 20) /* bytes of a list of tools */
#define SERVE_N_TOOLS     1000              /* tools of a client, and of one of its sessions */
#define SERVE_LISTS       64                /* lists of tools for all sessions of a client */
#define SERVE_QUIET       ((size_t)8 << 20) /* bytes unread: no requests are read, output is dropped */
#define SERVE_UNREAD      ((size_t)256 << 20) /* bytes unread: the client is given up */
/* The same of all connections of an identity together: the one that grows is given up, if it has a
 * part in it that is worth to be taken. */
#define SERVE_UNREAD_OF_ONE SERVE_UNREAD
#define SERVE_UNREAD_PART   ((size_t)1 << 20)

/* Who a client is. Of this user: all is 0. */
struct serve_peer {
    struct laz_identity *identity; /* of another machine */
    int64_t expires_s;             /* of what has shown that, seconds since 1970; 0: never */
};

/* A network list of a client. */
struct serve_network {
    struct laz_strv allow;
    bool is_given; /* false: that of the settings */
};

/* Credentials of a client: names, and JSON objects with values. */
struct serve_credentials {
    struct laz_strv items;
    bool is_given; /* false: those of the settings */
};

/* A session, or a pool, of a client. */
struct serve_session {
    struct serve_session *next;
    struct serve_client *client;
    int64_t number;
    struct laz_session *session; /* or */
    struct laz_pool *pool;
    size_t most;   /* sessions that it has at most */
    char *runtime; /* this and the next ones: for a restart */
    bool warm;
    struct serve_network first, network; /* with which it was opened; that was set last */
    struct serve_credentials credentials;
    struct serve_tool_set *tools;  /* of its own; NULL: none */
    struct serve_request *running; /* in a session */
    struct serve_file {            /* of which more parts are to come */
        char *name;                /* NULL: there is none */
        int64_t parts;             /* that have come */
        struct laz_buf content;
    } file;
};

struct serve_answer; /* answers.c */

/* An execution. */
struct serve_request {
    struct serve_request *next;
    struct laz_server *server;
    struct serve_client *client;
    int64_t id;
    struct serve_session *in; /* NULL: in a session that is used once */
    bool is_once;             /* it counts as one of the sessions of the client */
    bool approves;            /* its client decides on approvals */
    bool sends_artifacts;
    bool is_put;                 /* a file, and no code */
    struct serve_answer *answer; /* that is being made; NULL: none */
    struct laz_job *job;         /* NULL: it has ended */
    size_t bytes;                /* of its code and files */
    struct laz_buf tail[2];      /* of each stream: the beginning of a character */
    uint64_t dropped;            /* bytes of output that were not sent, since the last that were */
};

/* A call of a tool, or the question whether it may be called, from the callback to its end. */
struct serve_call {
    struct serve_call *next;
    bool is_approval;
    struct laz_post post; /* to the loop */
    struct laz_server *server;
    struct serve_request *request; /* valid while the reply is not cancelled */
    struct serve_client *client;   /* once the loop has it */
    int64_t number, id;            /* of it, and of its request */
    struct laz_reply *reply;
    char *tool, *args, *session;
    size_t args_len;
};

/* Tools as the library takes them. */
struct serve_tool_set {
    struct serve_tool_set *next;
    struct laz_field_list list; /* struct serve_tool */
    char *json;                 /* into which the list points */
    struct laz_strv texts;      /* what the declarations have of it */
    struct laz_tool *tools;
    struct laz_session_tool *items;
    size_t n;
};

struct serve_client {
    struct serve_client *next;
    struct laz_server *server;
    struct laz_lines lines;
    struct serve_peer peer;
    struct laz_timer *expiry; /* of a peer that has one */
    bool has_expired;
    struct serve_session *sessions;
    struct serve_call *calls;
    struct serve_tool_set *tools; /* of the sessions that it opens; not of standard input */
    size_t n_lists, n_tools, n_sessions, n_requests;
    unsigned n_answers; /* that are being made */
    bool is_leaving;    /* nothing is made beside the loop any more */
    size_t bytes;       /* of the code and files of its requests */
    size_t unread;      /* bytes that were counted for its identity */
    int64_t last_number;
    struct laz_error why; /* it sent what is not a message */
};

struct laz_server {
    struct laz_server *first, *next; /* of the list; NULL: it is the last one */
    struct laz_engine *engine;
    struct laz_loop *loop; /* of the engine */
    struct laz_io *listener_io;
    struct laz_timer *again; /* accepts connections again, after a shortage */
    struct laz_rest rest;
    int listener;
    char *path;
    struct laz_input *input;
    bool is_stdio;
    bool is_over; /* the client on standard input has ended */
    atomic_bool is_stopped, is_leaving;
    struct serve_client *clients;
    atomic_uint n_clients; /* with those that are on their way to it; only the first one adds */
    struct serve_request *requests; /* of all clients */
    struct laz_error why;           /* it ended */
    struct laz_endpoint *endpoint;  /* of the first one; NULL: none */
    atomic_uint pooled;             /* of the first one, as the next: sessions of all pools */
    struct laz_identities identities;
    uint64_t most_unread;                     /* of the first one, as the next: of an identity */
    struct serve_gate *gate;                  /* of clients that come by TLS; NULL: none do */
    struct laz_worker *worker;                /* the same of a bus */
    void (*leaves)(struct laz_server *first); /* what it does when it is told to leave, each time;
                                                 NULL: it stops */
    struct laz_timer *leave;                  /* until it stops; NULL: it was not told to leave */
    pthread_t thread;                         /* of the others, as all below */
    bool has_thread;
    pthread_mutex_t lock; /* held to tell it that it ends */
    struct laz_post end;  /* the last post of the first one */
};

/* ---- server.c: one engine and its clients ---------------------------------------------------- */

/* Makes the engine, the one of this number of `n`, and what belongs to it. Errors: of
 * laz_server_new, after which serve_server_end is called all the same. */
int serve_server_begin(struct laz_server *server, const struct laz_server_options *options,
                       unsigned number, unsigned n, struct laz_error *err);
int serve_server_take_stdio(struct laz_server *server, struct laz_error *err);
/* Ends all that its clients have opened, and its engine. */
void serve_server_end(struct laz_server *server);

/* ---- accept.c: who connects ------------------------------------------------------------------ */

/* Gives a client to one of the servers, or tells it why not; takes the descriptor, and the identity
 * of its peer. */
void serve_accept_place(struct laz_server *first, int fd, const struct serve_peer *peer);
/* Has the first server listen, and clients placed on all. Errors: of laz_server_new. */
int serve_accept_begin(struct laz_server *first, const char *path, struct laz_error *err);
/* Nobody is placed any more. */
void serve_accept_end(struct laz_server *first);

/* ---- gate.c: clients of other machines ------------------------------------------------------- */

/* Has a gate accept clients by TLS at HOST:PORT. Errors: of laz_server_new, after which
 * serve_gate_end is called all the same. */
int serve_gate_begin(struct laz_server *first, const char *address, struct laz_error *err);
const char *serve_gate_address(const struct laz_server *first); /* "tls://...", borrowed */
void serve_gate_end(struct laz_server *first);

/* ---- worker.c: clients by a bus -------------------------------------------------------------- */

/* Offers places, as [cluster] says. Errors: of laz_worker_new. */
int serve_worker_begin(struct laz_server *first, struct laz_error *err);
void serve_worker_end(struct laz_server *first);

/* ---- client.c: connections ------------------------------------------------------------------- */

/* Adds a client; takes the descriptors where they are sockets that were accepted, and the identity
 * of its peer. */
int serve_client_new(struct laz_server *server, int in, int out, const struct serve_peer *peer,
                     struct laz_error *err);
/* The name of its identity; NULL: it is of this user. */
const char *serve_client_identity(const struct serve_client *client);
/* Uses one request of what the identity of the client has. LAZ_EBUSY: it has to wait. */
int serve_client_may_ask(const struct serve_client *client, struct laz_error *err);
/* May it execute something, by the CPU time that it has used? LAZ_EBUSY. */
int serve_client_may_execute(const struct serve_client *client, struct laz_error *err);
void serve_client_has_executed(const struct serve_client *client, const struct laz_result *result);
/* An idle session of it is about to end: threads of its code have used CPU time since its last
 * result. */
void serve_client_leaves_session(const struct serve_client *client,
                                 const struct laz_session *session);
/* Handles one line of each client that has one; false: no client had any. */
bool serve_clients_work(struct laz_server *server);
/* Frees clients that have gone. */
void serve_clients_sweep(struct laz_server *server);
/* Ends all that a client has opened, and frees it. */
void serve_client_free(struct serve_client *client);

/* ---- requests.c: what clients ask for -------------------------------------------------------- */

void serve_request(struct serve_client *client, enum serve_message_type type,
                   const struct serve_message *message);
/* Ends what the client has opened; what runs is cancelled and answered in here. */
void serve_sessions_end(struct serve_client *client);

/* ---- answers.c: what is sent ----------------------------------------------------------------- */

/* What a client has not read has become more, or less: counts that for its identity. Gives it up
 * where that has too much. */
void serve_count_unread(struct serve_client *client);
/* Sends a message: at once, or when the client reads. */
void serve_send(struct serve_client *client, enum serve_message_type type,
                const struct serve_message *message);
/* Sends that a request has failed (id 0: a line that was none). */
void serve_send_failed(struct serve_client *client, int64_t id, const struct laz_error *err);
/* Answers an execution by its result, which it takes, or by an error. False: the answer is large,
 * and being made beside the loop; the request is freed when it is there. */
bool serve_answer(struct serve_request *request, struct laz_result *result,
                  const struct laz_error *err);
/* Nobody waits for the answer that is being made; frees the request. */
void serve_answer_drop(struct serve_request *request);

/* ---- sessions.c: what clients have open ---------------------------------------------------------
 */

/* The session, or the pool, of the client that the message names; NULL with an error. */
struct serve_session *serve_session_find(struct serve_client *client,
                                         const struct serve_message *message,
                                         struct laz_error *err);
/* LAZ_EBUSY, and what is in progress in the session. */
int serve_session_is_idle(const struct serve_session *session, struct laz_error *err);
/* An execution of the client that was not answered; NULL: it has none with this id. */
struct serve_request *serve_request_find(const struct serve_client *client, int64_t id);
/* Makes one, and counts it for its client; NULL: out of memory. */
struct serve_request *serve_request_new(struct serve_client *client, int64_t id);
void serve_request_free(struct serve_request *request);
/* Its session is free for others, and may go. */
void serve_request_forget_session(struct serve_request *request);
/* Counts so many sessions more of the client. LAZ_EREFUSED: it may not have them. */
int serve_sessions_count(struct serve_client *client, size_t more, struct laz_error *err);
void serve_sessions_uncount(struct serve_client *client, size_t n);

/* ---- files.c: files for sessions, and what they make ----------------------------------------- */

/* Takes a part of a file, which is whole unless message->more. Nothing of it is left after an
 * error. LAZ_EINVAL (the name), LAZ_EPROTO, LAZ_ETOOBIG (more than `max` bytes), LAZ_ENOMEM. */
int serve_file_take(struct serve_file *file, const struct serve_message *message, uint64_t max,
                    struct laz_error *err);
void serve_file_fini(struct serve_file *file);
/* The files of an `execute`, as the library takes them. serve_files_fini frees them, after an error
 * too. LAZ_EINVAL, LAZ_EPROTO, LAZ_ENOMEM. */
struct serve_files {
    struct laz_file *items;
    const struct laz_file **pointers;
    size_t n, bytes;
};
int serve_files_take(struct serve_files *files, const struct laz_field_list *given,
                     struct laz_error *err);
void serve_files_fini(struct serve_files *files);
/* Fills the message of the next part; *done: bytes of it so far; `text` holds the data. */
void serve_artifact_part(const struct laz_artifact *artifact, size_t *done, struct laz_buf *text,
                         struct serve_message *part);

/* ---- tools.c: tools of clients --------------------------------------------------------------- */

/* Reads a JSON list of tools. The caller frees *set. Errors: LAZ_EPROTO, LAZ_ENOMEM. */
int serve_tools_read(struct laz_server *server, const char *json, size_t len,
                     struct serve_tool_set **set, struct laz_error *err);
void serve_tools_free(struct serve_tool_set *set);
/* Adds them to the tools of the engine. Errors: as laz_engine_add_tool; those before the wrong one
 * are added. */
int serve_tools_share(struct laz_server *server, struct serve_tool_set *set, struct laz_error *err);
/* Has the clients decide on approvals. Errors: as laz_engine_set_approver. */
int serve_approvals_begin(struct laz_server *server, struct laz_error *err);
/* A client answers a call. */
void serve_call_answer(struct serve_client *client, const struct serve_message *message);
/* What it sent is not an answer: the call, where it says which, fails with that. */
void serve_call_refuse(struct serve_client *client, int64_t number, const struct laz_error *err);
/* The client has gone: its calls fail. */
void serve_calls_end(struct serve_client *client);

/* ---- network lists: network.c -----------------------------------------------------------------
 */

/* Takes a JSON list of rules (NULL: none is given) in place of what is there. Errors: LAZ_EINVAL,
 * LAZ_EPROTO, LAZ_ENOMEM, LAZ_EREFUSED (of another machine: more than the settings allow), and
 * nothing has changed. */
int serve_network_read(const struct serve_client *client, struct serve_network *network,
                       const char *json, size_t len, struct laz_error *err);
void serve_network_fini(struct serve_network *network);
/* For the options of a session, filled in *list; NULL: none is given. */
const struct laz_network_list *serve_network_list(const struct serve_network *network,
                                                  struct laz_network_list *list);
/* As laz_session_set_network, where one is given. */
int serve_network_set(struct laz_session *session, const struct serve_network *network,
                      struct laz_error *err);

/* ---- credentials.c ----------------------------------------------------------------------------
 */

/* Takes a JSON list (NULL: none is given) into *credentials, which nothing is in. Errors, without a
 * value: LAZ_EINVAL, LAZ_EREFUSED (of another machine: more than a name), LAZ_ENOMEM. */
int serve_credentials_read(const struct serve_client *client, struct serve_credentials *credentials,
                           const char *json, size_t len, struct laz_error *err);
void serve_credentials_fini(struct serve_credentials *credentials); /* overwrites them */
/* For the options of a session, filled in *list; NULL: none is given. */
const struct laz_credential_list *
serve_credentials_list(const struct serve_credentials *credentials,
                       struct laz_credential_list *list);

/* ---- answers.c: handlers of an execution, whose `user` is its request --------------------------
 */

void serve_request_output(void *user, int stream, const char *data, size_t len);
void serve_request_progress(void *user, const struct laz_execution_usage *usage);
/* Sends what waits for the rest of a character. */
void serve_request_output_ends(struct serve_request *request);

#endif
