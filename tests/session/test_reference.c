/* SPDX-License-Identifier: MIT */
/* test_reference.c - what else a session does, in a real box: no clock touches quick code, calls
 * without a limit, checking without running, one execution without a session, messages. */
#include "live.h"
#include "traces.h"

#include "base/buf.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- clocks --------------------------------------------------------------------------------- */

static void quick_code(struct laz_session *session, const struct words *w)
{
    static const uint64_t limits[] = {600000, LAZ_NO_LIMIT, 0};

    (void)w;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct laz_execute_options options = {
            .size = sizeof options, .timeout_ms = limits[i], .deadline_ms = limits[i]};
        struct laz_result *result = test_run(session, "1 + 1", &options);
        if (!result)
            return;
        UNIT_TEXT(laz_result_value(result), "2");
        laz_result_free(result);
    }
}

static void clocks_do_not_touch_quick_code(void)
{
    test_each_kept("session.timeout=600;session.deadline=600", quick_code);
    test_each("session.timeout=0;session.deadline=0", quick_code);
}

/* ---- output --------------------------------------------------------------------------------- */

static void printing(struct laz_session *session, const struct words *w)
{
    static const struct phrase code = {
        .python = "print([1, 2, 3])",
        .r = "print(c(1, 2, 3))",
        .lua = "print(1, 2, 3)",
    };
    static const struct phrase expected = {"[1, 2, 3]\n", "[1] 1 2 3\n", "1\t2\t3\n"};
    struct laz_execute_options silent = {.size = sizeof silent, .no_print = 1};
    struct laz_result *result = test_run(session, test_phrase(w, &code), &silent);

    if (!result)
        return;
    char *output = test_output(result, LAZ_STDOUT);
    UNIT_TEXT(output, test_phrase(w, &expected));
    CU_ASSERT_PTR_NULL(laz_result_text(result));
    free(output);
    laz_result_free(result);
}

static void what_code_prints_is_output(void)
{
    test_each_kept("session.timeout=600;session.deadline=600", printing);
}

/* ---- tools ---------------------------------------------------------------------------------- */

static void calling_often(struct laz_session *session, const struct words *w)
{
    static const struct phrase code = {
        .python = "n = 0\nfor i in range(2000): n = add(n, 1)\nn",
        .r = "n <- 0\nfor (i in 1:2000) n <- add(n, 1)\nn",
        .lua = "local n = 0\nfor i = 1, 2000 do n = add(n, 1) end\nreturn n",
    };
    struct laz_result *result = test_run(session, test_phrase(w, &code), NULL);

    if (!result)
        return;
    UNIT_TEXT(laz_result_value(result), "2000");
    CU_ASSERT_TRUE(test_result_has(result, "\"tool_calls\":2000"));
    laz_result_free(result);
}

static void calls_without_a_limit_are_not_limited(void)
{
    test_each_kept("session.timeout=600;session.deadline=600", calling_often);
}

/* ---- environment ---------------------------------------------------------------------------- */

static void looking_at_the_environment(struct laz_session *session, const struct words *w)
{
    static const struct phrase code = {
        .python = "import os\n"
                  "raw = open('/proc/self/environ', 'rb').read()\n"
                  "[os.environ.get(k) for k in ('LAZARET_TEST_SECRET', 'LAZARET_TOKEN',"
                  " 'LAZARET_SOCKET', 'R_LIBS')] + [bool(os.environ['PATH']),"
                  " b'sesame' in raw, raw.count(b'LAZARET_TOKEN=')]",
        .r = "f <- function(k) { v <- Sys.getenv(k, NA); if (is.na(v)) NULL else v }\n"
             "raw <- readBin('/proc/self/environ', 'raw', 65536)\n"
             "raw <- rawToChar(raw[raw != 0])\n"
             "list(f('LAZARET_TEST_SECRET'), f('LAZARET_TOKEN'), f('LAZARET_SOCKET'), f('R_LIBS'),"
             " nzchar(Sys.getenv('PATH')), grepl('sesame', raw), lengths(regmatches(raw,"
             " gregexpr('LAZARET_TOKEN=', raw))))",
        .lua = "local f = io.open('/proc/self/environ')\nlocal raw = f:read('a')\nf:close()\n"
               "local e = os.getenv\n"
               "local n = select(2, raw:gsub('LAZARET_TOKEN=', ''))\n"
               "return lazaret.array{e'LAZARET_TEST_SECRET' or null, e'LAZARET_TOKEN' or null,"
               " e'LAZARET_SOCKET' or null, e'R_LIBS' or null, e'PATH' ~= '',"
               " raw:find('sesame') ~= nil, n}",
    };

    test_expect(session, test_phrase(w, &code), LAZ_VERDICT_OK,
                "[null,null,null,null,true,false,0]");
    if (*w->runtime == 'r')
        test_expect(session, "nzchar(Sys.getenv('R_LIBS_USER'))", LAZ_VERDICT_OK, "false");
}

