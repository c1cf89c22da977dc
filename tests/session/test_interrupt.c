/* SPDX-License-Identifier: MIT */
/* test_interrupt.c - code that is interrupted: wherever it is, its session is kept with all that it
 * has, or replaced as its result says, and the next execution has its own result.
 *
 * A point is a situation and a moment: the time from the first line of output to the interrupt.
 * What happens then depends on the machine (the code may have ended), what is told about it does
 * not. */
#include "live.h"

#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* code in three languages */

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- who interrupts ---------------------------------------------------------------------------
 */

static struct {
    struct laz_session *session;
    unsigned us; /* after the first line */
    sem_t line, done;
    atomic_bool is_over;
    unsigned lines;
} who;

static void *interrupts(void *unused)
{
    (void)unused;
    for (;;) {
        sem_wait(&who.line);
        if (atomic_load(&who.is_over))
            return NULL;
        if (who.us)
            usleep(who.us);
        (void)laz_session_interrupt(who.session);
        sem_post(&who.done);
    }
}

static void first_line(void *user, int stream, const char *text, size_t len)
{
    (void)user, (void)stream, (void)text, (void)len;
    if (!who.lines++)
        sem_post(&who.line);
}

static const unsigned moments_us[] = {0, 60, 400, 2500, 9000};

/* Executes code that prints a line, and interrupts it. */
static struct laz_result *interrupted(struct laz_session *session, const char *code, unsigned us)
{
    const struct laz_execute_options options = {.size = sizeof options, .line = first_line};

    who.session = session;
    who.us = us;
    who.lines = 0;
    struct laz_result *result = test_run(session, code, &options);
    if (who.lines)
        sem_wait(&who.done); /* else it may hit what comes next */
    return result;
}

/* ---- situations -------------------------------------------------------------------------------
 */

/* Each prints a line and goes on for ever, or ends at once where it says so. `wait` is a tool that
 * answers when the test has ended. None leaves a process behind that was started just after the
 * interrupt, and for which an interpreter would wait when it closes the pipe to it. */
struct situation {
    const char *name;
    struct phrase code;
};

static const struct situation situations[] = {
    {"a loop of the language",
     {.python = "print('go')\nwhile True: pass",
      .r = "cat('go\\n')\nrepeat {}",
      .lua = "print('go') while true do end"}},
    {"a loop in a function that calls others",
     {.python = "def f(n): return n if n < 2 else f(n - 1) + f(n - 2)\nprint('go')\nf(60)",
      .r = "f <- function(n) if (n < 2) n else f(n - 1) + f(n - 2)\ncat('go\\n')\nf(60)",
      .lua = "local function f(n) if n < 2 then return n end return f(n - 1) + f(n - 2) end "
             "print('go') return f(90)"}},
    {"code in C",
     {.python = "print('go')\nimport itertools, collections\n"
                "while True: collections.deque(itertools.repeat(0, 200000), maxlen=0)",
      .r = "cat('go\\n')\nrepeat sort(runif(1e5))",
      .lua = "print('go') while true do table.concat({('x'):rep(1000)}) end"}},
    {"sleep",
     {.python = "print('go')\nimport time\ntime.sleep(3000)",
      .r = "cat('go\\n')\nSys.sleep(3000)",
      .lua = "print('go') os.execute('sleep 3000')"}},
    {"another process",
     {.python = "print('go')\nimport os\nos.system('sleep 3000')",
      .r = "cat('go\\n')\nsystem('sleep 3000')",
      .lua = "print('go') os.execute('sleep 3000')"}},
    {"a pipe that nobody writes to",
     {.python = "import os\nends = os.pipe()\nprint('go')\nos.read(ends[0], 1)",
      .r = "cat('go\\n')\nsystem('sleep 3000 | cat')",
      .lua = "print('go') os.execute('sleep 3000 | cat')"}},
    {"a call of a tool",
     {.python = "print('go')\nwait()", .r = "cat('go\\n')\nwait()", .lua = "print('go') wait()"}},
    {"calls of a tool whose errors are caught",
     {.python = "print('go')\nwhile True:\n  try: wait()\n  except Exception: pass",
      .r = "cat('go\\n')\nrepeat tryCatch(wait(), error = function(e) 0)",
      .lua = "print('go') while true do local ok = pcall(wait) if not ok then "
             "for i = 1, 100 do end end end"}},
    {"printing",
     {.python = "while True: print('go')",
      .r = "repeat cat('go\\n')",
      .lua = "while true do print('go') end"}},
    {"a value that is written",
     {.python = "print('go')\nlist(range(30000))",
      .r = "cat('go\\n')\nas.list(1:30000)",
      .lua = "print('go') local t = {} for i = 1, 30000 do t[i] = i end return t"}},
    {"a handler",
     {.python = "try:\n  raise ValueError\nexcept ValueError:\n  print('go')\n  while True: pass",
      .r = "tryCatch(stop('x'), error = function(e) { cat('go\\n'); repeat {} })",
      .lua = "if not pcall(error) then print('go') while true do end end"}},
    {"a coroutine or a frame of its own",
     {.python = "def g():\n  print('go')\n  while True: yield 1\nfor x in g(): pass",
      .r = "local({ on.exit(closed <- TRUE); cat('go\\n'); repeat {} })",
      .lua = "local c = coroutine.wrap(function() print('go') while true do "
             "coroutine.yield() end end) while true do c() end"}},
    {"the end", {.python = "print('go')", .r = "cat('go\\n')", .lua = "print('go')"}},
};

