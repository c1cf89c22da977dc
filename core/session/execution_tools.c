/* SPDX-License-Identifier: MIT */
/* execution_tools.c - the calls of tools of one execution: which may start, in which order they are
 * answered, how many may be open.
 * Side: host.  Input trusted: no (names, arguments and ids come from the box).
 *
 * Calls with an id are answered as they finish; those without an id in order, so at most one of
 * them is open.  The number and size of open calls, the number of refused ones and the log of
 * refusals are bounded, because the box decides how many calls it makes and whether it reads the
 * answers. */
#include "session/execution.h"

#include "session/audit_events.h"
#include "session/observe.h"
#include "session/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXECUTION_REFUSED 10000 /* refused calls after which an execution is ended */
/* Does not disclose the path of the log. */
#define EXECUTION_NO_RECORD "the tool was not called: the audit log cannot be written"
#define EXECUTION_LOGGED    10 /* refused calls that are logged; the rest is only counted */

/* Whom a call is answered. */
struct asker {
    int64_t id;
    bool has_id;
    bool by_command; /* by the channel of commands, which are told a kind of refusal */
};

static struct asker asker_of_call(const struct laz_call *call)
{
    const struct laz_call_owner *owner = laz_call_owner(call);

    return (struct asker){owner->id, owner->has_id, owner->by_command};
}

static struct asker asker_of_message(const struct laz_message *message, bool by_command)
{
    return (struct asker){message->id, message->has_id, by_command};
}

/* What is open of the agent, or of commands. */
static void open_add(struct laz_execution *execution, bool by_command, size_t size)
{
    execution->open[by_command].n++;
    execution->open[by_command].bytes += size;
}

static void open_remove(struct laz_execution *execution, bool by_command, size_t size)
{
    execution->open[by_command].n--;
    execution->open[by_command].bytes -= size;
}

/* A call that was not started yet: it has no id and another one without id is open, or the agent
 * has not read its earlier answers, or its approval is awaited. */
struct waiting_call {
    struct waiting_call *next;
    struct laz_execution *execution;
    bool is_approved;
    struct laz_tool_set *set;
    size_t tool; /* in that set */
    struct asker asker;
    uint64_t number;
    size_t size; /* bytes of its arguments in the message, without defaults */
    struct laz_buf args;
    char *error;      /* why it was refused: to be answered without a call; NULL: it was not */
    const char *kind; /* of the refusal, static text */
    bool is_known;    /* there is a tool of this name */
    bool is_over;     /* how it has ended was observed, or is when the tool answers */
    struct laz_span *span;
};

static struct waiting_call *waiting_take(struct laz_execution *execution)
{
    struct waiting_call *first = execution->waiting;

    execution->waiting = first->next;
    execution->n_waiting--;
    open_remove(execution, first->asker.by_command, first->size);
    return first;
}

static void waiting_free(struct waiting_call *waiting)
{
    if (!waiting->is_over)
        laz_observe_called(&waiting->span, LAZ_METRIC_CANCELLED);
    laz_buf_fini(&waiting->args);
    free(waiting->error);
    free(waiting);
}

/* An open call is abandoned. The question whether a call may start is none itself. */
static void call_cancelled(const struct laz_call *call)
{
    struct laz_span *span = laz_call_owner(call)->span;

    if (laz_call_owner(call)->give)
        laz_observe_called(&span, LAZ_METRIC_CANCELLED);
}

static void waiting_drop_approvals(struct laz_execution *execution)
{
    while (execution->to_approve) {
        struct waiting_call *first = execution->to_approve;
        execution->to_approve = first->next;
        waiting_free(first);
    }
}

/* Why no call is made any more. */
#define EXECUTION_INTERRUPTED "interrupted: no tool can be called any more in this execution"

/* Why a call of a command is not answered. */
#define EXECUTION_HAS_ENDED "the execution has ended, and with it its calls of tools"

static const char refused[] = "refused";

/* Answers a call with a value or an error. A refusal (`kind`) is not kept for an agent that leaves
 * much unread; the outcome of a call that was begun always is. */
