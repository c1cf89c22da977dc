/* SPDX-License-Identifier: MIT */
/* test_serve_hostile.c - clients that try to disturb a server, each beside a neighbour that keeps
 * the rules and has to be served at the same time and afterwards.
 *
 * The list of all of them is in docs/threat-model.md; some are in test_serve.c. Nothing here
 * depends on a clock: who waits is released by an event. */
#include "serving.h"

#include "base/buf.h"
#include "serve/serve_private.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_CLIENTS  64   /* of a server */
#define MOST_REQUESTS 1024 /* executions of a client that were not answered */
#define MOST_TOOLS    1000 /* of a client */
#define REQUESTS      1100

static void send_text(struct client *client, const char *text)
{
    client_send_bytes(client, text, strlen(text));
}

/* A bad line: it is named, and the connection ends. */
static void is_disconnected(struct client *client, const char *why)
{
    expect(client, "{\"type\":\"failed\",\"code\":\"LAZ_E");
    if (!has(client->line, why))
        printf("\n    expected %s\n    actual: %.300s\n", why, client->line);
    CU_ASSERT(has(client->line, why));
    CU_ASSERT_PTR_NULL(hear(client));
    client_close(client);
}

/* ---- lines ---------------------------------------------------------------------------------- */

static void half_a_line_holds_up_nobody(void)
{
    static const char half[] = "{\"type\":\"execute\",\"id\":1,\"session\":1,\"code\":\"1";
    struct client slow[8];

    neighbour_begin(OPEN);
    for (size_t i = 0; i < 8; i++) {
        client_greet(&slow[i]);
        (void)client_session(&slow[i], "");
        send_text(&slow[i], half);
    }
    for (unsigned round = 0; round < 50; round++) {
        for (size_t i = 0; i < 8; i++)
            send_text(&slow[i], " ");
        is_served(&neighbour);
    }
    for (size_t i = 0; i < 8; i++) {
        if (i % 2) { /* the other half comes all the same */
            say(&slow[i], "+ 1\"}");
            expect(&slow[i], "\"id\":1,\"result\":{\"ok\":true,\"value\":2");
        }
        client_close(&slow[i]);
    }
    neighbour_end();
}

static void deep_nesting_ends_its_connection_only(void)
{
    const size_t depths[] = {64, 65, 10000, 500000};
    struct client deep;
    char *nest = malloc(1000001);

    CU_ASSERT_PTR_NOT_NULL_FATAL(nest);
    neighbour_begin(OPEN);
    client_greet(&deep);
    (void)client_session(&deep, "");
    for (unsigned i = 0; i < 2; i++) { /* as deep as it may be, in a member that nobody knows */
        memset(nest, '[', 63);
        memset(nest + 63, ']', 63);
        nest[126] = '\0';
        say(&deep, "{\"type\":\"cancel\",\"id\":2,\"request\":9,\"x\":%s}", nest);
        expect(&deep, "{\"type\":\"done\",\"id\":2}");
    }
    client_close(&deep);
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        client_greet(&deep);
        memset(nest, '[', depths[i]);
        memset(nest + depths[i], ']', depths[i]);
        send_text(&deep, "{\"type\":\"cancel\",\"id\":2,\"request\":9,\"x\":");
        client_send_bytes(&deep, nest, 2 * depths[i]);
        send_text(&deep, "}\n");
        is_served(&neighbour);
        is_disconnected(&deep, "64");
    }
    neighbour_end();
    free(nest);
}

/* ---- answers -------------------------------------------------------------------------------- */

/* Numbers of calls belong to their client, as numbers of sessions do. */
static void answers_to_calls_of_others_are_ignored(void)
{
    struct client one, other;

    neighbour_begin(OPEN);
    client_greet(&one);
    client_greet(&other);
    const long long session = client_session(&one, ",\"tools\":" ADD);
    say(&one,
        "{\"type\":\"execute\",\"id\":2,\"session\":%lld,\"code\":\"add(1) .. ' ' .. add(2)\"}",
        session);
    expect(&one, "\"type\":\"tool_call\"");
    const long long call = member(&one, "call");
    for (long long number = 0; number < call + 5; number++)
        say(&other, "{\"type\":\"answer\",\"call\":%lld,\"value\":\"forged\"}", number);
    say(&other, "{\"type\":\"cancel\",\"id\":3,\"request\":2}");
    expect(&other, "{\"type\":\"done\",\"id\":3}");
    is_served(&neighbour);
    say(&one, "{\"type\":\"answer\",\"call\":%lld,\"value\":\"right\"}", call);
    say(&one, "{\"type\":\"answer\",\"call\":%lld,\"value\":\"again\"}", call);
    expect(&one, "\"type\":\"tool_call\"");
    CU_ASSERT(member(&one, "call") > call);
    say(&one, "{\"type\":\"answer\",\"call\":%lld,\"value\":\"again\"}", call);
    say(&one, "{\"type\":\"answer\",\"call\":%lld,\"value\":\"too\"}", member(&one, "call"));
    expect(&one, "\"id\":2,\"result\":{\"ok\":true,\"value\":\"right too\"");
    client_close(&one);
    client_close(&other);
    neighbour_end();
}

