/* SPDX-License-Identifier: MIT */
/* live.c (tests) - what tests of sessions share. */
#include "live.h"

#include "base/buf.h"
#include "engine/engine.h"
#include "session/looks.h"
#include "session/session.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const struct words languages[] = {
    {
        .runtime = "python",
        .print_begin = "print('begin', flush=True)\n",
        .add_2_3 = "add(2, 3)",
        .chain_13 = "add(add(2, 3), b=8)",
        .three_calls = "[add(i, i) for i in range(3)]",
        .fail = "fail()",
        .raise = "raise ValueError('user error')",
        .loop = "while True: pass",
        .hello_no_newline = "import sys\nn = sys.stdout.write('hello')\n7",
        .two_lines = "print('one')\nprint('two')",
        .hundred_lines = "for i in range(100): print('line', i)\n'done'",
        .set_x = "x = 41",
        .get_x = "x + 1",
        .multi = "a = 1\nb = 2\na + b",
        .syntax_error = "x = (1",
        .leave_0 = "print('bye')\nexit()",
        .leave_7 = "import sys\nsys.exit(7)",
        .die = "import os, signal\nprint('last words')\nos.kill(os.getpid(), signal.SIGSEGV)",
        .forty_two_and_output = "print('out')\n42",
        .exit_3_at_once = "import os\nos._exit(3)",
        .sleep_10 = "import time\nprint('begin')\ntime.sleep(10)",
        .echo_x = "echo(x)",
        .catch_fail = "try:\n    fail()\nexcept Exception as e:\n    r = str(e)\nr",
        .wrong_type = "add('x', 1)",
        .unexpected = "add(1, 2, evil=3)",
        .path_error = "raise OSError('cannot open /home/user/secret.txt')",
    },
    {
        .runtime = "r",
        .print_begin = "cat('begin\\n')\n",
        .add_2_3 = "add(2, 3)",
        .chain_13 = "add(add(2, 3), b = 8)",
        .three_calls = "sapply(0:2, function(i) add(i, i))",
        .fail = "fail()",
        .raise = "stop('user error')",
        .loop = "repeat {}",
        .hello_no_newline = "cat('hello')\n7",
        .two_lines = "cat('one\\n')\ncat('two\\n')",
        .hundred_lines = "for (i in 0:99) cat('line', i, '\\n')\n'done'",
        .set_x = "x <- 41",
        .get_x = "x + 1",
        .multi = "a <- 1\nb <- 2\na + b",
        .syntax_error = "x <- (1",
        .leave_0 = "cat('bye\\n')\nquit()",
        .leave_7 = "quit(status = 7)",
        .die = "cat('last words\\n')\ntools::pskill(Sys.getpid(), 11L)\nSys.sleep(5)",
        .forty_two_and_output = "cat('out\\n')\n42",
        .exit_3_at_once = NULL,
        .sleep_10 = "cat('begin\\n')\nSys.sleep(10)",
        .echo_x = "echo(x)",
        .catch_fail = "tryCatch(fail(), error = function(e) conditionMessage(e))",
        .wrong_type = "add('x', 1)",
        .unexpected = "add(1, 2, evil = 3)",
        .path_error = "stop('cannot open /home/user/secret.txt')",
    },
    {
        .runtime = "lua",
        .print_begin = "print('begin') io.flush()\n",
        .add_2_3 = "add(2, 3)",
        .chain_13 = "add(add(2, 3), 8)",
        .three_calls = "local t = {}\nfor i = 0, 2 do t[i + 1] = add(i, i) end\nreturn t",
        .fail = "fail()",
        .raise = "error('user error')",
        .loop = "while true do end",
        .hello_no_newline = "io.write('hello')\nreturn 7",
        .two_lines = "print('one')\nprint('two')",
        .hundred_lines = "for i = 0, 99 do print('line', i) end\nreturn 'done'",
        .set_x = "x = 41",
        .get_x = "x + 1",
        .multi = "a = 1\nb = 2\nreturn a + b",
        .syntax_error = "x = (1",
        .leave_0 = "print('bye')\nos.exit()",
        .leave_7 = "os.exit(7)",
        .die = "print('last words')\nos.execute('kill -SEGV $PPID')\nwhile true do end",
        .forty_two_and_output = "print('out')\nreturn 42",
        .exit_3_at_once = NULL,
        .sleep_10 = "print('begin')\nos.execute('sleep 10')",
        .echo_x = "echo(x)",
        .catch_fail = "local ok, e = pcall(fail)\nreturn tostring(e)",
        .wrong_type = "add('x', 1)",
        .unexpected = "add{a = 1, b = 2, evil = 3}",
        .path_error = "error('cannot open /home/user/secret.txt')",
    },
};
const size_t n_languages = sizeof languages / sizeof *languages;

