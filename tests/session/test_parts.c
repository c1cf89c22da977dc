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

static const struct unit_test tests[] = {
    UNIT(each_refusal_says_its_reason),
    {0},
};

int main(void)
{
    test_mock_agent();
    return unit_run("parts", tests);
}
