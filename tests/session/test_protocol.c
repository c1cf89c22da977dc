/* SPDX-License-Identifier: MIT */
/* test_protocol.c - a hostile agent in a running session: the verdict and its message are right,
 * the session is usable afterwards, and nothing is left behind.
 *
 * The agent is the mock of tests/mock/agent.c, in a real box: the code of an execution is a script
 * of what it sends. After a protocol error the next execution has a fresh box; after a legal
 * exchange it has the same one. The clock of the engine is held, and tools answer when the test
 * lets them. */
#include "live.h"
#include "traces.h"

#include "base/buf.h"
#include "session/session.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CALL(id, tool, args)                                                                       \
    "send {\"type\":\"tool_call\",\"id\":" #id ",\"tool\":\"" tool "\",\"args\":" args "}\n"
#define RESULT(value) "{\"type\":\"result\",\"id\":$id,\"value\":" value "}"
#define BROKE         "The sandbox broke the protocol: "

struct row {
    const char *code;
    enum laz_verdict verdict;
    const char *part; /* of the error or of the value */
};

/* ---- tools that answer when they may -------------------------------------------------------- */

/* Calls of the test's tools wait here. */
static struct gate {
    const char *tool;
    unsigned open;  /* calls that may answer */
    bool wide;      /* all calls may answer */
    unsigned calls; /* waiting calls */
    unsigned answered;
} gates[] = {{.tool = "first"}, {.tool = "second"}};
static pthread_mutex_t gate_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_moved = PTHREAD_COND_INITIALIZER;

static void gate_call(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    struct gate *gate = user;

    (void)args, (void)len;
    pthread_mutex_lock(&gate_lock);
    gate->calls++;
    while (!gate->open && !gate->wide)
        pthread_cond_wait(&gate_moved, &gate_lock);
    gate->open -= gate->open > 0;
    gate->calls--;
    pthread_mutex_unlock(&gate_lock);
    laz_reply_value(reply, "\"late\"", 6);
    pthread_mutex_lock(&gate_lock);
    gate->answered++;
    pthread_cond_broadcast(&gate_moved);
    pthread_mutex_unlock(&gate_lock);
}

/* Lets one call answer. */
static void gate_open(struct gate *gate)
{
    pthread_mutex_lock(&gate_lock);
    unsigned answered = gate->answered;
    gate->open++;
    pthread_cond_broadcast(&gate_moved);
    while (gate->answered == answered)
        pthread_cond_wait(&gate_moved, &gate_lock);
    pthread_mutex_unlock(&gate_lock);
}

/* Lets all calls answer, later ones too, until it is closed again. */
static void gate_set(struct gate *gate, bool wide)
{
    pthread_mutex_lock(&gate_lock);
    gate->wide = wide;
    pthread_cond_broadcast(&gate_moved);
    pthread_mutex_unlock(&gate_lock);
}

/* Waits until no call is waiting. */
static void gates_are_empty(void)
{
    pthread_mutex_lock(&gate_lock);
    while (gates[0].calls || gates[1].calls)
        pthread_cond_wait(&gate_moved, &gate_lock);
    pthread_mutex_unlock(&gate_lock);
}

static void gate_line(void *user, int stream, const char *text, size_t len)
{
    (void)user, (void)stream, (void)text, (void)len;
    gate_set(&gates[0], true);
}

/* ---- sessions ------------------------------------------------------------------------------- */

/* Runs `body` with an engine and a session; nothing of them may be left afterwards. */
static void with_session(const char *settings, void (*body)(struct laz_session *))
{
    int descriptors = trace_descriptors(), threads = trace_threads();
    struct laz_engine *engine = test_engine(settings);
    char directory[300];

    if (!engine)
        return;
    test_hold_clock(engine);
    for (size_t i = 0; i < 2; i++) {
        const struct laz_tool tool = {
            .size = sizeof tool, .name = gates[i].tool, .description = "Answers when it may"};
        CU_ASSERT_EQUAL(laz_engine_add_tool(engine, &tool, gate_call, &gates[i], NULL), 0);
        gate_set(&gates[i], false);
    }
    struct laz_session *session = test_session(engine, "lua");
    trace_directory(directory, sizeof directory);
    if (session)
        body(session);
    for (size_t i = 0; i < 2; i++)
        gate_set(&gates[i], true);
    laz_session_free(session);
    laz_engine_free(engine);
    CU_ASSERT_NOT_EQUAL(access(directory, F_OK), 0);
    CU_ASSERT_EQUAL(trace_children(), 0);
    CU_ASSERT_EQUAL(trace_threads(), threads);
    CU_ASSERT_EQUAL(trace_descriptors(), descriptors);
}

/* Runs the row, in which the first tool answers when the agent prints a line; then a good
 * execution, in another box unless the row was legal. */
