/* SPDX-License-Identifier: MIT */
/* test_job_files.c - files that come with the code: removed from a session that others use
 * afterwards, or the session goes; what happens where one cannot be put, and where the execution is
 * cancelled, or its session does not start. The clocks of engines are held. */
#include "gates.h"

#include "base/buf.h"
#include "engine/engine.h"
#include "group/group.h"
#include "job/job_private.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPEN      "session.runtime=lua;pool.warm=cold"
#define KEPT      OPEN ";pool.reset=false"
#define LARGE     ((size_t)3 << 20) /* bytes; many parts */
#define WRITE_OWN "local f = io.open('own', 'w') f:write('o') f:close() "

static struct laz_engine *engine;
static unsigned n_ran; /* calls of the tool `ran`; by the thread that drives the engine */

static void tool_ran(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len;
    n_ran++;
    laz_reply_value(reply, "1", 1);
}

static const struct laz_tool ran = {.size = sizeof ran, .name = "ran", .nonblocking = 1};

static void engine_open(const char *settings)
{
    n_ran = 0;
    engine = test_engine_open(settings);
    CU_ASSERT_PTR_NOT_NULL_FATAL(engine);
    test_hold_clock(engine);
    CU_ASSERT_EQUAL(laz_engine_add_tool(engine, &ran, tool_ran, NULL, NULL), 0);
}

static struct laz_pool *pool_open(void)
{
    const struct laz_pool_options one = {.size = sizeof one, .members = 1};
    struct laz_pool *pool = NULL;

    CU_ASSERT_EQUAL_FATAL(laz_pool_new(engine, &one, &pool, NULL), 0);
    return pool;
}

/* Two small files, or a large one. */
static const struct laz_file in = {.size = sizeof in, .name = "in", .data = "hello", .data_len = 5},
                             two = {.size = sizeof two, .name = "two"};
static const struct laz_file *const small_files[] = {&in, &two};
static const struct laz_execute_options small = {
    .size = sizeof small, .files = small_files, .n_files = 2};

static struct laz_file large_file = {.size = sizeof large_file, .name = "large", .data_len = LARGE};
static const struct laz_file *const large_files[] = {&in, &large_file};
static const struct laz_execute_options large = {
    .size = sizeof large, .files = large_files, .n_files = 2};

/* Waits for a report while the engine is driven. */
static void told_await(struct gate_told *told)
{
    while (!told->times)
        CU_ASSERT_EQUAL_FATAL(laz_engine_step(engine, -1, NULL), 0);
}

static void pool_expect(struct laz_pool *pool, const char *code,
                        const struct laz_execute_options *options, enum laz_verdict verdict,
                        const char *value)
{
    struct laz_result *result = NULL;
    struct laz_error err = {0};
    struct gate_told told = {0};

    CU_ASSERT_EQUAL(laz_pool_execute(pool, LAZ_NO_LIMIT, code, SIZE_MAX, options, &result, &err),
                    0);
    CU_ASSERT_EQUAL(laz_result_verdict(result), verdict);
    if (value)
        UNIT_TEXT(laz_result_value(result), value);
    laz_result_free(result);
    if (!value)
        return;
    CU_ASSERT_EQUAL_FATAL(
        laz_pool_execute_async(pool, LAZ_NO_LIMIT, code, SIZE_MAX, options, gate_tell, &told, &err),
        0);
    told_await(&told);
    CU_ASSERT_EQUAL(told.verdict, verdict);
    UNIT_TEXT(told.text, value);
}

/* ---- in a pool ------------------------------------------------------------------------------- */

#define LOOK                                                                                       \
    "return tostring(x) .. tostring(io.open('in')) .. tostring(io.open('two')) .. "                \
    "tostring(io.open('own') ~= nil)"