/* ---- tools ---------------------------------------------------------------------------------- */

/* A list of `n` tools. The caller frees it. */
static char *tools_text(unsigned n, const char *name)
{
    char *text = malloc(n * 20 + 3), *to = text;

    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    *to++ = '[';
    for (unsigned i = 0; i < n; i++)
        to += sprintf(to, "%s{\"name\":\"%s%u\"}", i ? "," : "", name, i);
    strcpy(to, "]");
    return text;
}

static void tools_of_a_client_are_bounded(void)
{
    struct client client;
    char *most = tools_text(MOST_TOOLS, "t"), *more = tools_text(MOST_TOOLS + 1, "t");
    char *large = malloc((1 << 20) + 1);

    CU_ASSERT_PTR_NOT_NULL_FATAL(large);
    memset(large, 'x', 1 << 20);
    large[1 << 20] = '\0';
    neighbour_begin(OPEN);
    client_greet(&client);
    say(&client, "{\"type\":\"tools\",\"id\":1,\"tools\":%s}", more);
    expect(&client, "\"failed\",\"id\":1,\"code\":\"LAZ_ETOOBIG\"");
    CU_ASSERT(has(client.line, "more than 1000 tools"));
    say(&client, "{\"type\":\"open\",\"id\":1,\"tools\":%s}", more);
    expect(&client, "\"failed\",\"id\":1,\"code\":\"LAZ_ETOOBIG\"");
    send_text(&client, "{\"type\":\"tools\",\"id\":1,\"tools\":[{\"name\":\"");
    send_text(&client, large);
    send_text(&client, "\"}]}\n");
    expect(&client, "a list of tools has more than 1048576 bytes");
    is_served(&neighbour);
    say(&client, "{\"type\":\"tools\",\"id\":2,\"tools\":%s}", most);
    expect(&client, "{\"type\":\"done\",\"id\":2}");
    say(&client, "{\"type\":\"tools\",\"id\":3,\"tools\":[{\"name\":\"last\"}]}");
    expect(&client, "a client can register 1000 tools");
    is_served(&neighbour);
    client_close(&client);
    neighbour_end();
    free(most);
    free(more);
    free(large);
}

/* ---- many at once --------------------------------------------------------------------------- */

/* They are sent without reading an answer; each has one answer in the end. */
static void many_requests_at_once_are_answered_once(void)
{
    struct client client;
    unsigned answers[REQUESTS + 1] = {0}, busy = 0;

    neighbour_begin(OPEN ";pool.max_waiting=0;session.max_value_size=1MiB");
    client_greet(&client);
    say(&client, "{\"type\":\"open_pool\",\"id\":1,\"members\":1}");
    expect(&client, "\"type\":\"opened\",\"id\":1,\"pool\":");
    const long long pool = member(&client, "pool");
    for (int id = 1; id <= REQUESTS; id++)
        say(&client, "{\"type\":\"execute\",\"id\":%d,\"pool\":%lld,\"code\":\"%s\"}", id, pool,
            id == 1 ? "while true do end" : "1");
    say(&client, "{\"type\":\"close\",\"id\":%d,\"pool\":%lld}", REQUESTS + 1, pool);
    is_served(&neighbour);
    for (;;) {
        if (!hear(&client) || member(&client, "id") == REQUESTS + 1)
            break;
        const long long id = member(&client, "id");
        CU_ASSERT_FATAL(id >= 1 && id <= REQUESTS);
        answers[id]++;
        busy += has(client.line, "too many executions were not answered yet: 1024");
    }
    CU_ASSERT(has(client.line, "{\"type\":\"done\""));
    for (int id = 1; id <= REQUESTS; id++)
        CU_ASSERT_EQUAL(answers[id], 1);
    CU_ASSERT_EQUAL(busy, REQUESTS - MOST_REQUESTS);
    client_close(&client);
    neighbour_end();
}

