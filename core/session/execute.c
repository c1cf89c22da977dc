/* SPDX-License-Identifier: MIT */
/* execute.c - one execution: from the code to its verdict.
 * Side: host.  Input trusted: no (everything the box reports).
 *
 * There are two clocks: that of the code, which stops while a call of a tool is open, and that of
 * the deadline, which never stops.  What ends an execution early kills the box first and waits for
 * its end, so that the last output has arrived and the kernel has reported how the process ended;
 * only then is the execution judged.  A clock or a caller interrupts the code first, where its
 * session is to be kept: if it ends within its grace, its outcome says no more than that, and the
 * box stays.  Calls of tools (execution_tools.c) that are open at that moment are cancelled. */
#include "session/execution.h"

#include "audit/audit.h"
#include "session/audit_events.h"
#include "session/observe.h"
#include "session/output.h"
#include "advice/patterns.h"
#include "session/result.h"
#include "session/session_network.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* To the second signal that interrupts an execution, at most. */
#define INTERRUPT_AGAIN_MS 500u

/* ---- ending it ------------------------------------------------------------------------------ */

static void execution_set_over(struct laz_execution *execution)
{
    execution->over = true;
    laz_session_stir(execution->session);
}

/* Does the outcome wait for a check of it, or for a look that may judge it? Its clocks do not run
 * any more. */
static bool execution_holds(struct laz_execution *execution)
{
    struct laz_session *session = execution->session;

    execution->is_held =
        execution->stop == LAZ_STOP_NONE && (execution->check || laz_guard_is_awaited(session));
    if (execution->is_held) {
        laz_timer_cancel(session->code_timer);
        laz_timer_cancel(session->deadline_timer);
    }
    return execution->is_held;
}

/* It is over, and stopped nevertheless: its outcome does not count. */
static void execution_revoke(struct laz_execution *execution)
{
    laz_message_fini(&execution->message);
    execution->message = (struct laz_message){0};
    execution->has_message = false;
    free(execution->result->value);
    execution->result->value = NULL;
}

/* It is over at once, or with the end of the box. */
static void execution_kill(struct laz_execution *execution)
{
    laz_execution_abandon_calls(execution);
    if (execution->is_held)
        execution_revoke(execution);
    if (execution->is_held || laz_box_is_ended(execution->session->box))
        execution_set_over(execution);
    else
        laz_box_kill(execution->session->box);
}

/* Nobody waits for its own end any more. */
static void execution_end_grace(struct laz_execution *execution)
{
    execution->is_interrupted = false;
    laz_timer_cancel(execution->session->code_timer);
    execution_kill(execution);
}

/* The signal is sent again to what the code has started. */
static void execution_grace_passes(struct laz_execution *execution)
{
    struct laz_session *session = execution->session;
    const uint64_t left_ms = execution->grace_left_ms;

    execution->grace_left_ms = 0;
    if (left_ms && laz_box_interrupt(session->box, (uint32_t)execution->id))
        laz_timer_start(session->code_timer, left_ms);
    else
        execution_end_grace(execution);
}

/* May the session be kept? */
static bool execution_may_interrupt(const struct laz_execution *execution)
{
    const struct laz_session *session = execution->session;

    return laz_stop_reasons[execution->stop].interrupts && execution->request.keeps &&
           session->shared->values->session.interrupt_grace_ms && !session->is_ending &&
           !atomic_load(&session->closing);
}

/* Interrupts the code: it has its grace from here on. Code that has ended, and whose outcome is
 * held, need not be: the outcome does not count any more. */
static bool execution_interrupt(struct laz_execution *execution)
{
    struct laz_session *session = execution->session;
    const uint64_t grace_ms = session->shared->values->session.interrupt_grace_ms;
    const uint64_t first_ms = grace_ms / 2 < INTERRUPT_AGAIN_MS ? grace_ms / 2 : INTERRUPT_AGAIN_MS;

    if (!execution_may_interrupt(execution))
        return false;
    if (execution->is_held) {
        execution->has_answered = true;
        execution_set_over(execution);
        return true;
    }
    if (!laz_box_interrupt(session->box, (uint32_t)execution->id))
        return false;
    execution->is_interrupted = true;
    execution->grace_left_ms = grace_ms - first_ms;
    laz_timer_start(session->code_timer, first_ms);
    laz_execution_refuse_calls(execution);
    return true;
}

