/* SPDX-License-Identifier: MIT */
/* test_callbacks.c - each public function, called by each kind of callback: it works, is refused,
 * or has no effect, as the table of callbacks.h says, and everything works afterwards.
 *
 * Each cell of the table is one execution, in which one callback calls one function, of objects
 * beside those that execute.  A tool that runs on another thread holds up the one that drives the
 * engine, so that this is inside. */
#include "callbacks.h"
#include "live.h"

#include "base/buf.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const outcome_names[] = {
    [WORKS] = "works",     [BUSY] = "LAZ_EBUSY",  [NO_EFFECT] = "has no effect",
    [NOTHING] = "is NULL", [IN_USE] = "[in use]", [WRONG] = "is wrong"};

/* The callback: makes the one call. */
static void call_row(void)
{
    if (!atomic_exchange(&at.armed, false))
        return;
    at.got = at.row->call();
    atomic_store(&at.has_called, true);
}

static void judge(enum place place)
{
    if (!atomic_load(&at.has_called) || at.got != at.row->expected[place])
        printf("\n    %s in %s: %s, and not %s (%s)", at.row->name, at.kind,
               atomic_load(&at.has_called) ? outcome_names[at.got] : "was not called",
               outcome_names[at.row->expected[place]], at.err.text);
    CU_ASSERT_TRUE(atomic_load(&at.has_called));
    CU_ASSERT_EQUAL(at.got, at.row->expected[place]);
}

static void arm(const struct row *row, const char *kind)
{
    at.row = row;
    at.kind = kind;
    at.err = (struct laz_error){0};
    atomic_store(&at.has_called, false);
    atomic_store(&at.armed, true);
}

/* ---- callbacks ------------------------------------------------------------------------------- */

static void log_calls(void *user, uint32_t level, const char *text)
{
    (void)user;
    if (strstr(text, "has no effect"))
        atomic_fetch_add(&at.refusals, 1);
    else if (level <= LAZ_LOG_ERROR)
        printf("\n    [%u] %s", level, text);
    if (atomic_load(&at.logs_call))
        call_row();
}

static void done_calls(void *user, struct laz_result *result, const struct laz_error *err)
{
    (void)err;
    laz_result_free(result);
    call_row();
    atomic_store((atomic_bool *)user, true);
}

static void put_calls(void *user, const struct laz_error *err)
{
    (void)err;
    call_row();
    atomic_store((atomic_bool *)user, true);
}

static void got_calls(void *user, struct laz_session *session, const struct laz_error *err)
{
    (void)session, (void)err; /* its pool is freed */
    call_row();
    atomic_store((atomic_bool *)user, true);
}

static void line_calls(void *user, int stream, const char *text, size_t len)
{
    (void)user, (void)stream, (void)text, (void)len;
    call_row();
}

static void progress_calls(void *user, const struct laz_execution_usage *usage)
{
    (void)user, (void)usage;
    call_row();
}

static int hook_calls(void *user, const char *code, size_t len, char *reason, size_t size)
{
    (void)user, (void)code, (void)len, (void)reason, (void)size;
    if (strcmp(at.kind, "pre_execute") == 0)
        call_row();
    return 0;
}

static void tool_calls(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len;
    call_row();
    laz_reply_value(reply, "1", 1);
}

static void *thread_calls(void *user)
{
    (void)user;
    call_row();
    return NULL;
}

static void tool_has_a_thread_call(void *user, const char *args, size_t len,
                                   struct laz_reply *reply)
{
    pthread_t thread;

    (void)user, (void)args, (void)len;
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, thread_calls, NULL), 0);
    pthread_join(thread, NULL);
    laz_reply_value(reply, "1", 1);
}

static sem_t tool_begins, nobody_is_inside, tool_has_called;

static void tool_calls_outside(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len;
    sem_post(&tool_begins);
    sem_wait(&nobody_is_inside);
    call_row();
    sem_post(&tool_has_called);
    laz_reply_value(reply, "1", 1);
}

static void approver_calls(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len;
    call_row();
    laz_reply_value(reply, "true", 4);
}

static void cancelled_calls(void *user)
{
    (void)user;
    call_row();
}

