/* SPDX-License-Identifier: MIT */
/* job.c - the life of a job: a seat, the files, the code, the release of the seat, the report.
 * Side: host.  Input trusted: yes (the application; sessions check what comes from their boxes).
 *
 * Whatever comes back from the seat passes laz_job_answered, and whatever ends a job passes
 * job_finish.  For a caller who waits (laz_job_run) there is the same, and a last step outside of
 * the turn in which the answer came (`left`), which may run the loop again. */
#include "job/job_private.h"

#include <stdlib.h>
#include <string.h>

/* ---- making ---------------------------------------------------------------------------------- */

/* `borrows`: its caller waits, and what is the caller's stays where it is. */
static int job_take(struct laz_job *job, const struct laz_job_asked *asked, bool borrows,
                    struct laz_error *err)
{
    const char *code = asked->code ? asked->code : "";

    job->asked = asked->asked;
    job->done = asked->done;
    job->user = asked->user;
    job->len = asked->len == SIZE_MAX ? strlen(code) : asked->len;
    job->code = borrows ? code : (job->copy = laz_strndup(code, job->len));
    int rc = job->code ? 0 : laz_error_nomem(err);
    if (!rc)
        rc = laz_options_copy(&laz_execute_members, &job->options, asked->options, borrows,
                              &job->kept, err);
    return rc ? rc
              : laz_options_copy(&laz_session_members, &job->session, asked->session, borrows,
                                 &job->kept, err);
}

static int job_new(const struct laz_job_asked *asked, bool borrows, struct laz_job **out,
                   struct laz_error *err)
{
    *out = NULL;
    if (asked->asked <= LAZ_ASKED_CHECK && !asked->code)
        return laz_error_null(err, "the code");
    struct laz_job *job = calloc(1, sizeof *job);
    if (!job)
        return laz_error_nomem(err);
    int rc = job_take(job, asked, borrows, err);
    if (rc)
        laz_job_free(job);
    else
        *out = job;
    return rc;
}

int laz_job_new(const struct laz_job_asked *asked, struct laz_job **job, struct laz_error *err)
{
    return job_new(asked, false, job, err);
}

void laz_job_free(struct laz_job *job)
{
    if (!job)
        return;
    laz_result_free(job->result);
    laz_options_forget(&job->kept);
    free(job->copy);
    free(job);
}

/* ---- from phase to phase --------------------------------------------------------------------- */

/* The only way from one phase to another. */
static void job_event(struct laz_job *job, enum laz_job_event event)
{
    static const char *const names[] = {
        [LAZ_ASKED_EXECUTE] = "execution", [LAZ_ASKED_CHECK] = "check", [LAZ_ASKED_PUT] = "file"};

    (void)laz_job_step(&job->phase, event, &job->place.shared->driver->log, names[job->asked]);
}

/* It has ended: tells who has asked for it, unless that one waits. Frees it then. */
static void job_report(struct laz_job *job)
{
    struct laz_driver *driver = job->place.shared->driver;

    job_event(job, LAZ_JOB_REPORT);
    *job->at = job->next;
    if (job->next)
        job->next->at = job->at;
    laz_driver_unstir(driver, &job->seat.stir);
    atomic_fetch_sub(&driver->busy, 1);
    if (!job->result && !job->err.code)
        laz_error_nomem(&job->err);
    if (job->is_awaited || job->is_refused)
        return;
    const struct laz_job told = *job;
    job->result = NULL; /* the callee's now */
    laz_job_free(job);
    laz_driver_begin_callback(driver);
    told.done(told.user, told.result, told.result ? NULL : &told.err);
    laz_driver_end_callback(driver);
}

void laz_job_released(struct laz_job *job)
{
    job->seat.ops = NULL;
    job_report(job);
}

void laz_job_unseated(struct laz_job *job, const struct laz_error *why)
{
    if (why)
        job->err = *why;
    job_report(job);
}

/* It has its outcome. */
static void job_finish(struct laz_job *job)
{
    job_event(job, LAZ_JOB_END);
    job->seat.ops->release(job);
}

/* Asks the seat for what comes next. */
static int job_next(struct laz_job *job, struct laz_error *err)
{
    if (job->n_put < job->options.n_files)
        return job->seat.ops->put_file(job, job->options.files[job->n_put++], err);
    job_event(job, LAZ_JOB_RUN);
    job->has_run = true;
    return job->seat.ops->execute(job, err);
}

static void job_go_on(struct laz_job *job)
{
    if (job_next(job, &job->err))
        job_finish(job);
}

/* A file is there, or is not. True: the job has its outcome, which is that of the file where
 * nothing but it was asked for, or where it tells of the session: cancelled, say. */
static bool job_take_file(struct laz_job *job, struct laz_result *result)
{
    const enum laz_verdict verdict = laz_result_verdict(result);
    const bool cannot_be = verdict == LAZ_VERDICT_ERROR || verdict == LAZ_VERDICT_FSIZE_LIMIT;

    job->result = result;
    if (job->asked == LAZ_ASKED_PUT || (verdict != LAZ_VERDICT_OK && !cannot_be))
        return true;
    if (cannot_be)
        laz_error_set(&job->err, LAZ_EOS, 0, "%s", laz_result_error(result));
    laz_result_free(result);
    job->result = NULL;
    if (!job->err.code && job->phase == LAZ_JOB_INTERRUPTING)
        job->result = laz_result_not_started(LAZ_ECANCELLED, "cancelled");
    return job->err.code || job->phase == LAZ_JOB_INTERRUPTING;
}

