/* SPDX-License-Identifier: MIT */
/* test_group_pool.c - a pool over several engines: one queue, whose callers are served in order and
 * told once, whatever happens to its sessions and to the engines that they are in.
 *
 * Clocks are held, engines are halted between two turns, and code waits at gates, so the order of
 * all events is that of the test. */
#include "gates.h"

#include "base/buf.h"
#include "group/group.h"
#include "os/directories.h"
#include "session/session.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

static struct {
    struct laz_group *group;
    struct laz_group_pool *pool;
    int sync, again;
    struct laz_pool_status status;
} inside;

static struct laz_group_pool *pool_of(struct laz_group *group, unsigned members)
{
    const struct laz_pool_options options = {.size = sizeof options, .members = members};
    struct laz_group_pool *pool = NULL;
    struct laz_error err = {0};

    if (laz_group_pool_new(group, &options, &pool, &err))
        printf("\n    no pool: %s", err.text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    return pool;
}

static void ask_for(struct laz_group_pool *pool, uint64_t wait_ms, const char *code,
                    struct gate_told *told)
{
    struct laz_error err = {0};

    if (laz_group_pool_execute_async(pool, wait_ms, code, SIZE_MAX, NULL, gate_tell, told, &err))
        printf("\n    not begun: %s", err.text);
    CU_ASSERT_EQUAL_FATAL(err.code, 0);
}

static void ask(struct laz_group_pool *pool, const char *code, struct gate_told *told)
{
    ask_for(pool, LAZ_NO_LIMIT, code, told);
}

static struct laz_pool_status status_of(struct laz_group_pool *pool)
{
    struct laz_pool_status status = LAZ_POOL_STATUS_INIT;