#define N(array) (sizeof(array) / sizeof *(array))

static void keeps(struct laz_session *session, const struct words *w, unsigned number)
{
    static const struct phrase set = {.python = "mark = %u", .r = "mark <- %u", .lua = "mark = %u"};
    static const struct phrase get = {
        .python = "[mark, %u]", .r = "c(mark, %u)", .lua = "return {mark, %u}"};
    const struct situation *situation = &situations[number / N(moments_us)];
    char code[100], expected[64];

    snprintf(code, sizeof code, test_phrase(w, &set), number);
    test_expect(session, code, LAZ_VERDICT_OK, NULL);
    struct laz_result *result =
        interrupted(session, test_phrase(w, &situation->code), moments_us[number % N(moments_us)]);
    const enum laz_verdict verdict = laz_result_verdict(result);
    if ((verdict != LAZ_VERDICT_CANCELLED && verdict != LAZ_VERDICT_OK) ||
        !laz_result_is_kept(result))
        printf("\n    %s, %s, point %u: %s", w->runtime, situation->name, number,
               laz_result_json(result));
    CU_ASSERT(verdict == LAZ_VERDICT_CANCELLED || verdict == LAZ_VERDICT_OK);
    CU_ASSERT_TRUE(laz_result_is_kept(result));
    laz_result_free(result);
    snprintf(code, sizeof code, test_phrase(w, &get), number + 1000);
    snprintf(expected, sizeof expected, "[%u,%u]", number, number + 1000);
    result = test_run(session, code, NULL);
    if (strcmp(laz_result_value(result), expected) != 0)
        printf("\n    after %s, %s, point %u: %s", w->runtime, situation->name, number,
               laz_result_json(result));
    UNIT_TEXT(laz_result_value(result), expected);
    CU_ASSERT_PTR_NULL(laz_result_replaced(result));
    laz_result_free(result);
}

static sem_t end_of_tests;

static void wait_tool(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len;
    sem_wait(&end_of_tests);
    sem_post(&end_of_tests);
    laz_reply_value(reply, "0", 1);
}

static struct laz_engine *engine_that_waits(const char *settings)
{
    const struct laz_tool tool = {.size = sizeof tool, .name = "wait", .description = ""};
    struct laz_engine *engine = test_engine(settings);

    if (engine)
        CU_ASSERT_EQUAL(laz_engine_add_tool(engine, &tool, wait_tool, NULL, NULL), 0);
    return engine;
}