void laz_execution_stop(struct laz_execution *execution, enum laz_stop stop, uint64_t number,
                        const char *text)
{
    if (execution->is_interrupted && !laz_stop_reasons[stop].interrupts)
        execution_end_grace(execution);
    if ((execution->over && !execution->is_held) || execution->stop != LAZ_STOP_NONE)
        return;
    laz_execution_drop_check(execution);
    execution->stop = stop;
    execution->stop_number = number;
    snprintf(execution->stop_text, sizeof execution->stop_text, "%s", text);
    laz_audit_stopped(execution);
    laz_timer_cancel(execution->session->code_timer);
    laz_timer_cancel(execution->session->deadline_timer);
    if (!execution_interrupt(execution))
        execution_kill(execution);
}

static void execution_session_stops(struct laz_session *session, enum laz_stop stop,
                                    uint64_t number, const char *text)
{
    laz_execution_stop(session->execution, stop, number, text);
}

static void execution_box_ended(struct laz_session *session)
{
    laz_execution_abandon_calls(session->execution);
    execution_set_over(session->execution);
}

/* ---- clocks --------------------------------------------------------------------------------- */

static void execution_code_too_late(void *user)
{
    struct laz_session *session = user;

    if (session->execution && session->execution->is_interrupted)
        execution_grace_passes(session->execution);
    else if (session->execution)
        laz_execution_stop(session->execution, LAZ_STOP_TIMEOUT,
                           session->execution->request.options->timeout_ms, "");
}

static void execution_deadline_over(void *user)
{
    struct laz_session *session = user;

    if (session->execution)
        laz_execution_stop(session->execution, LAZ_STOP_DEADLINE,
                           session->execution->request.options->deadline_ms, "");
}

/* ---- reports of the box --------------------------------------------------------------------- */

/* The channel is closed: by its peer, or by this side for want of memory or descriptors. */
static void execution_was_not_sent(struct laz_execution *execution)
{
    const struct laz_error *why = &execution->session->failure;

    if (why->code == LAZ_EOS || why->code == LAZ_ENOMEM)
        laz_execution_stop(execution, LAZ_STOP_HOST, 0, why->text);
    else
        laz_execution_stop(execution, LAZ_STOP_PROTOCOL, 0,
                           "the agent's channel was closed before the code was sent");
}

/* Stops it for what came in parts, unless rc is 0. */
static bool execution_refuse(struct laz_execution *execution, int rc, const char *why)
{
    if (rc == LAZ_ENOMEM || rc == LAZ_EOS)
        laz_execution_stop(execution, LAZ_STOP_HOST, 0, rc == LAZ_EOS ? why : "out of memory");
    else if (rc)
        laz_execution_stop(execution, LAZ_STOP_PROTOCOL, 0, why);
    return rc != 0;
}

/* A part of a file was written: sends the next. False: there is none. */
static bool execution_put_next(struct laz_execution *execution)
{
    struct laz_buf line = LAZ_BUF_INIT;

    if (execution->request.asked != LAZ_ASKED_PUT || execution->sent == execution->request.len)
        return false;
    laz_execution_put_line(execution, &line);
    if (line.failed)
        laz_execution_stop(execution, LAZ_STOP_HOST, 0, "out of memory");
    else if (!laz_box_send(execution->session->box, line.data, line.len, 0))
        execution_was_not_sent(execution);
    laz_buf_fini(&line);
    return true;
}

static void execution_checked(struct laz_execution *execution, int rc, const char *why,
                              struct laz_buf *value, struct laz_buf *text)
{
    if (execution_refuse(execution, rc, why))
        return;
    laz_execution_take_content(execution, &execution->message, value, text);
    laz_session_stir(execution->session);
}

static void execution_take_outcome(struct laz_execution *execution, struct laz_message *message)
{
    execution->message = *message; /* takes its memory */
    execution->message.value = execution->message.args = NULL;
    *message = (struct laz_message){0};
    execution->has_message = true;
    execution_set_over(execution);
}

