/* SPDX-License-Identifier: MIT */
/* test_misuse.c - an application that calls at the wrong time, from the wrong thread, or with NULL:
 * it gets an error, never a deadlock, and everything works afterwards. */
#include "live.h"

#include "base/buf.h"
#include "os/directories.h"

#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- calls from inside ---------------------------------------------------------------------- */

static struct laz_engine *engine;
static struct laz_session *session;

enum { IN_EXECUTE, IN_CHECK, IN_OPEN, IN_ADD_TOOL, IN_RESTART, INSIDE };

static int inside[INSIDE];

static void tool_nothing(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len, (void)reply;
}

static void call_everything(const char *in_use_or_running)
{
    const struct laz_tool tool = {.size = sizeof tool, .name = "another", .description = ""};
    struct laz_result *result = NULL;
    struct laz_session *other = NULL;

    inside[IN_EXECUTE] = laz_session_execute(session, "1", SIZE_MAX, NULL, &result, NULL);
    CU_ASSERT_PTR_NULL(result);
    inside[IN_CHECK] = laz_session_check(session, "1", SIZE_MAX, &result, NULL);
    CU_ASSERT_PTR_NULL(result);
    inside[IN_OPEN] = laz_session_open(engine, NULL, &other, NULL);
    CU_ASSERT_PTR_NULL(other);
    inside[IN_ADD_TOOL] = laz_engine_add_tool(engine, &tool, tool_nothing, NULL, NULL);
    inside[IN_RESTART] = laz_session_restart(session, NULL);
    /* these only query */
    CU_ASSERT_TRUE(laz_session_is_alive(session));
    CU_ASSERT(laz_session_pid(session) > 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_session_describe(session), in_use_or_running));
}

static void tool_inside(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len;
    call_everything("[in use]"); /* by the thread that drives the engine */
    laz_reply_value(reply, "\"called\"", 8);
}

static void line_inside(void *user, int stream, const char *text, size_t len)
{
    (void)user, (void)stream, (void)text, (void)len;
    call_everything("[running]");
}

static int hook_inside(void *user, const char *code, size_t len, char *reason, size_t size)
{
    (void)code, (void)len, (void)reason, (void)size;
    if (*(bool *)user) {
        inside[IN_OPEN] =
            laz_session_execute(session, "1", SIZE_MAX, NULL, &(struct laz_result *){NULL}, NULL);
        inside[IN_RESTART] = laz_session_restart(session, NULL);
    }
    return 0;
}

