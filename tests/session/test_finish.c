/* SPDX-License-Identifier: MIT */
/* test_finish.c - an interpreter ends by itself, as it does at the end of a script: exit handlers
 * run, threads end, open files are written. */
#include "live.h"

#include "base/buf.h"
#include "engine/engine.h"
#include "os/directories.h"
#include "os/files.h"
#include "session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Writes into an open file, and prints something at the end. @: a directory of the host. */
static const struct phrase leaving = {
    .python = "import atexit, threading, time\n"
              "printed = threading.Event()\n"
              "def work():\n"
              "    printed.wait()\n"
              "    time.sleep(0.05)\n"
              "    print('thread')\n"
              "t = threading.Thread(target=work).start()\n"
              "h = atexit.register(lambda: print('bye'))\n"
              "f = open('@/file', 'w')\n"
              "n = f.write('kept')\n"
              "print('main')\n"
              "printed.set()\n"
              "7",
    .r = "path <- '@/file'\n" /* R leaves nothing of a connection unwritten */
         "made <- file.create(path)\n"
         ".Last <- function() { cat('kept', file = path); cat('bye\\n') }\n"
         "cat('main\\n')\n"
         "7",
    .lua = "f = io.open('@/file', 'w')\n"
           "f:write('kept')\n"
           "handler = setmetatable({}, {__gc = function() print('bye') end})\n"
           "print('main')\n"
           "return 7",
};

static const char *directory_of_host(char *directory)
{
    CU_ASSERT_FATAL(mkdtemp(directory) && chmod(directory, 0777) == 0);
    return directory;
}

/* What was written into the file, and perhaps not from the interpreter to the file. */
static void has(const char *directory, const char *expected)
{
    struct laz_buf text = LAZ_BUF_INIT;
    char path[80];

    snprintf(path, sizeof path, "%s/file", directory);
    CU_ASSERT_EQUAL(laz_os_read_file(path, 100, &text, NULL), 0);
    UNIT_TEXT(laz_buf_text(&text), expected);
    laz_buf_fini(&text);
}

static struct laz_engine *engine_writing(bool warm, const char *directory)
{
    char text[200];

    snprintf(text, sizeof text, "%ssandbox.write=[\"%s\"]", warm ? "pool.warm=template;" : "",
             directory);
    return test_engine(text);
}

static char *code_of(const struct words *w, const char *directory)
{
    const char *code = test_phrase(w, &leaving), *at = strchr(code, '@');

    return laz_strdupf("%.*s%s%s", (int)(at - code), code, directory, at + 1);
}

static struct laz_result *run_once(struct laz_engine *engine, const char *runtime, const char *code,
                                   const struct laz_execute_options *options)
{
    const struct laz_session_options session = {.size = sizeof session, .runtime = runtime};
    struct laz_result *result = NULL;
    struct laz_error err = {0};

    int rc = laz_execute(engine, &session, code, strlen(code), options, &result, &err);
    if (rc)
        printf("\n    %s: %s", runtime, err.text);
    CU_ASSERT_EQUAL(rc, 0);
    return result;
}

struct told {
    unsigned times;
    struct laz_result *result;
    int code;
};

static void tell(void *user, struct laz_result *result, const struct laz_error *err)
{
    struct told *told = user;

    told->times++;
    told->result = result;
    told->code = err ? err->code : 0;
}

static struct laz_result *run_async(struct laz_engine *engine, const char *runtime,
                                    const char *code, const struct laz_execute_options *options)
{
    const struct laz_session_options session = {.size = sizeof session, .runtime = runtime};
    struct told told = {0};

    CU_ASSERT_EQUAL_FATAL(
        laz_execute_async(engine, &session, code, SIZE_MAX, options, tell, &told, NULL), 0);
    CU_ASSERT_EQUAL(told.times, 0);
    while (!told.times)
        CU_ASSERT_EQUAL_FATAL(laz_engine_step(engine, -1, NULL), 0);
    CU_ASSERT_PTR_NULL(engine->sessions.sessions); /* nothing of it is left */
    return told.result;
}

static void add_line(void *user, int stream, const char *text, size_t len)
{
    (void)stream;
    laz_buf_printf(user, "%.*s\n", (int)len, text);
}