static void check_row(struct laz_session *session, const struct row *row)
{
    const struct laz_execute_options options = {.size = sizeof options, .line = gate_line};
    int64_t pid = laz_session_pid(session);

    if (row->verdict == LAZ_VERDICT_OK)
        test_expect_with(session, row->code, &options, LAZ_VERDICT_OK, row->part);
    else
        test_expect_error_with(session, row->code, &options, row->verdict, row->part);
    gate_set(&gates[0], true); /* calls that are still open */
    gates_are_empty();
    gate_set(&gates[0], false);
    test_expect(session, "ok 42", LAZ_VERDICT_OK, "42");
    bool same = laz_session_pid(session) == pid;
    bool expected = row->verdict == LAZ_VERDICT_OK || row->verdict == LAZ_VERDICT_ERROR;
    if (same != expected)
        printf("\n    %.60s\n    the box was %s", row->code, same ? "kept" : "replaced");
    CU_ASSERT_EQUAL(same, expected);
}

#define CHECK_ROWS(session, rows)                                                                  \
    for (size_t row_at = 0; row_at < sizeof(rows) / sizeof *(rows); row_at++)                      \
    check_row(session, &(rows)[row_at])

/* ---- messages ------------------------------------------------------------------------------- */

static void body_of_malformed_messages(struct laz_session *session)
{
    static const struct row rows[] = {
        {"send {\"type\":\"dance\"}", LAZ_VERDICT_PROTOCOL_ERROR, BROKE "unknown message 'dance'"},
        {"send {\"type\":\"execute\",\"id\":$id,\"code\":\"1\"}", LAZ_VERDICT_PROTOCOL_ERROR,
         BROKE "unknown message 'execute'"},
        {"send {\"type\":\"ready\",\"protocol\":1}", LAZ_VERDICT_PROTOCOL_ERROR,
         BROKE "message 'ready' is not allowed now"},
        {"raw {\"type\":\"\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac"
         "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac"
         "\xe2\x82\xac\xe2\x82\xac\"}\\n",
         LAZ_VERDICT_PROTOCOL_ERROR, BROKE "unknown message '"},
        {"send {\"type\":7}", LAZ_VERDICT_PROTOCOL_ERROR, "a message has no type"},
        {"send {}", LAZ_VERDICT_PROTOCOL_ERROR, "a message has no type"},
        {"send []", LAZ_VERDICT_PROTOCOL_ERROR, "a message has no type"},
        {"send hello", LAZ_VERDICT_PROTOCOL_ERROR, BROKE "not valid JSON"},
        {"send {\"type\":\"result\"", LAZ_VERDICT_PROTOCOL_ERROR, "not valid JSON"},
        {"raw \\n", LAZ_VERDICT_PROTOCOL_ERROR, "not valid JSON"},     /* an empty line */
        {"raw  \\r\\n", LAZ_VERDICT_PROTOCOL_ERROR, "not valid JSON"}, /* a blank one */
        {"raw \\x00\\x01\\xff\\n", LAZ_VERDICT_PROTOCOL_ERROR, "not valid JSON"},
        {"send " RESULT("1") " " RESULT("2"), LAZ_VERDICT_PROTOCOL_ERROR, "not valid JSON"},
        {"send " RESULT("1,\"value\":2"), LAZ_VERDICT_PROTOCOL_ERROR, "a key is repeated"},
        {"send " RESULT("1,\"v\\u0061lue\":2"), LAZ_VERDICT_PROTOCOL_ERROR, "a key is repeated"},
        {"send " RESULT("{\"a\":{\"b\":1,\"b\":2}}"), LAZ_VERDICT_PROTOCOL_ERROR,
         "a key is repeated"},
        {"raw {\"type\":\"result\",\"id\":$id,\"value\":\"\\xff\"}\\n", LAZ_VERDICT_PROTOCOL_ERROR,
         "a string is not valid UTF-8"},
        {"raw {\"type\":\"result\",\"id\":$id,\"value\":\"\\xed\\xa0\\x80\"}\\n",
         LAZ_VERDICT_PROTOCOL_ERROR, "a string is not valid UTF-8"},
        {"raw {\"type\":\"result\",\"id\":$id,\"value\":\"\\x00\"}\\n", LAZ_VERDICT_PROTOCOL_ERROR,
         "a string contains a control character"},
        {"send " RESULT("\"\\u0000\""), LAZ_VERDICT_PROTOCOL_ERROR, "a string contains \\u0000"},
        {"send " RESULT("\"\\ud800\""), LAZ_VERDICT_PROTOCOL_ERROR, "an escape sequence"},
        {"send " RESULT("1e999"), LAZ_VERDICT_PROTOCOL_ERROR, "a number is out of range"},
        {"send " RESULT("NaN"), LAZ_VERDICT_PROTOCOL_ERROR, "not valid JSON"},
    };

    CHECK_ROWS(session, rows);
}

