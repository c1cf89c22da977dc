/* SPDX-License-Identifier: MIT */
/* session_finish.c - the end of an interpreter that ends by itself.
 * Side: host.  Input trusted: no (what the agent and the code do until then).
 *
 * At home a script is over when the interpreter is: exit handlers have run, threads have ended,
 * open files are written.  So an idle session that has run code is asked to end, and its box is
 * killed only when that takes too long.  Tools cannot be called any more (agent/calls.c), and the
 * box is watched like that of any idle session (guard.c). */
#include "session/session.h"

static bool finish_can_begin(const struct laz_session *session)
{
    return session->box && session->state == LAZ_SESSION_IDLE && session->finish.has_run &&
           !session->misbehaved && !session->guard.why && !laz_box_has_hung_up(session->box) &&
           !laz_box_was_killed(session->box);
}

static void finish_is_late(void *user)
{
    struct laz_session *session = user;

    session->finish.is_over = true;
}

static bool finish_ask(struct laz_session *session)
{
    struct laz_buf line = LAZ_BUF_INIT;

    laz_message_make(&(struct laz_message){.type = LAZ_MESSAGE_EXIT}, &line);
    bool sent = !line.failed && laz_box_send(session->box, line.data, line.len, 0);
    laz_buf_fini(&line);
    return sent;
}

bool laz_session_finish(struct laz_session *session, uint64_t ms)
{
    struct laz_finish *finish = &session->finish;
    struct laz_driver *driver = session->shared->driver;
    const bool was_ending = session->is_ending;

    if (!finish_can_begin(session))
        return true;
    struct laz_timer *timer = laz_timer_new(driver->loop, finish_is_late, session);
    if (!timer)
        return false;
    session->waiters++;
    session->is_ending = true; /* a callback executes nothing here */
    finish->has_run = finish->is_over = false;
    finish->under_way = true;
    laz_box_hear(session->box);
    if (ms != LAZ_UNLIMITED)
        laz_timer_start(timer, ms);
    bool asked = finish_ask(session);
    while (asked && !finish->is_over && session->box && !laz_box_is_ended(session->box))
        laz_driver_turn(driver, LAZ_LOOP_FOREVER);
    bool whole = asked && !finish->is_over && !session->guard.why;
    if (whole && session->box)
        laz_box_drain(session->box);
    laz_timer_stop(timer);
    finish->under_way = false;
    session->is_ending = was_ending;
    session->waiters--;
    return whole;
}

void laz_session_finish_cancel(struct laz_session *session)
{
    session->finish.is_over |= session->finish.under_way;
}

void laz_session_finish_last(struct laz_session *session, struct laz_result *result)
{
    struct laz_session_shared *shared = session->shared;

    if (!session->finish.output || laz_driver_enter(shared->driver, NULL))
        return;
    if (!laz_session_finish(session, session->finish.left_ms))
        laz_strv_add(&result->warnings,
                     session->guard.why
                         ? "the interpreter was ended before it had finished: it used up a limit"
                         : "the interpreter did not finish in the time that was left: what it had "
                           "not written to its files is lost");
    if (session->finish.output)
        laz_output_end(session->finish.output);
    session->finish.output = NULL;
    laz_driver_leave(shared->driver);
}
