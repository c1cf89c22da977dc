/* SPDX-License-Identifier: MIT */
/* test_behaviours.c - the behaviour of a session, in every language, in a real box.
 *
 * Cases with the default settings share a session of each language; what the host decides alone is
 * shown in Lua. */
#include "live.h"

#include "base/buf.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- lifecycle ------------------------------------------------------------------------------ */

static void values(struct laz_session *session, const struct words *w)
{
    test_expect(session, "1 + 1", LAZ_VERDICT_OK, "2");
    test_expect(session, w->multi, LAZ_VERDICT_OK, "3");
    test_expect(session, w->set_x, LAZ_VERDICT_OK, NULL);
    test_expect(session, w->get_x, LAZ_VERDICT_OK, "42");
    test_expect_error(session, w->raise, LAZ_VERDICT_ERROR, "user error");
    test_expect(session, w->get_x, LAZ_VERDICT_OK, "42");
}

static void execute_gives_the_last_value_and_keeps_state(void)
{
    test_each_kept("", values);
}

static void is_described(struct laz_session *session, const struct words *w, const char *state,
                         const char *pid)
{
    const char *backend = getenv("TEST_BACKEND") ? getenv("TEST_BACKEND") : "bwrap";
    char expected[160];

    snprintf(expected, sizeof expected, "<session %s [%s] pid=%s backend=%s tools=7>", w->runtime,
             state, pid, backend);
    UNIT_TEXT(laz_session_describe(session), expected);
}

static void describing(struct laz_session *session, const struct words *w)
{
    char pid[24];

    snprintf(pid, sizeof pid, "%lld", (long long)laz_session_pid(session));
    is_described(session, w, "idle", pid);
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_session_tools(session), "{\"name\":\"add\""));
    const char *a = strstr(laz_session_tools(session), "\"name\":\"a\"");
    const char *b = strstr(laz_session_tools(session), "\"name\":\"b\"");
    CU_ASSERT(a && b && a < b);
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_session_isolation(session), "\"fs_read\""));
}

static void session_describes_itself_and_its_tools(void)
{
    test_each_kept("", describing);
}

static void closing(struct laz_session *session, const struct words *w)
{
    struct laz_result *result;
    struct laz_error err = {0};
    int64_t pid = laz_session_pid(session);

    CU_ASSERT_TRUE(laz_session_is_alive(session));
    CU_ASSERT(pid > 0 && kill((pid_t)pid, 0) == 0);
    laz_session_close(session);
    CU_ASSERT_FALSE(laz_session_is_alive(session));
    CU_ASSERT_EQUAL(laz_session_pid(session), -1);
    CU_ASSERT_NOT_EQUAL(kill((pid_t)pid, 0), 0);
    is_described(session, w, "closed", "none");
    CU_ASSERT_EQUAL(laz_session_execute(session, "1", SIZE_MAX, NULL, &result, &err), LAZ_ECLOSED);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "not running"));
    laz_session_close(session);
    CU_ASSERT_EQUAL(laz_session_restart(session, &err), 0);
    test_expect(session, "1 + 1", LAZ_VERDICT_OK, "2");
}

static void close_ends_the_process_and_restart_revives(void)
{
    test_each_kept("", closing);
}

static char *begun(const char *code, const struct words *w)
{
    return laz_strdupf("%s%s", w->print_begin, code);
}

/* Runs endless code while its clock moves by `ms`; returns its output. */
static char *time_out(struct laz_session *session, const char *code, uint64_t ms)
{
    struct test_advance advance = {test_engine_of(session), ms, 0};
    struct laz_execute_options options = {
        .size = sizeof options, .timeout_ms = 1000, .line = test_line_advances, .user = &advance};
    struct laz_result *result = test_run(session, code, &options);

    if (!result)
        return NULL;
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_TIMEOUT);
    UNIT_TEXT(laz_result_error(result), "Execution timed out after 1 second");
    CU_ASSERT_TRUE(test_result_has(result, "\"wall_ms\":1000.000"));
    char *output = test_output(result, LAZ_STDOUT);
    laz_result_free(result);
    return output;
}

