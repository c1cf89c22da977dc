/* SPDX-License-Identifier: MIT */
/* cluster.h - what this room offers: places on other machines for those who speak the host
 * protocol, and such places of this one.
 *
 * All of it is for the thread of a loop. */
#ifndef LAZ_CLUSTER_CLUSTER_H
#define LAZ_CLUSTER_CLUSTER_H

#include "base/log.h"
#include "loop/loop.h"
#include "plugin/plugin.h"
#include "settings/settings.h"
#include "token/token.h"

/* ---- worker.c: places of this machine -------------------------------------------------------- */

struct laz_worker;

struct laz_worker_guest {
    const char *identity; /* by its token, else its name on the bus */
    struct laz_quota quota;
    int64_t expires_s; /* 0: never */
    int fd;            /* lines of the host protocol, both ways; the callee's */
};

struct laz_worker_owner {
    void *user;
    void (*arrived)(void *user, const struct laz_worker_guest *guest);
    /* It has drained: nobody is there any more, and nobody comes. */
    void (*drained)(void *user);
    /* The bus does not let it be a worker. */
    void (*failed)(void *user, const struct laz_error *why);
};

/* Offers cluster.places of cluster.pool. Errors: of laz_bus_open; LAZ_ECONFIG. */
int laz_worker_new(struct laz_loop *loop, const struct laz_log *log, struct laz_registry *registry,
                   const struct laz_settings_values *values, const struct laz_worker_owner *owner,
                   struct laz_worker **worker, struct laz_error *err);
/* Gives no place any more; who is there may stay. */
void laz_worker_drain(struct laz_worker *worker);
const char *laz_worker_name(const struct laz_worker *worker);
void laz_worker_free(struct laz_worker *worker); /* NULL is allowed; callers are told */

/* ---- caller.c: places of other machines ------------------------------------------------------ */

struct laz_fars; /* those by one connection to the bus */
struct laz_far;  /* a place of another machine, or the question for one */

/* Errors: of laz_bus_open; of the token of the settings. */
int laz_fars_new(struct laz_loop *loop, const struct laz_log *log, struct laz_registry *registry,
                 const struct laz_settings_values *values, struct laz_fars **caller,
                 struct laz_error *err);
void laz_fars_free(struct laz_fars *caller); /* NULL is allowed; not in a callback */

struct laz_far_owner {
    void *user;
    /* A worker has given it: between which descriptors lines pass, as of laz_stream_new; NULL: by
     * `line` and laz_far_write. */
    int (*descriptors)(void *user, int *in, int *out, struct laz_error *err);
    /* Of a place with descriptors; as of a stream. */
    bool (*passes)(void *user, bool to_peer, const char *line, size_t len);
    /* Likewise; NULL: the place is given up with the end of the input. */
    bool (*input_ended)(void *user);
    /* Of one without: a line has come. False: that breaks the protocol, and ends the link. */
    bool (*line)(void *user, const char *line, size_t len);
    /* The link has ended, and lines to this side may still be said (laz_far_say). NULL is allowed.
     */
    void (*ending)(void *user, const struct laz_error *why);
    /* It is over, once, and freed: why->code 0: as it should; LAZ_EBUSY, LAZ_ETIMEOUT (no worker
     * has a place, or has answered), LAZ_EREFUSED, LAZ_ECLOSED (the worker was lost). */
    void (*ended)(void *user, const struct laz_error *why);
};

/* Asks for a place of cluster.pool, until cluster.open_timeout. LAZ_ENOMEM, LAZ_EOS. */
int laz_far_open(struct laz_fars *caller, const struct laz_far_owner *owner, struct laz_far **far,
                 struct laz_error *err);
/* A line for the worker, without a newline. LAZ_ECLOSED, LAZ_ETOOBIG, LAZ_ENOMEM. */
int laz_far_write(struct laz_far *far, const char *line, size_t len);
/* Bytes that were written and that the worker has not taken yet. */
size_t laz_far_unread(const struct laz_far *far);
/* A line to this side that no worker has sent. */
void laz_far_say(struct laz_far *far, const char *line, size_t len);
const char *laz_far_worker(const struct laz_far *far); /* "": none has given it; NULL: "" */
/* Nothing more is said; what waits is sent, and then the link ends, of which the owner hears. */
void laz_far_finish(struct laz_far *far);
/* It is not wanted any more; its worker is told. The owner hears nothing more. NULL is allowed. */
void laz_far_close(struct laz_far *far);

/* ---- operator.c: who is there ---------------------------------------------------------------- */

struct laz_operator;

struct laz_worker_seen { /* by its last heartbeat */
    char name[65], version[33], pool[65], tenant[65];
    uint64_t places, used;    /* callers that it can have, and has */
    uint64_t opened, refused; /* since it was started */
    bool is_draining;
    /* By the operator's clock: the last word, and from a question to its answer. */
    uint64_t heard_ms;
    uint64_t latency_us; /* 0: not known */
    /* The question that waits for its answer; n 0: none was sent. */
    struct {
        uint64_t n, sent_us;
    } ping;
};

/* Errors: of laz_bus_open. */
int laz_operator_new(const struct laz_log *log, struct laz_registry *registry,
                     const struct laz_settings_values *values, struct laz_operator **op,
                     struct laz_error *err);
void laz_operator_free(struct laz_operator *op); /* NULL is allowed */
/* Listens for so many milliseconds; each worker says something once a second, and is asked to say
 * something at once, which is its latency. LAZ_EREFUSED: the bus does not let it listen. */
int laz_operator_listen(struct laz_operator *op, uint64_t ms, struct laz_error *err);
/* Those that were heard of lately. Borrowed until the next call. */
size_t laz_operator_workers(struct laz_operator *op, const struct laz_worker_seen **workers);
/* Tells a worker to drain; its heartbeats say when it does. LAZ_EINVAL, of laz_bus_send. */
int laz_operator_drain(struct laz_operator *op, const char *worker, struct laz_error *err);

#endif
