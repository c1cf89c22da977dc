/* SPDX-License-Identifier: MIT */
/* shared.h - what the sessions and pools of an engine share, and what other rooms call of them; of
 * results: result.h. */
#ifndef LAZ_SESSION_SHARED_H
#define LAZ_SESSION_SHARED_H

#include "box/box.h"
#include "loop/driver.h"
#include "tool/tool.h"

struct laz_audit;
struct laz_execute_options;
struct laz_once;
struct laz_pool;
struct laz_result;
struct laz_session;
struct laz_session_listener;

struct laz_session_shared {
    struct laz_driver *driver;
    const struct laz_settings *settings;
    const struct laz_settings_values *values;
    struct laz_registry *registry;
    struct laz_box_shared *boxes;
    struct laz_tools *tools;
    struct laz_audit *audit; /* NULL: none */
    const struct laz_session_listener *listener;
    struct laz_session *sessions;
    struct laz_pool *pools;
    struct laz_once *onces; /* laz_sessions_execute: not reported yet */
    unsigned running; /* number of executions that run in boxes */
    unsigned processors;
};

/* Becomes the owner of the driver, and opens the audit log that the settings name, if any. Needs
 * `driver`, `values`, `boxes` and `tools`; the caller frees `audit`, after a failure too. Errors:
 * as laz_audit_new; LAZ_ECONFIG if the settings show the log to the code. */
int laz_sessions_init(struct laz_session_shared *shared, struct laz_error *err);

/* Implements laz_session_open. */
int laz_sessions_open(struct laz_session_shared *shared, const struct laz_session_options *options,
                      struct laz_session **session, struct laz_error *err);
/* Does what the first session of the settings' runtime depends on, up to the start of its process:
 * the runtime and its options, the hook, the box as it would be planned, the backend, which is
 * tried. Errors: as laz_session_open; where mistakes are collected (laz_settings_collect), it goes
 * on after each that others do not depend on. */
int laz_sessions_inspect(struct laz_session_shared *shared, struct laz_error *err);
/* As laz_session_execute, of a session that executes nothing else: after the result its interpreter
 * ends as at the end of a script, in the time that the clocks have left, and what it writes until
 * then belongs to the result. */
int laz_session_execute_last(struct laz_session *session, const char *code, size_t len,
                             const struct laz_execute_options *options, struct laz_result **result,
                             struct laz_error *err);
/* Implements laz_execute_async. */
int laz_sessions_execute(struct laz_session_shared *shared,
                         const struct laz_session_options *options, const char *code, size_t len,
                         const struct laz_execute_options *execute_options,
                         void (*done)(void *user, struct laz_result *result,
                                      const struct laz_error *err),
                         void *user, struct laz_error *err);
/* Implements laz_pool_new. */
int laz_pools_open(struct laz_session_shared *shared, const struct laz_pool_options *options,
                   struct laz_pool **pool, struct laz_error *err);
/* Closes and frees the pools, then the sessions. Pending callbacks are called: executions are
 * cancelled, and callers that wait for a session of a pool get LAZ_ECLOSED. */
void laz_sessions_free(struct laz_session_shared *shared);

/* The user of its box; LAZ_SPAWN_SAME_ID: none of its own. */
uint32_t laz_session_uid(const struct laz_session *session);

#endif