static void with_one_who_interrupts(const char *settings, void (*body)(struct laz_session *session,
                                                                       const struct words *w))
{
    const char *only = getenv("TEST_RUNTIME");
    pthread_t thread;
    char text[200];

    sem_init(&who.line, 0, 0);
    sem_init(&who.done, 0, 0);
    sem_init(&end_of_tests, 0, 0);
    atomic_store(&who.is_over, false);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, interrupts, NULL), 0);
    snprintf(text, sizeof text, "session.interrupt_grace=60%s%s", *settings ? ";" : "", settings);
    struct laz_engine *engine = engine_that_waits(text);
    for (size_t i = 0; engine && i < n_languages; i++) {
        if (only && strcmp(only, languages[i].runtime) != 0)
            continue;
        struct laz_session *session = test_session(engine, languages[i].runtime);
        if (session)
            body(session, &languages[i]);
        laz_session_free(session);
    }
    atomic_store(&who.is_over, true);
    sem_post(&who.line);
    pthread_join(thread, NULL);
    sem_post(&end_of_tests);
    laz_engine_free(engine);
}

/* R loads a function when it is first called. If that is interrupted twice, the function stays
 * unusable, in every R (4.2: forcePromise, "promise already under evaluation"): the points begin
 * with those that they need. */
static void all_points(struct laz_session *session, const struct words *w)
{
    static const struct phrase loads = {
        .python = "0",
        .r = "invisible(tryCatch(sort(runif(9)), error = identity, interrupt = identity)); "
             "local(on.exit(0)); system('true'); x <- readLines(pipe('true')); Sys.sleep(0)",
        .lua = "",
    };

    test_expect(session, test_phrase(w, &loads), LAZ_VERDICT_OK, NULL);
    for (unsigned i = 0; i < N(situations) * N(moments_us); i++)
        keeps(session, w, i);
}

static void wherever_it_is_the_session_is_kept(void)
{
    with_one_who_interrupts("workers.max=100", all_points);
}

/* ---- what code does about it ------------------------------------------------------------------
 */

static void handles(struct laz_session *session, const struct words *w)
{
    static const struct phrase code = {
        .python = "import time\nseen = []\ntry:\n  try:\n    print('go')\n    time.sleep(3000)\n"
                  "  except KeyboardInterrupt:\n    seen.append('handler')\n    raise\n"
                  "finally:\n  seen.append('finally')\n  print('last')",
        .r = "seen <- character()\nf <- function() { on.exit({ seen <<- c(seen, 'finally'); "
             "cat('last\\n') })\n cat('go\\n'); Sys.sleep(3000) }\n"
             "tryCatch(f(), interrupt = function(e) seen <<- c('handler', seen))",
        .lua = "seen = {} local ok, why = pcall(function() print('go') while true do end end) "
               "seen[1] = 'handler' seen[2] = 'finally' print('last') error(why)",
    };
    static const struct phrase get = {.python = "seen", .r = "seen", .lua = "return seen"};
    struct laz_result *result = interrupted(session, test_phrase(w, &code), 0);
    size_t len = 0;

    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_CANCELLED);
    UNIT_TEXT(laz_result_error(result), "The execution was cancelled");
    const char *last = laz_result_output(result, laz_result_outputs(result) - 1, NULL, &len);
    CU_ASSERT(len >= 5 && memcmp(last + len - 5, "last\n", 5) == 0);
    laz_result_free(result);
    test_expect(session, test_phrase(w, &get), LAZ_VERDICT_OK, "[\"handler\",\"finally\"]");
}

static void handlers_of_the_language_run(void)
{
    with_one_who_interrupts("", handles);
}

