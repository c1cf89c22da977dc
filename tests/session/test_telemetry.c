/* SPDX-License-Identifier: MIT */
/* test_telemetry.c - what is counted of sessions, executions and tool calls, whatever their end:
 * each counts once, and when all is over no session is shown any more.
 *
 * What a scraper reads, and spans, are tested by tests/session/telemetry.sh. */
#include "live.h"

#include "engine/engine.h"
#include "telemetry/metrics.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t sessions(enum laz_metric_state state)
{
    return laz_metrics_value(LAZ_METRIC_SESSIONS, state);
}

static bool none_is_left(void)
{
    return !sessions(LAZ_METRIC_STARTING) && !sessions(LAZ_METRIC_IDLE) &&
           !sessions(LAZ_METRIC_EXECUTING) && !laz_metrics_value(LAZ_METRIC_WAITING, 0);
}

static int64_t executions(enum laz_verdict verdict)
{
    return laz_metrics_value(LAZ_METRIC_EXECUTIONS, verdict);
}

static int64_t calls(enum laz_metric_outcome outcome)
{
    return laz_metrics_value(LAZ_METRIC_TOOL_CALLS, outcome);
}

/* ---- executions ------------------------------------------------------------------------------ */

static void run_ends(struct laz_session *session, const char *code, enum laz_verdict verdict)
{
    const int64_t before = executions(verdict);
    const int64_t timed = laz_metrics_value(LAZ_METRIC_EXECUTION_TIME, 0);

    test_expect(session, code, verdict, NULL);
    if (executions(verdict) != before + 1)
        printf("    not counted: %s\n", code);
    CU_ASSERT_EQUAL(executions(verdict), before + 1);
    CU_ASSERT_EQUAL(laz_metrics_value(LAZ_METRIC_EXECUTION_TIME, 0),
                    timed + (verdict != LAZ_VERDICT_BLOCKED));
}

/* One session, whose box is replaced again and again. */
static void each_execution_counts_once(void)
{
    struct laz_engine *engine = test_engine("session.max_code_length=400");
    const struct laz_execute_options one_call = {.size = sizeof one_call, .max_tool_calls = 1};

    if (!engine)
        return;
    struct laz_session *session = test_session(engine, "lua");
    if (!session) {
        laz_engine_free(engine);
        return;
    }
    CU_ASSERT_EQUAL(sessions(LAZ_METRIC_IDLE), 1);
    run_ends(session, "return 1", LAZ_VERDICT_OK);
    run_ends(session, "error('x')", LAZ_VERDICT_ERROR);
    run_ends(session, "return return", LAZ_VERDICT_SYNTAX_ERROR);
    run_ends(session, "os.exit(3)", LAZ_VERDICT_ERROR);
    char longer[500];
    memset(longer, ' ', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    const int64_t denied = laz_metrics_value(LAZ_METRIC_DENIALS, LAZ_METRIC_BY_CODE);
    run_ends(session, longer, LAZ_VERDICT_BLOCKED);
    CU_ASSERT_EQUAL(laz_metrics_value(LAZ_METRIC_DENIALS, LAZ_METRIC_BY_CODE), denied + 1);
    const int64_t limited = executions(LAZ_VERDICT_TOOL_LIMIT);
    test_expect_with(session, "add(1, 2) add(1, 2)", &one_call, LAZ_VERDICT_TOOL_LIMIT, NULL);
    CU_ASSERT_EQUAL(executions(LAZ_VERDICT_TOOL_LIMIT), limited + 1);
    const int64_t late = executions(LAZ_VERDICT_TIMEOUT);
    test_expect_timeout(session, "while true do end", 100);
    CU_ASSERT_EQUAL(executions(LAZ_VERDICT_TIMEOUT), late + 1);
    laz_session_free(session);
    laz_engine_free(engine);
    CU_ASSERT(none_is_left());
}

/* ---- tools ----------------------------------------------------------------------------------- */

static void each_tool_call_counts_once(void)
{
    struct laz_engine *engine = test_engine("");
    struct laz_session *session = engine ? test_session(engine, "lua") : NULL;
    static const struct {
        const char *code;
        enum laz_metric_outcome outcome;
        int64_t n;
    } rows[] = {
        {"return add(1, 2)", LAZ_METRIC_OK, 1},
        {"for i = 1, 5 do echo(i) end", LAZ_METRIC_OK, 5},
        {"return pcall(fail)", LAZ_METRIC_ERROR, 1},
    };

    if (session) {
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            const int64_t before = calls(rows[i].outcome);
            struct laz_result *result = test_run(session, rows[i].code, NULL);
            if (calls(rows[i].outcome) != before + rows[i].n)
                printf("    not counted: %s\n", rows[i].code);
            CU_ASSERT_EQUAL(calls(rows[i].outcome), before + rows[i].n);
            laz_result_free(result);
        }
    }
    laz_engine_free(engine);
    CU_ASSERT(none_is_left());
}

static const char *decision;

static void decide(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len;
    laz_reply_value(reply, decision, strlen(decision));
}