static void files_leave_a_session_that_others_use(void)
{
    static const struct {
        const char *code;
        enum laz_verdict verdict;
        const char *value;
    } rows[] = {
        {"x = 41 " WRITE_OWN "return io.open('in'):read('a') .. io.open('two'):read('a')",
         LAZ_VERDICT_OK, "\"hello\""},
        {"error('no')", LAZ_VERDICT_ERROR, NULL},
        {"x = (1", LAZ_VERDICT_SYNTAX_ERROR, NULL},
        {"return 'a code that is longer than such a code may be, as the settings of this test "
         "say, so that it does not run, though its files were put before that was known'",
         LAZ_VERDICT_BLOCKED, NULL},
        {"return os.remove('in') and os.remove('two')", LAZ_VERDICT_OK, "true"},
        {"return os.remove('in') and os.rename('two', 'in')", LAZ_VERDICT_OK, "true"},
    };

    engine_open(KEPT ";session.max_code_length=150");
    struct laz_pool *pool = pool_open();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pool_expect(pool, rows[i].code, &small, rows[i].verdict, rows[i].value);
        pool_expect(pool, LOOK, NULL, LAZ_VERDICT_OK, "\"41nilniltrue\"");
    }
    laz_engine_free(engine);
}

/* The code that was too large for its message did not run. */
static void files_of_code_that_is_too_large_leave_too(void)
{
    struct laz_result *result = NULL;
    struct laz_error err = {0};
    char code[8192];

    engine_open(KEPT ";session.max_value_size=4KiB");
    struct laz_pool *pool = pool_open();
    pool_expect(pool, "x = 41 " WRITE_OWN, NULL, LAZ_VERDICT_OK, NULL);
    memset(code, ' ', sizeof code);
    CU_ASSERT_EQUAL(laz_pool_execute(pool, LAZ_NO_LIMIT, code, sizeof code, &small, &result, &err),
                    LAZ_ETOOBIG);
    CU_ASSERT_PTR_NULL(result);
    pool_expect(pool, LOOK, NULL, LAZ_VERDICT_OK, "\"41nilniltrue\"");
    laz_engine_free(engine);
}

/* The next caller has another session in any case. */
static void nothing_stays_in_a_pool_that_resets(void)
{
    engine_open(OPEN ";pool.reset=true");
    struct laz_pool *pool = pool_open();
    pool_expect(pool, "x = 41 " WRITE_OWN "return io.open('in'):read('a')", &small, LAZ_VERDICT_OK,
                "\"hello\"");
    pool_expect(pool, LOOK, NULL, LAZ_VERDICT_OK, "\"nilnilnilfalse\"");
    laz_engine_free(engine);
}

/* What is called as the file, and cannot be removed. */
#define OBSTRUCT                                                                                   \
    "x = 41 " WRITE_OWN "os.remove('two') return (os.execute('mkdir two && touch two/more'))"

static void a_session_goes_whose_file_cannot_be_removed(void)
{
    engine_open(KEPT);
    struct laz_pool *pool = pool_open();
    pool_expect(pool, OBSTRUCT, &small, LAZ_VERDICT_OK, "true");
    pool_expect(pool, LOOK, NULL, LAZ_VERDICT_OK, "\"nilnilnilfalse\"");
    laz_engine_free(engine);
}

static struct laz_group_pool *group_pool_open(struct laz_group *group)
{
    const struct laz_pool_options one = {.size = sizeof one, .members = 1};
    struct laz_group_pool *pool = NULL;

    CU_ASSERT_EQUAL_FATAL(laz_group_pool_new(group, &one, &pool, NULL), 0);
    return pool;
}

static void group_expect(struct laz_group_pool *pool, const char *code,
                         const struct laz_execute_options *options, const char *value)
{
    struct laz_result *result = NULL;
    struct laz_error err = {0};
    struct gate_told told = {0};

    CU_ASSERT_EQUAL(
        laz_group_pool_execute(pool, LAZ_NO_LIMIT, code, SIZE_MAX, options, &result, &err), 0);
    UNIT_TEXT(laz_result_value(result), value);
    laz_result_free(result);
    CU_ASSERT_EQUAL_FATAL(laz_group_pool_execute_async(pool, LAZ_NO_LIMIT, code, SIZE_MAX, options,
                                                       gate_tell, &told, &err),
                          0);
    gate_told_await(&told);
    UNIT_TEXT(told.text, value);
}