/* Its call is cancelled while nobody has answered it. */
static void tool_is_cancelled(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len;
    CU_ASSERT_EQUAL(laz_reply_keep(reply), 0);
    CU_ASSERT_EQUAL(laz_reply_on_cancel(reply, cancelled_calls, NULL), 0);
    *(struct laz_reply **)user = reply;
    laz_session_cancel(at.session);
}

/* Until the row was called. */
static void tool_waits_for_it(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len;
    if (atomic_load(&at.has_called))
        laz_reply_value(reply, "true", 4);
    else
        laz_reply_value(reply, "false", 5);
}

static void tool_keeps(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len;
    CU_ASSERT_EQUAL(laz_reply_keep(reply), 0);
    at.kept = reply;
}

/* ---- what each cell begins with ---------------------------------------------------------------
 */

static struct laz_reply *cancelled_reply;

static void add_tools(int (*add)(const struct laz_tool *tool,
                                 void (*call)(void *user, const char *args, size_t len,
                                              struct laz_reply *reply),
                                 void *user))
{
    static const struct {
        struct laz_tool tool;
        void (*call)(void *user, const char *args, size_t len, struct laz_reply *reply);
        void *user;
    } tools[] = {
        {{.name = "asks"}, tool_calls, NULL},
        {{.name = "asks_here", .nonblocking = 1}, tool_calls, NULL},
        {{.name = "asks_by_thread"}, tool_has_a_thread_call, NULL},
        {{.name = "asks_outside"}, tool_calls_outside, NULL},
        {{.name = "asks_for_approval", .approve = 1}, callbacks_nothing, NULL},
        {{.name = "is_cancelled", .nonblocking = 1}, tool_is_cancelled, &cancelled_reply},
        {{.name = "was_called", .nonblocking = 1}, tool_waits_for_it, NULL},
        {{.name = "keeps", .nonblocking = 1}, tool_keeps, NULL},
    };

    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        struct laz_tool tool = tools[i].tool;
        tool.size = sizeof tool;
        CU_ASSERT_EQUAL_FATAL(add(&tool, tools[i].call, tools[i].user), 0);
    }
}

static int add_to_engine(const struct laz_tool *tool,
                         void (*call)(void *user, const char *args, size_t len,
                                      struct laz_reply *reply),
                         void *user)
{
    return laz_engine_add_tool(at.engine, tool, call, user, NULL);
}

static int add_to_group(const struct laz_tool *tool,
                        void (*call)(void *user, const char *args, size_t len,
                                     struct laz_reply *reply),
                        void *user)
{
    return laz_group_add_tool(at.group, tool, call, user, NULL);
}

static void step(void)
{
    CU_ASSERT_EQUAL_FATAL(laz_engine_step(at.engine, -1, NULL), 0);
}

/* The objects that a function may have used up are there again. */
static void renew(const struct row *row)
{
    if (!at.other || !laz_session_is_alive(at.other)) {
        laz_session_free(at.other);
        CU_ASSERT_EQUAL_FATAL(laz_session_open(at.engine, &callbacks_lua, &at.other, NULL), 0);
    }
    if (!at.pool)
        CU_ASSERT_EQUAL_FATAL(laz_pool_new(at.engine, &callbacks_one, &at.pool, NULL), 0);
    if (strcmp(row->name, "laz_pool_release") == 0 && !at.acquired)
        CU_ASSERT_EQUAL_FATAL(laz_pool_acquire(at.pool, LAZ_NO_LIMIT, &at.acquired, NULL), 0);
    if (strncmp(row->name, "laz_reply", 9) != 0)
        return;
    if (!at.asks)
        CU_ASSERT_EQUAL_FATAL(laz_session_open(at.engine, &callbacks_lua, &at.asks, NULL), 0);
    atomic_fetch_add(&at.begun, 1);
    CU_ASSERT_EQUAL_FATAL(
        laz_session_execute_async(at.asks, "keeps()", SIZE_MAX, NULL, callbacks_drop, NULL, NULL),
        0);
    while (!at.kept)
        step();
}