static void execution_reply(struct laz_execution *execution, const struct asker *to,
                            const char *json, size_t len, const char *error, const char *kind)
{
    const struct laz_settings_values *values = execution->session->shared->values;
    struct laz_box *box = execution->session->box;
    struct laz_buf line = LAZ_BUF_INIT;
    char too_large[160];
    bool failed;

    if (json && values->session.max_value_size && len + 64 > values->session.max_value_size) {
        snprintf(too_large, sizeof too_large,
                 "the value of the tool is larger than max_value_size (%llu bytes)",
                 (unsigned long long)values->session.max_value_size);
        json = NULL;
        error = too_large;
    }
    const struct laz_message reply = {.type = LAZ_MESSAGE_REPLY,
                                      .has_id = to->has_id,
                                      .id = to->id,
                                      .value = json,
                                      .value_len = len,
                                      .error = json ? NULL : error,
                                      .error_len = json ? 0 : strlen(error),
                                      .kind = to->by_command ? kind : NULL};
    laz_message_make(&reply, &line);
    failed = line.failed;
    if (!failed && to->by_command) /* which can do without */
        laz_box_answer_command(box, line.data, line.len);
    else if (!failed)
        failed =
            !laz_box_send(box, line.data, line.len, kind ? 2 * values->session.max_value_size : 0);
    if (failed)
        laz_execution_stop(execution, line.failed ? LAZ_STOP_HOST : LAZ_STOP_PROTOCOL, 0,
                           line.failed ? "out of memory"
                                       : "the answer of a tool cannot be delivered");
    laz_buf_fini(&line);
}

void laz_execution_abandon_calls(struct laz_execution *execution)
{
    for (size_t i = 0; i < execution->n_calls; i++) {
        struct laz_call *call = execution->calls[i];
        const struct asker asker = asker_of_call(call);
        laz_audit_tool_abandoned(execution, call);
        call_cancelled(call);
        laz_call_abandon(call);
        if (asker.by_command)
            execution_reply(execution, &asker, NULL, 0, EXECUTION_HAS_ENDED, refused);
    }
    execution->n_calls = 0;
    while (execution->waiting) {
        struct waiting_call *first = waiting_take(execution);
        if (first->asker.by_command)
            execution_reply(execution, &first->asker, NULL, 0, EXECUTION_HAS_ENDED, refused);
        waiting_free(first);
    }
    waiting_drop_approvals(execution);
    execution->open[0].n = execution->open[0].bytes = 0;
    execution->open[1].n = execution->open[1].bytes = 0;
}

/* Counts and logs a refused call. False: it was one too many, and the execution is ended. */
static bool execution_count_refusal(struct laz_execution *execution, const char *why)
{
    execution->n_refused++;
    if (execution->n_refused <= EXECUTION_LOGGED)
        laz_log(&execution->session->shared->driver->log, LAZ_LOG_INFO, "Tool call refused: %s",
                why);
    if (execution->n_refused <= EXECUTION_REFUSED)
        return true;
    laz_execution_stop(execution, LAZ_STOP_PROTOCOL, 0, "more than 10000 tool calls were refused");
    return false;
}

/* The code was interrupted. */
static void execution_refuse_call(struct laz_execution *execution,
                                  const struct laz_message *message, bool by_command)
{
    const struct asker asker = asker_of_message(message, by_command);
    struct laz_span *span = NULL;

    execution->result->tool_calls++;
    laz_observe_called(&span, LAZ_METRIC_REFUSED);
    if (execution_count_refusal(execution, EXECUTION_INTERRUPTED))
        execution_reply(execution, &asker, NULL, 0, EXECUTION_INTERRUPTED, refused);
}

/* An answer that cannot be delivered ends the grace, and there are no calls then. */
void laz_execution_refuse_calls(struct laz_execution *execution)
{
    while (execution->n_calls) {
        struct laz_call *call = execution->calls[--execution->n_calls];
        const struct asker asker = asker_of_call(call);
        laz_audit_tool_abandoned(execution, call);
        call_cancelled(call);
        laz_call_abandon(call);
        execution_reply(execution, &asker, NULL, 0, EXECUTION_INTERRUPTED,
                        asker.by_command ? refused : NULL);
    }
    while (execution->waiting) {
        struct waiting_call *first = waiting_take(execution);
        execution_reply(execution, &first->asker, NULL, 0, EXECUTION_INTERRUPTED,
                        first->asker.by_command ? refused : NULL);
        waiting_free(first);
    }
    waiting_drop_approvals(execution);
}

static void execution_begin_waiting(struct laz_execution *execution);

/* The call is not open any more. */
static void execution_close_call(struct laz_execution *execution, const struct laz_call *call)
{
    for (size_t i = 0; i < execution->n_calls; i++)
        if (execution->calls[i] == call)
            execution->calls[i] = execution->calls[--execution->n_calls];
    open_remove(execution, laz_call_owner(call)->by_command, laz_call_owner(call)->size);
}

