/* SPDX-License-Identifier: MIT */
/* test_pool.c - sessions kept ready: acquired and released, replaced when they die, with callers
 * served in order. */
#include "live.h"
#include "traces.h"

#include "base/clock.h"
#include "box/template.h"
#include "engine/engine.h"
#include "session/session.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct laz_engine *engine;

/* NULL after a failed assertion or a skip. */
static struct laz_pool *open_pool(const char *settings, uint32_t members)
{
    const struct laz_pool_options options = {
        .size = sizeof options, .runtime = "lua", .members = members};
    struct laz_pool *pool = NULL;
    struct laz_error err = {0};

    engine = test_engine(settings);
    int rc = engine ? laz_pool_new(engine, &options, &pool, &err) : LAZ_ENOENT;
    if (rc == LAZ_ENOENT && engine)
        unit_skip("lua", err.text);
    else if (rc)
        printf("    %s\n", err.text);
    CU_ASSERT(!rc || rc == LAZ_ENOENT);
    return pool;
}

static void expect_status(struct laz_pool *pool, uint32_t total, uint32_t busy, uint32_t idle,
                          uint32_t dead)
{
    struct laz_pool_status status = {.size = sizeof status};

    CU_ASSERT_EQUAL(laz_pool_status(pool, &status, NULL), 0);
    CU_ASSERT_EQUAL(status.total, total);
    CU_ASSERT_EQUAL(status.busy, busy);
    CU_ASSERT_EQUAL(status.idle, idle);
    CU_ASSERT_EQUAL(status.dead, dead);
}

/* Waits until all free places are ready. */
static void await_idle(struct laz_pool *pool, uint32_t idle)
{
    struct laz_pool_status status = {.size = sizeof status};

    while (laz_pool_status(pool, &status, NULL), status.idle != idle)
        laz_engine_step(engine, 100, NULL);
}

static void pool_expect(struct laz_pool *pool, const char *code, enum laz_verdict verdict,
                        const char *value)
{
    const struct laz_execute_options soon = {.size = sizeof soon, .timeout_ms = 200};
    const struct laz_execute_options *options = verdict == LAZ_VERDICT_TIMEOUT ? &soon : NULL;
    struct laz_result *result = NULL;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL(laz_pool_execute(pool, LAZ_NO_LIMIT, code, SIZE_MAX, options, &result, &err),
                    0);
    CU_ASSERT(result && laz_result_verdict(result) == verdict);
    if (result && value)
        CU_ASSERT_STRING_EQUAL(laz_result_value(result), value);
    if (!result)
        printf("    %s\n", err.text);
    laz_result_free(result);
}

/* ---- sizes and use -----------------------------------------------------------------------------
 */

static void a_pool_has_its_size_from_one_to_a_hundred(void)
{
    struct laz_pool_options options = {.size = sizeof options, .runtime = "lua", .members = 101};
    struct laz_error err = {0};
    struct laz_pool *pool = open_pool("", 0), *other = NULL;

    if (pool) {
        expect_status(pool, 4, 0, 4, 0); /* pool.size */
        CU_ASSERT_EQUAL(laz_pool_new(engine, &options, &other, &err), LAZ_EINVAL);
        CU_ASSERT_PTR_NULL(other);
        options.members = 97; /* pool.max_sessions is 100 */
        CU_ASSERT_EQUAL(laz_pool_new(engine, &options, &other, &err), LAZ_EREFUSED);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "pool.max_sessions (100)"));
        for (int i = 0; i < 6; i++)
            pool_expect(pool, "return add(2, 3)", LAZ_VERDICT_OK, "5");
        await_idle(pool, 4);
        CU_ASSERT_PTR_NOT_NULL(strstr(laz_pool_describe(pool), "<pool lua size=4 idle=4 busy=0"));
        CU_ASSERT_EQUAL(laz_pool_close(pool, &err), 0);
        CU_ASSERT_EQUAL(laz_pool_close(pool, &err), 0);
        expect_status(pool, 0, 0, 0, 0);
        CU_ASSERT_STRING_EQUAL(laz_pool_describe(pool), "<pool [closed]>");
        struct laz_result *result;
        CU_ASSERT_EQUAL(laz_pool_execute(pool, 0, "1", SIZE_MAX, NULL, &result, &err), LAZ_ECLOSED);
        CU_ASSERT_STRING_EQUAL(err.text, "Pool is closed");
        laz_pool_free(pool);
    }
    laz_engine_free(engine);
}

