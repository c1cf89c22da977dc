/* SPDX-License-Identifier: MIT */
/* test_looks.c - looks at the processes of sessions: one that does not come back, or takes too much
 * CPU time, ends its session and delays no other.
 *
 * The looks of one session are held up on their thread, and the clock of the engine by the test. */
#include "live.h"

#include "engine/engine.h"
#include "session/execution.h"
#include "session/looks.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Longer than any test: a limit that is to be counted, with sanitizers the only one. */
#define LONG    "limits.cpu=1000000"
#define TICKS   10
#define TICK_MS 3000

/* Holds the looks of a session. */
static struct {
    _Atomic(void *) of;       /* their user; NULL: of none */
    _Atomic uint64_t most_us; /* what they may take; UINT64_MAX: as it is */
    atomic_bool passes;       /* they are not held */
    sem_t begun, open;
} held;

static void hold(void *user, struct laz_tree_look *look)
{
    (void)user;
    if (look->user != held.of)
        return;
    if (held.most_us != UINT64_MAX)
        look->most_us = held.most_us;
    if (held.passes)
        return;
    sem_post(&held.begun);
    while (sem_wait(&held.open) != 0)
        ;
}

static void hold_looks(struct laz_looks *looks, void *of)
{
    held.of = of;
    held.most_us = UINT64_MAX;
    held.passes = false;
    CU_ASSERT_EQUAL_FATAL(sem_init(&held.begun, 0, 0) | sem_init(&held.open, 0, 0), 0);
    laz_looks_hold(looks, hold, NULL);
}

static void step(struct laz_session *session, int64_t ms)
{
    CU_ASSERT_EQUAL(laz_engine_step(test_engine_of(session), ms, NULL), 0);
}

static void advance(struct laz_session *session, uint64_t ms)
{
    test_advance_clock(test_engine_of(session), ms);
    step(session, 0);
}

/* Where a group counts memory, a tenth look is one for locks. */
static void await_a_look(struct laz_session *session)
{
    while (!session->guard.look)
        advance(session, 200);
    while (sem_wait(&held.begun) != 0)
        ;
}

struct outcome {
    unsigned n;
    enum laz_verdict verdict;
    char detail[512], value[32];
    bool is_uncounted;
};

static void done(void *user, struct laz_result *result, const struct laz_error *err)
{
    struct outcome *outcome = user;

    (void)err;
    outcome->n++;
    CU_ASSERT_PTR_NOT_NULL(result);
    if (!result)
        return;
    outcome->verdict = laz_result_verdict(result);
    snprintf(outcome->detail, sizeof outcome->detail, "%s", laz_result_detail(result));
    snprintf(outcome->value, sizeof outcome->value, "%s", laz_result_value(result));
    outcome->is_uncounted = strstr(laz_result_json(result), "\"uncounted\":true") != NULL;
    laz_result_free(result);
}

static void begin(struct laz_session *session, const char *code, struct outcome *outcome)
{
    struct laz_error err = {0};

    *outcome = (struct outcome){0};
    CU_ASSERT_EQUAL(laz_session_execute_async(session, code, SIZE_MAX, NULL, done, outcome, &err),
                    0);
    step(session, 0);
}

static void is_uncounted(struct laz_session *session, const struct outcome *outcome)
{
    while (!outcome->n)
        step(session, -1);
    CU_ASSERT_EQUAL(outcome->verdict, LAZ_VERDICT_MEMORY_LIMIT);
    CU_ASSERT_PTR_NOT_NULL(strstr(outcome->detail, "cannot be counted"));
    CU_ASSERT_TRUE(outcome->is_uncounted);
    UNIT_TEXT(outcome->value, "null");
}

static const char waits[] = "os.execute('exec sleep 3000')";

/* Calls `body` with two sessions of Lua; the looks of the first are held. */
static void with_two(const char *settings, void (*body)(struct laz_session *, struct laz_session *))
{
    struct laz_engine *engine = test_engine(settings);
    struct laz_session *session = test_session(engine, "lua"), *other = NULL;

    if (session)
        other = test_session(engine, "lua");
    if (other) {
        hold_looks(session->shared->looks, session);
        test_hold_clock(engine);
        body(session, other);
        held.of = NULL;
    }
    laz_engine_free(engine);
}

#define MANY 20

/* As many looks as an engine may well have are out: one more has a thread. */
static void many_that_are_held_delay_no_other(void)
{
    struct laz_engine *engine = test_engine("");
    struct laz_session *held_ones[MANY] = {NULL}, *other = test_session(engine, "lua");
    struct outcome outcomes[MANY];

    test_hold_clock(engine);
    for (int i = 0; i < MANY; i++) {
        held_ones[i] = test_session(engine, "lua");
        if (!i)
            hold_looks(held_ones[0]->shared->looks, held_ones[0]);
        held.of = held_ones[i];
        begin(held_ones[i], waits, &outcomes[i]);
        await_a_look(held_ones[i]);
    }
    held.of = other;
    begin(other, waits, &outcomes[0]);
    await_a_look(other); /* it has begun */
    held.of = NULL;
    for (int i = 0; i < MANY + 1; i++)
        sem_post(&held.open);
    laz_engine_free(engine);
}

