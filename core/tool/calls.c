/* SPDX-License-Identifier: MIT */
/* calls.c - calls of tools, from the agent's message to the answer.
 * Side: host.  Input trusted: no (arguments come from the sandbox; tool_arguments.c checked them).
 *
 * A call ends with two events, in any order and on any thread: the provider *answers*, and its
 * `call` function *returns*.  Each is posted to the loop, or handled by the worker itself while it
 * holds the loop (lend.c), so only the holder of the loop accesses a call, except for the text of
 * its answer.  A call is freed after both events.  Abandoning a call detaches it from its owner.
 * The timeout of a tool is enforced here; the call is then answered with an error. */
#include "tool/calls.h"

#include "base/clock.h"
#include "base/json.h"
#include "os/descriptors.h"
#include "os/spawner.h"
#include "os/wake.h"
#include "tool/lend.h"
#include "tool/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLS_PATIENCE_MS 3000 /* for providers that have not answered when the engine is freed */

struct laz_call {
    struct laz_tools *tools;
    struct laz_call *next;           /* in the queue of its tool */
    struct laz_call *before, *after; /* in the list of all calls */
    struct laz_call_owner owner;
    uint64_t started_us;
    size_t tool;
    int64_t id;
    bool has_id;
    bool started;  /* handed to its provider */
    bool answered; /* the answer was delivered, or the call was abandoned */
    bool returned; /* its function has returned */
    struct laz_buf args;
    struct laz_timer *timer;
    struct laz_work work;
    struct laz_post answer_post, return_post;
    atomic_bool has_answer; /* only the first answer counts */
    char *json, *error;     /* the answer; written before it is posted or kept (lend.h) */
    size_t json_len;
    bool posted; /* answer_post has run */
    struct laz_call_scratch scratch;
};

/* The handle by which a callback of the application answers; on the worker's stack. */
struct laz_reply {
    struct laz_call *call;
};

static const struct laz_tool_entry *call_entry(const struct laz_call *call)
{
    return &call->tools->set.entries[call->tool];
}

static void call_run(struct laz_call *call);

/* Starts waiting calls of a tool while its max_concurrent allows it. */
static void queue_advance(struct laz_tools *tools, size_t tool)
{
    struct laz_tool_queue *queue = &tools->queues[tool];
    uint32_t most = tools->set.entries[tool].max_concurrent;

    while (queue->first && (!most || queue->running < most)) {
        struct laz_call *call = queue->first;
        queue->first = call->next;
        if (!queue->first)
            queue->last = NULL;
        call_run(call);
    }
}

static void queue_add(struct laz_call *call)
{
    struct laz_tool_queue *queue = &call->tools->queues[call->tool];

    call->next = NULL;
    if (queue->last)
        queue->last->next = call;
    else
        queue->first = call;
    queue->last = call;
    queue_advance(call->tools, call->tool);
}

static void queue_remove(struct laz_call *call)
{
    struct laz_tool_queue *queue = &call->tools->queues[call->tool];
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
    laz_buf_fini(&call->args);
    free(call->json);
    free(call->error);
    laz_os_close(&call->scratch.cancel_fd);
    laz_call_scratch_fini(&call->scratch);
    free(call);
}

/* Frees the call if it was answered and has returned, and starts the next one of its tool. */
static void call_settle(struct laz_call *call)
{
    struct laz_tools *tools = call->tools;
    size_t tool = call->tool;

    if (!call->posted || !call->returned)
        return;
    tools->queues[tool].running--;
    call_free(call);
    queue_advance(tools, tool);
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
    struct laz_call *call =
        (struct laz_call *)(void *)((char *)post - offsetof(struct laz_call, answer_post));

    call->posted = true;
    call_deliver(call, call->json, call->json_len, call->error ? call->error : "no answer");
    call_settle(call);
}

static void call_return_arrives(struct laz_post *post)
{
    struct laz_call *call =
        (struct laz_call *)(void *)((char *)post - offsetof(struct laz_call, return_post));

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
    if (!json || laz_json_scan(json, len, &problem)) {
        if (problem.code == LAZ_EPARSE)
            laz_error_prefix(&problem, "the tool's answer is ");
        laz_call_answer_error(host, call, json ? problem.text : "the tool gave no answer");
        return;
    }
    laz_json_compact(&compact, json, len);
    size_t compact_len = compact.len;
    char *text = laz_buf_steal(&compact);
    call_set_answer(call, text, compact_len, text ? NULL : laz_strdup("out of memory"));
}

void laz_call_answer_error(void *host, struct laz_call *call, const char *message)
{
    (void)host;
    call_set_answer(call, NULL, 0, laz_strdup(message && *message ? message : "the tool failed"));
}