void laz_job_answered(struct laz_job *job, struct laz_result *result, const struct laz_error *err)
{
    if (err)
        job->err = *err;
    if (!err && !job->has_run && !job_take_file(job, result)) {
        job_go_on(job);
        return;
    }
    if (job->has_run)
        job->result = result;
    job_finish(job);
}

void laz_job_seated(struct laz_job *job)
{
    job_event(job, LAZ_JOB_SEAT);
    job_go_on(job);
}

/* ---- beginning ------------------------------------------------------------------------------- */

/* The driver is held. */
static int job_begin(struct laz_job *job, const struct laz_place *place, struct laz_error *err)
{
    struct laz_session_shared *shared = place->shared;

    job->place = *place;
    laz_options_complete(&laz_execute_members, &job->options, shared->values);
    laz_options_complete(&laz_execute_members, &job->plain, shared->values);
    job->next = shared->jobs;
    job->at = &shared->jobs;
    if (job->next)
        job->next->at = &job->next;
    shared->jobs = job;
    atomic_fetch_add(&shared->driver->busy, 1); /* up to its report, so it can be cancelled */
    job_event(job, LAZ_JOB_BEGIN);
    int rc = place->ops->acquire(job, err);
    const bool is_seated = job->seat.ops;
    if (!rc && is_seated) {
        job_event(job, LAZ_JOB_SEAT);
        rc = job_next(job, err);
    }
    if (!rc)
        return 0;
    job->is_refused = job->is_abandoned = true;
    if (is_seated)
        job_finish(job);
    else
        job_report(job);
    return rc;
}

int laz_job_begin(struct laz_job *job, const struct laz_place *place, struct laz_error *err)
{
    int rc = laz_driver_enter(place->shared->driver, err);

    if (!rc) {
        rc = job_begin(job, place, err);
        laz_driver_leave(place->shared->driver);
    }
    if (rc)
        laz_job_free(job);
    return rc;
}

int laz_job_ask(const struct laz_job_asked *asked, const struct laz_place *place,
                struct laz_job **out, struct laz_error *err)
{
    struct laz_job *job = NULL;
    int rc = asked->done
                 ? laz_job_new(asked, &job, err)
                 : laz_error_set(err, LAZ_EINVAL, 0, "a callback for the result is required");

    if (!rc)
        rc = laz_job_begin(job, place, err);
    if (out)
        *out = rc ? NULL : job;
    return rc;
}

int laz_job_run(const struct laz_job_asked *asked, const struct laz_place *place,
                struct laz_result **result, struct laz_error *err)
{
    struct laz_driver *driver = place->shared->driver;
    struct laz_job *job;

    if (!result)
        return laz_error_null(err, "the pointer for the result");
    *result = NULL;
    int rc = job_new(asked, true, &job, err);
    if (!rc)
        rc = laz_driver_enter(driver, err);
    if (rc) {
        laz_job_free(job);
        return rc;
    }
    job->is_awaited = true;
    rc = job_begin(job, place, err);
    while (!rc && job->phase != LAZ_JOB_DONE)
        laz_driver_turn(driver, LAZ_LOOP_FOREVER);
    if (place->ops->left)
        place->ops->left(job);
    if (!rc) {
        *result = job->result;
        job->result = NULL;
        rc = *result ? 0 : job->err.code;
        if (rc && err)
            *err = job->err;
    }
    laz_job_free(job);
    laz_driver_leave(driver);
    return rc;
}

/* ---- cancelling ------------------------------------------------------------------------------ */

static void job_interrupt(struct laz_job *job)
{
    if (job->phase == LAZ_JOB_FILES || job->phase == LAZ_JOB_RUNNING)
        job_event(job, LAZ_JOB_INTERRUPT);
    if (job->seat.ops)
        job->seat.ops->interrupt(job);
    else if (job->wait)
        job->place.ops->forgo(job->wait);
}

void laz_job_drop(struct laz_job *job)
{
    job->is_abandoned = true;
    if (!job->seat.ops && !job->wait) /* it has its outcome, and no session */
        laz_job_unseated(job, NULL);
    else if (!job->seat.ops)
        job_interrupt(job);
    else if (job->phase == LAZ_JOB_FINISHING)
        job->seat.ops->release(job);
    else
        job->seat.ops->cancel(job);
}

void laz_job_cancel(struct laz_job *job)
{
    struct laz_driver *driver = job->place.shared->driver;

    if (laz_driver_enter(driver, NULL))
        return;
    job_interrupt(job);
    laz_driver_leave(driver);
}

void laz_job_abandon(struct laz_job *job)
{
    struct laz_driver *driver = job->place.shared->driver;

    if (laz_driver_enter(driver, NULL))
        return;
    laz_job_drop(job);
    laz_driver_leave(driver);
}
