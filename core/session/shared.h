/* SPDX-License-Identifier: MIT */
/* shared.h - what the sessions and pools of an engine share, and what other rooms call of them; of
 * results: result.h. */
#ifndef LAZ_SESSION_SHARED_H
#define LAZ_SESSION_SHARED_H

#include "base/buf.h"
#include "base/trace.h"
#include "box/box.h"
#include "loop/driver.h"
#include "tool/tool.h"

#include <lazaret/lazaret.h>

struct laz_audit;
struct laz_looks;
struct laz_once;
struct laz_pool_feed;
struct laz_session_listener;

struct laz_session_shared {
    struct laz_driver *driver;
    const struct laz_settings *settings;
    const struct laz_settings_values *values;
    struct laz_registry *registry;
    struct laz_box_shared *boxes;
    struct laz_tools *tools;
    struct laz_audit *audit; /* NULL: none */
    atomic_uint *pooled;     /* sessions of pools that are not closed, of all engines of a group */
    const struct laz_session_listener *listener;
    struct laz_session *sessions;
    struct laz_pool *pools;
    struct laz_once *onces; /* laz_sessions_execute: not reported yet */
    struct laz_looks
        *looks;       /* made with the first session; whoever frees the loop frees it before */
    unsigned running; /* number of executions that run in boxes */
    unsigned processors;
};

/* Becomes the owner of the driver, and opens the audit log that the settings name, if any, unless
 * there is one already. Needs `driver`, `values`, `boxes`, `tools` and `pooled`; the caller frees
 * `audit`, after a failure too. Errors: as laz_audit_new; LAZ_ECONFIG if the settings show the log
 * to the code. */
int laz_sessions_init(struct laz_session_shared *shared, struct laz_error *err);

/* Implements laz_session_open. */
int laz_sessions_open(struct laz_session_shared *shared, const struct laz_session_options *options,
                      struct laz_session **session, struct laz_error *err);
/* Does what the first session of the settings' runtime depends on, up to the start of its process:
 * the runtime and its options, the hook, the box as it would be planned, the backend, which is
 * tried. Errors: as laz_session_open; where mistakes are collected (laz_settings_collect), it goes
 * on after each that others do not depend on. */
int laz_sessions_inspect(struct laz_session_shared *shared, struct laz_error *err);
/* As laz_session_execute, of a session that executes nothing else: after the result its interpreter
 * ends as at the end of a script, in the time that the clocks have left, and what it writes until
 * then belongs to the result. */
int laz_session_execute_last(struct laz_session *session, const char *code, size_t len,
                             const struct laz_execute_options *options, struct laz_result **result,
                             struct laz_error *err);
/* Implements laz_execute_async. *session (NULL: not asked for): the one that it has made, borrowed
 * until this thread drives the engine again; NULL: none. */
int laz_sessions_execute(struct laz_session_shared *shared,
                         const struct laz_session_options *options, const char *code, size_t len,
                         const struct laz_execute_options *execute_options,
                         void (*done)(void *user, struct laz_result *result,
                                      const struct laz_error *err),
                         void *user, struct laz_session **session, struct laz_error *err);
/* Options of an execution that begins after its caller has returned. */
struct laz_execute_copy {
    struct laz_execute_options options; /* what they point to is in here; it may not be moved */
    struct laz_strv argv;
    char *cwd, *directory;
    struct laz_trace_copy trace;
};
/* Checks and copies them (NULL: there are none). What is copied is freed by laz_execute_copy_fini,
 * after an error too. Errors: LAZ_EINVAL, LAZ_EREFUSED, LAZ_ENOMEM. */
int laz_execute_copy_take(struct laz_execute_copy *copy, const struct laz_execute_options *given,
                          struct laz_error *err);
void laz_execute_copy_fini(struct laz_execute_copy *copy);
/* Implements laz_pool_new. `feed`: of callers that wait elsewhere (below), and then its sessions
 * are not counted here; or NULL. */
int laz_pools_open(struct laz_session_shared *shared, const struct laz_pool_options *options,
                   const struct laz_pool_feed *feed, struct laz_pool **pool, struct laz_error *err);
/* Closes and frees the pools, then the sessions. Before that pending callbacks are called:
 * executions are cancelled, and callers that wait for a session of a pool get LAZ_ECLOSED. */
void laz_sessions_free(struct laz_session_shared *shared);
/* After that: the threads that look at boxes (looks.h). Waits for them no longer than a second: one
 * that the kernel holds ends by itself, and the last one frees what they share. NULL is allowed. */
void laz_looks_free(struct laz_looks *looks);

/* ---- pools whose callers wait elsewhere -------------------------------------------------------
 */

/* The part of a pool that is in one engine, for a queue of callers that all parts serve. */
struct laz_pool_feed {
    void *user;
    /* Between two turns of the loop: something may have changed. May use the pool, and may end its
     * sessions, but not free it. */
    void (*changed)(void *user);
};

/* The slots of a pool, or of a part. */
struct laz_pool_view {
    bool closed;
    unsigned total, busy, idle, starting, failed; /* the others have ended, or are to be filled */
    const struct laz_error *why;                  /* of one that has failed; borrowed */
};

/* Thread of the loop: has `changed` called; makes slots that have failed empty, to be filled. */
void laz_pool_look(struct laz_pool *pool);
void laz_pool_retry(struct laz_pool *pool);
void laz_pool_count(const struct laz_pool *pool, struct laz_pool_view *view);
/* A session that is ready, and runs for all that can be seen; NULL: there is none. Borrowed until
 * it is handed out, which changes nothing else. It is given back when it executes nothing. */
struct laz_session *laz_pool_ready(struct laz_pool *pool);
void laz_pool_hand_out(struct laz_session *session);
void laz_pool_take_back(struct laz_session *session);

/* Any thread, pool_answer.c. What a caller gets while no session is ready; 0: it continues to wait,
 * for an event that will come. `ended`: 0: it waits; LAZ_EBUSY: its time has passed;
 * LAZ_ECANCELLED. `wait_ms`: as in laz_pool_acquire. */
int laz_pool_answer(const struct laz_pool_view *view, int ended, uint64_t wait_ms,
                    struct laz_error *err);
int laz_pool_is_closed(struct laz_error *err);
int laz_pool_is_full(unsigned waiting, struct laz_error *err);
/* Counts the sessions of a new pool in. LAZ_EINVAL: not 1 to 100; LAZ_EREFUSED: there would be more
 * than `most` (0: no limit). */
int laz_pool_count_in(atomic_uint *pooled, unsigned n, uint64_t most, struct laz_error *err);

/* The user of its box; LAZ_SPAWN_SAME_ID: none of its own. */
uint32_t laz_session_uid(const struct laz_session *session);

#endif