/* The grace is the only time that counts: code that goes on is ended after it. */
static void goes_on(struct laz_session *session, const struct words *w)
{
    static const struct phrase code = {
        .python = "mark = 7\nwhile True:\n  try:\n    print('go')\n    while True: pass\n"
                  "  except BaseException: pass",
        .r = "mark <- 7\nrepeat tryCatch({ cat('go\\n'); repeat {} }, "
             "interrupt = function(e) NULL)",
        .lua = "mark = 7 while true do pcall(function() print('go') while true do end end) end",
    };
    static const struct phrase get = {
        .python = "'mark' in globals()", .r = "exists('mark')", .lua = "return mark ~= nil"};

    struct laz_result *result = interrupted(session, test_phrase(w, &code), 0);
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_CANCELLED);
    CU_ASSERT_FALSE(laz_result_is_kept(result));
    laz_result_free(result);
    result = test_run(session, test_phrase(w, &get), NULL);
    UNIT_TEXT(laz_result_value(result), "false");
    UNIT_TEXT(laz_result_replaced(result), "cancelled");
    laz_result_free(result);
}

static void code_that_goes_on_is_ended_after_its_grace(void)
{
    with_one_who_interrupts("session.interrupt_grace=0.05", goes_on);
}

static void without_a_grace_it_is_ended_at_once(void)
{
    with_one_who_interrupts("session.interrupt_grace=0", goes_on);
}

static void calls_afterwards(struct laz_session *session, const struct words *w)
{
    static const struct phrase code = {
        .python = "import time\nwhy = ''\ntry:\n  print('go')\n  while True: pass\n"
                  "except KeyboardInterrupt:\n  try: add(1, 2)\n"
                  "  except Exception as e: why = str(e)",
        .r = "why <- ''\ntryCatch({ cat('go\\n'); repeat {} }, interrupt = function(e) why <<- "
             "tryCatch(add(1, 2), error = conditionMessage))",
        .lua = "why = '' pcall(function() print('go') while true do end end) "
               "local ok, e = pcall(add, 1, 2) why = tostring(e)",
    };
    static const struct phrase get = {.python = "why", .r = "why", .lua = "return why"};
    struct laz_result *result = interrupted(session, test_phrase(w, &code), 0);

    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_CANCELLED);
    CU_ASSERT_TRUE(laz_result_is_kept(result));
    laz_result_free(result);
    result = test_run(session, test_phrase(w, &get), NULL);
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_result_value(result), "interrupted"));
    laz_result_free(result);
}

static void no_tool_is_called_any_more(void)
{
    with_one_who_interrupts("", calls_afterwards);
}

/* What it has saved by then is an artifact. */
static void saves(struct laz_session *session, const struct words *w)
{
    static const struct phrase code = {
        .python = "open('artifacts/a.txt', 'w').write('whole')\nprint('go')\nwhile True: pass",
        .r = "cat('whole', file = 'artifacts/a.txt')\ncat('go\\n')\nrepeat {}",
        .lua = "local f = io.open('artifacts/a.txt', 'w') f:write('whole') f:close() "
               "print('go') while true do end",
    };
    struct laz_artifact artifact = {.size = sizeof artifact};
    struct laz_result *result = interrupted(session, test_phrase(w, &code), 0);

    CU_ASSERT_EQUAL_FATAL(laz_result_artifacts(result), 1);
    CU_ASSERT_EQUAL(laz_result_artifact(result, 0, &artifact), 0);
    UNIT_TEXT(artifact.name, "a.txt");
    CU_ASSERT_EQUAL(artifact.data_len, 5);
    laz_result_free(result);
}

static void files_that_were_saved_are_artifacts(void)
{
    with_one_who_interrupts("", saves);
}

/* ---- limits in the grace ----------------------------------------------------------------------
 */

static void floods(struct laz_session *session, const struct words *w)
{
    static const struct phrase code = {
        .python = "try:\n  print('go')\n  while True: pass\n"
                  "finally:\n  while True: print('x' * 10000)",
        .r = "tryCatch({ cat('go\\n'); repeat {} }, interrupt = function(e) "
             "repeat cat(strrep('x', 10000), '\\n'))",
        .lua = "pcall(function() print('go') while true do end end) "
               "while true do print(('x'):rep(10000)) end",
    };
    struct laz_result *result = interrupted(session, test_phrase(w, &code), 0);

    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_CANCELLED);
    CU_ASSERT_FALSE(laz_result_is_kept(result));
    laz_result_free(result);
}