/* The next result says that it comes from another interpreter, and why; NULL: it does not. */
static void says_replaced(struct laz_session *session, const char *by)
{
    struct laz_result *result = test_run(session, "1 + 1", NULL);

    if (!result)
        return;
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_OK);
    UNIT_TEXT(laz_result_replaced(result), by);
    laz_result_free(result);
}

static void timing_out(struct laz_session *session, const struct words *w)
{
    int64_t pid = laz_session_pid(session);
    char *code = begun(w->loop, w), *output;

    test_hold_clock(test_engine_of(session));
    output = time_out(session, code, 1000);
    CU_ASSERT_NOT_EQUAL(kill((pid_t)pid, 0), 0);
    CU_ASSERT_TRUE(laz_session_is_alive(session));
    says_replaced(session, "timeout");
    says_replaced(session, NULL);
    CU_ASSERT_NOT_EQUAL(laz_session_pid(session), pid);
    free(code);
    free(output);
}

static void timeout_kills_and_the_session_stays_usable(void)
{
    test_each_kept("", timing_out);
}

static void being_interrupted(struct laz_session *session, const struct words *w)
{
    int64_t pid = laz_session_pid(session);
    char *code = begun(w->loop, w), *output;

    test_hold_clock(test_engine_of(session)); /* the grace is not over */
    output = time_out(session, code, 1000);
    CU_ASSERT_EQUAL(laz_session_pid(session), pid);
    says_replaced(session, NULL);
    free(code);
    free(output);
}

static void timeout_interrupts_and_the_session_is_kept(void)
{
    test_each("session.interrupt_grace=60", being_interrupted);
}

/* A millisecond less does not end the code, however long that takes. */
static void ending_in_time(struct laz_session *session, const struct words *w)
{
    struct test_advance advance = {test_engine_of(session), 999, 0};
    struct laz_execute_options options = {
        .size = sizeof options, .timeout_ms = 1000, .line = test_line_advances, .user = &advance};
    int64_t pid = laz_session_pid(session);

    test_hold_clock(test_engine_of(session));
    test_expect_with(session, w->forty_two_and_output, &options, LAZ_VERDICT_OK, "42");
    CU_ASSERT_EQUAL(advance.lines, 1);
    CU_ASSERT_EQUAL(laz_session_pid(session), pid);
}

static void code_that_ends_in_time_is_left_alone(void)
{
    test_each_kept("", ending_in_time);
}

static void sleeping(struct laz_session *session, const struct words *w)
{
    test_hold_clock(test_engine_of(session));
    char *output = time_out(session, w->sleep_10, 1000);
    UNIT_TEXT(output, "begin\n");
    free(output);
}

static void timeout_keeps_the_output_so_far(void)
{
    test_each_kept("", sleeping);
}

static void restarting(struct laz_session *session, const struct words *w)
{
    struct laz_error err = {0};
    int64_t pid = laz_session_pid(session);
    char id[32];

    snprintf(id, sizeof id, "%s", laz_session_id(session));
    test_expect(session, w->set_x, LAZ_VERDICT_OK, NULL);
    says_replaced(session, NULL);
    CU_ASSERT_EQUAL(laz_session_restart(session, &err), 0);
    says_replaced(session, NULL); /* it was asked for */
    CU_ASSERT_NOT_EQUAL(laz_session_pid(session), pid);
    CU_ASSERT_TRUE(laz_session_is_alive(session));
    UNIT_TEXT(laz_session_id(session), id);
    test_expect(session, w->add_2_3, LAZ_VERDICT_OK, "5");
    test_expect(session, w->get_x, LAZ_VERDICT_ERROR, NULL);
    if (strcmp(w->runtime, "lua") != 0)
        return; /* for the host, one dead process is like another */
    kill((pid_t)laz_session_pid(session), SIGKILL);
    while (laz_session_is_alive(session))
        usleep(1000); /* the kernel needs some time to end it */
    CU_ASSERT_EQUAL(laz_session_restart(session, &err), 0);
    test_expect(session, "1 + 1", LAZ_VERDICT_OK, "2");
}

static void restart_gives_a_fresh_process_with_the_same_tools(void)
{
    test_each_kept("", restarting);
}

static struct laz_session *nested_session;
static int nested_rc[2];
static char nested_text[2][256];

