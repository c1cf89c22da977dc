/* SPDX-License-Identifier: MIT */
/* test_group.c - several engines behind one handle: which of them takes a call, what callbacks may
 * do, and that each call is reported once, whatever ends first. Pools: test_group_pool.c. */
#include "gates.h"
#include "traces.h"

#include "audit/audit_chain.h"
#include "base/buf.h"
#include "group/group.h"
#include "os/directories.h"
#include "os/files.h"
#include "session/session.h"

#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ENGINES   3
#define LOGGED    9 /* executions */
#define RUN_CALLS 3

static void begin(struct laz_group *group, const char *code, struct gate_told *told)
{
    struct laz_error err = {0};

    if (laz_group_execute_async(group, NULL, code, SIZE_MAX, NULL, gate_tell, told, &err))
        printf("\n    not begun: %s", err.text);
    CU_ASSERT_EQUAL_FATAL(err.code, 0);
}

/* ---- which engine --------------------------------------------------------------------------- */

/* Sessions are spread evenly, and each engine has a thread of its own. */
static void calls_go_to_the_least_loaded_engine(void)
{
    struct laz_group *group = gates_group("", ENGINES);
    struct gate_told told[2 * ENGINES] = {{0}};

    CU_ASSERT_EQUAL(laz_group_engines(group), ENGINES);
    for (unsigned i = 0; i < 2 * ENGINES; i++)
        begin(group, GATE("a"), &told[i]);
    for (unsigned i = 0; i < ENGINES; i++)
        CU_ASSERT_EQUAL(laz_group_load(group, i), 2);
    gates_await(2 * ENGINES);
    unsigned others = 0;
    for (unsigned i = 0; i < 2 * ENGINES; i++) {
        CU_ASSERT(!pthread_equal(gate_thread(i), pthread_self()));
        for (unsigned j = 0; j < i; j++)
            others += pthread_equal(gate_thread(i), gate_thread(j)) != 0;
    }
    CU_ASSERT_EQUAL(others, ENGINES); /* two calls on each thread */
    gates_open_all();
    for (unsigned i = 0; i < 2 * ENGINES; i++) {
        gate_told_await(&told[i]);
        CU_ASSERT_EQUAL(told[i].times, 1);
        CU_ASSERT_EQUAL(told[i].verdict, LAZ_VERDICT_OK);
        UNIT_TEXT(told[i].text, "\"a\"");
    }
    for (unsigned i = 0; i <= ENGINES; i++)
        CU_ASSERT_EQUAL(laz_group_load(group, i), 0);
    laz_group_free(group);
}

static void note_place(void *user, struct laz_engine *engine)
{
    *(struct laz_engine **)user = engine;
}

/* Calls that end before the next comes do not all go to the first engine. */
static void equally_loaded_engines_take_turns(void)
{
    struct laz_group *group = gates_group("", 3);
    struct laz_engine *engine = NULL;

    for (int i = 0; i < 6; i++) {
        const int place = laz_group_run(group, -1, note_place, &engine, NULL);
        CU_ASSERT_EQUAL(place, i % 3);
        CU_ASSERT_PTR_EQUAL(engine, group->lanes[i % 3].engine);
    }
    laz_group_free(group);
}

struct synchronous {
    struct laz_group *group;
    unsigned number, right;
};

static void *call_again(void *user)
{
    struct synchronous *caller = user;
    char code[32], value[16];

    for (unsigned i = 0; i < 5; i++) {
        struct laz_result *result = NULL;
        snprintf(code, sizeof code, "return %u", caller->number * 10 + i);
        snprintf(value, sizeof value, "%u", caller->number * 10 + i);
        if (!laz_group_execute(caller->group, NULL, code, SIZE_MAX, NULL, &result, NULL))
            caller->right += strcmp(laz_result_value(result), value) == 0;
        laz_result_free(result);
    }
    return NULL;
}