static void malformed_messages_end_the_execution(void)
{
    with_session("", body_of_malformed_messages);
}

static void body_of_nesting(struct laz_session *session)
{
    char code[400];

    for (int depth = 62; depth <= 65; depth++) { /* levels of the value; the message adds one */
        struct row row = {code, LAZ_VERDICT_OK, NULL};
        char list[160];
        memset(list, '[', (size_t)depth);
        memset(list + depth, ']', (size_t)depth);
        list[2 * depth] = '\0';
        snprintf(code, sizeof code, "ok %s", list);
        row.part = list;
        if (depth > 63) {
            row.verdict = LAZ_VERDICT_PROTOCOL_ERROR;
            row.part = "nested deeper than 64 levels";
        }
        check_row(session, &row);
    }
}

static void nesting_ends_at_64_levels(void)
{
    with_session("", body_of_nesting);
}

static void body_of_outcomes(struct laz_session *session)
{
    static const struct row rows[] = {
        {"send {\"type\":\"result\",\"id\":$next,\"value\":1}", LAZ_VERDICT_PROTOCOL_ERROR,
         BROKE "the id of the outcome is not that of the execution"},
        {"send {\"type\":\"result\",\"id\":0,\"value\":1}", LAZ_VERDICT_PROTOCOL_ERROR,
         "the id of the outcome is not that of the execution"},
        {"send {\"type\":\"result\",\"value\":1}", LAZ_VERDICT_PROTOCOL_ERROR,
         "the id of the outcome is not that of the execution"},
        {"send {\"type\":\"result\",\"id\":\"$id\",\"value\":1}", LAZ_VERDICT_PROTOCOL_ERROR,
         "the id of a message is not an integer"},
        {"send {\"type\":\"result\",\"id\":$id.5,\"value\":1}", LAZ_VERDICT_PROTOCOL_ERROR,
         "the id of a message is not an integer"},
        {"send {\"type\":\"result\",\"id\":$id,\"value\":1,\"text\":5}", LAZ_VERDICT_PROTOCOL_ERROR,
         "'text' of a message has the wrong type"},
        {"send {\"type\":\"error\",\"id\":$next,\"kind\":\"runtime\"}", LAZ_VERDICT_PROTOCOL_ERROR,
         "the id of the outcome is not that of the execution"},
        {"send {\"type\":\"error\",\"id\":$id}", LAZ_VERDICT_PROTOCOL_ERROR,
         "message 'error' lacks 'kind'"},
        {"send {\"type\":\"error\",\"id\":$id,\"kind\":\"lie\",\"message\":\"all is well\"}",
         LAZ_VERDICT_PROTOCOL_ERROR, BROKE "unknown kind of error"},
        {"send {\"type\":\"error\",\"id\":$id,\"kind\":\"setup\",\"message\":\"x\"}",
         LAZ_VERDICT_PROTOCOL_ERROR, "unknown kind of error"},
        {"send {\"type\":\"error\",\"id\":$id,\"kind\":\"runtime\",\"message\":\"my fault\"}",
         LAZ_VERDICT_ERROR, "my fault"},
        {"send {\"type\":\"error\",\"id\":$id,\"kind\":\"runtime\",\"traceback\":[1]}",
         LAZ_VERDICT_PROTOCOL_ERROR, "'traceback' of a message has the wrong type"},
        {"send {\"type\":\"result\",\"id\":$id}", LAZ_VERDICT_OK, "null"},
        {"send {\"type\":\"result\",\"id\":$id,\"value\":5,\"Value\":6,\"extra\":[{}]}",
         LAZ_VERDICT_OK, "5"},
        {"raw {\"type\":\"result\",\"id\":$id,\"value\":5}\\r\\n", LAZ_VERDICT_OK, "5"}, /* CRLF */
        {"raw  \\t" RESULT("5") " \\n", LAZ_VERDICT_OK, "5"},
    };

    CHECK_ROWS(session, rows);
}

static void an_outcome_answers_its_execution_and_no_other(void)
{
    with_session("", body_of_outcomes);
}

/* The agent's text in an unknown error is not repeated as a message of the host. */
static void body_of_unknown_kind(struct laz_session *session)
{
    struct laz_result *result = test_run(
        session, "send {\"type\":\"error\",\"id\":$id,\"kind\":\"lie\",\"message\":\"me\"}", NULL);

    if (!result)
        return;
    const char *json = laz_result_json(result);
    CU_ASSERT(strstr(json, "\"kind\":\"protocol_error\"") != NULL);
    CU_ASSERT(strstr(json, "\"lie\"") == NULL);
    laz_result_free(result);
}

