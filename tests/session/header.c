/* SPDX-License-Identifier: MIT */
/* header.c - every function of lazaret.h (symbols.sh checks that), with the public headers alone,
 * in C and in C++ (embed.sh). Prints what is wrong; status 0: nothing. Without handles:
 * header_none.c, groups: header_group.c. */
#include "header.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int wrong;

void header_check(bool holds, const char *what, const char *file, int line)
{
    if (holds)
        return;
    printf("%s:%d: %s\n", file, line, what);
    wrong++;
}

static bool is(const char *text, const char *expected)
{
    return text && strcmp(text, expected) == 0;
}

static bool has(const char *text, const char *part)
{
    return text && strstr(text, part);
}

static struct laz_engine *engine;

static void make_engine(const char *key, const char *value)
{
    struct laz_engine_options options = LAZ_ENGINE_OPTIONS_INIT;
    struct laz_settings *settings = NULL;
    struct laz_error err = {0, 0, ""};

    CHECK(laz_settings_new(&settings, &err) == 0);
    CHECK(laz_settings_set(settings, "sandbox.backend", "none", &err) == 0);
    CHECK(laz_settings_set(settings, "sandbox.require", "[]", &err) == 0);
    CHECK(laz_settings_set(settings, "session.runtime", "lua", &err) == 0);
    CHECK(laz_settings_set(settings, "session.timeout", "0", &err) == 0);
    CHECK(laz_settings_set(settings, "session.deadline", "0", &err) == 0);
    CHECK(laz_settings_set(settings, "session.start_timeout", "600", &err) == 0);
    if (key)
        CHECK(laz_settings_set(settings, key, value, &err) == 0);
    CHECK(laz_engine_new(settings, &options, &engine, &err) == 0);
    if (err.code) {
        printf("%s\n", err.text);
        exit(1);
    }
    laz_settings_free(settings);
}

static struct laz_session *open_session(const struct laz_session_options *options)
{
    struct laz_session *session = NULL;
    struct laz_error err = {0, 0, ""};

    CHECK(laz_session_open(engine, options, &session, &err) == 0);
    if (!session) {
        printf("%s\n", err.text);
        exit(1);
    }
    return session;
}

static struct laz_result *run(struct laz_session *session, const char *code,
                              const struct laz_execute_options *options)
{
    struct laz_result *result = NULL;
    struct laz_error err = {0, 0, ""};

    CHECK(laz_session_execute(session, code, SIZE_MAX, options, &result, &err) == 0);
    if (!result) {
        printf("%s\n", err.text);
        exit(1);
    }
    return result;
}

static void gives(struct laz_session *session, const char *code, const char *value)
{
    struct laz_result *result = run(session, code, NULL);

    if (laz_result_verdict(result) != LAZ_VERDICT_OK)
        printf("%s: %s\n", code, laz_result_error(result));
    CHECK(is(laz_result_value(result), value));
    laz_result_free(result);
}

/* ---- versions, errors, settings -------------------------------------------------------------- */

static void names_and_numbers(void)
{
    struct laz_settings *settings = NULL;
    struct laz_error err = {0, 0, ""};

    CHECK(is(laz_version(), LAZ_VERSION));
    CHECK(laz_version_number() == LAZ_VERSION_NUMBER);
    CHECK(is(laz_error_name(LAZ_EINVAL), "LAZ_EINVAL"));
    CHECK(is(laz_error_name(LAZ_ECANCELLED), "LAZ_ECANCELLED"));
    CHECK(is(laz_error_name(0), "0"));
    CHECK(is(laz_error_name(1), "unknown error"));
    CHECK(is(laz_error_name(-1000), "unknown error"));
    CHECK(is(laz_verdict_name(LAZ_VERDICT_TIMEOUT), "timeout"));
    CHECK(laz_verdict_exit_status(LAZ_VERDICT_TIMEOUT) == 124);
    CHECK(laz_default_limits()[0] == '{');
    CHECK(laz_settings_new(&settings, &err) == 0);
    CHECK(laz_settings_load(settings, "/nowhere/lazaret.toml", &err) == LAZ_ECONFIG);
    CHECK(laz_settings_set(settings, "session.timeuot", "1", &err) == LAZ_ECONFIG);
    CHECK(laz_settings_problems(settings) == 1);
    CHECK(has(laz_settings_problem(settings, 0), "session.timeout"));
    CHECK(!laz_settings_problem(settings, 1));
    laz_settings_free(settings);
}

