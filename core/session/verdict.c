/* SPDX-License-Identifier: MIT */
/* verdict.c - decides how an execution ended.
 * Side: host.  Input trusted: no.
 *
 * What the host did itself comes first, then what the agent reported, then how the process ended.
 * A limit is named only with evidence: a signal that only the limit sends (SIGXCPU, SIGXFSZ)
 * together with the matching count, the count of the control group, or the error of the language.
 * A control group that ran out of memory has lost a process, so the outcome is never ok, whatever
 * the agent reports.  Exit status 137 alone may be SIGKILL, from any sender, or a status that the
 * code chose: the kernel is asked which, and if it does not say, neither is claimed. */
#include "session/verdict.h"

#include "os/signals.h"

#include <stdio.h>
#include <stdlib.h>

static void judge_cpu(const struct laz_evidence *e, struct laz_judgement *j)
{
    j->verdict = LAZ_VERDICT_CPU_LIMIT;
    laz_json_add_uint(&j->add, "limit_s", e->limits->cpu_s);
    snprintf(j->detail, sizeof j->detail, "The CPU time limit of %llu s was reached",
             (unsigned long long)e->limits->cpu_s);
}

static void judge_session_cpu(const struct laz_evidence *e, struct laz_judgement *j)
{
    j->verdict = LAZ_VERDICT_CPU_LIMIT;
    laz_json_add_uint(&j->add, "session_limit_s", e->limits->session_cpu_s);
    snprintf(j->detail, sizeof j->detail,
             "The CPU time limit of %llu s for the whole session was reached",
             (unsigned long long)e->limits->session_cpu_s);
}

static void judge_memory(const struct laz_evidence *e, const char *by, struct laz_judgement *j)
{
    laz_json_add_text(&j->add, "counted_by", by);
    j->verdict = LAZ_VERDICT_MEMORY_LIMIT;
    j->replace = j->overrules = true;
    if (e->ran_out)
        laz_json_add_uint(&j->add, "out_of_memory", e->ran_out);
    laz_json_add_int(&j->add, "limit_bytes", (int64_t)e->limits->memory_bytes);
    snprintf(j->detail, sizeof j->detail,
             "All processes of the session together used more memory than the limit of %llu bytes",
             (unsigned long long)e->limits->memory_bytes);
}

/* A look at the session was not back in time. */
static void judge_uncounted(const struct laz_evidence *e, struct laz_judgement *j)
{
    judge_memory(e, e->stop_text, j);
    laz_json_add_bool(&j->add, "uncounted", true);
    snprintf(j->detail, sizeof j->detail,
             "What the session has made the kernel keep for it cannot be counted in the time for "
             "it, which exceeds the limit on memory");
}

static void judge_stop(const struct laz_evidence *e, struct laz_judgement *j)
{
    const struct laz_stop_reason *reason = &laz_stop_reasons[e->stop];
    char seconds[48];

    j->verdict = reason->verdict;
    j->replace = true;
    snprintf(seconds, sizeof seconds, "%g second%s", (double)e->stop_number / 1000.0,
             e->stop_number == 1000 ? "" : "s");
    switch (e->stop) {
    case LAZ_STOP_TIMEOUT:
        snprintf(j->detail, sizeof j->detail, "Execution timed out after %s", seconds);
        laz_json_add_uint(&j->add, "timeout_ms", e->stop_number);
        break;
    case LAZ_STOP_DEADLINE:
        snprintf(j->detail, sizeof j->detail,
                 "The deadline of %s, which includes tools and waiting, has passed", seconds);
        laz_json_add_uint(&j->add, "deadline_ms", e->stop_number);
        break;
    case LAZ_STOP_TOOL_LIMIT:
        snprintf(j->detail, sizeof j->detail, "Maximum tool calls (%llu) exceeded",
                 (unsigned long long)e->stop_number);
        laz_json_add_uint(&j->add, reason->cap, e->stop_number);
        break;
    case LAZ_STOP_OUTPUT_LIMIT:
        snprintf(j->detail, sizeof j->detail,
                 "More than %llu bytes of output, 64 times max_output_size",
                 (unsigned long long)e->stop_number);
        laz_json_add_uint(&j->add, "bytes", e->stop_number);
        break;
    case LAZ_STOP_PROTOCOL:
        snprintf(j->detail, sizeof j->detail, "The sandbox broke the protocol: %s", e->stop_text);
        break;
    case LAZ_STOP_HOST:
        snprintf(j->detail, sizeof j->detail, "The host had to give the sandbox up: %s",
                 e->stop_text);
        break;
    case LAZ_STOP_CPU:
        laz_json_add_uint(&j->add, "cpu_ms", e->stop_number);
        laz_json_add_text(&j->add, "counted_by", e->stop_text);
        if (e->estimated)
            laz_json_add_bool(&j->add, "estimated", true);
        judge_cpu(e, j);
        break;
    case LAZ_STOP_SESSION_CPU:
        laz_json_add_uint(&j->add, "cpu_ms", e->stop_number);
        laz_json_add_text(&j->add, "counted_by", e->stop_text);
        judge_session_cpu(e, j);
        break;
    case LAZ_STOP_MEMORY:
        if (e->stop_number)
            laz_json_add_uint(&j->add, "used_bytes", e->stop_number);
        judge_memory(e, e->stop_text, j);
        break;
    case LAZ_STOP_UNCOUNTED:
        judge_uncounted(e, j);
        break;
    default:
        snprintf(j->detail, sizeof j->detail, "The execution was cancelled");
    }
}