static void the_pool_of_a_group_does_the_same(void)
{
    for (int reset = 0; reset <= 1; reset++) {
        struct laz_group *group = gates_group(reset ? "pool.reset=true" : "pool.reset=false", 1);
        gates_hold_clock(group, 0);
        struct laz_group_pool *pool = group_pool_open(group);
        group_expect(pool, "x = 41 " WRITE_OWN "return io.open('in'):read('a')", &small,
                     "\"hello\"");
        group_expect(pool, LOOK, NULL, reset ? "\"nilnilnilfalse\"" : "\"41nilniltrue\"");
        group_expect(pool, OBSTRUCT, &small, "true");
        group_expect(pool, LOOK, NULL, "\"nilnilnilfalse\"");
        laz_group_free(group);
    }
}

/* ---- while they are removed ------------------------------------------------------------------ */

static unsigned n_jobs(void)
{
    unsigned n = 0;

    for (const struct laz_job *job = engine->sessions.jobs; job; job = job->next)
        n++;
    return n;
}

/* Begins an execution, and returns when its code has ended, and a file is being removed. */
static void begin_to_remove(struct laz_pool *pool, struct gate_told *told)
{
    CU_ASSERT_EQUAL_FATAL(laz_pool_execute_async(pool, LAZ_NO_LIMIT, "return 5", SIZE_MAX, &small,
                                                 gate_tell, told, NULL),
                          0);
    CU_ASSERT_EQUAL_FATAL(n_jobs(), 1);
    while (!told->times && engine->sessions.jobs->phase != LAZ_JOB_FINISHING)
        CU_ASSERT_EQUAL_FATAL(laz_engine_step(engine, -1, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(told->times, 0);
}

/* The result is there by then. */
static void an_engine_can_be_freed_while_files_are_removed(void)
{
    struct gate_told told = {0};

    engine_open(KEPT);
    begin_to_remove(pool_open(), &told);
    laz_engine_free(engine);
    CU_ASSERT_EQUAL(told.times, 1);
    UNIT_TEXT(told.text, "5");
}

static void a_pool_can_be_freed_while_files_are_removed(void)
{
    struct gate_told told = {0};

    engine_open(KEPT);
    struct laz_pool *pool = pool_open();
    begin_to_remove(pool, &told);
    laz_pool_free(pool);
    CU_ASSERT_EQUAL(told.times, 1);
    UNIT_TEXT(told.text, "5");
    laz_engine_free(engine);
    CU_ASSERT_EQUAL(told.times, 1);
}

static void a_pool_can_be_closed_while_files_are_removed(void)
{
    struct gate_told told = {0};

    engine_open(KEPT);
    struct laz_pool *pool = pool_open();
    begin_to_remove(pool, &told);
    CU_ASSERT_EQUAL(laz_pool_close(pool, NULL), 0);
    CU_ASSERT_EQUAL(told.times, 1);
    UNIT_TEXT(told.text, "5");
    laz_engine_free(engine);
}

/* A cancel of all ends the session, or comes when they are gone. */
static void a_cancel_while_files_are_removed_leaves_none(void)
{
    struct gate_told told = {0};

    engine_open(KEPT);
    struct laz_pool *pool = pool_open();
    begin_to_remove(pool, &told);
    laz_engine_cancel(engine);
    told_await(&told);
    UNIT_TEXT(told.text, "5");
    pool_expect(pool, LOOK, NULL, LAZ_VERDICT_OK, "\"nilnilnilfalse\"");
    laz_engine_free(engine);
}

/* As for a client that has gone. */
static void a_job_can_be_abandoned_while_files_are_removed(void)
{
    struct gate_told told = {0};

    engine_open(KEPT);
    struct laz_pool *pool = pool_open();
    begin_to_remove(pool, &told);
    laz_job_abandon(engine->sessions.jobs);
    CU_ASSERT_EQUAL(told.times, 1);
    UNIT_TEXT(told.text, "5");
    pool_expect(pool, LOOK, NULL, LAZ_VERDICT_OK, "\"nilnilnilfalse\"");
    laz_engine_free(engine);
    CU_ASSERT_EQUAL(told.times, 1);
}

/* An agent that stands still has two seconds, whatever the settings say. */
static void a_result_does_not_wait_long_for_a_removal(void)
{
    struct gate_told told = {0};
    struct laz_result *result = NULL;

    engine_open(KEPT);
    struct laz_pool *pool = pool_open();
    CU_ASSERT_EQUAL_FATAL(laz_pool_execute(pool, LAZ_NO_LIMIT,
                                           "return io.open('/proc/self/stat'):read('n')", SIZE_MAX,
                                           NULL, &result, NULL),
                          0);
    const pid_t pid = (pid_t)atoi(laz_result_value(result));
    laz_result_free(result);
    CU_ASSERT_FATAL(pid > 1);
    begin_to_remove(pool, &told);
    const struct laz_job *job = engine->sessions.jobs;
    CU_ASSERT_EQUAL(kill(pid, SIGSTOP), 0); /* it may have answered once */
    for (unsigned turn = 0; turn < 10; turn++)
        CU_ASSERT_EQUAL_FATAL(laz_engine_step(engine, 0, NULL), 0);
    CU_ASSERT(job->seat.session->execution && !told.times);
    test_advance_clock(engine, 1999);
    CU_ASSERT_EQUAL_FATAL(laz_engine_step(engine, 0, NULL), 0);
    CU_ASSERT_EQUAL(told.times, 0);
    test_advance_clock(engine, 1);
    told_await(&told);
    UNIT_TEXT(told.text, "5");
    pool_expect(pool, LOOK, NULL, LAZ_VERDICT_OK, "\"nilnilnilfalse\"");
    laz_engine_free(engine);
}

/* ---- cancelled while they are put ------------------------------------------------------------ */

static void session_is_cancelled(struct laz_session *session)
{
    laz_session_cancel(session);
}

static void engine_is_cancelled(struct laz_session *session)
{
    (void)session;
    laz_engine_cancel(engine);
}

static void job_is_cancelled(struct laz_session *session)
{
    (void)session;
    laz_job_cancel(engine->sessions.jobs);
}

static void (*const cancels[])(struct laz_session *session) = {
    session_is_cancelled, engine_is_cancelled, job_is_cancelled};
#define N_CANCELS (sizeof cancels / sizeof *cancels)

/* Drives the engine until `n` files were asked for, of which the last one is on its way; it is too
 * large to have come whole in a turn. */
static struct laz_session *await_file(size_t n)
{
    const struct laz_job *job = engine->sessions.jobs;

    CU_ASSERT_PTR_NOT_NULL_FATAL(job);
    while (job->n_put < n || !job->seat.session->execution)
        CU_ASSERT_EQUAL_FATAL(laz_engine_step(engine, -1, NULL), 0);
    return job->seat.session;
}

static void expect_cancelled(struct gate_told *told)
{
    told_await(told);
    CU_ASSERT_EQUAL(told->code, 0);
    CU_ASSERT_EQUAL(told->verdict, LAZ_VERDICT_CANCELLED);
    CU_ASSERT_EQUAL(n_ran, 0);
    CU_ASSERT_EQUAL(n_jobs(), 0);
}

static void a_cancel_ends_a_file_in_a_session(void)
{
    engine_open(KEPT);
    struct laz_session *session = test_session(engine, "lua");
    CU_ASSERT_PTR_NOT_NULL_FATAL(session);
    for (size_t i = 0; i < N_CANCELS; i++) {
        struct gate_told told = {0};
        CU_ASSERT_EQUAL_FATAL(
            laz_session_execute_async(session, "ran()", SIZE_MAX, &large, gate_tell, &told, NULL),
            0);
        cancels[i](await_file(2));
        expect_cancelled(&told);
        test_expect(session, "return io.open('in') == nil", LAZ_VERDICT_OK, "true"); /* new */
    }
    laz_engine_free(engine);
}

/* Of the file that was on its way nothing is left. */
static void a_cancel_of_a_file_keeps_the_session(void)
{
    engine_open(OPEN ";session.interrupt_grace=60");
    struct laz_session *session = test_session(engine, "lua");
    CU_ASSERT_PTR_NOT_NULL_FATAL(session);
    test_expect(session, "x = 5", LAZ_VERDICT_OK, NULL);
    for (size_t i = 0; i < N_CANCELS; i++) {
        struct gate_told told = {0};
        CU_ASSERT_EQUAL_FATAL(
            laz_session_execute_async(session, "ran()", SIZE_MAX, &large, gate_tell, &told, NULL),
            0);
        cancels[i](await_file(2));
        expect_cancelled(&told);
        test_expect(session, "return x == 5 and io.open('large') == nil", LAZ_VERDICT_OK, "true");
    }
    laz_engine_free(engine);
}

static void a_cancel_ends_a_file_in_a_fresh_session(void)
{
    engine_open(KEPT);
    for (size_t i = 0; i < N_CANCELS; i++) {
        struct gate_told told = {0};
        CU_ASSERT_EQUAL_FATAL(
            laz_execute_async(engine, NULL, "ran()", SIZE_MAX, &large, gate_tell, &told, NULL), 0);
        cancels[i](await_file(2));
        expect_cancelled(&told);
        CU_ASSERT_PTR_NULL(engine->sessions.sessions);
    }
    laz_engine_free(engine);
}

static void a_cancel_ends_a_file_in_a_pool(void)
{
    engine_open(KEPT);
    struct laz_pool *pool = pool_open();
    for (size_t i = 0; i < N_CANCELS; i++) {
        struct gate_told told = {0};
        CU_ASSERT_EQUAL_FATAL(laz_pool_execute_async(pool, LAZ_NO_LIMIT, "ran()", SIZE_MAX, &large,
                                                     gate_tell, &told, NULL),
                              0);
        cancels[i](await_file(2));
        expect_cancelled(&told);
        pool_expect(pool, "return io.open('in') == nil", NULL, LAZ_VERDICT_OK, "true");
    }
    laz_engine_free(engine);
}

/* The cancel comes together with the answer to a file, that of the last one too: there is something
 * to read, and nobody has read it. */
static void a_cancel_between_two_files_is_not_lost(void)
{
    for (size_t i = 0; i < N_CANCELS; i++)
        for (size_t n = 1; n <= 2; n++) {
            struct gate_told told = {0};
            engine_open(KEPT);
            struct laz_session *session = test_session(engine, "lua");
            struct pollfd loop = {.fd = laz_engine_fd(engine), .events = POLLIN};
            CU_ASSERT_PTR_NOT_NULL_FATAL(session);
            CU_ASSERT_EQUAL_FATAL(laz_session_execute_async(session, "ran() while true do end",
                                                            SIZE_MAX, &small, gate_tell, &told,
                                                            NULL),
                                  0);
            (void)await_file(n);
            CU_ASSERT_EQUAL(poll(&loop, 1, -1), 1);
            cancels[i](session);
            while (!told.times && !n_ran)
                CU_ASSERT_EQUAL_FATAL(laz_engine_step(engine, -1, NULL), 0);
            CU_ASSERT_EQUAL(n_ran, 0);
            laz_engine_cancel(engine); /* if it was lost */
            told_await(&told);
            CU_ASSERT_EQUAL(told.verdict, LAZ_VERDICT_CANCELLED);
            laz_engine_free(engine);
        }
}

/* Is the file on its way? */
static void look_for_file(void *user, struct laz_engine *of)
{
    const struct laz_job *job = of->sessions.jobs;

    *(bool *)user = job && job->seat.ops && job->seat.session->execution;
}

/* A group of engines, whose agent stands still meanwhile. */
static void a_cancel_ends_a_file_in_a_group(void)
{
    struct laz_group *group = gates_group("pool.reset=false;session.interrupt_grace=0", 1);
    struct gate_told told = {0};
    struct laz_result *result = NULL;
    bool is_put = false;

    gates_hold_clock(group, 0);
    struct laz_group_pool *pool = group_pool_open(group);
    CU_ASSERT_EQUAL_FATAL(laz_group_pool_execute(pool, LAZ_NO_LIMIT,
                                                 "return io.open('/proc/self/stat'):read('n')",
                                                 SIZE_MAX, NULL, &result, NULL),
                          0);
    const pid_t pid = (pid_t)atoi(laz_result_value(result));
    laz_result_free(result);
    CU_ASSERT_FATAL(pid > 1);
    CU_ASSERT_EQUAL(kill(pid, SIGSTOP), 0);
    CU_ASSERT_EQUAL_FATAL(laz_group_pool_execute_async(pool, LAZ_NO_LIMIT, GATE("a"), SIZE_MAX,
                                                       &large, gate_tell, &told, NULL),
                          0);
    while (!is_put)
        gates_run(group, 0, look_for_file, &is_put);
    laz_group_cancel(group);
    gate_told_await(&told);
    CU_ASSERT_EQUAL(told.code, 0);
    CU_ASSERT_EQUAL(told.verdict, LAZ_VERDICT_CANCELLED);
    group_expect(pool, "return io.open('in') == nil", NULL, "true");
    laz_group_free(group);
}

/* ---- that cannot be put ---------------------------------------------------------------------- */

/* The session goes on, without a part of the file, but with the one before. */
static void expect_no_room(struct laz_session *session)
{
    struct laz_result *result = NULL;
    struct laz_error err = {0};

    test_expect(session, "x = 41", LAZ_VERDICT_OK, NULL);
    CU_ASSERT_EQUAL(laz_session_execute(session, "ran()", SIZE_MAX, &large, &result, &err),
                    LAZ_EOS);
    CU_ASSERT_PTR_NULL(result);
    if (!strstr(err.text, "large"))
        UNIT_TEXT(err.text, "cannot create the file large");
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "large"));
    CU_ASSERT_EQUAL(n_ran, 0);
    test_expect(session, "return x == 41 and io.open('large') == nil and io.open('in') ~= nil",
                LAZ_VERDICT_OK, "true");
}

