/* SPDX-License-Identifier: MIT */
/* test_parts.c - artifacts and values that an agent sends in parts, right or wrong: what is not
 * whole is no artifact, each refusal says its reason, and the check of a large value holds nobody
 * up.
 *
 * The agent is the mock of tests/mock/agent.c, in a real box; the code is its script. The clock of
 * the engine is held. */
#include "live.h"
#include "traces.h"

#include "base/base64.h"
#include "base/buf.h"
#include "session/session.h"

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
        {FILE_PART("a", "====", "false"), "a part of an artifact is no base64"},
        {PART("thing", "", "", "false"), "a part is of nothing that is known"},
        {FILE_PART("a", "YWJj", "true") RESULT, "an artifact was not sent to its end"},
        {PART("value", "", "YWJj", "false") RESULT, "the value is no JSON"},
        {PART("text", "", "/w==", "false") RESULT, "the text is no UTF-8"},
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
    "\"artifacts_lost\":[{\"name\":\"b.png\",\"bytes\":3,\"why\":\"the execution ended before all "  \
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

static const struct unit_test tests[] = {
    UNIT(each_refusal_says_its_reason),
    UNIT(what_is_not_whole_is_no_artifact),
    {0},
};

int main(void)
{
    test_mock_agent();
    return unit_run("parts", tests);
}