/* What was begun has ended. */
static void settle(void)
{
    laz_reply_free(at.kept);
    at.kept = NULL;
    while (atomic_load(&at.begun))
        step();
    if (at.acquired)
        CU_ASSERT_EQUAL(laz_pool_release(at.pool, at.acquired, NULL), 0);
    at.acquired = NULL;
}

/* ---- kinds ------------------------------------------------------------------------------------
 */

static void in_done(void)
{
    atomic_bool is_over = false;

    CU_ASSERT_EQUAL_FATAL(
        laz_session_execute_async(at.session, "1", SIZE_MAX, NULL, done_calls, &is_over, NULL), 0);
    while (!atomic_load(&is_over))
        step();
}

static void in_put(void)
{
    atomic_bool is_over = false;

    CU_ASSERT_EQUAL_FATAL(
        laz_session_put_file_async(at.session, "f", "x", 1, put_calls, &is_over, NULL), 0);
    while (!atomic_load(&is_over))
        step();
}

static void in_once(void)
{
    atomic_bool is_over = false;

    CU_ASSERT_EQUAL_FATAL(laz_execute_async(at.engine, &callbacks_lua, "1", SIZE_MAX, NULL,
                                            done_calls, &is_over, NULL),
                          0);
    while (!atomic_load(&is_over))
        step();
}