/* Code that was interrupted has ended in time: what it has made counts, and where it was. */
static void execution_answered(struct laz_execution *execution, struct laz_message *message)
{
    const char *why = "";
    int rc = laz_execution_take_artifacts(execution, message, &why);

    if (execution_refuse(execution, rc, why))
        return;
    execution->is_interrupted = false;
    execution->has_answered = true;
    laz_timer_cancel(execution->session->code_timer);
    execution_take_outcome(execution, message);
    laz_session_event(execution->session, LAZ_EVENT_DONE);
}

static void execution_message(struct laz_session *session, struct laz_message *message)
{
    struct laz_execution *execution = session->execution;
    const char *why = "";
    int rc;

    if (execution->stop != LAZ_STOP_NONE && !execution->is_interrupted)
        return;
    if (message->type == LAZ_MESSAGE_TOOL_CALL) {
        if (execution->request.asked == LAZ_ASKED_EXECUTE)
            laz_execution_tool_call(execution, message, false);
        else
            laz_execution_stop(execution, LAZ_STOP_PROTOCOL, 0,
                               "a tool was called while no code was executed");
        return;
    }
    if (!message->has_id || message->id != execution->id) {
        laz_execution_stop(execution, LAZ_STOP_PROTOCOL, 0,
                           "the id of the outcome is not that of the execution");
        return;
    }
    if (message->type == LAZ_MESSAGE_PART) {
        rc = laz_execution_part(execution, message, &why);
        (void)execution_refuse(execution, rc, why);
        return;
    }
    if (execution->is_interrupted) {
        execution_answered(execution, message);
        return;
    }
    if (message->type == LAZ_MESSAGE_RESULT && execution_put_next(execution))
        return;
    rc = laz_execution_take_parts(execution, message, &why);
    if (execution_refuse(execution, rc, why))
        return;
    if (message->value) {
        execution->result->value = laz_strndup(message->value, message->value_len);
        execution->out_of_memory |= !execution->result->value;
    }
    execution_take_outcome(execution, message);
    (void)execution_holds(execution); /* from now on */
    laz_session_event(session, LAZ_EVENT_DONE);
    laz_execution_abandon_calls(execution);
}

static void execution_take_output(struct laz_session *session, int stream, const char *data,
                                  size_t len)
{
    struct laz_execution *execution = session->execution;
    struct laz_output *output = &execution->result->output;
    uint64_t most = session->shared->values->session.max_output_size * 64;

    laz_output_add(output, stream, data, len);
    if (most && output->total > most)
        laz_execution_stop(execution, LAZ_STOP_OUTPUT_LIMIT, most, "");
}

/* What is not code prints nothing. */
static bool execution_output(struct laz_session *session, int stream, const char *data, size_t len)
{
    const bool is_code = session->execution->request.asked == LAZ_ASKED_EXECUTE;

    if (is_code)
        execution_take_output(session, stream, data, len);
    else if (session->finish.has_run)
        laz_session_keep_output(session, stream, data, len);
    return is_code;
}

/* ---- running -------------------------------------------------------------------------------- */

/* The messages that ask for it. */
static const enum laz_message_type execution_types[] = {
    [LAZ_ASKED_EXECUTE] = LAZ_MESSAGE_EXECUTE,
    [LAZ_ASKED_CHECK] = LAZ_MESSAGE_CHECK,
    [LAZ_ASKED_PUT] = LAZ_MESSAGE_PUT,
    [LAZ_ASKED_REMOVE] = LAZ_MESSAGE_REMOVE,
};

static bool execution_takes_cwd(const struct laz_execution *execution)
{
    const enum laz_collect collect = execution->session->shared->values->artifacts.collect;

    return collect == LAZ_COLLECT_AUTO ? execution->request.options->collect_cwd != 0
                                       : collect == LAZ_COLLECT_CWD;
}

/* Where it begins, unless that is where the last one was. */
static const char *execution_directory(const struct laz_execution *execution)
{
    const struct laz_session *session = execution->session;
    const char *directory = session->shared->values->session.directory;

    if (execution->request.options && execution->request.options->cwd)
        return execution->request.options->cwd;
    return directory && *directory && !session->finish.has_run ? directory : NULL;
}

