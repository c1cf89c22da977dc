/* SPDX-License-Identifier: MIT */
/* callbacks.c (tests) - calls each public function once, of objects beside those that execute, and
 * says what came of it. */
#include "callbacks.h"

#include "engine/engine.h"
#include "group/group.h"
#include "session/session.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

struct call at;

/* ---- callbacks that do nothing --------------------------------------------------------------- */

void callbacks_nothing(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len, (void)reply;
}

void callbacks_drop(void *user, struct laz_result *result, const struct laz_error *err)
{
    (void)user, (void)err;
    laz_result_free(result);
    atomic_fetch_sub(&at.begun, 1);
}

static void put_dropped(void *user, const struct laz_error *err)
{
    (void)user, (void)err;
    atomic_fetch_sub(&at.begun, 1);
}

static void session_given_back(void *user, struct laz_session *session, const struct laz_error *err)
{
    (void)user, (void)err;
    if (session)
        CU_ASSERT_EQUAL(laz_pool_release(at.pool, session, NULL), 0);
    atomic_fetch_sub(&at.begun, 1);
}

static void nothing_cancelled(void *user)
{
    (void)user;
}

void callbacks_run_nothing(void *user, struct laz_engine *engine)
{
    (void)user, (void)engine;
}

/* ---- the calls ------------------------------------------------------------------------------- */

static enum outcome coded(int rc)
{
    return rc >= 0 ? WORKS : rc == LAZ_EBUSY ? BUSY : WRONG;
}

/* Of one that reports later. */
static enum outcome coded_begun(int rc)
{
    if (rc == 0)
        atomic_fetch_add(&at.begun, 1);
    return coded(rc);
}

static enum outcome coded_result(int rc, struct laz_result *result)
{
    const bool is_ok = result && laz_result_verdict(result) == LAZ_VERDICT_OK;

    laz_result_free(result);
    return rc == 0 && !is_ok ? WRONG : coded(rc);
}

static enum outcome text_given(const char *text)
{
    return !text ? NOTHING : strstr(text, "[in use]") ? IN_USE : WORKS;
}

const struct laz_session_options callbacks_lua = {.size = sizeof callbacks_lua, .runtime = "lua"};
const struct laz_pool_options callbacks_one = {
    .size = sizeof callbacks_one, .runtime = "lua", .members = 1};

#define CALL(function) static enum outcome call_##function(void)

CALL(laz_engine_new)
{
    struct laz_engine *another = NULL;
    const int rc = laz_engine_new(NULL, NULL, &another, &at.err);

    laz_engine_free(another);
    return coded(rc);
}

/* One that had an effect would be found out by what follows. */
CALL(laz_engine_free)
{
    const unsigned before = atomic_load(&at.refusals);

    laz_engine_free(at.engine);
    if (!atomic_load(&at.logs_call) && atomic_load(&at.refusals) != before + 1)
        return WRONG;
    return NO_EFFECT;
}

CALL(laz_engine_cancel)
{
    laz_engine_cancel(at.engine);
    return WORKS;
}

CALL(laz_engine_fd)
{
    return laz_engine_fd(at.engine) >= 0 ? WORKS : WRONG;
}

CALL(laz_engine_timeout)
{
    return laz_engine_timeout(at.engine) >= -1 ? WORKS : WRONG;
}

CALL(laz_engine_step)
{
    return coded(laz_engine_step(at.engine, 0, &at.err));
}

CALL(laz_engine_add_tool)
{
    static atomic_uint n;
    char name[32];
    const struct laz_tool tool = {.size = sizeof tool, .name = name};

    snprintf(name, sizeof name, "added_%u", atomic_fetch_add(&n, 1));
    return coded(laz_engine_add_tool(at.engine, &tool, callbacks_nothing, NULL, &at.err));
}

CALL(laz_engine_set_approver)
{
    return coded(laz_engine_set_approver(at.engine, NULL, NULL, &at.err));
}

static enum outcome searched(int rc, const char *found)
{
    return rc ? coded(rc) : found && strstr(found, "\"asks\"") ? WORKS : WRONG;
}

CALL(laz_engine_search_tools)
{
    const char *found = NULL;
    const int rc = laz_engine_search_tools(at.engine, "asks", 1, &found, &at.err);

    return searched(rc, found);
}

CALL(laz_engine_search_tools_with)
{
    const char *found = NULL;
    const int rc = laz_engine_search_tools_with(at.engine, NULL, 0, "asks", 1, &found, &at.err);

    return searched(rc, found);
}

CALL(laz_engine_check_tools)
{
    return coded(laz_engine_check_tools(at.engine, NULL, 0, &at.err));
}

CALL(laz_engine_tools)
{
    return searched(0, laz_engine_tools(at.engine));
}

CALL(laz_engine_tool_stub)
{
    const char *stub = NULL;

    return coded(laz_engine_tool_stub(at.engine, "asks", "lua", &stub, &at.err));
}

CALL(laz_session_open)
{
    struct laz_session *another = NULL;
    const int rc = laz_session_open(at.engine, &callbacks_lua, &another, &at.err);

    laz_session_free(another);
    return coded(rc);
}

