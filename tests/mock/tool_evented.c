/* SPDX-License-Identifier: MIT */
/* tool_evented.c - an evented tool provider whose tools show each way to answer a call:
 *
 *     now      before `call` has returned
 *     later    {ms}: from a timer
 *     piped    {text}: through a pipe that the loop watches, byte by byte
 *     hang     only when it is cancelled
 *     fail     not at all: `call` returns an error
 *
 * Everything happens on the loop thread; open calls are in a list. It logs the
 * ends of sessions that it hears of. */
#include <lazaret/tool.h>

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct mock_open {
    struct mock_open *next;
    struct evented_state *state;
    struct laz_call *call;
    struct laz_watch *watch;
    int pipe[2]; /* -1: none */
    size_t expected;
    size_t n;
    char text[4096];
};

struct evented_state {
    const struct laz_tool_services *services;
    struct mock_open *open;
};

static const struct laz_option options[] = {LAZ_OPTIONS_END};

static const struct laz_tool evented_tools[] = {
    {.size = sizeof(struct laz_tool), .name = "now", .description = "answers at once"},
    {.size = sizeof(struct laz_tool),
     .name = "later",
     .description = "answers from a timer",
     .parameters = "[{\"name\":\"ms\",\"type\":\"integer\",\"default\":10}]"},
    {.size = sizeof(struct laz_tool),
     .name = "piped",
     .description = "sends a text through a pipe",
     .parameters = "[{\"name\":\"text\",\"type\":\"string\"}]"},
    {.size = sizeof(struct laz_tool),
     .name = "hang",
     .description = "answers when it is cancelled",
     .timeout_ms = 200},
    {.size = sizeof(struct laz_tool), .name = "fail", .description = "fails"},
};

static struct mock_open *evented_open(struct evented_state *state, struct laz_call *call)
{
    struct mock_open *open = calloc(1, sizeof *open);

    if (!open)
        return NULL;
    open->state = state;
    open->call = call;
    open->pipe[0] = open->pipe[1] = -1;
    open->next = state->open;
    state->open = open;
    return open;
}

static void evented_close(struct mock_open *open)
{
    struct mock_open **link = &open->state->open;

    while (*link != open)
        link = &(*link)->next;
    *link = open->next;
    if (open->watch)
        open->state->services->watch_stop(open->watch);
    for (int i = 0; i < 2; i++)
        if (open->pipe[i] >= 0)
            close(open->pipe[i]);
    free(open);
}

static void evented_due(void *user)
{
    struct mock_open *open = user;
    const struct laz_tool_services *services = open->state->services;

    services->answer(services->host, open->call, "\"later\"", 7);
    evented_close(open);
}

static void evented_readable(void *user, uint32_t events)
{
    struct mock_open *open = user;
    const struct laz_tool_services *services = open->state->services;

    (void)events;
    if (read(open->pipe[0], open->text + open->n, 1) == 1)
        open->n++;
    if (open->n < open->expected)
        return;
    services->answer(services->host, open->call, open->text, open->n);
    evented_close(open);
}

static bool evented_make_pipe(int ends[2])
{
    if (pipe(ends) != 0)
        return false;
    for (int i = 0; i < 2; i++) {
        (void)fcntl(ends[i], F_SETFD, FD_CLOEXEC);
        (void)fcntl(ends[i], F_SETFL, O_NONBLOCK);
    }
    return true;
}

/* Sends the raw JSON of the argument "text" through the pipe, and answers with it. */
static int evented_pipe(struct mock_open *open, const char *args, size_t args_len)
{
    const struct laz_tool_services *services = open->state->services;
    struct laz_json_token token;
    const char *raw = NULL;
    size_t len = 0;
    int rc = LAZ_EINVAL;

    struct laz_json_reader *reader = services->json->reader_new(args, args_len);
    if (!reader)
        return LAZ_ENOMEM;
    services->json->next(reader, &token); /* { */
    if (services->json->next(reader, &token) == LAZ_JSON_KEY)
        services->json->skip(reader, &raw, &len);
    if (raw && len <= sizeof open->text && evented_make_pipe(open->pipe) &&
        write(open->pipe[1], raw, len) == (ssize_t)len) {
        open->expected = len;
        open->watch = services->watch_fd(services->host, open->pipe[0], 1, evented_readable, open);
        rc = open->watch ? 0 : LAZ_ENOMEM;
    }
    services->json->reader_free(reader);
    return rc;
}

