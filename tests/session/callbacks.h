/* SPDX-License-Identifier: MIT */
/* callbacks.h (tests) - what each public function does that is called by a callback: the table of
 * docs/callbacks.md, which tests/lint/callbacks.sh compares with this one, and test_callbacks.c
 * executes.  How each function is called for that, is in callbacks.c.
 *
 * ROW(function, in a completion callback, in another callback on the thread that drives the engine,
 * on another thread while that one is inside, as in a tool, in a function of laz_group_run). */
#ifndef LAZ_TESTS_CALLBACKS_H
#define LAZ_TESTS_CALLBACKS_H

#include <lazaret/lazaret.h>

#include <stdatomic.h>
#include <stddef.h>

#define CALLBACKS_OF_AN_ENGINE                                                                     \
    ROW(laz_engine_new, WORKS, WORKS, WORKS, WORKS)                                                \
    ROW(laz_engine_free, NO_EFFECT, NO_EFFECT, NO_EFFECT, NO_EFFECT)                               \
    ROW(laz_engine_cancel, WORKS, WORKS, WORKS, WORKS)                                             \
    ROW(laz_engine_fd, WORKS, WORKS, WORKS, WORKS)                                                 \
    ROW(laz_engine_timeout, WORKS, WORKS, WORKS, WORKS)                                            \
    ROW(laz_engine_step, WORKS, BUSY, BUSY, WORKS)                                                 \
    ROW(laz_engine_add_tool, WORKS, BUSY, BUSY, WORKS)                                             \
    ROW(laz_engine_set_approver, WORKS, BUSY, BUSY, WORKS)                                         \
    ROW(laz_engine_search_tools, WORKS, WORKS, WORKS, WORKS)                                       \
    ROW(laz_engine_search_tools_with, WORKS, BUSY, BUSY, WORKS)                                    \
    ROW(laz_engine_check_tools, WORKS, BUSY, BUSY, WORKS)                                          \
    ROW(laz_engine_tools, WORKS, WORKS, WORKS, WORKS)                                              \
    ROW(laz_engine_tool_stub, WORKS, WORKS, BUSY, WORKS)                                           \
    ROW(laz_session_open, WORKS, BUSY, BUSY, WORKS)                                                \
    ROW(laz_session_execute, WORKS, BUSY, BUSY, WORKS)                                             \
    ROW(laz_session_execute_async, WORKS, BUSY, BUSY, WORKS)                                       \
    ROW(laz_session_cancel, WORKS, WORKS, WORKS, WORKS)                                            \
    ROW(laz_session_interrupt, WORKS, WORKS, WORKS, WORKS)                                         \
    ROW(laz_session_check, WORKS, BUSY, BUSY, WORKS)                                               \
    ROW(laz_session_put_file, WORKS, BUSY, BUSY, WORKS)                                            \
    ROW(laz_session_put_file_async, WORKS, BUSY, BUSY, WORKS)                                      \
    ROW(laz_session_restart, WORKS, BUSY, BUSY, WORKS)                                             \
    ROW(laz_session_set_network, WORKS, BUSY, BUSY, WORKS)                                         \
    ROW(laz_session_close, WORKS, NO_EFFECT, NO_EFFECT, WORKS)                                     \
    ROW(laz_session_free, WORKS, NO_EFFECT, NO_EFFECT, WORKS)                                      \
    ROW(laz_session_is_alive, WORKS, WORKS, WORKS, WORKS)                                          \
    ROW(laz_session_pid, WORKS, WORKS, WORKS, WORKS)                                               \
    ROW(laz_session_id, WORKS, WORKS, WORKS, WORKS)                                                \
    ROW(laz_session_tools, WORKS, WORKS, WORKS, WORKS)                                             \
    ROW(laz_session_search_tools, WORKS, WORKS, WORKS, WORKS)                                      \
    ROW(laz_session_describe, WORKS, WORKS, IN_USE, WORKS)                                         \
    ROW(laz_session_isolation, WORKS, WORKS, NOTHING, WORKS)                                       \
    ROW(laz_execute, WORKS, BUSY, BUSY, WORKS)                                                     \
    ROW(laz_execute_async, WORKS, BUSY, BUSY, WORKS)                                               \
    ROW(laz_pool_new, WORKS, BUSY, BUSY, WORKS)                                                    \
    ROW(laz_pool_acquire, WORKS, BUSY, BUSY, WORKS)                                                \
    ROW(laz_pool_acquire_async, WORKS, BUSY, BUSY, WORKS)                                          \
    ROW(laz_pool_release, WORKS, BUSY, BUSY, WORKS)                                                \
    ROW(laz_pool_execute, WORKS, BUSY, BUSY, WORKS)                                                \
    ROW(laz_pool_execute_async, WORKS, BUSY, BUSY, WORKS)                                          \
    ROW(laz_pool_status, WORKS, BUSY, BUSY, WORKS)                                                 \
    ROW(laz_pool_describe, WORKS, IN_USE, IN_USE, WORKS)                                           \
    ROW(laz_pool_close, WORKS, BUSY, BUSY, WORKS)                                                  \
    ROW(laz_pool_free, WORKS, NO_EFFECT, NO_EFFECT, WORKS)                                         \
    ROW(laz_reply_value, WORKS, WORKS, WORKS, WORKS)                                               \
    ROW(laz_reply_error, WORKS, WORKS, WORKS, WORKS)                                               \
    ROW(laz_reply_caller, WORKS, WORKS, WORKS, WORKS)                                              \
    ROW(laz_reply_keep, WORKS, WORKS, WORKS, WORKS)                                                \
    ROW(laz_reply_is_cancelled, WORKS, WORKS, WORKS, WORKS)                                        \
    ROW(laz_reply_on_cancel, WORKS, WORKS, WORKS, WORKS)                                           \
    ROW(laz_reply_free, WORKS, WORKS, WORKS, WORKS)

