/* SPDX-License-Identifier: MIT */
/* execute.c - one execution: from the code to its one verdict.
 * Side: host.  Input trusted: no (everything the box reports).
 *
 * Two clocks: the code's, which stands still while a tool is awaited, and the deadline, which never
 * does.  Whatever ends an execution early first kills the box and then waits for its end, so that
 * the last output is there and the kernel has said how the process ended; only then is it judged.
 * Calls of tools (execution_tools.c) that are open at that moment are abandoned: their providers
 * are told. */
#include "engine/execution.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/utf8.h"
#include "engine/audit.h"
#include "engine/audit_events.h"
#include "engine/command.h"
#include "engine/lend.h"
#include "engine/output.h"
#include "engine/patterns.h"
#include "engine/result.h"
#include "engine/sanitize.h"
#include "engine/verdict.h"
#include "os/io.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SANITIZED_MAX 500 /* bytes of a sanitised message, as in the reference */

/* ---- ending it ------------------------------------------------------------------------------ */

void laz_execution_stop(struct laz_execution *execution, enum laz_stop stop, uint64_t number,
                        const char *text)
{
    if (execution->over || execution->stop != LAZ_STOP_NONE)
        return;
    execution->stop = stop;
    if (stop == LAZ_STOP_TIMEOUT || stop == LAZ_STOP_DEADLINE)
        execution->stop_ms = number;
    else
        execution->stop_count = number;
    snprintf(execution->stop_text, sizeof execution->stop_text, "%s", text);
    laz_audit_stopped(execution);
    laz_timer_cancel(execution->session->code_timer);
    laz_timer_cancel(execution->session->deadline_timer);
    laz_execution_abandon_calls(execution);
    if (execution->session->box->ended)
        execution->over = true;
    else
        laz_box_kill(execution->session->box);
}

void laz_execution_broken(struct laz_session *session, const char *why)
{
    laz_execution_stop(session->execution, LAZ_STOP_PROTOCOL, 0, why);
}

void laz_execution_box_ended(struct laz_session *session)
{
    laz_execution_abandon_calls(session->execution);
    session->execution->over = true;
}

/* ---- clocks --------------------------------------------------------------------------------- */

void laz_execution_code_too_late(void *user)
{
    struct laz_session *session = user;

    if (session->execution)
        laz_execution_stop(session->execution, LAZ_STOP_TIMEOUT, session->execution->timeout_ms,
                           "");
}

void laz_execution_deadline_over(void *user)
{
    struct laz_session *session = user;

    if (session->execution)
        laz_execution_stop(session->execution, LAZ_STOP_DEADLINE, session->execution->deadline_ms,
                           "");
}

void laz_execution_clock_run(struct laz_execution *execution)
{
    if (!execution->timeout_ms || execution->stop != LAZ_STOP_NONE)
        return;
    execution->code_since_ms = laz_clock_ms();
    laz_timer_start(execution->session->code_timer, execution->code_left_ms);
}

void laz_execution_clock_stand(struct laz_execution *execution)
{
    if (!execution->timeout_ms)
        return;
    uint64_t spent = laz_clock_ms() - execution->code_since_ms;
    execution->code_left_ms -= spent < execution->code_left_ms ? spent : execution->code_left_ms;
    laz_timer_cancel(execution->session->code_timer);
}

/* ---- what the box reports ------------------------------------------------------------------- */

void laz_execution_message(struct laz_session *session, struct laz_message *message)
{
    struct laz_execution *execution = session->execution;

    if (execution->stop != LAZ_STOP_NONE)
        return;
    if (message->type == LAZ_MESSAGE_TOOL_CALL) {
        laz_execution_tool_call(execution, message);
        return;
    }
    if (!message->has_id || message->id != execution->id) {
        laz_execution_stop(execution, LAZ_STOP_PROTOCOL, 0,
                           "an outcome with the id of no execution");
        return;
    }
    if (message->value) {
        execution->result->value = laz_strndup(message->value, message->value_len);
        execution->out_of_memory |= !execution->result->value;
    }
    execution->message = *message; /* taken over */
    execution->message.value = execution->message.args = NULL;
    *message = (struct laz_message){0};
    execution->has_message = true;
    execution->over = true;
    laz_session_step(&session->state, LAZ_EVENT_DONE, &session->engine->log, session->id);
    laz_execution_abandon_calls(execution);
}