    CU_ASSERT_EQUAL(laz_group_pool_status(pool, &status, NULL), 0);
    return status;
}

/* Everything that was handed over to an engine so far, and what it led to there, is done. */
static void nothing(void *user, struct laz_engine *engine)
{
    (void)user;
    CU_ASSERT_EQUAL(laz_engine_step(engine, 0, NULL), 0);
}

static void settle(struct laz_group *group)
{
    for (unsigned round = 0; round < 2; round++)
        for (unsigned i = 0; i < group->n; i++)
            gates_run(group, (int)i, nothing, NULL);
}

/* ---- order ---------------------------------------------------------------------------------- */

static void each_engine_gets_a_place_before_one_gets_two(void)
{
    struct laz_group *group = gates_group("", 3);
    struct laz_group_pool *four = pool_of(group, 4), *two = pool_of(group, 2);
    struct gate_told told[4] = {{0}};

    CU_ASSERT_EQUAL(status_of(four).total, 4);
    CU_ASSERT_EQUAL(status_of(four).idle, 4);
    CU_ASSERT_EQUAL(status_of(two).idle, 2);
    for (unsigned i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(group->lanes[i].pooled, 2); /* the second goes where there were fewer */
    for (unsigned i = 0; i < 4; i++)
        ask(four, GATE("a"), &told[i]);
    gates_await(4); /* two callers never wait for the same place */
    CU_ASSERT_EQUAL(status_of(four).busy, 4);
    gates_open_all();
    for (unsigned i = 0; i < 4; i++)
        gate_told_await(&told[i]);
    laz_group_pool_free(two);
    laz_group_pool_free(four);
    for (unsigned i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(group->lanes[i].pooled, 0);
    laz_group_free(group);
}

/* Whichever engine has a session next, it takes the first caller. */
static void callers_are_served_in_their_order(void)
{
    static const char *const codes[] = {GATE("a"), GATE("b"), GATE("c"), GATE("d"), GATE("e")};
    static const char *const opened[] = {"b", "c", "a", "e", "d"};
    static const char *const next[] = {"c", "d", "e"};
    struct laz_group *group = gates_group("pool.reset=false", 2);
    struct laz_group_pool *pool = pool_of(group, 2);
    struct gate_told told[5] = {{0}};

    for (unsigned i = 0; i < 5; i++) {
        ask(pool, codes[i], &told[i]);
        gates_await(i < 2 ? i + 1 : 2);
    }
    CU_ASSERT_EQUAL(status_of(pool).waiting, 3);
    for (unsigned i = 0; i < 5; i++) {
        gate_open(opened[i]);
        if (i < 3) {
            gates_await(i + 3);
            UNIT_TEXT(gate_of(i + 2), next[i]);
        }
        gate_told_await(&told[opened[i][0] - 'a']);
        CU_ASSERT_EQUAL(told[opened[i][0] - 'a'].order, i + 1);
    }
    for (unsigned i = 0; i < 5; i++)
        CU_ASSERT_EQUAL(told[i].times, 1);
    CU_ASSERT_EQUAL(status_of(pool).idle, 2); /* who has the result finds its session back */
    laz_group_free(group);
}

/* The engine of an idle place may be in a function of the application, for long. */
static void a_promised_place_does_not_stop_the_clock(void)
{
    struct laz_group *group = gates_group("pool.reset=false", 2);
    struct laz_group_pool *pool = pool_of(group, 2);
    struct gate_told holds = {0}, waits = {0};
    struct gate_halt halt;

    gates_hold_clock(group, 0); /* of the clerk */
    settle(group);              /* the other does not look for a caller any more */
    ask(pool, GATE("a"), &holds);
    gates_await(1);
    CU_ASSERT_TRUE(pthread_equal(gate_thread(0), group->lanes[0].thread));
    gate_halt_begin(&halt, group, 1);
    ask_for(pool, 1000, "return 1", &waits);
    gates_run(group, 0, nothing, NULL);
    gates_advance_clock(group, 0, 1000);
    gate_told_await(&waits);
    CU_ASSERT_EQUAL(waits.code, LAZ_EBUSY);
    gate_halt_end(&halt);
    gates_open_all();
    gate_told_await(&holds);
    laz_group_free(group);
}

/* An idle place that was promised, in an engine that stands still, keeps nobody waiting. */
static void a_caller_is_served_by_another_engine(void)
{
    struct laz_group *group = gates_group("pool.reset=false", 2);
    struct laz_group_pool *pool = pool_of(group, 2);
    struct gate_told first = {0}, second = {0};
    struct gate_halt halt;

    ask(pool, GATE("a"), &first);
    gates_await(1);
    const int busy = pthread_equal(gate_thread(0), group->lanes[0].thread) ? 0 : 1;
    gate_halt_begin(&halt, group, 1 - busy);
    ask(pool, GATE("b"), &second); /* wakes the one that is halted */
    CU_ASSERT_EQUAL(status_of(pool).waiting, 1);
    gate_open("a");
    gates_await(2);
    CU_ASSERT(pthread_equal(gate_thread(1), group->lanes[busy].thread));
    gate_open("b");
    gate_told_await(&second);
    gate_halt_end(&halt);
    CU_ASSERT_EQUAL(first.times + second.times, 2);
    laz_group_free(group);
}

/* They are dead before the engine looks again. */
static void kill_sessions(void *user, struct laz_engine *engine)
{
    (void)user;
    for (const struct laz_session *s = engine->sessions.sessions; s; s = s->next) {
        const pid_t pid = (pid_t)laz_session_pid(s);
        siginfo_t how;
        CU_ASSERT_EQUAL(kill(pid, SIGKILL), 0);
        CU_ASSERT_EQUAL(waitid(P_PID, (id_t)pid, &how, WEXITED | WNOWAIT), 0);
    }
}

/* What an engine has published is out of date: its session has died. The caller is passed on. */
static void a_caller_does_not_depend_on_a_session_that_has_died(void)
{
    struct laz_group *group = gates_group("pool.reset=false", 2);
    struct laz_group_pool *pool = pool_of(group, 2);
    struct gate_told told[2] = {{0}};
    struct gate_halt halt;

    gate_halt_begin(&halt, group, 1); /* its load is one: the other is asked */
    gates_run(group, 0, kill_sessions, NULL);
    ask(pool, GATE("a"), &told[0]);
    ask(pool, GATE("b"), &told[1]); /* the halted one has an idle place, too */
    gate_halt_end(&halt);
    gates_await(2);
    gates_open_all();
    for (unsigned i = 0; i < 2; i++) {
        gate_told_await(&told[i]);
        CU_ASSERT_EQUAL(told[i].verdict, LAZ_VERDICT_OK);
    }
    laz_group_free(group);
}

/* ---- waits ----------------------------------------------------------------------------------- */

static void the_clock_of_a_wait_is_that_of_the_group(void)
{
    struct laz_group *group = gates_group("pool.reset=false;pool.max_waiting=2", 2);
    struct laz_group_pool *pool = pool_of(group, 2);
    struct gate_told held[2] = {{0}}, waits[2] = {{0}}, none = {0};
    struct laz_error err = {0};

    gates_hold_clock(group, 0);
    gates_hold_clock(group, 1);
    for (unsigned i = 0; i < 2; i++)
        ask(pool, GATE("a"), &held[i]);
    gates_await(2);
    CU_ASSERT_EQUAL(
        laz_group_pool_execute_async(pool, 0, "1", SIZE_MAX, NULL, gate_tell, &none, &err),
        LAZ_EBUSY);
    UNIT_TEXT(err.text, "All sessions are busy");
    ask_for(pool, 2000, "return 1", &waits[0]);
    ask_for(pool, 1000, "return 2", &waits[1]);
    CU_ASSERT_EQUAL(
        laz_group_pool_execute_async(pool, 1000, "1", SIZE_MAX, NULL, gate_tell, &none, &err),
        LAZ_EBUSY);
    UNIT_TEXT(err.text, "All sessions are busy, and 2 callers wait (pool.max_waiting)");
    settle(group); /* the clocks of both run */
    gates_advance_clock(group, 0, 999);
    CU_ASSERT_EQUAL(status_of(pool).waiting, 2);
    gates_advance_clock(group, 1, 5000); /* not the clerk's */
    CU_ASSERT_EQUAL(status_of(pool).waiting, 2);
    gates_advance_clock(group, 0, 1);
    gate_told_await(&waits[1]);
    CU_ASSERT_EQUAL(waits[1].code, LAZ_EBUSY);
    UNIT_TEXT(waits[1].text, "All sessions are busy (waited 1 seconds)");
    CU_ASSERT_EQUAL(status_of(pool).waiting, 1);
    gates_advance_clock(group, 0, 1000);
    gate_told_await(&waits[0]);
    UNIT_TEXT(waits[0].text, "All sessions are busy (waited 2 seconds)");
    gates_open_all();
    for (unsigned i = 0; i < 2; i++)
        gate_told_await(&held[i]);
    CU_ASSERT_EQUAL(none.times, 0);
    laz_group_free(group);
}

/* What two callbacks ask for that are called in one go by who tells of waits that are over. */
static struct {
    struct laz_group *group;
    struct laz_group_pool *pool;
    struct gate_told waits[2], call;
} asked;

static void ask_to_wait(struct gate_told *told)
{
    (void)told;
    ask_for(asked.pool, 1000, "return 1", &asked.waits[0]);
}

static void ask_to_execute_and_to_wait(struct gate_told *told)
{
    (void)told;
    CU_ASSERT_EQUAL(laz_group_execute_async(asked.group, NULL, "return 2", SIZE_MAX, NULL,
                                            gate_tell, &asked.call, NULL),
                    0);
    ask_for(asked.pool, 1000, "return 3", &asked.waits[1]);
}

/* The engine is woken for each of the two waits, and has the call in between. */
static void a_call_between_two_waits_is_not_lost(void)
{
    struct gate_told held = {0},
                     over[2] = {{.then = ask_to_wait}, {.then = ask_to_execute_and_to_wait}};

    memset(&asked, 0, sizeof asked);
    asked.group = gates_group("", 1);
    asked.pool = pool_of(asked.group, 1);
    gates_hold_clock(asked.group, 0);
    ask(asked.pool, GATE("a"), &held);
    gates_await(1);
    for (unsigned i = 0; i < 2; i++)
        ask_for(asked.pool, 1000, "return 1", &over[i]);
    settle(asked.group);
    gates_advance_clock(asked.group, 0, 1000);
    for (unsigned i = 0; i < 2; i++) {
        gate_told_await(&over[i]);
        CU_ASSERT_EQUAL(over[i].code, LAZ_EBUSY);
    }
    gates_open_all();
    laz_group_free(asked.group); /* reports whatever has not ended */
    CU_ASSERT_EQUAL(asked.call.times, 1);
    for (unsigned i = 0; i < 2; i++)
        CU_ASSERT_EQUAL(asked.waits[i].times, 1);
}

static void cancel_in_a_callback(struct gate_told *told)
{
    laz_group_cancel(told->user);
}

static void a_cancel_ends_the_waits(void)
{
    struct laz_group *group = gates_group("", 2);
    struct laz_group_pool *pool = pool_of(group, 1); /* one engine has no part of it */
    struct gate_told held = {0}, waits[3] = {{0}}, later = {0}, other = {0};

    ask(pool, GATE("a"), &held);
    gates_await(1);
    for (unsigned i = 0; i < 3; i++)
        ask(pool, "return 1", &waits[i]);
    other.then = cancel_in_a_callback;
    other.user = group;
    CU_ASSERT_EQUAL(
        laz_group_execute_async(group, NULL, "return 2", SIZE_MAX, NULL, gate_tell, &other, NULL),
        0);
    gate_told_await(&other);
    ask(pool, "return 3", &later); /* waits for the session that the pool starts anew */
    for (unsigned i = 0; i < 3; i++) {
        gate_told_await(&waits[i]);
        CU_ASSERT_EQUAL(waits[i].code, LAZ_ECANCELLED);
        UNIT_TEXT(waits[i].text, "The wait for a session was cancelled");
    }
    gate_told_await(&held);
    CU_ASSERT_EQUAL(held.verdict, LAZ_VERDICT_CANCELLED);
    gate_told_await(&later);
    UNIT_TEXT(later.text, "3");
    gates_open_all();
    laz_group_free(group);
}

/* The session is being started anew when all is cancelled; then a caller comes. */
static void cancel_a_start(void *user, struct laz_engine *engine)
{
    struct gate_told *told = user;
    bool starts = false;

    kill_sessions(NULL, engine);
    while (!starts) {
        CU_ASSERT_EQUAL_FATAL(laz_engine_step(engine, 0, NULL), 0);
        for (const struct laz_session *s = engine->sessions.sessions; s; s = s->next)
            starts |= s->start.under_way;
    }
    laz_group_cancel(inside.group);
    ask(inside.pool, "return 5", told);
}

static void starts_that_are_cancelled_are_made_again(void)
{
    struct gate_told told = {0};

    inside.group = gates_group("pool.reset=false", 1);
    inside.pool = pool_of(inside.group, 1);
    gates_hold_clock(inside.group, 0); /* the pool tries nothing by itself */
    gates_run(inside.group, 0, cancel_a_start, &told);
    gate_told_await(&told);
    UNIT_TEXT(told.text, "5");
    laz_group_free(inside.group);
}

/* Is its turn over for good? An engine that is always woken again never gets there. */
static void await_quiet(void *user, struct laz_engine *engine)
{
    struct pollfd loop = {.fd = laz_engine_fd(engine), .events = POLLIN};
    unsigned turns = 0;

    do {
        CU_ASSERT_EQUAL(laz_engine_step(engine, 0, NULL), 0);
    } while (poll(&loop, 1, 0) > 0 && ++turns < 10000);
    *(unsigned *)user = turns;
}

/* The one who tells them stands still; meanwhile an idle place, which is not for them, is let be.
 */
static void callers_that_are_cancelled_wake_no_engine(void)
{
    struct laz_group *group = gates_group("pool.reset=false", 2);
    struct laz_group_pool *pool = pool_of(group, 2);
    struct gate_told held[2] = {{0}}, waits = {0};
    struct gate_halt halt;
    unsigned turns = 0;

    for (unsigned i = 0; i < 2; i++) {
        ask(pool, GATE("a"), &held[i]);
        gates_await(i + 1);
    }
    ask(pool, "return 1", &waits);
    gate_halt_begin(&halt, group, 0); /* the clerk */
    laz_group_cancel(group);
    gate_told_await(&held[pthread_equal(gate_thread(0), group->lanes[1].thread) ? 0 : 1]);
    while (!status_of(pool).idle) /* started anew */
        gates_run(group, 1, nothing, NULL);
    gates_run(group, 1, await_quiet, &turns);
    CU_ASSERT(turns < 10000);
    gate_halt_end(&halt);
    gate_told_await(&waits);
    CU_ASSERT_EQUAL(waits.code, LAZ_ECANCELLED);
    gates_open_all();
    laz_group_free(group);
}

/* ---- starts that fail -------------------------------------------------------------------------
 */

static char missing[] = "/nonexistent/lazaret-agent";

static void break_agent(void *user, struct laz_engine *engine)
{
    engine->boxes.agent = user ? user : engine->agent;
}

static void fail_twice(struct laz_group *group, struct laz_group_pool *pool)
{
    struct laz_result *result = NULL;
    struct laz_error err = {0};

    for (int i = 0; i < 2; i++) { /* each retries at once, for its caller */
        int rc =
            laz_group_pool_execute(pool, LAZ_NO_LIMIT, "return 1", SIZE_MAX, NULL, &result, &err);
        CU_ASSERT(rc < 0 && rc == err.code && !result && strstr(err.text, missing));
        settle(group);
        CU_ASSERT_EQUAL(status_of(pool).dead, 2);
    }
}

static void starts_that_fail_are_told_and_tried_again(void)
{
    struct laz_group *group = gates_group("pool.reset=false", 2);
    struct laz_group_pool *pool = pool_of(group, 2), *none = NULL;
    struct laz_result *result = NULL;
    struct laz_error err = {0};
    char leave[] = "os.exit(3)";

    for (int i = 0; i < 2; i++) {
        gates_hold_clock(group, i); /* the pool tries nothing by itself */
        gates_run(group, i, break_agent, missing);
    }
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(
            laz_group_pool_execute(pool, LAZ_NO_LIMIT, leave, SIZE_MAX, NULL, &result, NULL), 0);
        CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_ERROR);
        laz_result_free(result);
    }
    fail_twice(group, pool);
    CU_ASSERT(laz_group_pool_new(group, NULL, &none, &err) < 0);
    CU_ASSERT_PTR_NULL(none);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, missing));
    for (int i = 0; i < 2; i++)
        gates_run(group, i, break_agent, NULL);
    result = NULL;
    CU_ASSERT_EQUAL(
        laz_group_pool_execute(pool, LAZ_NO_LIMIT, "return 7", SIZE_MAX, NULL, &result, NULL), 0);
    UNIT_TEXT(laz_result_value(result), "7");
    laz_result_free(result);
    CU_ASSERT_EQUAL(atomic_load(&group->pooled), 2);
    laz_group_free(group);
}

