/* SPDX-License-Identifier: MIT */
/* test_serve.c - the host protocol: a server on a thread, clients at its socket.
 *
 * The server waits for its clients and they for it, however long that takes: nothing depends on a
 * clock. */
#include "serving.h"
#include "traces.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define MANY    1000 /* executions with LAZARET_TEST_FULL; else a twentieth of them */
#define AT_ONCE 16   /* the same; else half of them */

/* ---- tests ---------------------------------------------------------------------------------- */

static void code_is_executed_and_keeps_its_variables(void)
{
    struct client client;

    server_begin("session.runtime=lua"); /* in a real box */
    client_greet(&client);
    const long long session = client_session(&client, "");
    say(&client, "{\"type\":\"execute\",\"id\":2,\"session\":%lld,\"code\":\"x = 41\"}", session);
    expect(&client, "{\"type\":\"result\",\"id\":2,\"result\":{\"ok\":true");
    say(&client, "{\"type\":\"execute\",\"id\":3,\"session\":%lld,\"code\":\"x + 1\"}", session);
    expect(&client, "\"id\":3,\"result\":{\"ok\":true,\"value\":42");
    CU_ASSERT(has(client.line, "\"fs_read\""));
    say(&client, "{\"type\":\"execute\",\"id\":4,\"session\":%lld,\"code\":\"error('no')\"}",
        session);
    expect(&client, "\"id\":4,\"result\":{\"ok\":false");
    say(&client, "{\"type\":\"restart\",\"id\":5,\"session\":%lld}", session);
    expect(&client, "\"type\":\"opened\",\"id\":5");
    say(&client, "{\"type\":\"execute\",\"id\":6,\"session\":%lld,\"code\":\"x\"}", session);
    expect(&client, "\"id\":6,\"result\":{\"ok\":true,\"value\":null");
    say(&client, "{\"type\":\"describe\",\"id\":7,\"session\":%lld}", session);
    expect(&client, "\"type\":\"description\",\"id\":7,\"text\":\"<session lua [idle]");
    say(&client, "{\"type\":\"search\",\"id\":8,\"session\":%lld,\"words\":\"x\"}", session);
    expect(&client, "{\"type\":\"found\",\"id\":8,\"tools\":[]}");
    say(&client, "{\"type\":\"close\",\"id\":8,\"session\":%lld}", session);
    expect(&client, "{\"type\":\"done\",\"id\":8}");
    say(&client, "{\"type\":\"execute\",\"id\":9,\"session\":%lld,\"code\":\"1\"}", session);
    expect(&client, "\"type\":\"failed\",\"id\":9,\"code\":\"LAZ_ENOENT\"");
    say(&client,
        "{\"type\":\"execute\",\"id\":9,\"code\":\"6 * 7\"}"); /* in a session of its own */
    expect(&client, "\"id\":9,\"result\":{\"ok\":true,\"value\":42");
    client_close(&client);
    server_end();
}

static void what_is_wrong_is_named_and_the_connection_goes_on(void)
{
    static const struct {
        const char *request, *answer;
    } rows[] = {
        {"{\"type\":\"bogus\",\"id\":5}", "\"failed\",\"id\":5,\"code\":\"LAZ_EPROTO\",\"message\":"
                                          "\"unknown message 'bogus'\""},
        {"{\"type\":\"execute\",\"id\":5}", "message 'execute' lacks 'code'"},
        {"{\"type\":\"execute\",\"id\":5,\"code\":7}", "\"failed\",\"id\":5"},
        {"{\"type\":\"execute\",\"id\":5,\"code\":\"1\",\"timeout_ms\":-1}", "timeout_ms"},
        {"{\"type\":\"execute\",\"id\":5,\"session\":1,\"pool\":1,\"code\":\"1\"}",
         "one of 'session' and 'pool'"},
        {"{\"type\":\"close\",\"id\":5}", "one of 'session' and 'pool'"},
        {"{\"type\":\"open\",\"id\":5,\"runtime\":\"cobol\"}", "no runtime is called"},
        {"{\"type\":\"execute\",\"id\":5,\"runtime\":\"cobol\",\"code\":\"1\"}",
         "no runtime is called"},
        {"{\"type\":\"open_pool\",\"id\":5,\"runtime\":\"cobol\"}", "no runtime is called"},
        {"{\"type\":\"open_pool\",\"id\":5,\"members\":101}", "\"failed\",\"id\":5"},
        {"{\"type\":\"open\",\"id\":5,\"tools\":[{\"name\":\"not a name\"}]}", "not a name"},
        {"{\"type\":\"open\",\"id\":5,\"tools\":[{}]}", "'name'"},
        {"{\"type\":\"tools\",\"id\":5}", "'tools'"},
        {"{\"type\":\"hello\",\"id\":5,\"protocol\":1}", "unknown message 'hello'"},
    };
    struct client client;

    neighbour_begin(OPEN);
    client_greet(&client);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        say(&client, "%s", rows[i].request);
        expect(&client, rows[i].answer);
        CU_ASSERT_EQUAL(member(&client, "id"), 5);
        is_served(&neighbour);
    }
    say(&client, "{\"type\":\"answer\",\"call\":77,\"value\":1}"); /* fits no call */
    say(&client, "{\"type\":\"cancel\",\"id\":6,\"request\":77}");
    expect(&client, "{\"type\":\"done\",\"id\":6}");
    say(&client, "{\"type\":\"execute\",\"id\":7,\"code\":\"1\",\"unknown\":[]}");
    expect(&client, "\"id\":7,\"result\":{\"ok\":true");
    client_close(&client);
    neighbour_end();
}

