/* SPDX-License-Identifier: MIT */
/* calls.c - calls of tools, from the agent's message to the answer.
 * Side: host.  Input trusted: no (arguments come from the sandbox; tool_arguments.c checked them).
 *
 * A call ends with two events, in any order and on any thread: the provider *answers*, and its
 * `call` function *returns*.  Each is posted to the loop, or handled by the worker itself while it
 * holds the loop (lend.c), so only the holder of the loop accesses a call, except for the text of
 * its answer.  A call is freed after both events.  Abandoning a call detaches it from its owner.
 * The timeout of a tool is enforced here; the call is then answered with an error. */
#include "tool/tool_private.h"

#include "base/clock.h"
#include "base/container.h"
#include "base/json.h"
#include "base/trace.h"
#include "os/descriptors.h"
#include "os/wake.h"
#include "tool/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLS_PATIENCE_MS 3000 /* for providers that have not answered when the engine is freed */

struct laz_call {
    struct laz_tools *tools;
    struct laz_call *next;           /* in the queue of its tool */
    struct laz_call *before, *after; /* in the list of all calls */
    struct laz_call_owner owner;
    char session[32]; /* for owner.caller */
    struct laz_trace_copy trace;
    struct laz_tool_set *set; /* held */
    size_t tool;
    struct laz_tool_entry entry; /* a copy for the worker: a tool that is added moves the set */
    bool started;                /* handed to its provider */
    bool answered;               /* the answer was delivered, or the call was abandoned */
    bool returned;               /* its function has returned */
    struct laz_buf args;
    struct laz_timer *timer;
    struct laz_work work;
    struct laz_post answer_post, return_post;
    atomic_bool has_answer; /* only the first answer counts */
    char *json, *error;     /* the answer; written before it is posted or kept (lend.c) */
    size_t json_len;
    bool posted;             /* answer_post has run */
    struct laz_reply *reply; /* of a tool of the application: how it answers; else NULL */
    struct laz_visit *visit; /* of the session at the provider; held; or NULL */
    /* Of a command that runs for the call: */
    int cancel_fd; /* readable once the call is cancelled; -1: there is none */
    struct laz_buf output, errors;
};

/* In the set; for the thread that holds the loop. */
static struct laz_tool_entry *call_entry(const struct laz_call *call)
{
    return &call->set->entries[call->tool];
}

static void call_run(struct laz_call *call);

/* Starts waiting calls of a tool while its max_concurrent allows it. */
static void queue_advance(struct laz_tool_set *set, size_t tool)
{
    for (;;) {
        const uint32_t most = set->entries[tool].max_concurrent;
        struct laz_tool_queue *queue = &set->entries[tool].queue;
        struct laz_call *call = queue->first;
        if (!call || (most && queue->running >= most))
            return;
        queue->first = call->next;
        if (!queue->first)
            queue->last = NULL;
        call_run(call);
    }
}

static void queue_add(struct laz_call *call)
{
    struct laz_tool_queue *queue = &call_entry(call)->queue;

    *(queue->last ? &queue->last->next : &queue->first) = call;
    queue->last = call;
    queue_advance(call->set, call->tool);
}

static void queue_remove(struct laz_call *call)
{
    struct laz_tool_queue *queue = &call_entry(call)->queue;
    struct laz_call *previous = NULL;

    for (struct laz_call *at = queue->first; at; previous = at, at = at->next) {
        if (at != call)
            continue;
        *(previous ? &previous->next : &queue->first) = call->next;
        if (queue->last == call)
            queue->last = previous;
        return;
    }
}

static void call_free(struct laz_call *call)
{
    *(call->before ? &call->before->after : &call->tools->calls) = call->after;
    if (call->after)
        call->after->before = call->before;
    laz_timer_stop(call->timer);
    laz_reply_detach(call->reply);
    struct laz_visit *visit = call->visit;
    laz_tool_set_release(call->set);
    laz_buf_fini(&call->args);
    free(call->json);
    free(call->error);
    laz_os_close(&call->cancel_fd);
    laz_buf_fini(&call->output);
    laz_buf_fini(&call->errors);
    free(call);
    laz_visit_end(visit);
}