/* The outcome of code that was interrupted says whether its interpreter goes on. */
static void judge_interrupted(const struct laz_evidence *e, struct laz_judgement *j)
{
    const struct laz_error_kind *kind =
        e->message->type == LAZ_MESSAGE_ERROR ? laz_error_kind_find(e->message->kind) : NULL;

    judge_stop(e, j);
    j->overrules = true;
    j->replace = e->message->type == LAZ_MESSAGE_ERROR && (!kind || kind->replace);
    laz_json_add_bool(&j->add, "interrupted", true);
}

/* Of a language whose values are exit statuses. */
static void judge_status(int64_t status, struct laz_judgement *j)
{
    j->verdict = LAZ_VERDICT_OK;
    j->has_status = true;
    j->status = (int)(status & 0xff);
    laz_json_add_int(&j->add, "exit_status", j->status);
}

static void judge_message(const struct laz_evidence *e, struct laz_judgement *j)
{
    const struct laz_message *message = e->message;

    if (message->type == LAZ_MESSAGE_RESULT) {
        j->verdict = LAZ_VERDICT_OK;
        if (e->statuses && e->value)
            judge_status(strtoll(e->value, NULL, 10), j);
        return;
    }
    const struct laz_error_kind *kind = laz_error_kind_find(message->kind);
    if (!kind) {
        j->verdict = LAZ_VERDICT_PROTOCOL_ERROR;
        j->replace = j->overrules = true;
        snprintf(j->detail, sizeof j->detail,
                 "The sandbox broke the protocol: unknown kind of error");
        return;
    }
    j->verdict = kind->verdict;
    j->replace = kind->replace;
    if (kind == &laz_error_kinds[LAZ_OUTCOME_EXIT]) {
        if (e->statuses) {
            judge_status(message->status, j);
            return;
        }
        laz_json_add_int(&j->add, "exit_status", message->status);
        if (message->status == 0)
            j->verdict = LAZ_VERDICT_OK;
        j->status = (int)message->status;
        snprintf(j->detail, sizeof j->detail, "The code ended its process with status %d",
                 (int)message->status);
    } else if (j->verdict == LAZ_VERDICT_MEMORY_LIMIT) {
        snprintf(j->detail, sizeof j->detail, "The language could not get the memory it asked for");
        if (e->limits->memory_bytes != LAZ_UNLIMITED)
            laz_json_add_uint(&j->add, "limit_bytes", e->limits->memory_bytes);
    } else if (j->verdict == LAZ_VERDICT_FSIZE_LIMIT) {
        snprintf(j->detail, sizeof j->detail, "A file grew over the limit");
        if (e->limits->fsize_bytes != LAZ_UNLIMITED)
            laz_json_add_uint(&j->add, "limit_bytes", e->limits->fsize_bytes);
    }
}

/* How the agent ended: by `signal`, or, if that is 0, with `status`. `is_ambiguous`: the program
 * around it reported 128 + signal, which may be an exit status as well. */
struct judge_end {
    int signal, status; /* -1: not known */
    bool is_ambiguous;
};

static struct judge_end judge_agent_end(const struct laz_evidence *e)
{
    const struct laz_exit *outer = e->exit && e->exit->known ? e->exit : NULL;
    int64_t code = e->exit_code >= 0 ? e->exit_code : outer && !outer->signal ? outer->status : -1;

    if (e->agent_ended)
        return (struct judge_end){e->agent_signal, e->agent_status, false};
    if (code > 128 && code <= 128 + 64)
        return (struct judge_end){(int)code - 128, (int)code, true};
    if (code >= 0)
        return (struct judge_end){0, (int)code, false};
    return (struct judge_end){outer ? outer->signal : -1, -1, false};
}

