/* SPDX-License-Identifier: MIT */
/* test_parts.c - artifacts and values that an agent sends in parts, right or wrong: what is not
 * whole is not an artifact, each refusal says its reason, and the check of a large value holds
 * nobody up.
 *
 * The agent is the mock of tests/mock/agent.c, in a real box; the code is its script. The clock of
 * the engine is held. */
#include "live.h"
#include "traces.h"

#include "base/base64.h"
#include "base/buf.h"
#include "engine/engine.h"
#include "os/files.h"
#include "session/session.h"
#include "work_directory.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BROKE "The sandbox broke the protocol: "
/* A part; YWJj is "abc". */
#define PART(of, name, data, more)                                                                 \
    "send {\"type\":\"part\",\"id\":$id,\"of\":\"" of "\"" name ",\"data\":\"" data                \
    "\",\"more\":" more "}\n"
#define FILE_PART(name, data, more) PART("file", ",\"name\":\"" name "\"", data, more)
#define RESULT                      "send {\"type\":\"result\",\"id\":$id}\n"

/* Runs `body` with an engine and a session; nothing of them may be left afterwards. */
static void with_session(const char *settings, void (*body)(struct laz_session *))
{
    int descriptors = trace_descriptors(), threads = trace_threads();
    struct laz_engine *engine = test_engine(settings);

    if (!engine)
        return;
    test_hold_clock(engine);
    struct laz_session *session = test_session(engine, "lua");
    if (session)
        body(session);
    laz_engine_free(engine);
    CU_ASSERT_EQUAL(trace_children(), 0);
    CU_ASSERT_EQUAL(trace_threads(), threads);
    CU_ASSERT_EQUAL(trace_descriptors(), descriptors);
}

/* ---- refusals ------------------------------------------------------------------------------- */