static int execution_send(struct laz_execution *execution, struct laz_error *err)
{
    struct laz_session *session = execution->session;
    const struct laz_execute_options *options = execution->request.options;
    struct laz_buf line = LAZ_BUF_INIT;

    execution->id = ++session->last_id;
    const struct laz_message request = {
        .type = execution_types[execution->request.asked],
        .has_id = true,
        .id = execution->id,
        .code = execution->request.code,
        .code_len = execution->request.len,
        .print = execution->request.asked == LAZ_ASKED_EXECUTE && !options->no_print,
        .invisible = options->invisible != 0,
        .native = options->native != 0,
        .input = options->input,
        .argv = {.items = (char **)(uintptr_t)options->argv, .n = options->n_argv},
        .cwd = execution_directory(execution),
        .directory = options->n_argv ? options->directory : NULL,
        .takes_cwd = execution_takes_cwd(execution),
        .is_last = execution->request.is_last,
        .name = execution->request.file,
    };
    if (execution->request.asked == LAZ_ASKED_PUT)
        laz_execution_put_line(execution, &line);
    else
        laz_message_make(&request, &line);
    size_t most = session->shared->values->session.max_value_size;
    int rc = line.failed ? laz_error_nomem(err) : 0;
    if (!rc && line.len > most)
        rc = laz_error_set(err, LAZ_ETOOBIG, 0,
                           "the code is larger than max_value_size (%zu bytes)", most);
    if (!rc) {
        if (execution->request.asked == LAZ_ASKED_EXECUTE)
            laz_box_hear(session->box, session->finish.has_run);
        if (!laz_box_send(session->box, line.data, line.len, 0)) /* code that never ran is not ok */
            execution_was_not_sent(execution);
    }
    laz_buf_fini(&line);
    if (rc)
        return rc;
    laz_session_event(session, LAZ_EVENT_EXECUTE);
    return 0;
}

/* Called by a worker that holds the loop; see laz_lend_begin. */
static bool execution_serve(void *user, uint64_t ms)
{
    struct laz_execution *execution = user;

    return !execution->over && execution->stop == LAZ_STOP_NONE &&
           laz_box_serve(execution->session->box, ms);
}

/* The code was sent: starts the clocks. */
static void execution_started(struct laz_execution *execution)
{
    struct laz_session *session = execution->session;
    struct laz_session_shared *shared = session->shared;

    session->execution = execution;
    session->finish.has_run |= execution->request.asked == LAZ_ASKED_EXECUTE;
    session->finish.id = execution->request.is_last ? execution->id : 0;
    execution->phase = LAZ_PHASE_RUNNING;
    execution->cpu_before_us = session->cpu_us;
    execution->started_us = laz_loop_now_us(shared->driver->loop);
    laz_guard_begin(session);
    laz_execution_clock_run(execution);
    execution->deadline_left_ms = execution->request.options->deadline_ms;
    laz_execution_deadline_run(execution);
    laz_execution_progress_begin(execution);
    if (++shared->running > 1)
        laz_lend_end(shared->tools->lend); /* no session may wait for the tool of another one */
    else if (session->waiters && !session->network &&
             !laz_box_is_far(session->box)) /* which is served by the loop */
        laz_lend_begin(shared->tools->lend, execution_serve, execution);
    if (execution->request.asked == LAZ_ASKED_EXECUTE)
        laz_session_give_output(session, execution_take_output);
    laz_session_hear_commands(session);
}

/* Stops everything that belongs to a running execution, and takes the rest of its output. */
static void execution_finish(struct laz_execution *execution)
{
    struct laz_session *session = execution->session;

    session->shared->running--;
    laz_lend_end(session->shared->tools->lend);
    laz_timer_cancel(session->code_timer);
    laz_timer_cancel(session->deadline_timer);
    laz_timer_cancel(session->guard.timer);
    laz_execution_progress_end(execution);
    laz_execution_end_output(execution);
    execution->result->wall_us =
        laz_loop_now_us(session->shared->driver->loop) - execution->started_us;
    session->execution = NULL;
}

/* ---- from phase to phase -------------------------------------------------------------------- */