const char *test_phrase(const struct words *language, const struct phrase *phrase)
{
    return *language->runtime == 'p'   ? phrase->python
           : *language->runtime == 'r' ? phrase->r
                                       : phrase->lua;
}

/* ---- tools of the application --------------------------------------------------------------- */

/* The number after `"key":` in a checked object. */
static double test_number(const char *args, const char *key)
{
    char quoted[32];

    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(args, quoted);
    return at ? strtod(at + strlen(quoted), NULL) : 0;
}

static void tool_add(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    char text[48];

    (void)user, (void)len;
    int n = snprintf(text, sizeof text, "%.15g", test_number(args, "a") + test_number(args, "b"));
    laz_reply_value(reply, text, (size_t)n);
}

static void tool_fail(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len;
    laz_reply_error(reply, "the tool is out of order");
}

static void tool_echo(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user;
    /* {"x":VALUE} */
    laz_reply_value(reply, args + 5, len - 6);
}

static void tool_nothing(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len, (void)reply;
}

static atomic_bool clock_is_held;
static sem_t gate, gate_passed;

static void await(sem_t *at)
{
    while (sem_wait(at) && errno == EINTR)
        ;
}

/* Takes the given time: of the engine's clock, if it is held. */
static void tool_slow(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    double ms = test_number(args, "ms");
    struct timespec wait = {(time_t)(ms / 1000), (long)((int)ms % 1000) * 1000000L};

    (void)len;
    if (atomic_load(&clock_is_held))
        test_post_advance(user, (uint64_t)ms);
    else
        nanosleep(&wait, NULL); /* this tool is meant to be slow */
    laz_reply_value(reply, "\"slow\"", 6);
}

static void tool_stuck(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)len;
    if (!atomic_load(&clock_is_held)) {
        laz_reply_error(reply, "only with a held clock");
        return;
    }
    test_post_advance(user, (uint64_t)test_number(args, "ms"));
    await(&gate);
    sem_post(&gate_passed);
    laz_reply_value(reply, "\"late\"", 6);
}

void test_gate_open(void)
{
    sem_post(&gate);
    await(&gate_passed); /* so that the next call cannot take its place */
}

static const struct {
    struct laz_tool tool;
    void (*call)(void *user, const char *args, size_t len, struct laz_reply *reply);
} test_tools[] = {
    {{.name = "add",
      .description = "Adds two numbers",
      .parameters = "[{\"name\":\"a\",\"type\":\"number\"},{\"name\":\"b\",\"type\":\"number\"}]"},
     tool_add},
    {{.name = "fail", .description = "Fails"}, tool_fail},
    {{.name = "echo", .description = "Gives back its argument", .parameters = "[{\"name\":\"x\"}]"},
     tool_echo},
    {{.name = "nothing", .description = "Gives no answer"}, tool_nothing},
    {{.name = "slow",
      .description = "Takes its time",
      .parameters = "[{\"name\":\"ms\",\"type\":\"number\"}]"},
     tool_slow},
    {{.name = "late",
      .description = "Takes longer than it may",
      .parameters = "[{\"name\":\"ms\",\"type\":\"number\"}]",
      .timeout_ms = 100},
     tool_stuck},
    {{.name = "stuck",
      .description = "Takes longer than others may",
      .parameters = "[{\"name\":\"ms\",\"type\":\"number\"}]"},
     tool_stuck},
};