static void body_of_reasons(struct laz_session *session)
{
    static const struct {
        const char *code, *why;
    } rows[] = {
        {FILE_PART("../x", "", "false"), "an artifact has no name that is allowed"},
        {FILE_PART("a", "", "false") FILE_PART("a", "", "false"), "an artifact was sent twice"},
        {FILE_PART("a", "YWJj", "true") FILE_PART("b", "", "false"),
         "an artifact began before another one had ended"},
        {FILE_PART("a", "====", "false"), "a part of an artifact is not base64"},
        {PART("thing", "", "", "false"), "a part is of nothing that is known"},
        {FILE_PART("a", "YWJj", "true") RESULT, "an artifact was not sent to its end"},
        {PART("value", "", "YWJj", "false") RESULT, "the value is not JSON"},
        {PART("text", "", "/w==", "false") RESULT, "the text is not UTF-8"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char expected[200];
        snprintf(expected, sizeof expected, BROKE "%s", rows[i].why);
        test_expect_error(session, rows[i].code, LAZ_VERDICT_PROTOCOL_ERROR, expected);
        test_expect(session, "ok 42", LAZ_VERDICT_OK, "42");
    }
}

static void each_refusal_says_its_reason(void)
{
    with_session("", body_of_reasons);
}

/* ---- what is not whole ---------------------------------------------------------------------- */

/* Executes and looks for the list of artifacts, and of those that are lost, in the result. */
static void expect_lists(struct laz_session *session, const char *code,
                         const struct laz_execute_options *options, enum laz_verdict verdict,
                         const char *names, const char *lost)
{
    struct laz_result *result = test_run(session, code, options);
    struct laz_artifact artifact = LAZ_ARTIFACT_INIT;
    struct laz_buf found = LAZ_BUF_INIT;

    if (!result)
        return;
    CU_ASSERT_EQUAL(laz_result_verdict(result), verdict);
    for (size_t i = 0; laz_result_artifact(result, i, &artifact) == 0; i++) {
        CU_ASSERT_PTR_NOT_NULL(artifact.type);
        CU_ASSERT_EQUAL(strlen(artifact.sha256), 64);
        laz_buf_printf(&found, "%s ", artifact.name);
    }
    UNIT_TEXT(laz_buf_text(&found), names);
    CU_ASSERT(test_result_has(result, lost));
    laz_buf_fini(&found);
    laz_result_free(result);
}

#define LOST(how)                                                                                  \
    "\"artifacts_lost\":[{\"name\":\"b.png\",\"bytes\":3,\"why\":\"the execution ended before "    \
    "all "                                                                                         \
    "of it had come: " how "\"}]"
#define BEGUN FILE_PART("a.txt", "YWJj", "false") FILE_PART("b.png", "YWJj", "true")

static void too_late(void *user, int stream, const char *text, size_t len)
{
    (void)stream, (void)text, (void)len;
    test_advance_clock(test_engine_of(user), 2000);
}

static void cancels(void *user, int stream, const char *text, size_t len)
{
    (void)stream, (void)text, (void)len;
    laz_session_cancel(user);
}

/* However it has ended. */
static void body_of_losses(struct laz_session *session)
{
    struct laz_execute_options options = {
        .size = sizeof options, .line = too_late, .user = session, .timeout_ms = 2000};

    expect_lists(session, BEGUN "sync\nprint .\nwait", &options, LAZ_VERDICT_TIMEOUT, "a.txt ",
                 LOST("timeout"));
    options.line = cancels;
    expect_lists(session, BEGUN "sync\nprint .\nwait", &options, LAZ_VERDICT_CANCELLED, "a.txt ",
                 LOST("cancelled"));
    expect_lists(session, BEGUN "sync\ndie 9", NULL, LAZ_VERDICT_CRASHED, "a.txt ",
                 LOST("crashed"));
    expect_lists(session, BEGUN RESULT, NULL, LAZ_VERDICT_PROTOCOL_ERROR, "a.txt ",
                 LOST("protocol_error"));
    expect_lists(session, BEGUN "raw {\\n", NULL, LAZ_VERDICT_PROTOCOL_ERROR, "a.txt ",
                 LOST("protocol_error"));
    expect_lists(session, BEGUN "send {\"type\":\"error\",\"id\":$id,\"kind\":\"runtime\"}", NULL,
                 LAZ_VERDICT_PROTOCOL_ERROR, "a.txt ", LOST("protocol_error"));
    expect_lists(session, BEGUN PART("file", "", "YWJj", "false") RESULT, NULL, LAZ_VERDICT_OK,
                 "a.txt b.png ", "\"artifacts_lost\":[]");
}

static void what_is_not_whole_is_no_artifact(void)
{
    with_session("", body_of_losses);
}

static void body_of_a_loss(struct laz_session *session)
{
    expect_lists(session, BEGUN "sync\ndie 9", NULL, LAZ_VERDICT_CRASHED, "a.txt ",
                 LOST("crashed"));
}

static void what_is_lost_is_on_record(void)
{
    struct laz_buf log = LAZ_BUF_INIT;
    char settings[100];

    work_begin();
    snprintf(settings, sizeof settings, "audit.file=%s", in_work("log"));
    with_session(settings, body_of_a_loss);
    CU_ASSERT_EQUAL(laz_os_read_file(in_work("log"), 1 << 20, &log, NULL), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&log), "\"event\":\"artifact_lost\""));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(laz_buf_text(&log), "\"name\":\"b.png\",\"bytes\":3,\"reason\":"));
    laz_buf_fini(&log);
    work_end();
}

/* ---- what follows --------------------------------------------------------------------------- */

/* As expect_lists, of code that has a session of its own; `part` of the result. */
static void expect_follows(struct laz_engine *engine, const char *code, const char *names,
                           const char *part)
{
    const struct laz_session_options session = {.size = sizeof session, .runtime = "lua"};
    struct laz_artifact artifact = LAZ_ARTIFACT_INIT;
    struct laz_buf found = LAZ_BUF_INIT;
    struct laz_result *result = NULL;

    CU_ASSERT_EQUAL(laz_execute(engine, &session, code, SIZE_MAX, NULL, &result, NULL), 0);
    for (size_t i = 0; laz_result_artifact(result, i, &artifact) == 0; i++)
        laz_buf_printf(&found, "%s=%.*s ", artifact.name, (int)artifact.data_len,
                       (const char *)artifact.data);
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_OK);
    UNIT_TEXT(laz_buf_text(&found), names);
    CU_ASSERT(test_result_has(result, part));
    laz_buf_fini(&found);
    laz_result_free(result);
}

#define CUT_OFF "the interpreter was ended by something else before it had finished"
/* Each file begins with one of three bytes; eHl6 is "xyz". The outcome, and then `exit`. */
#define AFTER(rest)                                                                                \
    FILE_PART("a", "YWJj", "false") FILE_PART("b", "YWJj", "false") RESULT "recv\n" rest