static void threads_call_at_the_same_time(void)
{
    struct laz_group *group = gates_group("", 2);
    struct synchronous callers[4];
    pthread_t threads[4];

    for (unsigned i = 0; i < 4; i++) {
        callers[i] = (struct synchronous){.group = group, .number = i};
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, call_again, &callers[i]), 0);
    }
    for (unsigned i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL(pthread_join(threads[i], NULL), 0);
        CU_ASSERT_EQUAL(callers[i].right, 5);
    }
    laz_group_free(group);
}

/* What the caller gave may be gone when the engine begins. */
static void everything_is_copied(void)
{
    struct laz_group *group = gates_group("", 1);
    struct gate_halt halt;
    struct gate_told told = {0};
    char code[] = "return table.concat(arg, ' ') .. gate('x')", runtime[] = "lua";
    char arg[] = "one", name[] = "file.lua";
    const char *argv[] = {name, arg};
    struct laz_session_options session = {.size = sizeof session, .runtime = runtime};
    struct laz_execute_options options = {
        .size = sizeof options, .argv = argv, .n_argv = 2, .deadline_ms = LAZ_NO_LIMIT};

    gate_halt_begin(&halt, group, 0);
    CU_ASSERT_EQUAL(
        laz_group_execute_async(group, &session, code, SIZE_MAX, &options, gate_tell, &told, NULL),
        0);
    memset(code, 'x', sizeof code - 1);
    memset(runtime, 'x', sizeof runtime - 1);
    memset(arg, 'x', sizeof arg - 1);
    memset(name, 'x', sizeof name - 1);
    argv[0] = argv[1] = NULL;
    memset(&session, 0, sizeof session);
    memset(&options, 0, sizeof options);
    gate_halt_end(&halt);
    gates_await(1);
    gate_open("x");
    gate_told_await(&told);
    UNIT_TEXT(told.text, "\"onex\"");
    laz_group_free(group);
}

static void own_tool(void *user, const char *args, size_t args_len, struct laz_reply *reply)
{
    (void)args, (void)args_len;
    laz_reply_value(reply, user, strlen(user));
}

static char seven[] = "7", pair[] = "[1,2]";

static void a_session_has_tools_of_its_own(void)
{
    struct laz_group *group = gates_group("", 2);
    const struct laz_tool tool = {.size = sizeof tool, .name = "mine"};
    const struct laz_session_tool mine = {
        .size = sizeof mine, .tool = &tool, .call = own_tool, .user = pair};
    const struct laz_session_tool *tools[] = {&mine};
    const struct laz_session_options session = {
        .size = sizeof session, .tools = tools, .n_tools = 1};
    struct laz_result *result = NULL;

    CU_ASSERT_EQUAL(
        laz_group_execute(group, &session, "return #mine()", SIZE_MAX, NULL, &result, NULL), 0);
    UNIT_TEXT(laz_result_value(result), "2");
    laz_result_free(result);
    laz_group_free(group);
}

/* ---- errors --------------------------------------------------------------------------------- */

static void errors_are_those_of_an_engine(void)
{
    struct laz_group *group = gates_group("", 2);
    const struct laz_session_options none = {.size = sizeof none, .runtime = "cobol"};
    struct laz_engine *engine = test_engine("");
    struct laz_result *result = NULL;
    struct laz_error err = {0}, same = {0};
    struct gate_told told = {0};

    CU_ASSERT_EQUAL(laz_group_execute(group, &none, "1", SIZE_MAX, NULL, &result, &err),
                    LAZ_ENOENT);
    CU_ASSERT_EQUAL(laz_execute(engine, &none, "1", SIZE_MAX, NULL, &result, &same), LAZ_ENOENT);
    UNIT_TEXT(err.text, same.text);
    CU_ASSERT_PTR_NULL(result);
    CU_ASSERT_EQUAL(
        laz_group_execute_async(group, &none, "1", SIZE_MAX, NULL, gate_tell, &told, NULL), 0);
    gate_told_await(&told);
    CU_ASSERT_EQUAL(told.code, LAZ_ENOENT);
    CU_ASSERT_EQUAL(laz_group_execute_async(group, NULL, NULL, 0, NULL, gate_tell, &told, NULL),
                    LAZ_EINVAL);
    CU_ASSERT_EQUAL(laz_group_run(group, 2, note_place, &engine, NULL), LAZ_EINVAL);
    CU_ASSERT_EQUAL(laz_group_load(group, 0) + laz_group_load(group, 1), 0);
    laz_engine_free(engine);
    laz_group_free(group);
}

