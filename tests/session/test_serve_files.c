/* SPDX-License-Identifier: MIT */
/* test_serve_files.c - files that clients put into sessions, and artifacts that they get. */
#include "serving.h"

#include "engine/engine.h"
#include "serve/serve_private.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void files_go_in_and_artifacts_come_out(void)
{
    static const char put[] = "{\"type\":\"put\",\"id\":%d,\"session\":%lld,\"name\":\"%s\","
                              "\"data\":\"%s\",\"part\":%d%s}";
    static const char run[] = "{\"type\":\"execute\",\"id\":9,\"session\":%lld,\"code\":\"%s\"%s}";
    static const char save[] =
        "local f = io.open('artifacts/a.txt', 'w'); f:write('one'); f:close()";
    static const char again[] = "io.open('artifacts/a.txt', 'w'):close()";
    struct client client;

    neighbour_begin("session.runtime=lua");
    client_greet(&client);
    const long long session = client_session(&client, "");
    say(&client, put, 2, session, "in", "aGVs", 0, ",\"more\":true");
    expect(&client, "{\"type\":\"done\",\"id\":2}");
    say(&client, put, 3, session, "in", "bG8=", 1, "");
    expect(&client, "{\"type\":\"done\",\"id\":3}");
    say(&client, run, session, "io.open('in'):read('a')", "");
    expect(&client, "\"id\":9,\"result\":{\"ok\":true,\"value\":\"hello\"");
    say(&client, put, 4, session, "in", "bG8=", 1, ""); /* no first part */
    expect(&client, "\"failed\",\"id\":4,\"code\":\"LAZ_EPROTO\",\"message\":\"part 1 of");
    say(&client, put, 4, session, "../in", "bG8=", 0, "");
    expect(&client, "\"failed\",\"id\":4,\"code\":\"LAZ_EINVAL\"");
    say(&client, put, 4, session, "a/b", "aGVs", 0, ",\"more\":true"); /* before it is sent */
    expect(&client, "\"failed\",\"id\":4,\"code\":\"LAZ_EINVAL\"");
    say(&client, put, 4, session, "in", "bG8", 0, "");
    expect(&client, "\"failed\",\"id\":4,\"code\":\"LAZ_EPROTO\",\"message\":\"'data'");
    say(&client, put, 4, session, "in", "aGVs", 0, ",\"more\":true");
    expect(&client, "{\"type\":\"done\",\"id\":4}");
    say(&client, put, 4, session, "out", "bG8=", 1, ""); /* of another file */
    expect(&client, "\"failed\",\"id\":4,\"code\":\"LAZ_EPROTO\"");
    is_served(&neighbour);

    say(&client, run, session, save, ",\"artifacts\":true");
    expect(&client, "{\"type\":\"artifact\",\"id\":9,\"name\":\"a.txt\",\"data\":\"b25l\","
                    "\"part\":0}");
    expect(&client, "\"artifacts\":[{\"name\":\"a.txt\",\"type\":\"text/plain\",\"size\":3,");
    say(&client, run, session, again, ""); /* they are listed, and not sent */
    expect(&client, "\"artifacts\":[{\"name\":\"a.txt\",\"type\":\"text/plain\",\"size\":0,");
    client_close(&client);
    neighbour_end();
}

/* A line of the script of tests/mock/agent.c, in JSON. */
#define PART                                                                                       \
    "send {\\\"type\\\":\\\"part\\\",\\\"id\\\":$id,\\\"of\\\":\\\"file\\\","                      \
    "\\\"name\\\":\\\"%s\\\",\\\"data\\\":\\\"YWJj\\\",\\\"more\\\":%s}\\n"