/* The result and the handlers have what was written after the value. */
static void one_shot(const struct words *w,
                     struct laz_result *(*run)(struct laz_engine *, const char *, const char *,
                                               const struct laz_execute_options *))
{
    char directory[] = "/var/tmp/laz-test-XXXXXX";
    struct laz_engine *engine = engine_writing(false, directory_of_host(directory));
    struct laz_buf lines = LAZ_BUF_INIT;
    const struct laz_execute_options options = {
        .size = sizeof options, .line = add_line, .user = &lines};
    const char *expected =
        strcmp(w->runtime, "python") == 0 ? "main\nthread\nbye\n" : "main\nbye\n";
    char *code = code_of(w, directory);
    struct laz_result *result = engine && code ? run(engine, w->runtime, code, &options) : NULL;

    if (result) {
        char *output = test_output(result, LAZ_STDOUT);
        CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_OK);
        UNIT_TEXT(laz_result_value(result), "7");
        UNIT_TEXT(output, expected);
        UNIT_TEXT(laz_buf_text(&lines), expected);
        CU_ASSERT_TRUE(test_result_has(result, "\"warnings\":[]"));
        has(directory, "kept");
        free(output);
    }
    laz_result_free(result);
    laz_engine_free(engine);
    laz_buf_fini(&lines);
    laz_os_remove_tree(directory);
    free(code);
}

static void a_script_ends_like_one(void)
{
    for (size_t i = 0; i < n_languages; i++)
        one_shot(&languages[i], run_once);
}

static void nobody_has_to_wait_for_the_end_of_a_script(void)
{
    for (size_t i = 0; i < n_languages; i++)
        one_shot(&languages[i], run_async);
}

#define ENDLESS                                                                                    \
    "handler = setmetatable({}, {__gc = function() while true do end end})\n"                      \
    "return 7"

/* Two scripts that do not end by themselves, once both are asked to. */
static struct laz_engine *two_that_end(struct told *told)
{
    const struct laz_session_options lua = {.size = sizeof lua, .runtime = "lua"};
    struct laz_engine *engine = test_engine("limits.cpu=100000");
    unsigned ending = 0;

    for (unsigned i = 0; engine && i < 2; i++)
        CU_ASSERT_EQUAL_FATAL(
            laz_execute_async(engine, &lua, ENDLESS, SIZE_MAX, NULL, tell, &told[i], NULL), 0);
    while (engine && ending < 2) {
        CU_ASSERT_EQUAL_FATAL(laz_engine_step(engine, -1, NULL), 0);
        ending = 0;
        for (const struct laz_session *s = engine->sessions.sessions; s; s = s->next)
            ending += s->finish.under_way;
    }
    return engine;
}

static void were_cut_off(struct told *told)
{
    for (unsigned i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(told[i].times, 1);
        CU_ASSERT_EQUAL(laz_result_verdict(told[i].result), LAZ_VERDICT_OK);
        CU_ASSERT_TRUE(test_result_has(told[i].result, "did not finish in the time"));
        laz_result_free(told[i].result);
    }
}

static void a_cancel_cuts_off_the_end_of_scripts(void)
{
    struct told told[2] = {{0}};
    struct laz_engine *engine = two_that_end(told);

    if (!engine)
        return;
    laz_engine_cancel(engine);
    while (told[0].times + told[1].times < 2)
        CU_ASSERT_EQUAL_FATAL(laz_engine_step(engine, -1, NULL), 0);
    were_cut_off(told);
    laz_engine_free(engine);
}

static void a_script_that_ends_is_reported_when_its_engine_is_freed(void)
{
    struct told told[2] = {{0}};
    struct laz_engine *engine = two_that_end(told);

    if (!engine)
        return;
    laz_engine_free(engine);
    were_cut_off(told);
}

static void a_script_that_runs_is_reported_when_its_engine_is_freed(void)
{
    const struct laz_session_options lua = {.size = sizeof lua, .runtime = "lua"};
    struct laz_engine *engine = test_engine("");
    struct told told[2] = {{0}};

    for (unsigned i = 0; engine && i < 2; i++) /* the second has not been looked at */
        CU_ASSERT_EQUAL_FATAL(laz_execute_async(engine, &lua, "while true do end", SIZE_MAX, NULL,
                                                tell, &told[i], NULL) ||
                                  (!i && laz_engine_step(engine, -1, NULL)),
                              0);
    laz_engine_free(engine);
    for (unsigned i = 0; engine && i < 2; i++) {
        CU_ASSERT_EQUAL(told[i].times, 1);
        CU_ASSERT_EQUAL(laz_result_verdict(told[i].result), LAZ_VERDICT_CANCELLED);
        laz_result_free(told[i].result);
    }
}