/* ---- what a caller can do wrong -------------------------------------------------------------- */

/* A struct of a later version of the headers. */
struct later_options {
    struct laz_session_options known;
    const void *unknown;
};

static int deny(void *user, const char *code, size_t len, char *reason, size_t reason_size)
{
    (void)user, (void)code, (void)len;
    snprintf(reason, reason_size, "no");
    return 1;
}

static void sizes_are_checked(void)
{
    struct later_options later;
    struct laz_session_options *options = &later.known;
    struct laz_execute_options execute = LAZ_EXECUTE_OPTIONS_INIT;
    struct laz_pool_options pool_options = LAZ_POOL_OPTIONS_INIT;
    struct laz_engine_options engine_options = LAZ_ENGINE_OPTIONS_INIT;
    struct laz_session *session = NULL;
    struct laz_engine *other = NULL;
    struct laz_result *result = NULL;
    struct laz_pool *pool = NULL;
    struct laz_error err = {0, 0, ""};

    memset(&later, 0, sizeof later);
    options->pre_execute = deny;
    CHECK(laz_session_open(engine, options, &session, &err) == LAZ_EINVAL);
    CHECK(has(err.text, "laz_session_options"));
    options->size = (size_t)-1;
    CHECK(laz_session_open(engine, options, &session, &err) == LAZ_EINVAL);
    options->size = sizeof later;
    later.unknown = &later;
    CHECK(laz_session_open(engine, options, &session, &err) == LAZ_EREFUSED);
    CHECK(!session);
    later.unknown = NULL;
    CHECK(laz_session_open(engine, options, &session, &err) == 0);
    CHECK(laz_session_execute(session, "return 1", SIZE_MAX, NULL, &result, &err) == 0);
    CHECK(laz_result_verdict(result) == LAZ_VERDICT_BLOCKED);
    CHECK(!laz_result_replaced(result) && laz_result_is_kept(result));
    CHECK(!laz_result_is_value_omitted(result));
    laz_result_free(result);
    execute.size = 0;
    CHECK(laz_session_execute(session, "", 0, &execute, &result, &err) == LAZ_EINVAL);
    CHECK(!result);
    laz_session_free(session);
    pool_options.size = 0;
    CHECK(laz_pool_new(engine, &pool_options, &pool, &err) == LAZ_EINVAL);
    engine_options.size = 0;
    CHECK(laz_engine_new(NULL, &engine_options, &other, &err) == LAZ_EINVAL);
    CHECK(!pool && !other);
}

/* ---- sessions and results -------------------------------------------------------------------- */

static void count_lines(void *user, int stream, const char *text, size_t len)
{
    CHECK(stream == LAZ_STDOUT && len == 2 && memcmp(text, "hi", 2) == 0);
    ++*(unsigned *)user;
}