static void rubbish_ends_its_connection_only(void)
{
    static const char *const rubbish[] = {
        "hello",
        "{\"type\":\"open\"}",
        "[]",
        "{\"type\":\"open\",\"id\":1,\"id\":1}",
        "\xff",
        "{\"type\":\"execute\",\"id\":1,\"code\":\"\xc3\x28\"}",
        "{\"type\":\"execute\",\"id\":1,\"code\":\"\\ud800\"}",
        "{\"type\":\"execute\",\"id\":1,\"code\":\"\\u0000\"}",
        "",
        "{\"type\":\"open\",\"id\":-1}",
    };
    struct client bad;

    neighbour_begin(OPEN ";session.max_value_size=1MiB");
    for (size_t i = 0; i < sizeof rubbish / sizeof *rubbish; i++) {
        client_greet(&bad);
        say(&bad, "%s", rubbish[i]);
        is_served(&neighbour);
        expect(&bad, "{\"type\":\"failed\",\"code\":\"LAZ_E");
        CU_ASSERT_PTR_NULL(hear(&bad));
        client_close(&bad);
    }
    client_greet(&bad); /* a line without an end */
    char *bytes = malloc(3 << 20);
    memset(bytes, 'x', 3 << 20);
    client_send_bytes(&bad, bytes, 3 << 20);
    free(bytes);
    const char *last = hear(&bad); /* the connection may be reset before this is read */
    CU_ASSERT(!last || has(last, "a line has more than 1048576 bytes"));
    client_close(&bad);
    neighbour_end();
}

static void code_calls_tools_of_its_client(void)
{
    struct client client;

    server_begin(OPEN);
    client_greet(&client);
    say(&client, "{\"type\":\"tools\",\"id\":1,\"tools\":" ADD "}");
    expect(&client, "{\"type\":\"done\",\"id\":1}");
    const long long session =
        client_session(&client, ",\"tools\":[{\"name\":\"own\",\"parameters\":[]}]");
    say(&client, "{\"type\":\"execute\",\"id\":2,\"session\":%lld,\"code\":\"own() .. add(2)\"}",
        session);
    expect(&client, "\"type\":\"tool_call\"");
    CU_ASSERT(has(client.line, "\"id\":2,\"tool\":\"own\",\"args\":{}"));
    say(&client, "{\"type\":\"answer\",\"call\":%lld,\"value\":\"v\"}", member(&client, "call"));
    expect(&client, "\"tool\":\"add\",\"args\":{\"a\":2,\"b\":1}");
    say(&client, "{\"type\":\"answer\",\"call\":%lld,\"value\":3}", member(&client, "call"));
    expect(&client, "\"id\":2,\"result\":{\"ok\":true,\"value\":\"v3\"");
    say(&client,
        "{\"type\":\"execute\",\"id\":3,\"session\":%lld,\"code\":\"return select(2, "
        "pcall(add, 1))\"}",
        session);
    expect(&client, "\"tool\":\"add\"");
    say(&client, "{\"type\":\"answer\",\"call\":%lld,\"error\":\"not today\"}",
        member(&client, "call"));
    expect(&client, "not today");
    CU_ASSERT(has(client.line, "\"id\":3,\"result\":{\"ok\":true"));
    /* arguments are checked before the client is asked */
    say(&client, "{\"type\":\"execute\",\"id\":4,\"session\":%lld,\"code\":\"add('x')\"}", session);
    expect(&client, "\"id\":4,\"result\":{\"ok\":false");
    client_close(&client);
    server_end();
}

static void progress_is_reported_when_asked_for(void)
{
    struct client client;

    server_begin(OPEN);
    client_greet(&client);
    const long long session = client_session(&client, ",\"tools\":" ADD);
    say(&client,
        "{\"type\":\"execute\",\"id\":2,\"session\":%lld,\"progress\":true,\"code\":\"add(1)\"}",
        session);
    /* it goes on while the call waits; on a busy machine one comes before the call */
    while (hear(&client) && !(has(client.line, "{\"type\":\"progress\",\"id\":2,\"wall_ms\":") &&
                              member(&client, "tool_calls") == 1)) {
    }
    CU_ASSERT(member(&client, "wall_ms") > 0);
    CU_ASSERT(has(client.line, "\"cpu_ms\":") && has(client.line, "\"max_rss_bytes\":"));
    say(&client, "{\"type\":\"cancel\",\"id\":3,\"request\":2}");
    while (hear(&client) && !has(client.line, "\"type\":\"result\"")) {
    }
    CU_ASSERT(has(client.line, "\"reason\":\"cancelled\""));
    client_close(&client);
    server_end();
}

