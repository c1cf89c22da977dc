/* SPDX-License-Identifier: MIT */
/* test_async.c - many sessions on one loop: asynchronous executions, an application's own loop,
 * cancellation, and what callbacks may do. */
#include "live.h"
#include "traces.h"

#include "base/clock.h"
#include "box/box_private.h"
#include "engine/engine.h"
#include "os/directories.h"
#include "os/files.h"
#include "session/session.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MANY 12

static struct laz_engine *engine;

/* What callbacks reported of one execution. */
struct told {
    unsigned times;
    int code;
    enum laz_verdict verdict;
    char value[64];
    pthread_t thread;
};

static void tell(void *user, struct laz_result *result, const struct laz_error *err)
{
    struct told *told = user;

    told->times++;
    told->thread = pthread_self();
    told->code = err ? err->code : 0;
    if (result) {
        told->verdict = laz_result_verdict(result);
        snprintf(told->value, sizeof told->value, "%s", laz_result_value(result));
    }
    laz_result_free(result);
}

static bool begin(struct laz_session *session, const char *code, struct told *told)
{
    struct laz_error err = {0};

    *told = (struct told){0};
    int rc = laz_session_execute_async(session, code, SIZE_MAX, NULL, tell, told, &err);
    CU_ASSERT_EQUAL(rc, 0);
    if (rc)
        printf("    %s\n", err.text);
    CU_ASSERT_EQUAL(told->times, 0); /* never from inside the call */
    return rc == 0;
}

static void step_until_told(const struct told *told)
{
    while (!told->times)
        CU_ASSERT_EQUAL_FATAL(laz_engine_step(engine, 1000, NULL), 0);
    CU_ASSERT_EQUAL(told->times, 1);
}

static struct laz_session *open_lua(uint32_t no_wait)
{
    const struct laz_session_options options = {
        .size = sizeof options, .runtime = "lua", .no_wait = no_wait};
    struct laz_session *session = NULL;
    struct laz_error err = {0};

    int rc = laz_session_open(engine, &options, &session, &err);
    if (rc == LAZ_ENOENT)
        unit_skip("lua", err.text);
    else
        CU_ASSERT_EQUAL(rc, 0);
    return session;
}

/* ---- side by side ---------------------------------------------------------------------------- */

static atomic_uint meeting;

/* Answers when MANY calls are open at the same time: never, if sessions wait for each other. */
static void tool_meet(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len;
    for (atomic_fetch_add(&meeting, 1); atomic_load(&meeting) < MANY;)
        poll(NULL, 0, 1);
    laz_reply_value(reply, "true", 4);
}

static void sessions_execute_side_by_side(void)
{
    const struct laz_tool tool = {.size = sizeof tool, .name = "meet", .description = ""};
    struct laz_session *sessions[MANY];
    struct told told[MANY];

    engine = test_engine("sandbox.backend=none;sandbox.require=[]");
    if (!engine)
        return;
    atomic_store(&meeting, 0);
    CU_ASSERT_EQUAL(laz_engine_add_tool(engine, &tool, tool_meet, NULL, NULL), 0);
    for (int i = 0; i < MANY; i++) {
        sessions[i] = open_lua(1); /* nor does any wait for another's start */
        if (!sessions[i])
            goto out;
        begin(sessions[i], "return meet() and 7", &told[i]);
    }
    for (int i = 0; i < MANY; i++) {
        step_until_told(&told[i]);
        CU_ASSERT_EQUAL(told[i].verdict, LAZ_VERDICT_OK);
        CU_ASSERT_STRING_EQUAL(told[i].value, "7");
        CU_ASSERT(pthread_equal(told[i].thread, pthread_self()));
    }
out:
    laz_engine_free(engine);
}