/* An engine that starts nothing is the first to be done; it must not attract all calls. */
static void break_agent(void *user, struct laz_engine *engine)
{
    engine->boxes.agent = user ? user : engine->agent;
}

static enum laz_verdict verdict_of_one(struct laz_group *group)
{
    struct laz_result *result = NULL;

    CU_ASSERT_EQUAL(laz_group_execute(group, NULL, "return 1", SIZE_MAX, NULL, &result, NULL), 0);
    const enum laz_verdict verdict = laz_result_verdict(result);
    laz_result_free(result);
    return verdict;
}

static void a_failed_start_counts_as_load_for_a_while(void)
{
    static char missing[] = "/nonexistent/lazaret-agent";
    const struct laz_session_options none = {.size = sizeof none, .runtime = "cobol"};
    struct laz_group *group = gates_group("", 2);
    struct laz_result *result = NULL;
    uint64_t pause_ms = 100;

    gates_hold_clock(group, 1);
    gates_run(group, 1, break_agent, missing);
    for (int round = 0; round < 3; round++, pause_ms *= 2) {
        unsigned failed = verdict_of_one(group) == LAZ_VERDICT_SETUP_FAILED;
        failed += verdict_of_one(group) == LAZ_VERDICT_SETUP_FAILED;
        CU_ASSERT_EQUAL(failed, 1); /* one of the two was there */
        for (int i = 0; i < 3; i++)
            CU_ASSERT_EQUAL(verdict_of_one(group), LAZ_VERDICT_OK);
        gates_advance_clock(group, 1, pause_ms - 1);
        CU_ASSERT_EQUAL(laz_group_load(group, 1), 1);
        gates_advance_clock(group, 1, 1);
        CU_ASSERT_EQUAL(laz_group_load(group, 1), 0);
        for (int i = 0; i < 2; i++) /* one of them is there, and says nothing of its starts */
            CU_ASSERT_EQUAL(laz_group_execute(group, &none, "1", SIZE_MAX, NULL, &result, NULL),
                            LAZ_ENOENT);
    }
    gates_run(group, 1, break_agent, NULL);
    for (int i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(verdict_of_one(group), LAZ_VERDICT_OK);
    CU_ASSERT_EQUAL(group->lanes[1].pause_ms, 0); /* a start has succeeded */
    laz_group_free(group);
}

/* ---- starts -----------------------------------------------------------------------------------
 */

struct late {
    struct laz_post post;
    struct laz_group *group;
    struct gate_told told;
};

/* Time has passed while the engine waited, and a call comes in the same turn. */
static void late_arrived(struct laz_post *post)
{
    struct late *late = (struct late *)(void *)post;

    laz_loop_advance_clock(late->group->lanes[0].engine->driver.loop, 100000);
    begin(late->group, "return 1", &late->told);
}

static void look_for_box(void *user, struct laz_engine *engine)
{
    const struct laz_session *session = engine->sessions.sessions;

    *(bool *)user = session && session->start.under_way && session->box;
}

/* The time of a start, here 150 seconds until the agent says a word, is not begun again by calls
 * that come meanwhile. */
static void a_start_is_late_however_many_calls_come(void)
{
    struct laz_group *group = gates_group("", 1);
    char directory[] = "/tmp/laz-test-XXXXXX", script[64];
    struct gate_told hangs = {0};
    bool starts = false;

    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(directory));
    snprintf(script, sizeof script, "%s/agent", directory);
    FILE *file = fopen(script, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT(fputs("#!/bin/sh\nexec sleep 3600\n", file) >= 0);
    CU_ASSERT_EQUAL(fclose(file), 0);
    CU_ASSERT_EQUAL(chmod(script, 0755), 0);
    gates_hold_clock(group, 0);
    gates_run(group, 0, break_agent, script);
    begin(group, "return 1", &hangs);
    while (!starts)
        gates_run(group, 0, look_for_box, &starts);
    gates_run(group, 0, break_agent, NULL);
    for (unsigned i = 0; i < 2; i++) {
        struct late late = {.post = {.run = late_arrived}, .group = group};
        laz_loop_post(group->lanes[0].engine->driver.loop, &late.post);
        gate_told_await(&late.told);
        UNIT_TEXT(late.told.text, "1");
    }
    gate_told_await(&hangs);
    CU_ASSERT_EQUAL(hangs.verdict, LAZ_VERDICT_SETUP_FAILED);
    laz_group_free(group);
    laz_os_remove_tree(directory);
}

/* ---- runs and tools -------------------------------------------------------------------------- */

static struct laz_session *kept;
static char kept_value[32];

static void open_kept(void *user, struct laz_engine *engine)
{
    *(int *)user = laz_session_open(engine, NULL, &kept, NULL);
}

static void use_kept(void *user, struct laz_engine *engine)
{
    struct laz_result *result = NULL;

    (void)engine;
    (void)laz_session_execute(kept, user, SIZE_MAX, NULL, &result, NULL);
    snprintf(kept_value, sizeof kept_value, "%s", laz_result_value(result));
    laz_result_free(result);
}

static void free_kept(void *user, struct laz_engine *engine)
{
    (void)user, (void)engine;
    laz_session_free(kept);
}

/* While a run waits in its engine, that goes on with what it has. */
static void sessions_last_from_run_to_run(void)
{
    struct laz_group *group = gates_group("", 2);
    struct gate_told told[2] = {{0}};
    char set[] = "x = 41", add_1[] = "return x + 1", add_2[] = "return x + 2";
    int rc = -1;

    gates_run(group, 1, open_kept, &rc);
    CU_ASSERT_EQUAL_FATAL(rc, 0);
    gates_run(group, 1, use_kept, set);
    for (unsigned i = 0; i < 2; i++)
        begin(group, GATE("a"), &told[i]); /* one in each */
    gates_await(2);
    gates_run(group, 1, use_kept, add_1);
    UNIT_TEXT(kept_value, "42");
    gates_open_all();
    gates_run(group, 1, use_kept, add_2);
    UNIT_TEXT(kept_value, "43");
    gate_told_await(&told[0]);
    gate_told_await(&told[1]);
    gates_run(group, 1, free_kept, NULL);
    laz_group_free(group);
}

static void approve(void *user, const char *args, size_t args_len, struct laz_reply *reply)
{
    (void)args, (void)args_len;
    atomic_fetch_add((atomic_uint *)user, 1);
    laz_reply_value(reply, "true", 4);
}

static void each_engine_has_tools_and_approver(void)
{
    struct laz_group *group = gates_group("", ENGINES);
    const struct laz_tool tool = {.size = sizeof tool, .name = "asked", .approve = 1};
    const struct laz_tool wrong = {.size = sizeof wrong, .name = "not a name"};
    struct laz_result *result;
    struct laz_error err = {0};
    atomic_uint asked = 0;

    CU_ASSERT_EQUAL(laz_group_add_tool(group, &tool, own_tool, seven, NULL), 0);
    CU_ASSERT_EQUAL(laz_group_add_tool(group, &tool, own_tool, seven, &err), LAZ_EINVAL);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "asked"));
    CU_ASSERT_EQUAL(laz_group_add_tool(group, &wrong, own_tool, seven, NULL), LAZ_EINVAL);
    CU_ASSERT_EQUAL(laz_group_set_approver(group, approve, &asked, NULL), 0);
    for (unsigned i = 0; i < ENGINES; i++) { /* each in turn */
        result = NULL;
        CU_ASSERT_EQUAL(
            laz_group_execute(group, NULL, "return asked()", SIZE_MAX, NULL, &result, NULL), 0);
        UNIT_TEXT(laz_result_value(result), "7");
        laz_result_free(result);
    }
    CU_ASSERT_EQUAL(atomic_load(&asked), ENGINES);
    laz_group_free(group);
}