/* As laz_execute tells it: a start that fails is a verdict, whatever else is wrong an error. */
static void a_script_that_does_not_start(void)
{
    struct laz_engine *engine = test_engine("sandbox.backend=[\"none\"]");
    const struct laz_session_options none = {.size = sizeof none, .runtime = "cobol"};
    struct laz_session_options lua = {.size = sizeof lua, .runtime = "lua"};
    struct laz_error err = {0};
    struct told told = {0};

    CU_ASSERT_EQUAL(laz_execute_async(engine, &none, "1", SIZE_MAX, NULL, tell, &told, &err),
                    LAZ_ENOENT);
    CU_ASSERT_EQUAL(laz_execute_async(engine, &lua, "1", SIZE_MAX, NULL, tell, &told, &err), 0);
    while (engine && !told.times)
        CU_ASSERT_EQUAL_FATAL(laz_engine_step(engine, -1, NULL), 0);
    CU_ASSERT_EQUAL(told.code, LAZ_EREFUSED); /* sandbox.require */
    CU_ASSERT_PTR_NULL(told.result);
    laz_engine_free(engine);
}

/* How a session is left: closed, or restarted, its interpreter ends by itself; freed, it is killed,
 * which leaves the file as it was when it was opened. */
static void leave(const struct words *w, bool warm, void (*by)(struct laz_session *session),
                  bool writes)
{
    char directory[] = "/var/tmp/laz-test-XXXXXX";
    struct laz_engine *engine = engine_writing(warm, directory_of_host(directory));
    struct laz_session *session = !engine ? NULL
                                  : warm  ? test_warm_session(engine, w->runtime)
                                          : test_session(engine, w->runtime);
    char *code = code_of(w, directory);

    if (session && code) {
        test_expect(session, code, LAZ_VERDICT_OK, "7");
        test_hold_clock(engine); /* its two seconds are as long as it needs */
        by(session);
    }
    laz_engine_free(engine);
    if (session)
        has(directory, writes ? "kept" : "");
    laz_os_remove_tree(directory);
    free(code);
}

static void restart(struct laz_session *session)
{
    CU_ASSERT_EQUAL(laz_session_restart(session, NULL), 0);
    test_expect(session, "1 + 1", LAZ_VERDICT_OK, "2");
}

static void a_session_that_is_closed_or_restarted_writes_its_files(void)
{
    for (size_t i = 0; i < n_languages; i++) {
        leave(&languages[i], false, laz_session_close, true);
        leave(&languages[i], false, restart, true);
        leave(&languages[i], false, laz_session_free, false);
        leave(&languages[i], true, laz_session_close, true);
    }
}

static void calls_of_tools_at_the_end_are_errors(void)
{
    static const char code[] = "import atexit\n"
                               "def last():\n"
                               "    try: print(add(1, 2))\n"
                               "    except Exception as error: print(error)\n"
                               "h = atexit.register(last)";
    struct laz_engine *engine = test_engine("");
    struct laz_result *result = engine ? run_once(engine, "python", code, NULL) : NULL;

    if (result) {
        char *output = test_output(result, LAZ_STDOUT);
        CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_OK);
        if (!strstr(output, "while nothing is executed"))
            printf("\n    %s", output);
        CU_ASSERT_PTR_NOT_NULL(strstr(output, "while nothing is executed"));
        free(output);
    }
    laz_result_free(result);
    laz_engine_free(engine);
}

/* The clocks of the execution go on; what does not end is killed, and the result says so. */
static void an_end_that_takes_too_long_is_cut_off(void)
{
    static const char code[] = "import threading\n"
                               "e = threading.Event()\n"
                               "threading.Thread(target=e.wait).start()";
    const struct laz_execute_options options = {.size = sizeof options, .deadline_ms = 300};
    struct laz_engine *engine = test_engine("");
    struct laz_result *result = engine ? run_once(engine, "python", code, &options) : NULL;

    if (result && laz_result_verdict(result) != LAZ_VERDICT_DEADLINE) { /* of a slow machine */
        CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_OK);
        CU_ASSERT_TRUE(test_result_has(result, "did not finish in the time"));
    }
    laz_result_free(result);
    laz_engine_free(engine);
}

static const struct unit_test tests[] = {
    UNIT(a_script_ends_like_one),
    UNIT(nobody_has_to_wait_for_the_end_of_a_script),
    UNIT(a_cancel_cuts_off_the_end_of_scripts),
    UNIT(a_script_that_ends_is_reported_when_its_engine_is_freed),
    UNIT(a_script_that_runs_is_reported_when_its_engine_is_freed),
    UNIT(a_script_that_does_not_start),
    UNIT(a_session_that_is_closed_or_restarted_writes_its_files),
    UNIT(calls_of_tools_at_the_end_are_errors),
    UNIT(an_end_that_takes_too_long_is_cut_off),
    {0},
};

int main(void)
{
    return unit_run("finish", tests);
}