static void results_have_getters(void)
{
    struct laz_execution_usage usage = LAZ_EXECUTION_USAGE_INIT;
    struct laz_execute_options options = LAZ_EXECUTE_OPTIONS_INIT;
    struct laz_session *session = open_session(NULL);
    struct laz_json_token token;
    unsigned lines = 0;
    int stream = 0;
    size_t len = 0;

    options.line = count_lines;
    options.user = &lines;
    struct laz_result *result = run(session, "print('hi')\nreturn {6 * 7}", &options);
    CHECK(laz_result_verdict(result) == LAZ_VERDICT_OK && laz_result_exit_status(result) == 0);
    CHECK(lines == 1 && laz_result_outputs(result) == 1);
    CHECK(memcmp(laz_result_output(result, 0, &stream, &len), "hi\n", 3) == 0);
    CHECK(stream == LAZ_STDOUT && len == 3 && !laz_result_output(result, 1, NULL, NULL));
    CHECK(laz_result_text(result) != NULL && is(laz_result_detail(result), ""));
    CHECK(!laz_result_is_truncated(result));
    CHECK(!laz_result_error(result) && !laz_result_error_kind(result));
    CHECK(laz_result_error_line(result) == 0);
    CHECK(is(laz_result_backend(result), "none"));
    const char *rest = strstr(laz_result_isolation(result), "\"mechanisms\"");
    const char *memory = strstr(laz_result_isolation(result), "\"memory\"");
    CHECK(laz_result_enforces(result, "memory") == (memory && memory < rest));
    CHECK(!laz_result_enforces(result, "fs_read"));
    CHECK(!laz_result_enforces(result, "no such word") && !laz_result_enforces(result, NULL));
    CHECK(is(laz_result_isolation(result), laz_session_isolation(session)));
    CHECK(is(laz_result_session(result), laz_session_id(session)));
    CHECK(laz_result_usage(result, &usage) == 0);
    CHECK(usage.size == sizeof usage && usage.wall_us > 0 && usage.tool_calls == 0);
    usage.size = 0;
    CHECK(laz_result_usage(result, &usage) == LAZ_EINVAL);
    CHECK(laz_result_usage(result, NULL) == LAZ_EINVAL);
    CHECK(has(laz_result_json(result), "\"ok\":true"));

    const struct laz_json_api *json = laz_json_api();
    const char *value = laz_result_value(result);
    struct laz_json_reader *reader = json->reader_new(value, strlen(value));
    CHECK(json->next(reader, &token) == LAZ_JSON_ARRAY_BEGIN);
    CHECK(json->next(reader, &token) == LAZ_JSON_NUMBER && is(token.text, "42"));
    json->reader_free(reader);
    laz_result_free(result);

    result = run(session, "local function f() error('boom') end\nf() return 1", NULL);
    CHECK(laz_result_verdict(result) == LAZ_VERDICT_ERROR && laz_result_exit_status(result) == 1);
    CHECK(has(laz_result_error(result), "boom"));
    CHECK(is(laz_result_error_kind(result), "runtime"));
    CHECK(laz_result_error_line(result) == 1 && laz_result_error_column(result) == 0);
    CHECK(laz_result_traceback_length(result) > 0 && laz_result_traceback(result, 0) != NULL);
    CHECK(!laz_result_traceback(result, laz_result_traceback_length(result)));
    laz_result_free(result);

    CHECK(laz_session_check(session, "os.execute('x')", SIZE_MAX, &result, NULL) == 0);
    CHECK(laz_result_warning(result, laz_result_warnings(result)) == NULL);
    CHECK(laz_result_denial(result, laz_result_denials(result)) == NULL);
    CHECK(laz_result_credential(result, laz_result_credentials(result)) == NULL);
    laz_result_free(result);

    CHECK(laz_session_is_alive(session) && laz_session_pid(session) > 0);
    CHECK(has(laz_session_describe(session), "session lua"));
    CHECK(is(laz_session_tools(session), "[]"));
    CHECK(laz_session_set_network(session, NULL, 0, NULL) == 0);
    CHECK(laz_session_restart(session, NULL) == 0);
    gives(session, "return 2", "2");
    laz_session_cancel(session);
    CHECK(laz_session_interrupt(session) == LAZ_ENOENT && laz_session_interrupt(NULL) == LAZ_EINVAL);
    laz_session_close(session);
    CHECK(!laz_session_is_alive(session) && laz_session_pid(session) == -1);
    laz_session_free(session);
}

/* ---- tools ---------------------------------------------------------------------------------- */

/* What a tool was told of its last call. */
struct told {
    char tool[32], session[32];
    uint64_t execution;
    void *session_user, *execution_user;
};

static void tool_who(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    const struct laz_caller *caller = laz_reply_caller(reply);
    struct told *told = (struct told *)user;

    (void)args, (void)len;
    snprintf(told->tool, sizeof told->tool, "%s", caller->tool);
    snprintf(told->session, sizeof told->session, "%s", caller->session);
    told->execution = caller->execution;
    told->session_user = caller->session_user;
    told->execution_user = caller->execution_user;
    laz_reply_value(reply, "true", 4);
    laz_reply_error(reply, "the second answer does not count");
}

struct watched {
    struct laz_session *session;
    int times;
    uint64_t wall_us;
};