static void errors_and_timeouts_do_not_break_it(void)
{
    struct laz_pool *pool = open_pool("pool.reset=false", 2);

    if (pool) {
        pool_expect(pool, "error('no')", LAZ_VERDICT_ERROR, NULL);
        expect_status(pool, 2, 0, 2, 0);
        pool_expect(pool, "while true do end", LAZ_VERDICT_TIMEOUT, NULL);
        await_idle(pool, 2);
        pool_expect(pool, "return 1", LAZ_VERDICT_OK, "1");
        pool_expect(pool, "return 2", LAZ_VERDICT_OK, "2");
        expect_status(pool, 2, 0, 2, 0);
    }
    laz_engine_free(engine); /* and its pools */
}

static void with_reset_a_use_leaves_nothing_behind(void)
{
    for (int reset = 0; reset <= 1; reset++) {
        struct laz_pool *pool = open_pool(reset ? "pool.reset=true" : "pool.reset=false", 1);
        if (pool) {
            pool_expect(pool, "x = 41; return x", LAZ_VERDICT_OK, "41");
            pool_expect(pool, "return x", LAZ_VERDICT_OK, reset ? "null" : "41");
        }
        laz_engine_free(engine);
    }
}

static void what_is_acquired_is_released_once(void)
{
    struct laz_pool *pool = open_pool("", 2);
    struct laz_session *a = NULL, *b = NULL, *none = NULL;
    struct laz_error err = {0};

    if (pool) {
        CU_ASSERT_EQUAL(laz_pool_acquire(pool, 0, &a, NULL), 0);
        expect_status(pool, 2, 1, 1, 0);
        CU_ASSERT_EQUAL(laz_pool_acquire(pool, 0, &b, NULL), 0);
        CU_ASSERT_PTR_NOT_EQUAL(a, b);
        test_expect(a, "x = 1", LAZ_VERDICT_OK, NULL);
        test_expect(b, "x", LAZ_VERDICT_OK, "null");
        uint64_t began = laz_clock_ms();
        CU_ASSERT_EQUAL(laz_pool_acquire(pool, 300, &none, &err), LAZ_EBUSY);
        CU_ASSERT(laz_clock_ms() - began >= 290);
        test_hold_clock(engine); /* a wait would never end */
        CU_ASSERT_EQUAL(laz_pool_acquire(pool, 0, &none, &err), LAZ_EBUSY);
        CU_ASSERT_STRING_EQUAL(err.text, "All sessions are busy");
        CU_ASSERT_PTR_NULL(none);
        CU_ASSERT_EQUAL(laz_pool_release(pool, a, NULL), 0);
        CU_ASSERT_EQUAL(laz_pool_acquire(pool, LAZ_NO_LIMIT, &a, NULL), 0); /* it is starting */
        test_expect(a, "x", LAZ_VERDICT_OK, "null");
        laz_session_free(a); /* instead of giving it back */
        await_idle(pool, 1);
        CU_ASSERT_EQUAL(laz_pool_release(pool, b, NULL), 0);
        await_idle(pool, 2);
        struct laz_session *own = test_session(engine, "lua");
        CU_ASSERT_EQUAL(laz_pool_release(pool, own, &err), LAZ_EINVAL);
    }
    laz_engine_free(engine);
}

static void taken(void *user, const struct laz_error *err)
{
    *(bool *)user = !err;
}