/* ---- callbacks ------------------------------------------------------------------------------- */

static struct {
    struct laz_group *group;
    int sync, run, pool, tool, async;
    struct gate_told next;
} inside;

static void try_all(struct gate_told *told)
{
    struct laz_group_pool *pool = NULL;
    struct laz_result *result = NULL;
    struct laz_engine *engine = NULL;

    (void)told;
    inside.sync = laz_group_execute(inside.group, NULL, "1", SIZE_MAX, NULL, &result, NULL);
    inside.run = laz_group_run(inside.group, -1, note_place, &engine, NULL);
    inside.pool = laz_group_pool_new(inside.group, NULL, &pool, NULL);
    inside.tool = laz_group_set_approver(inside.group, NULL, NULL, NULL);
    laz_group_free(inside.group); /* no effect */
    inside.async = laz_group_execute_async(inside.group, NULL, "return 2", SIZE_MAX, NULL,
                                           gate_tell, &inside.next, NULL);
}

static void a_callback_cannot_wait_for_its_group(void)
{
    struct gate_told told = {.then = try_all};

    memset(&inside, 0, sizeof inside);
    inside.group = gates_group("", 2);
    begin(inside.group, "return 1", &told);
    gate_told_await(&told);
    CU_ASSERT_EQUAL(inside.sync, LAZ_EBUSY);
    CU_ASSERT_EQUAL(inside.run, LAZ_EBUSY);
    CU_ASSERT_EQUAL(inside.pool, LAZ_EBUSY);
    CU_ASSERT_EQUAL(inside.tool, LAZ_EBUSY);
    CU_ASSERT_EQUAL(inside.async, 0);
    gate_told_await(&inside.next);
    UNIT_TEXT(inside.next.text, "2");
    laz_group_free(inside.group);
}