static void watch(void *user, const struct laz_execution_usage *usage)
{
    struct watched *watched = (struct watched *)user;

    CHECK(usage->size == sizeof *usage && usage->tool_calls == 0);
    CHECK(usage->wall_us > watched->wall_us);
    watched->wall_us = usage->wall_us;
    if (++watched->times == 3)
        laz_session_cancel(watched->session);
}

static void progress_is_told(void)
{
    struct laz_execute_options execute = LAZ_EXECUTE_OPTIONS_INIT;
    struct watched watched = {NULL, 0, 0};
    struct laz_result *result;

    watched.session = open_session(NULL);
    execute.timeout_ms = execute.deadline_ms = LAZ_NO_LIMIT;
    execute.progress = watch;
    execute.progress_ms = 1;
    execute.user = &watched;
    result = run(watched.session, "while true do end", &execute);
    CHECK(watched.times >= 3);
    CHECK(laz_result_verdict(result) == LAZ_VERDICT_CANCELLED);
    laz_result_free(result);
    laz_session_free(watched.session);
}

static void tools_know_who_calls(void)
{
    struct laz_session_options options = LAZ_SESSION_OPTIONS_INIT;
    struct laz_execute_options execute = LAZ_EXECUTE_OPTIONS_INIT;
    struct laz_session_tool own = LAZ_SESSION_TOOL_INIT;
    struct laz_tool who = LAZ_TOOL_INIT, mine = LAZ_TOOL_INIT;
    const struct laz_session_tool *tools[1] = {&own};
    struct laz_session *session = NULL;
    const char *found = NULL;
    struct laz_error err = {0, 0, ""};
    static struct told told, own_told; /* the tools outlive this function */
    int ada, request;

    memset(&told, 0, sizeof told);
    memset(&own_told, 0, sizeof own_told);
    who.name = "who";
    mine.name = "mine";
    who.size = 0;
    CHECK(laz_engine_add_tool(engine, &who, tool_who, &told, &err) == LAZ_EINVAL);
    who.size = sizeof who;
    CHECK(laz_engine_add_tool(engine, &who, tool_who, &told, &err) == 0);
    own.tool = &mine;
    own.call = tool_who;
    own.user = &own_told;
    options.user = &ada;
    options.tools = tools;
    options.n_tools = 1;
    session = open_session(&options);
    struct laz_session *other = open_session(NULL);
    mine.name = "changed"; /* it was copied */
    CHECK(has(laz_session_tools(session), "\"who\""));
    CHECK(has(laz_session_tools(session), "\"mine\""));
    CHECK(!has(laz_session_tools(other), "\"mine\""));
    CHECK(has(laz_session_describe(session), "tools=2"));
    CHECK(laz_session_search_tools(session, "mine", 0, &found, &err) == 0);
    CHECK(has(found, "\"mine\"") && !has(found, "\"who\""));
    CHECK(laz_session_search_tools(other, "mine", 0, &found, &err) == 0 && is(found, "[]"));
    CHECK(laz_engine_search_tools(engine, "mine who", 1, &found, &err) == 0);
    CHECK(has(found, "\"who\"") && !has(found, "\"mine\""));
    mine.name = "mine";
    CHECK(laz_engine_check_tools(engine, tools, 1, &err) == 0);
    CHECK(laz_engine_search_tools_with(engine, tools, 1, "mine who", 0, &found, &err) == 0);
    CHECK(has(found, "\"who\"") && has(found, "\"mine\""));
    mine.name = "who"; /* one that every session has */
    CHECK(laz_engine_check_tools(engine, tools, 1, &err) == LAZ_EINVAL && has(err.text, "'who'"));
    CHECK(laz_engine_search_tools_with(engine, tools, 1, "who", 0, &found, &err) == LAZ_EINVAL);
    CHECK(!found);
    CHECK(laz_engine_search_tools(engine, "mine who", 0, &found, &err) == 0); /* nothing stays */
    CHECK(has(found, "\"who\"") && !has(found, "\"mine\""));
    execute.user = &request;
    laz_result_free(run(session, "return who()", &execute));
    CHECK(is(told.tool, "who") && is(told.session, laz_session_id(session)));
    CHECK(told.session_user == &ada && told.execution_user == &request && told.execution == 1);
    gives(session, "return mine()", "true");
    CHECK(is(own_told.tool, "mine") && is(own_told.session, laz_session_id(session)));
    CHECK(own_told.session_user == &ada && !own_told.execution_user && own_told.execution == 2);
    gives(other, "return who()", "true");
    CHECK(!told.session_user && is(told.session, laz_session_id(other)));
    gives(other, "return type(mine)", "\"nil\"");
    laz_session_free(other);
    laz_session_free(session);

    mine.name = "who"; /* the engine has one */
    CHECK(laz_session_open(engine, &options, &session, &err) == LAZ_EINVAL);
    CHECK(has(err.text, "Duplicate"));
    mine.name = "mine";
    own.size = 0;
    CHECK(laz_session_open(engine, &options, &session, &err) == LAZ_EINVAL);
    tools[0] = NULL;
    CHECK(laz_session_open(engine, &options, &session, &err) == LAZ_EINVAL);
    options.tools = NULL;
    CHECK(laz_session_open(engine, &options, &session, &err) == LAZ_EINVAL);
    CHECK(!session);
}