static void a_file_that_cannot_be_put_is_an_error(const char *settings)
{
    n_ran = 0;
    engine = test_engine(settings);
    CU_ASSERT_PTR_NOT_NULL_FATAL(engine);
    CU_ASSERT_EQUAL(laz_engine_add_tool(engine, &ran, tool_ran, NULL, NULL), 0);
    struct laz_session *session = test_session(engine, "lua");
    CU_ASSERT_PTR_NOT_NULL_FATAL(session);
    expect_no_room(session);
    laz_engine_free(engine);
}

static void a_file_beyond_the_limit_of_files_is_an_error(void)
{
    a_file_that_cannot_be_put_is_an_error(OPEN ";limits.fsize=1MiB");
}

static void a_file_for_which_there_is_no_room_is_an_error(void)
{
    engine = test_engine(OPEN);
    struct laz_session *session = test_session(engine, "lua");
    CU_ASSERT_PTR_NOT_NULL_FATAL(session);
    const bool has_room = !strstr(laz_session_isolation(session), "\"backend\":\"bwrap\"");
    laz_engine_free(engine);
    if (has_room && unit_skip("bwrap", "only its boxes have a bounded directory"))
        return;
    a_file_that_cannot_be_put_is_an_error(OPEN ";sandbox.tmp_size=1MiB");
}

