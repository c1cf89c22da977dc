/* SPDX-License-Identifier: MIT */
/* session_start.c - the start of a box: from its spawn until the session is idle or it has failed.
 * Side: host.  Input trusted: no (what a box that does not start has printed).
 *
 * A start is begun, and then checked whenever its box has reported something; callers wait for its
 * end or are called back.  When it fails, the process is killed and its stderr is drained for the
 * error message. */
#include "session/session.h"

#include "session/audit_events.h"
#include "session/execution.h"
#include "session/observe.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Makes the error of a start that failed: the agent's or host's reason, with what the box printed.
 */
static int session_explain_failure(struct laz_session *session, struct laz_error *err)
{
    struct laz_buf text = LAZ_BUF_INIT;
    bool told = session->failure.code != 0, late = session->failure.code == LAZ_ETIMEOUT;
    bool known = laz_box_explain(session->box, late, &text);

    if (told && !known && !session->box->complaint.len)
        laz_buf_clear(&text); /* it has only the status of the process that the host killed */
    const char *words = laz_buf_text(&text), *own = session->failure.text;
    int os_errno = session->failure.os_errno ? session->failure.os_errno : late ? ETIMEDOUT : 0;
    if (!told)
        laz_error_set(err, LAZ_ESETUP, 0, "the session did not start: %s", words);
    else if (!known && (!text.len || strstr(own, words) || session->failure.code == LAZ_ESETUP))
        laz_error_set(err, LAZ_ESETUP, os_errno, "the session did not start: %s", own);
    else
        laz_error_set(err, LAZ_ESETUP, os_errno, "the session did not start: %s (%s)", words, own);
    laz_buf_fini(&text);
    return LAZ_ESETUP;
}

void laz_session_start_too_late(void *user)
{
    struct laz_session *session = user;
    char text[96];

    if (session->box)
        laz_box_catch_up(session->box); /* the loop may have stood still */
    if (session->state == LAZ_SESSION_IDLE)
        return; /* it is checked in this turn */
    snprintf(text, sizeof text, "not ready within start_timeout (%g s)",
             (double)session->shared->values->session.start_timeout_ms / 1000.0);
    laz_session_fail(session, LAZ_ETIMEOUT, text);
}

static void start_finish(struct laz_session *session, int rc)
{
    struct laz_start *start = &session->start;

    laz_timer_cancel(session->start_timer);
    if (!rc && laz_audit_started(session, &start->why)) {
        if (start->is_first) { /* refuse to start what could not be audited */
            laz_session_drop_box(session, LAZ_EVENT_GONE);
            rc = start->why.code;
        } else {
            start->is_unrecorded = true;
        }
    }
    if (!rc && start->is_first)
        laz_log(&session->shared->driver->log, LAZ_LOG_INFO, "Session started (%s)",
                laz_session_describe(session));
    laz_observe_started(session, rc);
    start->rc = rc;
    start->under_way = start->is_dying = false;
    laz_session_note(session);
    atomic_fetch_sub(&session->shared->driver->busy, 1);
    laz_session_stir(session);
}

/* The box that starts, or why there is none. rc: of the choice of its backend. LAZ_BOX_ASKED: one
 * that ends has its uid until then. */
static int start_spawn(struct laz_session *session, int rc)
{
    struct laz_session_shared *shared = session->shared;
    struct laz_start *start = &session->start;

    if (rc)
        laz_session_event(session, LAZ_EVENT_GONE);
    else
        rc = laz_session_spawn(session, &start->why);
    start->is_choosing = rc == LAZ_EBUSY && laz_box_await_uid(shared->boxes, &start->asker);
    if (start->is_choosing)
        return LAZ_BOX_ASKED;
    start->ops = shared->boxes->choice.ops;
    const char *name = shared->boxes->choice.name;
    snprintf(start->backend, sizeof start->backend, "%s", name ? name : "");
    return rc;
}

/* As laz_box_backend. */
static int start_choose(struct laz_session *session)
{
    struct laz_start *start = &session->start;
    if (laz_session_is_far(session))
        return start_spawn(session, 0); /* which backend that is, is its worker's business */
    int rc = laz_box_backend(session->shared->boxes, &start->asker, &start->why);

    start->is_choosing = rc == LAZ_BOX_ASKED;
    return start->is_choosing ? rc : start_spawn(session, rc);
}

/* There is another backend than that of the box which did not come, or a uid may be free by now. As
 * laz_box_backend. */
static int start_again(struct laz_session *session)
{
    laz_session_event(session, LAZ_EVENT_REPLACE);
    return start_choose(session);
}

/* The box that was to come does not, by rc. 0: another one starts; LAZ_BOX_ASKED: whether there
 * is another backend is being tried. Else rc. */
