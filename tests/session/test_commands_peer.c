/* SPDX-License-Identifier: MIT */
/* test_commands_peer.c - what may come by the channel of commands, whoever is at its other end: it
 * is held to the protocol as the agent is, its calls are the execution's, and its answers are its
 * own.
 *
 * The agent is the mock of tests/mock/agent.c, which has the channel itself. */
#include "live.h"

#include "session/session.h"

#include <semaphore.h>
#include <string.h>

#define CALL(id, tool, args)                                                                       \
    "send {\"type\":\"tool_call\",\"id\":" #id ",\"tool\":\"" tool "\",\"args\":" args "}\n"
#define RESULT(value) "{\"type\":\"result\",\"id\":$id,\"value\":" value "}"
#define BROKE         "The sandbox broke the protocol: "

struct row {
    const char *code;
    enum laz_verdict verdict;
    const char *part; /* of the error or of the value */
};

/* A tool that answers at the end of the test. */
static sem_t end;

static void first(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len;
    sem_wait(&end);
    sem_post(&end);
    laz_reply_value(reply, "1", 1);
}

static struct laz_session *opened(void)
{
    struct laz_engine *engine = test_engine("pool.warm=cold");
    const struct laz_tool tool = {.size = sizeof tool, .name = "first"};

    sem_init(&end, 0, 0);
    CU_ASSERT_EQUAL(laz_engine_add_tool(engine, &tool, first, NULL, NULL), 0);
    return test_session(engine, "lua");
}

static void closed(struct laz_session *session)
{
    struct laz_engine *engine = test_engine_of(session);

    sem_post(&end);
    laz_session_free(session);
    laz_engine_free(engine);
}

static void it_is_held_to_the_protocol(void)
{
    static const struct row rows[] = {
        {"swap\nsend {\"type\":\"tool_call\",\"id\":5,\"tool\":\"nosuch\"}\nrecv\nswap\nok "
         "$last",
         LAZ_VERDICT_OK, "{\"id\":5,\"error\":\"Unknown tool: nosuch\",\"kind\":\"unknown\"}"},
        {"swap\nsend {\"type\":\"tool_call\",\"id\":5,\"tool\":\"add\",\"args\":{\"a\":1,\"b\":"
         "2}}\nrecv\nswap\nok $last",
         LAZ_VERDICT_OK, "{\"id\":5,\"value\":3}"},
        {"swap\nsend {\"type\":\"tool_call\",\"id\":5,\"tool\":\"add\",\"args\":{\"a\":1}}\n"
         "recv\nswap\nok $last",
         LAZ_VERDICT_OK,
         "{\"id\":5,\"error\":\"Tool 'add': argument 'b' is missing\",\"kind\":\"arguments\"}"},
        /* the same id on both channels */
        {"swap\nsend {\"type\":\"tool_call\",\"id\":5,\"tool\":\"first\"}\nswap\n" CALL(
             5, "add", "{\"a\":1,\"b\":1}") "recv\nok $last",
         LAZ_VERDICT_OK, "{\"id\":5,\"value\":2}"},
        {"swap\nsend nonsense\nswap\nrecv", LAZ_VERDICT_PROTOCOL_ERROR, BROKE "not valid JSON"},
        {"swap\nsend {\"type\":\"tool_call\",\"tool\":\"add\"}\nswap\nrecv",
         LAZ_VERDICT_PROTOCOL_ERROR, BROKE "a call of a command has no id"},
        {"swap\nsend " RESULT("1") "\nswap\nrecv", LAZ_VERDICT_PROTOCOL_ERROR,
         BROKE "message 'result' is not allowed now"},
        {"swap\nfill 3000000\nswap\nrecv", LAZ_VERDICT_PROTOCOL_ERROR,
         BROKE "a message of a command is larger than max_message_size"},
        {"swap\ntimes 129 {\"type\":\"tool_call\",\"id\":$i,\"tool\":\"first\"}\nswap\nrecv",
         LAZ_VERDICT_PROTOCOL_ERROR, BROKE "too many tool calls are open at once"},
    };
    struct laz_session *session = opened();

    for (size_t i = 0; session && i < sizeof rows / sizeof *rows; i++) {
        const int64_t pid = laz_session_pid(session);
        if (rows[i].verdict == LAZ_VERDICT_OK)
            test_expect(session, rows[i].code, LAZ_VERDICT_OK, rows[i].part);
        else
            test_expect_error(session, rows[i].code, rows[i].verdict, rows[i].part);
        test_expect(session, "ok 42", LAZ_VERDICT_OK, "42");
        CU_ASSERT_EQUAL(laz_session_pid(session) == pid, rows[i].verdict == LAZ_VERDICT_OK);
    }
    if (session)
        closed(session);
}

static void what_comes_while_nothing_is_executed_is_refused(void)
{
    struct laz_session *session = opened();

    if (!session)
        return;
    test_expect(session,
                "ok 1\nswap\nsend {\"type\":\"tool_call\",\"id\":9,\"tool\":\"add\"}\nswap",
                LAZ_VERDICT_OK, "1");
    while (!session->idle_calls)
        CU_ASSERT_EQUAL_FATAL(laz_engine_step(test_engine_of(session), UNIT_HANG_MS, NULL), 0);
    test_expect(
        session, "swap\nrecv\nswap\nok $last", LAZ_VERDICT_OK,
        "{\"id\":9,\"error\":\"no code is executed: tools can be called during an execution "
        "only\",\"kind\":\"refused\"}");
    closed(session);
}

/* So many are refused; the rest waits for the next execution, and then is refused or is its own. */
static void a_flood_while_nothing_is_executed_costs_little(void)
{
    struct laz_session *session = opened();

    if (!session)
        return;
    test_expect(session,
                "ok 1\nswap\ntimes 3000 {\"type\":\"tool_call\",\"id\":$i,\"tool\":\"add\"}\nswap",
                LAZ_VERDICT_OK, "1");
    while (!session->box->commands.is_paused)
        CU_ASSERT_EQUAL_FATAL(laz_engine_step(test_engine_of(session), UNIT_HANG_MS, NULL), 0);
    CU_ASSERT_EQUAL(session->idle_calls, 1000);
    test_expect(session, "ok 2", LAZ_VERDICT_OK, "2");
    closed(session);
}

static const struct unit_test tests[] = {
    UNIT(it_is_held_to_the_protocol),
    UNIT(what_comes_while_nothing_is_executed_is_refused),
    UNIT(a_flood_while_nothing_is_executed_costs_little),
    {0},
};

int main(void)
{
    test_mock_agent();
    return unit_run("commands_peer", tests);
}