static void output_counts_in_the_grace(void) /* which is a minute */
{
    with_one_who_interrupts("session.max_output_size=\"4KiB\"", floods);
}

/* ---- who is not interrupted -------------------------------------------------------------------
 */

static void an_execution_of_its_own_is_ended_at_once(void)
{
    struct laz_engine *engine = test_engine("session.interrupt_grace=60");
    const struct laz_session_options lua = {.size = sizeof lua, .runtime = "lua"};
    const struct laz_execute_options soon = {.size = sizeof soon, .timeout_ms = 50};
    struct laz_result *result = NULL;

    if (engine) {
        CU_ASSERT_EQUAL(laz_execute(engine, &lua, "while true do pcall(error) end", SIZE_MAX, &soon,
                                    &result, NULL),
                        0);
        CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_TIMEOUT);
        CU_ASSERT_FALSE(laz_result_is_kept(result));
        laz_result_free(result);
    }
    laz_engine_free(engine);
}

static void close_line(void *user, int stream, const char *text, size_t len)
{
    (void)stream, (void)text, (void)len;
    laz_session_close(user);
}

/* Its grace would be a minute. */
static void a_session_that_is_closed_is_ended_at_once(void)
{
    struct laz_engine *engine = test_engine("session.interrupt_grace=60");
    struct laz_session *session = test_session(engine, "lua");
    struct laz_execute_options options = {
        .size = sizeof options, .line = close_line, .user = session};

    if (session) {
        struct laz_result *result =
            test_run(session, "print('go') while true do pcall(error) end", &options);
        CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_CANCELLED);
        laz_result_free(result);
    }
    laz_session_free(session);
    laz_engine_free(engine);
}

static void nothing_to_interrupt_is_told(void)
{
    struct laz_engine *engine = test_engine("");
    struct laz_session *session = test_session(engine, "lua");

    if (session) {
        CU_ASSERT_EQUAL(laz_session_interrupt(session), LAZ_ENOENT);
        test_expect(session, "return 1", LAZ_VERDICT_OK, "1");
    }
    CU_ASSERT_EQUAL(laz_session_interrupt(NULL), LAZ_EINVAL);
    laz_engine_free(engine);
}

/* ---- a session that ends while it is idle -----------------------------------------------------
 */

static void dies(struct laz_session *session, const struct words *w)
{
    const int64_t pid = laz_session_pid(session);

    test_expect(session, w->set_x, LAZ_VERDICT_OK, NULL);
    CU_ASSERT_EQUAL(kill((pid_t)pid, SIGKILL), 0);
    while (laz_session_is_alive(session))
        usleep(1000);
    struct laz_result *result = test_run(session, w->add_2_3, NULL);
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_OK);
    UNIT_TEXT(laz_result_replaced(result), "crashed");
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_result_warning(result, 0), "has ended"));
    laz_result_free(result);
    result = test_run(session, w->add_2_3, NULL);
    CU_ASSERT_PTR_NULL(laz_result_replaced(result));
    CU_ASSERT_EQUAL(laz_result_warnings(result), 0);
    laz_result_free(result);
}

static void a_session_that_died_while_idle_is_replaced(void)
{
    test_each("", dies);
}

static const struct unit_test tests[] = {
    UNIT(wherever_it_is_the_session_is_kept),
    UNIT(handlers_of_the_language_run),
    UNIT(code_that_goes_on_is_ended_after_its_grace),
    UNIT(without_a_grace_it_is_ended_at_once),
    UNIT(no_tool_is_called_any_more),
    UNIT(files_that_were_saved_are_artifacts),
    UNIT(output_counts_in_the_grace),
    UNIT(an_execution_of_its_own_is_ended_at_once),
    UNIT(a_session_that_is_closed_is_ended_at_once),
    UNIT(nothing_to_interrupt_is_told),
    UNIT(a_session_that_died_while_idle_is_replaced),
    {0},
};

int main(void)
{
    return unit_run("interrupt", tests);
}