CALL(laz_session_execute)
{
    struct laz_result *result = NULL;
    const int rc = laz_session_execute(at.other, "1", SIZE_MAX, NULL, &result, &at.err);

    return coded_result(rc, result);
}

CALL(laz_session_execute_async)
{
    return coded_begun(
        laz_session_execute_async(at.other, "1", SIZE_MAX, NULL, callbacks_drop, NULL, &at.err));
}

CALL(laz_session_cancel)
{
    laz_session_cancel(at.other);
    return WORKS;
}

CALL(laz_session_interrupt)
{
    (void)laz_session_interrupt(at.other);
    return WORKS;
}

CALL(laz_session_check)
{
    struct laz_result *result = NULL;
    const int rc = laz_session_check(at.other, "1", SIZE_MAX, &result, &at.err);

    return coded_result(rc, result);
}

CALL(laz_session_put_file)
{
    return coded(laz_session_put_file(at.other, "file", "x", 1, &at.err));
}

CALL(laz_session_put_file_async)
{
    return coded_begun(
        laz_session_put_file_async(at.other, "file", "x", 1, put_dropped, NULL, &at.err));
}

CALL(laz_session_restart)
{
    return coded(laz_session_restart(at.other, &at.err));
}

CALL(laz_session_set_network)
{
    return coded(laz_session_set_network(at.other, NULL, 0, &at.err));
}

CALL(laz_session_close)
{
    laz_session_close(at.other);
    return laz_session_is_alive(at.other) ? NO_EFFECT : WORKS;
}

/* The engine frees one that was not freed: it can still be used here. */
CALL(laz_session_free)
{
    struct laz_session *const freed = at.other;
    const struct laz_session *s;

    laz_session_free(freed);
    for (s = at.engine->sessions.sessions; s && s != freed; s = s->next)
        ;
    if (!s)
        at.other = NULL;
    return s ? NO_EFFECT : WORKS;
}

CALL(laz_session_is_alive)
{
    return laz_session_is_alive(at.other) ? WORKS : WRONG;
}

CALL(laz_session_pid)
{
    return laz_session_pid(at.other) > 0 ? WORKS : WRONG;
}

CALL(laz_session_id)
{
    return text_given(laz_session_id(at.other));
}

CALL(laz_session_tools)
{
    return text_given(laz_session_tools(at.other));
}

CALL(laz_session_search_tools)
{
    const char *found = NULL;
    const int rc = laz_session_search_tools(at.other, "asks", 1, &found, &at.err);

    return searched(rc, found);
}

CALL(laz_session_describe)
{
    return text_given(laz_session_describe(at.other));
}

CALL(laz_session_isolation)
{
    return text_given(laz_session_isolation(at.other));
}

CALL(laz_execute)
{
    struct laz_result *result = NULL;
    const int rc = laz_execute(at.engine, &callbacks_lua, "1", SIZE_MAX, NULL, &result, &at.err);

    return coded_result(rc, result);
}

CALL(laz_execute_async)
{
    return coded_begun(laz_execute_async(at.engine, &callbacks_lua, "1", SIZE_MAX, NULL,
                                         callbacks_drop, NULL, &at.err));
}

CALL(laz_pool_new)
{
    struct laz_pool *another = NULL;
    const int rc = laz_pool_new(at.engine, &callbacks_one, &another, &at.err);

    laz_pool_free(another);
    return coded(rc);
}

CALL(laz_pool_acquire)
{
    struct laz_session *got = NULL;
    const int rc = laz_pool_acquire(at.pool, LAZ_NO_LIMIT, &got, &at.err);

    if (got)
        CU_ASSERT_EQUAL(laz_pool_release(at.pool, got, NULL), 0);
    return coded(rc);
}

CALL(laz_pool_acquire_async)
{
    return coded_begun(
        laz_pool_acquire_async(at.pool, LAZ_NO_LIMIT, session_given_back, NULL, &at.err));
}

CALL(laz_pool_release)
{
    const int rc = laz_pool_release(at.pool, at.acquired, &at.err);

    if (!rc)
        at.acquired = NULL;
    return coded(rc);
}

CALL(laz_pool_execute)
{
    struct laz_result *result = NULL;
    const int rc = laz_pool_execute(at.pool, LAZ_NO_LIMIT, "1", SIZE_MAX, NULL, &result, &at.err);

    return coded_result(rc, result);
}

CALL(laz_pool_execute_async)
{
    return coded_begun(laz_pool_execute_async(at.pool, LAZ_NO_LIMIT, "1", SIZE_MAX, NULL,
                                              callbacks_drop, NULL, &at.err));
}

CALL(laz_pool_status)
{
    struct laz_pool_status status = LAZ_POOL_STATUS_INIT;

    return coded(laz_pool_status(at.pool, &status, &at.err));
}

CALL(laz_pool_describe)
{
    return text_given(laz_pool_describe(at.pool));
}

static void pool_is_gone(void)
{
    at.pool = NULL;
    at.acquired = NULL;
}