static void nothing_of_the_hosts_environment_is_inside(void)
{
    setenv("LAZARET_TEST_SECRET", "open sesame", 1);
    setenv("R_LIBS", "/nowhere/sesame", 1);
    setenv("R_LIBS_USER", "/nowhere/sesame", 1);
    test_each("", looking_at_the_environment);
    unsetenv("LAZARET_TEST_SECRET");
    unsetenv("R_LIBS");
    unsetenv("R_LIBS_USER");
}

/* ---- directories --------------------------------------------------------------------------------
 */

/* Counts the directories of an engine's boxes; `name` gets one of them. */
static int box_directories(const char *directory, char *name, size_t size)
{
    DIR *dir = opendir(directory);
    int n = 0;

    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        char path[600];
        struct stat info;
        snprintf(path, sizeof path, "%s/%s/socket", directory, entry->d_name);
        if (entry->d_name[0] == '.' || stat(path, &info))
            continue;
        n++;
        snprintf(name, size, "%s", entry->d_name);
        CU_ASSERT_EQUAL(info.st_mode & 07777, 0700);
    }
    if (dir)
        closedir(dir);
    return n;
}

static void directories_of_a_session_go_with_it(void)
{
    const struct laz_session_options lua = {.size = sizeof lua, .runtime = "lua"};
    struct laz_execute_options options = {.size = sizeof options, .timeout_ms = 200};
    struct laz_engine *engine = test_engine("");
    struct laz_session *session = NULL;
    char directory[300], first[256] = "", second[256] = "";

    CU_ASSERT_PTR_NOT_NULL_FATAL(engine);
    test_kept_free(); /* so that only one engine's directory exists */
    trace_directory(directory, sizeof directory);
    CU_ASSERT_NOT_EQUAL(*directory, '\0');
    CU_ASSERT_EQUAL_FATAL(laz_session_open(engine, &lua, &session, NULL), 0);
    CU_ASSERT_EQUAL(box_directories(directory, first, sizeof first), 1);
    laz_result_free(test_run(session, "while true do end", &options));
    test_expect(session, "1", LAZ_VERDICT_OK, "1");
    CU_ASSERT_EQUAL(box_directories(directory, second, sizeof second), 1);
    CU_ASSERT_STRING_NOT_EQUAL(first, second);
    laz_session_close(session);
    CU_ASSERT_EQUAL(box_directories(directory, second, sizeof second), 0);
    laz_session_free(session);
    laz_engine_free(engine);
    CU_ASSERT_NOT_EQUAL(access(directory, F_OK), 0);
}

/* ---- one execution, one check --------------------------------------------------------------- */

static void expect_once(struct laz_engine *engine, const char *runtime, const char *code,
                        enum laz_verdict verdict, const char *value)
{
    const struct laz_session_options session = {.size = sizeof session, .runtime = runtime};
    struct laz_execute_options options = {.size = sizeof options,
                                          .timeout_ms = verdict == LAZ_VERDICT_TIMEOUT ? 200 : 0,
                                          .no_validate = verdict == LAZ_VERDICT_ERROR};
    struct laz_result *result = NULL;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL(laz_execute(engine, &session, code, SIZE_MAX, &options, &result, &err), 0);
    if (!result)
        return;
    if (laz_result_verdict(result) != verdict)
        printf("\n    %s: %s", code, laz_result_json(result));
    CU_ASSERT_EQUAL(laz_result_verdict(result), verdict);
    if (value)
        UNIT_TEXT(laz_result_value(result), value);
    laz_result_free(result);
}

static void executing_once_needs_no_session(void)
{
    const char *only = getenv("TEST_RUNTIME");
    struct laz_engine *engine = test_engine("");
    struct laz_session *probe;

    for (size_t i = 0; engine && i < n_languages; i++) {
        const struct words *w = &languages[i];
        if ((only && strcmp(only, w->runtime) != 0) || !(probe = test_session(engine, w->runtime)))
            continue;
        laz_session_close(probe);
        laz_session_free(probe);
        int children = trace_children();
        expect_once(engine, w->runtime, "1 + 1", LAZ_VERDICT_OK, "2");
        if (strcmp(w->runtime, "lua") == 0) { /* the others would do the same */
            expect_once(engine, w->runtime, w->chain_13, LAZ_VERDICT_OK, "13");
            expect_once(engine, w->runtime, w->raise, LAZ_VERDICT_ERROR, "null");
            expect_once(engine, w->runtime, w->syntax_error, LAZ_VERDICT_SYNTAX_ERROR, "null");
            expect_once(engine, w->runtime, w->loop, LAZ_VERDICT_TIMEOUT, "null");
            expect_once(engine, w->runtime, w->set_x, LAZ_VERDICT_OK, NULL);
            expect_once(engine, w->runtime, w->get_x, LAZ_VERDICT_ERROR, "null"); /* no value */
        }
        CU_ASSERT_EQUAL(trace_children(), children);
    }
    laz_engine_free(engine);
}

