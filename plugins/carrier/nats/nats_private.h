/* SPDX-License-Identifier: MIT */
/* nats_private.h - the carrier `nats`: what its files share.
 *
 * A connection has one thread of its own, which connects, sends, and begins and ends subscriptions,
 * in the order in which it was asked to: so no operation waits, whatever the server does.  Messages
 * come on the delivery threads of libnats, what goes wrong on another one of it.  A connection that
 * is lost is not mended by libnats: the thread takes it down and makes a new one. So nothing that
 * was sent meanwhile arrives late, each server is checked as the first one was, and a refusal does
 * not end the attempts. */
#ifndef LAZ_CARRIER_NATS_PRIVATE_H
#define LAZ_CARRIER_NATS_PRIVATE_H

#include <lazaret/carrier.h>

#include <nats/nats.h>

#include <pthread.h>
#include <stdbool.h>

/* ---- options.c ------------------------------------------------------------------------------- */

#define NATS_SERVERS 16
#define NATS_HOST    255

struct nats_server {
    char *url;
    char host[NATS_HOST + 1];
    bool is_tls;
};

struct nats_config {
    char *url, *name, *user, *password, *token, *credentials, *ca, *certificate, *key, *server_name;
    int64_t connect_timeout;
    bool insecure;
    struct nats_server servers[NATS_SERVERS];
    size_t n_servers;
};

/* The table of the plugin. */
extern const struct laz_option nats_options[];
/* Reads and checks them. Errors: LAZ_ECONFIG, LAZ_EINVAL, LAZ_ENOMEM; the caller frees *config. */
int nats_config_read(const struct laz_json_api *json, const char *text, size_t len,
                     struct nats_config *config, struct laz_error *err);
void nats_config_free(struct nats_config *config);
/* What libnats is told to connect to a server. LAZ_ECONFIG: a file cannot be used; LAZ_ENOMEM. */
int nats_config_options(const struct nats_config *config, const struct nats_server *server,
                        natsOptions **options, struct laz_error *err);
/* Appends the words of libnats on its last failure, in this thread, to an error. */
/* The last words of libnats, without the place in its sources: "(conn.c:1905): ...". */
const char *nats_words(natsStatus status);
int nats_fail(struct laz_error *err, natsStatus status, const char *what);
/* The subject of an error of the server that says what is not permitted: `what` is LAZ_CARRIER_*.
 * False: it says something else. */
bool nats_violation(const char *text, uint32_t *what, char subject[LAZ_CARRIER_SUBJECT + 1]);
/* Tokens with dots between them; the last one may be ">" in a subscription. */
bool nats_is_subject(const char *subject, bool may_be_open);

/* ---- nats.c, connection.c -------------------------------------------------------------------- */

enum nats_kind { NATS_SEND, NATS_BEGIN, NATS_END };

/* What the thread has to do. */
struct nats_task {
    struct nats_task *next;
    enum nats_kind kind;
    struct laz_carrier_subscription *sub; /* NATS_BEGIN, NATS_END: it is in there */
    size_t reply, data, len;              /* NATS_SEND: where they are in `text`; reply 0: none */
    char text[];                          /* the subject, and a NUL */
};

struct laz_carrier_subscription {
    struct nats_state *state;
    struct nats_task begin, end;
    char *subject, *queue;
    laz_carrier_received received;
    void *user;
    void (*drained)(void *user);
    void *drained_user;
    struct laz_carrier_subscription *next_done; /* the lock */
    /* Of the thread: */
    struct laz_carrier_subscription *next;
    natsSubscription *nats; /* NULL: the server does not know of it */
    bool is_ending;
};

struct nats_state {
    const struct laz_carrier_services *services;
    struct nats_config config;
    pthread_t thread;
    pthread_mutex_t lock; /* of all to the next comment; not held while the host is called */
    pthread_cond_t changed;
    struct nats_task *first, **last;
    size_t waiting;                        /* bytes of messages that were taken and not sent */
    struct laz_carrier_subscription *done; /* nothing more comes from these */
    unsigned running;                      /* calls of the host */
    int64_t most;                          /* bytes of a message */
    bool is_connected, is_lost, is_up;     /* is_up: libnats has yet to say that it is down */
    bool has_tried;                        /* to connect, for the first time, with this result: */
    struct laz_error err;
    bool is_closing, is_gone; /* is_gone: the host is not called any more */
    bool is_done, is_left;    /* the thread has ended; nobody waits for it */
    /* Of the thread: */
    natsConnection *nats;
    struct laz_carrier_subscription *subs;
    unsigned attached; /* of them: the server knows of them */
    size_t server;     /* the next one to try */
    unsigned attempts;
    int64_t closing_ms; /* when it has heard of is_closing; 0: not yet */
    bool is_leaking;    /* libnats may still have pointers to subscriptions */
};

/* What the thread runs. */
void *nats_main(void *state);
/* With the thread ended, or never begun. */
void nats_state_free(struct nats_state *state);
/* Before and after a call of the host. False: it must not be called. */
bool nats_enter(struct nats_state *state);
void nats_leave(struct nats_state *state);
void nats_log(struct nats_state *state, uint32_t level, const char *text);
int64_t nats_clock_ms(void);

#endif