/* A tool that blocks is on a thread that may wait. */
static void ask_group(void *user, const char *args, size_t args_len, struct laz_reply *reply)
{
    struct laz_result *result = NULL;

    (void)args, (void)args_len;
    if (laz_group_execute(*(struct laz_group **)user, NULL, "return 5", SIZE_MAX, NULL, &result,
                          NULL))
        laz_reply_error(reply, "refused");
    else
        laz_reply_value(reply, laz_result_value(result), strlen(laz_result_value(result)));
    laz_result_free(result);
}

static void a_tool_may_execute_in_its_group(void)
{
    struct laz_group *group = gates_group("", 1);
    const struct laz_tool tool = {.size = sizeof tool, .name = "ask"};
    struct laz_result *result = NULL;

    CU_ASSERT_EQUAL(laz_group_add_tool(group, &tool, ask_group, &group, NULL), 0);
    CU_ASSERT_EQUAL(laz_group_execute(group, NULL, "return ask()", SIZE_MAX, NULL, &result, NULL),
                    0);
    UNIT_TEXT(laz_result_value(result), "5");
    laz_result_free(result);
    laz_group_free(group);
}

/* ---- cancel and end -------------------------------------------------------------------------- */

/* Also what the engines have not looked at; and nothing that comes later. */
static void a_cancel_ends_what_was_asked_for_before(void)
{
    struct laz_group *group = gates_group("", 2);
    struct gate_told running[2] = {{0}}, waiting[4] = {{0}}, later = {0};
    struct gate_halt halts[2];

    laz_group_cancel(NULL);
    laz_group_cancel(group); /* nothing happens */
    for (unsigned i = 0; i < 2; i++)
        begin(group, GATE("a"), &running[i]);
    gates_await(2);
    for (int i = 0; i < 2; i++)
        gate_halt_begin(&halts[i], group, i);
    for (unsigned i = 0; i < 4; i++)
        begin(group, "return 1", &waiting[i]);
    laz_group_cancel(group);
    begin(group, "return 2", &later);
    for (unsigned i = 0; i < 2; i++)
        gate_halt_end(&halts[i]);
    for (unsigned i = 0; i < 2; i++) {
        gate_told_await(&running[i]);
        CU_ASSERT_EQUAL(running[i].verdict, LAZ_VERDICT_CANCELLED);
    }
    for (unsigned i = 0; i < 4; i++) {
        gate_told_await(&waiting[i]);
        CU_ASSERT_EQUAL(waiting[i].verdict, LAZ_VERDICT_CANCELLED);
    }
    gate_told_await(&later);
    UNIT_TEXT(later.text, "2");
    gates_open_all();
    laz_group_free(group);
}