/* Of a pool, and of a fresh session; each way to wait. */
static void such_an_error_is_that_of_each_function(void)
{
    struct laz_result *result = NULL;
    struct gate_told told[2] = {{0}};
    struct laz_error err = {0};

    engine_open(KEPT ";limits.fsize=1MiB");
    struct laz_pool *pool = pool_open();
    pool_expect(pool, "x = 41 " WRITE_OWN, NULL, LAZ_VERDICT_OK, NULL);
    CU_ASSERT_EQUAL(laz_pool_execute(pool, LAZ_NO_LIMIT, "ran()", SIZE_MAX, &large, &result, &err),
                    LAZ_EOS);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "large"));
    CU_ASSERT_EQUAL(laz_execute(engine, NULL, "ran()", SIZE_MAX, &large, &result, &err), LAZ_EOS);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "large"));
    CU_ASSERT_EQUAL_FATAL(laz_pool_execute_async(pool, LAZ_NO_LIMIT, "ran()", SIZE_MAX, &large,
                                                 gate_tell, &told[0], NULL),
                          0);
    CU_ASSERT_EQUAL_FATAL(
        laz_execute_async(engine, NULL, "ran()", SIZE_MAX, &large, gate_tell, &told[1], NULL), 0);
    for (int i = 0; i < 2; i++) {
        told_await(&told[i]);
        CU_ASSERT_EQUAL(told[i].code, LAZ_EOS);
        CU_ASSERT_PTR_NOT_NULL(strstr(told[i].text, "large"));
    }
    pool_expect(pool, LOOK, NULL, LAZ_VERDICT_OK, "\"41nilniltrue\"");
    CU_ASSERT_EQUAL(n_ran, 0);
    laz_engine_free(engine);
}