static void open_lua(const struct laz_session_options *options)
{
    const struct laz_tool tool = {.size = sizeof tool, .name = "inside", .description = ""};
    const struct laz_session_options lua = {.size = sizeof lua, .runtime = "lua"};

    engine = test_engine("");
    CU_ASSERT_PTR_NOT_NULL_FATAL(engine);
    CU_ASSERT_EQUAL(laz_engine_add_tool(engine, &tool, tool_inside, NULL, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(laz_session_open(engine, options ? options : &lua, &session, NULL), 0);
}

static void close_lua(void)
{
    test_expect(session, "add(2, 3)", LAZ_VERDICT_OK, "5");
    laz_session_free(session);
    laz_engine_free(engine);
}

static void expect_all_busy(void)
{
    for (int i = 0; i < INSIDE; i++) {
        if (inside[i] != LAZ_EBUSY)
            printf("\n    call %d gave %d", i, inside[i]);
        CU_ASSERT_EQUAL(inside[i], LAZ_EBUSY);
        inside[i] = 0;
    }
}

static void calls_from_a_tool_are_refused_as_busy(void)
{
    open_lua(NULL);
    test_expect(session, "inside()", LAZ_VERDICT_OK, "\"called\"");
    expect_all_busy();
    close_lua();
}

static void calls_from_an_output_handler_are_refused_as_busy(void)
{
    struct laz_execute_options options = {.size = sizeof options, .line = line_inside};

    open_lua(NULL);
    struct laz_result *result = test_run(session, "print('x')\nreturn 1", &options);
    UNIT_TEXT(laz_result_value(result), "1");
    laz_result_free(result);
    expect_all_busy();
    close_lua();
}

static void calls_from_a_hook_are_refused_as_busy(void)
{
    bool armed = true;
    const struct laz_session_options options = {.size = sizeof options,
                                                .runtime = "lua",
                                                .pre_execute = hook_inside,
                                                .pre_execute_user = &armed};

    open_lua(&options);
    test_expect(session, "1", LAZ_VERDICT_OK, "1");
    CU_ASSERT_EQUAL(inside[IN_OPEN], LAZ_EBUSY);
    CU_ASSERT_EQUAL(inside[IN_RESTART], LAZ_EBUSY);
    armed = false;
    close_lua();
}

/* ---- cancelling from another thread --------------------------------------------------------- */

static sem_t begun, may_end;

static void *canceller(void *user)
{
    (void)user;
    sem_wait(&begun);
    laz_engine_cancel(engine);
    return NULL;
}

static void line_begun(void *user, int stream, const char *text, size_t len)
{
    (void)user, (void)stream, (void)text, (void)len;
    sem_post(&begun);
}

/* Blocks until the test has seen the execution end without it. */
static void tool_blocks(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len, (void)reply;
    sem_post(&begun);
    sem_wait(&may_end);
}

/* Executes code that does not end by itself, and cancels it when it runs. */
static void expect_cancelled(const char *code)
{
    struct laz_execute_options options = {.size = sizeof options, .line = line_begun};
    pthread_t thread;

    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, canceller, NULL), 0);
    struct laz_result *result = test_run(session, code, &options);
    pthread_join(thread, NULL);
    CU_ASSERT(result && laz_result_verdict(result) == LAZ_VERDICT_CANCELLED);
    laz_result_free(result);
    test_expect(session, "1 + 1", LAZ_VERDICT_OK, "2");
}

static void cancelling_ends_code_and_what_it_waits_for(void)
{
    open_lua(NULL);
    sem_init(&begun, 0, 0);
    expect_cancelled("print('begun')\nwhile true do end");
    expect_cancelled("print('begun')\nos.execute('sleep 3000')");
    laz_engine_cancel(engine); /* nothing is running: no effect on later executions */
    close_lua();
}

static void cancelling_does_not_wait_for_a_tool(void)
{
    const struct laz_tool tool = {.size = sizeof tool, .name = "blocks", .description = ""};
    const struct laz_session_options lua = {.size = sizeof lua, .runtime = "lua"};

    open_lua(NULL);
    sem_init(&begun, 0, 0);
    sem_init(&may_end, 0, 0);
    laz_session_free(session);
    CU_ASSERT_EQUAL(laz_engine_add_tool(engine, &tool, tool_blocks, NULL, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(laz_session_open(engine, &lua, &session, NULL), 0);
    expect_cancelled("blocks()"); /* nothing else would end it */
    sem_post(&may_end);
    close_lua();
}

static atomic_bool ended;

static void *canceller_of_start(void *user)
{
    (void)user;
    while (!atomic_load(&ended)) { /* a cancel before the start has no effect */
        laz_engine_cancel(engine);
        usleep(1000);
    }
    return NULL;
}

/* Makes an engine with an agent that never gets ready. */
static struct laz_engine *engine_that_waits(void)
{
    char *agent = laz_strdup(getenv("LAZARET_AGENT"));

    test_mock_agent();
    struct laz_engine *made = test_engine("env.set={MOCK_START='connect|token|recv|wait'}");
    if (agent)
        setenv("LAZARET_AGENT", agent, 1);
    else
        unsetenv("LAZARET_AGENT");
    free(agent);
    return made;
}

static void cancelling_ends_a_start(void)
{
    const struct laz_session_options lua = {.size = sizeof lua, .runtime = "lua"};
    struct laz_error err = {0};
    pthread_t thread;

    engine = engine_that_waits();
    CU_ASSERT_PTR_NOT_NULL_FATAL(engine);
    atomic_store(&ended, false);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, canceller_of_start, NULL), 0);
    int rc = laz_session_open(engine, &lua, &session, &err);
    atomic_store(&ended, true);
    pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(rc, LAZ_ECANCELLED);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "cancelled"));
    laz_engine_free(engine);
}

