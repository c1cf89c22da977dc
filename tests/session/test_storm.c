/* SPDX-License-Identifier: MIT */
/* test_storm.c - thousands of random and broken messages (half of them with sanitizers; twice as
 * many with LAZARET_TEST_FULL), in every state of a session: the host neither crashes nor hangs,
 * every execution has a verdict, and the next one works.
 *
 * The agent is the mock with tests/mock/storm.c. The first seed is LAZARET_TEST_SEED, or a
 * different one each time, and is printed. A storm ends with a call that has to be answered:
 * otherwise the test hangs, because the clock of the engine is held. */
#include "live.h"
#include "sight.h"
#include "traces.h"

#include "base/buf.h"
#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STORM_RUNNING 6000 /* messages during executions */
#define STORM_BOXED   400
#define STORM_IDLE    150
#define STORM_STARTS  20 /* starts in each of its two states */

static unsigned long storm_sample(unsigned long n)
{
    return sight_sample(sight_is_full() ? 2 * n : n);
}

static unsigned long storm_seed(void)
{
    static unsigned long seed;

    if (!seed) {
        const char *given = getenv("LAZARET_TEST_SEED");
        seed = given ? strtoul(given, NULL, 10) : (unsigned long)(laz_clock_us() % 1000000000);
        printf("\n    seed %lu; LAZARET_TEST_SEED=%lu repeats it", seed, seed);
    }
    return seed++;
}

/* Number of messages sent: one dot each on standard error. */
static size_t storm_sent(const struct laz_result *result)
{
    char *dots = test_output(result, LAZ_STDERR);
    size_t n = 0;

    for (const char *at = dots; at && *at; at++)
        n += *at == '.';
    free(dots);
    return n;
}

static void storm_judge(const struct laz_result *result, const char *code, unsigned *verdicts)
{
    enum laz_verdict verdict = laz_result_verdict(result);

    verdicts[verdict]++;
    bool good = verdict == LAZ_VERDICT_OK || verdict == LAZ_VERDICT_ERROR ||
                verdict == LAZ_VERDICT_PROTOCOL_ERROR || verdict == LAZ_VERDICT_CRASHED ||
                verdict == LAZ_VERDICT_SETUP_FAILED;
    if (!good)
        printf("\n    %s: %s (%s)", code, laz_verdict_name(verdict), laz_result_detail(result));
    CU_ASSERT(good);
}

/* Checks that the session works. If a message of the storm was a valid outcome, later messages may
 * arrive during the next execution and be taken for its own. */
static void storm_is_over(struct laz_session *session)
{
    unsigned verdicts[64] = {0};
    struct laz_result *result = test_run(session, "ok 42", NULL);

    if (result)
        storm_judge(result, "ok 42", verdicts);
    laz_result_free(result);
    if (verdicts[LAZ_VERDICT_OK] == 0)
        test_expect(session, "ok 42", LAZ_VERDICT_OK, "42");
}

/* Executes `script SEED 40` until that many messages were sent. */
static void storm_run(struct laz_session *session, const char *script, size_t messages)
{
    unsigned verdicts[64] = {0};
    size_t sent = 0, executions = 0;
    int64_t pid = -1, boxes = 0;
    char code[100];

    while (sent < messages && executions < messages) {
        snprintf(code, sizeof code, "%s %lu 40\nok 7", script, storm_seed());
        struct laz_result *result = test_run(session, code, NULL);
        if (!result)
            return;
        storm_judge(result, code, verdicts);
        sent += storm_sent(result);
        if (laz_result_verdict(result) == LAZ_VERDICT_PROTOCOL_ERROR)
            test_expect(session, "ok 42", LAZ_VERDICT_OK, "42");
        else
            storm_is_over(session);
        laz_result_free(result);
        boxes += laz_session_pid(session) != pid;
        pid = laz_session_pid(session);
        executions++;
    }
    printf("\n    %zu messages, %zu executions, %lld boxes; ok %u, error %u, protocol_error %u ",
           sent, executions, (long long)boxes, verdicts[LAZ_VERDICT_OK],
           verdicts[LAZ_VERDICT_ERROR], verdicts[LAZ_VERDICT_PROTOCOL_ERROR]);
    CU_ASSERT(verdicts[LAZ_VERDICT_PROTOCOL_ERROR] > 0);
    /* About one in five succeeds; of a few it may be none. */
    CU_ASSERT(verdicts[LAZ_VERDICT_OK] > 0 || executions < 100);
}

