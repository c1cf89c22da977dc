/* SPDX-License-Identifier: MIT */
/* calls.h - calls of tools, from the agent's message to the answer.
 * Side: host.  Input trusted: no (arguments come from the sandbox).
 *
 * Unless it says otherwise, a function is for the thread that holds the loop: the loop thread, or
 * the worker that was lent the loop (lend.h). */
#ifndef LAZ_TOOL_CALLS_H
#define LAZ_TOOL_CALLS_H

#include "base/buf.h"
#include "base/error.h"
#include "loop/driver.h"
#include "tool/providers.h"
#include "tool/tools.h"

#include <lazaret/lazaret.h>
#include <stdint.h>

/* A tool that the application registered; its entry in the tool set has it as `owner`. */
struct laz_app_tool {
    struct laz_app_tool *next;
    void (*call)(void *user, const char *args, size_t args_len, struct laz_reply *reply);
    void *user;
};

/* The calls of one tool: how many run, and those that wait because max_concurrent run. */
struct laz_tool_queue {
    unsigned running;
    struct laz_call *first, *last;
};

struct laz_lend;

/* The tools of an engine. */
struct laz_tools {
    struct laz_driver *driver;
    struct laz_spawner *spawner;
    struct laz_lend *lend;
    struct laz_providers *providers;
    struct laz_tool_set set;
    struct laz_tool_queue *queues; /* one per tool, in the order of the set */
    size_t n_queues;
    struct laz_call *calls; /* not answered, or their function has not returned */
    struct laz_app_tool *app_tools;
    struct laz_strv reserved; /* words that no tool may have as its name */
};

/* Makes the providers of the settings and adds their tools. Borrows driver, spawner and registry
 * until laz_tools_fini; the settings for the call only. After a failure, too, the caller calls
 * laz_tools_end and laz_tools_fini. Errors: as laz_providers_new. */
int laz_tools_init(struct laz_tools *tools, struct laz_driver *driver, struct laz_spawner *spawner,
                   struct laz_registry *registry, const struct laz_settings *settings,
                   struct laz_error *err);
/* Frees the providers. Before that it waits up to three seconds for the answers to abandoned calls,
 * and logs the tools that still owe one. The workers must have ended. */
void laz_tools_end(struct laz_tools *tools);
void laz_tools_fini(struct laz_tools *tools);
/* Registers a tool of the application; see laz_engine_add_tool. Copies the declaration; `call` runs
 * in a worker thread. Errors: as laz_tool_set_add. */
int laz_tools_add(struct laz_tools *tools, const struct laz_tool *tool,
                  void (*call)(void *user, const char *args, size_t args_len,
                               struct laz_reply *reply),
                  void *user, struct laz_error *err);

/* Who started a call, and where its answer goes. `answered` is called once, in the thread that
 * holds the loop; texts are borrowed for the call. `json` is NULL when the call failed: `error`
 * says why.
 */
struct laz_call_owner {
    void *user;
    uint64_t number; /* of the call, as the owner counts them */
    size_t size;     /* bytes of its arguments, as the owner counts them */
    void (*answered)(void *user, struct laz_call *call, const char *json, size_t len,
                     const char *error);
};

/* Starts a call of tool number `tool` of the set. Takes `args`, which were checked, and copies
 * `owner`. The answer comes later, through the loop. NULL: out of memory, `args` was not taken. */
struct laz_call *laz_call_start(struct laz_tools *tools, size_t tool, struct laz_buf *args,
                                int64_t id, bool has_id, const struct laz_call_owner *owner);
size_t laz_call_size(const struct laz_call *call);         /* owner.size */
uint64_t laz_call_number(const struct laz_call *call);     /* owner.number */
const char *laz_call_tool(const struct laz_call *call);    /* name of the tool; borrowed */
uint64_t laz_call_started_us(const struct laz_call *call); /* laz_clock_us of laz_call_start */
int64_t laz_call_id(const struct laz_call *call, bool *has_id);
/* Cancels a call: its provider is notified, its owner gets no answer. The call is freed when it is
 * answered and its function has returned; the owner must not use it any more. */
void laz_call_abandon(struct laz_call *call);
/* Has a worker run the call. False: no thread could be started; the call is answered with that
 * error. */
bool laz_call_hand_over(struct laz_call *call);
/* Any thread: has the loop deliver the answer that the call holds. */
void laz_call_post_answer(struct laz_call *call);
/* Any thread: functions of struct laz_provider_host, described there. */
void laz_call_answer(void *host, struct laz_call *call, const char *json, size_t len);
void laz_call_answer_error(void *host, struct laz_call *call, const char *message);
struct laz_call_scratch *laz_call_scratch(void *host, struct laz_call *call);

#endif