static void cancelled_calls_are_reported(void)
{
    struct client client;

    neighbour_begin(OPEN);
    client_greet(&client);
    const long long session = client_session(&client, ",\"tools\":" ADD);
    say(&client, "{\"type\":\"execute\",\"id\":2,\"session\":%lld,\"code\":\"add(1)\"}", session);
    expect(&client, "\"type\":\"tool_call\"");
    const long long call = member(&client, "call");
    say(&client, "{\"type\":\"execute\",\"id\":3,\"session\":%lld,\"code\":\"1\"}", session);
    expect(&client, "\"failed\",\"id\":3,\"code\":\"LAZ_EBUSY\"");
    say(&client, "{\"type\":\"execute\",\"id\":2,\"code\":\"1\"}");
    expect(&client, "\"message\":\"a request with this id is open\"");
    say(&client, "{\"type\":\"restart\",\"id\":3,\"session\":%lld}", session);
    expect(&client, "\"failed\",\"id\":3,\"code\":\"LAZ_EBUSY\"");
    is_served(&neighbour);
    say(&client, "{\"type\":\"cancel\",\"id\":4,\"request\":2}");
    for (int done = 0, told = 0, result = 0; done + told + result < 3;) {
        if (!hear(&client))
            break;
        done += has(client.line, "{\"type\":\"done\",\"id\":4}");
        told += has(client.line, "\"type\":\"tool_cancelled\"") &&
                member(&client, "call") == call && member(&client, "id") == 2;
        result += has(client.line, "\"reason\":\"cancelled\"");
        CU_ASSERT(done <= 1 && told <= 1 && result <= 1 && (told || !result));
    }
    say(&client, "{\"type\":\"answer\",\"call\":%lld,\"value\":1}", call); /* it comes too late */
    say(&client, "{\"type\":\"execute\",\"id\":5,\"session\":%lld,\"code\":\"7\"}", session);
    expect(&client, "\"id\":5,\"result\":{\"ok\":true,\"value\":7");
    client_close(&client);
    neighbour_end();
}

/* A yes lets the call go on to the client's own tool; another client, which has not said that it
 * decides, is not asked. */
static void clients_decide_on_approvals(void)
{
    struct client client;

    server_begin(OPEN);
    client_greet(&client);
    const long long session = client_session(
        &client, ",\"tools\":[{\"name\":\"erase\",\"approve\":true,\"parameters\":[{\"name\":"
                 "\"path\"},{\"name\":\"force\",\"default\":false}]}]");
    say(&client,
        "{\"type\":\"execute\",\"id\":2,\"session\":%lld,\"approve\":true,"
        "\"code\":\"erase('a')\"}",
        session);
    expect(&client, "{\"type\":\"approval\",\"call\":");
    CU_ASSERT(
        has(client.line, "\"id\":2,\"tool\":\"erase\",\"args\":{\"path\":\"a\",\"force\":false}"));
    const long long asked = member(&client, "call");
    say(&client, "{\"type\":\"answer\",\"call\":%lld,\"value\":true}", asked);
    expect(&client, "\"type\":\"tool_call\"");
    CU_ASSERT(member(&client, "call") > asked);
    say(&client, "{\"type\":\"answer\",\"call\":%lld,\"value\":\"erased\"}",
        member(&client, "call"));
    expect(&client, "\"id\":2,\"result\":{\"ok\":true,\"value\":\"erased\"");
    static const char *const refusals[] = {"\"value\":false", "\"value\":1", "\"value\":\"true\"",
                                           "\"error\":\"not today\"",
                                           "\"value\":true,\"error\":\"both\""};
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        say(&client,
            "{\"type\":\"execute\",\"id\":3,\"session\":%lld,\"approve\":true,"
            "\"code\":\"erase('a')\"}",
            session);
        expect(&client, "\"approval\"");
        say(&client, "{\"type\":\"answer\",\"call\":%lld,%s}", member(&client, "call"),
            refusals[i]);
        expect(&client, "the call was not approved");
        CU_ASSERT(has(client.line, "\"id\":3,\"result\":{\"ok\":false"));
    }
    say(&client, "{\"type\":\"execute\",\"id\":4,\"session\":%lld,\"code\":\"erase('a')\"}",
        session);
    expect(&client, "the host decides on no approvals");
    /* one that is open when its execution ends is reported like any other call */
    say(&client,
        "{\"type\":\"execute\",\"id\":5,\"session\":%lld,\"approve\":true,"
        "\"code\":\"erase('a')\"}",
        session);
    expect(&client, "\"approval\"");
    say(&client, "{\"type\":\"close\",\"id\":6,\"session\":%lld}", session);
    expect(&client, "\"tool_cancelled\"");
    expect(&client, "\"reason\":\"cancelled\"");
    expect(&client, "{\"type\":\"done\",\"id\":6}");
    client_close(&client);
    server_end();
}

