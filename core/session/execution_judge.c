/* SPDX-License-Identifier: MIT */
/* execution_judge.c - fills the result of an execution: its verdict, its error, its numbers.
 * Side: host.  Input trusted: no (the outcome comes from the box). */
#include "session/execution.h"

#include "base/clock.h"
#include "session/audit_events.h"
#include "session/result.h"
#include "session/session_credentials.h"
#include "session/session_network.h"
#include "advice/sanitize.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *laz_execution_words(const struct laz_execution *execution, const char *text)
{
    struct laz_buf clean = LAZ_BUF_INIT;

    if (!execution->session->shared->values->session.sanitize_errors)
        return laz_strdup(text);
    laz_sanitize(text, LAZ_SANITIZE_MAX, &clean);
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
    result->error_kind = laz_strdup(reported ? message->kind : laz_verdict_error_kind(j->verdict));
    result->error_message =
        laz_execution_words(execution, reported && message->message ? message->message : j->detail);
    execution->out_of_memory |= !result->error_kind || !result->error_message;
    if (!reported && !(execution->has_answered && message->type == LAZ_MESSAGE_ERROR))
        return;
    result->line = message->line; /* also of code that was interrupted */
    result->column = message->column;
    for (size_t i = 0; i < message->traceback.n; i++) {
        char *words = laz_execution_words(execution, message->traceback.items[i]);
        laz_strv_add(&result->traceback, words ? words : "");
        free(words);
    }
}

/* A value that was not sent is no error: its text is there, and a warning. */
static void execution_take_omitted(struct laz_execution *execution, const struct laz_judgement *j)
{
    struct laz_result *result = execution->result;

    if (j->overrules || !execution->has_message || !execution->message.omitted)
        return;
    free(result->value);
    result->value = NULL;
    result->is_value_omitted = true;
    laz_strv_addf(&result->warnings, "value_omitted: %.400s", execution->message.omitted);
    execution->out_of_memory |= result->warnings.failed;
}

/* Code that has ended its interpreter has a value as well. */
static void execution_take_status(struct laz_execution *execution, const struct laz_judgement *j)
{
    struct laz_result *result = execution->result;

    if (!j->has_status || result->value)
        return;
    result->value = laz_strdupf("%d", j->status);
    execution->out_of_memory |= !result->value;
}

void laz_execution_end_output(struct laz_execution *execution)
{
    struct laz_session *session = execution->session;

    if (execution->request.asked == LAZ_ASKED_EXECUTE) {
        if (!laz_box_is_ended(session->box))
            laz_box_drain(session->box);
        laz_session_tell_denials(session, execution->result);
        execution->out_of_memory |= execution->result->denials.failed;
    }
    laz_output_end(&execution->result->output);
}

/* How it ended on another machine is what its host says, unless this one has ended it. `said` NULL:
 * it was here. */
static void execution_take_word(struct laz_execution *execution, const struct laz_box_said *said,
                                struct laz_judgement *j)
{
    struct laz_result *result = execution->result;

    if (!said)
        return;
    for (size_t i = 0; i < said->warnings.n; i++)
        laz_strv_add(&result->warnings, said->warnings.items[i]);
    for (size_t i = 0; i < said->denials.n; i++)
        laz_strv_add(&result->denials, said->denials.items[i]);
    laz_session_tell_far_credentials(execution->session, said, result);
    execution->out_of_memory |= result->warnings.failed || result->denials.failed ||
                                result->credentials.failed || said->warnings.failed ||
                                said->denials.failed;
    if (!said->has_verdict)
        return;
    j->replace = !said->is_kept;
    if (execution->stop != LAZ_STOP_NONE)
        return;
    if (!result->replaced)
        result->replaced = said->replaced;
    j->verdict = said->verdict;
    snprintf(j->detail, sizeof j->detail, "%s", said->detail ? said->detail : "");
    laz_buf_clear(&j->evidence);
    if (said->evidence && strlen(said->evidence) > 2)
        laz_buf_append(&j->evidence, said->evidence + 1, strlen(said->evidence) - 2);
}

void laz_execution_judge(struct laz_execution *execution)
{
    struct laz_session *session = execution->session;
    struct laz_box *box = session->box;
    struct laz_result *result = execution->result;
    struct laz_judgement judgement;
    uint64_t cpu_us;

    laz_box_usage(box, &cpu_us, &result->max_rss_bytes);
    if (cpu_us < session->guard.seen_us) /* the guard has seen processes that are gone now */
        cpu_us = session->guard.seen_us;
    if (result->max_rss_bytes < session->guard.peak_bytes)
        result->max_rss_bytes = session->guard.peak_bytes;
    struct laz_evidence evidence = {
        .stop = execution->stop,
        .stop_number = execution->stop_number,
        .stop_text = execution->stop_text,
        .has_answered = execution->has_answered,
        .message = execution->has_message ? &execution->message : NULL,
        .exit = laz_box_is_ended(box) ? &box->exit : NULL,
        .cpu_us = laz_box_is_ended(box) ? cpu_us : 0,
        .box_us = laz_clock_us() - box->started_us,
        .exit_code = box->exit_code,
        .counts_all = box->host.cpu != NULL,
        .estimated = session->guard.estimate.busy_us > 0,
        .ran_out = laz_box_out_of_memory(box),
        .memory_by = box->host.memory,
        .limits = &session->shared->values->limits,
        .value = result->value,
        .statuses =
            session->runtime && session->runtime->language && session->runtime->language->statuses,
    };

    evidence.agent_ended = laz_box_is_ended(box) &&
                           laz_box_agent_end(box, &evidence.agent_signal, &evidence.agent_status);
    laz_judge(&evidence, &judgement);
    execution_take_word(execution, laz_box_said(box), &judgement);
    result->cpu_us = cpu_us > execution->cpu_before_us ? cpu_us - execution->cpu_before_us : 0;
    session->cpu_us = cpu_us;
    result->verdict = judgement.verdict;
    result->status = judgement.status;
    result->has_status = judgement.has_status;
    result->detail = laz_strdup(judgement.detail);
    result->evidence = laz_strdupf("{%s}", laz_buf_text(&judgement.evidence));
    execution->out_of_memory |=
        !laz_session_mark_result(session, result) || !result->detail || !result->evidence ||
        judgement.evidence.failed ||
        (!execution->request.is_last &&
         !laz_artifacts_settle(&result->artifacts, laz_verdict_name(result->verdict)));
    execution_fill_error(execution, &judgement);
    laz_execution_hint(execution);
    if (judgement.overrules) {
        free(result->value);
        result->value = NULL;
    } else if (execution->has_message && execution->message.visible && execution->message.text) {
        result->text = (char *)execution->message.text; /* takes it over */
        execution->message.text = NULL;
    }
    execution_take_omitted(execution, &judgement);
    execution_take_status(execution, &judgement);
    laz_buf_fini(&judgement.evidence);
    laz_audit_judged(execution);
    if (judgement.replace || laz_box_is_ended(box) || session->misbehaved) {
        session->replaced = laz_verdict_name(judgement.verdict);
        laz_session_drop_box(session, LAZ_EVENT_REPLACE);
        if (!session->keeps_dead && !atomic_load(&session->closing))
            laz_session_begin_start(session, "replaced");
    } else {
        result->is_kept = execution->request.keeps;
        laz_guard_rest(session);
    }
}