static struct laz_group *ending;

static void try_again(struct gate_told *told)
{
    *(int *)told->user =
        laz_group_execute_async(ending, NULL, "return 1", SIZE_MAX, NULL, gate_tell, told, NULL);
    laz_group_cancel(ending);
}

/* What runs is cancelled, what waits is closed, what comes then is closed. */
static void freeing_reports_each_call_once(void)
{
    const int threads = trace_threads(), descriptors = trace_descriptors();
    struct gate_told running[6] = {{0}}, handed[2] = {{0}};
    struct gate_halt halts[2];
    int again[6] = {0};

    ending = gates_group("", 2);
    for (unsigned i = 0; i < 6; i++) {
        running[i].then = try_again;
        running[i].user = &again[i];
        begin(ending, GATE("a"), &running[i]);
    }
    gates_await(6);
    for (int i = 0; i < 2; i++)
        gate_halt_begin(&halts[i], ending, i);
    for (unsigned i = 0; i < 2; i++)
        begin(ending, "return 1", &handed[i]);
    for (unsigned i = 0; i < 2; i++) /* the engines may, or may not, begin them before the end */
        gate_halt_end(&halts[i]);
    laz_group_free(ending);
    for (unsigned i = 0; i < 6; i++) {
        CU_ASSERT_EQUAL(running[i].times, 1);
        CU_ASSERT_EQUAL(running[i].verdict, LAZ_VERDICT_CANCELLED);
        CU_ASSERT_EQUAL(again[i], LAZ_ECLOSED);
    }
    for (unsigned i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(handed[i].times, 1);
        CU_ASSERT(handed[i].code == LAZ_ECLOSED || !handed[i].code);
    }
    gates_open_all(); /* replies that were kept outlast their engines */
    CU_ASSERT_EQUAL(trace_threads(), threads);
    CU_ASSERT_EQUAL(trace_descriptors(), descriptors);
}

/* A run that has begun goes on, but nothing that it waits for. */
struct last_run {
    struct laz_group *group;
    sem_t opened;
    int place;
    unsigned cancelled;
};

static void execute_for_ever(void *user, struct laz_engine *engine)
{
    struct laz_session *session = NULL;
    struct laz_result *result = NULL;
    struct last_run *last = user;
    const struct laz_execute_options options = {.size = sizeof options, .timeout_ms = LAZ_NO_LIMIT};

    CU_ASSERT_EQUAL(laz_session_open(engine, NULL, &session, NULL), 0);
    CU_ASSERT_EQUAL(sem_post(&last->opened), 0);
    while (!atomic_load(&last->group->closed))
        CU_ASSERT_EQUAL(sched_yield(), 0);
    for (unsigned i = 0; i < RUN_CALLS; i++) {
        CU_ASSERT_EQUAL(
            laz_session_execute(session, "while true do end", SIZE_MAX, &options, &result, NULL),
            0);
        last->cancelled += laz_result_verdict(result) == LAZ_VERDICT_CANCELLED;
        laz_result_free(result);
    }
}

static void *run_last(void *user)
{
    struct last_run *last = user;

    last->place = laz_group_run(last->group, 1, execute_for_ever, last, NULL);
    return NULL;
}