static void files_follow_the_last_execution(void)
{
    static const struct {
        const char *code, *names, *part;
    } rows[] = {
        {AFTER(RESULT), "a=abc b=abc ", "\"warnings\":[]"},
        {AFTER(FILE_PART("a", "eHl6", "false") FILE_PART("c", "eHl6", "false") RESULT),
         "b=abc a=xyz c=xyz ", "\"warnings\":[]"},
        {AFTER("send {\"type\":\"result\",\"id\":$id,\"left_out\":[\"some\"]}\n"), "a=abc b=abc ",
         "\"warnings\":[\"left out: some\"]"},
        {AFTER("die 9"), "a=abc b=abc ", CUT_OFF},
        {AFTER(FILE_PART("c", "eHl6", "true") "die 9"), "a=abc b=abc ",
         "\"name\":\"c\",\"bytes\":3,\"why\":\"the execution ended before all of it had come: the "
         "interpreter did not finish\""},
        {AFTER(FILE_PART("a", "eHl6", "false") FILE_PART("a", "YWJj", "false") RESULT),
         "b=abc a=xyz ", CUT_OFF},
        {AFTER(FILE_PART("../c", "eHl6", "false") RESULT), "a=abc b=abc ", CUT_OFF},
        {AFTER(FILE_PART("c", "eHl6", "false") FILE_PART("d", "eHl6", "false") RESULT),
         "a=abc b=abc c=xyz ", CUT_OFF}, /* more than may be */
        {AFTER(PART("value", "", "YWJj", "false") RESULT), "a=abc b=abc ", CUT_OFF},
        {AFTER("send {\"type\":\"result\",\"id\":$next}\n"), "a=abc b=abc ", CUT_OFF},
        {AFTER("send {\"type\":\"error\",\"id\":$id,\"kind\":\"runtime\"}\n"), "a=abc b=abc ",
         CUT_OFF},
        {AFTER("send {\"type\":\"tool_call\",\"id\":1,\"tool\":\"add\"}\n"), "a=abc b=abc ",
         CUT_OFF},
        {AFTER("raw {\\n"), "a=abc b=abc ", CUT_OFF},
    };
    struct laz_engine *engine = test_engine("artifacts.max_files=3");

    for (size_t i = 0; engine && i < sizeof rows / sizeof *rows; i++)
        expect_follows(engine, rows[i].code, rows[i].names, rows[i].part);
    laz_engine_free(engine);
    CU_ASSERT_EQUAL(trace_children(), 0);
}

static void what_follows_is_on_record(void)
{
    struct laz_buf log = LAZ_BUF_INIT;
    char settings[100];

    work_begin();
    snprintf(settings, sizeof settings, "audit.file=%s", in_work("log"));
    struct laz_engine *engine = test_engine(settings);
    if (engine)
        expect_follows(engine, AFTER(FILE_PART("a", "eHl6", "false") RESULT), "b=abc a=xyz ",
                       "\"warnings\":[]");
    laz_engine_free(engine);
    CU_ASSERT_EQUAL(laz_os_read_file(in_work("log"), 1 << 20, &log, NULL), 0);
    const char *first = strstr(laz_buf_text(&log), "\"event\":\"artifact\"");
    const char *second = first ? strstr(first + 1, "\"event\":\"artifact\"") : NULL;
    CU_ASSERT_PTR_NOT_NULL_FATAL(second);
    CU_ASSERT_PTR_NOT_NULL(strstr(first, "\"name\":\"b\",\"size\":3"));
    CU_ASSERT_PTR_NOT_NULL(strstr(second, "\"name\":\"a\",\"size\":3"));
    CU_ASSERT_PTR_NULL(strstr(second + 1, "\"event\":\"artifact\"")); /* as it is at the end */
    laz_buf_fini(&log);
    work_end();
}

/* ---- large values --------------------------------------------------------------------------- */