static void execution_answered(void *user, struct laz_call *call, const char *json, size_t len,
                               const char *error)
{
    struct laz_execution *execution = user;
    const struct asker asker = asker_of_call(call);

    execution_close_call(execution, call);
    laz_audit_tool_result(execution, call, json, len, error);
    laz_observe_answered(call, json != NULL);
    if (json)
        laz_log(&execution->session->shared->driver->log, LAZ_LOG_INFO, "Tool result: %.*s%s",
                (int)(len < 200 ? len : 200), json, len < 200 ? "" : "...");
    else
        laz_log(&execution->session->shared->driver->log, LAZ_LOG_INFO, "Tool error: %s", error);
    char *words = json ? NULL : laz_execution_words(execution, error);
    execution_reply(execution, &asker, json, len, json || words ? words : "out of memory", NULL);
    free(words);
    if (!execution->n_calls)
        laz_execution_clock_run(execution);
    execution->is_one_in_order &= asker.has_id;
    execution_begin_waiting(execution);
}

#define EXECUTION_CALLS (LAZ_OPEN_CALLS + LAZ_OPEN_COMMANDS)

/* There is room for all calls that execution_is_full lets in. */
static bool execution_room_for_call(struct laz_execution *execution)
{
    if (!execution->calls)
        execution->calls = malloc(EXECUTION_CALLS * sizeof *execution->calls);
    return execution->calls && execution->n_calls < EXECUTION_CALLS;
}

/* Finds a tool that the session has: the set, and the number in it. */
static const struct laz_tool_entry *execution_find_tool(const struct laz_session *session,
                                                        const char *name, size_t len,
                                                        struct laz_tool_set **set)
{
    *set = &session->shared->tools->set;
    const struct laz_tool_entry *entry = laz_tool_set_find(*set, name, len);
    if (entry && (size_t)(entry - (*set)->entries) < session->n_shared)
        return entry;
    *set = session->own_tools;
    return *set ? laz_tool_set_find(*set, name, len) : NULL;
}

/* Finds the tool for the call, and checks the arguments. False: `err` is an error for the code. */
static bool execution_check_call(const struct laz_execution *execution,
                                 const struct laz_message *message, struct waiting_call *call,
                                 struct laz_error *err)
{
    size_t len = strlen(message->tool);

    if (!laz_tool_name_is_valid(message->tool, len)) {
        laz_error_set(err, LAZ_EINVAL, 0, "Unknown tool: <invalid>");
        call->kind = "unknown";
        return false;
    }
    const struct laz_tool_entry *entry =
        execution_find_tool(execution->session, message->tool, len, &call->set);
    if (!entry) {
        laz_error_set(err, LAZ_EINVAL, 0, "Unknown tool: %.200s", message->tool);
        call->kind = "unknown";
        return false;
    }
    call->is_known = true;
    call->tool = (size_t)(entry - call->set->entries);
    call->kind = "arguments";
    return laz_tool_check_arguments(entry, message->args ? message->args : "null",
                                    message->args ? message->args_len : 4, &call->args, err) == 0;
}

static void execution_decided(void *user, struct laz_call *call, const char *json, size_t len,
                              const char *error);

static bool execution_needs_approval(const struct laz_execution *execution,
                                     const struct waiting_call *next)
{
    return !next->error && !next->is_approved &&
           laz_approval_is_needed(execution->session->shared->tools,
                                  &next->set->entries[next->tool], laz_buf_text(&next->args),
                                  next->args.len);
}

/* A tool has made a file. */
static int execution_give(void *user, const char *tool, const char *suffix, const void *data,
                          size_t len, const char **name, struct laz_error *err)
{
    const struct laz_execution *execution = user;
    const struct laz_settings_values *values = execution->session->shared->values;

    return laz_artifacts_give(&execution->result->artifacts, tool, suffix, data, len,
                              values->artifacts.max_files, values->artifacts.max_size, name, err);
}

/* Starts a call, or the question whether it may start, which keeps it; or answers one that was
 * refused. Frees all others. */