void laz_execution_output(struct laz_session *session, int stream, const char *data, size_t len)
{
    struct laz_execution *execution = session->execution;
    struct laz_output *output = &execution->result->output;
    uint64_t most = session->engine->values->session.max_output_size * 64;

    laz_output_add(output, stream, data, len);
    if (most && output->total > most)
        laz_execution_stop(execution, LAZ_STOP_OUTPUT_LIMIT, most, "");
}

/* ---- before it ------------------------------------------------------------------------------ */

static struct laz_result *blocked(const char *format, ...) LAZ_PRINTF(1, 2);

static struct laz_result *blocked(const char *format, ...)
{
    char text[LAZ_ERROR_TEXT_SIZE];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return laz_result_nothing_ran(LAZ_VERDICT_BLOCKED, "blocked", text);
}

/* Asks the hooks: the application's, then the command of the settings. NULL: the code may run. */
static struct laz_result *execution_ask_hooks(struct laz_session *session, const char *code,
                                              size_t len)
{
    const struct laz_strv *command = &session->engine->values->session.pre_execute_hook;
    char reason[400] = "";
    struct laz_error err = {0};

    if (session->pre_execute &&
        session->pre_execute(session->pre_execute_user, code, len, reason, sizeof reason))
        return blocked("Execution blocked by pre_execute_hook%s%s", *reason ? ": " : "", reason);
    if (!command->n)
        return NULL;
    int rc = laz_hook_run(session->engine->spawner, (const char *const *)command->items, code, len,
                          reason, sizeof reason, &err);
    if (rc == LAZ_EREFUSED)
        return blocked("Execution blocked by pre_execute_hook%s%s", *reason ? ": " : "", reason);
    return rc ? blocked("Execution blocked: pre_execute_hook error: %s", err.text) : NULL;
}

/* Everything that can forbid it, in order. NULL: it may run. */
static struct laz_result *execution_forbidden(struct laz_session *session, const char *code,
                                              size_t len)
{
    const struct laz_settings_values *values = session->engine->values;

    if (values->session.max_executions && session->executions >= values->session.max_executions)
        return blocked("Maximum executions (%llu) reached for this session",
                       (unsigned long long)values->session.max_executions);
    if (!laz_utf8_is_valid(code, len) || memchr(code, 0, len))
        return laz_result_nothing_ran(LAZ_VERDICT_SYNTAX_ERROR, "syntax",
                                      "the code is not valid UTF-8, or contains a NUL byte");
    struct laz_result *refusal = execution_ask_hooks(session, code, len);
    if (refusal)
        return refusal;
    size_t characters = laz_utf8_count(code, len);
    if (values->session.max_code_length && characters > values->session.max_code_length)
        return blocked("Code too long (%zu characters, maximum %llu)", characters,
                       (unsigned long long)values->session.max_code_length);
    return NULL;
}

static uint64_t option_or(uint64_t option, uint64_t setting)
{
    return option == LAZ_NO_LIMIT ? 0 : option ? option : setting;
}

static void execution_take_options(struct laz_execution *execution,
                                   const struct laz_execute_options *given)
{
    const struct laz_settings_values *values = execution->session->engine->values;
    struct laz_output *output = &execution->result->output;
    struct laz_execute_options options = {0};

    if (given)
        memcpy(&options, given, given->size < sizeof options ? given->size : sizeof options);
    execution->timeout_ms = option_or(options.timeout_ms, values->session.timeout_ms);
    execution->deadline_ms = option_or(options.deadline_ms, values->session.deadline_ms);
    execution->max_tool_calls = option_or(options.max_tool_calls, values->session.max_tool_calls);
    execution->code_left_ms = execution->timeout_ms;
    output->max_bytes = values->session.max_output_size;
    output->max_lines = option_or(options.max_output_lines, values->session.max_output_lines);
    output->line = options.line;
    output->raw = options.output;
    output->user = options.user;
}

/* ---- during and after it -------------------------------------------------------------------- */