/* Reads a call and a piece of output, in either order, and answers the call. */
static void hear_piece(struct client *client, const char *text)
{
    long long call = 0;
    bool piece = false;

    while ((!call || !piece) && hear(client) && !has(client->line, "\"type\":\"result\"")) {
        if (has(client->line, "\"type\":\"tool_call\""))
            call = member(client, "call");
        else
            CU_ASSERT(piece = has(client->line, text));
    }
    say(client, "{\"type\":\"answer\",\"call\":%lld,\"value\":1}", call);
}

/* The code waits for the answers, so its output has come while it runs. */
static void output_comes_as_it_is_written(void)
{
    struct client client;

    server_begin(OPEN);
    client_greet(&client);
    const long long session = client_session(&client, ",\"tools\":" ADD);
    say(&client,
        "{\"type\":\"execute\",\"id\":2,\"session\":%lld,\"output\":true,\"code\":\"io.write('a\\\\"
        "xc3') io.flush() add(1) io.write('\\\\xa9b\\\\xff') io.flush() add(2)\"}",
        session);
    hear_piece(&client, "\"stream\":\"stdout\",\"text\":\"a\"}");
    hear_piece(&client, "\"text\":\"\xc3\xa9"
                        "b\xef\xbf\xbd\"}");
    expect(&client, "\"text\":\"a\xc3\xa9"
                    "b\xef\xbf\xbd\"}");
    CU_ASSERT(has(client.line, "\"type\":\"result\""));
    client_close(&client);
    server_end();
}

static void wrong_answers_are_errors_of_their_call(void)
{
    static const char *const wrong[] = {"\"value\":1,\"error\":\"both\"",
                                        "\"value\":1,\"error\":null", "\"unknown\":1"};
    struct client client;

    neighbour_begin(OPEN);
    client_greet(&client);
    const long long session = client_session(&client, ",\"tools\":" ADD);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        say(&client,
            "{\"type\":\"execute\",\"id\":2,\"session\":%lld,\"code\":\"return select(2, "
            "pcall(add, 1))\"}",
            session);
        expect(&client, "\"type\":\"tool_call\"");
        is_served(&neighbour);
        say(&client, "{\"type\":\"answer\",\"call\":%lld,%s}", member(&client, "call"), wrong[i]);
        expect(&client, "\"id\":2,\"result\":{\"ok\":true");
        CU_ASSERT(has(client.line, "an answer has not exactly one") ||
                  has(client.line, "'error' of a message has the wrong type"));
    }
    say(&client, "{\"type\":\"answer\"}"); /* it says not of which */
    say(&client, "{\"type\":\"cancel\",\"id\":3,\"request\":9}");
    expect(&client, "{\"type\":\"done\",\"id\":3}");
    client_close(&client);
    neighbour_end();
}

/* As `open` would, which comes later. A list that is refused has no effect. */
static void tools_are_checked_when_they_are_registered(void)
{
    static const struct {
        const char *tools, *says;
    } rows[] = {
        {"[{\"name\":\"no name\"}]", "no name"},
        {"[{\"name\":\"two\"},{\"name\":\"two\"}]", "'two'"},
        {"[{\"name\":\"one\"},{\"name\":\"sum\",\"parameters\":[{\"name\":\"a\",\"type\":"
         "\"colour\"}]}]",
         "'sum'"},
        {ADD, "'add'"}, /* it is registered already */
    };
    struct client client, other;

    neighbour_begin(OPEN);
    client_greet(&client);
    client_greet(&other);
    say(&client, "{\"type\":\"tools\",\"id\":1,\"tools\":" ADD "}");
    expect(&client, "{\"type\":\"done\",\"id\":1}");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        say(&client, "{\"type\":\"tools\",\"id\":2,\"tools\":%s}", rows[i].tools);
        expect(&client, "\"type\":\"failed\",\"id\":2,\"code\":\"LAZ_EINVAL\"");
        CU_ASSERT(has(client.line, rows[i].says));
        is_served(&neighbour);
    }
    say(&client, "{\"type\":\"search\",\"id\":3,\"words\":\"one two sum add\"}");
    expect(&client, "{\"type\":\"found\",\"id\":3,\"tools\":[{\"name\":\"add\"");
    CU_ASSERT(!has(client.line, "\"one\"") && !has(client.line, "\"two\""));
    const long long session = client_session(&client, "");
    say(&client, "{\"type\":\"describe\",\"id\":4,\"session\":%lld}", session);
    expect(&client, "\"tools\":[{\"name\":\"add\"");
    say(&other, "{\"type\":\"search\",\"id\":3,\"words\":\"add\"}"); /* it is another client's */
    expect(&other, "{\"type\":\"found\",\"id\":3,\"tools\":[]}");
    client_close(&client);
    client_close(&other);
    neighbour_end();
}

