/* SPDX-License-Identifier: MIT */
/* session_put.c - files that the application puts into a session.
 * Side: host.  Input trusted: yes (the application).
 *
 * A file is put as code is checked: a request that waits for its session, has clocks and can be
 * cancelled. */
#include "session/execution.h"

#include "base/path.h"

#include <stdlib.h>

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

/* Fills what is asked for. */
static int put_ask(struct laz_execution *asked, struct laz_session *session, const char *name,
                   const void *data, size_t len, struct laz_error *err)
{
    if (!name || (!data && len))
        return laz_error_null(err, name ? "the content of the file" : "the name of the file");
    if (!laz_name_is_plain(name))
        return laz_error_set(err, LAZ_EINVAL, 0, LAZ_NAME_RULE);
    *asked = (struct laz_execution){
        .session = session,
        .code = data ? data : "",
        .len = len,
        .asked = LAZ_ASKED_PUT,
        .file = name,
    };
    return 0;
}

int laz_session_put_file(struct laz_session *session, const char *name, const void *data,
                         size_t len, struct laz_error *err)
{
    struct laz_result *result = NULL;
    struct laz_execution asked;
    int rc = put_ask(&asked, session, name, data, len, err);

    if (!rc)
        rc = laz_execution_and_wait(&asked, NULL, &result, err);
    return rc ? rc : put_result(result, err);
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

int laz_session_put_file_async(struct laz_session *session, const char *name, const void *data,
                               size_t len, void (*done)(void *user, const struct laz_error *err),
                               void *user, struct laz_error *err)
{
    struct put_waiter *waiter = calloc(1, sizeof *waiter);
    struct laz_execution asked;

    if (!waiter)
        return laz_error_nomem(err);
    *waiter = (struct put_waiter){done, user};
    int rc = done ? put_ask(&asked, session, name, data, len, err)
                  : laz_error_null(err, "the function that is told of it");
    if (!rc) {
        asked.done = put_done;
        asked.user = waiter;
        rc = laz_execution_begin(&asked, true, NULL, err);
    }
    if (rc)
        free(waiter);
    return rc;
}
