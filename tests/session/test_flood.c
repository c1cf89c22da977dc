/* SPDX-License-Identifier: MIT */
/* test_flood.c - a peer that wastes what is not its own: time, the log, the host's attention.
 *
 * The agent is the mock of tests/mock/agent.c, in a real box; code is a script of what it does. */
#include "session.h"
#include "traces.h"

#include "base/buf.h"
#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define BROKE "The sandbox broke the protocol: "
#define LATE  "a message was begun and not finished within 5 seconds"
#define NOPE  "{\"type\":\"tool_call\",\"id\":$i,\"tool\":\"nope\"}"

/* One session of one engine for `body`. */
static void with_session(const char *settings, void (*body)(struct laz_session *))
{
    struct laz_engine *engine = test_engine(settings);
    struct laz_session *session = test_session(engine, "lua");

    if (session)
        body(session);
    laz_engine_free(engine);
}

/* ---- time ----------------------------------------------------------------------------------- */

static void body_of_slow_lines(struct laz_session *session)
{
    int64_t pid = laz_session_pid(session);

    test_expect(session, "drip 20 {\"type\":\"result\",\"id\":$id,\"value\":5}", LAZ_VERDICT_OK,
                "5");
    CU_ASSERT_EQUAL(laz_session_pid(session), pid); /* slow is allowed */
    uint64_t began = laz_clock_ms();
    test_expect_error(session, "drip 900 {\"type\":\"result\",\"id\":$id,\"value\":5}",
                      LAZ_VERDICT_PROTOCOL_ERROR, BROKE LATE);
    uint64_t took = laz_clock_ms() - began;
    CU_ASSERT(took >= 5000 && took < 20000); /* the whole of it would take longer */
    test_expect(session, "ok 42", LAZ_VERDICT_OK, "42");
    CU_ASSERT_NOT_EQUAL(laz_session_pid(session), pid);
}

static void a_message_that_was_begun_is_finished_in_time(void)
{
    with_session("", body_of_slow_lines);
}

/* Each message has its own five seconds, and an answer that is awaited is no message begun. */
static void body_of_many_slow_lines(struct laz_session *session)
{
    test_expect(session,
                "drip 40 {\"type\":\"tool_call\",\"id\":1,\"tool\":\"nothing\"}\n"
                "recv\n"
                "drip 40 {\"type\":\"tool_call\",\"id\":2,\"tool\":\"nothing\"}\n"
                "recv\n"
                "drip 40 {\"type\":\"tool_call\",\"id\":3,\"tool\":\"nothing\"}\n"
                "recv\n"
                "send {\"type\":\"tool_call\",\"id\":4,\"tool\":\"slow\",\"args\":{\"ms\":1000}}\n"
                "recv\nok $last",
                LAZ_VERDICT_OK, "{\"id\":4,\"value\":\"slow\"}");
}

static void each_message_has_a_time_of_its_own(void)
{
    with_session("", body_of_many_slow_lines);
}

static void ready_that_was_begun_is_finished_in_time(void)
{
    struct laz_session_options options = {.size = sizeof options, .runtime = "lua"};
    struct laz_engine *engine =
        test_engine("env.set={MOCK_START='connect|token|recv|raw {\"type\":|eof'};"
                    "session.start_timeout=60");
    struct laz_session *session = NULL;
    struct laz_error err = {0};
    uint64_t began = laz_clock_ms();

    int rc = engine ? laz_session_open(engine, &options, &session, &err) : LAZ_ENOENT;
    if (rc == LAZ_ENOENT) {
        unit_skip("lua", err.text);
    } else {
        CU_ASSERT_EQUAL(rc, LAZ_ESETUP);
        if (!strstr(err.text, LATE))
            printf("\n    says: %s", err.text);
        CU_ASSERT(strstr(err.text, LATE) != NULL);
        CU_ASSERT(laz_clock_ms() - began < 40000);
    }
    laz_engine_free(engine);
}

/* ---- refusals ------------------------------------------------------------------------------- */

static unsigned logged, logged_refusals;
static char last_refusal[200];

static void count_log(void *user, uint32_t level, const char *text)
{
    (void)user, (void)level;
    logged++;
    if (strstr(text, "refused")) {
        logged_refusals++;
        snprintf(last_refusal, sizeof last_refusal, "%s", text);
    }
}

/* An engine whose messages of all levels but debug are counted. */
static struct laz_engine *counting_engine(void)
{
    struct laz_engine_options options = {
        .size = sizeof options, .log = count_log, .log_level = LAZ_LOG_INFO};
    struct laz_engine *engine = NULL;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL(laz_engine_new(NULL, &options, &engine, &err), 0);
    logged = logged_refusals = 0;
    return engine;
}

static void refused_calls_fill_no_log(void)
{
    struct laz_engine *engine = counting_engine();
    struct laz_session *session = test_session(engine, "lua");

    if (session) {
        logged = 0;
        test_expect(session, "times 9999 " NOPE "\nok 1", LAZ_VERDICT_OK, "1");
        CU_ASSERT_EQUAL(logged_refusals, 11);
        CU_ASSERT(logged < 20);
        UNIT_TEXT(last_refusal, "Tool calls refused: 9989 more, not logged one by one");
        logged_refusals = 0;
        test_expect(session, "times 3 " NOPE "\nok 1", LAZ_VERDICT_OK, "1");
        CU_ASSERT_EQUAL(logged_refusals, 3);
    }
    laz_engine_free(engine);
}