/* True if the process was ended by the limit on the CPU time of its life (setrlimit(2)). The limit
 * of an execution ends no process by itself, so no signal is evidence of it. The soft limit sends
 * SIGXCPU, the hard one, a second later, SIGKILL. The kernel compares the limit with time counted
 * in ticks but reports time scaled to what the scheduler measured, which is less on a virtual
 * machine: so a share of the limit is enough, half for a signal that nothing else sends. If the
 * time could not be read before the process was gone, SIGXCPU counts if the box is old enough. */
static bool judge_cpu_used(const struct laz_evidence *e, int number)
{
    uint64_t limit_us = e->limits->session_cpu_s * 1000000;

    if (e->limits->session_cpu_s == LAZ_UNLIMITED)
        return false;
    if (e->counts_all && (number == SIGKILL || number == SIGXCPU) && e->cpu_us >= limit_us)
        return true;
    if (number == SIGKILL)
        return e->cpu_us >= limit_us / 4 * 3 + 1000000;
    if (number != SIGXCPU)
        return false;
    return e->cpu_us >= limit_us / 2 || (e->cpu_us < 100000 && e->box_us >= limit_us);
}

/* Fills verdict and detail for a process that no limit ended. */
static void judge_other_end(const struct judge_end *how, struct laz_judgement *j)
{
    const char *cause = how->signal == SIGKILL ? ", cause unknown, possibly out of memory" : "";

    j->verdict = LAZ_VERDICT_CRASHED;
    if (how->is_ambiguous) {
        snprintf(
            j->detail, sizeof j->detail,
            "The process ended with exit status %d, or by signal %d (%s): this system does not "
            "report which%s",
            how->status, how->signal, laz_os_signal_words(how->signal), cause);
    } else if (how->signal > 0) {
        snprintf(j->detail, sizeof j->detail, "The process was ended by signal %d (%s)%s",
                 how->signal, laz_os_signal_words(how->signal), cause);
    } else if (how->signal == 0 && how->status >= 0) {
        j->verdict = how->status ? LAZ_VERDICT_ERROR : LAZ_VERDICT_OK;
        j->status = how->status;
        snprintf(j->detail, sizeof j->detail, "The code ended its process with status %d",
                 how->status);
    } else {
        snprintf(j->detail, sizeof j->detail, "The process ended; the cause is not known");
    }
}

static void judge_process_end(const struct laz_evidence *e, struct laz_judgement *j)
{
    const struct judge_end how = judge_agent_end(e);
    bool used_up = judge_cpu_used(e, how.signal);

    j->replace = true;
    if (how.is_ambiguous || how.signal == 0)
        laz_json_add_int(&j->add, "exit_status", how.status);
    else if (how.signal > 0)
        laz_json_add_int(&j->add, "signal", how.signal);
    /* The kernel's limit uses another count than the one it reports: a reported time below the
     * limit would contradict the verdict, and is left out. */
    if (!used_up || e->cpu_us >= e->limits->session_cpu_s * 1000000)
        laz_json_add_uint(&j->add, "cpu_ms", e->cpu_us / 1000);
    else
        laz_json_add_text(&j->add, "counted_by", "rlimit");
    if (used_up) {
        judge_session_cpu(e, j);
    } else if (how.signal == SIGXFSZ && e->limits->fsize_bytes != LAZ_UNLIMITED) {
        j->verdict = LAZ_VERDICT_FSIZE_LIMIT;
        laz_json_add_uint(&j->add, "limit_bytes", e->limits->fsize_bytes);
        snprintf(j->detail, sizeof j->detail, "A file grew over the limit of %llu bytes",
                 (unsigned long long)e->limits->fsize_bytes);
    } else {
        judge_other_end(&how, j);
    }
}

void laz_judge(const struct laz_evidence *evidence, struct laz_judgement *judgement)
{
    *judgement =
        (struct laz_judgement){.verdict = LAZ_VERDICT_CRASHED, .add = {.to = &judgement->evidence}};
    if (evidence->ran_out &&
        (evidence->stop == LAZ_STOP_NONE || evidence->stop == LAZ_STOP_PROTOCOL))
        judge_memory(evidence, evidence->memory_by, judgement);
    else if (evidence->has_answered && evidence->message)
        judge_interrupted(evidence, judgement);
    else if (evidence->stop != LAZ_STOP_NONE)
        judge_stop(evidence, judgement);
    else if (evidence->message)
        judge_message(evidence, judgement);
    else
        judge_process_end(evidence, judgement);
}
