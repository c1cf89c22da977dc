/* SPDX-License-Identifier: MIT */
/* wine_session.c - whole sessions on Windows with the backend windows-job: Lua, and Python and R if
 * configure has found them. */
#include "child.h"

#include "base/clock.h"

#include <lazaret/lazaret.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

/* Settings of every test: the backend neither hides files nor refuses network, which has to be
 * accepted explicitly; and Wine does not enforce limits of jobs. */
static const char *const keys[][2] = {{"sandbox.backend", "[\"windows-job\"]"},
                                      {"sandbox.require", "[]"},
                                      {"sandbox.strict", "false"},
                                      {"session.runtime", "lua"}};

/* Concatenated warnings of one engine. */
static char warnings[16384];

static void on_log(void *user, uint32_t level, const char *text)
{
    size_t used = strlen(warnings);

    (void)user;
    (void)level;
    snprintf(warnings + used, sizeof warnings - used, "%s\n", text);
}

static void add(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    double a = 0, b = 0;
    char text[64];

    (void)user;
    (void)len;
    if (sscanf(args, "{\"a\":%lf,\"b\":%lf}", &a, &b) != 2) {
        laz_reply_error(reply, "add takes a and b");
        return;
    }
    int n = snprintf(text, sizeof text, "%g", a + b);
    laz_reply_value(reply, text, (size_t)n);
}

/* Makes an engine with the tool add; `more` are settings, "key=value". */
static struct laz_engine *engine_new(const char *const *more)
{
    static const struct laz_tool tool = {
        .size = sizeof tool,
        .name = "add",
        .description = "the sum",
        .parameters =
            "[{\"name\":\"a\",\"type\":\"number\"},{\"name\":\"b\",\"type\":\"number\"}]"};
    const struct laz_engine_options options = {
        .size = sizeof options, .log = on_log, .log_level = LAZ_LOG_WARNING};
    struct laz_settings *settings = NULL;
    struct laz_engine *engine = NULL;
    struct laz_error err = {0};

    warnings[0] = '\0';
    CU_ASSERT_EQUAL_FATAL(laz_settings_new(&settings, &err), 0);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (laz_settings_set(settings, keys[i][0], keys[i][1], &err))
            printf("\n    %s\n", err.text);
    for (; more && *more; more++) {
        char key[128];
        size_t len = strcspn(*more, "=");
        snprintf(key, sizeof key, "%.*s", (int)len, *more);
        CU_ASSERT_EQUAL(laz_settings_set(settings, key, *more + len + 1, &err), 0);
    }
    if (laz_engine_new(settings, &options, &engine, &err) ||
        laz_engine_add_tool(engine, &tool, add, NULL, &err))
        printf("\n    %s\n", err.text);
    laz_settings_free(settings);
    CU_ASSERT_PTR_NOT_NULL_FATAL(engine);
    return engine;
}

static struct laz_session *session_open(struct laz_engine *engine)
{
    struct laz_session *session = NULL;
    struct laz_error err = {0};

    if (laz_session_open(engine, NULL, &session, &err))
        printf("\n    %s\n", err.text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(session);
    return session;
}

static struct laz_result *run(struct laz_session *session, const char *code, uint64_t timeout_ms)
{
    struct laz_execute_options options = {.size = sizeof options, .timeout_ms = timeout_ms};
    struct laz_result *result = NULL;
    struct laz_error err = {0};