/* Frees the call if it was answered and has returned, and starts the next one of its tool. */
static void call_settle(struct laz_call *call)
{
    struct laz_tool_set *set = call->set;
    size_t tool = call->tool;

    if (!call->posted || !call->returned)
        return;
    call_entry(call)->queue.running--;
    laz_tool_set_hold(set);
    call_free(call);
    queue_advance(set, tool);
    laz_tool_set_release(set);
}

/* Hands the answer to the owner, once. */
static void call_deliver(struct laz_call *call, const char *json, size_t len, const char *error)
{
    if (call->answered)
        return;
    call->answered = true;
    if (call->timer)
        laz_timer_cancel(call->timer);
    call->owner.answered(call->owner.user, call, json, len, error);
}

static void call_answer_arrives(struct laz_post *post)
{
    struct laz_call *call = LAZ_CONTAINER(post, struct laz_call, answer_post);

    call->posted = true;
    call_deliver(call, call->json, call->json_len, call->error ? call->error : "no answer");
    call_settle(call);
}

static void call_return_arrives(struct laz_post *post)
{
    struct laz_call *call = LAZ_CONTAINER(post, struct laz_call, return_post);

    call->returned = true;
    call_settle(call);
}

void laz_call_post_answer(struct laz_call *call)
{
    call->answer_post.run = call_answer_arrives;
    laz_loop_post(call->tools->driver->loop, &call->answer_post);
}

static void call_post_return(struct laz_call *call)
{
    call->return_post.run = call_return_arrives;
    laz_loop_post(call->tools->driver->loop, &call->return_post);
}

/* Any thread. Takes both strings. */
static void call_set_answer(struct laz_call *call, char *json, size_t len, char *error)
{
    if (atomic_exchange(&call->has_answer, true)) {
        free(json);
        free(error);
        return;
    }
    call->json = json;
    call->json_len = len;
    call->error = error;
    if (!laz_lend_keeps_answer(call->tools->lend, call))
        laz_call_post_answer(call);
}

void laz_call_answer(void *host, struct laz_call *call, const char *json, size_t len)
{
    struct laz_error problem = {0};
    struct laz_buf compact = LAZ_BUF_INIT;

    (void)host;
    if (!json || laz_json_scan_compact(json, len, &compact, &problem)) {
        laz_buf_fini(&compact);
        if (problem.code == LAZ_EPARSE)
            laz_error_prefix(&problem, "the tool's answer is ");
        laz_call_answer_error(host, call, json ? problem.text : "the tool gave no answer");
        return;
    }
    size_t compact_len = compact.len;
    char *text = laz_buf_steal(&compact);
    if (text && call->entry.provider &&
        laz_secrets_hide(&call->tools->secrets, text, compact_len)) {
        free(text);
        laz_call_answer_error(host, call, "the tool's answer has a secret of the host in it");
        return;
    }
    call_set_answer(call, text, compact_len, text ? NULL : laz_strdup("out of memory"));
}

void laz_call_answer_error(void *host, struct laz_call *call, const char *message)
{
    (void)host;
    char *text = laz_strdup(message && *message ? message : "the tool failed");
    if (call->entry.provider)
        laz_tools_hide(call->tools, text);
    call_set_answer(call, NULL, 0, text);
}

/* The environment of a command of this call: *env stays empty where that is the usual one. */
static int call_environment(const struct laz_call *call, const char *const *own,
                            struct laz_strv *env, struct laz_error *err)
{
    const struct laz_trace *trace = laz_trace_of(&call->trace);

    if (trace || (own && *own))
        laz_child_environment(call->tools, own, env);
    if (trace)
        laz_strv_addf(env, "TRACEPARENT=%s", trace->parent);
    if (trace && trace->state)
        laz_strv_addf(env, "TRACESTATE=%s", trace->state);
    return env->failed ? laz_error_nomem(err) : 0;
}

int laz_call_run_command(void *host, struct laz_call *call, const struct laz_command *command,
                         struct laz_command_result *result, struct laz_error *err)
{
    const struct laz_provider *provider = host;
    const struct laz_tools *tools = provider->tools;
    struct laz_strv env = LAZ_STRV_INIT;