static void erase(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len;
    laz_reply_value(reply, "1", 1);
}

static int64_t decisions(enum laz_metric_decision what)
{
    return laz_metrics_value(LAZ_METRIC_APPROVALS, what);
}

/* Nobody is there to decide, then somebody says no, then yes. */
static void approvals_and_refusals_count(void)
{
    const struct laz_tool tool = {.size = sizeof tool, .name = "erase", .approve = 1};
    struct laz_engine *engine = test_engine("");

    if (!engine)
        return;
    CU_ASSERT_EQUAL(laz_engine_add_tool(engine, &tool, erase, NULL, NULL), 0);
    struct laz_session *session = test_session(engine, "lua");
    for (int i = 0; session && i < 3; i++) {
        const int64_t refused = calls(LAZ_METRIC_REFUSED), ok = calls(LAZ_METRIC_OK);
        const int64_t yes = decisions(LAZ_METRIC_APPROVED), no = decisions(LAZ_METRIC_NOT_APPROVED);
        const int64_t denied = laz_metrics_value(LAZ_METRIC_DENIALS, LAZ_METRIC_BY_TOOL);
        decision = i == 2 ? "true" : "false";
        if (i == 1)
            CU_ASSERT_EQUAL(laz_engine_set_approver(engine, decide, NULL, NULL), 0);
        laz_result_free(test_run(session, "return pcall(erase)", NULL));
        CU_ASSERT_EQUAL(calls(LAZ_METRIC_REFUSED), refused + (i < 2));
        CU_ASSERT_EQUAL(laz_metrics_value(LAZ_METRIC_DENIALS, LAZ_METRIC_BY_TOOL),
                        denied + (i < 2));
        CU_ASSERT_EQUAL(calls(LAZ_METRIC_OK), ok + (i == 2));
        CU_ASSERT_EQUAL(decisions(LAZ_METRIC_NOT_APPROVED), no + (i < 2));
        CU_ASSERT_EQUAL(decisions(LAZ_METRIC_APPROVED), yes + (i == 2));
    }
    laz_engine_free(engine);
    CU_ASSERT(none_is_left());
}

/* The tool `late` has a timeout, of which its clock is held. */
static void a_call_that_is_late_and_one_that_is_abandoned_count(void)
{
    struct laz_engine *engine = test_engine("");
    struct laz_session *session = engine ? test_session(engine, "lua") : NULL;
    const struct laz_execute_options options = {.size = sizeof options, .deadline_ms = 1000};

    if (session) {
        const int64_t late = calls(LAZ_METRIC_TIMEOUT), abandoned = calls(LAZ_METRIC_CANCELLED);
        test_hold_clock(engine);
        laz_result_free(test_run(session, "return pcall(late, 100)", NULL));
        CU_ASSERT_EQUAL(calls(LAZ_METRIC_TIMEOUT), late + 1);
        test_gate_open();
        test_expect_with(session, "return stuck(1000)", &options, LAZ_VERDICT_DEADLINE, NULL);
        CU_ASSERT_EQUAL(calls(LAZ_METRIC_CANCELLED), abandoned + 1);
        test_gate_open();
    }
    laz_engine_free(engine);
    CU_ASSERT(none_is_left());
}

/* ---- starts ---------------------------------------------------------------------------------- */

static void starts_count_by_kind(void)
{
    struct laz_engine *engine = test_engine("");
    const int64_t cold = laz_metrics_value(LAZ_METRIC_STARTS, LAZ_METRIC_COLD);
    const int64_t warm = laz_metrics_value(LAZ_METRIC_STARTS, LAZ_METRIC_TEMPLATE);

    if (!engine)
        return;
    struct laz_session *session = NULL;
    const struct laz_session_options options = {.size = sizeof options, .runtime = "lua"};
    if (laz_session_open(engine, &options, &session, NULL) == 0) {
        CU_ASSERT_EQUAL(laz_metrics_value(LAZ_METRIC_STARTS, LAZ_METRIC_COLD), cold + 1);
        CU_ASSERT_EQUAL(laz_metrics_value(LAZ_METRIC_STARTS, LAZ_METRIC_TEMPLATE), warm);
        CU_ASSERT_EQUAL(laz_session_restart(session, NULL), 0);
        CU_ASSERT_EQUAL(laz_metrics_value(LAZ_METRIC_STARTS, LAZ_METRIC_COLD), cold + 2);
        CU_ASSERT_EQUAL(sessions(LAZ_METRIC_IDLE), 1);
    }
    laz_engine_free(engine); /* frees the session */
    CU_ASSERT(none_is_left());
}