static void freeing_cancels_what_a_run_waits_for(void)
{
    struct last_run last = {.group = gates_group("limits.cpu=unlimited", 2)};
    pthread_t thread;

    CU_ASSERT_EQUAL_FATAL(sem_init(&last.opened, 0, 0), 0);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, run_last, &last), 0);
    while (sem_wait(&last.opened))
        continue;
    laz_group_free(last.group); /* also waits until the other thread has left it */
    CU_ASSERT_EQUAL(pthread_join(thread, NULL), 0);
    CU_ASSERT_EQUAL(last.place, 1);
    CU_ASSERT_EQUAL(last.cancelled, RUN_CALLS);
    CU_ASSERT_EQUAL(sem_destroy(&last.opened), 0);
}

/* ---- making ---------------------------------------------------------------------------------- */

/* However far the descriptors reach. */
static void a_group_is_made_as_a_whole_or_not_at_all(void)
{
    const struct laz_group_options options = {.size = sizeof options, .engines = 3};
    const struct laz_group_options many = {.size = sizeof many, .engines = 65};
    const int threads = trace_threads(), descriptors = trace_descriptors();
    struct laz_group *group = NULL;
    struct rlimit limit;
    unsigned failed = 0;

    CU_ASSERT_EQUAL(laz_group_new(NULL, &many, &group, NULL), LAZ_EINVAL);
    CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
    for (rlim_t n = (rlim_t)descriptors + 2; !group && failed < 100; n += 3) {
        const struct rlimit few = {n, limit.rlim_max};
        struct laz_error err = {0};
        CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &few), 0);
        int rc = laz_group_new(NULL, &options, &group, &err);
        CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
        CU_ASSERT(rc ? !group && err.code == rc && *err.text : group != NULL);
        failed += rc != 0;
        if (rc) {
            CU_ASSERT_EQUAL(trace_threads(), threads);
            CU_ASSERT_EQUAL(trace_descriptors(), descriptors);
        }
    }
    CU_ASSERT(group && failed > 3);
    laz_group_free(group);
    CU_ASSERT_EQUAL(trace_threads(), threads);
}

static void limits_of_the_application_hold_for_the_group(void)
{
    struct laz_group *group = gates_group("workers.max=7;pool.max_sessions=3", 3);
    const struct laz_pool_options two = {.size = sizeof two, .members = 2};
    struct laz_group_pool *pool = NULL, *other = NULL;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL(laz_group_pool_new(group, &two, &pool, NULL), 0);
    CU_ASSERT_EQUAL(laz_group_pool_new(group, &two, &other, &err), LAZ_EREFUSED);
    UNIT_TEXT(err.text, "2 sessions of pools, and 2 more, exceed pool.max_sessions (3)");
    laz_group_pool_free(pool);
    CU_ASSERT_EQUAL(laz_group_pool_new(group, &two, &other, NULL), 0);
    laz_group_free(group); /* and the pool */
}

static void a_child_cannot_use_it(void)
{
    struct laz_group *group = gates_group("", 2);
    struct laz_result *result = NULL;
    int status = -1;

    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct laz_error err = {0};
        bool good =
            laz_group_execute(group, NULL, "1", SIZE_MAX, NULL, &result, &err) == LAZ_EREFUSED &&
            strstr(err.text, "fork") &&
            laz_group_execute_async(group, NULL, "1", SIZE_MAX, NULL, gate_tell, NULL, NULL) ==
                LAZ_EREFUSED;
        laz_group_cancel(group);
        laz_group_free(group);
        _exit(good ? 0 : 1);
    }
    CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
    CU_ASSERT_EQUAL(status, 0);
    CU_ASSERT_EQUAL(verdict_of_one(group), LAZ_VERDICT_OK);
    laz_group_free(group);
}

/* ---- what engines share -----------------------------------------------------------------------
 */

struct log_seen {
    unsigned findings;
};

static void count_finding(void *user, enum laz_audit_finding finding, uint64_t line,
                          const char *text)
{
    (void)finding;
    printf("\n    line %llu: %s", (unsigned long long)line, text);
    ((struct log_seen *)user)->findings++;
}