    if (!provider->is_blocking)
        return laz_error_set(err, LAZ_EPLUGIN, 0,
                             "the provider %s runs commands, but is not LAZ_TOOL_BLOCKING",
                             provider->name);
    if (call->cancel_fd < 0)
        return laz_error_nomem(err);
    int rc = call_environment(call, LAZ_HAS(command, env) ? command->env : NULL, &env, err);
    if (!rc)
        rc = laz_command_run(
            tools->spawner, command, (const char *const *)(env.n ? env.items : tools->env.items),
            call->cancel_fd, LAZ_OS_FOREVER, result, &call->output, &call->errors, err);
    laz_child_forget(&env);
    return rc;
}

int laz_call_give_artifact(void *host, struct laz_call *call, const char *suffix, const void *data,
                           size_t len, const char **name, struct laz_error *err)
{
    (void)host;
    *name = NULL;
    if (call->answered || !call->owner.give)
        return laz_error_set(err, LAZ_ECANCELLED, 0, "nobody waits for the call");
    return call->owner.give(call->owner.user, call->entry.name, suffix, data, len, name, err);
}

const struct laz_caller *laz_call_caller(void *host, const struct laz_call *call)
{
    (void)host;
    return &call->owner.caller;
}

/* Calls the application or the provider, in a worker; those that do not block are called in the
 * loop thread. An answer that the application keeps for later comes through the loop. */
static void call_invoke(struct laz_call *call)
{
    const struct laz_tool_entry *entry = &call->entry;
    const struct laz_provider *provider = entry->provider;

    if (provider) {
        struct laz_error err = {0};
        int rc = provider->ops->call(provider->state, entry->index, call, call->args.data,
                                     call->args.len, &err);
        if (rc && !err.text[0])
            laz_plugin_said(rc, LAZ_PLUGIN_TOOL, provider->name, "call", &err);
        if (rc)
            laz_call_answer_error(NULL, call, err.text);
    } else {
        laz_reply_begin(call->reply);
        entry->call(entry->user, call->args.data, call->args.len, call->reply);
        laz_reply_end(call->reply);
    }
}

static void call_work(struct laz_work *work)
{
    struct laz_call *call = LAZ_CONTAINER(work, struct laz_call, work);
    struct laz_lend *lend = call->tools->lend;
    bool answered;

    while (call) {
        call_invoke(call);
        if (!laz_lend_resume(lend, call, &answered)) {
            call_post_return(call);
            return;
        }
        call->returned = true;
        if (answered) {
            call_answer_arrives(&call->answer_post);
            call = laz_lend_next(lend);
        } else { /* its answer comes by another thread: through the loop, which has to run */
            call_settle(call);
            laz_lend_return(lend);
            return;
        }
    }
}

bool laz_call_hand_over(struct laz_call *call)
{
    struct laz_error err = {0};

    call->work.run = call_work;
    if (!laz_workers_add(call->tools->driver->workers, &call->work, &err))
        return true;
    laz_call_answer_error(NULL, call, err.text);
    call_post_return(call);
    return false;
}

/* The timeout of the tool has passed. */
static void call_timed_out(void *user)
{
    struct laz_call *call = user;
    const struct laz_tool_entry *entry = call_entry(call);
    char text[256];

    if (call->set == &call->tools->approver)
        snprintf(text, sizeof text, "no decision came within");
    else
        snprintf(text, sizeof text, "Tool '%.100s' timed out after", entry->name);
    snprintf(text + strlen(text), 50, " %g second%s", entry->timeout_ms / 1000.0,
             entry->timeout_ms == 1000 ? "" : "s");
    call->owner.is_late = true;
    call_deliver(call, NULL, 0, text);
    laz_call_abandon(call);
}

static void call_run(struct laz_call *call)
{
    struct laz_tool_entry *entry = call_entry(call);

    call->started = true;
    if (call->visit)
        call->visit->was_used = true;
    entry->queue.running++;
    if (entry->in_loop) {
        call_invoke(call);
        call->returned = true; /* its answer comes by the loop in any case, and ends it */
    } else if (!laz_lend_offer(call->tools->lend, call)) {
        laz_call_hand_over(call);
    }
}