/* A tool that keeps its reply. */
struct kept {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct laz_reply *reply; /* NULL: not called yet */
    unsigned cancelled;
};

static void kept_init(struct kept *kept)
{
    memset(kept, 0, sizeof *kept);
    pthread_mutex_init(&kept->lock, NULL);
    pthread_cond_init(&kept->changed, NULL);
}

static void kept_cancelled(void *user)
{
    struct kept *kept = (struct kept *)user;

    pthread_mutex_lock(&kept->lock);
    kept->cancelled++;
    pthread_cond_broadcast(&kept->changed);
    pthread_mutex_unlock(&kept->lock);
}

static void tool_keeps(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    struct kept *kept = (struct kept *)user;

    (void)args, (void)len;
    CHECK(laz_reply_keep(reply) == 0);
    CHECK(laz_reply_on_cancel(reply, kept_cancelled, kept) == 0);
    pthread_mutex_lock(&kept->lock);
    kept->reply = reply;
    pthread_cond_broadcast(&kept->changed);
    pthread_mutex_unlock(&kept->lock);
}

static struct laz_reply *kept_await(struct kept *kept)
{
    pthread_mutex_lock(&kept->lock);
    while (!kept->reply)
        pthread_cond_wait(&kept->changed, &kept->lock);
    struct laz_reply *reply = kept->reply;
    kept->reply = NULL;
    pthread_mutex_unlock(&kept->lock);
    return reply;
}

static void *answer_late(void *user)
{
    struct laz_reply *reply = kept_await((struct kept *)user);

    laz_reply_value(reply, "\"late\"", 6);
    laz_reply_free(reply);
    return NULL;
}

static void *answer_never(void *user)
{
    laz_reply_free(kept_await((struct kept *)user));
    return NULL;
}

static void tool_frees(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len;
    CHECK(laz_reply_keep(reply) == 0);
    laz_reply_error(reply, "at once");
    laz_reply_free(reply);
}

static void step_until(const bool *done)
{
    struct pollfd ready = {laz_engine_fd(engine), POLLIN, 0};

    while (!*done) {
        CHECK(poll(&ready, 1, laz_engine_timeout(engine)) >= 0);
        CHECK(laz_engine_step(engine, 0, NULL) == 0);
    }
}

static void is_ok(void *user, struct laz_result *result, const struct laz_error *err)
{
    CHECK(!err && laz_result_verdict(result) == LAZ_VERDICT_OK);
    laz_result_free(result);
    *(bool *)user = true;
}

static void is_cancelled(void *user, struct laz_result *result, const struct laz_error *err)
{
    CHECK(!err && laz_result_verdict(result) == LAZ_VERDICT_CANCELLED);
    laz_result_free(result);
    *(bool *)user = true;
}

static void add_keeper(const char *name, uint32_t timeout_ms, struct kept *kept)
{
    struct laz_tool tool = LAZ_TOOL_INIT;

    tool.name = name;
    tool.timeout_ms = timeout_ms;
    CHECK(laz_engine_add_tool(engine, &tool, tool_keeps, kept, NULL) == 0);
}