static void ends_while_it_runs(struct laz_session *session, struct laz_session *other)
{
    struct outcome outcome;

    begin(session, waits, &outcome);
    await_a_look(session);
    test_expect(other, "return 2", LAZ_VERDICT_OK, "2");
    for (int i = 1; i < TICKS; i++)
        advance(session, TICK_MS);
    test_expect(other, "return 3", LAZ_VERDICT_OK, "3");
    CU_ASSERT_EQUAL(outcome.n, 0);
    advance(session, TICK_MS);
    is_uncounted(session, &outcome);
    held.of = NULL;
    test_expect(session, "return 4", LAZ_VERDICT_OK, "4"); /* in another box */
    test_expect(other, "return 5", LAZ_VERDICT_OK, "5");
    sem_post(&held.open);
}

static void a_look_that_does_not_come_back_ends_its_session_and_delays_no_other(void)
{
    with_two("", ends_while_it_runs);
}

static void goes_on_slowly(struct laz_session *session, struct laz_session *other)
{
    struct outcome outcome;

    (void)other;
    begin(session, waits, &outcome);
    await_a_look(session);
    for (int i = 0; i < 3 * TICKS; i++) {
        atomic_fetch_add(&session->guard.look->tree.steps, 1);
        advance(session, TICK_MS);
    }
    CU_ASSERT_EQUAL(outcome.n, 0);
    for (int i = 1; i < TICKS; i++)
        advance(session, TICK_MS);
    is_uncounted(session, &outcome);
    sem_post(&held.open);
}

static void a_look_that_goes_on_slowly_is_no_fault(void)
{
    with_two(LONG, goes_on_slowly);
}

static void ends_while_it_is_idle(struct laz_session *session, struct laz_session *other)
{
    struct laz_result *result;

    held.passes = true;
    test_expect(session, "return 1", LAZ_VERDICT_OK, "1");
    while (session->guard.look)
        step(session, -1);
    held.passes = false;
    await_a_look(session);
    for (int i = 1; i < TICKS; i++)
        advance(session, TICK_MS);
    CU_ASSERT_TRUE(laz_session_is_alive(session));
    test_expect(other, "return 2", LAZ_VERDICT_OK, "2");
    advance(session, TICK_MS);
    CU_ASSERT_FALSE(laz_session_is_alive(session));
    held.passes = true;
    result = test_run(session, "return 1", NULL);
    UNIT_TEXT(laz_result_replaced(result), "memory_limit");
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_result_warning(result, 0), "cannot be counted"));
    laz_result_free(result);
    held.passes = false;
    test_expect(other, "return 3", LAZ_VERDICT_OK, "3");
    sem_post(&held.open);
}

static void an_idle_session_is_ended_as_well(void)
{
    with_two("limits.cpu=1", ends_while_it_is_idle);
}

/* The time is counted from when a thread has begun, and a pause of the host is not a part of it:
 * its clock may be any time later when it goes on. */
static void is_patient(struct laz_session *session, struct laz_session *other)
{
    struct outcome outcome;

    (void)other;
    begin(session, waits, &outcome);
    await_a_look(session);
    for (int i = 1; i < TICKS; i++)
        advance(session, 3600000);
    CU_ASSERT_EQUAL(outcome.n, 0);
    sem_post(&held.open);
    while (session->guard.look)
        step(session, -1);
    CU_ASSERT_EQUAL(outcome.n, 0);
    held.of = NULL;
    laz_session_cancel(session);
    while (!outcome.n)
        step(session, -1);
    CU_ASSERT_EQUAL(outcome.verdict, LAZ_VERDICT_CANCELLED);
}

static void a_host_that_was_stopped_blames_no_session(void)
{
    with_two(LONG, is_patient);
}

/* Of its thread, however busy the machine is. */
static void takes_too_much(struct laz_session *session, struct laz_session *other)
{
    struct outcome outcome;

    held.passes = true;
    held.most_us = 0;
    begin(session, waits, &outcome);
    while (!outcome.n) {
        while (session->guard.look && !outcome.n)
            step(session, -1);
        advance(session, 200);
    }
    is_uncounted(session, &outcome);
    test_expect(other, "return 2", LAZ_VERDICT_OK, "2");
}

static void a_look_that_takes_too_much_cpu_time_ends_its_session(void)
{
    with_two("", takes_too_much);
}

/* So many executions were too short to be looked at that the next one has to be. */
static void owe_a_look(struct laz_session *session)
{
    held.passes = true;
    test_expect(session, "return 1", LAZ_VERDICT_OK, "1");
    while (session->guard.look)
        step(session, -1);
    held.passes = false;
    session->guard.unlooked_us = 1000000;
    session->guard.tree.kernel_bytes = 0; /* for locks, where a group counts memory */
}