static void expect_check(struct laz_session *session, const char *code, enum laz_verdict verdict,
                         const char *warnings)
{
    struct laz_result *result = NULL;

    CU_ASSERT_EQUAL(laz_session_check(session, code, SIZE_MAX, &result, NULL), 0);
    if (!result)
        return;
    if (laz_result_verdict(result) != verdict)
        printf("\n    %s: %s", code, laz_result_json(result));
    CU_ASSERT_EQUAL(laz_result_verdict(result), verdict);
    if (verdict == LAZ_VERDICT_SYNTAX_ERROR)
        CU_ASSERT(laz_result_error(result) && *laz_result_error(result));
    CU_ASSERT_TRUE(test_result_has(result, warnings));
    laz_result_free(result);
}

#define REFUSE ", which the sandbox refuses"

static void checking(struct laz_session *session, const struct words *w)
{
    static const struct phrase suspicious = {
        .python = "import os, socket\nos.system('x')\nsocket.socket('y')",
        .r = "system('x')\nsocketConnection('y')",
        .lua = "os.execute('x')\nreturn require('socket')",
    };
    static const struct phrase told = {
        .python = "\"warnings\":[\"line 3: call of `socket.socket()`" REFUSE "\"]",
        .r = "\"warnings\":[\"line 2: call of `socketConnection()`" REFUSE "\"]",
        .lua = "\"warnings\":[\"line 2: loading of `socket`" REFUSE "\"]",
    };
    const char *none = "\"warnings\":[]";
    struct laz_result *result = NULL;

    expect_check(session, "1 + 1", LAZ_VERDICT_OK, none);
    expect_check(session, w->multi, LAZ_VERDICT_OK, none);
    expect_check(session, "", LAZ_VERDICT_OK, none);
    expect_check(session, " \n\t\n", LAZ_VERDICT_OK, none);
    expect_check(session, w->syntax_error, LAZ_VERDICT_SYNTAX_ERROR, none);
    expect_check(session, "f(1, {2", LAZ_VERDICT_SYNTAX_ERROR, none);
    expect_check(session, test_phrase(w, &suspicious), LAZ_VERDICT_OK, test_phrase(w, &told));
    CU_ASSERT_EQUAL(laz_session_check(session, NULL, 0, &result, NULL), LAZ_EINVAL);
    CU_ASSERT_PTR_NULL(result);
    expect_check(session, w->set_x, LAZ_VERDICT_OK, none); /* it does not run */
    test_expect(session, w->get_x, LAZ_VERDICT_ERROR, NULL);
}

static void checking_parses_and_runs_nothing(void)
{
    test_each_kept("session.timeout=600;session.deadline=600", checking);
}

/* ---- what is told ---------------------------------------------------------------------------- */

/* A session that calls tools, fails and is closed. */
static void say_what_happens(const char *settings)
{
    struct laz_engine *engine = test_engine(settings);
    struct laz_session *session = test_session(engine, "lua");

    if (session) {
        test_expect(session, "local x = add(2, 3)\npcall(fail)\nreturn x", LAZ_VERDICT_OK, "5");
        test_expect(session, "error('no')", LAZ_VERDICT_ERROR, NULL);
        laz_session_close(session);
    }
    laz_session_free(session);
    laz_engine_free(engine);
}

static void only_a_verbose_session_tells_what_it_does(void)
{
    static const char *const lines[] = {
        "[2] Session started (", "[2] Tool call: add({", "[2] Tool result: 5",
        "[2] Tool call: fail({", "[2] Tool error: ",     "[2] Execution ok (",
        "[2] Execution error (", "[2] Session closed (",
    };
    struct laz_buf told = LAZ_BUF_INIT;

    test_told = &told;
    say_what_happens("session.verbose=false");
    UNIT_TEXT(laz_buf_text(&told), "");
    say_what_happens("session.verbose=true");
    test_told = NULL;
    const char *at = laz_buf_text(&told);
    for (size_t i = 0; at && i < sizeof lines / sizeof *lines; i++) {
        const char *next = strstr(at, lines[i]);
        if (!next)
            printf("\n    \"%s\" is not in\n%s", lines[i], at);
        CU_ASSERT_PTR_NOT_NULL(next);
        at = next ? next + strlen(lines[i]) : NULL;
    }
    laz_buf_fini(&told);
}

static const struct unit_test tests[] = {
    UNIT(clocks_do_not_touch_quick_code),
    UNIT(what_code_prints_is_output),
    UNIT(calls_without_a_limit_are_not_limited),
    UNIT(checking_parses_and_runs_nothing),
    UNIT(nothing_of_the_hosts_environment_is_inside),
    UNIT(directories_of_a_session_go_with_it),
    UNIT(executing_once_needs_no_session),
    UNIT(only_a_verbose_session_tells_what_it_does),
    {0},
};

int main(void)
{
    int status = unit_run("reference", tests);
    test_kept_free();
    return status;
}