static void storm_with(struct laz_engine *engine, const char *script, size_t messages)
{
    int children = trace_children();

    if (engine)
        test_hold_clock(engine);
    struct laz_session *session = test_session(engine, "lua");

    if (session)
        storm_run(session, script, messages);
    laz_engine_free(engine);
    CU_ASSERT_EQUAL(trace_children(), children);
}

static void storms_while_running_end_in_a_verdict(void)
{
    storm_with(test_engine_open(""), "storm", storm_sample(STORM_RUNNING));
}

static void storms_out_of_a_real_box_end_in_a_verdict(void)
{
    storm_with(test_engine(""), "storm", STORM_BOXED);
}

/* Messages after the outcome end the box, and never reach the next execution. */
static void storms_while_idle_cost_the_box(void)
{
    struct laz_engine *engine = test_engine_open("");
    char code[100];

    if (engine)
        test_hold_clock(engine);
    struct laz_session *session = test_session(engine, "lua");

    for (unsigned i = 0; session && i < storm_sample(STORM_IDLE); i++) {
        snprintf(code, sizeof code, "ok 1\n%sstorm %lu 1", i % 2 ? "sync\n" : "", storm_seed());
        test_expect(session, code, LAZ_VERDICT_OK, "1");
        storm_is_over(session);
    }
    laz_engine_free(engine);
}

/* A failed start has a reason; a successful one works. */
static void storm_start(const char *before)
{
    struct laz_session_options options = {.size = sizeof options, .runtime = "lua"};
    const unsigned long starts = storm_sample(STORM_STARTS);
    unsigned verdicts[64] = {0};

    for (unsigned long i = 0; i < starts; i++) {
        char *settings =
            laz_strdupf("env.set={MOCK_START='connect|%sstorm %lu 5|ready'}", before, storm_seed());
        struct laz_engine *engine = test_engine_open(settings);
        if (engine)
            test_hold_clock(engine);
        struct laz_result *result = NULL;
        struct laz_error err = {0};
        int rc = engine ? laz_execute(engine, &options, "ok 42", SIZE_MAX, NULL, &result, &err)
                        : LAZ_ENOENT;
        if (rc == LAZ_ENOENT) {
            unit_skip("lua", err.text);
            i = starts;
        } else {
            CU_ASSERT_EQUAL(rc, 0);
            if (result)
                storm_judge(result, settings, verdicts);
            CU_ASSERT(result != NULL);
        }
        laz_result_free(result);
        laz_engine_free(engine);
        free(settings);
    }
    /* A valid `ready` among them starts the session; later messages are then judged as above. */
    printf("%u failed ", verdicts[LAZ_VERDICT_SETUP_FAILED]);
    CU_ASSERT(verdicts[LAZ_VERDICT_SETUP_FAILED] > starts / 2);
}

static void storms_in_place_of_a_token_end_the_start(void)
{
    storm_start("");
}

static void storms_in_place_of_ready_end_the_start(void)
{
    storm_start("token|recv|");
}

static const struct unit_test tests[] = {
    UNIT(storms_while_running_end_in_a_verdict),  UNIT(storms_out_of_a_real_box_end_in_a_verdict),
    UNIT(storms_while_idle_cost_the_box),         UNIT(storms_in_place_of_a_token_end_the_start),
    UNIT(storms_in_place_of_ready_end_the_start), {0},
};

int main(void)
{
    test_mock_agent();
    return unit_run("storm", tests);
}