/* An agent that starts once: of several places all but one fail. */
static void only_one_start(void *user, struct laz_engine *engine)
{
    static char script[80];
    char text[512];
    const char *directory = user;

    snprintf(script, sizeof script, "%s/agent", directory);
    snprintf(text, sizeof text, "#!/bin/sh\nmkdir %s/once 2>/dev/null || exit 1\nexec %s \"$@\"\n",
             directory, engine->agent);
    FILE *file = fopen(script, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT(fputs(text, file) >= 0);
    CU_ASSERT_EQUAL(fclose(file), 0);
    CU_ASSERT_EQUAL(chmod(script, 0755), 0);
    engine->boxes.agent = script;
}

/* Whichever of the places of an engine it is. */
static void a_place_that_fails_is_the_error_of_a_new_pool(void)
{
    struct laz_group *group = gates_group("", 1);
    const struct laz_pool_options four = {.size = sizeof four, .members = 4};
    struct laz_group_pool *pool = NULL;
    struct laz_error err = {0};
    char directory[] = "/tmp/laz-test-XXXXXX";

    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(directory));
    gates_run(group, 0, only_one_start, directory);
    CU_ASSERT_EQUAL(laz_group_pool_new(group, &four, &pool, &err), LAZ_ESETUP);
    CU_ASSERT(!pool && err.code == LAZ_ESETUP && *err.text);
    gates_run(group, 0, break_agent, NULL);
    laz_group_free(group);
    laz_os_remove_tree(directory);
}

