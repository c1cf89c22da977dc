/* SPDX-License-Identifier: MIT */
/* test_serve_network.c - network lists that clients give their sessions. */
#include "serving.h"

/* Lists of sessions, of pools and of single executions; a restarted session keeps the last one. */
static void sessions_have_network_lists(void)
{
    static const char *const code = "import socket\\nsocket.gethostbyname('a.example')[:7]";
    struct client client;

    server_begin("sandbox.backend=bwrap;session.runtime=python");
    client_greet(&client);
    const long long session = client_session(&client, ",\"network\":[\"https://a.example\"]");
    say(&client, "{\"type\":\"execute\",\"id\":2,\"session\":%lld,\"code\":\"%s\"}", session, code);
    expect(&client, "\"id\":2,\"result\":{\"ok\":true,\"value\":\"198.18.\"");
    say(&client, "{\"type\":\"set_network\",\"id\":3,\"session\":%lld,\"allow\":[]}", session);
    expect(&client, "{\"type\":\"done\",\"id\":3}");
    say(&client, "{\"type\":\"execute\",\"id\":4,\"session\":%lld,\"code\":\"%s\"}", session, code);
    expect(&client, "\"denials\":[{\"what\":\"name\",\"name\":\"a.example\"");
    say(&client, "{\"type\":\"restart\",\"id\":5,\"session\":%lld}", session);
    expect(&client, "\"type\":\"opened\",\"id\":5");
    say(&client, "{\"type\":\"execute\",\"id\":6,\"session\":%lld,\"code\":\"%s\"}", session, code);
    expect(&client, "\"denials\":[{\"what\":\"name\",\"name\":\"a.example\"");
    say(&client,
        "{\"type\":\"set_network\",\"id\":7,\"session\":%lld,\"allow\":[\"b.example:22\"]}",
        session);
    expect(&client, "\"type\":\"failed\",\"id\":7,\"code\":\"LAZ_EINVAL\",\"message\":\"port 22 ");
    say(&client, "{\"type\":\"set_network\",\"id\":8,\"session\":%lld,\"allow\":[7]}", session);
    expect(&client, "\"type\":\"failed\",\"id\":8,\"code\":\"LAZ_EINVAL\"");
    say(&client,
        "{\"type\":\"set_network\",\"id\":8,\"session\":%lld,"
        "\"allow\":[{\"host\":\"a.example\",\"to\":[\"10.0.0.0/8\"]}]}",
        session);
    expect(&client, "{\"type\":\"done\",\"id\":8}");
    say(&client, "{\"type\":\"execute\",\"id\":9,\"session\":%lld,\"code\":\"%s\"}", session, code);
    expect(&client, "\"id\":9,\"result\":{\"ok\":true,\"value\":\"198.18.\"");
    say(&client,
        "{\"type\":\"execute\",\"id\":10,\"network\":[\"https://a.example\"],\"code\":\"%s\"}",
        code);
    expect(&client, "\"id\":10,\"result\":{\"ok\":true,\"value\":\"198.18.\"");
    say(&client, "{\"type\":\"execute\",\"id\":11,\"session\":%lld,\"network\":[],\"code\":\"1\"}",
        session);
    expect(&client, "\"type\":\"failed\",\"id\":11,\"code\":\"LAZ_EINVAL\"");
    say(&client, "{\"type\":\"open\",\"id\":12,\"network\":[\"a..b\"]}");
    expect(&client, "\"type\":\"failed\",\"id\":12,\"code\":\"LAZ_EINVAL\"");
    say(&client, "{\"type\":\"open_pool\",\"id\":13,\"members\":1,"
                 "\"network\":[\"https://a.example\"]}");
    expect(&client, "\"type\":\"opened\",\"id\":13,\"pool\":");
    say(&client, "{\"type\":\"execute\",\"id\":14,\"pool\":%lld,\"code\":\"%s\"}",
        member(&client, "pool"), code);
    expect(&client, "\"id\":14,\"result\":{\"ok\":true,\"value\":\"198.18.\"");
    client_close(&client);
    server_end();
}

static const struct unit_test tests[] = {
    UNIT(sessions_have_network_lists),
    {0},
};

int main(void)
{
    return server_test("serve_network", tests);
}