/* The artifact is the result's, which outlives the session and its engine. */
static void a_session_that_was_acquired_takes_files(void)
{
    static const char save[] = "local f = io.open('artifacts/out', 'w'); "
                               "f:write(io.open('in'):read('a')); f:close()";
    static const char look[] = "return io.open('in') ~= nil";

    for (int reset = 0; reset <= 1; reset++) {
        struct laz_pool *pool = open_pool(reset ? "pool.reset=true" : "pool.reset=false", 1);
        struct laz_artifact artifact = LAZ_ARTIFACT_INIT;
        struct laz_result *result = NULL;
        struct laz_session *session = NULL;
        struct laz_error err = {0};
        bool is_taken = false;
        if (pool) {
            CU_ASSERT_EQUAL(laz_pool_acquire(pool, LAZ_NO_LIMIT, &session, NULL), 0);
            CU_ASSERT_EQUAL(laz_session_put_file(session, "in", "hello", 5, NULL), 0);
            CU_ASSERT_EQUAL(
                laz_session_put_file_async(session, "more", "x", 1, taken, &is_taken, NULL), 0);
            CU_ASSERT_EQUAL(laz_pool_release(pool, session, &err), LAZ_EBUSY);
            UNIT_TEXT(err.text, "a file is being put in the session");
            while (!is_taken)
                CU_ASSERT_EQUAL_FATAL(laz_engine_step(engine, -1, NULL), 0);
            result = test_run(session, save, NULL);
            CU_ASSERT_EQUAL(laz_pool_release(pool, session, NULL), 0);
            pool_expect(pool, look, LAZ_VERDICT_OK, reset ? "false" : "true");
        }
        laz_engine_free(engine);
        if (result) {
            CU_ASSERT_EQUAL(laz_result_artifact(result, 0, &artifact), 0);
            CU_ASSERT(artifact.data_len == 5 && memcmp(artifact.data, "hello", 5) == 0);
        }
        laz_result_free(result);
    }
}

/* ---- death --------------------------------------------------------------------------------- */

static void a_member_that_dies_is_replaced(void)
{
    struct laz_pool *pool = open_pool("", 2);
    struct laz_session *session = NULL;

    if (pool) {
        struct laz_pool_status status = {.size = sizeof status};
        CU_ASSERT_EQUAL(laz_pool_acquire(pool, 0, &session, NULL), 0);
        int64_t pid = laz_session_pid(session);
        laz_pool_release(pool, session, NULL);
        await_idle(pool, 2);
        CU_ASSERT_EQUAL(laz_pool_acquire(pool, 0, &session, NULL), 0);
        pid = laz_session_pid(session);
        CU_ASSERT(pid > 0 && kill((pid_t)pid, SIGKILL) == 0);
        while (laz_session_is_alive(session))
            laz_engine_step(engine, 10, NULL);
        CU_ASSERT_EQUAL(laz_pool_release(pool, session, NULL), 0);
        await_idle(pool, 2); /* without a caller */
        pool_expect(pool, "return 1", LAZ_VERDICT_OK, "1");
        CU_ASSERT_EQUAL(laz_pool_status(pool, &status, NULL), 0);
        CU_ASSERT_EQUAL(status.total, 2);
    }
    laz_engine_free(engine);
}

static void a_member_that_dies_while_idle_is_dead_and_then_replaced(void)
{
    struct laz_pool *pool = open_pool("pool.reset=false", 2);
    struct laz_session *session = NULL;

    if (pool) {
        CU_ASSERT_EQUAL(laz_pool_acquire(pool, 0, &session, NULL), 0);
        int64_t pid = laz_session_pid(session);
        CU_ASSERT_EQUAL(laz_pool_release(pool, session, NULL), 0);
        CU_ASSERT(pid > 0 && kill((pid_t)pid, SIGKILL) == 0);
        struct laz_pool_status status = {.size = sizeof status};
        while (!status.dead)
            laz_pool_status(pool, &status, NULL); /* reads the status and starts nothing */
        CU_ASSERT_EQUAL(status.total, 2);
        CU_ASSERT_EQUAL(status.idle, 1);
        CU_ASSERT_EQUAL(status.dead, 1);
        await_idle(pool, 2);
        for (int i = 0; i < 4; i++)
            pool_expect(pool, "return 1", LAZ_VERDICT_OK, "1");
    }
    laz_engine_free(engine);
}

static void starts_that_fail_are_told_and_tried_again(void)
{
    const struct laz_pool_options options = {
        .size = sizeof options, .runtime = "lua", .members = 3, .no_wait = 1};
    struct laz_pool *pool = NULL;
    struct laz_session *session;
    struct laz_error err = {0};

    engine = test_engine("sandbox.backend=bwrap;sandbox.bwrap.program=/bin/false;pool.warm=cold");
    if (engine && laz_pool_new(engine, &options, &pool, &err) == 0) {
        for (int i = 0; i < 3; i++) {
            int rc = laz_pool_acquire(pool, LAZ_NO_LIMIT, &session, &err);
            CU_ASSERT(rc != 0 && rc != LAZ_EBUSY);
            CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "/false does not work as bubblewrap"));
        }
        expect_status(pool, 3, 0, 0, 3);
    }
    laz_engine_free(engine);
    struct laz_pool_options waits = options;
    waits.no_wait = 0;
    engine = test_engine("sandbox.backend=bwrap;sandbox.bwrap.program=/bin/false;pool.warm=cold");
    if (engine) {
        CU_ASSERT(laz_pool_new(engine, &waits, &pool, &err) != 0);
        CU_ASSERT_PTR_NULL(pool);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "/false does not work as bubblewrap"));
    }
    laz_engine_free(engine);
}