/* With 20 MiB of answers, more than are kept before the server reads no more requests. */
static void many_large_answers_are_kept_up_to_a_bound(void)
{
    enum { SIZE = 20000, ANSWERS = 1000 };
    struct laz_buf requests = LAZ_BUF_INIT;
    struct client client;
    char *text = malloc(SIZE + 1);

    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    memset(text, 'x', SIZE);
    text[SIZE] = '\0';
    neighbour_begin(OPEN);
    client_greet(&client);
    say(&client,
        "{\"type\":\"tools\",\"id\":1,\"tools\":[{\"name\":\"t\",\"description\":\"%s\"}]}", text);
    expect(&client, "{\"type\":\"done\",\"id\":1}");
    for (int id = 1; id <= ANSWERS; id++) /* they have room where the server does not read */
        laz_buf_printf(&requests, "{\"type\":\"search\",\"id\":%d,\"words\":\"t\"}\n", id);
    send_text(&client, laz_buf_text(&requests));
    for (unsigned i = 0; i < 20; i++)
        is_served(&neighbour);
    for (int id = 1; id <= ANSWERS; id++) {
        expect(&client, "{\"type\":\"found\"");
        CU_ASSERT_EQUAL(member(&client, "id"), id);
        CU_ASSERT(strlen(client.line) > SIZE);
    }
    client_close(&client);
    neighbour_end();
    laz_buf_fini(&requests);
    free(text);
}

/* Sixteen results of 16 MiB are more than the server keeps for a client. */
static void a_client_that_never_reads_is_given_up(void)
{
    enum { EXECUTIONS = 17 };
    struct client deaf;
    char gate[100];

    if (!getenv("LAZARET_TEST_FULL"))
        return;
    neighbour_begin(OPEN ";session.max_output_size=16MiB;limits.memory=unlimited");
    snprintf(gate, sizeof gate, "%s/gate", directory);
    CU_ASSERT_EQUAL_FATAL(mkfifo(gate, 0644), 0);
    CU_ASSERT_EQUAL(chmod(directory, 0755), 0); /* sessions of root have uids of their own */
    CU_ASSERT_EQUAL(chmod(gate, 0644), 0);
    client_greet(&deaf);
    for (int i = 1; i <= EXECUTIONS; i++)
        say(&deaf,
            "{\"type\":\"execute\",\"id\":%d,\"output\":true,\"code\":\"print(1) io.flush() "
            "io.open('%s'):close() io.write(('x'):rep(16 << 20))\"}",
            i, gate);
    for (int i = 1; i <= EXECUTIONS; i++)
        expect(&deaf, "\"text\":\"1\\n\""); /* all of them wait at the gate now */
    const int fd = open(gate, O_WRONLY);
    CU_ASSERT(fd >= 0);
    struct pollfd ended = {.fd = deaf.fd};
    while (poll(&ended, 1, 100) == 0) /* the harness ends a test that hangs */
        is_served(&neighbour);
    CU_ASSERT(ended.revents & POLLHUP);
    close(fd);
    unlink(gate);
    client_close(&deaf);
    neighbour_end();
}

/* ---- clients of another machine ----------------------------------------------------------------
 */

/* A connection as the gate, or a worker, hands it over. */
struct arrival {
    struct laz_post post;
    int fd;
};

static void arrival_runs(struct laz_post *post)
{
    const struct arrival *arrival = LAZ_CONTAINER(post, struct arrival, post);
    const struct laz_quota quota = {.sessions = 0};
    const struct serve_peer peer = {
        .identity = laz_identity_join(&server->identities, "remote", &quota, 0)};

    serve_accept_place(server, arrival->fd, &peer);
}