struct laz_call_scratch *laz_call_scratch(void *host, struct laz_call *call)
{
    (void)host;
    return call->scratch.cancel_fd >= 0 ? &call->scratch : NULL;
}

void laz_reply_value(struct laz_reply *reply, const char *json, size_t len)
{
    laz_call_answer(NULL, reply->call, json, len);
}

void laz_reply_error(struct laz_reply *reply, const char *message)
{
    laz_call_answer_error(NULL, reply->call, message);
}

/* Calls the application or the provider, in a worker; providers that do not block are called in the
 * loop thread. */
static void call_invoke(struct laz_call *call)
{
    const struct laz_tool_entry *entry = call_entry(call);
    const struct laz_provider *provider = laz_provider_of(call->tools->providers, entry);

    if (provider) {
        struct laz_error err = {0};
        int rc = provider->ops->call(provider->state, entry->index, call, call->args.data,
                                     call->args.len, &err);
        if (rc)
            laz_call_answer_error(NULL, call, err.text);
    } else {
        const struct laz_app_tool *app = entry->owner;
        struct laz_reply reply = {call};
        app->call(app->user, call->args.data, call->args.len, &reply);
        laz_call_answer(NULL, call, "null", 4); /* ignored if the callback has answered */
    }
}

static void call_work(struct laz_work *work)
{
    struct laz_call *call =
        (struct laz_call *)(void *)((char *)work - offsetof(struct laz_call, work));
    struct laz_lend *lend = call->tools->lend;
    bool answered;

    while (call) {
        call_invoke(call);
        if (!laz_lend_resume(lend, call, &answered)) {
            call_post_return(call);
            return;
        }
        call->returned = true;
        if (answered)
            call_answer_arrives(&call->answer_post);
        else
            call_settle(call);
        call = laz_lend_next(lend);
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

static void call_cancel(struct laz_call *call)
{
    const struct laz_provider *provider = laz_provider_of(call->tools->providers, call_entry(call));

    if (call->scratch.cancel_fd >= 0)
        laz_os_wake(call->scratch.cancel_fd);
    if (call->started && provider && LAZ_HAS(provider->ops, cancel))
        provider->ops->cancel(provider->state, call);
}

/* The timeout of the tool has passed. */
static void call_timed_out(void *user)
{
    struct laz_call *call = user;
    const struct laz_tool_entry *entry = call_entry(call);
    char text[256];

    snprintf(text, sizeof text, "Tool '%.100s' timed out after %g second%s", entry->name,
             entry->timeout_ms / 1000.0, entry->timeout_ms == 1000 ? "" : "s");
    call_deliver(call, NULL, 0, text);
    laz_call_abandon(call);
}

static void call_run(struct laz_call *call)
{
    const struct laz_tool_entry *entry = call_entry(call);
    const struct laz_provider *provider = laz_provider_of(call->tools->providers, entry);

    call->started = true;
    call->tools->queues[call->tool].running++;
    if (provider && !provider->blocking) {
        call_invoke(call);
        call_post_return(call);
    } else if (!laz_lend_offer(call->tools->lend, call)) {
        laz_call_hand_over(call);
    }
}

struct laz_call *laz_call_start(struct laz_tools *tools, size_t tool, struct laz_buf *args,
                                int64_t id, bool has_id, const struct laz_call_owner *owner)
{
    const struct laz_tool_entry *entry = &tools->set.entries[tool];
    const struct laz_provider *provider = laz_provider_of(tools->providers, entry);
    struct laz_call *call = calloc(1, sizeof *call);

    if (!call)
        return NULL;
    call->scratch = (struct laz_call_scratch)LAZ_CALL_SCRATCH_INIT;
    call->tools = tools;
    call->after = tools->calls;
    if (call->after)
        call->after->before = call;
    tools->calls = call;
    call->tool = tool;
    call->id = id;
    call->has_id = has_id;
    call->owner = *owner;
    call->started_us = laz_clock_us();
    if (provider && provider->blocking)
        call->scratch.cancel_fd = laz_os_wake_new();
    if (entry->timeout_ms) {
        call->timer = laz_timer_new(tools->driver->loop, call_timed_out, call);
        if (!call->timer) {
            call_free(call);
            return NULL;
        }
        laz_timer_start(call->timer, entry->timeout_ms);
    }
    call->args = *args;
    *args = (struct laz_buf)LAZ_BUF_INIT;
    queue_add(call);
    return call;
}

size_t laz_call_size(const struct laz_call *call)
{
    return call->owner.size;
}

uint64_t laz_call_number(const struct laz_call *call)
{
    return call->owner.number;
}

const char *laz_call_tool(const struct laz_call *call)
{
    return call_entry(call)->name;
}

uint64_t laz_call_started_us(const struct laz_call *call)
{
    return call->started_us;
}

int64_t laz_call_id(const struct laz_call *call, bool *has_id)
{
    *has_id = call->has_id;
    return call->id;
}

void laz_call_abandon(struct laz_call *call)
{
    call->answered = true;
    if (call->timer)
        laz_timer_cancel(call->timer);
    if (!call->started) {
        queue_remove(call);
        call_free(call);
        return;
    }
    if (!call->posted)
        call_cancel(call);
}

/* ---- tools of an engine --------------------------------------------------------------------- */

/* Makes a queue for each tool of the set that has none. */
static int tools_make_queues(struct laz_tools *tools, struct laz_error *err)
{
    size_t n = tools->set.n;

    if (n <= tools->n_queues)
        return 0;
    struct laz_tool_queue *queues = realloc(tools->queues, n * sizeof *queues);
    if (!queues)
        return laz_error_nomem(err);
    memset(queues + tools->n_queues, 0, (n - tools->n_queues) * sizeof *queues);
    tools->queues = queues;
    tools->n_queues = n;
    return 0;
}

int laz_tools_init(struct laz_tools *tools, struct laz_driver *driver, struct laz_spawner *spawner,
                   struct laz_registry *registry, const struct laz_settings *settings,
                   struct laz_error *err)
{
    const struct laz_provider_host host = {
        .host = driver->loop,
        .log = &driver->log,
        .spawner = spawner,
        .answer = laz_call_answer,
        .answer_error = laz_call_answer_error,
        .scratch = laz_call_scratch,
        .watch_fd = laz_watch_fd,
        .watch_timer = laz_watch_timer,
        .watch_stop = laz_watch_stop,
    };

    tools->driver = driver;
    tools->spawner = spawner;
    int rc = laz_lend_new(&tools->lend, err);
    if (!rc)
        rc = laz_providers_reserved(registry, &tools->reserved, err);
    if (!rc)
        rc = laz_providers_new(registry, settings, &tools->reserved, &host, &tools->set,
                               &tools->providers, err);
    return rc ? rc : tools_make_queues(tools, err);
}

static void tools_patience_over(void *user)
{
    *(bool *)user = true;
}

/* Waits for the answers to abandoned calls, and logs the tools that do not give one. */
static void tools_settle(struct laz_tools *tools)
{
    struct laz_loop *loop = tools->driver->loop;
    bool over = false;
    struct laz_timer *timer = laz_timer_new(loop, tools_patience_over, &over);

    if (timer)
        laz_timer_start(timer, CALLS_PATIENCE_MS);
    while (tools->calls && timer && !over)
        laz_loop_step(loop, LAZ_LOOP_FOREVER);
    laz_timer_stop(timer);
    for (const struct laz_call *call = tools->calls; call; call = call->after)
        laz_log(&tools->driver->log, LAZ_LOG_ERROR, "tool '%s' never answered a call",
                call_entry(call)->name);
}

void laz_tools_end(struct laz_tools *tools)
{
    if (tools->driver && tools->driver->loop)
        tools_settle(tools);
    laz_providers_free(tools->providers);
    tools->providers = NULL;
    if (tools->driver && tools->driver->loop)
        laz_loop_flush(tools->driver->loop); /* a provider may still answer in its `destroy` */
}

void laz_tools_fini(struct laz_tools *tools)
{
    while (tools->calls)
        call_free(tools->calls);
    free(tools->queues);
    tools->queues = NULL;
    while (tools->app_tools) {
        struct laz_app_tool *tool = tools->app_tools;
        tools->app_tools = tool->next;
        free(tool);
    }
    laz_lend_free(tools->lend);
    laz_tool_set_fini(&tools->set);
    laz_strv_fini(&tools->reserved);
}

int laz_tools_add(struct laz_tools *tools, const struct laz_tool *tool,
                  void (*call)(void *user, const char *args, size_t args_len,
                               struct laz_reply *reply),
                  void *user, struct laz_error *err)
{
    struct laz_app_tool *app = calloc(1, sizeof *app);

    if (!app)
        return laz_error_nomem(err);
    *app = (struct laz_app_tool){tools->app_tools, call, user};
    tools->app_tools = app;
    int rc = laz_tool_set_add(&tools->set, tool, &tools->reserved, app, 0, err);
    return rc ? rc : tools_make_queues(tools, err);
}