static void try_nested(void *user, int stream, const char *text, size_t len)
{
    struct laz_result *result = NULL;
    struct laz_error err = {0};

    (void)user, (void)stream, (void)text, (void)len;
    nested_rc[0] = laz_session_execute(nested_session, "1", SIZE_MAX, NULL, &result, &err);
    snprintf(nested_text[0], sizeof nested_text[0], "%.200s", err.text);
    nested_rc[1] = laz_session_restart(nested_session, &err);
    snprintf(nested_text[1], sizeof nested_text[1], "%.200s", err.text);
}

static void nesting(struct laz_session *session, const struct words *w)
{
    struct laz_execute_options options = {.size = sizeof options, .line = try_nested};

    nested_session = session;
    laz_result_free(test_run(session, w->two_lines, &options));
    CU_ASSERT_EQUAL(nested_rc[0], LAZ_EBUSY);
    UNIT_TEXT(nested_text[0],
              "an execution is in progress, and a session does one thing at a time");
    CU_ASSERT_EQUAL(nested_rc[1], LAZ_EBUSY);
    UNIT_TEXT(nested_text[1], "Cannot restart while an execution is in progress");
    test_expect(session, "1 + 1", LAZ_VERDICT_OK, "2");
}

static void execution_in_progress_refuses_another_and_a_restart(void)
{
    test_each_kept("", nesting);
}

/* ---- output --------------------------------------------------------------------------------- */

static char heard[256];

static void hear(void *user, int stream, const char *text, size_t len)
{
    size_t used = strlen(heard);

    (void)user;
    snprintf(heard + used, sizeof heard - used, "%d:%.*s|", stream, (int)len, text);
}

static void outputting(struct laz_session *session, const struct words *w)
{
    struct laz_execute_options options = {.size = sizeof options, .line = hear};
    struct laz_result *result = test_run(session, w->hello_no_newline, NULL);

    if (!result)
        return;
    char *output = test_output(result, LAZ_STDOUT);
    UNIT_TEXT(output, "hello");
    UNIT_TEXT(laz_result_value(result), "7");
    free(output);
    laz_result_free(result);
    *heard = '\0';
    laz_result_free(test_run(session, w->two_lines, &options));
    UNIT_TEXT(heard, "1:one|1:two|");
    result = test_run(session, w->two_lines, NULL); /* output without value is not an error */
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_OK);
    laz_result_free(result);
    result = test_run(session, w->forty_two_and_output, NULL);
    output = test_output(result, LAZ_STDOUT);
    UNIT_TEXT(output, "out\n");
    UNIT_TEXT(laz_result_value(result), "42");
    free(output);
    laz_result_free(result);
}

static void output_is_captured_beside_the_value(void)
{
    test_each_kept("", outputting);
}

static void capping_lines(struct laz_session *session, const struct words *w)
{
    struct laz_execute_options options = {.size = sizeof options, .max_output_lines = 3};
    struct laz_result *result = test_run(session, w->hundred_lines, &options);

    if (!result)
        return;
    char *output = test_output(result, LAZ_STDOUT);
    int lines = 0;
    for (const char *p = output; (p = strchr(p, '\n')); p++)
        lines++;
    CU_ASSERT_EQUAL(lines, 3);
    CU_ASSERT_TRUE(laz_result_is_truncated(result));
    UNIT_TEXT(laz_result_value(result), "\"done\"");
    free(output);
    laz_result_free(result);
}

static void output_lines_are_capped_and_the_value_kept(void)
{
    test_each_kept("", capping_lines);
}

/* ---- limits of an execution ----------------------------------------------------------------- */

static void counting_calls(struct laz_session *session, const struct words *w)
{
    struct laz_execute_options options = {.size = sizeof options, .max_tool_calls = 2};
    struct laz_result *result = test_run(session, w->three_calls, &options);

    if (!result)
        return;
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_TOOL_LIMIT);
    UNIT_TEXT(laz_result_error(result), "Maximum tool calls (2) exceeded");
    laz_result_free(result);
    options.max_tool_calls = 3;
    result = test_run(session, w->three_calls, &options);
    UNIT_TEXT(laz_result_value(result), "[0,2,4]");
    laz_result_free(result);
    test_expect(session, w->three_calls, LAZ_VERDICT_OK, "[0,2,4]");
}