/* ---- where no session starts ----------------------------------------------------------------- */

static char missing[] = "/nonexistent/lazaret-agent";

static void break_agent(void *user, struct laz_engine *of)
{
    (void)user;
    of->boxes.agent = missing;
}

static void a_start_that_fails_is_a_verdict_with_files_too(void)
{
    char texts[2][LAZ_ERROR_TEXT_SIZE];

    engine_open(KEPT);
    break_agent(NULL, engine);
    for (int i = 0; i < 2; i++) {
        const struct laz_execute_options *options = i ? &small : NULL;
        struct laz_result *result = NULL;
        struct gate_told told = {0};
        CU_ASSERT_EQUAL(laz_execute(engine, NULL, "ran()", SIZE_MAX, options, &result, NULL), 0);
        CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_SETUP_FAILED);
        snprintf(texts[i], sizeof texts[i], "%s", laz_result_error(result));
        laz_result_free(result);
        CU_ASSERT_EQUAL_FATAL(
            laz_execute_async(engine, NULL, "ran()", SIZE_MAX, options, gate_tell, &told, NULL), 0);
        told_await(&told);
        CU_ASSERT_EQUAL(told.code, 0);
        CU_ASSERT_EQUAL(told.verdict, LAZ_VERDICT_SETUP_FAILED);
        CU_ASSERT_PTR_NULL(engine->sessions.sessions);
    }
    UNIT_TEXT(texts[1], texts[0]);
    CU_ASSERT_EQUAL(n_ran, 0);
    laz_engine_free(engine);
}