static void holds_the_outcome(struct laz_session *session, struct laz_session *other)
{
    struct outcome outcome;

    for (int late = 0; late < 2; late++) {
        owe_a_look(session);
        begin(session, "return 7", &outcome);
        while (!session->execution || !session->execution->over)
            step(session, -1);
        step(session, 0);
        CU_ASSERT_EQUAL(outcome.n, 0);
        test_expect(other, "return 2", LAZ_VERDICT_OK, "2");
        while (sem_wait(&held.begun) != 0)
            ;
        for (int i = 0; i < TICKS && late; i++)
            advance(session, TICK_MS);
        sem_post(&held.open);
        while (!outcome.n)
            step(session, -1);
        if (late)
            is_uncounted(session, &outcome);
        else
            UNIT_TEXT(outcome.value, "7");
    }
    held.of = NULL;
    test_expect(session, "return 4", LAZ_VERDICT_OK, "4");
}

static void nobody_escapes_a_look_by_being_short(void)
{
    with_two("", holds_the_outcome);
}

/* Without waiting for its thread longer than a second. */
static void is_left_behind(struct laz_session *session, struct laz_session *other)
{
    struct outcome outcome;

    (void)other;
    begin(session, waits, &outcome);
    await_a_look(session);
    laz_session_free(session);
    CU_ASSERT_EQUAL(outcome.n, 1);
    CU_ASSERT_EQUAL(outcome.verdict, LAZ_VERDICT_CANCELLED);
}

static void an_engine_is_freed_though_a_look_does_not_come_back(void)
{
    with_two("", is_left_behind);
    sem_post(&held.open);
}

/* The host has no descriptor for a look. What it finds then is not what there is. */
static void lacks_descriptors(struct laz_session *session, struct laz_session *other)
{
    struct rlimit before, none;
    struct outcome outcome;

    (void)other;
    held.of = NULL;
    begin(session, waits, &outcome);
    CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){STDERR_FILENO + 1, before.rlim_max};
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &none), 0);
    while (session->execution && session->execution->stop == LAZ_STOP_NONE)
        if (session->guard.look)
            step(session, -1);
        else
            advance(session, 200);
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &before), 0);
    while (!outcome.n)
        step(session, -1);
    CU_ASSERT_EQUAL(outcome.verdict, LAZ_VERDICT_CRASHED);
    CU_ASSERT_PTR_NOT_NULL(strstr(outcome.detail, "the host lacks descriptors"));
    test_expect(session, "return 4", LAZ_VERDICT_OK, "4"); /* in another box */
}

static void a_host_without_descriptors_for_looks_gives_the_session_up(void)
{
    with_two("", lacks_descriptors);
}

/* ---- threads -------------------------------------------------------------------------------- */

#define MORE 100

static void back(void *user)
{
    ++*(unsigned *)user;
}

/* More looks than there are threads: those that wait for one have not begun, and are dropped
 * without one. The others come back, or are freed by their threads. */
static void a_look_that_waits_for_a_thread_has_not_begun(void)
{
    struct laz_tree_look *looks[MORE];
    struct laz_looks *threads = NULL;
    struct laz_loop *loop = NULL;
    unsigned n = 0, begun = 0;

    CU_ASSERT_EQUAL_FATAL(laz_loop_new(&loop, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(laz_looks_new(loop, &threads, NULL), 0);
    hold_looks(threads, &n);
    for (int i = 0; i < MORE; i++) {
        looks[i] = calloc(1, sizeof *looks[i]);
        CU_ASSERT_PTR_NOT_NULL_FATAL(looks[i]);
        looks[i]->back = back;
        looks[i]->user = &n;
        looks[i]->most_us = UINT64_MAX / 2;
        looks[i]->tree.root = -1; /* no process */
        CU_ASSERT_TRUE_FATAL(laz_tree_look_send(threads, looks[i]));
    }
    while (sem_wait(&held.begun) != 0)
        ;
    for (int i = MORE - 1; i > 0; i--)
        if (!laz_tree_look_steps(looks[i])) {
            laz_tree_look_drop(looks[i]);
            looks[i] = NULL;
        }
    for (int i = 0; i < MORE; i++) {
        begun += looks[i] != NULL;
        sem_post(&held.open);
    }
    CU_ASSERT(begun >= 1 && begun < MORE);
    while (n < begun)
        laz_loop_step(loop, LAZ_LOOP_FOREVER);
    CU_ASSERT_EQUAL(n, begun);
    for (int i = 0; i < MORE; i++)
        laz_tree_look_free(looks[i]);
    laz_looks_free(threads);
    laz_loop_free(loop);
}

static const struct unit_test tests[] = {
    UNIT(many_that_are_held_delay_no_other),
    UNIT(a_look_that_waits_for_a_thread_has_not_begun),
    UNIT(a_look_that_does_not_come_back_ends_its_session_and_delays_no_other),
    UNIT(a_look_that_goes_on_slowly_is_no_fault),
    UNIT(an_idle_session_is_ended_as_well),
    UNIT(a_host_that_was_stopped_blames_no_session),
    UNIT(a_look_that_takes_too_much_cpu_time_ends_its_session),
    UNIT(nobody_escapes_a_look_by_being_short),
    UNIT(a_host_without_descriptors_for_looks_gives_the_session_up),
    UNIT(an_engine_is_freed_though_a_look_does_not_come_back),
    {0},
};

int main(void)
{
    return unit_run("looks", tests);
}