static void an_unknown_kind_of_error_is_not_passed_on(void)
{
    with_session("", body_of_unknown_kind);
}

/* ---- tools ---------------------------------------------------------------------------------- */

static void body_of_tools(struct laz_session *session)
{
    static const struct row rows[] = {
        {CALL(7, "add", "{\"a\":2,\"b\":3}") "recv\nok $last", LAZ_VERDICT_OK,
         "{\"id\":7,\"value\":5}"},
        {"send {\"type\":\"tool_call\",\"tool\":\"add\",\"args\":{\"a\":2,\"b\":3}}\n"
         "recv\nok $last",
         LAZ_VERDICT_OK, "{\"value\":5}"},
        {CALL(9007199254740992, "nothing", "null") "recv\nok $last", LAZ_VERDICT_OK,
         "{\"id\":9007199254740992,\"value\":null}"},
        {CALL(-1, "nothing", "{}") "recv\nok $last", LAZ_VERDICT_OK, "{\"id\":-1,\"value\":null}"},
        {"send {\"type\":\"tool_call\",\"id\":1,\"tool\":\"nothing\"}\nrecv\nok $last",
         LAZ_VERDICT_OK, "{\"id\":1,\"value\":null}"},
        {CALL(1, "x; system('id')", "{}") "recv\nok $last", LAZ_VERDICT_OK,
         "{\"id\":1,\"error\":\"Unknown tool: <invalid>\"}"},
        {CALL(2, "12 bad", "{}") "recv\nok $last", LAZ_VERDICT_OK,
         "{\"id\":2,\"error\":\"Unknown tool: <invalid>\"}"},
        {CALL(3, "../../etc/passwd", "{}") "recv\nok $last", LAZ_VERDICT_OK,
         "{\"id\":3,\"error\":\"Unknown tool: <invalid>\"}"},
        {CALL(4, "", "{}") "recv\nok $last", LAZ_VERDICT_OK,
         "{\"id\":4,\"error\":\"Unknown tool: <invalid>\"}"},
        {CALL(4, "add\\u000a", "{}") "recv\nok $last", LAZ_VERDICT_OK,
         "{\"id\":4,\"error\":\"Unknown tool: <invalid>\"}"},
        {CALL(5, "Add", "{}") "recv\nok $last", LAZ_VERDICT_OK,
         "{\"id\":5,\"error\":\"Unknown tool: Add\"}"},
        {CALL(6, "never.registered", "{}") "recv\nok $last", LAZ_VERDICT_OK,
         "{\"id\":6,\"error\":\"Unknown tool: never.registered\"}"},
        {CALL(1, "add", "[1,2]"), LAZ_VERDICT_PROTOCOL_ERROR,
         BROKE "'args' of a tool call is neither object nor null"},
        {CALL(1, "add", "5"), LAZ_VERDICT_PROTOCOL_ERROR, "neither object nor null"},
        {"send {\"type\":\"tool_call\",\"id\":1,\"tool\":[\"add\"],\"args\":{}}",
         LAZ_VERDICT_PROTOCOL_ERROR, "'tool' of a message has the wrong type"},
        {"send {\"type\":\"tool_call\",\"id\":1,\"args\":{}}", LAZ_VERDICT_PROTOCOL_ERROR,
         "message 'tool_call' lacks 'tool'"},
        {"send {\"type\":\"tool_call\",\"id\":{},\"tool\":\"add\"}", LAZ_VERDICT_PROTOCOL_ERROR,
         "the id of a message is not an integer"},
    };

    CHECK_ROWS(session, rows);
}

static void tool_calls_are_answered_or_refused_by_the_host(void)
{
    with_session("", body_of_tools);
}

/* Part of the answer that the agent gets for these arguments of add(a, b). */
static void expect_refused(struct laz_session *session, const char *args, const char *part)
{
    char *code = laz_strdupf("send {\"type\":\"tool_call\",\"id\":1,\"tool\":\"add\",\"args\":%s}\n"
                             "recv\nok $last",
                             args);
    struct laz_result *result = test_run(session, code, NULL);

    if (result) {
        const char *value = laz_result_value(result);
        if (strncmp(value, "{\"id\":1,\"error\":", 16) != 0 || !strstr(value, part))
            printf("\n    %s\n    answered: %s\n    lacks: %s", args, value, part);
        CU_ASSERT(strncmp(value, "{\"id\":1,\"error\":", 16) == 0 && strstr(value, part));
    }
    laz_result_free(result);
    free(code);
}