static int start_instead(struct laz_session *session, int rc)
{
    struct laz_box_shared *boxes = session->shared->boxes;
    struct laz_start *start = &session->start;

    while (rc && rc != LAZ_BOX_ASKED) {
        laz_audit_start_failed(session, &start->why);
        if (!start->is_first || laz_session_is_far(session) || !laz_box_may_be_another(&start->why))
            return rc;
        bool others = boxes->choice.ops != start->ops; /* another start found one */
        int next = others ? 0 : laz_box_next_backend(boxes, &start->asker, &start->why);
        start->is_dying = false;
        start->is_choosing = next == LAZ_BOX_ASKED;
        start->failed = rc;
        if (start->is_choosing)
            laz_timer_cancel(session->start_timer);
        if (next)
            return start->is_choosing ? next : rc;
        rc = start_again(session);
    }
    return rc;
}

/* rc: as from start_choose. */
static void start_go_on(struct laz_session *session, int rc)
{
    rc = start_instead(session, rc);
    if (!rc)
        laz_session_be_patient(session);
    else if (rc != LAZ_BOX_ASKED)
        start_finish(session, rc);
}

/* The backend was found, or there is none, or no other; or a uid may be free. */
static void start_answered(void *user, int rc, const struct laz_error *why)
{
    struct laz_session *session = user;
    struct laz_start *start = &session->start;

    start->is_choosing = false;
    if (rc && why->code)
        start->why = *why;
    if (!start->asker.starts_again)
        start_go_on(session, start_spawn(session, rc));
    else if (rc)
        start_finish(session, rc == LAZ_ECANCELLED ? rc : start->failed);
    else
        start_go_on(session, start_again(session));
}

void laz_session_be_patient(struct laz_session *session)
{
    const struct laz_settings_values *values = session->shared->values;
    uint64_t ms = values->session.start_timeout_ms;

    if (ms && laz_session_is_far(session)) /* a place has to be found before */
        ms += values->cluster.open_timeout_ms;
    if (!session->start.under_way || session->start.is_dying || !session->box)
        return;
    if (ms)
        laz_timer_start(session->start_timer, ms);
    laz_box_be_patient(session->box);
}

void laz_session_begin_start(struct laz_session *session, const char *cause)
{
    session->start = (struct laz_start){
        .under_way = true,
        .begun_us = laz_loop_now_us(session->shared->driver->loop),
        .cause = cause,
        .is_first = strcmp(cause, "first") == 0,
        .asker = {.user = session, .answer = start_answered},
    };
    atomic_fetch_add(&session->shared->driver->busy, 1);
    start_go_on(session, start_choose(session));
    laz_session_note(session);
}

void laz_session_abandon_start(struct laz_session *session)
{
    if (!session->start.under_way)
        return;
    if (session->start.is_choosing)
        laz_box_withdraw(session->shared->boxes, &session->start.asker);
    laz_timer_cancel(session->start_timer);
    session->start.under_way = session->start.is_choosing = false;
    atomic_fetch_sub(&session->shared->driver->busy, 1);
}

/* The start has failed. Kills the process and waits for its end first: its last words explain the
 * failure, and another backend may need its uid. */
static void start_fail(struct laz_session *session)
{
    struct laz_start *start = &session->start;

    if (session->failure.code && session->failure.code != LAZ_ECANCELLED &&
        !laz_box_is_ended(session->box) && laz_box_is_known(session->box)) {
        start->is_dying = true;
        laz_timer_cancel(session->start_timer);
        laz_box_kill(session->box);
        return;
    }
    int rc = LAZ_ECANCELLED;
    if (session->failure.code == LAZ_ECANCELLED)
        laz_error_set(&start->why, rc, 0, "The start of the session was cancelled");
    else
        rc = session_explain_failure(session, &start->why);
    laz_session_drop_box(session, LAZ_EVENT_GONE);
    start_go_on(session, rc);
}

void laz_session_advance_start(struct laz_session *session)
{
    struct laz_start *start = &session->start;

    if (!start->under_way || start->is_choosing)
        return;
    if (start->is_dying) {
        if (laz_box_is_ended(session->box))
            start_fail(session);
        return;
    }
    if (session->state == LAZ_SESSION_IDLE && !session->failure.code)
        laz_session_listen(session);
    if (session->state == LAZ_SESSION_IDLE && !session->failure.code) {
        uint64_t rss; /* the CPU time of loading the runtime does not count for executions */
        laz_box_usage(session->box, &session->cpu_us, &rss);
        laz_guard_start(session);
        start_finish(session, 0);
    } else if (session->failure.code || laz_box_is_ended(session->box)) {
        start_fail(session);
    }
}