static void restart_that_fails_has_no_effect(void)
{
    struct client client;

    server_begin(OPEN);
    client_greet(&client);
    const long long session = client_session(&client, ",\"tools\":" ADD);
    say(&client, "{\"type\":\"tools\",\"id\":2,\"tools\":" ADD "}"); /* the same name again */
    expect(&client, "{\"type\":\"done\",\"id\":2}");
    say(&client, "{\"type\":\"restart\",\"id\":3,\"session\":%lld}", session);
    expect(&client, "\"type\":\"failed\",\"id\":3");
    CU_ASSERT(has(client.line, "'add'"));
    say(&client, "{\"type\":\"execute\",\"id\":4,\"session\":%lld,\"code\":\"7\"}", session);
    expect(&client, "\"id\":4,\"result\":{\"ok\":true,\"value\":7");
    client_close(&client);
    server_end();
}

static void an_execution_that_waits_can_be_cancelled(void)
{
    struct client client;

    server_begin(OPEN);
    client_greet(&client);
    say(&client, "{\"type\":\"open_pool\",\"id\":1,\"members\":1}");
    expect(&client, "\"type\":\"opened\",\"id\":1,\"pool\":");
    const long long pool = member(&client, "pool");
    say(&client,
        "{\"type\":\"execute\",\"id\":1,\"pool\":%lld,\"output\":true,\"code\":\"print(1) "
        "io.flush() while true do end\"}",
        pool);
    expect(&client, "\"type\":\"output\"");
    say(&client, "{\"type\":\"execute\",\"id\":2,\"pool\":%lld,\"code\":\"1\"}", pool);
    say(&client, "{\"type\":\"cancel\",\"id\":3,\"request\":2}");
    expect(&client, "\"failed\",\"id\":2,\"code\":\"LAZ_ECANCELLED\"");
    expect(&client, "{\"type\":\"done\",\"id\":3}");
    say(&client, "{\"type\":\"execute\",\"id\":2,\"pool\":%lld,\"code\":\"2\"}", pool);
    say(&client, "{\"type\":\"execute\",\"id\":4,\"pool\":%lld,\"code\":\"4\",\"wait_ms\":0}",
        pool);
    expect(&client, "\"failed\",\"id\":4,\"code\":\"LAZ_EBUSY\"");
    say(&client, "{\"type\":\"cancel\",\"id\":3,\"request\":1}");
    expect(&client, "{\"type\":\"done\",\"id\":3}");
    expect(&client, "\"id\":1,\"result\":{\"ok\":false");
    expect(&client, "\"id\":2,\"result\":{\"ok\":true,\"value\":2");
    client_close(&client);
    server_end();
}

/* Both those of the client and those of the pool; the client that asks is called. */
static void a_pool_has_tools(void)
{
    struct client client;

    server_begin(OPEN);
    client_greet(&client);
    say(&client, "{\"type\":\"tools\",\"id\":1,\"tools\":[{\"name\":\"mine\"}]}");
    expect(&client, "{\"type\":\"done\",\"id\":1}");
    say(&client, "{\"type\":\"open_pool\",\"id\":2,\"members\":1,\"tools\":[{\"name\":\"own\"}]}");
    expect(&client, "\"type\":\"opened\",\"id\":2,\"pool\":");
    say(&client, "{\"type\":\"execute\",\"id\":3,\"pool\":%lld,\"code\":\"return mine() + own()\"}",
        member(&client, "pool"));
    expect(&client, "\"tool\":\"mine\"");
    say(&client, "{\"type\":\"answer\",\"call\":%lld,\"value\":1}", member(&client, "call"));
    expect(&client, "\"type\":\"tool_call\",\"call\":");
    CU_ASSERT(has(client.line, "\"own\""));
    say(&client, "{\"type\":\"answer\",\"call\":%lld,\"value\":2}", member(&client, "call"));
    expect(&client, "\"id\":3,\"result\":{\"ok\":true,\"value\":3");
    say(&client, "{\"type\":\"open_pool\",\"id\":4,\"tools\":[{\"name\":\"mine\"}]}");
    expect(&client, "Duplicate tool names: 'mine'");
    client_close(&client);
    server_end();
}