/* The thread that checks a value stops here until the test lets it go on. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    bool is_reached, is_open;
} gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, false};

static void gate_pass(void *user)
{
    struct laz_engine *engine = user;

    pthread_mutex_lock(&gate.lock);
    gate.is_reached = true;
    laz_loop_wake(engine->driver.loop);
    while (!gate.is_open)
        pthread_cond_wait(&gate.moved, &gate.lock);
    pthread_mutex_unlock(&gate.lock);
}

static void gate_set(bool is_open)
{
    pthread_mutex_lock(&gate.lock);
    gate.is_open = is_open;
    gate.is_reached = false;
    pthread_cond_broadcast(&gate.moved);
    pthread_mutex_unlock(&gate.lock);
}

static bool gate_is_reached(void)
{
    pthread_mutex_lock(&gate.lock);
    const bool is_reached = gate.is_reached;
    pthread_mutex_unlock(&gate.lock);
    return is_reached;
}

/* A script that sends this value as often as it takes to be large, and then `more`. */
static char *large_code(const char *first, const char *item, const char *last, const char *more)
{
    struct laz_buf value = LAZ_BUF_INIT, code = LAZ_BUF_INIT;

    laz_buf_puts(&value, first);
    while (value.len < 300000)
        laz_buf_puts(&value, item);
    laz_buf_puts(&value, last);
    laz_buf_puts(&code, "send {\"type\":\"part\",\"id\":$id,\"of\":\"value\",\"data\":\"");
    laz_base64_encode(&code, value.data, value.len);
    laz_buf_printf(&code, "\"}\n%s", more);
    laz_buf_fini(&value);
    return laz_buf_steal(&code);
}

struct outcome {
    struct laz_result *result;
    bool is_done;
};

static void outcome_done(void *user, struct laz_result *result, const struct laz_error *err)
{
    struct outcome *outcome = user;

    (void)err;
    outcome->result = result;
    outcome->is_done = true;
}

/* Executes it up to the check of its value, which is held. */
static void until_checked(struct laz_session *session, char *code, struct outcome *outcome)
{
    struct laz_engine *engine = test_engine_of(session);

    *outcome = (struct outcome){0};
    gate_set(false);
    engine->driver.before_task = gate_pass;
    engine->driver.before_task_user = engine;
    CU_ASSERT_PTR_NOT_NULL_FATAL(code);
    CU_ASSERT_EQUAL_FATAL(
        laz_session_execute_async(session, code, SIZE_MAX, NULL, outcome_done, outcome, NULL), 0);
    while (!gate_is_reached() && !outcome->is_done)
        CU_ASSERT_EQUAL_FATAL(laz_engine_step(engine, -1, NULL), 0);
    CU_ASSERT_FALSE_FATAL(outcome->is_done);
    free(code);
}

/* Lets the check end, or waits for a result that does not need it, and compares that. */
static void expect_outcome(struct laz_session *session, struct outcome *outcome, bool opens,
                           enum laz_verdict verdict, const char *part)
{
    if (opens)
        gate_set(true);
    while (!outcome->is_done)
        CU_ASSERT_EQUAL_FATAL(laz_engine_step(test_engine_of(session), -1, NULL), 0);
    CU_ASSERT_EQUAL(laz_result_verdict(outcome->result), verdict);
    CU_ASSERT(test_result_has(outcome->result, part));
    laz_result_free(outcome->result);
    gate_set(true);
}

#define ZEROS(more) large_code("[0", ",0", "]", more)

static void body_of_neighbours(struct laz_session *session)
{
    struct laz_session *other = test_session(test_engine_of(session), "lua");
    struct outcome outcome;

    until_checked(session, ZEROS(RESULT), &outcome);
    test_expect(other, "ok 42", LAZ_VERDICT_OK, "42"); /* while the check stands still */
    test_expect(other, "ok 43", LAZ_VERDICT_OK, "43");
    CU_ASSERT_FALSE(outcome.is_done);
    expect_outcome(session, &outcome, true, LAZ_VERDICT_OK, "\"value\":[0,0,0");
    test_expect(session, "ok 42", LAZ_VERDICT_OK, "42");
}

static void the_check_of_a_large_value_holds_nobody_up(void)
{
    with_session("session.max_code_length=0", body_of_neighbours);
}

/* What is not JSON is refused as if it were small, also where that shows only at its end. */
static void body_of_wrong_values(struct laz_session *session)
{
    struct outcome outcome;

    until_checked(session, large_code("{\"a\":[0", ",0", "],\"a\":1}", RESULT), &outcome);
    expect_outcome(session, &outcome, true, LAZ_VERDICT_PROTOCOL_ERROR,
                   BROKE "the value is not JSON");
    test_expect(session, "ok 42", LAZ_VERDICT_OK, "42");
    /* One besides, which is the value, as where both are small. */
    until_checked(session, ZEROS("ok 5"), &outcome);
    expect_outcome(session, &outcome, true, LAZ_VERDICT_OK, "\"value\":5");
}