static void remote_greet(struct client *client, struct arrival *arrival)
{
    int ends[2];

    CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    CU_ASSERT_EQUAL(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    *client = (struct client){.fd = ends[0]};
    *arrival = (struct arrival){{.run = arrival_runs}, ends[1]};
    laz_loop_post(server->loop, &arrival->post);
    expect(client, "{\"type\":\"hello\"");
}

static void search(struct client *client, int n)
{
    for (int id = 1; id <= n; id++)
        say(client, "{\"type\":\"search\",\"id\":%d,\"words\":\"t\"}", id);
}

/* Of what all connections of an identity leave unread there is one bound: the connection that goes
 * beyond it ends, the others do not, and what was read counts no more. */
static void connections_of_an_identity_share_what_is_kept_for_it(void)
{
    enum { SIZE = 40000, ANSWERS = 80, CLIENTS = 3 }; /* some 3 MiB of each */
    struct client clients[CLIENTS];
    struct arrival arrivals[CLIENTS];
    char *text = malloc(SIZE + 1);

    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    memset(text, 'x', SIZE);
    text[SIZE] = '\0';
    neighbour_begin(OPEN);
    server->most_unread = 4 << 20;
    for (int i = 0; i < CLIENTS; i++) {
        remote_greet(&clients[i], &arrivals[i]);
        say(&clients[i],
            "{\"type\":\"tools\",\"id\":1,\"tools\":[{\"name\":\"t\",\"description\":\"%s\"}]}",
            text);
        expect(&clients[i], "{\"type\":\"done\",\"id\":1}");
    }
    search(&clients[0], ANSWERS);
    search(&clients[1], ANSWERS);
    int gone = -1; /* which of them is answered last, no order says */
    struct pollfd ended[] = {{.fd = clients[0].fd}, {.fd = clients[1].fd}};
    while (gone < 0) { /* the harness ends a test that hangs */
        is_served(&neighbour);
        (void)poll(ended, 2, 10);
        gone = ended[0].revents & POLLHUP ? 0 : ended[1].revents & POLLHUP ? 1 : -1;
    }
    for (int id = 1; id <= ANSWERS; id++) {
        expect(&clients[1 - gone], "{\"type\":\"found\"");
        CU_ASSERT_EQUAL(member(&clients[1 - gone], "id"), id);
    }
    search(&clients[2], ANSWERS); /* there is room again */
    for (int id = 1; id <= ANSWERS; id++)
        expect(&clients[2], "{\"type\":\"found\"");
    for (int i = 0; i < CLIENTS; i++)
        client_close(&clients[i]);
    neighbour_end();
    free(text);
}

static void greet_when_there_is_room(struct client *client)
{
    for (client_open(client); has(hear(client), "\"failed\""); client_open(client))
        client_close(client);
    CU_ASSERT(has(client->line, "\"hello\""));
}

static void many_connections_are_bounded(void)
{
    struct client most[MOST_CLIENTS - 1], more;

    neighbour_begin(OPEN);
    for (unsigned i = 0; i < 1000; i++) { /* and goes at once */
        client_open(&more);
        client_close(&more);
        if (i % 100 == 0)
            is_served(&neighbour);
    }
    for (size_t i = 0; i < MOST_CLIENTS - 1; i++)
        greet_when_there_is_room(&most[i]);
    for (unsigned i = 0; i < 1000; i++) {
        client_open(&more);
        is_disconnected(&more, "LAZ_EREFUSED\",\"message\":\"the server has 64 clients");
        if (i % 100 == 0)
            is_served(&neighbour);
    }
    for (size_t i = 0; i < MOST_CLIENTS - 1; i++)
        client_close(&most[i]);
    greet_when_there_is_room(&more); /* a place is free again */
    client_close(&more);
    neighbour_end();
}

/* ---- forks ---------------------------------------------------------------------------------- */

/* To the server, processes that share a connection are one client. */
static void a_client_that_forks_is_one_client(void)
{
    enum { EACH = 200 };
    unsigned answers[2 * EACH + 1] = {0};
    struct client client;
    int status = -1;

    neighbour_begin(OPEN);
    client_greet(&client);
    pid_t pid = fork();
    for (int i = 1; i <= EACH; i++)
        say(&client, "{\"type\":\"cancel\",\"id\":%d,\"request\":9999}", pid ? i : EACH + i);
    if (pid == 0)
        _exit(0);
    for (int i = 1; i <= 2 * EACH; i++) {
        expect(&client, "{\"type\":\"done\",\"id\":");
        answers[member(&client, "id")]++;
    }
    for (int i = 1; i <= 2 * EACH; i++)
        CU_ASSERT_EQUAL(answers[i], 1);
    CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
    CU_ASSERT_EQUAL(status, 0);
    is_served(&neighbour);
    /* their lines get into each other */
    if ((pid = fork()) == 0) {
        send_text(&client, "{\"type\":\"cancel\",\"id\"");
        _exit(0);
    }
    CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
    say(&client, "{\"type\":\"cancel\",\"id\":1,\"request\":9999}");
    is_disconnected(&client, "LAZ_EPROTO");
    neighbour_end();
}

static const struct unit_test tests[] = {
    UNIT(half_a_line_holds_up_nobody),
    UNIT(deep_nesting_ends_its_connection_only),
    UNIT(answers_to_calls_of_others_are_ignored),
    UNIT(tools_of_a_client_are_bounded),
    UNIT(many_requests_at_once_are_answered_once),
    UNIT(many_large_answers_are_kept_up_to_a_bound),
    UNIT(a_client_that_never_reads_is_given_up),
    UNIT(connections_of_an_identity_share_what_is_kept_for_it),
    UNIT(many_connections_are_bounded),
    UNIT(a_client_that_forks_is_one_client),
    {0},
};

int main(void)
{
    return server_test("serve_hostile", tests);
}