static char trial_begun[] = "/tmp/lazaret-test-XXXXXX/2"; /* shows that the trial has begun */

static void *canceller_of_a_trial(void *user)
{
    (void)user;
    while (access(trial_begun, F_OK))
        usleep(1000);
    laz_engine_cancel(engine);
    return NULL;
}

/* Writes a program in place of bwrap that fails at first, so that the next backend would be tried,
 * and hangs in the trial that shows whether the session or the backend is at fault. */
static bool write_hanging_bwrap(const char *directory, const char *path)
{
    FILE *file =
        chmod(directory, 01777) ? NULL : fopen(path, "w"); /* sessions have uids of their own */

    if (!file)
        return false;
    fprintf(file, "#!/bin/sh\n[ -e %s/1 ] || { : >%s/1; exit 1; }\n: >%s/2\nexec sleep 3600\n",
            directory, directory, directory);
    return fclose(file) == 0 && chmod(path, 0755) == 0;
}

static void cancelling_ends_the_trial_of_a_backend(void)
{
    const struct laz_session_options lua = {.size = sizeof lua, .runtime = "lua"};
    struct laz_error err = {0};
    pthread_t thread;
    char path[64], settings[200];

    trial_begun[strlen(trial_begun) - 2] = '\0';
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(trial_begun));
    snprintf(path, sizeof path, "%s/bwrap", trial_begun);
    CU_ASSERT_TRUE_FATAL(write_hanging_bwrap(trial_begun, path));
    trial_begun[strlen(trial_begun)] = '/';
    snprintf(settings, sizeof settings,
             "sandbox.backend=[\"bwrap\",\"landlock\"];sandbox.bwrap.program=%s", path);
    engine = test_engine(settings);
    CU_ASSERT_PTR_NOT_NULL_FATAL(engine);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, canceller_of_a_trial, NULL), 0);
    CU_ASSERT_NOT_EQUAL(laz_session_open(engine, &lua, &session, &err), 0);
    pthread_join(thread, NULL);
    laz_engine_free(engine);
    trial_begun[strlen(trial_begun) - 2] = '\0';
    laz_os_remove_tree(trial_begun);
}

/* ---- closing at the wrong time -------------------------------------------------------------- */

static void line_closes(void *user, int stream, const char *text, size_t len)
{
    (void)user, (void)stream, (void)text, (void)len;
    laz_session_close(session);
}

static void closing_during_an_execution_ends_it_and_the_session(void)
{
    struct laz_execute_options options = {.size = sizeof options, .line = line_closes};
    struct laz_result *nothing = NULL;

    open_lua(NULL);
    struct laz_result *result = test_run(session, "print('x')\nwhile true do end", &options);
    CU_ASSERT(result && laz_result_verdict(result) == LAZ_VERDICT_CANCELLED);
    laz_result_free(result);
    CU_ASSERT_FALSE(laz_session_is_alive(session));
    CU_ASSERT_EQUAL(laz_session_pid(session), -1);
    CU_ASSERT_EQUAL(laz_session_execute(session, "1", SIZE_MAX, NULL, &nothing, NULL), LAZ_ECLOSED);
    CU_ASSERT_EQUAL(laz_session_restart(session, NULL), 0);
    close_lua();
}

static void line_frees(void *user, int stream, const char *text, size_t len)
{
    (void)user, (void)stream, (void)text, (void)len;
    laz_session_free(session);
}

