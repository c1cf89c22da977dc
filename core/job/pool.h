/* SPDX-License-Identifier: MIT */
/* pool.h - what jobs, the engine and groups call of a pool; the public functions are in
 * lazaret/lazaret.h. Unless it says otherwise, a function is for the thread that holds the loop. */
#ifndef LAZ_JOB_POOL_H
#define LAZ_JOB_POOL_H

#include "session/session.h"

struct laz_pool;

/* The part of a pool that is in one engine, for a queue of callers that all parts serve. */
struct laz_pool_feed {
    void *user;
    /* Between two turns of the loop: something may have changed. May use the pool, and may end its
     * sessions, but not free it. */
    void (*changed)(void *user);
};

/* Implements laz_pool_new. `feed`: of callers that wait elsewhere, and then its sessions are not
 * counted here; or NULL. */
int laz_pools_open(struct laz_session_shared *shared, const struct laz_pool_options *options,
                   const struct laz_pool_feed *feed, struct laz_pool **pool, struct laz_error *err);
/* Callers that wait for a session get LAZ_ECANCELLED. */
void laz_pools_cancel(struct laz_session_shared *shared);
/* The engine is being freed: ends the pools and tells their callers; then frees them. */
void laz_pools_end(struct laz_session_shared *shared);
void laz_pools_free(struct laz_session_shared *shared);

/* ---- sessions of a pool ---------------------------------------------------------------------- */

/* A session that is ready, and runs for all that can be seen; NULL: there is none. Borrowed until
 * it is handed out, which changes nothing else. */
struct laz_session *laz_pool_ready(struct laz_pool *pool);
/* The same for one who has not waited: NULL also where others do. */
struct laz_session *laz_pool_next(struct laz_pool *pool);
void laz_pool_hand_out(struct laz_session *session);
/* It executes nothing. It goes where it `ends`, with pool.reset, and where it does not run. */
void laz_pool_give_back(struct laz_session *session, bool ends);
/* Takes one that is ready out of the pool, which starts another; the caller's. NULL: there is none.
 */
struct laz_session *laz_pool_take(struct laz_pool *pool);

/* Implements laz_pool_acquire_async; *wait: for laz_pool_forgo, until `got` is called. */
int laz_pool_wait(struct laz_pool *pool, uint64_t wait_ms,
                  void (*got)(void *user, struct laz_session *session, const struct laz_error *err),
                  void *user, void **wait, struct laz_error *err);
/* `got` is called in here, with LAZ_ECANCELLED. */
void laz_pool_forgo(void *wait);
/* A function in progress does not need it any more (pool->holds). */
void laz_pool_let_go(struct laz_pool *pool);

/* ---- pools whose callers wait elsewhere ------------------------------------------------------ */

/* The slots of a pool, or of a part. */
struct laz_pool_view {
    bool closed;
    unsigned total, busy, idle, starting, failed; /* the others have ended, or are to be filled */
    const struct laz_error *why;                  /* of one that has failed; borrowed */
};

/* Has `changed` called; makes slots that have failed empty, to be filled. */
void laz_pool_look(struct laz_pool *pool);
void laz_pool_retry(struct laz_pool *pool);
void laz_pool_count(const struct laz_pool *pool, struct laz_pool_view *view);

/* Any thread, pool_answer.c. What a caller gets while no session is ready; 0: it continues to wait,
 * for an event that will come. `ended`: 0: it waits; LAZ_EBUSY: its time has passed;
 * LAZ_ECANCELLED. `wait_ms`: as in laz_pool_acquire. */
int laz_pool_answer(const struct laz_pool_view *view, int ended, uint64_t wait_ms,
                    struct laz_error *err);
/* What laz_pool_status tells of these slots. */
void laz_pool_fill_status(const struct laz_pool_view *view, unsigned waiting,
                          struct laz_pool_status *status);
int laz_pool_is_closed(struct laz_error *err);
int laz_pool_is_full(unsigned waiting, struct laz_error *err);
/* Counts the sessions of a new pool in. LAZ_EINVAL: not 1 to 100; LAZ_EREFUSED: there would be more
 * than `most` (0: no limit). */
int laz_pool_count_in(atomic_uint *pooled, unsigned n, uint64_t most, struct laz_error *err);

#endif