static void answers_may_come_later(void)
{
    struct laz_tool frees = LAZ_TOOL_INIT;
    struct kept kept, hasty;
    pthread_t thread;
    bool done = false;

    kept_init(&kept);
    kept_init(&hasty);
    add_keeper("later", 0, &kept);
    add_keeper("hasty", 1, &hasty);
    frees.name = "frees";
    CHECK(laz_engine_add_tool(engine, &frees, tool_frees, NULL, NULL) == 0);
    struct laz_session *session = open_session(NULL), *second = open_session(NULL);
    CHECK(pthread_create(&thread, NULL, answer_late, &kept) == 0);
    gives(session, "return later()", "\"late\"");
    pthread_join(thread, NULL);
    CHECK(pthread_create(&thread, NULL, answer_never, &kept) == 0);
    gives(session, "return later() == nil", "true");
    pthread_join(thread, NULL);
    gives(session, "local ok, why = pcall(frees) return why:match('at once')", "\"at once\"");

    /* the only thread is free meanwhile (workers.max = 1) */
    CHECK(laz_session_execute_async(session, "return later()", SIZE_MAX, NULL, is_ok, &done,
                                    NULL) == 0);
    gives(second, "return who()", "true");
    struct laz_reply *reply = NULL;
    while (!reply) {
        CHECK(laz_engine_step(engine, 10, NULL) == 0);
        pthread_mutex_lock(&kept.lock);
        reply = kept.reply;
        kept.reply = NULL;
        pthread_mutex_unlock(&kept.lock);
    }
    gives(second, "return who()", "true");
    CHECK(!laz_reply_is_cancelled(reply) && kept.cancelled == 0);
    CHECK(is(laz_reply_caller(reply)->tool, "later"));
    laz_reply_value(reply, "1", 1);
    step_until(&done);
    laz_reply_free(reply);
    CHECK(kept.cancelled == 0);

    /* the time of the tool is over */
    gives(session, "local ok, why = pcall(hasty) return why:match('timed out')", "\"timed out\"");
    reply = kept_await(&hasty);
    CHECK(hasty.cancelled == 1 && laz_reply_is_cancelled(reply));
    laz_reply_on_cancel(reply, kept_cancelled, &hasty); /* at once */
    CHECK(hasty.cancelled == 2);
    laz_reply_error(reply, "nobody listens");
    laz_reply_free(reply);

    /* the execution is cancelled */
    done = false;
    CHECK(laz_session_execute_async(session, "return later()", SIZE_MAX, NULL, is_cancelled, &done,
                                    NULL) == 0);
    for (reply = NULL; !reply;) {
        CHECK(laz_engine_step(engine, 10, NULL) == 0);
        pthread_mutex_lock(&kept.lock);
        reply = kept.reply;
        kept.reply = NULL;
        pthread_mutex_unlock(&kept.lock);
    }
    laz_session_cancel(session);
    step_until(&done);
    CHECK(kept.cancelled == 1 && laz_reply_is_cancelled(reply));
    laz_reply_free(reply);
    laz_session_free(second);
    laz_session_free(session);
}

static void frees_reply(void *user)
{
    laz_reply_free((struct laz_reply *)user);
}

static void replies_outlive_the_engine(void)
{
    struct kept kept;
    bool done = false;

    kept_init(&kept);
    make_engine(NULL, NULL);
    add_keeper("later", 0, &kept);
    struct laz_session *session = open_session(NULL);
    CHECK(laz_session_execute_async(session, "return later()", SIZE_MAX, NULL, is_cancelled, &done,
                                    NULL) == 0);
    for (bool called = false; !called;) {
        CHECK(laz_engine_step(engine, 10, NULL) == 0);
        pthread_mutex_lock(&kept.lock);
        called = kept.reply;
        pthread_mutex_unlock(&kept.lock);
    }
    laz_engine_cancel(engine);
    laz_engine_free(engine);
    CHECK(done && kept.cancelled == 1 && laz_reply_is_cancelled(kept.reply));
    CHECK(is(laz_reply_caller(kept.reply)->tool, "later"));
    laz_reply_value(kept.reply, "1", 1);
    CHECK(laz_reply_on_cancel(kept.reply, frees_reply, kept.reply) == 0); /* at once */
}

