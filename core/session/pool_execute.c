/* SPDX-License-Identifier: MIT */
/* pool_execute.c - executions in any free session of a pool that nobody waits for.
 * Side: host.  Input trusted: yes (the application). */
#include "session/session.h"

#include <stdlib.h>
#include <string.h>

/* One execution in a session of the pool, from the wait for a session to its release. */
struct pool_run {
    struct laz_session *session;
    char *code;
    size_t len;
    struct laz_execute_copy given;
    void (*done)(void *user, struct laz_result *result, const struct laz_error *err);
    void *user;
};

static void run_free(struct pool_run *run)
{
    laz_execute_copy_fini(&run->given);
    free(run->code);
    free(run);
}

static void run_end(void *user, struct laz_result *result, const struct laz_error *err)
{
    struct pool_run *run = user;
    struct pool_run ended = *run;

    if (ended.session)
        laz_pool_give_back(ended.session->member);
    run_free(run);
    ended.done(ended.user, result, err); /* may call the engine, as our caller is such a callback */
}

void laz_pool_take_back(struct laz_session *session)
{
    laz_pool_give_back(session->member);
}

static void run_begin(void *user, struct laz_session *session, const struct laz_error *err)
{
    struct pool_run *run = user;
    struct laz_error why = {0};

    run->session = session;
    if (session && laz_session_execute_async(session, run->code, run->len, &run->given.options,
                                             run_end, run, &why))
        err = &why;
    if (err)
        run_end(run, NULL, err);
}

int laz_pool_execute_async(struct laz_pool *pool, uint64_t wait_ms, const char *code, size_t len,
                           const struct laz_execute_options *options,
                           void (*done)(void *user, struct laz_result *result,
                                        const struct laz_error *err),
                           void *user, struct laz_error *err)
{
    if (!pool)
        return laz_error_null(err, "the pool");
    if (!code || !done)
        return laz_error_set(err, LAZ_EINVAL, 0, "code and a callback for its result are required");
    struct pool_run *run = calloc(1, sizeof *run);
    if (!run)
        return laz_error_nomem(err);
    run->len = len == SIZE_MAX ? strlen(code) : len;
    run->code = laz_strndup(code, run->len);
    run->done = done;
    run->user = user;
    int rc = run->code ? laz_execute_copy_take(&run->given, options, err) : laz_error_nomem(err);
    if (!rc)
        rc = laz_pool_acquire_async(pool, wait_ms, run_begin, run, err);
    if (rc)
        run_free(run);
    return rc;
}