/* A session that may come from a template; NULL, and why not. */
static bool warm_is_refused(const char *runtime, struct laz_error *err)
{
    const struct laz_session_options options = {
        .size = sizeof options, .runtime = runtime, .warm = 1};
    struct laz_session *session = NULL;
    const int rc = laz_session_open(engine, &options, &session, err);

    CU_ASSERT(rc == 0 || rc == LAZ_ESETUP || rc == LAZ_ECONFIG || rc == LAZ_ENOENT);
    laz_session_free(session);
    return rc != 0;
}

static void a_package_that_is_named_is_loaded_or_no_session_starts(void)
{
    static const struct {
        const char *runtime, *preload, *says; /* NULL: it is loaded, or of another language */
    } rows[] = {
        {"lua", "[]", NULL},
        {"lua", "[\"python:json\",\"r:no_such_one\"]", NULL},
        {"lua", "[\"json\"]", "the runtime lua can load nothing in advance"},
        {"python", "[\"json\",\"python:string\",\"r:stats\"]", NULL},
        {"python", "[\"json\",\"no_such_one\"]", "no_such_one: ModuleNotFoundError"},
        {"r", "[\"r:no_such_one\"]", "no_such_one: "},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char settings[200];
        snprintf(settings, sizeof settings, "pool.warm=auto;pool.preload=%s", rows[i].preload);
        engine = test_engine(settings);
        for (int n = 0; engine && n < 3; n++) { /* it is as wrong the second time, and in a pause */
            struct laz_error err = {0};
            const bool is_refused = warm_is_refused(rows[i].runtime, &err);
            if (err.code == LAZ_ENOENT && unit_skip(rows[i].runtime, err.text))
                break;
            if (engine->boxes.templates && laz_templates_refused(&engine->boxes))
                break; /* none here: the names cannot be judged */
            CU_ASSERT_EQUAL(is_refused, rows[i].says != NULL);
            if (rows[i].says &&
                !(strstr(err.text, rows[i].says) && strstr(err.text, "pool.preload")))
                printf("\n    %s: %s", rows[i].says, err.text);
            CU_ASSERT(!rows[i].says ||
                      (strstr(err.text, rows[i].says) && strstr(err.text, "pool.preload")));
        }
        laz_engine_free(engine);
    }
}

/* ---- waiting callers ---------------------------------------------------------------------------
 */

static int order[8];
static unsigned n_told;

struct caller {
    struct laz_pool *pool;
    int number, code;
};

static void caller_got(void *user, struct laz_session *session, const struct laz_error *err)
{
    struct caller *caller = user;

    order[n_told++] = caller->number;
    caller->code = err ? err->code : 0;
    if (session) /* for the next caller */
        CU_ASSERT_EQUAL(laz_pool_release(caller->pool, session, NULL), 0);
}

static void callers_are_served_in_order(void)
{
    struct laz_pool *pool = open_pool("pool.max_waiting=5", 1);
    struct laz_session *session = NULL;
    struct caller callers[5];
    struct laz_error err = {0};

    n_told = 0;
    if (pool) {
        CU_ASSERT_EQUAL(laz_pool_acquire(pool, 0, &session, NULL), 0);
        for (int i = 0; i < 5; i++) {
            callers[i] = (struct caller){pool, i, -1};
            CU_ASSERT_EQUAL(laz_pool_acquire_async(pool, i == 2 ? 20 : LAZ_NO_LIMIT, caller_got,
                                                   &callers[i], NULL),
                            0);
        }
        CU_ASSERT_EQUAL(laz_pool_acquire_async(pool, LAZ_NO_LIMIT, caller_got, &callers[0], &err),
                        LAZ_EBUSY);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "pool.max_waiting"));
        struct laz_pool_status status = {.size = sizeof status};
        laz_pool_status(pool, &status, NULL);
        CU_ASSERT_EQUAL(status.waiting, 5);
        while (!n_told)
            laz_engine_step(engine, 100, NULL);
        CU_ASSERT_EQUAL(order[0], 2); /* its wait had timed out */
        CU_ASSERT_EQUAL(callers[2].code, LAZ_EBUSY);
        CU_ASSERT_EQUAL(laz_pool_release(pool, session, NULL), 0);
        while (n_told < 5)
            laz_engine_step(engine, 100, NULL);
        static const int expected[] = {2, 0, 1, 3, 4};
        CU_ASSERT(n_told == 5 && memcmp(order, expected, sizeof expected) == 0);
        /* remaining callers are served or refused when the pool ends */
        await_idle(pool, 1);
        CU_ASSERT_EQUAL(laz_pool_acquire(pool, 0, &session, NULL), 0);
        callers[0].code = -1;
        laz_pool_acquire_async(pool, LAZ_NO_LIMIT, caller_got, &callers[0], NULL);
        laz_pool_free(pool);
        CU_ASSERT_EQUAL(callers[0].code, LAZ_ECLOSED);
    }
    laz_engine_free(engine);
}