static int execution_send(struct laz_execution *execution, const char *type, const char *code,
                          size_t len, bool print, struct laz_error *err)
{
    struct laz_session *session = execution->session;
    struct laz_buf line = LAZ_BUF_INIT;

    execution->id = ++session->last_id;
    laz_buf_printf(&line, "{\"type\":\"%s\",\"id\":%lld,\"code\":", type, (long long)execution->id);
    laz_json_quote(&line, code, len);
    laz_buf_puts(&line, print ? ",\"print\":true}\n" : ",\"print\":false}\n");
    size_t most = session->engine->values->session.max_value_size;
    int rc = line.failed ? laz_error_nomem(err) : 0;
    if (!rc && line.len > most)
        rc = laz_error_set(err, LAZ_ETOOBIG, 0,
                           "the code is larger than max_value_size (%zu bytes)", most);
    if (!rc) {
        laz_box_hear(session->box);
        if (!laz_box_send(session->box, line.data, line.len, 0)) /* code that never ran is not ok */
            laz_execution_stop(execution, LAZ_STOP_PROTOCOL, 0,
                               "it was gone before the code could be sent");
    }
    laz_buf_fini(&line);
    if (rc)
        return rc;
    laz_session_step(&session->state, LAZ_EVENT_EXECUTE, &session->engine->log, session->id);
    return 0;
}

static void execution_drive(struct laz_execution *execution)
{
    struct laz_session *session = execution->session;
    struct laz_engine *engine = session->engine;

    execution->cpu_before_us = session->cpu_us;
    execution->started_us = laz_clock_us();
    laz_guard_begin(execution);
    laz_execution_clock_run(execution);
    if (execution->deadline_ms)
        laz_timer_start(session->deadline_timer, execution->deadline_ms);
    laz_lend_begin(engine->lend, execution);
    while (!execution->over) {
        if (!laz_lend_serve(engine))
            laz_loop_step(engine->loop);
        if (atomic_exchange(&engine->cancel, false))
            laz_execution_stop(execution, LAZ_STOP_CANCELLED, 0, "");
    }
    laz_lend_end(engine->lend);
    laz_timer_cancel(session->code_timer);
    laz_timer_cancel(session->deadline_timer);
    laz_guard_end(execution);
    if (!session->box->ended)
        laz_box_drain(session->box);
    laz_output_end(&execution->result->output);
    execution->result->wall_us = laz_clock_us() - execution->started_us;
}

char *laz_execution_words(const struct laz_execution *execution, const char *text)
{
    struct laz_buf clean = LAZ_BUF_INIT;

    if (!execution->session->engine->values->session.sanitize_errors)
        return laz_strdup(text);
    laz_sanitize(text, SANITIZED_MAX, &clean);
    return laz_buf_steal(&clean);
}

static void execution_fill_error(struct laz_execution *execution, const struct laz_judgement *j)
{
    struct laz_result *result = execution->result;
    const struct laz_message *message = &execution->message;
    bool reported = execution->has_message && message->type == LAZ_MESSAGE_ERROR &&
                    execution->stop == LAZ_STOP_NONE && !j->overrules;

    if (j->verdict == LAZ_VERDICT_OK)
        return;
    result->has_error = true;
    result->error_kind =
        laz_strdup(reported                          ? message->kind
                   : j->verdict == LAZ_VERDICT_ERROR ? "exit"
                                                     : laz_verdict_name(j->verdict));
    result->error_message =
        laz_execution_words(execution, reported && message->message ? message->message : j->detail);
    execution->out_of_memory |= !result->error_kind || !result->error_message;
    if (!reported)
        return;
    result->line = message->line;
    result->column = message->column;
    for (size_t i = 0; i < message->traceback.n; i++) {
        char *words = laz_execution_words(execution, message->traceback.items[i]);
        laz_strv_add(&result->traceback, words ? words : "");
        free(words);
    }
}