static void a_call_that_waits_drives_the_others(void)
{
    struct told told[2];

    engine = test_engine("");
    struct laz_session *a = engine ? open_lua(0) : NULL, *b = a ? open_lua(0) : NULL;
    if (b) {
        begin(a, "return 1", &told[0]);
        struct laz_result *result = NULL;
        CU_ASSERT_EQUAL(laz_session_execute(a, "1", SIZE_MAX, NULL, &result, NULL), LAZ_EBUSY);
        CU_ASSERT_EQUAL(laz_session_execute_async(a, "1", SIZE_MAX, NULL, tell, &told[1], NULL),
                        LAZ_EBUSY);
        while (!told[0].times)
            test_expect(b, "2", LAZ_VERDICT_OK, "2");
        CU_ASSERT_STRING_EQUAL(told[0].value, "1");
        CU_ASSERT_EQUAL(told[0].times, 1);
        test_expect(a, "3", LAZ_VERDICT_OK, "3");
    }
    laz_engine_free(engine);
}

/* ---- a loop of the application ----------------------------------------------------------------
 */

static void the_descriptor_and_the_timeout_are_enough(void)
{
    const struct laz_execute_options soon = {.size = sizeof soon, .timeout_ms = 300};
    struct told told[2] = {0};

    engine = test_engine("");
    struct laz_session *a = engine ? open_lua(1) : NULL, *b = a ? open_lua(1) : NULL;
    if (b) {
        struct pollfd descriptor = {.fd = laz_engine_fd(engine), .events = POLLIN};
        CU_ASSERT(descriptor.fd >= 0);
        begin(a, "return 40 + 2", &told[0]);
        CU_ASSERT_EQUAL(laz_session_execute_async(b, "while true do end", SIZE_MAX, &soon, tell,
                                                  &told[1], NULL),
                        0);                             /* only a timer ends it */
        CU_ASSERT_EQUAL(laz_engine_timeout(engine), 0); /* something was begun */
        int turns = 0;
        while (!(told[0].times && told[1].times)) {
            poll(&descriptor, 1, laz_engine_timeout(engine));
            CU_ASSERT_EQUAL(laz_engine_step(engine, 0, NULL), 0);
            turns++;
        }
        CU_ASSERT_STRING_EQUAL(told[0].value, "42");
        CU_ASSERT_EQUAL(told[1].verdict, LAZ_VERDICT_TIMEOUT);
        CU_ASSERT(turns < 2000); /* the loop does not spin */
    }
    laz_engine_free(engine);
}

static void a_step_may_wait_for_nothing(void)
{
    engine = test_engine("");
    if (!engine)
        return;
    uint64_t began = laz_clock_ms();
    CU_ASSERT_EQUAL(laz_engine_step(engine, 50, NULL), 0);
    CU_ASSERT(laz_clock_ms() - began >= 49);
    CU_ASSERT_EQUAL(laz_engine_step(engine, 0, NULL), 0);
    laz_engine_free(engine);
}

/* ---- ending ------------------------------------------------------------------------------------
 */

static void one_of_many_is_cancelled(void)
{
    struct told told[3];

    engine = test_engine("");
    struct laz_session *a = engine ? open_lua(0) : NULL, *b = a ? open_lua(0) : NULL;
    if (b) {
        begin(a, "while true do end", &told[0]);
        begin(b, "local x = 0; for i = 1, 3000000 do x = x + i end; return x", &told[1]);
        laz_engine_step(engine, 20, NULL);
        laz_session_cancel(a);
        step_until_told(&told[0]);
        step_until_told(&told[1]);
        CU_ASSERT_EQUAL(told[0].verdict, LAZ_VERDICT_CANCELLED);
        CU_ASSERT_EQUAL(told[1].verdict, LAZ_VERDICT_OK);
        laz_session_cancel(a); /* nothing is running: no effect on later executions */
        test_expect(a, "1", LAZ_VERDICT_OK, "1");
        begin(a, "while true do end", &told[0]);
        begin(b, "while true do end", &told[1]);
        laz_engine_cancel(engine);
        step_until_told(&told[0]);
        step_until_told(&told[1]);
        CU_ASSERT_EQUAL(told[0].verdict, LAZ_VERDICT_CANCELLED);
        CU_ASSERT_EQUAL(told[1].verdict, LAZ_VERDICT_CANCELLED);
    }
    laz_engine_free(engine);
}

