/* SPDX-License-Identifier: MIT */
/* tool_blocking.c - a blocking tool provider, with tools that misbehave:
 *
 *     echo     answers with its arguments
 *     wait     blocks until it is cancelled, then answers
 *     twice    answers two times
 *     never    returns without an answer, and ignores its cancelling
 *     broken   answers with something that is not JSON
 *     big      {bytes}: answers with a string of that many bytes
 *     fail     answers with an error
 *     run      {argv}: runs a command of the host
 *
 * Calls run on worker threads, and a cancellation may overtake the start of its call: the table of
 * calls has a lock, and whichever comes first takes an entry. */
#include <lazaret/tool.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKING_MAX_CALLS 64
#define BLOCKING_MAX_ARGS  16

struct blocking_call {
    struct laz_call *call; /* NULL: a free entry */
    bool cancelled;
    bool kept; /* unanswered until it is cancelled */
};

struct blocking_state {
    const struct laz_tool_services *services;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct blocking_call calls[BLOCKING_MAX_CALLS];
};

static const struct laz_option options[] = {LAZ_OPTIONS_END};

#define TOOL(tool_name, tool_parameters)                                                           \
    {                                                                                              \
        .size = sizeof(struct laz_tool), .name = (tool_name), .description = "",                   \
        .parameters = (tool_parameters)                                                            \
    }

static const struct laz_tool blocking_tools[] = {
    TOOL("echo", "[{\"name\":\"value\",\"required\":false}]"),
    TOOL("wait", NULL),
    TOOL("twice", NULL),
    TOOL("never", NULL),
    TOOL("broken", NULL),
    TOOL("big", "[{\"name\":\"bytes\",\"type\":\"integer\"}]"),
    TOOL("fail", NULL),
    TOOL("run", "[{\"name\":\"argv\",\"type\":\"array\"}]"),
};

/* The entry of a call; takes a free one if it has none. The lock is held. */
static struct blocking_call *blocking_place(struct blocking_state *state, struct laz_call *call)
{
    struct blocking_call *place = NULL;

    for (size_t i = 0; i < BLOCKING_MAX_CALLS; i++) {
        if (state->calls[i].call == call)
            return &state->calls[i];
        if (!place && !state->calls[i].call)
            place = &state->calls[i];
    }
    if (!place)
        abort(); /* no test has so many calls */
    *place = (struct blocking_call){.call = call};
    return place;
}

static void blocking_answer(const struct blocking_state *state, struct laz_call *call,
                            const char *json, size_t len)
{
    state->services->answer(state->services->host, call, json, len);
}

static void blocking_echo(struct blocking_state *state, struct laz_call *call, const char *args,
                          size_t args_len)
{
    blocking_answer(state, call, args, args_len);
}

static void blocking_wait(struct blocking_state *state, struct laz_call *call, const char *args,
                          size_t args_len)
{
    (void)args;
    (void)args_len;
    pthread_mutex_lock(&state->lock);
    const struct blocking_call *place = blocking_place(state, call);
    while (!place->cancelled)
        pthread_cond_wait(&state->changed, &state->lock);
    pthread_mutex_unlock(&state->lock);
    state->services->answer_error(state->services->host, call, "cancelled");
}

static void blocking_twice(struct blocking_state *state, struct laz_call *call, const char *args,
                           size_t args_len)
{
    (void)args;
    (void)args_len;
    blocking_answer(state, call, "1", 1);
    blocking_answer(state, call, "2", 1);
}

static void blocking_never(struct blocking_state *state, struct laz_call *call, const char *args,
                           size_t args_len)
{
    (void)args;
    (void)args_len;
    pthread_mutex_lock(&state->lock);
    blocking_place(state, call)->kept = true;
    pthread_mutex_unlock(&state->lock);
}

static void blocking_broken(struct blocking_state *state, struct laz_call *call, const char *args,
                            size_t args_len)
{
    (void)args;
    (void)args_len;
    blocking_answer(state, call, "{\"a\":", 5);
}

static void blocking_big(struct blocking_state *state, struct laz_call *call, const char *args,
                         size_t args_len)
{
    const struct laz_json_api *json = state->services->json;
    struct laz_json_reader *reader = json->reader_new(args, args_len);
    struct laz_json_token token;
    size_t bytes = 0;

    json->next(reader, &token);
    if (json->next(reader, &token) == LAZ_JSON_KEY && json->next(reader, &token) == LAZ_JSON_NUMBER)
        bytes = strtoull(token.text, NULL, 10);
    json->reader_free(reader);
    char *text = malloc(bytes + 2);
    memset(text, 'x', bytes + 2);
    text[0] = text[bytes + 1] = '"';
    blocking_answer(state, call, text, bytes + 2);
    free(text);
}