static void clients_see_their_own_sessions_only(void)
{
    static const struct {
        const char *type, *of;
    } requests[] = {
        {"execute\",\"code\":\"1", "session"},
        {"put\",\"name\":\"f\",\"data\":\"", "session"},
        {"restart", "session"},
        {"describe", "session"},
        {"search\",\"words\":\"x", "session"},
        {"close", "session"},
        {"execute\",\"code\":\"1", "pool"},
        {"describe", "pool"},
        {"close", "pool"},
    };
    struct client one, other;

    neighbour_begin(OPEN);
    client_greet(&one);
    client_greet(&other);
    say(&one, "{\"type\":\"open_pool\",\"id\":2,\"members\":1}");
    expect(&one, "\"type\":\"opened\",\"id\":2,\"pool\":");
    const long long session = client_session(&one, "");
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        for (long long number = 0; number <= session; number++) { /* and what there is not */
            say(&other, "{\"type\":\"%s\",\"id\":1,\"%s\":%lld}", requests[i].type, requests[i].of,
                number);
            expect(&other, "\"failed\",\"id\":1,\"code\":\"LAZ_ENOENT\"");
        }
    is_served(&one);
    say(&one, "{\"type\":\"execute\",\"id\":9,\"session\":%lld,\"code\":\"while true do end\"}",
        session);
    say(&other, "{\"type\":\"cancel\",\"id\":2,\"request\":9}"); /* of another client */
    expect(&other, "{\"type\":\"done\",\"id\":2}");
    say(&other, "{\"type\":\"tools\",\"id\":3,\"tools\":" ADD "}");
    expect(&other, "{\"type\":\"done\",\"id\":3}");
    say(&one, "{\"type\":\"execute\",\"id\":4,\"code\":\"return add\"}");
    expect(&one, "\"id\":4,\"result\":{\"ok\":true,\"value\":null");
    say(&one, "{\"type\":\"cancel\",\"id\":5,\"request\":9}");
    expect(&one, "\"done\",\"id\":5");
    expect(&one, "\"id\":9,\"result\":{\"ok\":false");
    client_close(&one);
    client_close(&other);
    neighbour_end();
}

static void client_that_goes_takes_its_sessions_along(void)
{
    struct client client;

    neighbour_begin("session.runtime=lua");
    client_greet(&client);
    const long long session = client_session(&client, ",\"tools\":" ADD);
    say(&client, "{\"type\":\"execute\",\"id\":2,\"session\":%lld,\"code\":\"1\"}", session);
    expect(&client, "\"id\":2,\"result\":{\"ok\":true");
    say(&client, "{\"type\":\"describe\",\"id\":3,\"session\":%lld}", session);
    expect(&client, "\"type\":\"description\"");
    const char *pid_text = strstr(client.line, "pid=");
    const pid_t pid = pid_text ? (pid_t)atoi(pid_text + 4) : 0;
    CU_ASSERT_FATAL(pid > 1);
    CU_ASSERT_EQUAL(kill(pid, 0), 0);
    say(&client, "{\"type\":\"execute\",\"id\":4,\"session\":%lld,\"code\":\"add(1)\"}", session);
    expect(&client, "\"type\":\"tool_call\"");
    is_served(&neighbour);
    client_close(&client);    /* it goes in the middle of it */
    while (kill(pid, 0) == 0) /* the harness ends a test that hangs */
        poll(NULL, 0, 5);
    CU_ASSERT_EQUAL(errno, ESRCH);
    neighbour_end();
}

/* More than a client may leave unread (SERVE_QUIET). */
#define DEAF 10

static void client_that_does_not_read_holds_up_no_other(void)
{
    struct client deaf;

    neighbour_begin(OPEN ";session.max_output_size=1MiB");
    client_greet(&deaf);
    for (int i = 1; i <= DEAF; i++) /* with what is sent as it comes, 16 MB */
        say(&deaf,
            "{\"type\":\"execute\",\"id\":%d,\"output\":true,\"code\":\"io.write(('x'):rep(800000))"
            "\"}",
            i);
    for (int i = 1; i <= 10; i++)
        is_served(&neighbour);
    int results = 0;
    long long dropped = 0;
    while (results < DEAF && hear(&deaf)) { /* each is answered all the same */
        results += has(deaf.line, "\"type\":\"result\"") && has(deaf.line, "\"ok\":true");
        dropped += member(&deaf, "dropped") > 0;
    }
    CU_ASSERT_EQUAL(results, DEAF);
    printf(" %lld messages say that output was dropped", dropped);
    client_close(&deaf);
    neighbour_end();
}

