/* SPDX-License-Identifier: MIT */
/* session_finish.c - the end of an interpreter that ends by itself.
 * Side: host.  Input trusted: no (what the agent and the code do until then).
 *
 * At home a script is over when the interpreter is: exit handlers have run, threads have ended,
 * open files are written.  So an idle session that has run code is asked to end, and its box is
 * killed only when that takes too long.  Tools cannot be called any more (agent/calls.c), and the
 * box is watched like that of any idle session (guard.c).
 *
 * Only then are the files of a last execution whole: those that are new, or have changed since its
 * outcome, follow, and take the place of what came before. */
#include "session/execution.h"

#include "session/audit_events.h"
#include "session/session_network.h"

#include <string.h>

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
    if (session->owner)
        laz_session_stir(session);
}

static bool finish_ask(struct laz_session *session)
{
    struct laz_buf line = LAZ_BUF_INIT;

    laz_message_make(&(struct laz_message){.type = LAZ_MESSAGE_EXIT}, &line);
    bool sent = !line.failed && laz_box_send(session->box, line.data, line.len, 0);
    laz_buf_fini(&line);
    return sent;
}

static void finish_end(struct laz_session *session)
{
    struct laz_finish *finish = &session->finish;

    laz_timer_stop(finish->timer);
    finish->timer = NULL;
    finish->under_way = finish->follows = false;
    session->is_ending = finish->was_ending;
}

/* True: it is under way. False: there is nothing to wait for; `*whole`: nothing was to be ended. */
static bool finish_begin(struct laz_session *session, uint64_t ms, bool *whole)
{
    struct laz_finish *finish = &session->finish;

    *whole = !finish_can_begin(session);
    if (*whole)
        return false;
    finish->timer = laz_timer_new(session->shared->driver->loop, finish_is_late, session);
    if (!finish->timer)
        return false;
    finish->was_ending = session->is_ending;
    session->is_ending = true; /* a callback executes nothing here */
    finish->has_run = finish->is_over = finish->has_followed = false;
    finish->under_way = true;
    finish->follows = finish->result && finish->id;
    if (finish->result)
        laz_session_give_output(session, laz_session_last_output);
    laz_box_hear(session->box, true);
    if (ms != LAZ_UNLIMITED)
        laz_timer_start(finish->timer, ms);
    if (finish_ask(session))
        return true;
    finish_end(session);
    return false;
}

bool laz_session_finish_is_over(const struct laz_session *session)
{
    return session->finish.is_over || session->finish.has_followed || !session->box ||
           laz_box_is_ended(session->box);
}

/* As laz_session_finish, of one that is over. */
static bool finish_was_whole(struct laz_session *session)
{
    bool whole = !session->finish.is_over && !session->guard.why &&
                 (!session->finish.follows || session->finish.has_followed);

    if (whole && session->box)
        laz_box_drain(session->box);
    finish_end(session);
    return whole;
}

bool laz_session_finish(struct laz_session *session, uint64_t ms)
{
    bool whole;

    if (!finish_begin(session, ms, &whole))
        return whole;
    session->waiters++;
    while (!laz_session_finish_is_over(session))
        laz_driver_turn(session->shared->driver, LAZ_LOOP_FOREVER);
    session->waiters--;
    return finish_was_whole(session);
}

void laz_session_finish_cancel(struct laz_session *session)
{
    session->finish.is_over |= session->finish.under_way;
    if (session->owner)
        laz_session_stir(session);
}

/* ---- after a last execution ------------------------------------------------------------------ */

static const char *finish_why(const struct laz_session *session)
{
    if (session->guard.why)
        return "the interpreter was ended before it had finished: it used up a limit";
    if (session->finish.is_over)
        return "the interpreter did not finish in the time that was left: what it had not written "
               "to its files is lost";
    return "the interpreter was ended by something else before it had finished: what it had not "
           "written to its files is lost";
}

static void finish_tell(struct laz_session *session, bool whole, struct laz_result *result)
{
    if (!whole)
        laz_strv_add(&result->warnings, finish_why(session));
    laz_session_tell_denials(session, result);
    laz_output_end(&result->output);
    session->finish.result = NULL;
}

bool laz_session_finish_ask(struct laz_session *session, struct laz_result *result)
{
    bool whole;

    session->finish.result = result;
    result->artifacts.follows = true;
    if (finish_begin(session, session->finish.left_ms, &whole))
        return true;
    finish_tell(session, whole, result);
    return false;
}

void laz_session_finish_told(struct laz_session *session, struct laz_result *result)
{
    finish_tell(session, finish_was_whole(session), result);
}

int laz_session_finish_take(struct laz_session *session, const struct laz_message *message,
                            const char **why)
{
    const struct laz_settings_values *values = session->shared->values;
    struct laz_finish *finish = &session->finish;
    int rc;

    *why = "what follows an execution is not as it has to be";
    if (!message->has_id || message->id != finish->id || finish->has_followed)
        return LAZ_EPROTO;
    if (message->type == LAZ_MESSAGE_PART)
        return strcmp(message->of, "file") == 0
                   ? laz_artifacts_take(&finish->result->artifacts, message,
                                        values->artifacts.max_files, values->artifacts.max_size,
                                        why)
                   : LAZ_EPROTO;
    rc = laz_artifacts_finish(&finish->result->artifacts, why);
    if (rc)
        return rc;
    laz_execution_warn_left_out(finish->result, &message->left_out);
    finish->has_followed = true;
    if (session->owner)
        laz_session_stir(session);
    return 0;
}

void laz_session_settle_last(struct laz_session *session, struct laz_result *result)
{
    const bool is_ok = result->verdict == LAZ_VERDICT_OK;

    if (!laz_artifacts_settle(&result->artifacts, is_ok ? "the interpreter did not finish"
                                                        : laz_verdict_name(result->verdict)))
        laz_strv_add(&result->warnings, "left out: artifacts for which there was no memory");
    laz_audit_artifacts(session, session->last_id, &result->artifacts);
}