static void body_of_arguments(struct laz_session *session)
{
    expect_refused(session, "{\"a\":1,\"b\":2,\"evil\":3}", "Unexpected arguments for tool 'add'");
    expect_refused(session, "{\"a\":1,\"b\":2,\"evil\":3}", "evil");
    expect_refused(session, "{\"a\":1}", "'b'");
    expect_refused(session, "{}", "'a'");
    expect_refused(session, "null", "'a'");
    expect_refused(session, "{\"a\":\"1\",\"b\":2}", "argument 'a' must be number");
    expect_refused(session, "{\"a\":1,\"b\":[2]}", "argument 'b' must be number");
    expect_refused(session, "{\"a\":1,\"b\":null}", "'b'");
    expect_refused(session, "{\"A\":1,\"b\":2}", "'A'");
}

static void arguments_are_checked_by_the_host(void)
{
    with_session("", body_of_arguments);
}

#define FIRST "send {\"type\":\"tool_call\",\"tool\":\"first\"}\n"

static void body_of_open_calls(struct laz_session *session)
{
    static const struct row rows[] = {
        /* the fast one first, although it came last */
        {CALL(1, "first", "{}") CALL(2, "add", "{\"a\":1,\"b\":1}") "recv\nok $last",
         LAZ_VERDICT_OK, "{\"id\":2,\"value\":2}"},
        {CALL(1, "first", "{}") CALL(2, "add", "{\"a\":1,\"b\":1}") "recv\nprint .\nrecv\nok $last",
         LAZ_VERDICT_OK, "{\"id\":1,\"value\":\"late\"}"},
        /* a repeated id is the agent's own mistake */
        {CALL(3, "first", "{}") CALL(3, "add", "{\"a\":1,\"b\":1}") "recv\nok $last",
         LAZ_VERDICT_OK, "{\"id\":3,\"value\":2}"},
        /* without ids: in order */
        {FIRST "send {\"type\":\"tool_call\",\"tool\":\"nope\"}\n"
               "send {\"type\":\"tool_call\",\"tool\":\"add\",\"args\":{\"a\":1,\"b\":1}}\n"
               "sync\nprint .\nrecv\nok $last",
         LAZ_VERDICT_OK, "{\"value\":\"late\"}"},
        {FIRST "send {\"type\":\"tool_call\",\"tool\":\"nope\"}\n"
               "send {\"type\":\"tool_call\",\"tool\":\"add\",\"args\":{\"a\":1,\"b\":1}}\n"
               "sync\nprint .\nrecv\nrecv\nok $last",
         LAZ_VERDICT_OK, "{\"error\":\"Unknown tool: nope\"}"},
        {FIRST "send {\"type\":\"tool_call\",\"tool\":\"nope\"}\n"
               "send {\"type\":\"tool_call\",\"tool\":\"add\",\"args\":{\"a\":1,\"b\":1}}\n"
               "sync\nprint .\nrecv\nrecv\nrecv\nok $last",
         LAZ_VERDICT_OK, "{\"value\":2}"},
        /* a call with an id may overtake those without */
        {FIRST "send {\"type\":\"tool_call\",\"tool\":\"nothing\"}\n" CALL(
             5, "add", "{\"a\":1,\"b\":1}") "recv\nok $last",
         LAZ_VERDICT_OK, "{\"id\":5,\"value\":2}"},
    };

    CHECK_ROWS(session, rows);
}

static void open_calls_are_answered_as_they_end(void)
{
    with_session("", body_of_open_calls);
}

static void late_line(void *user, int stream, const char *text, size_t len)
{
    (void)user, (void)stream, (void)text, (void)len;
    gate_open(&gates[0]);
    gate_set(&gates[1], true);
}

/* The first execution leaves a call open; its answer comes while the second one runs, and before
 * that one's own. */
static void body_of_late_answers(struct laz_session *session)
{
    const struct laz_execute_options options = {.size = sizeof options, .line = late_line};
    int64_t pid = laz_session_pid(session);

    test_expect(session, CALL(7, "first", "{}") "ok 1", LAZ_VERDICT_OK, "1");
    test_expect_with(session, CALL(8, "second", "{}") "print .\nrecv\nok $last", &options,
                     LAZ_VERDICT_OK, "{\"id\":8,\"value\":\"late\"}");
    gate_set(&gates[0], true);
    test_expect(session, FIRST FIRST "ok 2", LAZ_VERDICT_OK, "2");
    test_expect(session, CALL(9, "second", "{}") "recv\nok $last", LAZ_VERDICT_OK,
                "{\"id\":9,\"value\":\"late\"}");
    CU_ASSERT_EQUAL(laz_session_pid(session), pid);
}

static void late_answers_are_nobodys(void)
{
    with_session("", body_of_late_answers);
}

/* ---- lines ---------------------------------------------------------------------------------- */

