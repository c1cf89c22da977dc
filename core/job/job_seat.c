/* SPDX-License-Identifier: MIT */
/* job_seat.c - a session of this engine as the seat of a job.
 * Side: host.  Input trusted: yes (the application; sessions check what comes from their boxes). */
#include "job/job_private.h"

void laz_seat_take(struct laz_job *job, struct laz_session *session, const struct laz_seat_ops *ops)
{
    job->seat.ops = ops;
    job->seat.session = session;
    session->waiters += job->is_awaited;
    session->is_cancelled = false;
    atomic_store(&session->cancel, false);
    atomic_store(&session->executing, 1 + (unsigned)job->asked);
}

void laz_seat_leave(struct laz_job *job)
{
    struct laz_session *session = job->seat.session;

    session->waiters -= job->is_awaited;
    atomic_store(&session->cancel, false);
    atomic_store(&session->executing, 0);
}

static void seat_answered(void *user, struct laz_result *result, const struct laz_error *err)
{
    laz_job_answered(user, result, err);
}

int laz_seat_put_file(struct laz_job *job, const struct laz_file *file, struct laz_error *err)
{
    const struct laz_request put = {.asked = LAZ_ASKED_PUT,
                                    .code = file->data ? file->data : "",
                                    .len = file->data_len,
                                    .file = file->name,
                                    .options = &job->plain,
                                    .keeps = job->seat.keeps,
                                    .starts = job->seat.starts,
                                    .done = seat_answered,
                                    .user = job};

    return laz_session_ask(job->seat.session, &put, job->is_awaited, err);
}

int laz_seat_execute(struct laz_job *job, struct laz_error *err)
{
    const struct laz_request code = {.asked = job->asked,
                                     .code = job->code,
                                     .len = job->len,
                                     .options = &job->options,
                                     .keeps = job->seat.keeps,
                                     .starts = job->seat.starts,
                                     .is_last =
                                         job->seat.is_last && job->asked == LAZ_ASKED_EXECUTE,
                                     .done = seat_answered,
                                     .user = job};

    return laz_session_ask(job->seat.session, &code, job->is_awaited, err);
}

void laz_seat_interrupt(struct laz_job *job)
{
    laz_execution_cancel(job->seat.session);
    laz_session_finish_cancel(job->seat.session);
}

void laz_seat_cancel(struct laz_job *job)
{
    struct laz_session *session = job->seat.session;

    laz_session_abandon(session); /* `job` is gone */
    laz_session_settle(session);
}
