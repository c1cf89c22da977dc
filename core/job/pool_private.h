/* SPDX-License-Identifier: MIT */
/* pool_private.h - a pool as the files that work on it see it: pool.c, which has the states of its
 * slots, pool_status.c and job_place_pool.c. */
#ifndef LAZ_JOB_POOL_PRIVATE_H
#define LAZ_JOB_POOL_PRIVATE_H

#include "job/job.h"
#include "job/pool.h"

enum laz_slot_state {
    LAZ_SLOT_EMPTY,
    LAZ_SLOT_STARTING,
    LAZ_SLOT_READY,
    LAZ_SLOT_BUSY,
    LAZ_SLOT_ENDED,
    LAZ_SLOT_FAILED,
    LAZ_SLOT_STATES,
};

/* A slot for a session. */
struct laz_pool_member {
    struct laz_pool *pool;
    struct laz_session_owner owner;
    struct laz_session *session; /* NULL: none */
    bool is_busy;                /* a caller holds the session */
    bool is_used;                /* a caller holds the session, or has held it */
    bool is_doubtful;            /* the previous session ended before a caller used it */
    struct laz_error why;        /* why the slot has failed; code 0: it has not */
};

struct pool_waiter; /* pool.c */

struct laz_pool {
    struct laz_session_shared *shared;
    struct laz_pool *next;
    struct laz_stir stir;
    struct laz_kept *kept; /* what the options point to */
    struct laz_session_options session_options;
    bool reset, closed;
    struct laz_pool_feed feed; /* callers that wait elsewhere; changed NULL: none */
    unsigned holds; /* functions in progress that need the pool: it is freed after the last */
    bool is_freed;
    struct laz_timer *retry;
    uint64_t pause_ms; /* last pause after a failure; 0: none since a session has started */
    struct pool_waiter *first, **last;
    unsigned n_waiting;
    unsigned n;
    struct laz_pool_member *members;
    char description[128];
};

/* The number of slots in each state. */
struct laz_pool_counts {
    unsigned of[LAZ_SLOT_STATES];
};

enum laz_slot_state laz_slot_state(const struct laz_pool_member *member);
struct laz_pool_counts laz_pool_counts(const struct laz_pool *pool);
/* The member whose session it is; NULL: it is not one of a pool. */
struct laz_pool_member *laz_pool_member(const struct laz_session *session);

#endif