static void body_of_sizes(struct laz_session *session)
{
    static const struct {
        unsigned bytes;
        enum laz_verdict verdict;
    } rows[] = {{1048575, LAZ_VERDICT_OK},
                {1048576, LAZ_VERDICT_OK},
                {1048577, LAZ_VERDICT_PROTOCOL_ERROR}};
    char code[200];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct row row = {code, rows[i].verdict, NULL};
        snprintf(code, sizeof code,
                 "pad %u {\"type\":\"result\",\"id\":$id,\"value\":1,\"x\":\"#\"}", rows[i].bytes);
        row.part = row.verdict == LAZ_VERDICT_OK ? "1"
                                                 : BROKE
                       "a message is larger than max_message_size (1048576 bytes)";
        check_row(session, &row);
    }
}

static void a_line_has_at_most_max_message_size(void)
{
    with_session("", body_of_sizes);
}

static void body_of_endless_line(struct laz_session *session)
{
    const struct row row = {"fill 1073741824", LAZ_VERDICT_PROTOCOL_ERROR,
                            "a message is larger than max_message_size (1048576 bytes)"};

    trace_peak_reset();
    long before = trace_peak_kib();
    check_row(session, &row);
    long grown = trace_peak_kib() - before;
#ifndef LAZ_SANITIZE /* the sanitizer keeps freed memory in quarantine */
    CU_ASSERT(grown < 16 * 1024);
#endif
    printf("%ld KiB ", grown);
}

static void a_line_without_end_costs_little_memory(void)
{
    with_session("", body_of_endless_line);
}

static void body_of_cuts(struct laz_session *session)
{
    static const char message[] = "{\"type\":\"tool_call\",\"id\":1,\"tool\":\"add\","
                                  "\"args\":{\"a\":1,\"b\":2}}";
    char code[300];

    for (size_t cut = 0; cut <= sizeof message; cut++) {
        snprintf(code, sizeof code, "cut %zu %s\nrecv\nok $last", cut, message);
        test_expect(session, code, LAZ_VERDICT_OK, "{\"id\":1,\"value\":3}");
    }
    static const struct row rows[] = {
        /* two in one write */
        {"raw {\"type\":\"tool_call\",\"tool\":\"add\",\"args\":{\"a\":1,\"b\":2}}\\n"
         "{\"type\":\"tool_call\",\"tool\":\"add\",\"args\":{\"a\":3,\"b\":4}}\\n\n"
         "recv\nrecv\nok $last",
         LAZ_VERDICT_OK, "{\"value\":7}"},
        {"raw {\"type\":\"tool_call\",\"tool\":\"add\",\"args\":{\"a\":1,\"b\":2}}\\n" RESULT(
             "5") "\\n",
         LAZ_VERDICT_OK, "5"},
    };
    CHECK_ROWS(session, rows);
}

static void lines_are_whole_however_they_are_cut(void)
{
    with_session("", body_of_cuts);
}

/* ---- ends that take time -------------------------------------------------------------------- */

static bool printed;

static void printed_line(void *user, int stream, const char *text, size_t len)
{
    (void)user, (void)stream, (void)text, (void)len;
    printed = true;
}

static bool has_printed(const struct laz_box *box)
{
    (void)box;
    return printed;
}

static bool has_hung_up(const struct laz_box *box)
{
    return laz_box_has_hung_up(box);
}

static bool has_begun_a_line(const struct laz_box *box)
{
    return laz_frame_partial(&box->in);
}

static void ending_told(void *user, struct laz_result *result, const struct laz_error *err)
{
    (void)err;
    *(struct laz_result **)user = result;
}

/* Moves the clock when the box has reached its state; the next execution has another box. */
static void ends_late(struct laz_session *session, const char *code,
                      bool (*reached)(const struct laz_box *box), uint64_t ms,
                      enum laz_verdict verdict, const char *part)
{
    const struct laz_execute_options options = {.size = sizeof options,
                                                .timeout_ms =
                                                    verdict == LAZ_VERDICT_TIMEOUT ? ms : ms + 1,
                                                .line = printed_line};
    struct laz_engine *engine = test_engine_of(session);
    struct laz_result *result = NULL;
    int64_t pid = laz_session_pid(session);
    bool moved = false;

    printed = false;
    CU_ASSERT_EQUAL_FATAL(
        laz_session_execute_async(session, code, SIZE_MAX, &options, ending_told, &result, NULL),
        0);
    while (!result) {
        CU_ASSERT_EQUAL_FATAL(laz_engine_step(engine, -1, NULL), 0);
        if (result || moved || !session->box || !reached(session->box))
            continue;
        test_advance_clock(engine, ms);
        moved = true;
    }
    CU_ASSERT_TRUE(moved);
    CU_ASSERT_EQUAL(laz_result_verdict(result), verdict);
    const char *error = laz_result_error(result);
    if (!error || !strstr(error, part))
        printf("\n    %.60s\n    error: %s", code, error ? error : "(none)");
    CU_ASSERT(error && strstr(error, part));
    laz_result_free(result);
    test_expect(session, "ok 42", LAZ_VERDICT_OK, "42");
    CU_ASSERT_NOT_EQUAL(laz_session_pid(session), pid);
}