/* ---- the end ----------------------------------------------------------------------------------
 */

static void try_all(struct gate_told *told)
{
    struct laz_result *result = NULL;

    (void)told;
    inside.sync = laz_group_pool_execute(inside.pool, 0, "1", SIZE_MAX, NULL, &result, NULL);
    inside.status = status_of(inside.pool);
    laz_group_pool_free(inside.pool); /* no effect */
}

static void ask_again(struct gate_told *told)
{
    try_all(told); /* as in an engine's thread, though this one frees */
    laz_group_free(inside.group);
    inside.again = laz_group_pool_execute_async(inside.pool, LAZ_NO_LIMIT, "1", SIZE_MAX, NULL,
                                                gate_tell, told, NULL);
}

static void a_callback_cannot_wait_for_a_place(void)
{
    struct gate_told told = {.then = try_all}, next = {0};

    inside.group = gates_group("pool.reset=false", 2);
    inside.pool = pool_of(inside.group, 2);
    ask(inside.pool, "return 1", &told);
    gate_told_await(&told);
    CU_ASSERT_EQUAL(inside.sync, LAZ_EBUSY);
    CU_ASSERT_EQUAL(inside.status.idle, 2); /* its own is back */
    ask(inside.pool, "return 2", &next);
    gate_told_await(&next);
    UNIT_TEXT(next.text, "2");
    laz_group_free(inside.group);
}

