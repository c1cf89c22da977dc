/* SPDX-License-Identifier: MIT */
/* serving.c - for tests: a server of the host protocol, and its clients. */
#include "serving.h"

#include "base/json.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct laz_server *server;
char directory[64], path[80];
unsigned server_engines = 1;
static pthread_t server_thread;

static void *server_runs(void *user)
{
    (void)user;
    (void)laz_server_run(server, NULL);
    return NULL;
}

struct laz_server *server_make(const char *settings_text, struct laz_error *err)
{
    struct laz_settings *settings = NULL;
    struct laz_server *made = NULL;
    char text[400];

    snprintf(text, sizeof text, "session.start_timeout=600;session.timeout=0;session.deadline=0;%s",
             settings_text);
    CU_ASSERT_EQUAL_FATAL(laz_settings_new(&settings, err), 0);
    for (char *rest = text, *pair; (pair = strtok_r(rest, ";", &rest)) != NULL;) {
        char *equals = strchr(pair, '=');
        *equals = '\0';
        CU_ASSERT_EQUAL(laz_settings_set(settings, pair, equals + 1, err), 0);
    }
    const struct laz_server_options options = {
        .settings = settings, .listen = path, .engines = server_engines};
    (void)laz_server_new(&options, &made, err);
    laz_settings_free(settings);
    return made;
}

bool server_begin(const char *settings)
{
    struct laz_error err = {0};

    snprintf(directory, sizeof directory, "/tmp/serve-test.XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/socket", directory);
    server = server_make(settings, &err);
    if (!server)
        printf("    %s\n", err.text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(server);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&server_thread, NULL, server_runs, NULL), 0);
    return true;
}

void server_stop(void)
{
    laz_server_stop(server);
    pthread_join(server_thread, NULL);
}

void server_end(void)
{
    server_stop();
    laz_server_free(server);
    server_is_gone();
}

void server_is_gone(void)
{
    server = NULL;
    CU_ASSERT_EQUAL(access(path, F_OK), -1);
    rmdir(directory);
}

void client_open(struct client *client)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    *client = (struct client){.fd = socket(AF_UNIX, SOCK_STREAM, 0)};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    CU_ASSERT_EQUAL_FATAL(connect(client->fd, (struct sockaddr *)&address, sizeof address), 0);
}

void client_close(struct client *client)
{
    close(client->fd);
    free(client->data);
    free(client->line);
}

void client_send_bytes(struct client *client, const char *data, size_t len)
{
    while (len) {
        ssize_t n = send(client->fd, data, len, MSG_NOSIGNAL);
        if (n <= 0)
            return; /* the server has closed it */
        data += n;
        len -= (size_t)n;
    }
}

void say(struct client *client, const char *format, ...)
{
    char text[50000];
    va_list args;

    va_start(args, format);
    int len = vsnprintf(text, sizeof text - 1, format, args);
    va_end(args);
    CU_ASSERT_FATAL(len >= 0 && (size_t)len < sizeof text - 1);
    text[len] = '\n';
    client_send_bytes(client, text, (size_t)len + 1);
}

const char *hear(struct client *client)
{
    char *newline;

    while (!(newline = client->len ? memchr(client->data, '\n', client->len) : NULL)) {
        if (client->cap - client->len < 65536)
            client->data = realloc(client->data, client->cap = client->cap * 2 + 65536);
        ssize_t n = recv(client->fd, client->data + client->len, client->cap - client->len, 0);
        if (n <= 0)
            return NULL;
        client->len += (size_t)n;
    }
    const size_t line = (size_t)(newline - client->data);
    free(client->line);
    client->line = strndup(client->data, line);
    client->len -= line + 1;
    memmove(client->data, newline + 1, client->len);
    CU_ASSERT_EQUAL(laz_json_scan(client->line, line, NULL), 0);
    return client->line;
}

bool has(const char *message, const char *part)
{
    return message && strstr(message, part);
}

bool expect_at(struct client *client, const char *part, unsigned line)
{
    const char *message = hear(client);
    const bool right = has(message, part);

    if (!right)
        printf("\n    line %u: expected %s\n    actual: %.300s\n", line, part,
               message ? message : "the end");
    CU_ASSERT_FATAL(right); /* what follows would wait for ever */
    return right;
}

long long member(const struct client *client, const char *name)
{
    const char *raw;
    size_t len;
    int64_t value = -1;

    if (client->line && laz_json_member(client->line, strlen(client->line), name, &raw, &len))
        (void)laz_json_to_int(raw, len, &value);
    return value;
}

void client_greet(struct client *client)
{
    client_open(client);
    expect(client, "{\"type\":\"hello\",\"protocol\":1,\"version\":\"" LAZ_VERSION "\"");
}

long long client_session(struct client *client, const char *more)
{
    say(client, "{\"type\":\"open\",\"id\":1%s}", more);
    expect(client, "\"type\":\"opened\",\"id\":1,\"session\":");
    return client->session = member(client, "session");
}

void is_served_at(struct client *client, unsigned line)
{
    say(client, "{\"type\":\"execute\",\"id\":1,\"session\":%lld,\"code\":\"6 * 7\"}",
        client->session);
    expect_at(client, "\"id\":1,\"result\":{\"ok\":true,\"value\":42", line);
}

struct client neighbour;

void neighbour_begin(const char *settings)
{
    server_begin(settings);
    client_greet(&neighbour);
    (void)client_session(&neighbour, "");
}

void neighbour_end(void)
{
    is_served(&neighbour);
    client_close(&neighbour);
    server_end();
}

static bool lua_is_there(void)
{
    const struct laz_session_options options = {
        .size = sizeof options, .runtime = "lua", .no_wait = 1};
    struct laz_engine *engine = NULL;
    struct laz_session *session = NULL;

    if (laz_engine_new(NULL, NULL, &engine, NULL) != 0)
        return true; /* the tests say why */
    int rc = laz_session_open(engine, &options, &session, NULL);
    laz_engine_free(engine);
    return rc != LAZ_ENOENT;
}

int server_test(const char *suite, const struct unit_test *tests)
{
    if (!lua_is_there() && !unit_is_needed("lua")) {
        puts("SKIP lua: no such runtime");
        return 77;
    }
    return unit_run(suite, tests);
}