static void in_got(void)
{
    struct laz_pool *own = NULL;
    atomic_bool is_over = false;

    CU_ASSERT_EQUAL_FATAL(laz_pool_new(at.engine, &callbacks_one, &own, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(laz_pool_acquire_async(own, LAZ_NO_LIMIT, got_calls, &is_over, NULL), 0);
    while (!atomic_load(&is_over))
        step();
    laz_pool_free(own);
}

/* Executes, waiting, so that this thread is inside; whatever the verdict. */
static void execute(const char *code, const struct laz_execute_options *options)
{
    struct laz_result *result = NULL;

    CU_ASSERT_EQUAL(laz_session_execute(at.session, code, SIZE_MAX, options, &result, &at.err), 0);
    laz_result_free(result);
}

static void in_line(void)
{
    const struct laz_execute_options options = {.size = sizeof options, .line = line_calls};

    execute("print('x')", &options);
}

static void in_output(void)
{
    const struct laz_execute_options options = {.size = sizeof options, .output = line_calls};

    execute("print('x')", &options);
}

static void in_progress(void)
{
    const struct laz_execute_options options = {
        .size = sizeof options, .progress = progress_calls, .progress_ms = 1};

    execute("while not was_called() do end", &options);
}

static void in_hook(void)
{
    execute("1", NULL);
}

static void in_log(void)
{
    atomic_store(&at.logs_call, true);
    execute("1", NULL);
    atomic_store(&at.logs_call, false);
}

static void in_nonblocking_tool(void)
{
    execute("asks_here()", NULL);
}

static void in_cancelled(void)
{
    execute("is_cancelled()", NULL);
    laz_reply_free(cancelled_reply);
    cancelled_reply = NULL;
}

static void in_tool(void)
{
    execute("asks()", NULL);
}

/* The engine is driven from outside, and no thread is in it. */
static void in_tool_between_steps(void)
{
    atomic_bool is_over = false;

    sem_init(&tool_begins, 0, 0);
    sem_init(&nobody_is_inside, 0, 0);
    sem_init(&tool_has_called, 0, 0);
    CU_ASSERT_EQUAL_FATAL(laz_session_execute_async(at.session, "asks_outside()", SIZE_MAX, NULL,
                                                    done_calls, &is_over, NULL),
                          0);
    while (sem_trywait(&tool_begins))
        CU_ASSERT_EQUAL_FATAL(laz_engine_step(at.engine, 1, NULL), 0);
    sem_post(&nobody_is_inside);
    while (sem_wait(&tool_has_called))
        ;
    while (!atomic_load(&is_over))
        step();
}

static void in_approver(void)
{
    CU_ASSERT_EQUAL_FATAL(laz_engine_set_approver(at.engine, approver_calls, NULL, NULL), 0);
    execute("pcall(asks_for_approval)", NULL);
}

static void in_thread(void)
{
    execute("asks_by_thread()", NULL);
}

static const struct {
    const char *name;
    enum place place;
    void (*body)(void);
} kinds[] = {
    {"done", COMPLETION, in_done},
    {"done of a file", COMPLETION, in_put},
    {"done of one execution", COMPLETION, in_once},
    {"got", COMPLETION, in_got},
    {"line", HANDLER, in_line},
    {"output", HANDLER, in_output},
    {"progress", HANDLER, in_progress},
    {"pre_execute", HANDLER, in_hook},
    {"log", HANDLER, in_log},
    {"nonblocking tool", HANDLER, in_nonblocking_tool},
    {"cancelled", HANDLER, in_cancelled},
    {"tool", ELSEWHERE, in_tool},
    {"tool between two steps", ELSEWHERE, in_tool_between_steps},
    {"approver", ELSEWHERE, in_approver},
    {"another thread", ELSEWHERE, in_thread},
};

static const struct laz_session_options hooked = {
    .size = sizeof hooked, .runtime = "lua", .pre_execute = hook_calls};

static struct laz_settings *settings_of_all(void)
{
    return test_settings("sandbox.backend=none;sandbox.require=[];session.runtime=lua;"
                         "pool.reset=false;pool.max_sessions=0");
}

/* Every function is called in the first kind of callback of each place, and in each of the others
 * a third of them, the next kind another third; with LAZARET_TEST_FULL all of them. */
static bool is_called_in(size_t kind, size_t row)
{
    const bool is_first = kind == 0 || kinds[kind].place != kinds[kind - 1].place;

    return is_first || getenv("LAZARET_TEST_FULL") || (kind + row) % 3 == 0;
}

static void each_function_in_each_callback(void)
{
    const struct laz_engine_options options = {
        .size = sizeof options, .log = log_calls, .log_level = LAZ_LOG_INFO};
    struct laz_settings *settings = settings_of_all();

    memset(&at, 0, sizeof at);
    CU_ASSERT_EQUAL_FATAL(laz_engine_new(settings, &options, &at.engine, NULL), 0);
    laz_settings_free(settings);
    add_tools(add_to_engine);
    CU_ASSERT_EQUAL_FATAL(laz_session_open(at.engine, &hooked, &at.session, NULL), 0);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t i = 0; i < n_rows_of_an_engine; i++) {
            if (!is_called_in(k, i))
                continue;
            renew(&rows_of_an_engine[i]);
            arm(&rows_of_an_engine[i], kinds[k].name);
            kinds[k].body();
            judge(kinds[k].place);
            settle();
        }
    test_expect(at.session, "6 * 7", LAZ_VERDICT_OK, "42");
    laz_engine_free(at.engine);
}

/* ---- of a group -------------------------------------------------------------------------------
 */

static void open_group(void)
{
    const struct laz_group_options options = {
        .size = sizeof options, .engines = 1, .log = log_calls, .log_level = LAZ_LOG_ERROR};
    struct laz_settings *settings = settings_of_all();

    memset(&at, 0, sizeof at);
    CU_ASSERT_EQUAL_FATAL(laz_group_new(settings, &options, &at.group, NULL), 0);
    laz_settings_free(settings);
    add_tools(add_to_group);
}

static void run_row(void *user, struct laz_engine *engine)
{
    (void)user;
    at.engine = engine;
    renew(user);
    arm(user, "a run");
    call_row();
    judge(RUN);
    settle();
}

static void each_function_of_an_engine_in_a_run(void)
{
    open_group();
    for (size_t i = 0; i < n_rows_of_an_engine; i++)
        CU_ASSERT_EQUAL(laz_group_run(at.group, 0, run_row, (void *)&rows_of_an_engine[i], NULL),
                        0);
    laz_group_free(at.group);
}

/* One execution in the group, until it was reported, as was what the row has begun. */
static void group_executes(const char *code, const struct laz_execute_options *options)
{
    struct laz_result *result = NULL;

    CU_ASSERT_EQUAL(
        laz_group_execute(at.group, &callbacks_lua, code, SIZE_MAX, options, &result, &at.err), 0);
    laz_result_free(result);
}

static void group_done(void)
{
    atomic_bool is_over = false;

    CU_ASSERT_EQUAL_FATAL(laz_group_execute_async(at.group, &callbacks_lua, "1", SIZE_MAX, NULL,
                                                  done_calls, &is_over, NULL),
                          0);
    while (!atomic_load(&is_over))
        CU_ASSERT_EQUAL(laz_group_run(at.group, 0, callbacks_run_nothing, NULL, NULL), 0);
}

static void group_line(void)
{
    const struct laz_execute_options options = {.size = sizeof options, .line = line_calls};

    group_executes("print('x')", &options);
}

static void group_nonblocking_tool(void)
{
    group_executes("asks_here()", NULL);
}

static void group_tool(void)
{
    group_executes("asks()", NULL);
}

static void run_called(void *user, struct laz_engine *engine)
{
    (void)user, (void)engine;
    call_row();
}

static void group_run(void)
{
    CU_ASSERT_EQUAL(laz_group_run(at.group, 0, run_called, NULL, NULL), 0);
}

static void each_function_of_a_group_in_its_callbacks(void)
{
    static const struct {
        const char *name;
        enum place place;
        void (*body)(void);
    } ways[] = {
        {"done of a group", COMPLETION, group_done},
        {"line in a group", HANDLER, group_line},
        {"nonblocking tool in a group", HANDLER, group_nonblocking_tool},
        {"tool in a group", ELSEWHERE, group_tool},
        {"run", RUN, group_run},
    };

    open_group();
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++)
        for (size_t i = 0; i < n_rows_of_a_group; i++) {
            if (!at.places)
                CU_ASSERT_EQUAL_FATAL(
                    laz_group_pool_new(at.group, &callbacks_one, &at.places, NULL), 0);
            arm(&rows_of_a_group[i], ways[k].name);
            ways[k].body();
            judge(ways[k].place);
            while (atomic_load(&at.begun))
                CU_ASSERT_EQUAL(laz_group_run(at.group, 0, callbacks_run_nothing, NULL, NULL), 0);
        }
    laz_group_free(at.group);
}