static void execution_free(struct laz_execution *execution)
{
    if (execution->hook)
        laz_hook_forget(execution->hook);
    laz_message_fini(&execution->message);
    laz_result_free(execution->result);
    free(execution->calls);
    free(execution);
}

/* Reports the result to who has asked. May free the session. */
static void execution_end(struct laz_execution *execution, int rc, const struct laz_error *why)
{
    const struct laz_request request = execution->request;
    struct laz_result *result = execution->result;

    if (!rc && (!result || execution->out_of_memory || result->output.kept.failed))
        rc = LAZ_ENOMEM;
    struct laz_error err = {0};
    if (rc && why)
        err = *why;
    else if (rc)
        laz_error_nomem(&err);
    if (!rc)
        execution->result = NULL; /* the caller's now */
    laz_observe_executed(execution, rc ? NULL : result);
    execution->session->wanted = NULL;
    execution_free(execution);
    request.done(request.user, rc ? NULL : result, rc ? &err : NULL);
}

/* Ends an execution of which nothing ran, with this result. */
static void execution_end_with(struct laz_execution *execution, struct laz_result *result)
{
    struct laz_session *session = execution->session;

    laz_result_free(execution->result);
    execution->result = result;
    if (result)
        (void)laz_session_mark_result(session, result);
    if (result && result->verdict != LAZ_VERDICT_SETUP_FAILED)
        result->is_kept = execution->request.keeps && session->box && !session->misbehaved;
    execution_end(execution, 0, NULL);
}

static void execution_end_blocked(struct laz_execution *execution, struct laz_result *result)
{
    if (result)
        laz_audit_blocked(execution, result);
    execution_end_with(execution, result);
}

/* Adds a warning to the result if records are missing from the audit log. */
static void execution_warn_audit(struct laz_execution *execution)
{
    struct laz_strv *warnings = &execution->result->warnings;
    char *trouble = laz_audit_trouble(execution->session->shared->audit);

    if (trouble)
        laz_strv_add(warnings, trouble);
    execution->out_of_memory |= warnings->failed;
    free(trouble);
}

/* The outcome has arrived, or the box has ended: judges the execution and reports the result. */
static void execution_complete(struct laz_execution *execution)
{
    struct laz_session *session = execution->session;
    struct laz_result *result = execution->result;

    execution_finish(execution);
    laz_execution_judge(execution);
    session->finish.left_ms = laz_execution_left_ms(execution);
    laz_execution_log_refused(execution);
    if (execution->request.asked == LAZ_ASKED_EXECUTE &&
        result->verdict != LAZ_VERDICT_SYNTAX_ERROR)
        session->executions++;
    const char *detail = laz_result_detail(result);
    laz_log(&session->shared->driver->log, LAZ_LOG_INFO, "Execution %s%s%s (%llu ms)",
            laz_verdict_name(result->verdict), *detail ? ": " : "", detail,
            (unsigned long long)(result->wall_us / 1000));
    execution_warn_audit(execution);
    execution_end(execution, 0, NULL);
}

/* What code cannot do in the box of the session: calls of it get a warning. */
static uint32_t execution_refused(const struct laz_session *session)
{
    const struct laz_settings_values *values = session->shared->values;
    const uint32_t enforces = session->enforces;
    const uint32_t files = LAZ_ENFORCE_FS_READ | LAZ_ENFORCE_PROCESSES;
    const uint32_t network = session->has_network ? 0 : LAZ_ENFORCE_NETWORK;

    return ((enforces & network) ? LAZ_REFUSES_NETWORK : 0) |
           ((enforces & LAZ_ENFORCE_SYSCALLS) ? LAZ_REFUSES_PRIVILEGES : 0) |
           ((enforces & LAZ_ENFORCE_TERMINALS) && !values->sandbox.tty ? LAZ_REFUSES_TERMINALS
                                                                       : 0) |
           ((enforces & files) && !values->sandbox.programs.n ? LAZ_REFUSES_PROGRAMS : 0);
}

