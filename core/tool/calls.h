/* SPDX-License-Identifier: MIT */
/* calls.h - calls of tools, from the agent's message to the answer.
 * Side: host.  Input trusted: no (arguments come from the box). */
#ifndef LAZ_TOOL_CALLS_H
#define LAZ_TOOL_CALLS_H

#include "base/buf.h"
#include "base/error.h"
#include "loop/driver.h"
#include "tool/providers.h"
#include "tool/tools.h"

#include <lazaret/lazaret.h>
#include <stdint.h>

/* A tool of the application: the owner of its entry in the tool set. */
struct laz_app_tool {
    struct laz_app_tool *next;
    void (*call)(void *user, const char *args, size_t args_len, struct laz_reply *reply);
    void *user;
};

/* Calls of one tool that run, and those that wait because max_concurrent of them do. */
struct laz_tool_queue {
    unsigned running;
    struct laz_call *first, *last;
};

struct laz_lend;

/* The tools of an engine. */
struct laz_tools {
    struct laz_driver *driver;
    struct laz_spawner *spawner;
    struct laz_lend *lend; /* the loop, to a worker */
    struct laz_providers *providers;
    struct laz_tool_set set;
    struct laz_tool_queue *queues; /* one a tool, in the order of the set */
    size_t n_queues;
    struct laz_call *calls;         /* not settled */
    struct laz_app_tool *app_tools; /* owners of the application's tools */
    struct laz_strv reserved;       /* words no tool may have as its name */
};

/* The providers of the settings, and a queue for each of their tools. On failure laz_tools_end and
 * laz_tools_fini free what there is. */
int laz_tools_init(struct laz_tools *tools, struct laz_driver *driver, struct laz_spawner *spawner,
                   struct laz_registry *registry, const struct laz_settings *settings,
                   struct laz_error *err);
/* Once no worker runs: waits a little for the answers to abandoned calls, names who owes one, and
 * ends the providers. */
void laz_tools_end(struct laz_tools *tools);
void laz_tools_fini(struct laz_tools *tools);
/* A tool of the application. As laz_engine_add_tool. */
int laz_tools_add(struct laz_tools *tools, const struct laz_tool *tool,
                  void (*call)(void *user, const char *args, size_t args_len,
                               struct laz_reply *reply),
                  void *user, struct laz_error *err);

/* Where the answer goes. Loop thread. `json` NULL: `error` says why. */
struct laz_call_owner {
    void *user;
    uint64_t number; /* of the call, as the owner counts them */
    size_t size;     /* bytes of its arguments, likewise */
    void (*answered)(void *user, struct laz_call *call, const char *json, size_t len,
                     const char *error);
};

/* Starts a call of tool number `tool` of the set with checked arguments (taken over). The
 * answer comes later, through the loop. NULL without memory. */
struct laz_call *laz_call_start(struct laz_tools *tools, size_t tool, struct laz_buf *args,
                                int64_t id, bool has_id, const struct laz_call_owner *owner);
size_t laz_call_size(const struct laz_call *call); /* as its owner said */
uint64_t laz_call_number(const struct laz_call *call);
const char *laz_call_tool(const struct laz_call *call);    /* its name; borrowed */
uint64_t laz_call_started_us(const struct laz_call *call); /* laz_clock_us of laz_call_start */
int64_t laz_call_id(const struct laz_call *call, bool *has_id);
/* The answer is no longer wanted: the provider is told, the owner hears nothing more. */
void laz_call_abandon(struct laz_call *call);
/* Gives a call to a worker; false: none could be had, and its answer is that. */
bool laz_call_hand_over(struct laz_call *call);
/* The answer it has is delivered by the loop, later. */
void laz_call_post_answer(struct laz_call *call);
/* Functions of the services table that the engine gives to providers. */
void laz_call_answer(void *host, struct laz_call *call, const char *json, size_t len);
void laz_call_answer_error(void *host, struct laz_call *call, const char *message);
struct laz_call_scratch *laz_call_scratch(void *host, struct laz_call *call);

#endif
