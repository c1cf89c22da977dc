/* SPDX-License-Identifier: MIT */
/* job.h - what this room offers: jobs, the places where they run, the options of callers as data.
 *
 * A *job* is one piece of work, whoever asks for it: code that runs or is checked, a file that is
 * put.  It has a *place*, which yields a *seat*: one session, for as long as the job needs it.  In
 * it the files of the job are put, then its code runs, then the seat is released, and the job
 * reports. Nothing in a job knows where the session of a seat is.
 *
 *     place             yields                                       released
 *     a session         the one that its caller has                  it stays
 *     a fresh session   one that is made, or taken from a pool       it ends
 *     a pool            the first that is ready, after a wait        back into the pool
 *     a slot            the one that a group's queue was told of     back into the pool
 */
#ifndef LAZ_JOB_JOB_H
#define LAZ_JOB_JOB_H

#include "base/options.h"
#include "session/session.h"

#include <lazaret/lazaret.h>

struct laz_job;
struct laz_place_ops;

/* ---- options as data: job_options.c
 * -------------------------------------------------------------- */

/* A row for each member of the public structs. A new option of an execution is a member there and a
 * row here: then every function that executes has it, and it is copied, or refused to a remote
 * caller, everywhere alike. Their settings are struct laz_settings_values. */
extern const struct laz_members laz_execute_members; /* struct laz_execute_options */
extern const struct laz_members laz_session_members; /* struct laz_session_options */
extern const struct laz_members laz_pool_members;    /* struct laz_pool_options */

/* ---- places ---------------------------------------------------------------------------------- */

/* Where a job runs. */
struct laz_place {
    const struct laz_place_ops *ops;
    struct laz_session_shared *shared; /* of its engine */
    struct laz_session *session;       /* of the first, and the last of the functions below */
    struct laz_pool *pool;
    uint64_t wait_ms;
};

struct laz_place laz_place_session(struct laz_session *session);
/* `ready`: a pool, out of which a session is taken for good where one is ready; NULL: none. */
struct laz_place laz_place_fresh(struct laz_session_shared *shared, struct laz_pool *ready);
/* `wait_ms`: as in laz_pool_acquire. */
struct laz_place laz_place_pool(struct laz_pool *pool, uint64_t wait_ms);
/* A session that was handed out (laz_pool_hand_out). */
struct laz_place laz_place_slot(struct laz_session *session);

/* ---- jobs ------------------------------------------------------------------------------------ */

struct laz_job_asked {
    enum laz_asked asked;
    const char *code;
    size_t len;                                /* SIZE_MAX: strlen */
    const struct laz_execute_options *options; /* NULL: none, as the next */
    const struct laz_session_options *session; /* of a fresh one */
    void (*done)(void *user, struct laz_result *result, const struct laz_error *err);
    void *user;
};

/* What the functions that execute code are given. */
#define LAZ_JOB_OF(code_of, len_of, options_of, done_of, user_of)                                  \
    .code = (code_of), .len = (len_of), .options = (options_of), .done = (done_of),                \
    .user = (user_of)

/* Makes a job of copies. Any thread. Errors: LAZ_EINVAL, LAZ_EREFUSED, LAZ_ENOMEM. */
int laz_job_new(const struct laz_job_asked *asked, struct laz_job **job, struct laz_error *err);
/* One that has not begun. NULL is allowed. */
void laz_job_free(struct laz_job *job);
/* Begins it and returns: it is freed when `done` was called, which is never in here, or after an
 * error, and then that is not called. `done` gets a result that is its own, or an error; the place
 * is released by then. */
int laz_job_begin(struct laz_job *job, const struct laz_place *place, struct laz_error *err);
/* Begins it and runs the loop until it has ended; in place of `done` this has the outcome. */
int laz_job_run(const struct laz_job_asked *asked, const struct laz_place *place,
                struct laz_result **result, struct laz_error *err);
/* All three at once. */
int laz_job_ask(const struct laz_job_asked *asked, const struct laz_place *place,
                struct laz_job **job, struct laz_error *err);
/* It is to end, and is reported as cancelled soon, unless it has ended already; one that waits for
 * a pool in here. Thread of the loop, as the next. */
void laz_job_cancel(struct laz_job *job);
/* The same without waiting: `done` is called in here. */
void laz_job_abandon(struct laz_job *job);

/* ---- all of an engine: job_engine.c
 * ---------------------------------------------------------------- */

/* As laz_sessions_init; becomes the owner of the driver. */
int laz_jobs_init(struct laz_session_shared *shared, struct laz_error *err);
/* Closes and frees the pools, then the sessions. Before that jobs are reported: those that run as
 * cancelled, those that wait for a pool with LAZ_ECLOSED. */
void laz_jobs_free(struct laz_session_shared *shared);

#endif