/* The start of the session has ended: sends the code, or reports why the session did not start. */
static void execution_submit(struct laz_execution *execution)
{
    struct laz_session *session = execution->session;
    struct laz_start *start = &session->start;
    struct laz_error why = {0};
    int rc = start->rc;

    if (rc && rc != LAZ_ESETUP && rc != LAZ_ECANCELLED && execution->request.starts) {
        why = start->why;
        why.code = rc;
        start->rc = 0;
        execution_end(execution, rc, &why);
        return;
    }
    if (rc || atomic_load(&session->closing)) {
        start->rc = 0;
        execution_end_with(execution, laz_result_not_started(rc ? rc : LAZ_ECANCELLED,
                                                             rc ? start->why.text : "cancelled"));
        return;
    }
    if (start->is_unrecorded) {
        start->is_unrecorded = false;
        execution_end_with(execution, laz_execution_not_recorded(session, &start->why));
        return;
    }
    if (laz_audit_execute(execution, &why)) {
        execution_end_with(execution, laz_execution_not_recorded(session, &why));
        return;
    }
    if (session->shared->values->session.validate && !execution->request.options->no_validate &&
        execution->request.asked <= LAZ_ASKED_CHECK)
        laz_patterns_find(session->runtime->language, execution_refused(session),
                          execution->request.code, execution->request.len,
                          &execution->result->warnings);
    rc = execution_send(execution, &why);
    if (rc) {
        laz_audit_not_run(execution, &why);
        execution_end(execution, rc, &why);
        return;
    }
    if (execution->request.asked == LAZ_ASKED_EXECUTE) {
        execution->result->replaced = session->replaced;
        session->replaced = NULL;
        if (*session->lost)
            laz_strv_addf(&execution->result->warnings, "the session was started anew: %s",
                          session->lost);
        *session->lost = '\0';
    }
    execution_started(execution);
}

/* Does the session have a box, or will it have one? That of a peer that has misbehaved is replaced.
 */
static int execution_find_box(struct laz_session *session, struct laz_error *err)
{
    laz_session_look(session);
    if (session->is_lost && !session->box) {
        snprintf(session->lost, sizeof session->lost, "%.199s", session->failure.text);
        if (!session->replaced)
            session->replaced = laz_verdict_name(LAZ_VERDICT_CRASHED);
        laz_session_event(session, LAZ_EVENT_REPLACE);
    }
    if (!session->box && session->state != LAZ_SESSION_RESTARTING && !session->start.under_way &&
        !session->start.rc)
        return laz_error_set(err, LAZ_ECLOSED, 0,
                             session->failure.code ? "the session is not running: %s"
                                                   : "the session is not running%s",
                             session->failure.code ? session->failure.text : "");
    if (session->misbehaved && session->box && !session->start.under_way)
        laz_session_drop_box(session, LAZ_EVENT_REPLACE);
    return 0;
}

/* The code may run: waits for the start of the session, if one is needed. */
static void execution_await_box(struct laz_execution *execution)
{
    struct laz_session *session = execution->session;

    execution->phase = LAZ_PHASE_BOX;
    if (session->state == LAZ_SESSION_RESTARTING && !session->start.under_way && !session->start.rc)
        laz_session_begin_start(session, "replaced");
    laz_session_be_patient(session);
    if (!session->start.under_way)
        execution_submit(execution);
}

static void execution_hook_answered(void *user)
{
    struct laz_execution *execution = user;

    execution->hook_answered = true;
    laz_session_stir(execution->session);
}

/* Checks whether the code may run, and begins to ask the hook of the settings, if there is one. */
static void execution_admit(struct laz_execution *execution)
{
    struct laz_session *session = execution->session;
    struct laz_session_shared *shared = session->shared;
    struct laz_error err = {0};

    if (execution->request.asked != LAZ_ASKED_EXECUTE) {
        execution_await_box(execution);
        return;
    }
    struct laz_result *refusal = laz_execution_check_rules(execution);
    if (refusal) {
        execution_end_blocked(execution, refusal);
    } else if (!shared->values->session.pre_execute_hook.n) {
        execution_await_box(execution);
    } else {
        execution->phase = LAZ_PHASE_HOOK;
        int rc = laz_hook_begin(shared->driver, shared->boxes->spawner,
                                &shared->values->session.pre_execute_hook, execution->request.code,
                                execution->request.len, execution_hook_answered, execution,
                                &execution->hook, &err);
        if (rc)
            execution_end_blocked(execution, laz_execution_blocked_by_hook(rc, err.text));
    }
}