static void execution_begin_call(struct laz_execution *execution, struct waiting_call *next)
{
    const struct laz_session *session = execution->session;
    struct laz_tools *tools = session->shared->tools;
    const bool asks = execution_needs_approval(execution, next);
    const char *problem = next->error;
    const struct laz_call_owner owner = {
        .user = asks ? (void *)next : execution,
        .id = next->asker.id,
        .has_id = next->asker.has_id,
        .by_command = next->asker.by_command,
        .number = next->number,
        .size = next->size,
        .answered = asks ? execution_decided : execution_answered,
        .give = asks ? NULL : execution_give,
        .span = asks ? NULL : next->span,
        .caller = {.session = session->id,
                   .execution = (uint64_t)execution->id,
                   .session_user = session->user,
                   .execution_user = execution->result->output.user,
                   .trace = laz_observe_call_trace(execution, next->span)},
    };
    struct laz_call *call = NULL;

    if (asks && !laz_tools_have_approver(tools)) {
        problem = "the call needs an approval, and nobody is there to give it";
        laz_observe_approval(false);
        if (laz_audit_approval(execution, next->number, owner.caller.trace,
                               next->set->entries[next->tool].name, false, problem))
            problem = EXECUTION_NO_RECORD;
    }
    if (!problem && execution_room_for_call(execution))
        call = asks ? laz_approval_ask(tools, &next->set->entries[next->tool],
                                       laz_buf_text(&next->args), next->args.len, &owner)
                    : laz_call_start(tools, next->set, next->tool, &next->args, &owner);
    if (!call) {
        execution_reply(execution, &next->asker, NULL, 0, problem ? problem : "out of memory",
                        next->error && next->kind ? next->kind : refused);
        laz_observe_called(&next->span, problem ? LAZ_METRIC_REFUSED : LAZ_METRIC_ERROR);
        next->is_over = true;
        waiting_free(next);
        return;
    }
    if (!execution->n_calls)
        laz_execution_clock_stand(execution);
    execution->calls[execution->n_calls++] = call;
    open_add(execution, next->asker.by_command, next->size);
    execution->is_one_in_order |= !next->asker.has_id;
    if (!asks) {
        next->is_over = true;
        waiting_free(next);
        return;
    }
    if (!execution->to_approve)
        laz_execution_deadline_stand(execution);
    next->execution = execution;
    next->next = execution->to_approve;
    execution->to_approve = next;
}

/* The host has decided, or its time is over. Only `true` is a yes. */
static void execution_decided(void *user, struct laz_call *call, const char *json, size_t len,
                              const char *error)
{
    struct waiting_call *next = user, **at = &next->execution->to_approve;
    struct laz_execution *execution = next->execution;
    char text[300] = "";

    next->is_approved = json && len == 4 && memcmp(json, "true", 4) == 0;
    if (!next->is_approved)
        snprintf(text, sizeof text, "the call was not approved%s%.200s", json ? "" : ": ",
                 json ? "" : error);
    while (*at != next)
        at = &(*at)->next;
    *at = next->next;
    execution_close_call(execution, call);
    laz_observe_approval(next->is_approved);
    if (laz_audit_approval(execution, next->number, laz_call_owner(call)->caller.trace,
                           laz_call_owner(call)->caller.tool, next->is_approved, text))
        snprintf(text, sizeof text, EXECUTION_NO_RECORD);
    laz_log(&execution->session->shared->driver->log, LAZ_LOG_INFO, "Tool call: %s: %s",
            laz_call_owner(call)->caller.tool, *text ? text : "approved");
    if (!execution->to_approve)
        laz_execution_deadline_run(execution);
    if (!execution->n_calls)
        laz_execution_clock_run(execution);
    execution->is_one_in_order &= next->asker.has_id;
    next->kind = refused;
    if (*text && !(next->error = laz_execution_words(execution, text)))
        laz_execution_stop(execution, LAZ_STOP_HOST, 0, "out of memory");
    else if (*text)
        (void)execution_count_refusal(execution, text);
    if (execution->stop != LAZ_STOP_NONE) {
        waiting_free(next);
        return;
    }
    execution_begin_call(execution, next);
    execution_begin_waiting(execution);
}

/* True if a call must not start yet. To bound the memory for answers, none starts while the agent
 * has left more than the largest value unread. */
static bool execution_has_to_wait(const struct laz_execution *execution,
                                  const struct waiting_call *next)
{
    uint64_t most = execution->session->shared->values->session.max_value_size;

    const struct laz_box *box = execution->session->box;
    const size_t unread =
        next->asker.by_command ? laz_box_commands_unread(box) : laz_box_unread(box);

    return (!next->asker.has_id && execution->is_one_in_order) ||
           (!next->error && most && unread > most);
}

/* Starts waiting calls, up to the first that has to wait longer. */
static void execution_begin_waiting(struct laz_execution *execution)
{
    while (execution->waiting && execution->stop == LAZ_STOP_NONE &&
           !execution_has_to_wait(execution, execution->waiting))
        execution_begin_call(execution, waiting_take(execution));
}