static void execution_judge(struct laz_execution *execution)
{
    struct laz_session *session = execution->session;
    struct laz_box *box = session->box;
    struct laz_result *result = execution->result;
    struct laz_judgement judgement;
    uint64_t cpu_us;

    laz_box_usage(box, &cpu_us, &result->max_rss_bytes);
    if (cpu_us < session->guard.seen_us) /* the tree was looked at while it was there */
        cpu_us = session->guard.seen_us;
    if (result->max_rss_bytes < session->guard.peak_bytes)
        result->max_rss_bytes = session->guard.peak_bytes;
    struct laz_evidence evidence = {
        .stop = execution->stop,
        .stop_ms = execution->stop_ms,
        .stop_count = execution->stop_count,
        .stop_text = execution->stop_text,
        .message = execution->has_message ? &execution->message : NULL,
        .ended = box->ended,
        .exit = box->ended ? &box->exit : NULL,
        .cpu_us = box->ended ? cpu_us : 0,
        .box_us = laz_clock_us() - box->started_us,
        .exit_code = box->exit_code,
        .counts_all = box->host.cpu != NULL,
        .ran_out = laz_box_out_of_memory(box),
        .memory_by = box->host.memory,
        .limits = &session->engine->values->limits,
    };

    evidence.agent_ended =
        laz_os_pidfd_end(box->agent_fd, &evidence.agent_signal, &evidence.agent_status);
    laz_judge(&evidence, &judgement);
    result->cpu_us = cpu_us > execution->cpu_before_us ? cpu_us - execution->cpu_before_us : 0;
    session->cpu_us = cpu_us;
    result->verdict = judgement.verdict;
    result->detail = laz_strdup(judgement.detail);
    result->evidence = laz_strdupf("{%s}", laz_buf_text(&judgement.evidence));
    result->isolation = laz_strdup(laz_session_isolation(session));
    execution->out_of_memory |=
        !result->detail || !result->evidence || !result->isolation || judgement.evidence.failed;
    memcpy(result->session, session->id, sizeof session->id);
    execution_fill_error(execution, &judgement);
    if (judgement.overrules) {
        free(result->value);
        result->value = NULL;
    } else if (execution->has_message && execution->message.visible && execution->message.text) {
        result->text = execution->message.text;
        execution->message.text = NULL;
    }
    laz_buf_fini(&judgement.evidence);
    laz_audit_judged(execution);
    if (judgement.replace || box->ended || session->misbehaved) {
        struct laz_error err = {0};
        laz_session_drop_box(session, LAZ_EVENT_REPLACE);
        if (!atomic_load(&session->closing) && laz_session_spawn(session, &err)) {
            laz_log(&session->engine->log, LAZ_LOG_ERROR, "session %s: %s", session->id, err.text);
            laz_audit_start_failed(session, &err);
        }
    }
}

/* The result of what was not put on record to its end says so. */
static void execution_tell_trouble(struct laz_execution *execution)
{
    struct laz_strv *warnings = &execution->result->warnings;
    char *trouble = laz_audit_trouble(execution->session->engine->audit);

    if (trouble)
        laz_strv_add(warnings, trouble);
    execution->out_of_memory |= warnings->failed;
    free(trouble);
}

/* Runs `type` ("execute", "check") on an idle session. */
static int execution_run(struct laz_session *session, const char *type, const char *code,
                         size_t len, const struct laz_execute_options *options,
                         struct laz_result **out, struct laz_error *err)
{
    bool check = strcmp(type, "check") == 0;
    bool print = !check && !(options && LAZ_HAS(options, no_print));
    struct laz_execution execution = {.session = session, .is_check = check};

    execution.result = calloc(1, sizeof *execution.result);
    if (!execution.result)
        return laz_error_nomem(err);
    execution_take_options(&execution, options);
    if (session->engine->values->session.validate && !(options && LAZ_HAS(options, no_validate)))
        laz_patterns_find(session->runtime->name, code, len, &execution.result->warnings);
    struct laz_error why = {0};
    int rc = execution_send(&execution, type, code, len, print, &why);
    if (rc) {
        laz_audit_not_run(session, type, &why);
        if (err)
            *err = why;
    } else {
        session->execution = &execution;
        execution_drive(&execution);
        session->execution = NULL;
        execution_judge(&execution);
        laz_execution_log_refused(&execution);
        if (!check && execution.result->verdict != LAZ_VERDICT_SYNTAX_ERROR)
            session->executions++;
        const char *detail = laz_result_detail(execution.result);
        laz_log(&session->engine->log, LAZ_LOG_INFO, "Execution %s%s%s (%llu ms)",
                laz_verdict_name(execution.result->verdict), *detail ? ": " : "", detail,
                (unsigned long long)(execution.result->wall_us / 1000));
        execution_tell_trouble(&execution);
        if (execution.out_of_memory || execution.result->output.kept.failed)
            rc = laz_error_nomem(err);
    }
    laz_message_fini(&execution.message);
    free(execution.calls);
    if (rc)
        laz_result_free(execution.result);
    else
        *out = execution.result;
    return rc;
}