static void freeing_during_an_execution_leaves_it_to_the_engine(void)
{
    struct laz_execute_options options = {.size = sizeof options, .line = line_frees};

    open_lua(NULL);
    int64_t pid = laz_session_pid(session);
    struct laz_result *result = test_run(session, "print('x')\nwhile true do end", &options);
    CU_ASSERT(result && laz_result_verdict(result) == LAZ_VERDICT_CANCELLED);
    laz_result_free(result);
    laz_engine_free(engine);
    CU_ASSERT_NOT_EQUAL(kill((pid_t)pid, 0), 0);
}

static void freeing_an_engine_ends_its_sessions(void)
{
    const struct laz_session_options lua = {.size = sizeof lua, .runtime = "lua"};
    struct laz_session *sessions[4] = {NULL};
    int64_t pids[4];

    open_lua(NULL);
    for (int i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL_FATAL(laz_session_open(engine, &lua, &sessions[i], NULL), 0);
        pids[i] = laz_session_pid(sessions[i]);
        CU_ASSERT(pids[i] > 0 && kill((pid_t)pids[i], 0) == 0);
    }
    laz_engine_free(engine);
    for (int i = 0; i < 4; i++)
        CU_ASSERT_NOT_EQUAL(kill((pid_t)pids[i], 0), 0);
}

/* ---- with nothing in its hands -------------------------------------------------------------- */

static void nothing_is_allowed_where_the_header_says_so(void)
{
    const struct laz_session_options lua = {.size = sizeof lua, .runtime = "lua"};
    struct laz_result *result = NULL;
    struct laz_engine *bare = NULL;
    struct laz_session *plain = NULL;

    laz_engine_free(NULL);
    laz_engine_cancel(NULL);
    laz_session_free(NULL);
    laz_result_free(NULL);
    laz_settings_free(NULL);
    struct laz_settings *settings = NULL;
    CU_ASSERT_EQUAL_FATAL(laz_settings_new(&settings, NULL), 0);
    CU_ASSERT_EQUAL(laz_settings_set(settings, "session.start_timeout", "600", NULL), 0);
    CU_ASSERT_EQUAL_FATAL(laz_engine_new(settings, NULL, &bare, NULL), 0);
    laz_settings_free(settings);
    CU_ASSERT_EQUAL(laz_engine_add_tool(bare, NULL, tool_nothing, NULL, NULL), LAZ_EINVAL);
    CU_ASSERT_EQUAL(laz_engine_add_tool(bare, &(struct laz_tool){0}, NULL, NULL, NULL), LAZ_EINVAL);
    CU_ASSERT_EQUAL_FATAL(laz_session_open(bare, &lua, &plain, NULL), 0);
    CU_ASSERT_EQUAL(laz_session_execute(plain, NULL, 0, NULL, &result, NULL), LAZ_EINVAL);
    CU_ASSERT_PTR_NULL(result);
    CU_ASSERT_EQUAL(laz_session_execute(plain, "1 + 1; nonsense", 5, NULL, &result, NULL), 0);
    UNIT_TEXT(laz_result_value(result), "2");
    laz_result_free(result);
    UNIT_TEXT(laz_session_tools(plain), "[]");
    laz_session_free(plain);
    CU_ASSERT_EQUAL(laz_execute(bare, &lua, "3", SIZE_MAX, NULL, &result, NULL), 0);
    UNIT_TEXT(laz_result_value(result), "3");
    laz_result_free(result);
    laz_engine_free(bare);
}

static void nobody_is_told(void *user, struct laz_result *result, const struct laz_error *err)
{
    (void)user, (void)err;
    CU_FAIL("an execution was reported that had not begun");
    laz_result_free(result);
}

/* By each function that executes. */
static int execute_by(unsigned way, const struct laz_execute_options *options,
                      struct laz_pool *pool, struct laz_group *group, struct laz_group_pool *places,
                      struct laz_error *err)
{
    const struct laz_session_options lua = {.size = sizeof lua, .runtime = "lua"};
    struct laz_result *result = NULL;