static void tool_calls_are_counted(void)
{
    test_each_kept("", counting_calls);
}

static void long_code(struct laz_session *session, const struct words *w)
{
    (void)w;
    test_expect_error(session, "1 + 1", LAZ_VERDICT_BLOCKED, "Code too long (5 characters");
    test_expect(session, "123", LAZ_VERDICT_OK, "123");
}

static void code_over_its_length_is_blocked(void)
{
    test_in_lua("session.max_code_length=3", long_code);
}

static void code_larger_than_a_message_is_refused(void)
{
    struct laz_engine *engine = test_engine("session.max_value_size=\"4KiB\"");
    struct laz_session *session = test_session(engine, "lua");
    struct laz_result *result = NULL;
    struct laz_error err = {0};
    char code[5000];

    memset(code, ' ', sizeof code);
    if (session) {
        CU_ASSERT_EQUAL(laz_session_execute(session, code, sizeof code, NULL, &result, &err),
                        LAZ_ETOOBIG);
        UNIT_TEXT(err.text, "the code is larger than max_value_size (4096 bytes)");
        CU_ASSERT_PTR_NULL(result);
        test_expect(session, "1 + 1", LAZ_VERDICT_OK, "2");
    }
    laz_session_free(session);
    laz_engine_free(engine);
}

static void counting_executions(struct laz_session *session, const struct words *w)
{
    test_expect(session, "1", LAZ_VERDICT_OK, "1");
    test_expect(session, w->syntax_error, LAZ_VERDICT_SYNTAX_ERROR, NULL); /* not counted */
    test_expect(session, "2", LAZ_VERDICT_OK, "2");
    test_expect_error(session, "3", LAZ_VERDICT_BLOCKED, "Maximum executions (2) reached");
    CU_ASSERT_EQUAL(laz_session_restart(session, NULL), 0);
    test_expect_error(session, "3", LAZ_VERDICT_BLOCKED, "Maximum executions (2) reached");
}

static void executions_are_counted(void)
{
    test_in_lua("session.max_executions=2", counting_executions);
}

static int refuse_seven(void *user, const char *code, size_t len, char *reason, size_t size)
{
    (void)user, (void)len;
    if (!strstr(code, "7"))
        return 0;
    snprintf(reason, size, "no sevens");
    return 1;
}

static void a_hook_of_the_application_can_block(void)
{
    struct laz_session_options options = {
        .size = sizeof options, .runtime = "lua", .pre_execute = refuse_seven};
    struct laz_engine *engine = test_engine("");
    struct laz_session *session = NULL;

    if (engine && laz_session_open(engine, &options, &session, NULL) == 0) {
        test_expect_error(session, "7", LAZ_VERDICT_BLOCKED,
                          "Execution blocked by pre_execute_hook: no sevens");
        test_expect(session, "8", LAZ_VERDICT_OK, "8");
    }
    CU_ASSERT_PTR_NOT_NULL(session);
    laz_session_free(session);
    laz_engine_free(engine);
}

static void hooked(struct laz_session *session, const struct words *w)
{
    (void)w;
    test_expect_error(session, "1 + 7", LAZ_VERDICT_BLOCKED, "never seven");
    test_expect(session, "1 + 1", LAZ_VERDICT_OK, "2");
}

static void a_hook_command_can_block(void)
{
    test_in_lua("session.pre_execute_hook=[\"/bin/sh\", \"-c\", "
                "\"if grep -q 7\\u003b then echo never seven >&2\\u003b exit 1\\u003b fi\"]",
                hooked);
}

static void sanitizing(struct laz_session *session, const struct words *w)
{
    test_expect_error(session, w->path_error, LAZ_VERDICT_ERROR, "[path]");
}

static void telling(struct laz_session *session, const struct words *w)
{
    test_expect_error(session, w->path_error, LAZ_VERDICT_ERROR, "/home/user/secret.txt");
}

static void fail_with_a_path(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len;
    laz_reply_error(reply, "no such file: /home/user/secret.txt");
}