/* `whole`: the group is freed, and not the pool alone. */
static void freeing_tells_all(bool whole)
{
    struct gate_told held[2] = {{0}}, waits[4] = {{0}};
    struct laz_error err = {0};

    inside.group = gates_group("", 2);
    inside.pool = pool_of(inside.group, 2);
    for (unsigned i = 0; i < 2; i++)
        ask(inside.pool, GATE("a"), &held[i]);
    gates_await(2);
    for (unsigned i = 0; i < 4; i++)
        ask_for(inside.pool, i % 2 ? 600000 : LAZ_NO_LIMIT, "return 1", &waits[i]);
    waits[0].then = ask_again;
    if (whole)
        laz_group_free(inside.group);
    else
        laz_group_pool_free(inside.pool);
    for (unsigned i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL(waits[i].times, 1);
        CU_ASSERT_EQUAL(waits[i].code, LAZ_ECLOSED);
        UNIT_TEXT(waits[i].text, "Pool is closed");
        CU_ASSERT(pthread_equal(waits[i].thread, pthread_self())); /* that frees */
    }
    CU_ASSERT_EQUAL(inside.sync, LAZ_EBUSY);
    CU_ASSERT_EQUAL(inside.again, LAZ_ECLOSED);
    for (unsigned i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(held[i].times, 1);
        CU_ASSERT_EQUAL(held[i].verdict, LAZ_VERDICT_CANCELLED);
    }
    gates_open_all();
    if (whole)
        return;
    struct laz_result *result = NULL; /* the group goes on */
    CU_ASSERT_EQUAL(
        laz_group_execute(inside.group, NULL, "return 4", SIZE_MAX, NULL, &result, &err), 0);
    UNIT_TEXT(laz_result_value(result), "4");
    laz_result_free(result);
    laz_group_free(inside.group);
}