    switch (way) {
    case 0:
        return laz_session_execute(session, "1", SIZE_MAX, options, &result, err);
    case 1:
        return laz_session_execute_async(session, "1", SIZE_MAX, options, nobody_is_told, NULL,
                                         err);
    case 2:
        return laz_execute(engine, &lua, "1", SIZE_MAX, options, &result, err);
    case 3:
        return laz_execute_async(engine, &lua, "1", SIZE_MAX, options, nobody_is_told, NULL, err);
    case 4:
        return laz_pool_execute(pool, LAZ_NO_LIMIT, "1", SIZE_MAX, options, &result, err);
    case 5:
        return laz_pool_execute_async(pool, LAZ_NO_LIMIT, "1", SIZE_MAX, options, nobody_is_told,
                                      NULL, err);
    case 6:
        return laz_group_execute(group, &lua, "1", SIZE_MAX, options, &result, err);
    case 7:
        return laz_group_execute_async(group, &lua, "1", SIZE_MAX, options, nobody_is_told, NULL,
                                       err);
    case 8:
        return laz_group_pool_execute(places, LAZ_NO_LIMIT, "1", SIZE_MAX, options, &result, err);
    default:
        return laz_group_pool_execute_async(places, LAZ_NO_LIMIT, "1", SIZE_MAX, options,
                                            nobody_is_told, NULL, err);
    }
}

static void a_null_in_a_list_is_refused(void)
{
    static const char *const argv[] = {"file.lua", NULL, "x"};
    const struct laz_execute_options broken = {.size = sizeof broken, .argv = argv, .n_argv = 3},
                                     none = {.size = sizeof none, .n_argv = 1};
    const struct laz_pool_options one = {.size = sizeof one, .runtime = "lua", .members = 1};
    const struct laz_group_options single = {.size = sizeof single, .engines = 1};
    const struct laz_session_tool *const tools[] = {NULL};
    const struct laz_session_options with = {
        .size = sizeof with, .runtime = "lua", .tools = tools, .n_tools = 1};
    struct laz_session *other = NULL;
    struct laz_pool *pool = NULL;
    struct laz_group *group = NULL;
    struct laz_group_pool *places = NULL;
    struct laz_error err = {0};
    const char *found;

    open_lua(NULL);
    CU_ASSERT_EQUAL_FATAL(laz_pool_new(engine, &one, &pool, &err), 0);
    CU_ASSERT_EQUAL_FATAL(laz_group_new(NULL, &single, &group, &err), 0);
    CU_ASSERT_EQUAL_FATAL(laz_group_pool_new(group, &one, &places, &err), 0);
    for (unsigned way = 0; way < 10; way++) {
        CU_ASSERT_EQUAL(execute_by(way, &broken, pool, group, places, &err), LAZ_EINVAL);
        UNIT_TEXT(err.text, "an argument of the code is NULL");
        CU_ASSERT_EQUAL(execute_by(way, &none, pool, group, places, &err), LAZ_EINVAL);
        UNIT_TEXT(err.text, "the command line of the code is NULL");
    }
    CU_ASSERT_EQUAL(laz_session_open(engine, &with, &other, &err), LAZ_EINVAL);
    CU_ASSERT_EQUAL(laz_engine_check_tools(engine, tools, 1, &err), LAZ_EINVAL);
    CU_ASSERT_EQUAL(laz_engine_check_tools(engine, NULL, 1, &err), LAZ_EINVAL);
    CU_ASSERT_EQUAL(laz_engine_search_tools_with(engine, tools, 1, "x", 0, &found, &err),
                    LAZ_EINVAL);
    laz_group_free(group);
    close_lua();
}