/* The error that the code catches, and the host's result when it does not catch it. */
static void failing_tool_tells(const char *settings, const char *says)
{
    const struct laz_tool tool = {.size = sizeof tool, .name = "open_it", .description = "Fails"};
    struct laz_engine *engine = test_engine(settings);
    struct laz_session *session = NULL;

    if (engine && laz_engine_add_tool(engine, &tool, fail_with_a_path, NULL, NULL) == 0 &&
        (session = test_session(engine, "lua"))) {
        struct laz_result *result =
            test_run(session, "local _, e = pcall(open_it)\nreturn tostring(e)", NULL);
        const char *value = result ? laz_result_value(result) : "";
        if (!strstr(value, says))
            printf("\n    \"%s\" is not in %s", says, value);
        CU_ASSERT_PTR_NOT_NULL(strstr(value, says));
        laz_result_free(result);
        test_expect_error(session, "open_it()", LAZ_VERDICT_ERROR, says);
    }
    CU_ASSERT_PTR_NOT_NULL(session);
    laz_session_free(session);
    laz_engine_free(engine);
}

static void errors_are_sanitised_where_asked(void)
{
    test_in_lua("session.sanitize_errors=true", sanitizing);
    test_each_kept("", telling);
    failing_tool_tells("session.sanitize_errors=true", "no such file: [path]");
    failing_tool_tells("", "no such file: /home/user/secret.txt");
}

/* ---- tools ---------------------------------------------------------------------------------- */

static void calling(struct laz_session *session, const struct words *w)
{
    test_expect(session, w->add_2_3, LAZ_VERDICT_OK, "5");
    test_expect(session, w->chain_13, LAZ_VERDICT_OK, "13");
    test_expect_error(session, w->fail, LAZ_VERDICT_ERROR, "the tool is out of order");
    struct laz_result *result = test_run(session, w->catch_fail, NULL);
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_result_value(result), "the tool is out of order"));
    laz_result_free(result);
    test_expect_error(session, w->wrong_type, LAZ_VERDICT_ERROR, "must be number");
    test_expect_error(session, w->unexpected, LAZ_VERDICT_ERROR, "evil");
    test_expect(session, "nothing()", LAZ_VERDICT_OK, "null");
    test_expect(session, w->add_2_3, LAZ_VERDICT_OK, "5");
}

static void tools_are_functions_of_the_language(void)
{
    test_each_kept("", calling);
}

static void gate_opens(void *user, int stream, const char *text, size_t len)
{
    (void)user, (void)stream, (void)text, (void)len;
    test_gate_open();
}

/* A tool that takes longer than the timeout of the code, than the deadline, and than its own
 * timeout. */
static void waiting(struct laz_session *session, const struct words *w)
{
    static const struct phrase caught = {
        .python = "try:\n    late(700)\nexcept Exception as e:\n    t = str(e)\n"
                  "print('told', flush=True)\n[t, add(2, 3)]",
        .r = "t <- tryCatch(late(700), error = conditionMessage)\ncat('told\\n')\n"
             "list(t, add(2, 3))",
        .lua = "local ok, e = pcall(late, 700)\nprint('told')\nio.flush()\n"
               "return {tostring(e), add(2, 3)}",
    };
    const struct laz_execute_options code = {.size = sizeof code, .timeout_ms = 400};
    const struct laz_execute_options all = {.size = sizeof all, .deadline_ms = 300};
    const struct laz_execute_options told = {.size = sizeof told, .line = gate_opens};

    test_hold_clock(test_engine_of(session));
    test_expect_with(session, "slow(900)", &code, LAZ_VERDICT_OK, "\"slow\""); /* its time did not
                                                                                  run */
    test_expect_with(session, "stuck(900)", &all, LAZ_VERDICT_DEADLINE, NULL);
    test_gate_open();
    struct laz_result *result = test_run(session, test_phrase(w, &caught), &told);
    if (!result)
        return;
    CU_ASSERT_TRUE(test_result_has(result, "timed out after 0.1 seconds"));
    CU_ASSERT_TRUE(test_result_has(result, ",5]")); /* not the late answer */
    laz_result_free(result);
    test_expect(session, w->add_2_3, LAZ_VERDICT_OK, "5");
}

static void waiting_for_a_tool_stops_the_clock_of_the_code(void)
{
    test_each_kept("", waiting);
}

/* ---- ends ----------------------------------------------------------------------------------- */