/* ---- engines and sessions ------------------------------------------------------------------- */

struct laz_buf *test_told;

void test_log(void *user, uint32_t level, const char *text)
{
    (void)user;
    if (test_told)
        laz_buf_printf(test_told, "[%u] %s\n", level, text);
    else
        printf("    [%u] %s\n", level, text);
}

/* Timeouts that a busy machine could reach by default; and the grace of code that is interrupted,
 * which a clock that is held would never end. */
static const char *const test_patient[][2] = {
    {"session.timeout", "0"},
    {"session.deadline", "0"},
    {"session.start_timeout", "600"},
    {"session.interrupt_grace", "0"},
};

struct laz_settings *test_settings(const char *settings_text)
{
    struct laz_settings *settings = NULL;
    struct laz_error err = {0};
    char *text = laz_strdup(settings_text);

    int rc = laz_settings_new(&settings, &err);
    for (size_t i = 0; i < sizeof test_patient / sizeof *test_patient && !rc; i++)
        rc = laz_settings_set(settings, test_patient[i][0], test_patient[i][1], &err);
    if (!rc && getenv("TEST_BACKEND"))
        rc = laz_settings_set(settings, "sandbox.backend", getenv("TEST_BACKEND"), &err);
    if (!rc && getenv("TEST_WARM"))
        rc = laz_settings_set(settings, "pool.warm", getenv("TEST_WARM"), &err);
    for (char *at = text; !rc && at && *at;) {
        size_t len = strcspn(at, ";");
        char *next = at[len] ? at + len + 1 : at + len;
        at[len] = '\0';
        char *value = strchr(at, '=');
        *value++ = '\0';
        rc = laz_settings_set(settings, at, value, &err);
        at = next;
    }
    if (rc) {
        printf("\n    no settings: %s", err.text);
        laz_settings_free(settings);
        settings = NULL;
    }
    CU_ASSERT_EQUAL(rc, 0);
    free(text);
    return settings;
}

struct laz_engine *test_engine(const char *settings_text)
{
    const char *verbose = getenv("TEST_VERBOSE");
    struct laz_engine_options options = {.size = sizeof options,
                                         .log = test_log,
                                         .log_level = verbose ? LAZ_LOG_DEBUG : LAZ_LOG_ERROR};
    struct laz_settings *settings = test_settings(settings_text);
    struct laz_engine *engine = NULL;
    struct laz_error err = {0};

    if (!settings)
        return NULL;
    atomic_store(&clock_is_held, false);
    sem_init(&gate, 0, 0);
    sem_init(&gate_passed, 0, 0);
    int rc = laz_engine_new(settings, &options, &engine, &err);
    if (!rc)
        engine->boxes.death_ms = UNIT_HANG_MS;
    for (size_t i = 0; i < sizeof test_tools / sizeof *test_tools && !rc; i++) {
        struct laz_tool tool = test_tools[i].tool;
        tool.size = sizeof tool;
        rc = laz_engine_add_tool(engine, &tool, test_tools[i].call, engine, &err);
    }
    if (rc) {
        printf("\n    no engine: %s", err.text);
        laz_engine_free(engine);
        engine = NULL;
    }
    CU_ASSERT_EQUAL(rc, 0);
    laz_settings_free(settings);
    return engine;
}

struct laz_engine *test_engine_open(const char *settings)
{
    char *text =
        laz_strdupf("sandbox.backend=none;sandbox.require=[]%s%s", *settings ? ";" : "", settings);
    struct laz_engine *engine = text ? test_engine(text) : NULL;

    free(text);
    return engine;
}