CALL(laz_pool_close)
{
    const int rc = laz_pool_close(at.pool, &at.err);

    if (!rc)
        laz_pool_free(at.pool);
    if (!rc)
        pool_is_gone();
    return coded(rc);
}

CALL(laz_pool_free)
{
    const unsigned before = atomic_load(at.engine->sessions.pooled);

    laz_pool_free(at.pool);
    if (atomic_load(at.engine->sessions.pooled) == before)
        return NO_EFFECT;
    pool_is_gone();
    return WORKS;
}

CALL(laz_reply_value)
{
    laz_reply_value(at.kept, "1", 1);
    return WORKS;
}

CALL(laz_reply_error)
{
    laz_reply_error(at.kept, "no");
    return WORKS;
}

CALL(laz_reply_caller)
{
    return laz_reply_caller(at.kept) ? WORKS : WRONG;
}

CALL(laz_reply_keep)
{
    return coded(laz_reply_keep(at.kept));
}

CALL(laz_reply_is_cancelled)
{
    return laz_reply_is_cancelled(at.kept) ? WRONG : WORKS;
}

CALL(laz_reply_on_cancel)
{
    return coded(laz_reply_on_cancel(at.kept, nothing_cancelled, NULL));
}

CALL(laz_reply_free)
{
    laz_reply_free(at.kept);
    at.kept = NULL;
    return WORKS;
}

/* ---- of groups */

CALL(laz_group_new)
{
    const struct laz_group_options single = {.size = sizeof single, .engines = 1};
    struct laz_group *another = NULL;
    const int rc = laz_group_new(NULL, &single, &another, &at.err);

    laz_group_free(another);
    return coded(rc);
}

CALL(laz_group_free)
{
    const unsigned before = atomic_load(&at.refusals);

    laz_group_free(at.group);
    return atomic_load(&at.refusals) == before + 1 ? NO_EFFECT : WRONG;
}

CALL(laz_group_engines)
{
    return laz_group_engines(at.group) == 1 ? WORKS : WRONG;
}

CALL(laz_group_load)
{
    (void)laz_group_load(at.group, 0);
    return WORKS;
}

CALL(laz_group_add_tool)
{
    static atomic_uint n;
    char name[32];
    const struct laz_tool tool = {.size = sizeof tool, .name = name};

    snprintf(name, sizeof name, "added_%u", atomic_fetch_add(&n, 1));
    return coded(laz_group_add_tool(at.group, &tool, callbacks_nothing, NULL, &at.err));
}

CALL(laz_group_set_approver)
{
    return coded(laz_group_set_approver(at.group, NULL, NULL, &at.err));
}

CALL(laz_group_run)
{
    return coded(laz_group_run(at.group, 0, callbacks_run_nothing, NULL, &at.err));
}

CALL(laz_group_execute)
{
    struct laz_result *result = NULL;
    const int rc =
        laz_group_execute(at.group, &callbacks_lua, "1", SIZE_MAX, NULL, &result, &at.err);

    return coded_result(rc, result);
}

CALL(laz_group_execute_async)
{
    return coded_begun(laz_group_execute_async(at.group, &callbacks_lua, "1", SIZE_MAX, NULL,
                                               callbacks_drop, NULL, &at.err));
}

CALL(laz_group_cancel)
{
    laz_group_cancel(at.group);
    return WORKS;
}

CALL(laz_group_pool_new)
{
    struct laz_group_pool *another = NULL;
    const int rc = laz_group_pool_new(at.group, &callbacks_one, &another, &at.err);

    laz_group_pool_free(another);
    return coded(rc);
}

CALL(laz_group_pool_execute)
{
    struct laz_result *result = NULL;
    const int rc =
        laz_group_pool_execute(at.places, LAZ_NO_LIMIT, "1", SIZE_MAX, NULL, &result, &at.err);

    return coded_result(rc, result);
}

CALL(laz_group_pool_execute_async)
{
    return coded_begun(laz_group_pool_execute_async(at.places, LAZ_NO_LIMIT, "1", SIZE_MAX, NULL,
                                                    callbacks_drop, NULL, &at.err));
}

CALL(laz_group_pool_status)
{
    struct laz_pool_status status = LAZ_POOL_STATUS_INIT;

    return coded(laz_group_pool_status(at.places, &status, &at.err));
}

CALL(laz_group_pool_free)
{
    struct laz_group_pool *const before = at.group->pools;

    laz_group_pool_free(at.places);
    if (at.group->pools == before)
        return NO_EFFECT;
    at.places = NULL;
    return WORKS;
}

/* ---- the table ------------------------------------------------------------------------------- */

#define ROW(function, completion, handler, elsewhere, run)                                         \
    {#function, call_##function, {completion, handler, elsewhere, run}},
const struct row rows_of_an_engine[] = {CALLBACKS_OF_AN_ENGINE};
const struct row rows_of_a_group[] = {CALLBACKS_OF_A_GROUP};
#undef ROW
const size_t n_rows_of_an_engine = sizeof rows_of_an_engine / sizeof *rows_of_an_engine;
const size_t n_rows_of_a_group = sizeof rows_of_a_group / sizeof *rows_of_a_group;