static void settings_are_narrowed_and_not_widened(void)
{
    struct client client;

    server_begin(OPEN ";session.timeout=0.05");
    client_greet(&client);
    CU_ASSERT_EQUAL(member(&client, "timeout_ms"), 50);
    CU_ASSERT_EQUAL(member(&client, "deadline_ms"), 0);
    const char *const wide[] = {"", ",\"timeout_ms\":0", ",\"timeout_ms\":1000000000"};
    for (size_t i = 0; i < 3; i++) {
        say(&client,
            "{\"type\":\"execute\",\"id\":1,\"code\":\"while true do end\",\"deadline_ms\":0%s}",
            wide[i]);
        expect(&client, "\"reason\":\"timeout\"");
        CU_ASSERT(has(client.line, "\"evidence\":{\"timeout_ms\":50}"));
    }
    say(&client,
        "{\"type\":\"execute\",\"id\":1,\"code\":\"while true do end\",\"timeout_ms\":20}");
    expect(&client, "\"reason\":\"timeout\"");
    CU_ASSERT(has(client.line, "\"evidence\":{\"timeout_ms\":20}"));
    client_close(&client);
    server_end();
    server_begin(OPEN ";session.max_tool_calls=1");
    client_greet(&client);
    const long long session = client_session(&client, ",\"tools\":" ADD);
    say(&client,
        "{\"type\":\"execute\",\"id\":1,\"session\":%lld,\"code\":\"add(1) add(1)\","
        "\"max_tool_calls\":9}",
        session);
    expect(&client, "\"type\":\"tool_call\"");
    say(&client, "{\"type\":\"answer\",\"call\":%lld,\"value\":1}", member(&client, "call"));
    expect(&client, "\"reason\":\"tool_limit\"");
    client_close(&client);
    server_end();
    server_begin(OPEN ";session.max_code_length=5");
    client_greet(&client);
    for (int length = 2; length <= 9; length += 7) {
        say(&client, "{\"type\":\"execute\",\"id\":1,\"code\":\"x = 10\",\"max_code_length\":%d}",
            length);
        expect(&client, "\"reason\":\"blocked\"");
        CU_ASSERT(has(client.line, length == 2 ? "maximum 2" : "maximum 5"));
    }
    client_close(&client);
    server_end();
}

/* And nothing is left of them. */
static void every_request_is_answered_once(void)
{
    const int descriptors = trace_descriptors(), children = trace_children();
    struct client client;
    unsigned answers[MANY + 1] = {0}, verdicts[3] = {0};
    char left[300];
    long long sessions[AT_ONCE];
    const bool full = getenv("LAZARET_TEST_FULL") != NULL;
    const int many = full ? MANY : MANY / 20, at_once = full ? AT_ONCE : AT_ONCE / 2;

    server_begin(OPEN ";pool.size=2");
    client_greet(&client);
    for (int i = 0; i < at_once; i++)
        sessions[i] = client_session(&client, "");
    say(&client, "{\"type\":\"open_pool\",\"id\":1}");
    expect(&client, "\"type\":\"opened\",\"id\":1,\"pool\":");
    const long long pool = member(&client, "pool");
    int begun = 0, ended = 0;
    bool busy[AT_ONCE] = {false};
    int in[MANY + 1];
    while (ended < many) {
        for (int i = 0; i < at_once && begun < many; i++) {
            if (busy[i])
                continue;
            const int id = ++begun;
            in[id] = i;
            busy[i] = true;
            const char *code = id % 5 == 0   ? "while true do end"
                               : id % 5 == 1 ? "while 1 do end"
                                             : "return 1";
            say(&client,
                "{\"type\":\"execute\",\"id\":%d,\"%s\":%lld,\"code\":\"%s\",\"timeout_ms\":%d}",
                id, id % 2 ? "pool" : "session", id % 2 ? pool : sessions[i], code,
                id % 5 == 0 ? 30 : 0);
            if (id % 5 == 1)
                say(&client, "{\"type\":\"cancel\",\"id\":%d,\"request\":%d}", 100000 + id, id);
        }
        if (!hear(&client))
            break;
        const long long id = member(&client, "id");
        if (id > 100000) {
            CU_ASSERT(has(client.line, "\"type\":\"done\""));
            continue;
        }
        CU_ASSERT_FATAL(id >= 1 && id <= many);
        answers[id]++;
        busy[in[id]] = false;
        ended++;
        verdicts[0] += has(client.line, "\"reason\":\"ok\"");
        verdicts[1] += has(client.line, "\"reason\":\"timeout\"");
        verdicts[2] +=
            has(client.line, "\"reason\":\"cancelled\"") || has(client.line, "LAZ_ECANCELLED");
    }
    for (int id = 1; id <= many; id++)
        CU_ASSERT_EQUAL(answers[id], 1);
    CU_ASSERT_EQUAL(verdicts[0], many * 3 / 5);
    CU_ASSERT_EQUAL(verdicts[1], many / 5);
    CU_ASSERT_EQUAL(verdicts[2], many / 5);
    client_close(&client);
    server_end();
    CU_ASSERT_EQUAL(trace_descriptors(), descriptors);
    CU_ASSERT_EQUAL(trace_children(), children);
    trace_directory(left, sizeof left);
    CU_ASSERT_STRING_EQUAL(left, "");
}