static void options_of_an_older_application_are_read_to_their_end(void)
{
    struct laz_execute_options options = {
        .size = offsetof(struct laz_execute_options, no_print),
        .max_tool_calls = 1,
        .no_print = 1,
        .line = line_closes, /* beyond `size`: must be ignored */
    };

    open_lua(NULL);
    struct laz_result *result = test_run(session, "print('x')\nreturn add(1, 2)", &options);
    UNIT_TEXT(laz_result_value(result), "3");
    UNIT_TEXT(laz_result_text(result), "3");
    laz_result_free(result);
    CU_ASSERT_TRUE(laz_session_is_alive(session));
    close_lua();
}

/* ---- traces ---------------------------------------------------------------------------------- */

#define TRACE_PARENT "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

static char told_trace[200];

static void tool_traced(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    const struct laz_trace *trace = laz_reply_caller(reply)->trace;

    (void)user, (void)args, (void)len;
    snprintf(told_trace, sizeof told_trace, "%s %s", trace ? trace->parent : "none",
             trace && trace->state ? trace->state : "none");
}

static void pool_traced(void *user, struct laz_result *result, const struct laz_error *err)
{
    CU_ASSERT_PTR_NULL(err);
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_OK);
    laz_result_free(result);
    *(bool *)user = true;
}

static void a_trace_is_checked_and_told(void)
{
    const struct laz_tool tool = {.size = sizeof tool, .name = "traced"};
    struct laz_trace trace = {.size = sizeof trace, .parent = TRACE_PARENT, .state = "a=1"};
    struct laz_execute_options options = {.size = sizeof options, .trace = &trace};
    const struct laz_pool_options one = {.size = sizeof one, .runtime = "lua", .members = 1};
    struct laz_result *result = NULL;
    struct laz_pool *pool = NULL;
    struct laz_error err = {0};
    bool is_done = false;

    engine = test_engine("");
    CU_ASSERT_EQUAL(laz_engine_add_tool(engine, &tool, tool_traced, NULL, NULL), 0);
    session = test_session(engine, "lua");
    CU_ASSERT_PTR_NOT_NULL_FATAL(session);
    test_expect_with(session, "traced()", &options, LAZ_VERDICT_OK, NULL);
    UNIT_TEXT(told_trace, TRACE_PARENT " a=1");
    trace.state = NULL;
    test_expect_with(session, "traced()", &options, LAZ_VERDICT_OK, NULL);
    UNIT_TEXT(told_trace, TRACE_PARENT " none");
    test_expect(session, "traced()", LAZ_VERDICT_OK, NULL);
    UNIT_TEXT(told_trace, "none none");
    trace.parent = "x";
    CU_ASSERT_EQUAL(laz_session_execute(session, "1", SIZE_MAX, &options, &result, &err),
                    LAZ_EINVAL);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "traceparent"));
    laz_session_free(session);
    /* One that waits for a session keeps its own copy. */
    char parent[] = TRACE_PARENT;
    CU_ASSERT_EQUAL_FATAL(laz_pool_new(engine, &one, &pool, &err), 0);
    CU_ASSERT_EQUAL(
        laz_pool_execute_async(pool, 0, "1", SIZE_MAX, &options, pool_traced, &is_done, &err),
        LAZ_EINVAL);
    trace.parent = parent;
    CU_ASSERT_EQUAL(laz_pool_execute_async(pool, LAZ_NO_LIMIT, "traced()", SIZE_MAX, &options,
                                           pool_traced, &is_done, &err),
                    0);
    memset(parent, 'x', sizeof parent - 1);
    trace.size = 0;
    while (!is_done)
        (void)laz_engine_step(engine, -1, NULL);
    UNIT_TEXT(told_trace, TRACE_PARENT " none");
    laz_pool_free(pool);
    laz_engine_free(engine);
}