static void freeing_a_pool_tells_all(void)
{
    freeing_tells_all(false);
}

static void freeing_the_group_tells_all(void)
{
    freeing_tells_all(true);
}

/* Threads that wait in a function of the group. */
struct waiting {
    struct laz_group *group;
    int rc;
};

static void *wait_for_run(void *user)
{
    struct waiting *waiting = user;

    waiting->rc = laz_group_run(waiting->group, 0, nothing, NULL, NULL);
    return NULL;
}

static void *wait_for_pool(void *user)
{
    struct waiting *waiting = user;
    struct laz_group_pool *pool = NULL;

    waiting->rc = laz_group_pool_new(waiting->group, NULL, &pool, NULL);
    CU_ASSERT_PTR_NULL(pool);
    return NULL;
}

static void *wait_for_approver(void *user)
{
    struct waiting *waiting = user;

    waiting->rc = laz_group_set_approver(waiting->group, NULL, NULL, NULL);
    return NULL;
}

static void *free_group(void *user)
{
    laz_group_free(user);
    return NULL;
}

static void who_waits_has_left_before_the_group_is_gone(void)
{
    static void *(*const waits[])(void *) = {wait_for_run, wait_for_pool, wait_for_approver};
    struct laz_group *group = gates_group("", 2);
    struct waiting waiting[3] = {{0}};
    pthread_t threads[3], frees;
    struct gate_halt halt;

    gate_halt_begin(&halt, group, 0);
    for (unsigned i = 0; i < 3; i++) {
        waiting[i].group = group;
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, waits[i], &waiting[i]), 0);
    }
    while (atomic_load(&group->inside) < 4)
        CU_ASSERT_EQUAL(sched_yield(), 0);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&frees, NULL, free_group, group), 0);
    while (!atomic_load(&group->closed))
        CU_ASSERT_EQUAL(sched_yield(), 0);
    gate_halt_end(&halt);
    for (unsigned i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(pthread_join(threads[i], NULL), 0);
        CU_ASSERT_EQUAL(waiting[i].rc, LAZ_ECLOSED);
    }
    CU_ASSERT_EQUAL(pthread_join(frees, NULL), 0);
}

