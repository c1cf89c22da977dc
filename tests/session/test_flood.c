/* SPDX-License-Identifier: MIT */
/* test_flood.c - a peer that wastes the host's time, log and CPU; and one that sends messages
 * unasked.
 *
 * The agent is the mock of tests/mock/agent.c, in a real box; the code is its script. */
#include "live.h"
#include "traces.h"

#include "base/buf.h"
#include "session/session.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BROKE         "The sandbox broke the protocol: "
#define LATE          "a message was begun and not finished within 5 seconds"
#define RESULT(value) "{\"type\":\"result\",\"id\":$id,\"value\":" value "}"
#define NOPE          "{\"type\":\"tool_call\",\"id\":$i,\"tool\":\"nope\"}"

/* Opens a session for `body`, in an engine whose clock is held. */
static void with_session(const char *settings, void (*body)(struct laz_session *))
{
    struct laz_engine *engine = test_engine(settings);

    if (!engine)
        return;
    test_hold_clock(engine);
    struct laz_session *session = test_session(engine, "lua");
    if (session)
        body(session);
    laz_engine_free(engine);
}

/* ---- time ----------------------------------------------------------------------------------- */

/* Continues an agent that waits with `await`. */
static void go_on(const struct laz_session *session)
{
    CU_ASSERT_EQUAL(kill((pid_t)session->box->agent_pid, SIGUSR1), 0);
}

/* With each line that the agent prints the clock moves by this, and the agent continues. */
struct course {
    struct laz_session *session;
    const uint64_t *ms;
    size_t n, lines;
};

static void course_line(void *user, int stream, const char *text, size_t len)
{
    struct course *course = user;

    (void)stream, (void)text, (void)len;
    CU_ASSERT_FATAL(course->lines < course->n);
    test_advance_clock(test_engine_of(course->session), course->ms[course->lines++]);
    go_on(course->session);
}

/* Makes the agent wait until the host has read everything and may do something else. */
#define MEANWHILE "sync\nprint .\nawait\n"

static void body_of_slow_lines(struct laz_session *session)
{
    static const uint64_t slow[] = {3000, 1999}, late[] = {3000, 2000};
    struct course course = {session, slow, 2, 0};
    const struct laz_execute_options options = {
        .size = sizeof options, .line = course_line, .user = &course};
    int64_t pid = laz_session_pid(session);

    test_expect_with(session,
                     "raw {\"type\":\n" MEANWHILE "raw \"result\",\"id\":$id\n" MEANWHILE
                     "raw ,\"value\":5}\\n",
                     &options, LAZ_VERDICT_OK, "5");
    CU_ASSERT_EQUAL(course.lines, 2);
    CU_ASSERT_EQUAL(laz_session_pid(session), pid); /* slow is allowed */
    course = (struct course){session, late, 2, 0};
    test_expect_error_with(
        session, "raw {\"type\":\n" MEANWHILE "raw \"result\",\"id\":$id\n" MEANWHILE "wait",
        &options, LAZ_VERDICT_PROTOCOL_ERROR, BROKE LATE);
    CU_ASSERT_EQUAL(course.lines, 2);
    test_expect(session, "ok 42", LAZ_VERDICT_OK, "42");
    CU_ASSERT_NOT_EQUAL(laz_session_pid(session), pid);
}

static void a_message_that_was_begun_is_finished_in_time(void)
{
    with_session("", body_of_slow_lines);
}

#define SLOW_CALL                                                                                  \
    "raw {\"type\":\"tool_call\",\"id\":1,\n" MEANWHILE "raw \"tool\":\"nothing\"}\\n\nrecv\n"

/* Each message has its own five seconds, and waiting for an answer does not begin a message. */
static void body_of_many_slow_lines(struct laz_session *session)
{
    static const uint64_t ms[] = {4000, 4000, 4000};
    struct course course = {session, ms, 3, 0};
    const struct laz_execute_options options = {
        .size = sizeof options, .line = course_line, .user = &course};

    test_expect_with(
        session,
        SLOW_CALL SLOW_CALL SLOW_CALL
        "send {\"type\":\"tool_call\",\"id\":4,\"tool\":\"slow\",\"args\":{\"ms\":9000}}\n"
        "recv\nok $last",
        &options, LAZ_VERDICT_OK, "{\"id\":4,\"value\":\"slow\"}");
    CU_ASSERT_EQUAL(course.lines, 3);
}