struct ended {
    unsigned n, ok;
};

static void note_ended(void *user, struct laz_result *result, const struct laz_error *err)
{
    struct ended *ended = user;

    ended->n++;
    ended->ok += !err && laz_result_verdict(result) == LAZ_VERDICT_OK &&
                 strcmp(laz_result_value(result), "null") == 0;
    laz_result_free(result);
}

static void many_executions_share_a_few_sessions(void)
{
    int descriptors = trace_descriptors(), threads = trace_threads();
    struct laz_pool *pool = open_pool("", 3);
    struct ended ended = {0};

    if (pool) {
        for (int i = 0; i < 60; i++)
            CU_ASSERT_EQUAL(laz_pool_execute_async(pool, LAZ_NO_LIMIT,
                                                   "local y = x; x = 1; return y", SIZE_MAX, NULL,
                                                   note_ended, &ended, NULL),
                            0);
        while (ended.n < 60)
            laz_engine_step(engine, 100, NULL);
        CU_ASSERT_EQUAL(ended.n, 60);
        CU_ASSERT_EQUAL(ended.ok, 60);
        for (int i = 0; i < 10; i++)
            laz_pool_execute_async(pool, LAZ_NO_LIMIT, "while true do end", SIZE_MAX, NULL,
                                   note_ended, &ended, NULL);
        laz_engine_step(engine, 20, NULL);
    }
    laz_engine_free(engine);
    if (pool && ended.n != 70) /* each is called back once */
        printf("    told of %u\n", ended.n);
    CU_ASSERT(!pool || ended.n == 70);
    CU_ASSERT_EQUAL(trace_children(), 0);
    CU_ASSERT_EQUAL(trace_threads(), threads);
    CU_ASSERT_EQUAL(trace_descriptors(), descriptors);
}

static void note_value(void *user, struct laz_result *result, const struct laz_error *err)
{
    CU_ASSERT_PTR_NULL(err);
    snprintf(user, 64, "%s", laz_result_value(result));
    laz_result_free(result);
}

/* What the caller gave is gone when a session is free. */
static void what_an_execution_is_given_is_copied(void)
{
    struct laz_pool *pool = open_pool("", 1);
    char name[] = "file.lua", arg[] = "one", cwd[] = "/tmp", directory[] = "/usr";
    const char *argv[] = {name, arg};
    const struct laz_execute_options options = {
        .size = sizeof options, .argv = argv, .n_argv = 2, .cwd = cwd, .directory = directory};
    char value[64] = "";
    struct laz_error err = {0};

    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    CU_ASSERT_EQUAL_FATAL(laz_pool_execute_async(pool, LAZ_NO_LIMIT, "return arg[0] .. arg[1]",
                                                 SIZE_MAX, &options, note_value, value, &err),
                          0);
    memset(name, 'x', sizeof name - 1);
    memset(arg, 'x', sizeof arg - 1);
    memset(cwd, 'x', sizeof cwd - 1);
    memset(directory, 'x', sizeof directory - 1);
    argv[0] = argv[1] = NULL;
    while (!*value)
        CU_ASSERT_EQUAL_FATAL(laz_engine_step(engine, -1, &err), 0);
    UNIT_TEXT(value, "\"file.luaone\"");
    laz_pool_free(pool);
    laz_engine_free(engine);
}

static void tool_eight(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len;
    laz_reply_value(reply, "8", 1);
}