static void stubs_are_of_one_tool(void)
{
    const struct laz_tool tool = {
        .size = sizeof tool, .name = "get-user", .description = "A user."};
    const char *stub = NULL;
    struct laz_error err = {0};

    engine = test_engine("");
    CU_ASSERT_EQUAL(laz_engine_add_tool(engine, &tool, tool_traced, NULL, NULL), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_engine_tools(engine), "get-user"));
    CU_ASSERT_EQUAL(laz_engine_tool_stub(engine, "get-user", "python", &stub, &err), 0);
    CU_ASSERT(stub && strstr(stub, "def get_user(") && strstr(stub, "A user.") &&
              !strstr(stub, "def add("));
    CU_ASSERT_EQUAL(laz_engine_tool_stub(engine, "get_user", "lua", &stub, &err), 0);
    CU_ASSERT_EQUAL(laz_engine_tool_stub(engine, "get_user", NULL, &stub, &err), 0);
    CU_ASSERT_EQUAL(laz_engine_tool_stub(engine, "nobody", NULL, &stub, &err), LAZ_ENOENT);
    CU_ASSERT_PTR_NULL(stub);
    CU_ASSERT_EQUAL(laz_engine_tool_stub(engine, "add", "perl", &stub, &err), LAZ_EINVAL);
    laz_engine_free(engine);
}

/* ---- a descriptor that is only lent ---------------------------------------------------------- */

static void what_needs_the_loop_is_refused(const char *words)
{
    struct laz_session *other = NULL;
    struct laz_result *result = NULL;
    struct laz_pool *pool = NULL;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL(laz_engine_step(engine, 0, &err), LAZ_EINVAL);
    if (!strstr(err.text, words))
        printf("\n    %s", err.text);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, words));
    CU_ASSERT_EQUAL(laz_session_execute(session, "1", SIZE_MAX, NULL, &result, NULL), LAZ_EINVAL);
    CU_ASSERT_EQUAL(laz_session_check(session, "1", SIZE_MAX, &result, NULL), LAZ_EINVAL);
    CU_ASSERT_EQUAL(laz_session_restart(session, NULL), LAZ_EINVAL);
    CU_ASSERT_EQUAL(laz_session_open(engine, NULL, &other, NULL), LAZ_EINVAL);
    CU_ASSERT_EQUAL(laz_pool_new(engine, NULL, &pool, NULL), LAZ_EINVAL);
    CU_ASSERT(!result && !other && !pool);
}

static void an_engine_whose_descriptor_was_closed_says_so(void)
{
    struct laz_engine *second;

    open_lua(NULL);
    int fd = laz_engine_fd(engine), copy = dup(fd);
    close(fd);
    what_needs_the_loop_is_refused("laz_engine_fd");
    CU_ASSERT_EQUAL(dup2(copy, fd), fd); /* the same again */
    test_expect(session, "return 6 * 7", LAZ_VERDICT_OK, "42");
    close(fd);
    second = test_engine(""); /* the number may be another engine's now */
    CU_ASSERT_EQUAL(dup2(laz_engine_fd(second), fd), fd);
    what_needs_the_loop_is_refused("laz_engine_fd");
    laz_engine_free(engine); /* and closes nothing that is not its own */
    close(copy);
    CU_ASSERT(fcntl(fd, F_GETFD) >= 0);
    CU_ASSERT_EQUAL(laz_engine_step(second, 0, NULL), 0);
    laz_engine_free(second);
    close(fd);
}

/* In a process of its own: all descriptors of the engine are gone, as by a function that makes a
 * daemon. */
static int all_are_closed(void)
{
    open_lua(NULL);
    if (close_range(3, ~0u, 0) != 0)
        return 77;
    what_needs_the_loop_is_refused("laz_engine_fd");
    laz_engine_free(engine);
    return CU_get_number_of_failures() != 0;
}

static void an_engine_that_lost_all_its_descriptors_ends(void)
{
    int status = -1;

    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        _exit(all_are_closed());
    CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
    if (status != 0 && status != 77 << 8)
        printf("\n    status %#x", (unsigned)status);
    CU_ASSERT(status == 0 || status == 77 << 8); /* Linux before 5.9 */
}

/* ---- a process without means ----------------------------------------------------------------- */