void laz_execution_read_on(struct laz_session *session)
{
    if (!session->execution->over)
        execution_begin_waiting(session->execution);
}

void laz_execution_log_refused(const struct laz_execution *execution)
{
    if (execution->n_refused > EXECUTION_LOGGED)
        laz_log(&execution->session->shared->driver->log, LAZ_LOG_INFO,
                "Tool calls refused: %zu more, not logged one by one",
                execution->n_refused - EXECUTION_LOGGED);
}

static bool execution_is_full(const struct laz_execution *execution, bool by_command,
                              size_t args_len)
{
    const size_t open = execution->open[by_command].n;

    return open >= (by_command ? LAZ_OPEN_COMMANDS : LAZ_OPEN_CALLS) ||
           (open && execution->open[by_command].bytes + args_len > LAZ_OPEN_BYTES);
}

/* Starts or queues a call that was checked (`checked` has its tool and arguments, which are taken);
 * if it was refused (`error`), answers it in its turn. */
static void execution_take_call(struct laz_execution *execution, const struct laz_message *message,
                                bool by_command, struct waiting_call *checked, const char *error)
{
    struct waiting_call *call = malloc(sizeof *call);
    char *words = laz_strdup(error);

    if (!call || (error && !words)) {
        free(call);
        free(words);
        laz_observe_called(&checked->span, LAZ_METRIC_CANCELLED);
        laz_execution_stop(execution, LAZ_STOP_HOST, 0, "out of memory");
        return;
    }
    *call = *checked;
    checked->args = (struct laz_buf)LAZ_BUF_INIT;
    call->asker = asker_of_message(message, by_command);
    call->number = execution->result->tool_calls;
    call->size = message->args_len;
    call->error = words;
    if (!execution_has_to_wait(execution, call)) {
        execution_begin_call(execution, call);
        return;
    }
    *(execution->waiting ? &execution->last_waiting->next : &execution->waiting) = call;
    execution->last_waiting = call;
    execution->n_waiting++;
    open_add(execution, by_command, call->size);
}

void laz_execution_tool_call(struct laz_execution *execution, const struct laz_message *message,
                             bool by_command)
{
    const struct laz_log *log = &execution->session->shared->driver->log;
    struct waiting_call call = {.args = LAZ_BUF_INIT};
    struct laz_error err = {0};

    if (execution->is_interrupted) {
        execution_refuse_call(execution, message, by_command);
        return;
    }
    execution->result->tool_calls++;
    if (execution->request.options->max_tool_calls &&
        execution->result->tool_calls > execution->request.options->max_tool_calls) {
        laz_execution_stop(execution, LAZ_STOP_TOOL_LIMIT,
                           execution->request.options->max_tool_calls, "");
        return;
    }
    if (execution_is_full(execution, by_command, message->args_len)) {
        laz_execution_stop(execution, LAZ_STOP_PROTOCOL, 0, "too many tool calls are open at once");
        return;
    }
    bool good = execution_check_call(execution, message, &call, &err);
    call.span = laz_observe_call(execution, call.is_known ? message->tool : NULL);
    const struct laz_trace *trace = laz_observe_call_trace(execution, call.span);
    if (!good)
        laz_audit_tool_refused(execution, trace, message, err.text);
    else if (laz_audit_tool_call(execution, trace, message->tool, &call.args)) {
        laz_error_set(&err, LAZ_EREFUSED, 0, EXECUTION_NO_RECORD);
        call.kind = refused;
        good = false;
    }
    if (good)
        laz_log(log, LAZ_LOG_INFO, "Tool call: %s(%.*s)", message->tool,
                (int)(message->args_len < 200 ? message->args_len : 200),
                message->args ? message->args : "");
    else
        laz_buf_fini(&call.args);
    if (!good && !execution_count_refusal(execution, err.text)) {
        laz_observe_called(&call.span, LAZ_METRIC_REFUSED);
        return;
    }
    execution_take_call(execution, message, by_command, &call, good ? NULL : err.text);
    laz_buf_fini(&call.args);
}

bool laz_execution_command(struct laz_session *session, const struct laz_message *message)
{
    struct laz_execution *execution = session->execution;

    if (execution->over || execution->has_message || execution->is_held ||
        execution->request.asked != LAZ_ASKED_EXECUTE)
        return false;
    if (execution->is_interrupted || execution->stop == LAZ_STOP_NONE)
        laz_execution_tool_call(execution, message, true);
    return true;
}