/* Also when the engine was not driven in between. */
static void cancelling_leaves_what_is_begun_later(void)
{
    struct told early, late;

    engine = test_engine("");
    struct laz_session *a = engine ? open_lua(0) : NULL, *b = a ? open_lua(0) : NULL;
    if (b) {
        begin(a, "while true do end", &early);
        laz_engine_cancel(engine);
        begin(b, "return 5", &late);
        struct laz_session *c = open_lua(1);
        step_until_told(&late);
        CU_ASSERT_EQUAL(late.verdict, LAZ_VERDICT_OK);
        CU_ASSERT_STRING_EQUAL(late.value, "5");
        step_until_told(&early);
        CU_ASSERT_EQUAL(early.verdict, LAZ_VERDICT_CANCELLED);
        begin(c, "return 6", &late);
        step_until_told(&late);
        CU_ASSERT_STRING_EQUAL(late.value, "6");
    }
    laz_engine_free(engine);
}

static void what_is_open_at_the_end_is_told_once(void)
{
    struct told told[3] = {0};
    int descriptors = trace_descriptors(), threads = trace_threads();

    engine = test_engine("");
    struct laz_session *a = engine ? open_lua(0) : NULL, *b = a ? open_lua(1) : NULL;
    struct laz_session *c = b ? open_lua(0) : NULL;
    if (c) {
        begin(a, "while true do end", &told[0]);
        begin(b, "while true do end", &told[1]);
        begin(c, "while true do end", &told[2]);
        laz_engine_step(engine, 20, NULL);
        laz_session_free(c); /* its callback is called in here */
        CU_ASSERT_EQUAL(told[2].times, 1);
        CU_ASSERT_EQUAL(told[2].verdict, LAZ_VERDICT_CANCELLED);
    }
    laz_engine_free(engine);
    if (c) {
        CU_ASSERT_EQUAL(told[0].times, 1);
        CU_ASSERT_EQUAL(told[1].times, 1);
        CU_ASSERT_EQUAL(told[0].verdict, LAZ_VERDICT_CANCELLED);
        CU_ASSERT_EQUAL(told[1].verdict, LAZ_VERDICT_CANCELLED);
    }
    CU_ASSERT_EQUAL(trace_children(), 0);
    CU_ASSERT_EQUAL(trace_threads(), threads);
    CU_ASSERT_EQUAL(trace_descriptors(), descriptors);
}

static void a_start_that_fails_is_told_to_who_waits_for_it(void)
{
    struct told told = {0};

    engine = test_engine("sandbox.backend=bwrap;sandbox.bwrap.program=/bin/false");
    struct laz_session *session = engine ? open_lua(1) : NULL;
    if (session) {
        begin(session, "1", &told);
        step_until_told(&told);
        CU_ASSERT_EQUAL(told.verdict, LAZ_VERDICT_SETUP_FAILED);
        CU_ASSERT_EQUAL(laz_session_execute_async(session, "1", SIZE_MAX, NULL, tell, &told, NULL),
                        LAZ_ECLOSED);
        CU_ASSERT_FALSE(laz_session_is_alive(session));
    }
    laz_engine_free(engine);
}

struct again {
    struct laz_session *session;
    int left, code;
};

static void do_it_again(void *user, struct laz_result *result, const struct laz_error *err)
{
    struct again *again = user;

    (void)err;
    laz_result_free(result);
    if (--again->left)
        again->code = laz_session_execute_async(again->session, "1", SIZE_MAX, NULL, do_it_again,
                                                again, NULL);
}

/* Otherwise closing it would wait for all later executions. */
static void a_session_that_is_being_closed_begins_nothing(void)
{
    struct again again = {.left = 20};

    engine = test_engine("");
    again.session = engine ? open_lua(0) : NULL;
    if (again.session) {
        CU_ASSERT_EQUAL(laz_session_execute_async(again.session, "while true do end", SIZE_MAX,
                                                  NULL, do_it_again, &again, NULL),
                        0);
        laz_session_close(again.session);
        CU_ASSERT_EQUAL(again.left, 19);
        CU_ASSERT_EQUAL(again.code, LAZ_ECLOSED);
        CU_ASSERT_EQUAL(laz_session_restart(again.session, NULL), 0);
        test_expect(again.session, "1", LAZ_VERDICT_OK, "1");
    }
    laz_engine_free(engine);
}