/* ---- pools ---------------------------------------------------------------------------------- */

static void got(void *user, struct laz_session *session, const struct laz_error *err)
{
    CHECK(session && !err);
    *(struct laz_session **)user = session;
}

static void pools_lend_sessions(void)
{
    struct laz_pool_options options = LAZ_POOL_OPTIONS_INIT;
    struct laz_pool_status status = LAZ_POOL_STATUS_INIT;
    struct laz_session *session = NULL;
    struct laz_result *result = NULL;
    struct laz_pool *pool = NULL;
    struct laz_error err = {0, 0, ""};
    bool done = false;

    options.members = 1;
    CHECK(laz_pool_new(engine, &options, &pool, &err) == 0);
    CHECK(laz_pool_acquire(pool, LAZ_NO_LIMIT, &session, &err) == 0);
    CHECK(laz_pool_status(pool, &status, &err) == 0 && status.total == 1 && status.busy == 1);
    status.size = 0;
    CHECK(laz_pool_status(pool, &status, &err) == LAZ_EINVAL);
    CHECK(laz_pool_status(pool, NULL, &err) == LAZ_EINVAL);
    CHECK(has(laz_pool_describe(pool), "busy=1"));
    CHECK(laz_pool_release(pool, NULL, &err) == LAZ_EINVAL);
    CHECK(laz_pool_release(pool, session, &err) == 0);
    session = NULL;
    CHECK(laz_pool_acquire_async(pool, LAZ_NO_LIMIT, got, &session, &err) == 0);
    while (!session)
        CHECK(laz_engine_step(engine, -1, NULL) == 0);
    CHECK(laz_pool_release(pool, session, &err) == 0);
    CHECK(laz_pool_execute(pool, LAZ_NO_LIMIT, "return 3", SIZE_MAX, NULL, &result, &err) == 0);
    CHECK(is(laz_result_value(result), "3"));
    laz_result_free(result);
    CHECK(laz_pool_execute_async(pool, LAZ_NO_LIMIT, "return 4", SIZE_MAX, NULL, is_ok, &done,
                                 &err) == 0);
    step_until(&done);
    CHECK(laz_pool_close(pool, &err) == 0);
    laz_pool_free(pool);
    CHECK(laz_execute(engine, NULL, "return 5", SIZE_MAX, NULL, &result, &err) == 0);
    CHECK(is(laz_result_value(result), "5"));
    laz_result_free(result);
}

/* ---- fork ----------------------------------------------------------------------------------- */

static int in_a_child(struct laz_session *session)
{
    struct laz_session *another = NULL;
    struct laz_result *result = NULL;
    struct laz_error err = {0, 0, ""};

    wrong = 0; /* here */
    CHECK(laz_session_execute(session, "return 1", SIZE_MAX, NULL, &result, &err) == LAZ_EREFUSED);
    CHECK(has(err.text, "fork"));
    CHECK(laz_session_open(engine, NULL, &another, &err) == LAZ_EREFUSED);
    CHECK(laz_engine_step(engine, 0, &err) == LAZ_EREFUSED);
    laz_engine_cancel(engine);
    laz_session_cancel(session);
    laz_session_close(session);
    laz_session_free(session);
    laz_engine_free(engine);
    make_engine(NULL, NULL); /* one of its own */
    session = open_session(NULL);
    gives(session, "return 'child'", "\"child\"");
    laz_session_free(session);
    laz_engine_free(engine);
    return wrong ? 1 : 0;
}

static void a_child_has_no_engine(void)
{
    struct laz_session *session = open_session(NULL);
    int status = -1;

    gives(session, "kept = 1 return 1", "1");
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        status = in_a_child(session);
        fflush(stdout);
        _exit(status);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    gives(session, "return kept", "1");
    laz_session_free(session);
}

int main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    names_and_numbers();
    replies_outlive_the_engine();
    make_engine("workers.max", "1");
    sizes_are_checked();
    header_none(engine);
    results_have_getters();
    progress_is_told();
    tools_know_who_calls();
    answers_may_come_later();
    pools_lend_sessions();
    a_child_has_no_engine();
    laz_engine_free(engine);
    header_groups();
    return wrong ? 1 : 0;
}