/* The agent ends before it has sent all of the second one. */
static void what_is_not_whole_is_not_sent(void)
{
    const char *agent = getenv("LAZARET_AGENT");
    struct client client;

    CU_ASSERT_PTR_NOT_NULL_FATAL(agent);
    char *kept = strdup(agent), *mock = realpath("tests/mock/agent", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(mock);
    CU_ASSERT_EQUAL(setenv("LAZARET_AGENT", mock, 1), 0);
    server_begin("session.runtime=lua");
    client_greet(&client);
    say(&client,
        "{\"type\":\"execute\",\"id\":2,\"artifacts\":true,\"code\":\"" PART PART "sync\\ndie 9\"}",
        "a.txt", "false", "b.png", "true");
    expect(&client, "{\"type\":\"artifact\",\"id\":2,\"name\":\"a.txt\",\"data\":\"YWJj\"");
    expect(&client,
           "\"artifacts_lost\":[{\"name\":\"b.png\",\"bytes\":3,\"why\":\"the execution ended "
           "before all of it had come: crashed\"}]");
    CU_ASSERT(has(client.line, "\"artifacts\":[{\"name\":\"a.txt\","));
    CU_ASSERT_FALSE(has(client.line, "\"type\":null"));
    client_close(&client);
    server_end();
    CU_ASSERT_EQUAL(setenv("LAZARET_AGENT", kept, 1), 0);
    free(kept);
    free(mock);
}

/* ---- large results --------------------------------------------------------------------------- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    unsigned reached;
    bool is_open;
} gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, false};

static void gate_pass(void *user)
{
    (void)user;
    pthread_mutex_lock(&gate.lock);
    gate.reached++;
    pthread_cond_broadcast(&gate.moved);
    while (!gate.is_open)
        pthread_cond_wait(&gate.moved, &gate.lock);
    pthread_mutex_unlock(&gate.lock);
}

static void gate_open(bool is_open)
{
    pthread_mutex_lock(&gate.lock);
    gate.is_open = is_open;
    gate.reached = 0;
    pthread_cond_broadcast(&gate.moved);
    pthread_mutex_unlock(&gate.lock);
}

static void gate_await(void)
{
    pthread_mutex_lock(&gate.lock);
    while (!gate.reached)
        pthread_cond_wait(&gate.moved, &gate.lock);
    pthread_mutex_unlock(&gate.lock);
}

/* While that stands still, others are served, also in the session that has made it; and so they are
 * when the client goes in the middle. */
static void a_large_result_holds_up_nobody(void)
{
    static const char large[] =
        "{\"type\":\"execute\",\"id\":%d,\"artifacts\":true,\"session\":%lld,\"code\":\""
        "local f = io.open('artifacts/a', 'w'); f:write(string.rep('x', 300000)); f:close();"
        "return string.rep('y', 300000)\"}";
    struct client client, gone;

    neighbour_begin(OPEN);
    server->engine->driver.before_task = gate_pass;
    client_greet(&client);
    const long long session = client_session(&client, "");
    gate_open(false);
    say(&client, large, 7, session);
    gate_await();
    is_served(&neighbour);
    say(&client, "{\"type\":\"cancel\",\"id\":8,\"request\":7}"); /* too late */
    expect(&client, "{\"type\":\"done\",\"id\":8}");
    say(&client, "{\"type\":\"execute\",\"id\":9,\"session\":%lld,\"code\":\"return 9\"}", session);
    expect(&client, "\"id\":9,\"result\":{\"ok\":true,\"value\":9");
    say(&client, "{\"type\":\"close\",\"id\":10,\"session\":%lld}", session);
    expect(&client, "{\"type\":\"done\",\"id\":10}");
    gate_open(true);
    expect(&client, "{\"type\":\"artifact\",\"id\":7,\"name\":\"a\",");
    expect(&client, "{\"type\":\"artifact\",\"id\":7,\"name\":\"a\",");
    expect(&client, "{\"type\":\"result\",\"id\":7,\"result\":{\"ok\":true,\"value\":\"yyy");

    client_greet(&gone);
    const long long other = client_session(&gone, "");
    gate_open(false);
    say(&gone, large, 7, other);
    gate_await();
    client_close(&gone);
    is_served(&neighbour);
    gate_open(true);
    is_served(&neighbour);
    client_close(&client);
    neighbour_end();
}

/* Each would be a client's alone; what the last one has begun ends with it. */
static void files_of_hostile_clients_are_bounded(void)
{
    static const char put[] = "{\"type\":\"put\",\"id\":%d,\"session\":%lld,\"name\":\"big\","
                              "\"data\":\"%s\",\"part\":%d,\"more\":true}";
    struct client client, other;
    char *data = malloc(40001);

    neighbour_begin("session.runtime=lua;session.max_value_size=64KiB");
    client_greet(&client);
    client_greet(&other);
    const long long session = client_session(&client, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(data);
    memset(data, 'A', 40000);
    data[40000] = '\0';
    say(&client, put, 2, session, data, 0);
    expect(&client, "{\"type\":\"done\",\"id\":2}");
    say(&client, put, 3, session, data, 1);
    expect(&client, "{\"type\":\"done\",\"id\":3}");
    say(&client, put, 4, session, data, 2); /* 90000 bytes in all */
    expect(&client, "\"failed\",\"id\":4,\"code\":\"LAZ_ETOOBIG\"");
    is_served(&neighbour);
    say(&other, put, 5, session, "AAAA", 0); /* a session of somebody else */
    expect(&other, "\"failed\",\"id\":5,\"code\":\"LAZ_ENOENT\"");
    say(&client, "{\"type\":\"execute\",\"id\":6,\"session\":%lld,\"code\":\"while true do end\"}",
        session);
    say(&client, put, 7, session, "AAAA", 0);
    expect(&client, "\"failed\",\"id\":7,\"code\":\"LAZ_EBUSY\"");
    client_close(&client); /* in the middle */
    say(&other, "{\"type\":\"execute\",\"id\":8,\"code\":\"1\"}");
    expect(&other, "\"id\":8,\"result\":{\"ok\":true");
    client_close(&other);
    neighbour_end();
    free(data);
}

/* The agent is stopped meanwhile. */
static void what_is_in_progress_is_named(void)
{
    static const char *const rows[] = {
        "put\",\"name\":\"g\",\"data\":\"",
        "execute\",\"code\":\"1",
        "restart",
    };
    struct client client;

    server_begin(OPEN);
    client_greet(&client);
    const long long session = client_session(&client, "");
    is_served(&client);
    say(&client,
        "{\"type\":\"execute\",\"id\":2,\"session\":%lld,\"code\":"
        "\"io.open('/proc/self/stat'):read('n')\"}",
        session);
    expect(&client, "\"id\":2,\"result\":{\"ok\":true,\"value\":");
    const pid_t pid = (pid_t)atoi(strstr(client.line, "\"value\":") + 8);
    CU_ASSERT_FATAL(pid > 1);
    CU_ASSERT_EQUAL(kill(pid, SIGSTOP), 0);
    say(&client, "{\"type\":\"put\",\"id\":3,\"session\":%lld,\"name\":\"f\",\"data\":\"aGVs\"}",
        session);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        say(&client, "{\"type\":\"%s\",\"id\":4,\"session\":%lld}", rows[i], session);
        expect(&client, "\"failed\",\"id\":4,\"code\":\"LAZ_EBUSY\"");
        CU_ASSERT(has(client.line, "a file is being put in session "));
    }
    CU_ASSERT_EQUAL(kill(pid, SIGCONT), 0);
    expect(&client, "{\"type\":\"done\",\"id\":3}");
    say(&client, "{\"type\":\"execute\",\"id\":5,\"session\":%lld,\"code\":\"while true do end\"}",
        session);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        say(&client, "{\"type\":\"%s\",\"id\":6,\"session\":%lld}", rows[i], session);
        expect(&client, "\"failed\",\"id\":6,\"code\":\"LAZ_EBUSY\"");
        CU_ASSERT(has(client.line, "an execution is in progress in session "));
    }
    client_close(&client);
    server_end();
}