#define OTHER_ID 65534 /* may not do more than others */

static int engine_of_another(struct laz_error *err)
{
    struct laz_engine *one = NULL;

    int rc = laz_engine_new(NULL, NULL, &one, err);
    laz_engine_free(one);
    return rc;
}

/* A limit of this process, as a shell sets it. */
static int without_processes(struct laz_error *err)
{
    return setrlimit(RLIMIT_NPROC, &(struct rlimit){0, 0}) ? 1 : engine_of_another(err);
}

static int without_descriptors(struct laz_error *err)
{
    return setrlimit(RLIMIT_NOFILE, &(struct rlimit){4, 4}) ? 1 : engine_of_another(err);
}

static int without_a_home(struct laz_error *err)
{
    struct laz_settings *settings = NULL;

    unsetenv("LAZARET_CONFIG");
    unsetenv("XDG_CONFIG_HOME");
    int rc = laz_settings_new(&settings, err);
    if (!rc)
        rc = laz_settings_load(settings, NULL, err);
    laz_settings_free(settings);
    return rc;
}

static const struct {
    int (*call)(struct laz_error *err);
    const char *words;
} shortages[] = {
    {without_processes, "RLIMIT_NPROC"},
    {without_descriptors, "RLIMIT_NOFILE"},
    {without_a_home, "let this user read it"},
};

/* In a process of its own, without the rights of root. */
static int is_told(size_t i)
{
    struct laz_error err = {0};

    if (getuid() == 0 && (setgroups(0, NULL) || setgid(OTHER_ID) || setuid(OTHER_ID)))
        return 1;
    int rc = shortages[i].call(&err);
    if (rc >= 0 || !strstr(err.text, shortages[i].words))
        printf("\n    %d: %s", rc, err.text);
    fflush(stdout);
    return rc >= 0 || !strstr(err.text, shortages[i].words);
}

static void what_the_process_is_short_of_is_named(void)
{
    char home[] = "/tmp/misuse-lazaret-XXXXXX";

    CU_ASSERT_FATAL(mkdtemp(home) != NULL && chmod(home, 0) == 0);
    char *before = getenv("HOME"), *kept = before ? laz_strdup(before) : NULL;
    setenv("HOME", home, 1);
    for (size_t i = 0; i < sizeof shortages / sizeof *shortages; i++) {
        int status = -1;
        fflush(stdout);
        pid_t pid = fork();
        if (pid == 0)
            _exit(is_told(i));
        CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
        CU_ASSERT_EQUAL(status, 0);
    }
    if (kept)
        setenv("HOME", kept, 1);
    else
        unsetenv("HOME");
    free(kept);
    rmdir(home);
}

static const struct unit_test tests[] = {
    UNIT(an_engine_whose_descriptor_was_closed_says_so),
    UNIT(an_engine_that_lost_all_its_descriptors_ends),
    UNIT(what_the_process_is_short_of_is_named),
    UNIT(calls_from_a_tool_are_refused_as_busy),
    UNIT(calls_from_an_output_handler_are_refused_as_busy),
    UNIT(calls_from_a_hook_are_refused_as_busy),
    UNIT(cancelling_ends_code_and_what_it_waits_for),
    UNIT(cancelling_does_not_wait_for_a_tool),
    UNIT(cancelling_ends_a_start),
    UNIT(cancelling_ends_the_trial_of_a_backend),
    UNIT(closing_during_an_execution_ends_it_and_the_session),
    UNIT(freeing_during_an_execution_leaves_it_to_the_engine),
    UNIT(freeing_an_engine_ends_its_sessions),
    UNIT(nothing_is_allowed_where_the_header_says_so),
    UNIT(a_null_in_a_list_is_refused),
    UNIT(options_of_an_older_application_are_read_to_their_end),
    UNIT(a_trace_is_checked_and_told),
    UNIT(stubs_are_of_one_tool),
    {0},
};

int main(void)
{
    return unit_run("misuse", tests);
}