/* ---- searches on worker threads ---------------------------------------------------------------
 */

#define FINDERS 8

/* Finds tools for the code. */
static void tool_finds(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    const char *found = NULL;
    struct laz_error err = {0};

    (void)args, (void)len;
    const int rc = *(bool *)user ? laz_session_search_tools(at.session, "orders", 5, &found, &err)
                                 : laz_engine_search_tools(at.engine, "orders", 5, &found, &err);
    if (rc)
        laz_reply_error(reply, err.text);
    else
        laz_reply_value(reply, found, strlen(found));
}

static void add_tool(const char *name,
                     void (*call)(void *user, const char *args, size_t len,
                                  struct laz_reply *reply),
                     void *user)
{
    const struct laz_tool tool = {.size = sizeof tool, .name = name};

    CU_ASSERT_EQUAL_FATAL(laz_engine_add_tool(at.engine, &tool, call, user, NULL), 0);
}

static void value_told(void *user, struct laz_result *result, const struct laz_error *err)
{
    CU_ASSERT_PTR_NULL(err);
    snprintf(user, 32, "%s", laz_result_value(result));
    laz_result_free(result);
    atomic_fetch_sub(&at.begun, 1);
}

static void finders_find(bool of_session)
{
    static const char code[] = "for i = 1, 100 do local t = find() if #t ~= 5 then error(#t) end "
                               "for _, x in ipairs(t) do if not x.name:find('^orders') then "
                               "error(x.name) end end end return 1";
    struct laz_session *sessions[FINDERS];
    char values[FINDERS][32] = {""}, name[24];

    memset(&at, 0, sizeof at);
    at.engine = test_engine_open("");
    CU_ASSERT_PTR_NOT_NULL_FATAL(at.engine);
    add_tool("find", tool_finds, &of_session);
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "orders_%d", i);
        add_tool(name, callbacks_nothing, NULL);
    }
    for (int i = 0; i < FINDERS; i++) {
        CU_ASSERT_EQUAL_FATAL(laz_session_open(at.engine, &callbacks_lua, &sessions[i], NULL), 0);
        at.session = sessions[i];
    }
    atomic_store(&at.begun, FINDERS);
    for (int i = 0; i < FINDERS; i++)
        CU_ASSERT_EQUAL_FATAL(laz_session_execute_async(sessions[i], code, SIZE_MAX, NULL,
                                                        value_told, values[i], NULL),
                              0);
    add_tool("orders", callbacks_nothing, NULL); /* while they are searched */
    while (atomic_load(&at.begun))
        step();
    for (int i = 0; i < FINDERS; i++)
        UNIT_TEXT(values[i], "1");
    laz_engine_free(at.engine);
}