static void sessions_of_a_client_are_bounded(void)
{
    struct client client, other;

    neighbour_begin(OPEN ";pool.max_sessions=3");
    client_greet(&client);
    client_greet(&other);
    for (int i = 0; i < 3; i++)
        client_session(&client, "");
    say(&client, "{\"type\":\"open\",\"id\":5}");
    expect(&client, "a client can have 3 sessions");
    say(&client, "{\"type\":\"open_pool\",\"id\":5,\"members\":1}");
    expect(&client, "a client can have 3 sessions");
    say(&client, "{\"type\":\"execute\",\"id\":5,\"code\":\"1\"}");
    expect(&client, "a client can have 3 sessions");
    is_served(&neighbour);
    say(&client, "{\"type\":\"close\",\"id\":5,\"session\":1}");
    expect(&client, "{\"type\":\"done\",\"id\":5}");
    for (int i = 0; i < 4; i++) { /* each gives its place back */
        say(&client, "{\"type\":\"execute\",\"id\":5,\"code\":\"1\"}");
        expect(&client, "\"id\":5,\"result\":{\"ok\":true");
    }
    client_session(&other, "");
    is_served(&other);
    for (int i = 0; i < 64; i++) {
        say(&other, "{\"type\":\"tools\",\"id\":5,\"tools\":[]}");
        expect(&other, "{\"type\":\"done\",\"id\":5}");
    }
    say(&other, "{\"type\":\"tools\",\"id\":5,\"tools\":[]}");
    expect(&other, "a client can register 64 lists");
    is_served(&other);
    client_close(&client);
    client_close(&other);
    neighbour_end();
}

static void socket_is_for_its_user_and_for_one_server(void)
{
    struct laz_error err = {0};
    struct stat st;

    server_begin(OPEN);
    CU_ASSERT_EQUAL(stat(path, &st), 0);
    CU_ASSERT_EQUAL(st.st_mode & 07777, 0600);
    CU_ASSERT_PTR_NULL(server_make(OPEN, &err));
    CU_ASSERT_EQUAL(err.code, LAZ_EREFUSED);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "another process listens there"));
    server_end();
    /* what a server that was killed has left is replaced, anything else is not */
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(strcpy(directory, "/tmp/serve-test.XXXXXX")));
    snprintf(path, sizeof path, "%s/socket", directory);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    CU_ASSERT_EQUAL(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    close(fd);
    struct laz_server *next = server_make(OPEN, &err);
    CU_ASSERT_PTR_NOT_NULL(next);
    laz_server_free(next);
    fd = socket(AF_UNIX, SOCK_DGRAM, 0); /* of a living program, of another type */
    CU_ASSERT_EQUAL(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    CU_ASSERT_PTR_NULL(server_make(OPEN, &err));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "another process listens there"));
    CU_ASSERT_EQUAL(stat(path, &st), 0);
    close(fd);
    unlink(path);
    FILE *file = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fclose(file);
    CU_ASSERT_PTR_NULL(server_make(OPEN, &err));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "not a socket of this user"));
    unlink(path);
    rmdir(directory);
}

static void processes_of_other_users_are_refused(void)
{
    struct client client;

    if (geteuid() != 0) {
        (void)unit_skip("root", "no other user can be tried");
        return;
    }
    server_begin(OPEN);
    CU_ASSERT_EQUAL(chmod(directory, 0755), 0);
    CU_ASSERT_EQUAL(chmod(path, 0666), 0); /* the kernel would let it in */
    /* of this thread alone, which seteuid(3) would not do */
    CU_ASSERT_EQUAL_FATAL(syscall(SYS_setresuid, -1, 65534, -1), 0);
    client_open(&client);
    CU_ASSERT_EQUAL_FATAL(syscall(SYS_setresuid, -1, 0, -1), 0);
    CU_ASSERT_PTR_NULL(hear(&client));
    client_close(&client);
    client_greet(&client);
    client_close(&client);
    server_end();
}

static const struct unit_test tests[] = {
    UNIT(code_is_executed_and_keeps_its_variables),
    UNIT(what_is_wrong_is_named_and_the_connection_goes_on),
    UNIT(rubbish_ends_its_connection_only),
    UNIT(code_calls_tools_of_its_client),
    UNIT(progress_is_reported_when_asked_for),
    UNIT(cancelled_calls_are_reported),
    UNIT(clients_decide_on_approvals),
    UNIT(output_comes_as_it_is_written),
    UNIT(wrong_answers_are_errors_of_their_call),
    UNIT(tools_are_checked_when_they_are_registered),
    UNIT(restart_that_fails_has_no_effect),
    UNIT(an_execution_that_waits_can_be_cancelled),
    UNIT(a_pool_has_tools),
    UNIT(clients_see_their_own_sessions_only),
    UNIT(client_that_goes_takes_its_sessions_along),
    UNIT(client_that_does_not_read_holds_up_no_other),
    UNIT(settings_are_narrowed_and_not_widened),
    UNIT(every_request_is_answered_once),
    UNIT(sessions_of_a_client_are_bounded),
    UNIT(socket_is_for_its_user_and_for_one_server),
    UNIT(processes_of_other_users_are_refused),
    {0},
};

int main(void)
{
    return server_test("serve", tests);
}