    if (laz_session_execute(session, code, strlen(code), &options, &result, &err))
        printf("\n    %s\n", err.text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(result);
    return result;
}

/* Checks the code's value and verdict. */
static void expect(struct laz_session *session, const char *code, enum laz_verdict verdict,
                   const char *value)
{
    struct laz_result *result = run(session, code, 0);

    UNIT_TEXT(laz_verdict_name(laz_result_verdict(result)), laz_verdict_name(verdict));
    if (value)
        UNIT_TEXT(laz_result_value(result), value);
    if (laz_result_verdict(result) != verdict)
        printf("\n    %s\n", laz_result_json(result));
    laz_result_free(result);
}

static void lua_runs_with_tools_of_the_host(void)
{
    struct laz_engine *engine = engine_new(NULL);
    struct laz_session *session = session_open(engine);

    expect(session, "1 + 1", LAZ_VERDICT_OK, "2");
    expect(session, "return add(40, 2)", LAZ_VERDICT_OK, "42");
    expect(session, "local n = 0\nfor i = 1, 500 do n = add(n, i) end\nreturn n", LAZ_VERDICT_OK,
           "125250");
    expect(session, "x = ('\xc3\xa4'):rep(100000)\nreturn #x", LAZ_VERDICT_OK, "200000");
    expect(session, "return x:sub(1, 2)", LAZ_VERDICT_OK, "\"\xc3\xa4\"");
    expect(session, "error('no')", LAZ_VERDICT_ERROR, NULL);
    expect(session, "return (", LAZ_VERDICT_SYNTAX_ERROR, NULL);
    CU_ASSERT(laz_session_is_alive(session));
    laz_session_free(session);
    laz_engine_free(engine);
}

/* The code writes three lines to standard output and one to standard error. */
static void output_comes_from(const char *const *more, const char *code)
{
    struct laz_engine *engine = engine_new(more);
    struct laz_session *session = session_open(engine);
    struct laz_result *result = run(session, code, 0);
    char out[256] = "", errs[256] = "";

    for (size_t i = 0; i < laz_result_outputs(result); i++) {
        int stream;
        size_t len;
        const char *text = laz_result_output(result, i, &stream, &len);
        strncat(stream == LAZ_STDOUT ? out : errs, text, len);
    }
    UNIT_TEXT(out, "line 1\nline 2\nline 3\n");
    UNIT_TEXT(errs, "and this\n");
    laz_result_free(result);
    laz_session_free(session);
    laz_engine_free(engine);
}

static void output_comes_whole(void)
{
    output_comes_from(NULL, "for i = 1, 3 do print('line ' .. i) end\n"
                            "io.stderr:write('and this\\n')");
}

static void is_ended_in_time(const char *const *more, const char *endless)
{
    struct laz_engine *engine = engine_new(more);
    struct laz_session *session = session_open(engine);
    uint64_t began = laz_clock_ms();
    struct laz_result *result = run(session, endless, 1000);

    UNIT_TEXT(laz_verdict_name(laz_result_verdict(result)), "timeout");
    CU_ASSERT(laz_clock_ms() - began < 20000); /* not the 30 seconds of the settings */
    laz_result_free(result);
    expect(session, "1 + 1", LAZ_VERDICT_OK, "2"); /* in a new process */
    laz_session_free(session);
    laz_engine_free(engine);
}

static void code_that_takes_too_long_is_ended(void)
{
    is_ended_in_time(NULL, "while true do end");
}

static void a_session_that_died_can_be_started_again(void)
{
    struct laz_engine *engine = engine_new(NULL);
    struct laz_session *session = session_open(engine);
    int64_t pid = laz_session_pid(session);
    uint64_t until = laz_clock_ms() + 20000;
    HANDLE process = OpenProcess(PROCESS_TERMINATE, FALSE, (DWORD)pid);

    CU_ASSERT_FATAL(process && TerminateProcess(process, 1));
    CloseHandle(process);
    while (laz_session_is_alive(session) && laz_clock_ms() < until)
        laz_engine_step(engine, 50, NULL);
    CU_ASSERT(!laz_session_is_alive(session));
    CU_ASSERT_EQUAL(laz_session_restart(session, NULL), 0);
    expect(session, "1 + 1", LAZ_VERDICT_OK, "2");
    CU_ASSERT(laz_session_pid(session) != pid);
    laz_session_free(session);
    laz_engine_free(engine);
}

static void closing_a_session_ends_its_process(void)
{
    struct laz_engine *engine = engine_new(NULL);
    struct laz_session *session = session_open(engine);
    HANDLE process = OpenProcess(SYNCHRONIZE, FALSE, (DWORD)laz_session_pid(session));

    CU_ASSERT_FATAL(process != NULL);
    laz_session_free(session);
    CU_ASSERT_EQUAL(WaitForSingleObject(process, 5000), WAIT_OBJECT_0);
    CloseHandle(process);
    laz_engine_free(engine);
}

static void several_sessions_are_apart(void)
{
    struct laz_engine *engine = engine_new(NULL);
    struct laz_session *one = session_open(engine), *other = session_open(engine);

    expect(one, "mine = 1", LAZ_VERDICT_OK, NULL);
    expect(other, "return mine", LAZ_VERDICT_OK, "null");
    expect(one, "return mine", LAZ_VERDICT_OK, "1");
    laz_session_free(one);
    laz_session_free(other);
    laz_engine_free(engine);
}

/* Of the host's environment only the listed variables are visible, and the session has a directory
 * of its own. */
static void the_environment_is_the_policy_s(void)
{
    SetEnvironmentVariableA("AWS_SECRET_ACCESS_KEY", "hunter2");
    struct laz_engine *engine = engine_new(NULL);
    struct laz_session *session = session_open(engine);

    expect(session, "return os.getenv('AWS_SECRET_ACCESS_KEY')", LAZ_VERDICT_OK, "null");
    expect(session, "return os.getenv('LAZARET_TOKEN')", LAZ_VERDICT_OK, "null");
    expect(session,
           "local h = os.getenv('HOME')\n"
           "return h ~= nil and h == os.getenv('TMP') and h == os.getenv('TEMP') and "
           "h == os.getenv('TMPDIR')",
           LAZ_VERDICT_OK, "true");
    expect(session,
           "local f = assert(io.open(os.getenv('TMP') .. '/x', 'w'))\nf:write('1')\nf:close()\n"
           "return io.open(os.getenv('TMP') .. '/x'):read('a')",
           LAZ_VERDICT_OK, "\"1\"");
    laz_session_free(session);
    laz_engine_free(engine);
    SetEnvironmentVariableA("AWS_SECRET_ACCESS_KEY", NULL);
}

/* ---- R --------------------------------------------------------------------------------------- */

#if defined WINE_R
static const char *const r[] = {"session.runtime=r", NULL};

static void r_runs_with_tools_of_the_host(void)
{
    struct laz_engine *engine = engine_new(r);
    struct laz_session *session = session_open(engine);

    expect(session, "1 + 1", LAZ_VERDICT_OK, "2");
    expect(session, "add(40, 2)", LAZ_VERDICT_OK, "42");
    expect(session, "n <- 0\nfor (i in 1:500) n <- add(n, i)\nn", LAZ_VERDICT_OK, "125250");
    expect(session, "unlist(tool_map(add, 1:3, 4:6))", LAZ_VERDICT_OK, "[5,7,9]");
    expect(session, "tryCatch(add('x', 1), error = function(e) 'caught')", LAZ_VERDICT_OK,
           "\"caught\"");
    expect(session, "x <- strrep('\xc3\xa4', 100000)\nnchar(x)", LAZ_VERDICT_OK, "100000");
    expect(session, "substr(x, 1, 1)", LAZ_VERDICT_OK, "\"\xc3\xa4\"");
    expect(session, "enc2native('\xe2\x82\xac')", LAZ_VERDICT_OK, "\"\xe2\x82\xac\"");
    expect(session, "sort(c('b', 'A', 'a', 'B'))", LAZ_VERDICT_OK, "[\"A\",\"B\",\"a\",\"b\"]");
    expect(session, "x <- (", LAZ_VERDICT_SYNTAX_ERROR, NULL);
    CU_ASSERT(laz_session_is_alive(session));
    laz_session_free(session);
    laz_engine_free(engine);
}

/* Code fails and exits with the right results, and the next code runs. */
static void r_fails_and_ends_as_it_says(void)
{
    static const struct {
        const char *code, *words;
        bool ends; /* ends the session's process */
    } rows[] = {
        {"stop('no \xc3\xa4')", "\"message\":\"no \xc3\xa4\"", false},
        {"f <- function(n) f(n + 1)\nf(1)", "\"kind\":\"runtime\"", false},
        {"numeric(1e15)", "cannot allocate vector", false},
        {"quit(status = 3)", "status 3", true},
    };

    struct laz_engine *engine = engine_new(r);
    struct laz_session *session = session_open(engine);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t pid = laz_session_pid(session);
        struct laz_result *result = run(session, rows[i].code, 0);
        CU_ASSERT(laz_result_verdict(result) != LAZ_VERDICT_OK);
        if (!strstr(laz_result_json(result), rows[i].words)) {
            printf("\n    %s: %s\n", rows[i].code, laz_result_json(result));
            CU_FAIL("it does not end as it should");
        }
        laz_result_free(result);
        expect(session, "1 + 1", LAZ_VERDICT_OK, "2");
        CU_ASSERT_EQUAL(laz_session_pid(session) != pid, rows[i].ends);
    }
    laz_session_free(session);
    laz_engine_free(engine);
}

static void r_writes_whole_lines(void)
{
    output_comes_from(r, "for (i in 1:3) { cat('line'); cat('', i); cat('\\n') }\n"
                         "message('and this')");
}

static void r_that_takes_too_long_is_ended(void)
{
    is_ended_in_time(r, "repeat {}");
}

#endif

/* ---- Python --------------------------------------------------------------------------------- */

#if defined WINE_PYTHON
static const char *const python[] = {"session.runtime=python", NULL};

static void python_runs_with_tools_of_the_host(void)
{
    struct laz_engine *engine = engine_new(python);
    struct laz_session *session = session_open(engine);

    expect(session, "1 + 1", LAZ_VERDICT_OK, "2");
    expect(session, "add(40, 2)", LAZ_VERDICT_OK, "42");
    expect(session, "n = 0\nfor i in range(1, 501): n = add(n, i)\nn", LAZ_VERDICT_OK, "125250");
    expect(session, "x = '\xc3\xa4' * 100000\nlen(x)", LAZ_VERDICT_OK, "100000");
    expect(session, "x[:1]", LAZ_VERDICT_OK, "\"\xc3\xa4\"");
    expect(session, "[2 ** 31, 2 ** 40, -2 ** 53]", LAZ_VERDICT_OK,
           "[2147483648,1099511627776,-9007199254740992]");
    expect(session, "1 / 0", LAZ_VERDICT_ERROR, NULL);
    expect(session, "x = (", LAZ_VERDICT_SYNTAX_ERROR, NULL);
    expect(session, "import os\nopen(os.environ['TMP'] + '/\xc3\xa4', 'w').write('a')",
           LAZ_VERDICT_OK, "1");
    expect(session, "os.listdir(os.environ['HOME'])", LAZ_VERDICT_OK, "[\"\xc3\xa4\"]");
    CU_ASSERT(laz_session_is_alive(session));
    laz_session_free(session);
    laz_engine_free(engine);
}

/* No loop can watch the connection here, so threads take the answers. */
static void python_has_several_calls_open_at_once(void)
{
    struct laz_engine *engine = engine_new(python);
    struct laz_session *session = session_open(engine);

    expect(session,
           "import asyncio\nfrom concurrent.futures import ThreadPoolExecutor\n"
           "async def sums(n): return await asyncio.gather(*(add.aio(i, 1) for i in range(n)))\n"
           "sum(asyncio.run(sums(100)))",
           LAZ_VERDICT_OK, "5050");
    expect(session, "sum(asyncio.run(sums(100)))", LAZ_VERDICT_OK, "5050");
    expect(session,
           "with ThreadPoolExecutor(8) as pool: met = list(pool.map(add, range(100), [1] * 100))\n"
           "sum(met)",
           LAZ_VERDICT_OK, "5050");
    expect(session,
           "async def both():\n"
           "    return await asyncio.gather(*(add.aio(i, 1) for i in range(50)),\n"
           "        *(asyncio.to_thread(add, i, 1) for i in range(50)))\n"
           "met = asyncio.run(both())\n"
           "[sum(met), add(1, 2)]",
           LAZ_VERDICT_OK, "[2550,3]");
    laz_session_free(session);
    laz_engine_free(engine);
}

static void python_writes_whole_lines(void)
{
    output_comes_from(python, "import sys\nfor i in 1, 2, 3: print('line', i)\n"
                              "print('and this', file=sys.stderr)");
}

static void python_that_takes_too_long_is_ended(void)
{
    is_ended_in_time(python, "while True: pass");
}
#endif

/* ---- what is promised ----------------------------------------------------------------------- */

/* Opening fails with this message. */
static void refused(const char *const *more, const char *const *words)
{
    struct laz_engine *engine = engine_new(more);
    struct laz_session *session = NULL;
    struct laz_error err = {0};

    CU_ASSERT(laz_session_open(engine, NULL, &session, &err) != 0);
    for (; *words; words++)
        if (!strstr(err.text, *words)) {
            printf("\n    %s: not in: %s\n", *words, err.text);
            CU_FAIL("the error does not say it");
        }
    laz_session_free(session);
    laz_engine_free(engine);
}

static void what_a_job_cannot_keep_is_refused(void)
{
    const char *const more[] = {"sandbox.require=[\"fs_read\", \"network\"]", "sandbox.strict=true",
                                NULL};
    const char *const words[] = {"windows-job", "fs_read", "network", "WSL", NULL};

    refused(more, words);
}

static void limits_that_do_not_hold_are_refused_in_strict_mode(void)
{
    const char *const more[] = {"sandbox.strict=true", NULL};
    const char *const words[] = {"memory", NULL};

    if (child_in_wine()) {
        refused(more, words);
        return;
    }
    struct laz_engine *engine = engine_new(more);
    laz_session_free(session_open(engine));
    laz_engine_free(engine);
}

static void limits_that_do_not_hold_are_said(void)
{
    struct laz_engine *engine = engine_new(NULL);
    struct laz_session *session = session_open(engine);
    bool claimed = strstr(laz_session_isolation(session), "\"memory\"") != NULL &&
                   strstr(laz_session_isolation(session), "\"enforces\":[]") == NULL;

    CU_ASSERT_EQUAL(claimed, !child_in_wine());
    CU_ASSERT_EQUAL(strstr(warnings, "memory") != NULL, child_in_wine());
    laz_session_free(session);
    laz_engine_free(engine);
}

int child_main(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return 99;
}

static const struct unit_test tests[] = {
    UNIT(lua_runs_with_tools_of_the_host),
    UNIT(output_comes_whole),
    UNIT(code_that_takes_too_long_is_ended),
    UNIT(a_session_that_died_can_be_started_again),
    UNIT(closing_a_session_ends_its_process),
    UNIT(several_sessions_are_apart),
    UNIT(the_environment_is_the_policy_s),
#if defined WINE_R
    UNIT(r_runs_with_tools_of_the_host),
    UNIT(r_fails_and_ends_as_it_says),
    UNIT(r_writes_whole_lines),
    UNIT(r_that_takes_too_long_is_ended),
#endif
#if defined WINE_PYTHON
    UNIT(python_runs_with_tools_of_the_host),
    UNIT(python_has_several_calls_open_at_once),
    UNIT(python_writes_whole_lines),
    UNIT(python_that_takes_too_long_is_ended),
#endif
    UNIT(what_a_job_cannot_keep_is_refused),
    UNIT(limits_that_do_not_hold_are_refused_in_strict_mode),
    UNIT(limits_that_do_not_hold_are_said),
    {0},
};

int main(void)
{
    return unit_run("wine_session", tests);
}