/* A callback closes or frees the session while another callback restarts it. */
struct closer {
    struct laz_session *session;
    bool frees;
};

static void close_it(void *user, struct laz_result *result, const struct laz_error *err)
{
    struct closer *closer = user;

    (void)err;
    laz_result_free(result);
    (closer->frees ? laz_session_free : laz_session_close)(closer->session);
}

static void a_restart_is_told_that_its_session_was_closed(void)
{
    for (int frees = 0; frees <= 1; frees++) {
        struct closer closer = {NULL, frees};
        struct laz_error err = {0};
        engine = test_engine("");
        closer.session = engine ? open_lua(0) : NULL;
        struct laz_session *other = closer.session ? open_lua(0) : NULL;
        if (other) {
            /* not UTF-8: it ends in the first turn, when the start has just begun */
            CU_ASSERT_EQUAL(
                laz_session_execute_async(other, "\xff", SIZE_MAX, NULL, close_it, &closer, NULL),
                0);
            CU_ASSERT_EQUAL(laz_session_restart(closer.session, &err), LAZ_ECLOSED);
            UNIT_TEXT(err.text, "the session was closed while it started");
        }
        laz_engine_free(engine);
    }
}

/* ---- callbacks ---------------------------------------------------------------------------------
 */

/* Executes repeatedly, each time from the callback of the previous execution, and finally frees its
 * session. */
struct chain {
    struct laz_session *session, *other;
    int left, depth, nested;
};

static void chain_on(void *user, struct laz_result *result, const struct laz_error *err)
{
    struct chain *chain = user;

    CU_ASSERT_PTR_NULL(err);
    CU_ASSERT(result && laz_result_verdict(result) == LAZ_VERDICT_OK);
    laz_result_free(result);
    if (--chain->left) {
        CU_ASSERT_EQUAL(
            laz_session_execute_async(chain->session, "1", SIZE_MAX, NULL, chain_on, chain, NULL),
            0);
        /* A callback may also wait, which drives the other sessions: the next callback is called
         * from here. */
        struct laz_result *inner = NULL;
        chain->depth++;
        int rc = laz_session_execute(chain->other, "2", SIZE_MAX, NULL, &inner, NULL);
        CU_ASSERT(!rc || (rc == LAZ_EBUSY && chain->depth > 1));
        chain->depth--;
        chain->nested += inner && laz_result_verdict(inner) == LAZ_VERDICT_OK;
        laz_result_free(inner);
    } else {
        laz_session_free(chain->session);
        chain->session = NULL;
    }
}

static void callbacks_may_use_the_engine(void)
{
    struct chain chain = {.left = 20};

    engine = test_engine("");
    chain.session = engine ? open_lua(0) : NULL;
    chain.other = chain.session ? open_lua(0) : NULL;
    if (chain.other) {
        CU_ASSERT_EQUAL(
            laz_session_execute_async(chain.session, "1", SIZE_MAX, NULL, chain_on, &chain, NULL),
            0);
        while (chain.session)
            CU_ASSERT_EQUAL(laz_engine_step(engine, 1000, NULL), 0);
        CU_ASSERT_PTR_NULL(chain.session);
        CU_ASSERT(chain.nested > 0);
        test_expect(chain.other, "3", LAZ_VERDICT_OK, "3");
    }
    laz_engine_free(engine);
}

/* A session that frees itself in its callback. */
struct leaver {
    struct laz_session *session;
    unsigned *inside, *left;
};

static void leaver_done(void *user, struct laz_result *result, const struct laz_error *err)
{
    struct leaver *leaver = user;

    (void)err;
    CU_ASSERT_EQUAL(++*leaver->inside, 1);
    laz_result_free(result);
    laz_session_free(leaver->session);
    --*leaver->inside;
    --*leaver->left;
}