static void body_of_silence(struct laz_session *session)
{
    ends_late(session, "raw {\"type\":\"res\nwait", has_begun_a_line, 3000, LAZ_VERDICT_TIMEOUT,
              "Execution timed out after 3 seconds");
    ends_late(session, "print .\nwait", has_printed, 3000, LAZ_VERDICT_TIMEOUT, "timed out");
    ends_late(session, "closeout\nraw {\nwait", has_begun_a_line, 3000, LAZ_VERDICT_TIMEOUT,
              "timed out");
    ends_late(session, "print .\neof", has_printed, 3000, LAZ_VERDICT_TIMEOUT, "timed out");
}

static void silence_ends_by_the_timeout(void)
{
    with_session("", body_of_silence);
}

static void body_of_endings(struct laz_session *session)
{
    static const struct row rows[] = {
        {"die 11", LAZ_VERDICT_CRASHED, "The process was ended by signal 11"},
        {"raw {\"type\":\"res\ndie 11", LAZ_VERDICT_CRASHED, "signal 11"},
    };
    static const char *const codes[] = {"hangup\nwait", "shut\nwait"};

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        ends_late(session, codes[i], has_hung_up, 10000, LAZ_VERDICT_PROTOCOL_ERROR,
                  BROKE "the agent closed its connection and did not end");
    CHECK_ROWS(session, rows);
    test_expect_error(session, "hangup\nexit 5", LAZ_VERDICT_ERROR, "with status 5");
    test_expect_error(session, "exit 5", LAZ_VERDICT_ERROR, "with status 5");
    test_expect(session, "closeout\nok 1", LAZ_VERDICT_OK, "1");
    test_expect(session, "ok 2", LAZ_VERDICT_OK, "2");
}

static void an_agent_that_leaves_is_replaced(void)
{
    with_session("", body_of_endings);
}

/* ---- output --------------------------------------------------------------------------------- */

static void body_of_forged_output(struct laz_session *session)
{
    struct laz_result *result =
        test_run(session, "print " RESULT("666") "\nprint {\"type\":\"dance\"}\nok 1", NULL);

    if (!result)
        return;
    char *out = test_output(result, LAZ_STDOUT);
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_OK);
    UNIT_TEXT(laz_result_value(result), "1");
    CU_ASSERT(out && strstr(out, "\"value\":666}\n{\"type\":\"dance\"}\n") != NULL);
    free(out);
    laz_result_free(result);
}

static void frames_on_standard_output_are_output(void)
{
    with_session("", body_of_forged_output);
}

/* ---- too much ------------------------------------------------------------------------------- */

/* Sizes with which memory is measured; without that, as many as are more than the bounds. */
#ifndef LAZ_SANITIZE
#define FLOOD  "30000"
#define TRADES "150"
#define LARGE  100
#else
#define FLOOD  "11000"
#define TRADES "15"
#define LARGE  40
#endif

static void body_of_floods(struct laz_session *session)
{
    static const char *const codes[] = {
        /* answered at once; answered by a tool; never answered in time */
        "times " FLOOD " {\"type\":\"tool_call\",\"id\":$i,\"tool\":\"nope\"}\nok 1",
        "times " FLOOD " {\"type\":\"tool_call\",\"id\":$i,\"tool\":\"add\","
        "\"args\":{\"a\":1,\"b\":2}}\nok 1",
        "times " FLOOD " {\"type\":\"tool_call\",\"tool\":\"add\","
        "\"args\":{\"a\":1,\"b\":2}}\nok 1",
        "times " FLOOD " {\"type\":\"tool_call\",\"id\":$i,\"tool\":\"first\"}\nok 1",
    };

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        trace_peak_reset();
        long before = trace_peak_kib();
        struct laz_result *result = test_run(session, codes[i], NULL);
        long grown = trace_peak_kib() - before;
        if (!result)
            return;
        enum laz_verdict verdict = laz_result_verdict(result);
        printf("\n    %s, %ld KiB ", laz_verdict_name(verdict), grown);
        CU_ASSERT(verdict == LAZ_VERDICT_OK || verdict == LAZ_VERDICT_PROTOCOL_ERROR);
        CU_ASSERT_EQUAL(i == 0 || i == 3 ? LAZ_VERDICT_PROTOCOL_ERROR : verdict, verdict);
#ifndef LAZ_SANITIZE
        CU_ASSERT(grown < 20 * 1024);
#endif
        laz_result_free(result);
        test_expect(session, "ok 42", LAZ_VERDICT_OK, "42");
    }
}