void test_mock_agent(void)
{
    struct laz_engine *engine;
    struct laz_error err;
    char path[PATH_MAX];

    if (!realpath("tests/mock/agent", path) || setenv("LAZARET_AGENT", path, 1)) {
        printf("tests/mock/agent is not built\n");
        exit(1);
    }
    if (laz_engine_new(NULL, NULL, &engine, &err)) {
        printf("no engine: %s\n", err.text);
        exit(1);
    }
    laz_engine_free(engine);
}

static struct laz_session *open_session(struct laz_engine *engine, const char *runtime,
                                        uint32_t warm)
{
    struct laz_session_options options = {.size = sizeof options, .runtime = runtime, .warm = warm};
    struct laz_session *session = NULL;
    struct laz_error err = {0};

    if (!engine)
        return NULL;
    int rc = laz_session_open(engine, &options, &session, &err);
    if (rc == LAZ_ENOENT) {
        unit_skip(runtime, err.text);
        return NULL;
    }
    if (rc)
        printf("\n    no session of %s: %s", runtime, err.text);
    CU_ASSERT_EQUAL(rc, 0);
    return session;
}

struct laz_session *test_session(struct laz_engine *engine, const char *runtime)
{
    return open_session(engine, runtime, getenv("TEST_WARM") != NULL);
}

struct laz_session *test_warm_session(struct laz_engine *engine, const char *runtime)
{
    return open_session(engine, runtime, 1);
}

struct laz_result *test_run(struct laz_session *session, const char *code,
                            const struct laz_execute_options *options)
{
    struct laz_result *result = NULL;
    struct laz_error err = {0};

    if (!session)
        return NULL;
    int rc = laz_session_execute(session, code, SIZE_MAX, options, &result, &err);
    if (rc)
        printf("\n    not executed: %s", err.text);
    CU_ASSERT_EQUAL(rc, 0);
    return result;
}

static void test_verdict(struct laz_result *result, const char *code, enum laz_verdict verdict)
{
    if (laz_result_verdict(result) != verdict)
        printf("\n    %.60s\n    verdict %s: %s (%s)", code,
               laz_verdict_name(laz_result_verdict(result)), laz_result_detail(result),
               laz_result_error(result) ? laz_result_error(result) : "");
    CU_ASSERT_EQUAL(laz_result_verdict(result), verdict);
}

void test_expect_with(struct laz_session *session, const char *code,
                      const struct laz_execute_options *options, enum laz_verdict verdict,
                      const char *value)
{
    struct laz_result *result = test_run(session, code, options);

    if (!result)
        return;
    test_verdict(result, code, verdict);
    if (value)
        UNIT_TEXT(laz_result_value(result), value);
    laz_result_free(result);
}

void test_expect(struct laz_session *session, const char *code, enum laz_verdict verdict,
                 const char *value)
{
    test_expect_with(session, code, NULL, verdict, value);
}

/* ---- time ----------------------------------------------------------------------------------- */

struct laz_engine *test_engine_of(struct laz_session *session)
{
    return (struct laz_engine *)(void *)((char *)session->shared -
                                         offsetof(struct laz_engine, sessions));
}

void test_hold_clock(struct laz_engine *engine)
{
    atomic_store(&clock_is_held, true);
    laz_loop_hold_clock(engine->driver.loop);
}

void test_advance_clock(struct laz_engine *engine, uint64_t ms)
{
    while (laz_looks_are_out(engine->sessions.looks))
        sched_yield();
    laz_loop_advance_clock(engine->driver.loop, ms);
}

struct advance_post {
    struct laz_post post;
    struct laz_engine *engine;
    uint64_t ms;
    sem_t done;
};

static void advance_posted(struct laz_post *post)
{
    struct advance_post *advance = (struct advance_post *)(void *)post;

    test_advance_clock(advance->engine, advance->ms);
    sem_post(&advance->done);
}