/* Else the callbacks of all would be called inside of each other. */
static void a_free_in_a_callback_makes_no_turn(void)
{
    struct leaver leavers[6];
    unsigned inside = 0, left = 0;

    engine = test_engine("");
    for (size_t i = 0; i < 6; i++)
        leavers[i] = (struct leaver){engine ? open_lua(0) : NULL, &inside, &left};
    for (size_t i = 0; i < 6; i++)
        left +=
            leavers[i].session && !laz_session_execute_async(leavers[i].session, "1", SIZE_MAX,
                                                             NULL, leaver_done, &leavers[i], NULL);
    CU_ASSERT(left == 0 || left == 6);
    while (left)
        CU_ASSERT_EQUAL_FATAL(laz_engine_step(engine, 1000, NULL), 0);
    laz_engine_free(engine);
}

/* Another thread, while a callback uses the engine: it gets LAZ_EBUSY as usual. */
static void *step_elsewhere(void *user)
{
    *(int *)user = laz_engine_step(engine, 0, NULL);
    return NULL;
}

static void tell_and_let_another_try(void *user, struct laz_result *result,
                                     const struct laz_error *err)
{
    pthread_t thread;

    (void)err;
    laz_result_free(result);
    pthread_create(&thread, NULL, step_elsewhere, user);
    pthread_join(thread, NULL);
}

static void a_callback_opens_the_engine_to_its_own_thread_only(void)
{
    int rc = 1;

    engine = test_engine("");
    struct laz_session *session = engine ? open_lua(0) : NULL;
    if (session) {
        laz_session_execute_async(session, "1", SIZE_MAX, NULL, tell_and_let_another_try, &rc,
                                  NULL);
        while (rc == 1)
            laz_engine_step(engine, 1000, NULL);
        CU_ASSERT_EQUAL(rc, LAZ_EBUSY);
    }
    laz_engine_free(engine);
}

/* ---- hooks -------------------------------------------------------------------------------------
 */

/* Makes the directory, and an engine with a hook that looks at code with the word "slow" until the
 * file `over` exists. */
static struct laz_engine *engine_with_slow_hook(char *directory, char *over, size_t size)
{
    char script[64], text[200];

    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(directory));
    snprintf(script, sizeof script, "%s/hook", directory);
    snprintf(over, size, "%s/over", directory);
    int n = snprintf(text, sizeof text,
                     "grep -q slow || exit 0\nuntil test -e %s; do sleep 0.05; done\n", over);
    CU_ASSERT_EQUAL(laz_os_write_file(script, text, (size_t)n, 0600, NULL), 0);
    snprintf(text, sizeof text, "session.pre_execute_hook=['/bin/sh','%s']", script);
    return test_engine(text);
}

/* The slow hook lasts until the other executions have ended; if it delayed them, it would last
 * until its timeout. */
static void a_slow_hook_delays_nobody_else(void)
{
    char directory[] = "/tmp/lazaret-test-XXXXXX", over[64];
    struct told told;

    engine = engine_with_slow_hook(directory, over, sizeof over);
    struct laz_session *a = engine ? open_lua(0) : NULL, *b = a ? open_lua(0) : NULL;
    if (b) {
        begin(a, "return 'slow'", &told);
        laz_engine_step(engine, 0, NULL);
        for (int i = 0; i < 2; i++)
            test_expect(b, "2", LAZ_VERDICT_OK, "2");
        CU_ASSERT_EQUAL(told.times, 0);
        CU_ASSERT_EQUAL(laz_os_write_file(over, "", 0, 0600, NULL), 0);
        step_until_told(&told);
        CU_ASSERT_STRING_EQUAL(told.value, "\"slow\"");
        CU_ASSERT_EQUAL(unlink(over), 0);
        begin(a, "return 'slow'", &told); /* cancelled while the hook runs */
        laz_engine_step(engine, 0, NULL);
        laz_session_cancel(a);
        step_until_told(&told);
        CU_ASSERT_EQUAL(told.verdict, LAZ_VERDICT_CANCELLED);
        CU_ASSERT_EQUAL(laz_os_write_file(over, "", 0, 0600, NULL), 0);
        test_expect(a, "3", LAZ_VERDICT_OK, "3");
    }
    laz_engine_free(engine);
    laz_os_remove_tree(directory);
}