static void floods_of_calls_are_bounded(void)
{
    with_session("", body_of_floods);
}

static void body_of_unread_answers(struct laz_session *session)
{
    const struct row row = {
        "times 9999 {\"type\":\"tool_call\",\"id\":$i,\"tool\":\"a.name.that.no.tool.has."
        "but.long.enough.to.make.its.refusal.a.long.line.that.fills.what.may.be.unread\"}\nwait",
        LAZ_VERDICT_PROTOCOL_ERROR, BROKE "the answer of a tool cannot be delivered"};

    check_row(session, &row);
}

static void an_agent_that_reads_no_answers_is_ended(void)
{
    with_session("session.max_value_size=131072", body_of_unread_answers);
}

/* Answers that are never read completely: the queue loses one at the front while the next is
 * added. */
static void body_of_slow_reading(struct laz_session *session)
{
    static const char head[] = "{\"type\":\"tool_call\",\"id\":1,\"tool\":\"echo\","
                               "\"args\":{\"x\":\"#\"}}";
    char code[400];

    snprintf(code, sizeof code, "pad 1000000 %s\npad 1000000 %s\ntrade " TRADES " 1000000 %s\nok 1",
             head, head, head);
    trace_peak_reset();
    long before = trace_peak_kib();
    test_expect(session, code, LAZ_VERDICT_OK, "1");
    long grown = trace_peak_kib() - before;
    printf("%ld KiB ", grown);
#ifndef LAZ_SANITIZE
    CU_ASSERT(grown < 48 * 1024);
#endif
}

static void answers_read_slowly_cost_little_memory(void)
{
    with_session("", body_of_slow_reading);
}

/* Calls that wait for a slow tool, each with arguments of the largest size. */
static void body_of_large_calls(struct laz_session *session)
{
    const struct row row = {
        /* an ignored member costs nothing */
        "pad 1000000 {\"type\":\"tool_call\",\"id\":1,\"tool\":\"first\",\"x\":\"#\"}\n"
        "times 3 {\"type\":\"tool_call\",\"id\":1,\"tool\":\"first\"}\n"
        "times 1 {\"type\":\"tool_call\",\"id\":2,\"tool\":\"add\",\"args\":{\"a\":1,\"b\":2}}\n"
        "recv\nok $last",
        LAZ_VERDICT_OK, "{\"id\":2,\"value\":3}"};
    struct laz_buf code = LAZ_BUF_INIT;

    check_row(session, &row);
    for (int i = 0; i < LARGE; i++)
        laz_buf_puts(&code, "pad 1000000 {\"type\":\"tool_call\",\"tool\":\"echo\","
                            "\"args\":{\"x\":\"#\"}}\n");
    laz_buf_puts(&code, "wait");
    char *whole = laz_strdupf(FIRST "%s", laz_buf_text(&code));
    const struct row large = {whole, LAZ_VERDICT_PROTOCOL_ERROR,
                              BROKE "too many tool calls are open at once"};
    trace_peak_reset();
    long before = trace_peak_kib();
    check_row(session, &large);
    long grown = trace_peak_kib() - before;
    printf("%ld KiB ", grown);
#ifndef LAZ_SANITIZE
    CU_ASSERT(grown < 48 * 1024);
#endif
    free(whole);
    laz_buf_fini(&code);
}

static void open_calls_are_bounded_in_bytes(void)
{
    with_session("", body_of_large_calls);
}

static const struct unit_test tests[] = {
    UNIT(malformed_messages_end_the_execution),
    UNIT(nesting_ends_at_64_levels),
    UNIT(an_outcome_answers_its_execution_and_no_other),
    UNIT(an_unknown_kind_of_error_is_not_passed_on),
    UNIT(tool_calls_are_answered_or_refused_by_the_host),
    UNIT(arguments_are_checked_by_the_host),
    UNIT(open_calls_are_answered_as_they_end),
    UNIT(late_answers_are_nobodys),
    UNIT(a_line_has_at_most_max_message_size),
    UNIT(a_line_without_end_costs_little_memory),
    UNIT(lines_are_whole_however_they_are_cut),
    UNIT(silence_ends_by_the_timeout),
    UNIT(an_agent_that_leaves_is_replaced),
    UNIT(frames_on_standard_output_are_output),
    UNIT(floods_of_calls_are_bounded),
    UNIT(an_agent_that_reads_no_answers_is_ended),
    UNIT(answers_read_slowly_cost_little_memory),
    UNIT(open_calls_are_bounded_in_bytes),
    {0},
};

int main(void)
{
    test_mock_agent();
    return unit_run("protocol", tests);
}