/* ---- files of an execution ------------------------------------------------------------------- */

#define READ "io.open('in') and io.open('in'):read('a')"
#define FILE_IN                                                                                    \
    ",\"files\":[{\"name\":\"in\",\"data\":\"aGVsbG8=\"},{\"name\":\"empty\",\"data\":\"\"}]"

/* `where`: members that say in what it is executed. */
static void ask(struct client *client, int id, const char *where, const char *code,
                const char *files)
{
    say(client, "{\"type\":\"execute\",\"id\":%d%s,\"code\":\"%s\"%s}", id, where, code, files);
}

static void client_pool(struct client *client, char *where, size_t size)
{
    say(client, "{\"type\":\"open_pool\",\"id\":1,\"members\":1}");
    expect(client, "\"type\":\"opened\",\"id\":1,\"pool\":");
    snprintf(where, size, ",\"pool\":%lld", member(client, "pool"));
}

static void an_execution_brings_its_files(void)
{
    char in_session[40], in_pool[40];
    struct client client;

    server_begin(OPEN ";pool.reset=false");
    client_greet(&client);
    snprintf(in_session, sizeof in_session, ",\"session\":%lld", client_session(&client, ""));
    client_pool(&client, in_pool, sizeof in_pool);
    const char *const places[] = {in_session, in_pool, ""};
    for (int i = 0; i < 3; i++) {
        ask(&client, 2, places[i], "return " READ " .. io.open('empty'):read('a')", FILE_IN);
        expect(&client, "\"id\":2,\"result\":{\"ok\":true,\"value\":\"hello\"");
    }
    ask(&client, 3, in_session, "return " READ, ""); /* it is the client's session */
    expect(&client, "\"id\":3,\"result\":{\"ok\":true,\"value\":\"hello\"");
    ask(&client, 4, in_pool, "return " READ, "");
    expect(&client, "\"id\":4,\"result\":{\"ok\":true,\"value\":null");
    client_close(&client);
    server_end();
}