/* ---- many ------------------------------------------------------------------------------------ */

#define MANY 40

/* Callers come from callbacks of all engines and from this thread. */
static void ask_once_more(struct gate_told *told)
{
    struct gate_told *next = told->user;

    if (next)
        (void)laz_group_pool_execute_async(inside.pool, LAZ_NO_LIMIT, "return 1", SIZE_MAX, NULL,
                                           gate_tell, next, NULL);
}

static void many_callers_are_told_once(void)
{
    static struct gate_told told[2][MANY];

    memset(told, 0, sizeof told);
    inside.group = gates_group("pool.reset=false", 3);
    inside.pool = pool_of(inside.group, 5);
    for (unsigned i = 0; i < MANY; i++) {
        told[0][i].then = ask_once_more;
        told[0][i].user = &told[1][i];
        ask(inside.pool, "return 1", &told[0][i]);
    }
    for (unsigned k = 0; k < 2; k++)
        for (unsigned i = 0; i < MANY; i++) {
            gate_told_await(&told[k][i]);
            UNIT_TEXT(told[k][i].text, "1");
        }
    CU_ASSERT_EQUAL(status_of(inside.pool).waiting, 0);
    CU_ASSERT_EQUAL(status_of(inside.pool).idle, 5);
    for (unsigned i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(laz_group_load(inside.group, i), 0);
    laz_group_free(inside.group);
    for (unsigned i = 0; i < MANY; i++)
        CU_ASSERT_EQUAL(told[0][i].times + told[1][i].times, 2);
}

static const struct unit_test tests[] = {
    UNIT(each_engine_gets_a_place_before_one_gets_two),
    UNIT(callers_are_served_in_their_order),
    UNIT(a_promised_place_does_not_stop_the_clock),
    UNIT(a_caller_is_served_by_another_engine),
    UNIT(a_caller_does_not_depend_on_a_session_that_has_died),
    UNIT(the_clock_of_a_wait_is_that_of_the_group),
    UNIT(a_call_between_two_waits_is_not_lost),
    UNIT(a_cancel_ends_the_waits),
    UNIT(starts_that_are_cancelled_are_made_again),
    UNIT(callers_that_are_cancelled_wake_no_engine),
    UNIT(starts_that_fail_are_told_and_tried_again),
    UNIT(a_place_that_fails_is_the_error_of_a_new_pool),
    UNIT(a_callback_cannot_wait_for_a_place),
    UNIT(freeing_a_pool_tells_all),
    UNIT(freeing_the_group_tells_all),
    UNIT(who_waits_has_left_before_the_group_is_gone),
    UNIT(many_callers_are_told_once),
    {0},
};

int main(void)
{
    return unit_run("group pool", tests);
}