/* The hook may have taken long: the session's box is looked at again. */
static void execution_take_hook_answer(struct laz_execution *execution)
{
    char detail[LAZ_ERROR_TEXT_SIZE];
    struct laz_error why = {0};
    int rc = laz_hook_end(execution->hook, detail, sizeof detail);

    execution->hook = NULL;
    if (rc) {
        execution_end_blocked(execution, laz_execution_blocked_by_hook(rc, detail));
        return;
    }
    rc = execution_find_box(execution->session, &why);
    if (rc)
        execution_end(execution, rc, &why);
    else
        execution_await_box(execution);
}

void laz_execution_cancel(struct laz_session *session)
{
    struct laz_execution *execution = session->wanted;

    if (execution && execution->phase == LAZ_PHASE_RUNNING) {
        laz_execution_stop(execution, LAZ_STOP_CANCELLED, 0, "");
    } else if (execution) {
        execution->cancelled = true;
        laz_session_stir(session);
    } else if (session->start.under_way) {
        laz_session_fail(session, LAZ_ECANCELLED, "cancelled");
    }
}

void laz_execution_abandon(struct laz_session *session)
{
    struct laz_execution *execution = session->wanted;

    if (execution && execution->phase == LAZ_PHASE_RUNNING) {
        laz_execution_stop(execution, LAZ_STOP_CANCELLED, 0, "");
        execution_complete(execution); /* by what is known of its end now */
    } else if (execution) {
        execution_end_with(execution, laz_result_not_started(LAZ_ECANCELLED, "cancelled"));
    }
}

static void execution_advance(struct laz_session *session)
{
    struct laz_execution *execution = session->wanted;

    if (execution->phase == LAZ_PHASE_NEW && !execution->cancelled)
        execution_admit(execution);
    else if (execution->cancelled)
        execution_end_with(execution, laz_result_not_started(LAZ_ECANCELLED, "cancelled"));
    else if (execution->phase == LAZ_PHASE_HOOK && execution->hook_answered)
        execution_take_hook_answer(execution);
    else if (execution->phase == LAZ_PHASE_BOX && !session->start.under_way)
        execution_submit(execution);
    else if (execution->phase == LAZ_PHASE_RUNNING && execution->over &&
             !execution_holds(execution))
        execution_complete(execution);
}

const struct laz_session_listener laz_execution_listener = {
    .advance = execution_advance,
    .message = execution_message,
    .command = laz_execution_command,
    .output = execution_output,
    .stop = execution_session_stops,
    .read_on = laz_execution_read_on,
    .box_ended = execution_box_ended,
    .code_too_late = execution_code_too_late,
    .deadline_over = execution_deadline_over,
};

/* ---- its beginning -------------------------------------------------------------------------- */

static void execution_set_output(struct laz_execution *execution)
{
    const struct laz_settings_values *values = execution->session->shared->values;
    const struct laz_execute_options *options = execution->request.options;
    struct laz_output *output = &execution->result->output;

    output->max_bytes = values->session.max_output_size;
    output->max_lines = options->max_output_lines;
    output->line = options->line;
    output->raw = options->output;
    output->user = options->user;
}

int laz_session_ask(struct laz_session *session, const struct laz_request *request, bool at_once,
                    struct laz_error *err)
{
    if (session->is_ending)
        return laz_error_set(err, LAZ_ECLOSED, 0, "the session is being closed");
    int rc = execution_find_box(session, err);
    if (rc)
        return rc;
    struct laz_execution *execution = calloc(1, sizeof *execution);
    if (!execution || !(execution->result = calloc(1, sizeof *execution->result))) {
        free(execution);
        return laz_error_nomem(err);
    }
    execution->session = session;
    execution->request = *request;
    execution->checked = execution_checked;
    execution->code_left_ms = request->options->timeout_ms;
    execution_set_output(execution);
    execution->cancelled = session->is_cancelled; /* between this request and the one before */
    session->wanted = execution;
    laz_observe_execution(execution);
    if (at_once && !execution->cancelled)
        execution_admit(execution);
    else
        laz_session_stir(session);
    return 0;
}