static void a_large_value_has_to_be_right(void)
{
    with_session("session.max_code_length=0", body_of_wrong_values);
}

/* The outcome was there: neither time nor the end of the box nor what it sends changes it. */
static void body_of_what_comes_later(struct laz_session *session)
{
    struct laz_engine *engine = test_engine_of(session);
    struct outcome outcome;
    int64_t pid;

    until_checked(session, ZEROS(RESULT), &outcome);
    test_advance_clock(engine, 3600000);
    CU_ASSERT_EQUAL(laz_engine_step(engine, 0, NULL), 0);
    expect_outcome(session, &outcome, true, LAZ_VERDICT_OK, "\"value\":[0,0,0");

    pid = laz_session_pid(session);
    until_checked(session, ZEROS(RESULT "sync\ndie 9"), &outcome);
    while (!laz_box_is_ended(session->box))
        CU_ASSERT_EQUAL_FATAL(laz_engine_step(engine, -1, NULL), 0);
    expect_outcome(session, &outcome, true, LAZ_VERDICT_OK, "\"value\":[0,0,0");
    test_expect(session, "ok 42", LAZ_VERDICT_OK, "42");
    CU_ASSERT_NOT_EQUAL(laz_session_pid(session), pid);

    pid = laz_session_pid(session);
    until_checked(session, ZEROS(RESULT RESULT), &outcome);
    while (!laz_box_is_ended(session->box)) /* killed for the second one */
        CU_ASSERT_EQUAL_FATAL(laz_engine_step(engine, -1, NULL), 0);
    expect_outcome(session, &outcome, true, LAZ_VERDICT_OK, "\"value\":[0,0,0");
    test_expect(session, "ok 42", LAZ_VERDICT_OK, "42");
    CU_ASSERT_NOT_EQUAL(laz_session_pid(session), pid);
}

static void what_comes_during_a_check_changes_nothing(void)
{
    with_session("session.max_code_length=0;session.timeout=2", body_of_what_comes_later);
}

static void body_of_cancels(struct laz_session *session)
{
    struct laz_engine *engine = test_engine_of(session);
    struct outcome outcome;

    until_checked(session, ZEROS(RESULT), &outcome);
    laz_session_cancel(session);
    expect_outcome(session, &outcome, false, LAZ_VERDICT_CANCELLED, "\"value\":null");
    test_expect(session, "ok 42", LAZ_VERDICT_OK, "42");

    struct laz_session *other = test_session(engine, "lua");
    until_checked(other, ZEROS(RESULT), &outcome);
    laz_session_free(other); /* while its value is being read */
    CU_ASSERT(outcome.is_done);
    expect_outcome(session, &outcome, false, LAZ_VERDICT_CANCELLED, "\"value\":null");

    other = test_session(engine, "lua");
    until_checked(other, ZEROS(RESULT), &outcome);
    laz_session_close(other);
    CU_ASSERT(outcome.is_done);
    expect_outcome(session, &outcome, false, LAZ_VERDICT_CANCELLED, "\"value\":null");
    laz_session_free(other);
    until_checked(session, ZEROS(RESULT), &outcome);
    gate_set(true); /* its end is not handled any more: the engine ends */
    laz_engine_free(engine);
    CU_ASSERT(outcome.is_done);
    laz_result_free(outcome.result);
}

static void a_check_survives_its_execution(void)
{
    struct laz_engine *engine = test_engine("session.max_code_length=0");
    struct laz_session *session = engine ? test_session(engine, "lua") : NULL;

    if (session)
        body_of_cancels(session); /* and frees the engine */
    else
        laz_engine_free(engine);
    CU_ASSERT_EQUAL(trace_children(), 0);
}

static const struct unit_test tests[] = {
    UNIT(each_refusal_says_its_reason),    UNIT(what_is_not_whole_is_no_artifact),
    UNIT(files_follow_the_last_execution), UNIT(what_follows_is_on_record),
    UNIT(what_is_lost_is_on_record),       UNIT(the_check_of_a_large_value_holds_nobody_up),
    UNIT(a_large_value_has_to_be_right),   UNIT(what_comes_during_a_check_changes_nothing),
    UNIT(a_check_survives_its_execution),  {0},
};

int main(void)
{
    test_mock_agent();
    return unit_run("parts", tests);
}