/* Templates have tools too, which each language defines (test_template_tools.c); a tool added later
 * is available in later sessions. */
static void tools_that_are_added_later_are_there_later(void)
{
    const struct laz_tool tool = {.size = sizeof tool, .name = "eight", .description = ""};

    engine = test_engine("");
    struct laz_session *before = test_warm_session(engine, "lua");
    if (before) {
        test_expect(before, "add(2, 3)", LAZ_VERDICT_OK, "5");
        CU_ASSERT_EQUAL(laz_engine_add_tool(engine, &tool, tool_eight, NULL, NULL), 0);
        struct laz_session *after = test_warm_session(engine, "lua");
        test_expect(after, "eight()", LAZ_VERDICT_OK, "8");
        test_expect(before, "eight()", LAZ_VERDICT_ERROR, NULL);
        CU_ASSERT_EQUAL(laz_session_restart(before, NULL), 0);
        test_expect(before, "add(2, 3)", LAZ_VERDICT_OK, "5");
        test_expect(before, "eight()", LAZ_VERDICT_ERROR, NULL);
    }
    laz_engine_free(engine);
}

/* A session with tools of its own comes from a template as one without does, beside others that do
 * not have them. So do those of a pool. */
static void own_tools_are_in_sessions_of_templates_and_of_pools(void)
{
    const struct laz_tool tool = {.size = sizeof tool, .name = "eight", .description = ""};
    const struct laz_session_tool eight = {.size = sizeof eight, .tool = &tool, .call = tool_eight};
    const struct laz_session_tool *const tools[] = {&eight};
    static const char *const runtimes[] = {"lua", "python", "r"};

    engine = test_engine("");
    for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++) {
        const struct laz_session_options with = {
            .size = sizeof with, .runtime = runtimes[i], .warm = 1, .tools = tools, .n_tools = 1};
        const struct laz_pool_options pooled = {.size = sizeof pooled,
                                                .runtime = runtimes[i],
                                                .members = 2,
                                                .tools = tools,
                                                .n_tools = 1};
        struct laz_session *plain = test_warm_session(engine, runtimes[i]), *session = NULL;
        struct laz_template *from = plain ? plain->box->from : NULL;
        struct laz_pool *pool = NULL;
        struct laz_result *result = NULL;
        if (!plain || laz_session_open(engine, &with, &session, NULL)) {
            CU_ASSERT_PTR_NULL(plain);
            continue;
        }
        CU_ASSERT_PTR_EQUAL(session->box->from, from);
        test_expect(session, "eight()", LAZ_VERDICT_OK, "8");
        test_expect(session, "add(2, 3)", LAZ_VERDICT_OK, "5");
        test_expect(plain, "eight()", LAZ_VERDICT_ERROR, NULL);
        CU_ASSERT_EQUAL(laz_session_restart(session, NULL), 0);
        test_expect(session, "eight()", LAZ_VERDICT_OK, "8");
        CU_ASSERT_EQUAL_FATAL(laz_pool_new(engine, &pooled, &pool, NULL), 0);
        CU_ASSERT_EQUAL(
            laz_pool_execute(pool, LAZ_NO_LIMIT, "eight()", SIZE_MAX, NULL, &result, NULL), 0);
        UNIT_TEXT(laz_result_value(result), "8");
        laz_result_free(result);
        laz_pool_free(pool);
    }
    laz_engine_free(engine);
}

static const struct unit_test tests[] = {
    UNIT(a_pool_has_its_size_from_one_to_a_hundred),
    UNIT(errors_and_timeouts_do_not_break_it),
    UNIT(with_reset_a_use_leaves_nothing_behind),
    UNIT(what_is_acquired_is_released_once),
    UNIT(a_session_that_was_acquired_takes_files),
    UNIT(a_member_that_dies_is_replaced),
    UNIT(a_member_that_dies_while_idle_is_dead_and_then_replaced),
    UNIT(starts_that_fail_are_told_and_tried_again),
    UNIT(a_package_that_is_named_is_loaded_or_no_session_starts),
    UNIT(callers_are_served_in_order),
    UNIT(many_executions_share_a_few_sessions),
    UNIT(what_an_execution_is_given_is_copied),
    UNIT(tools_that_are_added_later_are_there_later),
    UNIT(own_tools_are_in_sessions_of_templates_and_of_pools),
    {0},
};

int main(void)
{
    return unit_run("pool", tests);
}
