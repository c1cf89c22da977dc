/* SPDX-License-Identifier: MIT */
/* session_once.c - a session for one execution, without waiting: start, execution, the end of the
 * interpreter, the end of the box, and only then the result.
 * Side: host.  Input trusted: yes (the application; sessions check what comes from their boxes).
 *
 * The application never sees the session.  Its events list the entry `stir`, which looks how far it
 * is; so nothing here waits in a turn of the loop, however many there are. */
#include "session/execution.h"

#include "base/container.h"
#include "base/options.h"
#include "session/result.h"

#include <stdlib.h>

enum once_phase {
    ONCE_RUNS,     /* its execution has not reported yet, or never began */
    ONCE_FINISHES, /* the interpreter ends by itself */
    ONCE_CLOSES,   /* its box ends */
};

struct laz_once {
    struct laz_session_shared *shared;
    struct laz_once *next, **at; /* of those that were not reported; at: what leads to it */
    struct laz_stir stir;
    struct laz_session *session; /* NULL: none was made */
    enum once_phase phase;
    struct laz_result *result;
    struct laz_error err; /* code 0: there is a result */
    void (*done)(void *user, struct laz_result *result, const struct laz_error *err);
    void *user;
};

/* Frees the session, and calls back. Whoever has the result finds nothing of it running, unless the
 * engine is being freed, which waits for that itself. */
static void once_report(struct laz_once *once)
{
    struct laz_driver *driver = once->shared->driver;
    struct laz_once told = *once;

    if (once->session) {
        laz_session_shut(once->session);
        laz_session_destroy(once->session);
    }
    laz_driver_unstir(driver, &once->stir);
    *once->at = once->next;
    if (once->next)
        once->next->at = once->at;
    free(once);
    if (!told.result && !told.err.code)
        laz_error_nomem(&told.err);
    atomic_fetch_sub(&driver->busy, 1);
    laz_driver_begin_callback(driver);
    told.done(told.user, told.result, told.result ? NULL : &told.err);
    laz_driver_end_callback(driver);
}

static void once_close(struct laz_once *once)
{
    struct laz_session *session = once->session;

    once->phase = ONCE_CLOSES;
    if (session && session->box && !laz_box_is_ended(session->box))
        laz_box_kill(session->box);
}

static void once_advance(struct laz_stir *stir)
{
    struct laz_once *once = LAZ_CONTAINER(stir, struct laz_once, stir);
    struct laz_session *session = once->session;

    if (once->phase == ONCE_RUNS)
        return;
    if (once->phase == ONCE_FINISHES && laz_session_finish_is_over(session)) {
        laz_session_finish_told(session, once->result);
        once_close(once);
    }
    if (once->phase == ONCE_CLOSES && (!session || !session->box || laz_box_is_ended(session->box)))
        once_report(once);
}

static void once_executed(void *user, struct laz_result *result, const struct laz_error *err)
{
    struct laz_once *once = user;

    once->result = result;
    if (err)
        once->err = *err;
    if (result && !once->session->is_ending && laz_session_finish_ask(once->session, result))
        once->phase = ONCE_FINISHES;
    else
        once_close(once);
    laz_driver_stir(once->shared->driver, &once->stir);
}

/* There is no session, because of `rc`; as laz_execute tells it. */
static int once_not_started(struct laz_once *once, int rc, const struct laz_error *why,
                            struct laz_error *err)
{
    if (rc != LAZ_ESETUP && rc != LAZ_ECANCELLED)
        return err ? (*err = *why, rc) : rc;
    once->result = laz_result_not_started(rc, why->text);
    if (!once->result)
        return laz_error_nomem(err);
    once_close(once);
    laz_driver_stir(once->shared->driver, &once->stir);
    return 0;
}

/* Makes the session. The driver is held. */
static int once_open(struct laz_once *once, const struct laz_session_options *given,
                     struct laz_error *err)
{
    struct laz_session_shared *shared = once->shared;
    struct laz_session_options options;
    struct laz_error why = {0};

    int rc = LAZ_OPTIONS_TAKE(&options, given, laz_session_options, &why);
    if (!rc && !shared->values->mistakes)
        rc = laz_tools_prepare(shared->tools, &why);
    if (!rc)
        rc = laz_session_make(shared, &options, &once->session, &why);
    if (rc)
        return once_not_started(once, rc, &why, err);
    once->session->follower = &once->stir;
    return 0;
}

static struct laz_once *once_new(struct laz_session_shared *shared)
{
    struct laz_once *once = calloc(1, sizeof *once);

    if (!once)
        return NULL;
    once->shared = shared;
    once->stir.advance = once_advance;
    once->next = shared->onces;
    once->at = &shared->onces;
    if (once->next)
        once->next->at = &once->next;
    shared->onces = once;
    return once;
}

/* One that has not begun. */
static void once_drop(struct laz_once *once)
{
    if (once->session)
        laz_session_destroy(once->session);
    laz_driver_unstir(once->shared->driver, &once->stir);
    *once->at = once->next;
    if (once->next)
        once->next->at = once->at;
    free(once);
}

/* The execution enters the driver, as one that a callback begins. */
static int once_begin(struct laz_once *once, const char *code, size_t len,
                      const struct laz_execute_options *options, struct laz_error *err)
{
    struct laz_driver *driver = once->shared->driver;
    struct laz_execution asked = {.session = once->session,
                                  .code = code,
                                  .len = len,
                                  .is_last = true,
                                  .starts = true,
                                  .done = once_executed,
                                  .user = once};

    laz_driver_begin_callback(driver);
    int rc = laz_execution_begin(&asked, true, options, err);
    laz_driver_end_callback(driver);
    return rc;
}

int laz_sessions_execute(struct laz_session_shared *shared,
                         const struct laz_session_options *options, const char *code, size_t len,
                         const struct laz_execute_options *execute_options,
                         void (*done)(void *user, struct laz_result *result,
                                      const struct laz_error *err),
                         void *user, struct laz_session **session, struct laz_error *err)
{
    if (session)
        *session = NULL;
    if (!code || !done)
        return laz_error_set(err, LAZ_EINVAL, 0, "code and a callback for its result are required");
    int rc = laz_driver_enter(shared->driver, err);
    if (rc)
        return rc;
    struct laz_once *once = once_new(shared);
    rc = once ? once_open(once, options, err) : laz_error_nomem(err);
    if (!rc && once->session)
        rc = once_begin(once, code, len, execute_options, err);
    if (!rc) {
        once->done = done;
        once->user = user;
        atomic_fetch_add(&shared->driver->busy, 1); /* up to its report, so it can be cancelled */
        if (session)
            *session = once->session;
    } else if (once) {
        once_drop(once);
    }
    laz_driver_leave(shared->driver);
    return rc;
}

void laz_onces_abandon(struct laz_session_shared *shared)
{
    while (shared->onces) {
        struct laz_once *once = shared->onces;
        if (once->session) {
            laz_session_finish_cancel(once->session);
            laz_session_abandon(once->session);
        }
        if (once->phase == ONCE_FINISHES)
            laz_session_finish_told(once->session, once->result);
        once_report(once);
    }
}