void test_post_advance(struct laz_engine *engine, uint64_t ms)
{
    struct advance_post advance = {.post.run = advance_posted, .engine = engine, .ms = ms};

    sem_init(&advance.done, 0, 0);
    laz_loop_post(engine->driver.loop, &advance.post);
    await(&advance.done);
    sem_destroy(&advance.done);
}

void test_line_advances(void *user, int stream, const char *text, size_t len)
{
    struct test_advance *advance = user;

    (void)stream, (void)text, (void)len;
    if (!advance->lines++)
        test_advance_clock(advance->engine, advance->ms);
}

void test_expect_timeout(struct laz_session *session, const char *code, uint64_t timeout_ms)
{
    const struct laz_execute_options options = {.size = sizeof options, .timeout_ms = timeout_ms};

    test_expect_with(session, code, &options, LAZ_VERDICT_TIMEOUT, NULL);
}

void test_expect_error(struct laz_session *session, const char *code, enum laz_verdict verdict,
                       const char *part)
{
    test_expect_error_with(session, code, NULL, verdict, part);
}

void test_expect_error_with(struct laz_session *session, const char *code,
                            const struct laz_execute_options *options, enum laz_verdict verdict,
                            const char *part)
{
    struct laz_result *result = test_run(session, code, options);

    if (!result)
        return;
    test_verdict(result, code, verdict);
    const char *error = laz_result_error(result);
    if (!error || !strstr(error, part))
        printf("\n    %.60s\n    error: %s\n    lacks: %s", code, error ? error : "(none)", part);
    CU_ASSERT(error && strstr(error, part));
    laz_result_free(result);
}

char *test_output(const struct laz_result *result, int stream)
{
    struct laz_buf text = LAZ_BUF_INIT;
    size_t len;
    int of;

    for (size_t i = 0; i < laz_result_outputs(result); i++) {
        const char *piece = laz_result_output(result, i, &of, &len);
        if (of == stream)
            laz_buf_append(&text, piece, len);
    }
    return laz_buf_steal(&text);
}

bool test_result_has(struct laz_result *result, const char *part)
{
    const char *json = laz_result_json(result);
    bool has = strstr(json, part) != NULL;

    if (!has)
        printf("\n    lacks %s: %.2000s\n", part, json);
    return has;
}

static void test_one(const struct words *language, const char *settings,
                     void (*body)(struct laz_session *, const struct words *))
{
    struct laz_engine *engine = test_engine(settings);
    struct laz_session *session = test_session(engine, language->runtime);

    if (session) {
        body(session, language);
        laz_session_free(session);
    }
    laz_engine_free(engine);
}

void test_each(const char *settings, void (*body)(struct laz_session *, const struct words *))
{
    const char *only = getenv("TEST_RUNTIME");

    for (size_t i = 0; i < n_languages; i++)
        if (!only || strcmp(only, languages[i].runtime) == 0)
            test_one(&languages[i], settings, body);
}

void test_in_lua(const char *settings, void (*body)(struct laz_session *, const struct words *))
{
    for (size_t i = 0; i < n_languages; i++)
        if (strcmp(languages[i].runtime, "lua") == 0)
            test_one(&languages[i], settings, body);
}

static struct {
    struct laz_engine *engine;
    struct laz_session *session;
} kept[sizeof languages / sizeof *languages];

void test_each_kept(const char *settings, void (*body)(struct laz_session *, const struct words *))
{
    const char *only = getenv("TEST_RUNTIME");

    for (size_t i = 0; i < n_languages; i++) {
        if (only && strcmp(only, languages[i].runtime) != 0)
            continue;
        if (!kept[i].engine) {
            kept[i].engine = test_engine(settings);
            kept[i].session = test_session(kept[i].engine, languages[i].runtime);
        }
        if (kept[i].session)
            body(kept[i].session, &languages[i]);
    }
}

void test_kept_free(void)
{
    for (size_t i = 0; i < n_languages; i++)
        laz_engine_free(kept[i].engine); /* also frees its session */
    memset(kept, 0, sizeof kept);
}
