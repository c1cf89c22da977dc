/* SPDX-License-Identifier: MIT */
/* job_ask.c - the public functions that ask a session or a pool for something: each is a job.
 * Side: host.  Input trusted: yes (the application). */
#include "job/job.h"

#include <stdlib.h>

/* ---- of a session ---------------------------------------------------------------------------- */

/* Begins it, or runs it where `result` is asked for. */
static int session_job(struct laz_session *session, const struct laz_job_asked *asked,
                       struct laz_result **result, struct laz_error *err)
{
    if (!session)
        return laz_error_null(err, "the session");
    const unsigned executing = atomic_load(&session->executing);
    if (executing) /* the thread that is inside may begin another one meanwhile */
        return laz_error_set(err, LAZ_EBUSY, 0, "%s, and a session does one thing at a time",
                             laz_session_activity(executing));
    const struct laz_place place = laz_place_session(session);
    return asked->done ? laz_job_ask(asked, &place, NULL, err)
                       : laz_job_run(asked, &place, result, err);
}

int laz_session_execute(struct laz_session *session, const char *code, size_t len,
                        const struct laz_execute_options *options, struct laz_result **result,
                        struct laz_error *err)
{
    const struct laz_job_asked asked = {.code = code, .len = len, .options = options};

    return session_job(session, &asked, result, err);
}

int laz_session_execute_async(struct laz_session *session, const char *code, size_t len,
                              const struct laz_execute_options *options,
                              void (*done)(void *user, struct laz_result *result,
                                           const struct laz_error *err),
                              void *user, struct laz_error *err)
{
    const struct laz_job_asked asked = {LAZ_JOB_OF(code, len, options, done, user)};

    if (!done)
        return laz_error_set(err, LAZ_EINVAL, 0, "a callback for the result is required");
    return session_job(session, &asked, NULL, err);
}

int laz_session_check(struct laz_session *session, const char *code, size_t len,
                      struct laz_result **result, struct laz_error *err)
{
    const struct laz_job_asked asked = {.asked = LAZ_ASKED_CHECK, .code = code, .len = len};

    return session_job(session, &asked, result, err);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* What an error is called whose cause is told by the verdict. */
static int put_code(const struct laz_result *result)
{
    switch (laz_result_verdict(result)) {
    case LAZ_VERDICT_ERROR:
    case LAZ_VERDICT_FSIZE_LIMIT:
        return LAZ_EOS;
    case LAZ_VERDICT_TIMEOUT:
    case LAZ_VERDICT_DEADLINE:
        return LAZ_ETIMEOUT;
    case LAZ_VERDICT_CANCELLED:
        return LAZ_ECANCELLED;
    default:
        return LAZ_ESETUP;
    }
}

/* Frees the result. */
static int put_result(struct laz_result *result, struct laz_error *err)
{
    int rc = 0;

    if (laz_result_verdict(result) != LAZ_VERDICT_OK) {
        const char *why = laz_result_error(result);
        rc = laz_error_set(err, put_code(result), 0, "%s", why ? why : laz_result_detail(result));
    }
    laz_result_free(result);
    return rc;
}

/* Who waits for a file that is put. */
struct put_waiter {
    void (*done)(void *user, const struct laz_error *err);
    void *user;
};

static void put_done(void *user, struct laz_result *result, const struct laz_error *failed)
{
    struct put_waiter waiter = *(struct put_waiter *)user;
    struct laz_error err = {0};
    int rc = failed ? failed->code : put_result(result, &err);

    free(user);
    waiter.done(waiter.user, failed ? failed : rc ? &err : NULL);
}

/* `waiter` NULL: its caller waits, and gets the result. */
static int put_job(struct laz_session *session, const char *name, const void *data, size_t len,
                   struct put_waiter *waiter, struct laz_result **result, struct laz_error *err)
{
    const struct laz_file file = {.size = sizeof file, .name = name, .data = data, .data_len = len};
    const struct laz_file *files[] = {&file};
    const struct laz_execute_options options = {
        .size = sizeof options, .files = files, .n_files = 1};
    const struct laz_job_asked asked = {.asked = LAZ_ASKED_PUT,
                                        .options = &options,
                                        .done = waiter ? put_done : NULL,
                                        .user = waiter};

    return session_job(session, &asked, result, err);
}

int laz_session_put_file(struct laz_session *session, const char *name, const void *data,
                         size_t len, struct laz_error *err)
{
    struct laz_result *result;
    int rc = put_job(session, name, data, len, NULL, &result, err);

    return rc ? rc : put_result(result, err);
}

int laz_session_put_file_async(struct laz_session *session, const char *name, const void *data,
                               size_t len, void (*done)(void *user, const struct laz_error *err),
                               void *user, struct laz_error *err)
{
    if (!done)
        return laz_error_null(err, "the function that is told of it");
    struct put_waiter *waiter = malloc(sizeof *waiter);
    if (!waiter)
        return laz_error_nomem(err);
    *waiter = (struct put_waiter){done, user};
    int rc = put_job(session, name, data, len, waiter, NULL, err);
    if (rc)
        free(waiter);
    return rc;
}

/* ---- of a pool ------------------------------------------------------------------------------- */

int laz_pool_execute(struct laz_pool *pool, uint64_t wait_ms, const char *code, size_t len,
                     const struct laz_execute_options *options, struct laz_result **result,
                     struct laz_error *err)
{
    const struct laz_job_asked asked = {.code = code, .len = len, .options = options};

    if (!pool)
        return laz_error_null(err, "the pool");
    const struct laz_place place = laz_place_pool(pool, wait_ms);
    return laz_job_run(&asked, &place, result, err);
}

int laz_pool_execute_async(struct laz_pool *pool, uint64_t wait_ms, const char *code, size_t len,
                           const struct laz_execute_options *options,
                           void (*done)(void *user, struct laz_result *result,
                                        const struct laz_error *err),
                           void *user, struct laz_error *err)
{
    const struct laz_job_asked asked = {LAZ_JOB_OF(code, len, options, done, user)};

    if (!pool)
        return laz_error_null(err, "the pool");
    const struct laz_place place = laz_place_pool(pool, wait_ms);
    return laz_job_ask(&asked, &place, NULL, err);
}