static void so_it_is_in_a_group(void)
{
    struct laz_group *group = gates_group("", 1);
    struct laz_result *result = NULL;
    struct gate_told told = {0};

    gates_run(group, 0, break_agent, NULL);
    CU_ASSERT_EQUAL(laz_group_execute(group, NULL, GATE("a"), SIZE_MAX, &small, &result, NULL), 0);
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_SETUP_FAILED);
    laz_result_free(result);
    CU_ASSERT_EQUAL_FATAL(
        laz_group_execute_async(group, NULL, GATE("a"), SIZE_MAX, &small, gate_tell, &told, NULL),
        0);
    gate_told_await(&told);
    CU_ASSERT_EQUAL(told.verdict, LAZ_VERDICT_SETUP_FAILED);
    laz_group_free(group);
}

static const struct unit_test tests[] = {
    UNIT(files_leave_a_session_that_others_use),
    UNIT(files_of_code_that_is_too_large_leave_too),
    UNIT(nothing_stays_in_a_pool_that_resets),
    UNIT(a_session_goes_whose_file_cannot_be_removed),
    UNIT(the_pool_of_a_group_does_the_same),
    UNIT(an_engine_can_be_freed_while_files_are_removed),
    UNIT(a_pool_can_be_freed_while_files_are_removed),
    UNIT(a_pool_can_be_closed_while_files_are_removed),
    UNIT(a_cancel_while_files_are_removed_leaves_none),
    UNIT(a_job_can_be_abandoned_while_files_are_removed),
    UNIT(a_result_does_not_wait_long_for_a_removal),
    UNIT(a_cancel_ends_a_file_in_a_session),
    UNIT(a_cancel_of_a_file_keeps_the_session),
    UNIT(a_cancel_ends_a_file_in_a_fresh_session),
    UNIT(a_cancel_ends_a_file_in_a_pool),
    UNIT(a_cancel_between_two_files_is_not_lost),
    UNIT(a_cancel_ends_a_file_in_a_group),
    UNIT(a_file_beyond_the_limit_of_files_is_an_error),
    UNIT(a_file_for_which_there_is_no_room_is_an_error),
    UNIT(such_an_error_is_that_of_each_function),
    UNIT(a_start_that_fails_is_a_verdict_with_files_too),
    UNIT(so_it_is_in_a_group),
    {0},
};

int main(void)
{
    static const char zeros[LARGE];

    large_file.data = zeros;
    return unit_run("job files", tests);
}