static void ending(struct laz_session *session, const struct words *w)
{
    struct laz_result *result = test_run(session, w->leave_0, NULL);

    if (!result)
        return;
    char *output = test_output(result, LAZ_STDOUT);
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_OK);
    UNIT_TEXT(output, "bye\n");
    free(output);
    laz_result_free(result);
    test_expect(session, "1 + 1", LAZ_VERDICT_OK, "2");
    test_expect_error(session, w->leave_7, LAZ_VERDICT_ERROR, "7");
    test_expect(session, "1 + 1", LAZ_VERDICT_OK, "2");
    if (w->exit_3_at_once)
        test_expect_error(session, w->exit_3_at_once, LAZ_VERDICT_ERROR, "status 3");
    test_expect(session, "1 + 1", LAZ_VERDICT_OK, "2");
    result = test_run(session, w->die, NULL);
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_CRASHED);
    output = test_output(result, LAZ_STDOUT);
    UNIT_TEXT(output, "last words\n");
    free(output);
    laz_result_free(result);
    test_expect(session, "1 + 1", LAZ_VERDICT_OK, "2");
}

static void exits_and_crashes_are_verdicts(void)
{
    test_each_kept("", ending);
}

static void not_parsing(struct laz_session *session, const struct words *w)
{
    test_expect(session, w->set_x, LAZ_VERDICT_OK, NULL);
    test_expect(session, w->syntax_error, LAZ_VERDICT_SYNTAX_ERROR, "null");
    test_expect(session, w->get_x, LAZ_VERDICT_OK, "42");
    test_expect(session, "", LAZ_VERDICT_OK, "null");
    test_expect(session, " \n\t ", LAZ_VERDICT_OK, "null");
}

static void code_that_does_not_parse_does_not_run(void)
{
    test_each_kept("", not_parsing);
    test_each("session.validate=false", not_parsing);
}

/* ---- interpreters in the box ---------------------------------------------------------------- */

static void loading_modules(struct laz_session *session, const struct words *w)
{
    static const struct {
        const char *runtime, *need, *code, *value;
    } rows[] = {
        {"python", "python",
         "import _ctypes, sqlite3\nsqlite3.connect(':memory:').execute('select "
         "6*7').fetchone()[0]",
         "42"},
        {"python", "numpy", "import numpy\nint(numpy.arange(10).sum())", "45"},
        {"lua", "lpeg", "local lpeg = require 'lpeg'\nreturn (lpeg.P'a'^1):match('aaab')", "4"},
        {"r", "r", "fit <- lm(dist ~ speed, cars)\nround(unname(coef(fit)[2]), 4)", "3.9324"},
        {"r", "r", "unlist(parallel::mclapply(1:3, function(i) i * 2, mc.cores = 2))", "[2,4,6]"},
        {"r", "r", "any(grepl('Arithmetic Mean', capture.output(print(?mean)), fixed = TRUE))",
         "true"},
        {"r", "r", "intersect(conflicts(), ls('lazaret:tools', all.names = TRUE))", "[]"},
        {"python", "python", "import asyncio\nawait asyncio.sleep(0, 'slept')", "\"slept\""},
        {"python", "python", "import asyncio, lazaret\nawait asyncio.sleep(0, 'again')",
         "\"again\""},
        {"lua", "lua", "setmetatable(_G, {__index = function() return 7 end})\nreturn any_name",
         "7"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].runtime, w->runtime) != 0)
            continue;
        struct laz_result *result = test_run(session, rows[i].code, NULL);
        const char *error = result ? laz_result_error(result) : NULL;
        if (error && (strstr(error, "No module") || strstr(error, "not found")))
            unit_skip(rows[i].need, error);
        else if (result)
            UNIT_TEXT(laz_result_value(result), rows[i].value);
        laz_result_free(result);
    }
}

static void extension_modules_load_in_the_box(void)
{
    test_each_kept("", loading_modules);
}

static void write_file(const char *directory, const char *name, const char *text)
{
    char path[200];

    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fputs(text, file);
    fclose(file);
}