/* Lists of files that are wrong: that of 65 is made when it is needed. */
static const struct {
    const char *files, *code, *message;
} wrong_files[] = {
    {",\"files\":[{\"name\":\"good\",\"data\":\"aGVs\"},{\"name\":\"in\",\"data\":\"aGVsb\"}]",
     "LAZ_EPROTO", "not base64"},
    {",\"files\":[{\"name\":\"in\",\"data\":\"a.Vs\"}]", "LAZ_EPROTO", "not base64"},
    {",\"files\":[{\"name\":\"good\",\"data\":\"aGVs\"},{\"name\":\"../in\",\"data\":\"aGVs\"}]",
     "LAZ_EINVAL", "the name of a file"},
    {",\"files\":[{\"name\":\"\",\"data\":\"aGVs\"}]", "LAZ_EINVAL", "the name of a file"},
    {",\"files\":[{\"data\":\"aGVs\"}]", "LAZ_EPROTO", "name"},
    {",\"files\":[{\"name\":\"in\"}]", "LAZ_EPROTO", "data"},
    {",\"files\":[7]", "LAZ_EPROTO", "files"},
    {",\"files\":{}", "LAZ_EPROTO", "files"},
    {NULL, "LAZ_ETOOBIG", "64 files"},
};

/* So many files, of which all can be. */
static char *many_files(unsigned n)
{
    char *text = malloc(40 + n * 40), *at = text;

    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    at += sprintf(at, ",\"files\":[");
    for (unsigned i = 0; i < n; i++)
        at += sprintf(at, "%s{\"name\":\"f%u\",\"data\":\"aGVs\"}", i ? "," : "", i);
    sprintf(at, "]");
    return text;
}

