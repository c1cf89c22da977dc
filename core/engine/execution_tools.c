/* SPDX-License-Identifier: MIT */
/* execution_tools.c - the calls of tools of one execution: which may begin, in which order they are
 * answered, how many may be open.
 * Side: host.  Input trusted: no (names, arguments and ids come from the box).
 *
 * Calls with an id are answered as they come; those without, in order, so one of them waits for the
 * other.  Number and size of what is open, and the number of refused ones, are bounded, because the
 * box decides how fast it asks and whether it reads; and so is what is logged of refusals. */
#include "engine/execution.h"

#include "base/json.h"
#include "engine/audit_events.h"
#include "engine/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXECUTION_REFUSED 10000 /* of one execution; code has no use for more */
#define EXECUTION_LOGGED  10    /* of these; the rest is a number */

/* A call without an id behind another one: they are answered in order, so it is not begun. */
struct waiting_call {
    struct waiting_call *next;
    size_t tool;
    uint64_t number;
    struct laz_buf args;
    char *error; /* the answer, instead of a call */
};

static struct waiting_call *waiting_take(struct laz_execution *execution)
{
    struct waiting_call *first = execution->waiting;

    execution->waiting = first->next;
    execution->n_waiting--;
    execution->open_bytes -= first->args.len;
    return first;
}

static void waiting_free(struct waiting_call *waiting)
{
    laz_buf_fini(&waiting->args);
    free(waiting->error);
    free(waiting);
}

void laz_execution_abandon_calls(struct laz_execution *execution)
{
    for (size_t i = 0; i < execution->n_calls; i++) {
        laz_audit_tool_abandoned(execution, execution->calls[i]);
        laz_call_abandon(execution->calls[i]);
    }
    execution->n_calls = 0;
    while (execution->waiting)
        waiting_free(waiting_take(execution));
}

/* Sends {"id":..,"value":..} or {"id":..,"error":..}. */
static void execution_reply(struct laz_execution *execution, int64_t id, bool has_id,
                            const char *json, size_t len, const char *error)
{
    const struct laz_settings_values *values = execution->session->engine->values;
    struct laz_buf reply = LAZ_BUF_INIT;
    char too_large[160];

    if (json && values->session.max_value_size && len + 64 > values->session.max_value_size) {
        snprintf(too_large, sizeof too_large,
                 "the value of the tool is larger than max_value_size (%llu bytes)",
                 (unsigned long long)values->session.max_value_size);
        json = NULL;
        error = too_large;
    }
    laz_buf_putc(&reply, '{');
    if (has_id)
        laz_buf_printf(&reply, "\"id\":%lld,", (long long)id);
    laz_buf_puts(&reply, json ? "\"value\":" : "\"error\":");
    if (json)
        laz_buf_append(&reply, json, len);
    else
        laz_json_quote(&reply, error, strlen(error));
    laz_buf_puts(&reply, "}\n");
    if (reply.failed || !laz_box_send(execution->session->box, reply.data, reply.len,
                                      2 * values->session.max_value_size))
        laz_execution_stop(execution, LAZ_STOP_PROTOCOL, 0,
                           "the answer of a tool cannot be delivered");
    laz_buf_fini(&reply);
}

static void execution_next_in_order(struct laz_execution *execution);

static void execution_answered(void *user, struct laz_call *call, const char *json, size_t len,
                               const char *error)
{
    struct laz_execution *execution = user;
    bool has_id;
    int64_t id = laz_call_id(call, &has_id);

    for (size_t i = 0; i < execution->n_calls; i++)
        if (execution->calls[i] == call)
            execution->calls[i] = execution->calls[--execution->n_calls];
    execution->open_bytes -= laz_call_size(call);
    laz_audit_tool_result(execution, call, json, len, error);
    if (json)
        laz_log(&execution->session->engine->log, LAZ_LOG_INFO, "Tool result: %.*s%s",
                (int)(len < 200 ? len : 200), json, len < 200 ? "" : "...");
    else
        laz_log(&execution->session->engine->log, LAZ_LOG_INFO, "Tool error: %s", error);
    char *words = json ? NULL : laz_execution_words(execution, error);
    execution_reply(execution, id, has_id, json, len, json || words ? words : "out of memory");
    free(words);
    if (!execution->n_calls)
        laz_execution_clock_run(execution);
    if (!has_id) {
        execution->is_one_in_order = false;
        execution_next_in_order(execution);
    }
}

static bool execution_room_for_call(struct laz_execution *execution)
{
    if (execution->n_calls < execution->cap_calls)
        return true;
    size_t cap = execution->cap_calls ? execution->cap_calls * 2 : 4;
    struct laz_call **calls = realloc(execution->calls, cap * sizeof *calls);
    if (!calls)
        return false;
    execution->calls = calls;
    execution->cap_calls = cap;
    return true;
}

/* The tool's number in the engine's set and its checked arguments, or an error for the code. */
static bool execution_check_call(struct laz_execution *execution, const struct laz_message *message,
                                 size_t *tool, struct laz_buf *args, struct laz_error *err)
{
    struct laz_session *session = execution->session;
    const struct laz_tool_set *set = &session->engine->tools;
    size_t len = strlen(message->tool);

    if (!laz_tool_name_is_valid(message->tool, len)) {
        laz_error_set(err, LAZ_EINVAL, 0, "Unknown tool: <invalid>");
        return false;
    }
    const struct laz_tool_entry *entry = laz_tool_set_find(set, message->tool, len);
    if (!entry || (size_t)(entry - set->entries) >= session->n_tools) {
        laz_error_set(err, LAZ_EINVAL, 0, "Unknown tool: %.200s", message->tool);
        return false;
    }
    *tool = (size_t)(entry - set->entries);
    return laz_tool_check_arguments(entry, message->args ? message->args : "null",
                                    message->args ? message->args_len : 4, args, err) == 0;
}