static void box_is_killed(struct laz_box *box)
{
    kill(box->process.pid, SIGKILL);
    while (!laz_box_is_ended(box))
        CU_ASSERT_EQUAL_FATAL(laz_engine_step(engine, 1000, NULL), 0);
}

static void box_misbehaves(struct laz_box *box)
{
    laz_box_fail(box, LAZ_EPROTO, "something nobody asked for");
}

/* While the hook runs the box ends, or is given up: the same as before an execution. Nobody is
 * accused of having closed a channel. */
static void a_box_may_be_lost_while_a_hook_runs(void)
{
    char directory[] = "/tmp/lazaret-test-XXXXXX", over[64];
    struct told told;

    engine = engine_with_slow_hook(directory, over, sizeof over);
    struct laz_session *session = engine ? open_lua(0) : NULL;
    void (*const losses[])(struct laz_box *) = {box_misbehaves, box_is_killed};
    for (size_t i = 0; session && i < sizeof losses / sizeof *losses; i++) {
        begin(session, "return 'slow'", &told);
        CU_ASSERT_EQUAL(laz_engine_step(engine, 0, NULL), 0); /* starts the hook */
        losses[i](session->box);
        CU_ASSERT_EQUAL(told.times, 0);
        CU_ASSERT_EQUAL(laz_os_write_file(over, "", 0, 0600, NULL), 0);
        step_until_told(&told);
        CU_ASSERT_EQUAL(unlink(over), 0);
        CU_ASSERT_EQUAL(told.code, 0);
        CU_ASSERT_STRING_EQUAL(told.value, "\"slow\"");
    }
    laz_engine_free(engine);
    laz_os_remove_tree(directory);
}

static pthread_barrier_t occupied, let_go;

static void tool_hold(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len;
    pthread_barrier_wait(&occupied);
    pthread_barrier_wait(&let_go);
    laz_reply_value(reply, "7", 1);
}

enum end { END_CANCEL, END_CLOSE, END_TIMEOUT, ENDS };

static void call_is_answered_after(struct laz_session *session, enum end end)
{
    struct told told;

    test_hold_clock(engine);
    begin(session, "return hold()", &told);
    while (!engine->tools.calls)
        CU_ASSERT_EQUAL_FATAL(laz_engine_step(engine, -1, NULL), 0);
    pthread_barrier_wait(&occupied);
    if (end == END_CANCEL)
        laz_session_cancel(session);
    else if (end == END_CLOSE)
        laz_session_close(session);
    else
        test_advance_clock(engine, 100);
    step_until_told(&told);
    CU_ASSERT_EQUAL(told.verdict, end == END_TIMEOUT ? LAZ_VERDICT_ERROR : LAZ_VERDICT_CANCELLED);
    CU_ASSERT_PTR_NOT_NULL(engine->tools.calls);
    pthread_barrier_wait(&let_go);
    while (engine->tools.calls)
        CU_ASSERT_EQUAL_FATAL(laz_engine_step(engine, -1, NULL), 0);
}

/* The execution is cancelled, its session closed, or the tool's timeout over: the late answer still
 * frees the call. */
static void a_call_that_is_answered_too_late_leaves_nothing(void)
{
    const struct laz_tool tool = {
        .size = sizeof tool, .name = "hold", .description = "", .timeout_ms = 100};

    pthread_barrier_init(&occupied, NULL, 2);
    pthread_barrier_init(&let_go, NULL, 2);
    for (int end = 0; end < ENDS; end++) {
        engine = test_engine("");
        if (engine)
            CU_ASSERT_EQUAL(laz_engine_add_tool(engine, &tool, tool_hold, NULL, NULL), 0);
        struct laz_session *session = engine ? open_lua(0) : NULL;
        if (session)
            call_is_answered_after(session, (enum end)end);
        laz_engine_free(engine);
    }
    pthread_barrier_destroy(&occupied);
    pthread_barrier_destroy(&let_go);
}

#define WORKERS 64 /* of an engine */

/* A tool that does not end. */
static void occupy(struct laz_work *work)
{
    (void)work;
    pthread_barrier_wait(&occupied);
    pthread_barrier_wait(&let_go);
}