static void each_message_has_a_time_of_its_own(void)
{
    with_session("", body_of_many_slow_lines);
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
    struct laz_settings *settings = NULL;
    struct laz_engine *engine = NULL;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL_FATAL(laz_settings_new(&settings, &err), 0);
    CU_ASSERT_EQUAL(laz_settings_set(settings, "session.start_timeout", "600", &err), 0);
    CU_ASSERT_EQUAL(laz_settings_set(settings, "session.timeout", "0", &err), 0);
    CU_ASSERT_EQUAL(laz_engine_new(settings, &options, &engine, &err), 0);
    laz_settings_free(settings);
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

/* Has the process ended? No other code here waits for it. */
static bool is_gone(int64_t pid)
{
    return kill((pid_t)pid, 0) && errno == ESRCH;
}

/* After the first rejected message nothing more is read or logged. */
static void a_refused_peer_is_told_of_once(void)
{
    struct laz_engine *engine = counting_engine();
    struct laz_session *session = test_session(engine, "lua");

    if (session) {
        test_expect_error(session, "times 100000 {\"type\":\"dance\"}", LAZ_VERDICT_PROTOCOL_ERROR,
                          "unknown message 'dance'");
        CU_ASSERT_EQUAL(logged_refusals, 1);
        test_expect(session, "ok 42", LAZ_VERDICT_OK, "42");
        logged_refusals = 0;
        test_expect(session, "ok 1\nawait\ntimes 100000 {\"type\":\"dance\"}", LAZ_VERDICT_OK, "1");
        int64_t pid = laz_session_pid(session);
        go_on(session);
        while (!is_gone(pid)) /* the loop reads it while no execution runs */
            CU_ASSERT_EQUAL_FATAL(laz_engine_step(engine, 10, NULL), 0);
        CU_ASSERT_EQUAL(logged_refusals, 1);
        test_expect(session, "ok 42", LAZ_VERDICT_OK, "42");
    }
    laz_engine_free(engine);
}

/* ---- while others work ---------------------------------------------------------------------- */

/* Two sessions of one engine; `bad` is the one that misbehaves. */
static void with_two(void (*body)(struct laz_session *bad, struct laz_session *good))
{
    struct laz_engine *engine = test_engine("");

    if (!engine)
        return;
    test_hold_clock(engine);
    struct laz_session *bad = test_session(engine, "lua");
    struct laz_session *good = bad ? test_session(engine, "lua") : NULL;
    if (good)
        body(bad, good);
    laz_engine_free(engine);
}

#define CALL "send {\"type\":\"tool_call\",\"id\":1,\"tool\":\"nothing\"}\nrecv\nok 1"

static void body_of_idle_speech(struct laz_session *bad, struct laz_session *good)
{
    int64_t pid = laz_session_pid(bad);

    test_expect(bad, "ok 1\nawait\nsend garbage\nwait", LAZ_VERDICT_OK, "1");
    go_on(bad);
    while (!is_gone(pid)) /* the loop reads from the bad one while the good one executes */
        test_expect(good, CALL, LAZ_VERDICT_OK, "1");
    CU_ASSERT_TRUE(laz_session_is_alive(bad));
    test_expect(bad, "ok 42", LAZ_VERDICT_OK, "42");
}

static void a_peer_that_speaks_while_idle_is_ended_at_once(void)
{
    with_two(body_of_idle_speech);
}

/* Drives the loop until it stops reading output of an idle session, of which there is more than
 * these turns could read. */
static void until_unheard(struct laz_session *session)
{
    const bool *unheard = session->box->unheard;
    int turns = 0;

    for (; turns < 1000 && !(unheard[LAZ_STDOUT] && unheard[LAZ_STDERR]); turns++)
        CU_ASSERT_EQUAL_FATAL(laz_engine_step(test_engine_of(session), -1, NULL), 0);
    CU_ASSERT(unheard[LAZ_STDOUT] && unheard[LAZ_STDERR]);
}

/* A process of the bad session writes for ever as fast as it can; its full pipes wake no thread. */
static void body_of_idle_output(struct laz_session *bad, struct laz_session *good)
{
    struct laz_engine *engine = test_engine_of(bad);
    struct pollfd loop = {laz_engine_fd(engine), POLLIN, 0};
    struct pollfd output = {-1, POLLIN, 0};
    int turns = 0;

    test_expect(bad, "spill 1000000000000\nok 1", LAZ_VERDICT_OK, "1");
    until_unheard(bad);
    output.fd = bad->box->output[LAZ_STDOUT];
    CU_ASSERT_EQUAL(poll(&output, 1, -1), 1); /* there is output to read */
    for (; turns < 1000 && poll(&loop, 1, 0) == 1;
         turns++) /* turns for the execution, not for its output */
        CU_ASSERT_EQUAL_FATAL(laz_engine_step(engine, 0, NULL), 0);
    CU_ASSERT(turns < 1000);
    test_expect(good, CALL, LAZ_VERDICT_OK, "1");
    CU_ASSERT(bad->box->unheard[LAZ_STDOUT] && bad->box->unheard[LAZ_STDERR]);
    test_expect(bad, "ok 42", LAZ_VERDICT_OK, "42");
}

static void output_that_nobody_wants_costs_nothing(void)
{
    with_two(body_of_idle_output);
}

/* Output written while idle belongs to the next code, as later output does. */
static void body_of_later_output(struct laz_session *bad, struct laz_session *good)
{
    test_expect(bad, "ok 1\nawait\nspill 400000", LAZ_VERDICT_OK, "1");
    go_on(bad);
    until_unheard(bad);
    test_expect(good, CALL, LAZ_VERDICT_OK, "1");
    struct laz_result *result = test_run(bad, "print so it is\nok 2", NULL);
    if (result) {
        char *out = test_output(result, LAZ_STDOUT);
        CU_ASSERT(out && strstr(out, "so it is\n") != NULL && out[0] == '.');
        UNIT_TEXT(laz_result_value(result), "2");
        free(out);
    }
    laz_result_free(result);
}

static void output_is_heard_again_with_the_next_execution(void)
{
    with_two(body_of_later_output);
}

/* ---- out of turn ---------------------------------------------------------------------------- */

/* Checks that the next execution works in another box. */
static void box_is_replaced(struct laz_session *session, const char *code, int64_t pid)
{
    test_expect(session, "ok 42", LAZ_VERDICT_OK, "42");
    if (laz_session_pid(session) == pid)
        printf("\n    the box was kept after %s", code);
    CU_ASSERT_NOT_EQUAL(laz_session_pid(session), pid);
}

/* The code ends well, but the agent sends more than its outcome before the host has returned. */
static void says_more(struct laz_session *session, const char *code)
{
    int64_t pid = laz_session_pid(session);

    test_expect(session, code, LAZ_VERDICT_OK, "1");
    CU_ASSERT_NOT_EQUAL(laz_session_pid(session), pid);
    box_is_replaced(session, code, pid);
}

/* The code ends well, and the agent sends more while the loop is not driven. */
static void says_more_later(struct laz_session *session, const char *more)
{
    char *code = laz_strdupf("ok 1\nawait\n%s", more);
    int64_t pid = laz_session_pid(session);

    test_expect(session, code, LAZ_VERDICT_OK, "1");
    CU_ASSERT_EQUAL_FATAL(laz_session_pid(session), pid);
    struct pollfd unread = {session->box->channel, POLLIN, 0};
    go_on(session);
    CU_ASSERT_EQUAL(poll(&unread, 1, -1), 1);
    box_is_replaced(session, code, pid);
    free(code);
}

/* The message comes after the outcome: with it, in the same write, or later. */
static void body_of_idle_messages(struct laz_session *session)
{
    static const char *const after[] = {
        RESULT("2"),
        "{\"type\":\"result\",\"id\":$next,\"value\":666}",
        "{\"type\":\"tool_call\",\"id\":1,\"tool\":\"add\",\"args\":{\"a\":1,\"b\":2}}",
        "{\"type\":\"error\",\"id\":$next,\"kind\":\"runtime\",\"message\":\"x\"}",
        "garbage",
        "",
    };

    for (size_t i = 0; i < sizeof after / sizeof *after; i++) {
        char *with = laz_strdupf("raw " RESULT("1") "\\n%s\\n", after[i]);
        char *later = laz_strdupf("raw %s\\n", after[i]);
        says_more(session, with);
        says_more_later(session, later);
        free(with);
        free(later);
    }
}

static void messages_while_idle_cost_the_box(void)
{
    with_session("", body_of_idle_messages);
}

static void body_of_idle_faults(struct laz_session *session)
{
    static const char *const codes[] = {
        "raw {\"type\":\"result\",", /* the beginning of a message */
        "fill 1048577",              /* a line too long */
        "hangup\nwait",
        "shut\nwait",
    };

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        says_more_later(session, codes[i]);
}

static void faults_while_idle_cost_the_box(void)
{
    with_session("", body_of_idle_faults);
}

static const struct unit_test tests[] = {
    UNIT(a_message_that_was_begun_is_finished_in_time),
    UNIT(each_message_has_a_time_of_its_own),
    UNIT(refused_calls_fill_no_log),
    UNIT(ten_thousand_refused_calls_are_enough),
    UNIT(a_refused_peer_is_told_of_once),
    UNIT(a_peer_that_speaks_while_idle_is_ended_at_once),
    UNIT(output_that_nobody_wants_costs_nothing),
    UNIT(output_is_heard_again_with_the_next_execution),
    UNIT(messages_while_idle_cost_the_box),
    UNIT(faults_while_idle_cost_the_box),
    {0},
};

int main(void)
{
    test_mock_agent();
    return unit_run("flood", tests);
}