/* The records of one execution are in the order of its events. */
static void records_are_in_order(const char *text)
{
    static const char *const events[] = {"session_start", "execute",          "tool_call",
                                         "tool_result",   "execute_complete", "session_close"};
    char sessions[LOGGED][17], mine[17];
    unsigned at[LOGGED] = {0}, n = 0;

    for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
        const char *session = strstr(line, "\"session_id\":\""),
                   *event = strstr(line, "\"event\":\"");
        CU_ASSERT_FATAL(session && event);
        snprintf(mine, sizeof mine, "%.16s", session + strlen("\"session_id\":\""));
        unsigned i = 0;
        while (i < n && strcmp(sessions[i], mine) != 0)
            i++;
        CU_ASSERT_FATAL(i < LOGGED);
        if (i == n)
            memcpy(sessions[n++], mine, sizeof mine);
        CU_ASSERT_FATAL(at[i] < sizeof events / sizeof *events);
        event += strlen("\"event\":\"");
        const char *expected = events[at[i]++];
        if (strncmp(event, expected, strlen(expected)) != 0)
            printf("\n    %.20s in place of %s", event, expected);
        CU_ASSERT(strncmp(event, expected, strlen(expected)) == 0);
    }
    CU_ASSERT_EQUAL(n, LOGGED);
}

static void all_engines_write_one_log(void)
{
    char directory[] = "/tmp/laz-test-XXXXXX", path[64], settings[200];
    struct gate_told told[LOGGED] = {{0}};
    struct laz_buf text = LAZ_BUF_INIT;
    struct log_seen seen = {0};
    struct laz_audit_verify verify;

    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/log", directory);
    snprintf(settings, sizeof settings, "audit.file=%s", path);
    struct laz_group *group = gates_group(settings, ENGINES);
    for (unsigned i = 1; i < ENGINES; i++)
        CU_ASSERT_PTR_EQUAL(group->lanes[i].engine->sessions.audit,
                            group->lanes[0].engine->sessions.audit);
    for (unsigned i = 0; i < LOGGED; i++)
        begin(group, GATE("a"), &told[i]);
    gates_await(LOGGED);
    gates_open_all();
    for (unsigned i = 0; i < LOGGED; i++)
        gate_told_await(&told[i]);
    laz_group_free(group);
    CU_ASSERT_EQUAL(laz_os_read_file(path, (size_t)16 << 20, &text, NULL), 0);
    laz_audit_verify_init(&verify, count_finding, &seen);
    laz_audit_verify_feed(&verify, laz_buf_text(&text), text.len);
    CU_ASSERT_TRUE(laz_audit_verify_end(&verify));
    CU_ASSERT_EQUAL(verify.records, LOGGED * 6);
    CU_ASSERT_EQUAL(seen.findings, 0);
    laz_audit_verify_fini(&verify);
    records_are_in_order(laz_buf_text(&text));
    laz_buf_fini(&text);
    laz_os_remove_tree(directory);
}

static const struct unit_test tests[] = {
    UNIT(calls_go_to_the_least_loaded_engine),
    UNIT(equally_loaded_engines_take_turns),
    UNIT(threads_call_at_the_same_time),
    UNIT(everything_is_copied),
    UNIT(a_session_has_tools_of_its_own),
    UNIT(errors_are_those_of_an_engine),
    UNIT(a_failed_start_counts_as_load_for_a_while),
    UNIT(a_start_is_late_however_many_calls_come),
    UNIT(sessions_last_from_run_to_run),
    UNIT(each_engine_has_tools_and_approver),
    UNIT(a_callback_cannot_wait_for_its_group),
    UNIT(a_tool_may_execute_in_its_group),
    UNIT(a_cancel_ends_what_was_asked_for_before),
    UNIT(freeing_reports_each_call_once),
    UNIT(freeing_cancels_what_a_run_waits_for),
    UNIT(a_group_is_made_as_a_whole_or_not_at_all),
    UNIT(limits_of_the_application_hold_for_the_group),
    UNIT(a_child_cannot_use_it),
    UNIT(all_engines_write_one_log),
    {0},
};

int main(void)
{
    return unit_run("group", tests);
}