static void a_hook_that_nobody_can_ask_blocks_the_code(void)
{
    struct laz_work works[WORKERS];
    struct told told;

    engine = test_engine("session.pre_execute_hook=['/bin/true']");
    struct laz_session *session = engine ? open_lua(0) : NULL;
    if (session) {
        test_hold_clock(engine);
        pthread_barrier_init(&occupied, NULL, WORKERS + 1);
        pthread_barrier_init(&let_go, NULL, WORKERS + 1);
        for (int i = 0; i < WORKERS; i++) {
            works[i].run = occupy;
            CU_ASSERT_EQUAL_FATAL(laz_workers_add(engine->driver.workers, &works[i], NULL), 0);
        }
        pthread_barrier_wait(&occupied);
        begin(session, "return 1", &told);
        CU_ASSERT_EQUAL(laz_engine_step(engine, 0, NULL), 0);
        test_advance_clock(engine, 29999);
        CU_ASSERT_EQUAL(laz_engine_step(engine, 0, NULL), 0);
        CU_ASSERT_EQUAL(told.times, 0);
        test_advance_clock(engine, 1);
        for (int i = 0; i < 3; i++)
            CU_ASSERT_EQUAL(laz_engine_step(engine, 0, NULL), 0);
        CU_ASSERT_EQUAL(told.times, 1);
        CU_ASSERT_EQUAL(told.verdict, LAZ_VERDICT_BLOCKED);
        pthread_barrier_wait(&let_go);
        begin(session, "return 2", &told);
        step_until_told(&told);
        CU_ASSERT_STRING_EQUAL(told.value, "2");
    }
    laz_engine_free(engine);
    if (session) { /* no worker is in them any more */
        pthread_barrier_destroy(&occupied);
        pthread_barrier_destroy(&let_go);
    }
}

/* In the turn of the loop in which the hook's answer arrives the execution is cancelled: the hook's
 * data is freed. The sanitizer would detect the leak. */
static void an_answer_that_nobody_wants_is_freed(void)
{
    struct told told;

    engine = test_engine("session.pre_execute_hook=['/bin/true']");
    struct laz_session *session = engine ? open_lua(0) : NULL;
    if (session) {
        struct pollfd arrived = {.fd = laz_engine_fd(engine), .events = POLLIN};
        begin(session, "return 1", &told);
        CU_ASSERT_EQUAL(laz_engine_step(engine, 0, NULL), 0); /* starts the hook */
        CU_ASSERT_EQUAL(poll(&arrived, 1, UNIT_HANG_MS), 1);
        laz_session_cancel(session);
        step_until_told(&told);
        CU_ASSERT_EQUAL(told.verdict, LAZ_VERDICT_CANCELLED);
    }
    laz_engine_free(engine);
}

static const struct unit_test tests[] = {
    UNIT(sessions_execute_side_by_side),
    UNIT(a_call_that_waits_drives_the_others),
    UNIT(the_descriptor_and_the_timeout_are_enough),
    UNIT(a_step_may_wait_for_nothing),
    UNIT(one_of_many_is_cancelled),
    UNIT(cancelling_leaves_what_is_begun_later),
    UNIT(what_is_open_at_the_end_is_told_once),
    UNIT(a_start_that_fails_is_told_to_who_waits_for_it),
    UNIT(a_session_that_is_being_closed_begins_nothing),
    UNIT(a_restart_is_told_that_its_session_was_closed),
    UNIT(callbacks_may_use_the_engine),
    UNIT(a_free_in_a_callback_makes_no_turn),
    UNIT(a_callback_opens_the_engine_to_its_own_thread_only),
    UNIT(a_slow_hook_delays_nobody_else),
    UNIT(a_box_may_be_lost_while_a_hook_runs),
    UNIT(an_answer_that_nobody_wants_is_freed),
    UNIT(a_call_that_is_answered_too_late_leaves_nothing),
    UNIT(a_hook_that_nobody_can_ask_blocks_the_code),
    {0},
};

int main(void)
{
    return unit_run("async", tests);
}