/* ---- the public functions ------------------------------------------------------------------- */

/* A session that does not come up, as the result of the execution it was for; NULL without memory.
 */
static struct laz_result *execution_not_started(int rc, const char *why)
{
    return rc == LAZ_ECANCELLED ? laz_result_nothing_ran(LAZ_VERDICT_CANCELLED, "cancelled", why)
                                : laz_result_nothing_ran(LAZ_VERDICT_SETUP_FAILED, "setup", why);
}

/* From the outside to an idle session, or a result that says why not. */
static int execute_entered(struct laz_session *session, const char *type, const char *code,
                           size_t len, const struct laz_execute_options *options,
                           struct laz_result **result, struct laz_error *err)
{
    struct laz_error why = {0};

    laz_session_look(session);
    if (!session->box && session->state != LAZ_SESSION_RESTARTING)
        return laz_error_set(err, LAZ_ECLOSED, 0,
                             session->failure.code ? "the session is not running: %s"
                                                   : "the session is not running%s",
                             session->failure.code ? session->failure.text : "");
    if (session->misbehaved && session->box)
        laz_session_drop_box(session, LAZ_EVENT_REPLACE);
    if (strcmp(type, "execute") == 0) {
        *result = execution_forbidden(session, code, len);
        if (*result) {
            laz_audit_blocked(session, code, len, *result);
            goto told;
        }
    }
    bool fresh = session->state != LAZ_SESSION_IDLE;
    int rc = laz_session_await(session, &why);
    if (rc) {
        laz_audit_start_failed(session, &why);
        *result = execution_not_started(rc, why.text);
        goto told;
    }
    if (fresh)
        rc = laz_audit_started(session, "replaced", &why);
    if (!rc)
        rc = laz_audit_execute(session, type, code, len, &why);
    if (rc) {
        *result = blocked("Execution blocked: %s", why.text);
        goto told;
    }
    return execution_run(session, type, code, len, options, result, err);
told:
    if (!*result)
        return laz_error_nomem(err);
    memcpy((*result)->session, session->id, sizeof session->id);
    (*result)->isolation = laz_strdup(laz_session_isolation(session));
    return 0;
}

static int execute_guarded(struct laz_session *session, const char *type, const char *code,
                           size_t len, const struct laz_execute_options *options,
                           struct laz_result **result, struct laz_error *err)
{
    *result = NULL;
    if (!code)
        return laz_error_set(err, LAZ_EINVAL, 0, "there is no code");
    if (atomic_exchange(&session->executing, true))
        return laz_error_set(err, LAZ_EBUSY, 0,
                             "the session is executing and does not support concurrent executions");
    int rc = laz_engine_enter(session->engine, err);
    if (!rc) {
        rc = execute_entered(session, type, code, len == SIZE_MAX ? strlen(code) : len, options,
                             result, err);
        laz_engine_leave(session->engine);
    }
    atomic_store(&session->executing, false);
    if (atomic_exchange(&session->closing, false))
        laz_session_close(session);
    return rc;
}

int laz_session_execute(struct laz_session *session, const char *code, size_t len,
                        const struct laz_execute_options *options, struct laz_result **result,
                        struct laz_error *err)
{
    return execute_guarded(session, "execute", code, len, options, result, err);
}

int laz_session_check(struct laz_session *session, const char *code, size_t len,
                      struct laz_result **result, struct laz_error *err)
{
    return execute_guarded(session, "check", code, len, NULL, result, err);
}

int laz_execute(struct laz_engine *engine, const struct laz_session_options *session_options,
                const char *code, size_t len, const struct laz_execute_options *options,
                struct laz_result **result, struct laz_error *err)
{
    struct laz_session *session;
    struct laz_error why = {0};

    *result = NULL;
    int rc = laz_session_open(engine, session_options, &session, &why);
    if (rc == LAZ_ESETUP || rc == LAZ_ECANCELLED) {
        *result = execution_not_started(rc, why.text);
        return *result ? 0 : laz_error_nomem(err);
    }
    if (rc)
        return err ? (*err = why, rc) : rc;
    rc = laz_session_execute(session, code, len, options, result, err);
    laz_session_free(session);
    return rc;
}