/* The same of the callbacks of a group, called for that group. */
#define CALLBACKS_OF_A_GROUP                                                                       \
    ROW(laz_group_new, WORKS, WORKS, WORKS, WORKS)                                                 \
    ROW(laz_group_free, NO_EFFECT, NO_EFFECT, NO_EFFECT, NO_EFFECT)                                \
    ROW(laz_group_engines, WORKS, WORKS, WORKS, WORKS)                                             \
    ROW(laz_group_load, WORKS, WORKS, WORKS, WORKS)                                                \
    ROW(laz_group_add_tool, BUSY, BUSY, WORKS, BUSY)                                               \
    ROW(laz_group_set_approver, BUSY, BUSY, WORKS, BUSY)                                           \
    ROW(laz_group_run, BUSY, BUSY, WORKS, BUSY)                                                    \
    ROW(laz_group_execute, BUSY, BUSY, WORKS, BUSY)                                                \
    ROW(laz_group_execute_async, WORKS, WORKS, WORKS, WORKS)                                       \
    ROW(laz_group_cancel, WORKS, WORKS, WORKS, WORKS)                                              \
    ROW(laz_group_pool_new, BUSY, BUSY, WORKS, BUSY)                                               \
    ROW(laz_group_pool_execute, BUSY, BUSY, WORKS, BUSY)                                           \
    ROW(laz_group_pool_execute_async, WORKS, WORKS, WORKS, WORKS)                                  \
    ROW(laz_group_pool_status, WORKS, WORKS, WORKS, WORKS)                                         \
    ROW(laz_group_pool_free, NO_EFFECT, NO_EFFECT, WORKS, NO_EFFECT)

enum outcome { WORKS, BUSY, NO_EFFECT, NOTHING, IN_USE, WRONG };
enum place { COMPLETION, HANDLER, ELSEWHERE, RUN, PLACES };

struct row {
    const char *name;
    enum outcome (*call)(void);
    enum outcome expected[PLACES];
};
extern const struct row rows_of_an_engine[], rows_of_a_group[];
extern const size_t n_rows_of_an_engine, n_rows_of_a_group;

/* What the functions are called with, and what came of the one call. */
struct call {
    struct laz_engine *engine;
    struct laz_session *session, *other,
        *asks; /* that executes; that is idle; whose reply is kept */
    struct laz_pool *pool;
    struct laz_session *acquired;
    struct laz_reply *kept;
    struct laz_group *group;
    struct laz_group_pool *places;
    const struct row *row;
    const char *kind;
    atomic_uint refusals; /* "has no effect", in the log */
    atomic_bool armed, has_called, logs_call;
    atomic_uint begun; /* what rows have begun and was not reported yet */
    enum outcome got;
    struct laz_error err;
};
extern struct call at;
extern const struct laz_session_options callbacks_lua;
extern const struct laz_pool_options callbacks_one; /* place */

/* Callbacks of what rows begin, and that do nothing else. */
void callbacks_drop(void *user, struct laz_result *result, const struct laz_error *err);
void callbacks_run_nothing(void *user, struct laz_engine *engine);
void callbacks_nothing(void *user, const char *args, size_t len, struct laz_reply *reply);

#endif