/* What a client may have is so little here that whatever stayed would be in its way. */
static void files_that_are_wrong_are_refused_and_leave_nothing(void)
{
    char in_session[40], in_pool[40], code[80];
    char *most = many_files(64), *too_many = many_files(65);
    struct client client;

    server_begin(OPEN ";pool.reset=false;pool.max_sessions=3");
    client_greet(&client);
    snprintf(in_session, sizeof in_session, ",\"session\":%lld", client_session(&client, ""));
    client_pool(&client, in_pool, sizeof in_pool);
    const char *const places[] = {in_session, in_pool, ""};
    for (size_t i = 0; i < sizeof wrong_files / sizeof *wrong_files; i++)
        for (int k = 0; k < 3; k++) {
            const char *files = wrong_files[i].files ? wrong_files[i].files : too_many;
            ask(&client, 2, places[k], "while true do end", files);
            snprintf(code, sizeof code, "\"failed\",\"id\":2,\"code\":\"%s\"", wrong_files[i].code);
            expect(&client, code);
            if (!has(client.line, wrong_files[i].message))
                printf("\n    lacks %s: %s", wrong_files[i].message, client.line);
            CU_ASSERT(has(client.line, wrong_files[i].message));
        }
    for (int k = 0; k < 3; k++) {
        ask(&client, 2, places[k], "io.open('good') == nil and " READ, "");
        expect(&client, "\"id\":2,\"result\":{\"ok\":true,\"value\":null");
        ask(&client, 2, places[k], "io.open('f63'):read('a')", most);
        expect(&client, "\"id\":2,\"result\":{\"ok\":true,\"value\":\"hel\"");
    }
    client_close(&client);
    server_end();
    free(most);
    free(too_many);
}

/* A list with one of 24000 bytes. */
static char *large_file(void)
{
    static const char begin[] = ",\"files\":[{\"name\":\"large\",\"data\":\"", end[] = "\"}]";
    char *text = malloc(sizeof begin + 32000 + sizeof end);

    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    memcpy(text, begin, sizeof begin - 1);
    memset(text + sizeof begin - 1, 'A', 32000);
    memcpy(text + sizeof begin - 1 + 32000, end, sizeof end);
    return text;
}

/* Those of executions that were not answered count together with their code, and no longer. */
static void files_of_executions_are_bounded_together(void)
{
    char in_pool[40], *files = large_file();
    struct client client;

    server_begin(OPEN ";session.max_value_size=64KiB;pool.reset=false");
    client_greet(&client);
    client_pool(&client, in_pool, sizeof in_pool);
    ask(&client, 2, in_pool, "while true do end", "");
    for (int round = 0; round < 2; round++) {
        ask(&client, 3, in_pool, "1", files);
        ask(&client, 4, in_pool, "1", files);
        ask(&client, 5, in_pool, "1", files);
        expect(&client, "\"failed\",\"id\":5,\"code\":\"LAZ_EBUSY\"");
        for (int id = 3; id <= 4; id++) {
            say(&client, "{\"type\":\"cancel\",\"id\":6,\"request\":%d}", id);
            expect(&client, "\"code\":\"LAZ_ECANCELLED\"");
            expect(&client, "{\"type\":\"done\",\"id\":6}");
        }
    }
    client_close(&client);
    server_end();
    free(files);
}

/* It is not a verdict, since the code did not run; the session goes on. */
static void a_file_for_which_there_is_no_room_fails(void)
{
    char in_session[40], in_pool[40], *files = large_file();
    struct client client;

    server_begin(OPEN ";limits.fsize=16KiB;pool.reset=false");
    client_greet(&client);
    snprintf(in_session, sizeof in_session, ",\"session\":%lld", client_session(&client, ""));
    client_pool(&client, in_pool, sizeof in_pool);
    const char *const places[] = {in_session, in_pool, ""};
    for (int i = 0; i < 3; i++) {
        ask(&client, 2, places[i], "x = 41", "");
        expect(&client, "\"id\":2,\"result\":{\"ok\":true");
        ask(&client, 2, places[i], "x = 42", files);
        expect(&client, "\"failed\",\"id\":2,\"code\":\"LAZ_EOS\"");
        CU_ASSERT(has(client.line, "cannot create the file large"));
        ask(&client, 2, places[i], i ? "io.open('large') or nil" : "io.open('large') or x == 41",
            "");
        expect(&client, i ? "\"value\":null" : "\"value\":true");
    }
    client_close(&client);
    server_end();
    free(files);
}