static void tools_find_tools_side_by_side(void)
{
    finders_find(false);
    finders_find(true);
}

/* ---- while the engine is freed ----------------------------------------------------------------
 */

/* Nothing begins any more, and nothing else is to blame for that. */
static void uses_what_is_freed(void *user, struct laz_result *result, const struct laz_error *err)
{
    struct laz_session *another = NULL;
    struct laz_result *none = NULL;
    struct laz_error why[4] = {{0}};

    (void)err;
    laz_result_free(result);
    ++*(unsigned *)user;
    CU_ASSERT_EQUAL(laz_session_execute(at.other, "1", SIZE_MAX, NULL, &none, &why[0]),
                    LAZ_ECLOSED);
    CU_ASSERT_EQUAL(laz_session_open(at.engine, NULL, &another, &why[1]), LAZ_ECLOSED);
    CU_ASSERT_EQUAL(laz_engine_step(at.engine, 0, &why[2]), LAZ_ECLOSED);
    CU_ASSERT_EQUAL(
        laz_execute_async(at.engine, NULL, "1", SIZE_MAX, NULL, uses_what_is_freed, user, &why[3]),
        LAZ_ECLOSED);
    for (int i = 0; i < 4; i++)
        UNIT_TEXT(why[i].text, "the engine is being freed");
    laz_engine_free(at.engine); /* no effect */
}

static void pool_is_over(void *user, struct laz_session *session, const struct laz_error *err)
{
    (void)session;
    CU_ASSERT(err && err->code == LAZ_ECLOSED);
    uses_what_is_freed(user, NULL, NULL);
}

static void an_engine_that_is_freed_says_so(void)
{
    struct laz_buf told = LAZ_BUF_INIT;
    struct laz_session *acquired = NULL;
    unsigned n = 0;

    memset(&at, 0, sizeof at);
    at.engine = test_engine_open("");
    CU_ASSERT_PTR_NOT_NULL_FATAL(at.engine);
    CU_ASSERT_EQUAL_FATAL(laz_session_open(at.engine, &callbacks_lua, &at.session, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(laz_session_open(at.engine, &callbacks_lua, &at.other, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(laz_pool_new(at.engine, &callbacks_one, &at.pool, NULL), 0);
    CU_ASSERT_EQUAL(laz_session_execute_async(at.session, "while true do end", SIZE_MAX, NULL,
                                              uses_what_is_freed, &n, NULL),
                    0);
    CU_ASSERT_EQUAL(laz_execute_async(at.engine, &callbacks_lua, "while true do end", SIZE_MAX,
                                      NULL, uses_what_is_freed, &n, NULL),
                    0);
    CU_ASSERT_EQUAL(laz_pool_acquire(at.pool, 0, &acquired, NULL), 0);
    CU_ASSERT_EQUAL(laz_pool_acquire_async(at.pool, LAZ_NO_LIMIT, pool_is_over, &n, NULL), 0);
    test_told = &told;
    laz_engine_free(at.engine);
    test_told = NULL;
    CU_ASSERT_EQUAL(n, 3);
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&told), "laz_engine_free has no effect"));
    laz_buf_fini(&told);
}

static const struct unit_test tests[] = {
    UNIT(each_function_in_each_callback),
    UNIT(each_function_of_an_engine_in_a_run),
    UNIT(each_function_of_a_group_in_its_callbacks),
    UNIT(tools_find_tools_side_by_side),
    UNIT(an_engine_that_is_freed_says_so),
    {0},
};

int main(void)
{
    return unit_run("callbacks", tests);
}