static void body_of_refused_calls(struct laz_session *session)
{
    static const char wrong[] = "{\"type\":\"tool_call\",\"id\":$i,\"tool\":\"add\",\"args\":{}}";
    char code[200];

    snprintf(code, sizeof code, "times 20000 %s\nok 1", wrong);
    test_expect(session, "times 10000 " NOPE "\nok 1", LAZ_VERDICT_OK, "1");
    test_expect_error(session, code, LAZ_VERDICT_PROTOCOL_ERROR,
                      BROKE "more than 10000 tool calls were refused");
    test_expect(session, "ok 42", LAZ_VERDICT_OK, "42");
}

static void ten_thousand_refused_calls_are_enough(void)
{
    with_session("", body_of_refused_calls);
}

/* After the first message that is refused nothing more is read, or told. */
static void a_refused_peer_is_told_of_once(void)
{
    struct laz_engine *engine = counting_engine();
    struct laz_session *session = test_session(engine, "lua");

    if (session) {
        test_expect_error(session, "times 100000 {\"type\":\"dance\"}", LAZ_VERDICT_PROTOCOL_ERROR,
                          "unknown message 'dance'");
        CU_ASSERT_EQUAL(logged_refusals, 1);
        test_expect(session, "ok 42", LAZ_VERDICT_OK, "42");
        struct laz_session *other = test_session(engine, "lua");
        logged_refusals = 0;
        test_expect(session, "ok 1\nsync\ntimes 100000 {\"type\":\"dance\"}", LAZ_VERDICT_OK, "1");
        for (int i = 0; i < 100 && (i == 0 || !logged_refusals); i++)
            test_expect(other, "drip 10 {\"type\":\"result\",\"id\":$id,\"value\":5}",
                        LAZ_VERDICT_OK, "5"); /* meanwhile the loop hears the first one */
        CU_ASSERT_EQUAL(logged_refusals, 1);
        test_expect(session, "ok 42", LAZ_VERDICT_OK, "42");
    }
    laz_engine_free(engine);
}

/* ---- while others work ---------------------------------------------------------------------- */

/* Two sessions of one engine; the lua of `body` is the one that misbehaves. */
static void with_two(void (*body)(struct laz_session *bad, struct laz_session *good))
{
    struct laz_engine *engine = test_engine("session.timeout=20");
    struct laz_session *bad = test_session(engine, "lua");
    struct laz_session *good = bad ? test_session(engine, "lua") : NULL;

    if (good)
        body(bad, good);
    laz_engine_free(engine);
}

#define SLOW                                                                                       \
    "send {\"type\":\"tool_call\",\"id\":1,\"tool\":\"slow\",\"args\":{\"ms\":500}}\nrecv\nok 1"

/* Does the process end soon? It is no child that anybody else waits for. */
static bool is_gone(int64_t pid)
{
    return kill((pid_t)pid, 0) && errno == ESRCH;
}

static void body_of_idle_speech(struct laz_session *bad, struct laz_session *good)
{
    int64_t pid = laz_session_pid(bad);

    test_expect(bad, "ok 1\nsync\nsend garbage\nwait", LAZ_VERDICT_OK, "1");
    for (int i = 0; i < 40 && !is_gone(pid); i++)
        test_expect(good, SLOW, LAZ_VERDICT_OK, "1");
    CU_ASSERT_TRUE(is_gone(pid));
    CU_ASSERT_TRUE(laz_session_is_alive(bad));
    test_expect(bad, "ok 42", LAZ_VERDICT_OK, "42");
}

static void a_peer_that_speaks_while_idle_is_ended_at_once(void)
{
    with_two(body_of_idle_speech);
}

static double cpu_ms(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
}

/* The other process of the bad one writes as fast as it can, for ever. */
static void body_of_idle_output(struct laz_session *bad, struct laz_session *good)
{
    double before = cpu_ms();

    test_expect(good, SLOW, LAZ_VERDICT_OK, "1");
    double quiet = cpu_ms() - before;
    test_expect(bad, "spill 1000000000000\nok 1", LAZ_VERDICT_OK, "1");
    before = cpu_ms();
    test_expect(good, SLOW, LAZ_VERDICT_OK, "1");
    double loud = cpu_ms() - before;
    printf("%.1f ms, beside a flood %.1f ms ", quiet, loud);
    CU_ASSERT(loud < quiet + 100); /* of the 500 that it takes */
    test_expect(bad, "ok 42", LAZ_VERDICT_OK, "42");
}

static void output_that_nobody_wants_costs_nothing(void)
{
    with_two(body_of_idle_output);
}

/* What was written while idle is dropped; what is written then is not. */
static void body_of_later_output(struct laz_session *bad, struct laz_session *good)
{
    test_expect(bad, "spill 400000\nok 1", LAZ_VERDICT_OK, "1");
    test_expect(good, SLOW, LAZ_VERDICT_OK, "1");
    struct laz_result *result = test_run(bad, "print so it is\nok 2", NULL);
    if (result) {
        char *out = test_output(result, LAZ_STDOUT);
        CU_ASSERT(out && strstr(out, "so it is\n") != NULL);
        UNIT_TEXT(laz_result_value(result), "2");
        free(out);
    }
    laz_result_free(result);
}

static void output_is_heard_again_with_the_next_execution(void)
{
    with_two(body_of_later_output);
}

static const struct unit_test tests[] = {
    UNIT(a_message_that_was_begun_is_finished_in_time),
    UNIT(each_message_has_a_time_of_its_own),
    UNIT(ready_that_was_begun_is_finished_in_time),
    UNIT(refused_calls_fill_no_log),
    UNIT(ten_thousand_refused_calls_are_enough),
    UNIT(a_refused_peer_is_told_of_once),
    UNIT(a_peer_that_speaks_while_idle_is_ended_at_once),
    UNIT(output_that_nobody_wants_costs_nothing),
    UNIT(output_is_heard_again_with_the_next_execution),
    {0},
};

int main(void)
{
    test_mock_agent();
    return unit_run("flood", tests);
}