static void blocking_fail(struct blocking_state *state, struct laz_call *call, const char *args,
                          size_t args_len)
{
    (void)args;
    (void)args_len;
    state->services->answer_error(state->services->host, call, "the mock says no");
}

static void blocking_run(struct blocking_state *state, struct laz_call *call, const char *args,
                         size_t args_len)
{
    const struct laz_tool_services *services = state->services;
    const struct laz_json_api *json = services->json;
    struct laz_json_reader *reader = json->reader_new(args, args_len);
    struct laz_json_writer *writer = json->writer_new(0);
    struct laz_command_result result = {.size = sizeof result};
    struct laz_json_token token;
    struct laz_error err = {0};
    char *argv[BLOCKING_MAX_ARGS + 1] = {NULL};
    size_t n = 0;

    while (json->next(reader, &token) != LAZ_JSON_END)
        if (token.type == LAZ_JSON_STRING && n < BLOCKING_MAX_ARGS)
            argv[n++] = strdup(token.text);
    json->reader_free(reader);
    struct laz_command command = {.size = sizeof command, .argv = (const char *const *)argv};
    if (services->run(services->host, call, &command, &result, &err) != 0) {
        services->answer_error(services->host, call, err.text);
    } else {
        size_t len = 0;
        json->object_begin(writer);
        json->key(writer, "status", 6);
        json->write_int(writer, result.exit_status);
        json->key(writer, "output", 6);
        json->write_string(writer, result.output, result.output_len);
        json->key(writer, "errors", 6);
        json->write_string(writer, result.errors, result.errors_len);
        json->object_end(writer);
        const char *text = json->writer_text(writer, &len, NULL);
        blocking_answer(state, call, text, len);
    }
    json->writer_free(writer);
    for (size_t i = 0; i < n; i++)
        free(argv[i]);
}

/* In the order of blocking_tools. */
static void (*const blocking_functions[])(struct blocking_state *state, struct laz_call *call,
                                          const char *args, size_t args_len) = {
    blocking_echo,   blocking_wait, blocking_twice, blocking_never,
    blocking_broken, blocking_big,  blocking_fail,  blocking_run,
};

static int blocking_create(const struct laz_tool_services *services, const char *text,
                           size_t options_len, void **state, struct laz_error *err)
{
    struct blocking_state *made = calloc(1, sizeof *made);

    (void)text;
    (void)options_len;
    (void)err;
    if (!made)
        return LAZ_ENOMEM;
    made->services = services;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->changed, NULL);
    *state = made;
    return 0;
}

static int blocking_list(void *state, const struct laz_tool **tools, size_t *n,
                         struct laz_error *err)
{
    (void)state;
    (void)err;
    *tools = blocking_tools;
    *n = sizeof blocking_tools / sizeof blocking_tools[0];
    return 0;
}

static int blocking_call(void *user, size_t tool, struct laz_call *call, const char *args,
                         size_t args_len, struct laz_error *err)
{
    struct blocking_state *state = user;

    (void)err;
    pthread_mutex_lock(&state->lock);
    blocking_place(state, call);
    pthread_mutex_unlock(&state->lock);
    blocking_functions[tool](state, call, args, args_len);
    pthread_mutex_lock(&state->lock);
    struct blocking_call *place = blocking_place(state, call);
    if (!place->kept || place->cancelled)
        place->call = NULL;
    pthread_mutex_unlock(&state->lock);
    return 0;
}

static void blocking_cancel(void *user, struct laz_call *call)
{
    struct blocking_state *state = user;

    pthread_mutex_lock(&state->lock);
    struct blocking_call *place = blocking_place(state, call);
    if (place->kept)
        place->call = NULL;
    place->cancelled = true;
    pthread_cond_broadcast(&state->changed);
    pthread_mutex_unlock(&state->lock);
}

static void blocking_session_closed(void *user, const struct laz_caller *who)
{
    struct blocking_state *state = user;
    const struct laz_tool_services *services = state->services;
    char text[100];

    snprintf(text, sizeof text, "session %s closed", who->session);
    services->log(services->host, LAZ_LOG_INFO, text);
}

static void blocking_destroy(void *user)
{
    struct blocking_state *state = user;

    pthread_cond_destroy(&state->changed);
    pthread_mutex_destroy(&state->lock);
    free(state);
}

static const struct laz_tool_ops ops = {
    .size = sizeof ops,
    .flags = LAZ_TOOL_BLOCKING,
    .create = blocking_create,
    .list = blocking_list,
    .call = blocking_call,
    .cancel = blocking_cancel,
    .destroy = blocking_destroy,
    .session_closed = blocking_session_closed,
};

LAZ_PLUGIN(tool_blocking) = {
    LAZ_PLUGIN_HEAD(LAZ_PLUGIN_TOOL),
    .name = "tool_blocking",
    .version = "1.0",
    .summary = "calls that block, and faults of a bad provider",
    .options = options,
    .ops = &ops,
};