/* Copies who called; the tool's own functions are told. False: out of memory. */
static bool call_take_caller(struct laz_call *call)
{
    struct laz_caller *caller = &call->owner.caller;

    snprintf(call->session, sizeof call->session, "%s", caller->session ? caller->session : "");
    caller->size = sizeof *caller;
    caller->session = call->session;
    laz_trace_take(&call->trace, caller->trace);
    caller->trace = laz_trace_of(&call->trace);
    if (!caller->tool)
        caller->tool = call->entry.name;
    if (call->entry.provider)
        return laz_visit_begin(call->entry.provider, caller, &call->visit);
    call->reply = laz_reply_new(call, caller);
    return call->reply != NULL;
}

struct laz_call *laz_call_start(struct laz_tools *tools, struct laz_tool_set *set, size_t tool,
                                struct laz_buf *args, const struct laz_call_owner *owner)
{
    const struct laz_tool_entry *entry = &set->entries[tool];
    struct laz_call *call = calloc(1, sizeof *call);

    if (!call)
        return NULL;
    call->tools = tools;
    call->after = tools->calls;
    if (call->after)
        call->after->before = call;
    tools->calls = call;
    call->set = set;
    laz_tool_set_hold(set);
    call->tool = tool;
    call->entry = *entry;
    call->owner = *owner;
    call->owner.started_us = laz_clock_us();
    call->cancel_fd = entry->provider && entry->provider->is_blocking ? laz_os_wake_new() : -1;
    if (entry->timeout_ms)
        call->timer = laz_timer_new(tools->driver->loop, call_timed_out, call);
    if (!call_take_caller(call) || (entry->timeout_ms && !call->timer)) {
        call_free(call);
        return NULL;
    }
    if (call->timer)
        laz_timer_start(call->timer, entry->timeout_ms);
    call->args = *args;
    *args = (struct laz_buf)LAZ_BUF_INIT;
    queue_add(call);
    return call;
}

const struct laz_call_owner *laz_call_owner(const struct laz_call *call)
{
    return &call->owner;
}

void laz_call_abandon(struct laz_call *call)
{
    const struct laz_provider *provider = call_entry(call)->provider;

    call->answered = true;
    if (call->timer)
        laz_timer_cancel(call->timer);
    if (!call->started) {
        queue_remove(call);
        call_free(call);
        return;
    }
    if (call->posted)
        return;
    if (call->cancel_fd >= 0)
        laz_os_wake(call->cancel_fd);
    if (call->reply)
        laz_reply_cancel(call->reply);
    if (provider && LAZ_HAS(provider->ops, cancel))
        provider->ops->cancel(provider->state, call);
}

/* ---- the end of an engine ------------------------------------------------------------------- */

static void calls_patience_over(void *user)
{
    *(bool *)user = true;
}

/* The application may answer calls whose replies it keeps whenever it likes: nobody waits. */
static void calls_let_go(struct laz_tools *tools)
{
    for (struct laz_call *call = tools->calls, *next; call; call = next) {
        next = call->after;
        if (!call->reply || !call->returned)
            continue;
        laz_reply_detach(call->reply);
        call->reply = NULL;
        if (atomic_load(&call->has_answer))
            continue; /* it is on its way */
        call->posted = true;
        call_settle(call);
    }
}

void laz_calls_end(struct laz_tools *tools)
{
    struct laz_loop *loop = tools->driver->loop;
    bool over = false;
    struct laz_timer *timer = laz_timer_new(loop, calls_patience_over, &over);

    laz_loop_flush(loop); /* functions that have returned */
    calls_let_go(tools);
    if (timer)
        laz_timer_start(timer, CALLS_PATIENCE_MS);
    while (tools->calls && timer && !over)
        laz_loop_step(loop, LAZ_LOOP_FOREVER);
    laz_timer_stop(timer);
    for (const struct laz_call *call = tools->calls; call; call = call->after)
        laz_log(&tools->driver->log, LAZ_LOG_ERROR, "tool '%s' never answered a call",
                call_entry(call)->name);
}

void laz_calls_free(struct laz_tools *tools)
{
    while (tools->calls) {
        tools->calls->visit = NULL; /* its provider is gone */
        call_free(tools->calls);
    }
}
