/* SPDX-License-Identifier: MIT */
/* group_call.c - one execution that a group was asked for: the job that it is, how that is handed
 * to an engine, and what its caller is told. Side: host.  Input trusted: yes (the application).
 *
 * The caller's thread makes the job, which copies everything; the engine's thread begins it, when
 * the caller may have returned. */
#include "group/group.h"

#include <stdlib.h>

int group_call_new(struct laz_group *group, const struct laz_job_asked *asked,
                   struct group_call **out, struct laz_error *err)
{
    *out = NULL;
    if (!asked->code || !asked->done)
        return laz_error_set(err, LAZ_EINVAL, 0, "code and a callback for its result are required");
    struct group_call *call = calloc(1, sizeof *call);
    if (!call)
        return laz_error_nomem(err);
    call->cancels = atomic_load(&group->cancels);
    call->done = asked->done;
    call->user = asked->user;
    struct laz_job_asked own = *asked;
    own.done = group_call_ended;
    own.user = call;
    int rc = laz_job_new(&own, &call->job, err);
    if (rc)
        free(call);
    else
        *out = call;
    return rc;
}

void group_call_free(struct group_call *call)
{
    if (!call)
        return;
    laz_job_free(call->job);
    free(call);
}

/* ---- from its begin to its report ------------------------------------------------------------ */

bool group_call_is_cancelled(const struct group_call *call, const struct laz_group *group)
{
    return call->cancels != atomic_load(&group->cancels);
}

void group_call_report(struct group_call *call, struct laz_result *result,
                       const struct laz_error *err)
{
    void (*done)(void *, struct laz_result *, const struct laz_error *) = call->done;
    void *user = call->user;

    group_call_free(call);
    done(user, result, err);
}

/* Errors that every engine would give. */
static bool call_is_wrong(int code)
{
    return code == LAZ_EINVAL || code == LAZ_ENOENT || code == LAZ_ECONFIG || code == LAZ_ETOOBIG ||
           code == LAZ_ECANCELLED || code == LAZ_ECLOSED;
}

static enum group_start call_shows(const struct laz_result *result, const struct laz_error *err)
{
    const enum laz_verdict verdict = laz_result_verdict(result);

    if (!result)
        return call_is_wrong(err->code) ? GROUP_START_UNKNOWN : GROUP_START_FAILED;
    if (verdict == LAZ_VERDICT_CANCELLED || verdict == LAZ_VERDICT_BLOCKED)
        return GROUP_START_UNKNOWN;
    return verdict == LAZ_VERDICT_SETUP_FAILED ? GROUP_START_FAILED : GROUP_START_GOOD;
}

void group_call_ended(void *user, struct laz_result *result, const struct laz_error *err)
{
    struct group_call *call = user;

    if (call->part)
        group_part_done(call->part);
    else
        group_lane_done(call->lane, call_shows(result, err));
    group_call_report(call, result, err);
}

/* A cancel that comes while it begins may find nothing. */
int group_call_run(struct group_call *call, const struct laz_place *place, struct laz_error *err)
{
    struct laz_job *job = call->job;

    call->job = NULL;
    int rc = laz_job_begin(job, place, err);
    if (!rc && group_call_is_cancelled(call, call->lane->group))
        laz_job_cancel(job);
    return rc;
}

static int call_start(struct group_call *call, struct laz_error *err)
{
    const struct laz_place place = laz_place_fresh(&call->lane->engine->sessions, NULL);
    struct laz_group *group = call->lane->group;

    if (atomic_load(&group->closed))
        return group_is_closed(err);
    if (!group_call_is_cancelled(call, group))
        return group_call_run(call, &place, err);
    struct laz_result *result = laz_result_not_started(LAZ_ECANCELLED, "cancelled");
    if (!result)
        return laz_error_nomem(err);
    group_call_ended(call, result, NULL);
    return 0;
}

void group_call_begin(struct group_call *call)
{
    struct laz_driver *driver = &call->lane->engine->driver;
    struct laz_error why = {0};

    laz_driver_begin_callback(driver);
    if (call_start(call, &why))
        group_call_ended(call, NULL, &why);
    laz_driver_end_callback(driver);
}

/* ---- callers that wait ----------------------------------------------------------------------- */

void group_caller_told(void *user, struct laz_result *result, const struct laz_error *err)
{
    struct group_caller *caller = user;

    caller->result = result;
    if (err)
        caller->err = *err;
    group_wait_over(&caller->wait);
}

int group_caller_wait(struct group_caller *caller, int rc, struct laz_result **result,
                      struct laz_error *err)
{
    if (rc)
        group_wait_over(&caller->wait);
    group_wait(&caller->wait);
    if (rc)
        return rc;
    *result = caller->result;
    if (caller->err.code && err)
        *err = caller->err;
    return caller->err.code;
}