static void directories_of_a_runtimes_options_are_visible_and_searched(void)
{
    char directory[] = "/tmp/laz-test-XXXXXX", settings[200];

    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(directory));
    chmod(directory, 0755); /* so that a session with its own uid can enter it */
    write_file(directory, "laz_extra.py", "answer = 42\n");
    write_file(directory, "laz_extra.lua", "return {answer = 42}\n");
    static const char *const codes[][2] = {
        {"python", "import laz_extra\nlaz_extra.answer"},
        {"lua", "require('laz_extra').answer"},
    };
    for (size_t i = 0; i < 2; i++) {
        snprintf(settings, sizeof settings, "runtime.%s.path=[\"%s\"]", codes[i][0], directory);
        struct laz_engine *without = test_engine("");
        struct laz_session *session = test_session(without, codes[i][0]);
        if (session)
            test_expect(session, codes[i][1], LAZ_VERDICT_ERROR, NULL);
        laz_engine_free(without);
        struct laz_engine *engine = test_engine(settings);
        session = test_session(engine, codes[i][0]);
        if (session)
            test_expect(session, codes[i][1], LAZ_VERDICT_OK, "42");
        laz_engine_free(engine);
    }
    snprintf(settings, sizeof settings, "%s/laz_extra.py", directory);
    unlink(settings);
    snprintf(settings, sizeof settings, "%s/laz_extra.lua", directory);
    unlink(settings);
    CU_ASSERT_EQUAL(rmdir(directory), 0);
}

/* ---- editors of other systems --------------------------------------------------------------- */

static void other_systems(struct laz_session *session, const struct words *w)
{
    static const struct phrase code = {
        .python = "\xef\xbb\xbfx = 1\r\nif x:\r\n    x = 2\r\nx\r\n",
        .r = "\xef\xbb\xbfx <- 1\r\nif (x == 1) {\r\n  x <- 2\r\n}\r\nx\r\n",
        .lua = "\xef\xbb\xbfx = 1\r\nif x then\r\n    x = 2\r\nend\r\nreturn x\r\n",
    };
    static const struct phrase mark = {.python = "'\xef\xbb\xbf' + 'a'",
                                       .r = "'\xef\xbb\xbf"
                                            "a'",
                                       .lua = "'\xef\xbb\xbf' .. 'a'"};

    test_expect(session, test_phrase(w, &code), LAZ_VERDICT_OK, "2");
    test_expect(session, test_phrase(w, &mark), LAZ_VERDICT_OK,
                "\"\xef\xbb\xbf"
                "a\"");
}

static void code_from_editors_of_other_systems_runs(void)
{
    test_each_kept("", other_systems);
}

static const struct unit_test tests[] = {
    UNIT(session_describes_itself_and_its_tools),
    UNIT(execute_gives_the_last_value_and_keeps_state),
    UNIT(close_ends_the_process_and_restart_revives),
    UNIT(restart_gives_a_fresh_process_with_the_same_tools),
    UNIT(execution_in_progress_refuses_another_and_a_restart),
    UNIT(output_is_captured_beside_the_value),
    UNIT(output_lines_are_capped_and_the_value_kept),
    UNIT(tool_calls_are_counted),
    UNIT(errors_are_sanitised_where_asked),
    UNIT(tools_are_functions_of_the_language),
    UNIT(exits_and_crashes_are_verdicts),
    UNIT(code_that_does_not_parse_does_not_run),
    UNIT(code_from_editors_of_other_systems_runs),
    /* these hold the clock of the engines that are kept */
    UNIT(timeout_interrupts_and_the_session_is_kept),
    UNIT(timeout_kills_and_the_session_stays_usable),
    UNIT(code_that_ends_in_time_is_left_alone),
    UNIT(timeout_keeps_the_output_so_far),
    UNIT(waiting_for_a_tool_stops_the_clock_of_the_code),
    /* these have engines of their own */
    UNIT(code_over_its_length_is_blocked),
    UNIT(code_larger_than_a_message_is_refused),
    UNIT(executions_are_counted),
    UNIT(a_hook_of_the_application_can_block),
    UNIT(a_hook_command_can_block),
    UNIT(extension_modules_load_in_the_box),
    UNIT(directories_of_a_runtimes_options_are_visible_and_searched),
    {0},
};

int main(void)
{
    int status = unit_run("behaviours", tests);
    test_kept_free();
    return status;
}