/* Agents that are none. */
static void failed_starts_count_and_leave_nothing(void)
{
    static const char *const scripts[] = {"exit 3", "raw rubbish", "hangup"};
    char path[PATH_MAX], *before = getenv("LAZARET_AGENT");
    char *agent = before ? strdup(before) : NULL;

    if (!realpath("tests/mock/agent", path)) {
        unit_skip("mock", "tests/mock/agent is not built");
        free(agent);
        return;
    }
    setenv("LAZARET_AGENT", path, 1);
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        char text[100];
        const int64_t failed = laz_metrics_value(LAZ_METRIC_START_FAILURES, 0);
        const struct laz_session_options options = {.size = sizeof options, .runtime = "lua"};
        snprintf(text, sizeof text, "env.set={MOCK_START='%s'}", scripts[i]);
        struct laz_engine *engine = test_engine(text);
        struct laz_session *session = NULL;
        CU_ASSERT(engine && laz_session_open(engine, &options, &session, NULL) != 0);
        CU_ASSERT_EQUAL(laz_metrics_value(LAZ_METRIC_START_FAILURES, 0), failed + 1);
        laz_engine_free(engine);
        CU_ASSERT(none_is_left());
    }
    if (agent)
        setenv("LAZARET_AGENT", agent, 1);
    else
        unsetenv("LAZARET_AGENT");
    free(agent);
}

/* ---- many ------------------------------------------------------------------------------------ */

struct ended {
    unsigned n;
};

static void execution_done(void *user, struct laz_result *result, const struct laz_error *err)
{
    struct ended *ended = user;

    (void)err;
    ended->n++;
    laz_result_free(result);
}

/* Sessions in all states are freed, or left to the engine, which is freed with what runs. */
static void sessions_that_are_freed_in_any_state_are_not_shown(void)
{
    static const char *const codes[] = {"return 1", "error('x')", "os.exit(0)", "while true do end",
                                        "return add(1, 2)"};
    struct laz_engine *engine = test_engine("");
    struct ended ended = {0};
    int64_t all = 0, before = 0;
    const unsigned n = 20;

    if (!engine)
        return;
    for (unsigned i = 0; i <= LAZ_METRIC_NO_VERDICT; i++)
        before += laz_metrics_value(LAZ_METRIC_EXECUTIONS, i);
    for (unsigned i = 0; i < n; i++) {
        const struct laz_session_options options = {
            .size = sizeof options, .runtime = "lua", .no_wait = 1, .warm = i % 2};
        struct laz_session *session = NULL;
        CU_ASSERT_EQUAL_FATAL(laz_session_open(engine, &options, &session, NULL), 0);
        const char *code = codes[i % (sizeof codes / sizeof *codes)];
        if (i % 4)
            CU_ASSERT_EQUAL(laz_session_execute_async(session, code, strlen(code), NULL,
                                                      execution_done, &ended, NULL),
                            0);
        for (unsigned turns = 0; turns < i; turns++)
            (void)laz_engine_step(engine, 1, NULL);
        if (i % 3 == 0)
            laz_session_free(session);
    }
    laz_engine_free(engine);
    CU_ASSERT_EQUAL(ended.n, n - n / 4);
    for (unsigned i = 0; i <= LAZ_METRIC_NO_VERDICT; i++)
        all += laz_metrics_value(LAZ_METRIC_EXECUTIONS, i);
    CU_ASSERT_EQUAL(all, before + ended.n);
    CU_ASSERT(none_is_left());
}

static void callers_of_a_pool_are_shown_while_they_wait(void)
{
    struct laz_engine *engine = test_engine("");
    const struct laz_pool_options options = {
        .size = sizeof options, .runtime = "lua", .members = 1, .no_wait = 1};
    struct laz_pool *pool = NULL;
    struct ended ended = {0};

    if (!engine)
        return;
    CU_ASSERT_EQUAL_FATAL(laz_pool_new(engine, &options, &pool, NULL), 0);
    for (unsigned i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(laz_pool_execute_async(pool, LAZ_NO_LIMIT, "return 1", 8, NULL,
                                               execution_done, &ended, NULL),
                        0);
    CU_ASSERT(laz_metrics_value(LAZ_METRIC_WAITING, 0) >= 2);
    while (ended.n < 3)
        (void)laz_engine_step(engine, -1, NULL);
    CU_ASSERT_EQUAL(laz_metrics_value(LAZ_METRIC_WAITING, 0), 0);
    CU_ASSERT_EQUAL(laz_pool_execute_async(pool, LAZ_NO_LIMIT, "while true do end", 17, NULL,
                                           execution_done, &ended, NULL),
                    0);
    CU_ASSERT_EQUAL(laz_pool_execute_async(pool, LAZ_NO_LIMIT, "return 1", 8, NULL, execution_done,
                                           &ended, NULL),
                    0);
    laz_pool_free(pool);
    laz_engine_free(engine);
    CU_ASSERT(none_is_left());
}

static const struct unit_test tests[] = {
    UNIT(each_execution_counts_once),
    UNIT(each_tool_call_counts_once),
    UNIT(approvals_and_refusals_count),
    UNIT(a_call_that_is_late_and_one_that_is_abandoned_count),
    UNIT(starts_count_by_kind),
    UNIT(failed_starts_count_and_leave_nothing),
    UNIT(sessions_that_are_freed_in_any_state_are_not_shown),
    UNIT(callers_of_a_pool_are_shown_while_they_wait),
    {0},
};

int main(void)
{
    return unit_run("telemetry", tests);
}