/* The pool has one session, which is busy. */
static void what_waits_for_a_pool_can_be_cancelled(void)
{
    char in_pool[40];
    struct client client;

    server_begin(OPEN ";pool.reset=false");
    client_greet(&client);
    client_pool(&client, in_pool, sizeof in_pool);
    say(&client,
        "{\"type\":\"execute\",\"id\":2%s,\"output\":true,"
        "\"code\":\"print('on') io.flush() while true do end\"}",
        in_pool);
    expect(&client, "{\"type\":\"output\",\"id\":2");
    ask(&client, 3, in_pool, "while true do end", FILE_IN);
    ask(&client, 4, in_pool, "return " READ, FILE_IN);
    say(&client, "{\"type\":\"cancel\",\"id\":5,\"request\":3}");
    expect(&client, "{\"type\":\"failed\",\"id\":3,\"code\":\"LAZ_ECANCELLED\"");
    expect(&client, "{\"type\":\"done\",\"id\":5}");
    say(&client, "{\"type\":\"cancel\",\"id\":5,\"request\":3}"); /* it has ended */
    expect(&client, "{\"type\":\"done\",\"id\":5}");
    say(&client, "{\"type\":\"cancel\",\"id\":5,\"request\":2}");
    expect(&client, "{\"type\":\"done\",\"id\":5}");
    expect(&client, "\"id\":2,\"result\":{\"ok\":false");
    CU_ASSERT(has(client.line, "\"cancelled\""));
    expect(&client, "\"id\":4,\"result\":{\"ok\":true,\"value\":\"hello\"");
    client_close(&client);
    server_end();
}

/* The agent is stopped meanwhile; a client that goes then leaves nothing, either. */
static void a_file_that_is_being_put_can_be_cancelled(void)
{
    char in_session[40];
    struct client client;

    server_begin(OPEN);
    for (int goes = 0; goes <= 1; goes++) {
        client_greet(&client);
        snprintf(in_session, sizeof in_session, ",\"session\":%lld", client_session(&client, ""));
        ask(&client, 2, in_session, "io.open('/proc/self/stat'):read('n')", "");
        expect(&client, "\"id\":2,\"result\":{\"ok\":true,\"value\":");
        const pid_t pid = (pid_t)atoi(strstr(client.line, "\"value\":") + 8);
        CU_ASSERT_FATAL(pid > 1);
        CU_ASSERT_EQUAL(kill(pid, SIGSTOP), 0);
        ask(&client, 3, in_session, "while true do end", FILE_IN);
        if (!goes) {
            say(&client, "{\"type\":\"cancel\",\"id\":4,\"request\":3}");
            expect(&client, "{\"type\":\"done\",\"id\":4}");
            expect(&client, "\"id\":3,\"result\":{\"ok\":false");
            CU_ASSERT(has(client.line, "\"cancelled\""));
            ask(&client, 5, in_session, "return " READ, FILE_IN);
            expect(&client, "\"id\":5,\"result\":{\"ok\":true,\"value\":\"hello\"");
        }
        client_close(&client);
    }
    server_end();
}

static const struct unit_test tests[] = {
    UNIT(files_go_in_and_artifacts_come_out),
    UNIT(what_is_not_whole_is_not_sent),
    UNIT(a_large_result_holds_up_nobody),
    UNIT(files_of_hostile_clients_are_bounded),
    UNIT(what_is_in_progress_is_named),
    UNIT(an_execution_brings_its_files),
    UNIT(files_that_are_wrong_are_refused_and_leave_nothing),
    UNIT(files_of_executions_are_bounded_together),
    UNIT(a_file_for_which_there_is_no_room_fails),
    UNIT(what_waits_for_a_pool_can_be_cancelled),
    UNIT(a_file_that_is_being_put_can_be_cancelled),
    {0},
};

int main(void)
{
    return server_test("serve_files", tests);
}