static uint64_t evented_ms(const struct evented_state *state, const char *args, size_t args_len)
{
    const struct laz_json_api *json = state->services->json;
    struct laz_json_reader *reader = json->reader_new(args, args_len);
    struct laz_json_token token;
    uint64_t ms = 10;

    if (!reader)
        return ms;
    json->next(reader, &token);
    if (json->next(reader, &token) == LAZ_JSON_KEY && json->next(reader, &token) == LAZ_JSON_NUMBER)
        ms = strtoull(token.text, NULL, 10);
    json->reader_free(reader);
    return ms;
}

static int evented_create(const struct laz_tool_services *services, const char *text,
                          size_t options_len, void **state, struct laz_error *err)
{
    struct evented_state *made = calloc(1, sizeof *made);

    (void)text;
    (void)options_len;
    (void)err;
    if (!made)
        return LAZ_ENOMEM;
    made->services = services;
    *state = made;
    return 0;
}

static int evented_list(void *state, const struct laz_tool **tools, size_t *n,
                        struct laz_error *err)
{
    (void)state;
    (void)err;
    *tools = evented_tools;
    *n = sizeof evented_tools / sizeof evented_tools[0];
    return 0;
}

static int evented_call(void *user, size_t tool, struct laz_call *call, const char *args,
                        size_t args_len, struct laz_error *err)
{
    struct evented_state *state = user;
    const struct laz_tool_services *services = state->services;
    const char *name = evented_tools[tool].name;
    int rc = 0;

    if (strcmp(name, "now") == 0) {
        services->answer(services->host, call, "\"now\"", 5);
        return 0;
    }
    if (strcmp(name, "fail") == 0) {
        if (err)
            *err = (struct laz_error){LAZ_EINVAL, 0, "the mock fails"};
        return LAZ_EINVAL;
    }
    struct mock_open *open = evented_open(state, call);
    if (!open)
        return LAZ_ENOMEM;
    if (strcmp(name, "later") == 0) {
        open->watch = services->watch_timer(services->host, evented_ms(state, args, args_len),
                                            evented_due, open);
        rc = open->watch ? 0 : LAZ_ENOMEM;
    } else if (strcmp(name, "piped") == 0) {
        rc = evented_pipe(open, args, args_len);
    }
    if (rc)
        evented_close(open);
    return rc;
}

static void evented_cancel(void *user, struct laz_call *call)
{
    struct evented_state *state = user;

    for (struct mock_open *open = state->open; open; open = open->next) {
        if (open->call != call)
            continue;
        state->services->answer_error(state->services->host, call, "cancelled");
        evented_close(open);
        return;
    }
}

static void evented_session_closed(void *user, const struct laz_caller *who)
{
    struct evented_state *state = user;
    const struct laz_tool_services *services = state->services;
    char text[100];

    for (struct mock_open *open = state->open; open; open = open->next)
        if (strcmp(services->caller(services->host, open->call)->session, who->session) == 0)
            abort(); /* the host guarantees that no call of it is open */
    snprintf(text, sizeof text, "session %s of %s closed, tool %s", who->session,
             who->session_user ? (const char *)who->session_user : "nobody",
             who->tool ? who->tool : "none");
    services->log(services->host, LAZ_LOG_INFO, text);
}

static void evented_destroy(void *user)
{
    struct evented_state *state = user;

    if (state->open)
        abort(); /* the host guarantees that no call is open */
    free(state);
}

static const struct laz_tool_ops ops = {
    .size = sizeof ops,
    .create = evented_create,
    .list = evented_list,
    .call = evented_call,
    .cancel = evented_cancel,
    .destroy = evented_destroy,
    .session_closed = evented_session_closed,
};

LAZ_PLUGIN(tool_evented) = {
    LAZ_PLUGIN_HEAD(LAZ_PLUGIN_TOOL),
    .name = "tool_evented",
    .version = "1.0",
    .summary = "each way to answer a call from the loop",
    .options = options,
    .ops = &ops,
};