/* Begins a call; takes the arguments. */
static void execution_begin_call(struct laz_execution *execution, size_t tool, struct laz_buf *args,
                                 int64_t id, bool has_id, uint64_t number)
{
    const struct laz_call_owner owner = {execution, number, execution_answered};
    size_t bytes = args->len;
    struct laz_call *call =
        execution_room_for_call(execution)
            ? laz_call_start(execution->session->engine, tool, args, id, has_id, &owner)
            : NULL;

    laz_buf_fini(args);
    if (!call) {
        execution_reply(execution, id, has_id, NULL, 0, "out of memory");
        return;
    }
    if (!execution->n_calls)
        laz_execution_clock_stand(execution);
    execution->calls[execution->n_calls++] = call;
    execution->open_bytes += bytes;
    execution->is_one_in_order |= !has_id;
}

/* The calls without an id that waited, up to the next that has to be awaited. */
static void execution_next_in_order(struct laz_execution *execution)
{
    while (execution->waiting && !execution->is_one_in_order && execution->stop == LAZ_STOP_NONE) {
        struct waiting_call *next = waiting_take(execution);
        if (next->error)
            execution_reply(execution, 0, false, NULL, 0, next->error);
        else
            execution_begin_call(execution, next->tool, &next->args, 0, false, next->number);
        waiting_free(next);
    }
}

/* Takes the arguments; an error is given in their place. False without memory. */
static bool execution_wait_in_order(struct laz_execution *execution, size_t tool,
                                    struct laz_buf *args, const char *error)
{
    struct waiting_call *waiting = calloc(1, sizeof *waiting);

    if (!waiting)
        return false;
    *waiting = (struct waiting_call){.tool = tool,
                                     .number = execution->result->tool_calls,
                                     .args = *args,
                                     .error = laz_strdup(error)};
    *args = (struct laz_buf)LAZ_BUF_INIT;
    *(execution->waiting ? &execution->last_waiting->next : &execution->waiting) = waiting;
    execution->last_waiting = waiting;
    execution->n_waiting++;
    execution->open_bytes += waiting->args.len;
    return !error || waiting->error;
}

/* False: it was one too many. */
static bool execution_refused(struct laz_execution *execution, const char *why)
{
    execution->n_refused++;
    if (execution->n_refused <= EXECUTION_LOGGED)
        laz_log(&execution->session->engine->log, LAZ_LOG_INFO, "Tool call refused: %s", why);
    if (execution->n_refused <= EXECUTION_REFUSED)
        return true;
    laz_execution_stop(execution, LAZ_STOP_PROTOCOL, 0, "more than 10000 tool calls were refused");
    return false;
}

void laz_execution_log_refused(const struct laz_execution *execution)
{
    if (execution->n_refused > EXECUTION_LOGGED)
        laz_log(&execution->session->engine->log, LAZ_LOG_INFO,
                "Tool calls refused: %zu more, not logged one by one",
                execution->n_refused - EXECUTION_LOGGED);
}

static bool execution_is_full(const struct laz_execution *execution, size_t args_len)
{
    size_t open = execution->n_calls + execution->n_waiting;

    return open >= LAZ_OPEN_CALLS ||
           (open && execution->open_bytes + args_len > LAZ_OPEN_BYTES);
}

void laz_execution_tool_call(struct laz_execution *execution, const struct laz_message *message)
{
    const struct laz_log *log = &execution->session->engine->log;
    struct laz_buf args = LAZ_BUF_INIT;
    struct laz_error err = {0};
    size_t tool = 0;

    execution->result->tool_calls++;
    if (execution->max_tool_calls && execution->result->tool_calls > execution->max_tool_calls) {
        laz_execution_stop(execution, LAZ_STOP_TOOL_LIMIT, execution->max_tool_calls, "");
        return;
    }
    if (execution_is_full(execution, message->args_len)) {
        laz_execution_stop(execution, LAZ_STOP_PROTOCOL, 0, "too many tool calls are open at once");
        return;
    }
    bool good = execution_check_call(execution, message, &tool, &args, &err);
    if (!good)
        laz_audit_tool_refused(execution, execution->result->tool_calls, message, err.text);
    else if (laz_audit_tool_call(execution, execution->result->tool_calls, message->tool, &args,
                                 NULL)) {
        laz_error_set(&err, LAZ_EREFUSED, 0, /* where the log is, is not for the code */
                      "the tool was not called: the audit log cannot be written");
        good = false;
    }
    if (good)
        laz_log(log, LAZ_LOG_INFO, "Tool call: %s(%.*s)", message->tool,
                (int)(message->args_len < 200 ? message->args_len : 200),
                message->args ? message->args : "");
    else
        laz_buf_fini(&args);
    if (!good && !execution_refused(execution, err.text))
        return;
    if (!message->has_id && execution->is_one_in_order) {
        if (!execution_wait_in_order(execution, tool, &args, good ? NULL : err.text))
            laz_execution_stop(execution, LAZ_STOP_PROTOCOL, 0, "out of memory");
    } else if (good) {
        execution_begin_call(execution, tool, &args, message->id, message->has_id,
                             execution->result->tool_calls);
    } else {
        execution_reply(execution, message->id, message->has_id, NULL, 0, err.text);
    }
    laz_buf_fini(&args);
}
