/* SPDX-License-Identifier: MIT */
/* test_mcp.c - what happens in time to a client of `lazaret mcp`: sessions that expire, questions
 * and answers that nobody comes back for. The clock of the engine is held, and moved by the tests
 * only while no session starts. */
#include "unit.h"

#include "base/json.h"
#include "engine/engine.h"
#include "mcp/mcp_private.h"
#include "os/directories.h"
#include "os/sockets.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MODERN "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\""
#define META                                                                                       \
    "\"_meta\":{" MODERN ",\"io.modelcontextprotocol/clientCapabilities\":{\"elicitation\":{}}}"

static struct laz_mcp *mcp;
static pthread_t thread;
static int ends[2] = {-1, -1}; /* of the test, of the server */
static FILE *from;
static char *line;
static size_t line_cap;

static void *runs(void *user)
{
    struct laz_error err = {0};

    (void)user;
    CU_ASSERT_EQUAL(laz_mcp_run(mcp, &err), 0);
    return NULL;
}

static void erase(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len;
    laz_reply_value(reply, "\"erased\"", 8);
}

/* A server with these settings ("a=1;b=2") beyond the usual ones, and its client; or one that
 * listens at a path. False: this lazaret was built without that. */
static bool begin_at(const char *path, const char *more)
{
    const struct laz_tool tool = {.size = sizeof tool, .name = "erase", .approve = 1};
    struct laz_settings *settings = NULL;
    struct laz_error err = {0};
    char text[500];

    snprintf(
        text, sizeof text,
        "sandbox.backend=none;sandbox.require=[];session.runtime=lua;pool.warm=cold;"
        "session.start_timeout=600;session.timeout=0;session.deadline=0;mcp.structured=true;%s",
        more);
    CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    CU_ASSERT_EQUAL_FATAL(laz_settings_new(&settings, &err), 0);
    for (char *rest = text, *pair; (pair = strtok_r(rest, ";", &rest)) != NULL;) {
        char *equals = strchr(pair, '=');
        *equals = '\0';
        CU_ASSERT_EQUAL(laz_settings_set(settings, pair, equals + 1, &err), 0);
    }
    const int descriptors[2] = {ends[1], ends[1]};
    const struct laz_mcp_options options = {
        .settings = settings, .descriptors = descriptors, .listen = path};
    if (laz_mcp_new(&options, &mcp, &err) != 0)
        printf("    %s\n", err.text);
    laz_settings_free(settings);
    if (path && err.code == LAZ_EREFUSED) {
        close(ends[0]);
        close(ends[1]);
        return false;
    }
    CU_ASSERT_PTR_NOT_NULL_FATAL(mcp);
    CU_ASSERT_EQUAL(laz_engine_add_tool(mcp->engine, &tool, erase, NULL, NULL), 0);
    laz_loop_hold_clock(mcp->loop);
    from = fdopen(dup(ends[0]), "r");
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, runs, NULL), 0);
    return true;
}

static void begin(const char *more)
{
    (void)begin_at(NULL, more);
}

static void end(void)
{
    shutdown(ends[0], SHUT_WR);
    if (mcp->http)
        laz_mcp_stop(mcp);
    pthread_join(thread, NULL);
    laz_mcp_free(mcp);
    mcp = NULL;
    fclose(from);
    close(ends[0]);
    close(ends[1]);
}

/* ---- in the thread of the loop -----------------------------------------------------------------
 */

struct visit {
    struct laz_post post;
    uint64_t ms; /* by which the clock is moved */
    size_t sessions, requests, ended;
    sem_t done;
};

static void visit_runs(struct laz_post *post)
{
    struct visit *visit = (struct visit *)(void *)post;

    if (visit->ms)
        laz_loop_advance_clock(mcp->loop, visit->ms);
    visit->sessions = mcp->n_sessions;
    visit->requests = mcp->n_requests;
    for (const struct mcp_request *one = mcp->requests; one; one = one->next)
        visit->ended += one->is_over;
    sem_post(&visit->done);
}

/* Moves the clock, and says what is open. */
static struct visit visit_loop(uint64_t ms)
{
    struct visit visit = {.post.run = visit_runs, .ms = ms};

    sem_init(&visit.done, 0, 0);
    laz_loop_post(mcp->loop, &visit.post);
    while (sem_wait(&visit.done) != 0)
        ;
    sem_destroy(&visit.done);
    return visit;
}

/* ---- the client --------------------------------------------------------------------------------
 */

static void say(const char *format, ...)
{
    char text[2000];
    va_list args;

    va_start(args, format);
    int len = vsnprintf(text, sizeof text - 1, format, args);
    va_end(args);
    CU_ASSERT_FATAL(len > 0 && (size_t)len < sizeof text - 1);
    text[len] = '\n';
    CU_ASSERT_EQUAL_FATAL(send(ends[0], text, (size_t)len + 1, MSG_NOSIGNAL), len + 1);
}

/* The next message has this part. */
static void hear(const char *part)
{
    const ssize_t n = getline(&line, &line_cap, from);
    const bool is_right = n > 0 && strstr(line, part);

    if (!is_right)
        printf("\n    expected %s\n    actual: %.600s\n", part, n > 0 ? line : "the end");
    CU_ASSERT_FATAL(is_right); /* what follows would wait for ever */
}

static void call(int id, const char *tool, const char *arguments, const char *more)
{
    say("{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\","
        "\"arguments\":{%s}%s," META "}}",
        id, tool, arguments, more);
}

/* A member of the last message, a text, wherever it is. */
static const char *member(const char *name)
{
    static char value[100];
    const char *at = strstr(line, name);

    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    at += strlen(name) + strlen("\":\"");
    snprintf(value, sizeof value, "%.*s", (int)strcspn(at, "\""), at);
    return value;
}

static void wait_for_requests(size_t n)
{
    while (visit_loop(0).requests != n)
        ;
}

static void cancel(int id)
{
    say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
        "cancelled\",\"params\":{\"requestId\":%d}}",
        id);
}

/* ---- sessions ----------------------------------------------------------------------------------
 */

static void a_session_expires_when_nothing_uses_it(void)
{
    char use[200], handle[50];

    begin("mcp.session_timeout=100");
    call(1, "open_session", "", "");
    hear("\"structuredContent\":{\"session\":\"s");
    snprintf(handle, sizeof handle, "%s", member("structuredContent\":{\"session"));
    snprintf(use, sizeof use, "\"code\":\"n = (n or 0) + 1 return n\",\"session\":\"%s\"", handle);
    call(2, "execute", use, "");
    hear("\"value\":1");
    CU_ASSERT_EQUAL(visit_loop(99999).sessions, 1);
    call(3, "execute", use, "");
    hear("\"value\":2");
    (void)visit_loop(99999);
    call(4, "execute", use, "");
    hear("\"value\":3");
    (void)visit_loop(100000);
    call(5, "execute", use, "");
    hear("it has expired because nothing used it for 100 seconds");
    CU_ASSERT_EQUAL(visit_loop(0).sessions, 0);
    call(6, "open_session", "", "");
    hear("\"session\":\"s");
    end();
}

/* That of the connection: what comes next is told, and nothing after it. */
static void one_of_a_connection_expires_and_it_is_told(void)
{
    begin("mcp.session_timeout=100");
    call(1, "execute", "\"code\":\"n = 7 return n\"", "");
    hear("\"value\":7");
    (void)visit_loop(100000);
    while (visit_loop(0).sessions) /* it is looked at between two steps of the loop */
        ;
    call(2, "execute", "\"code\":\"return n == nil\"", "");
    hear("The session had expired: its variables are gone.");
    CU_ASSERT_PTR_NOT_NULL(strstr(line, "\"value\":true"));
    CU_ASSERT_EQUAL(visit_loop(0).sessions, 1);
    call(3, "execute", "\"code\":\"return 1\"", "");
    hear("\"value\":1");
    CU_ASSERT_PTR_NULL(strstr(line, "expired"));
    end();
}

/* A call that waits for an execution with a handle may be given up: the code goes on. */
static void who_waits_no_more_does_not_end_the_code(void)
{
    begin("");
    call(1, "execute", "\"code\":\"n = 0 while true do n = n + 1 end\",\"wait\":5", "");
    wait_for_requests(1);
    (void)visit_loop(5000);
    hear("still running: execution x");
    call(2, "wait", "\"seconds\":5", "");
    call(3, "wait", "\"seconds\":5", "");
    hear("another call waits for this execution");
    cancel(2);
    call(4, "wait", "\"seconds\":5", "");
    call(7, "wait", "\"seconds\":5", ""); /* when this is answered, the other one waits */
    hear("another call waits for this execution");
    (void)visit_loop(5000);
    hear("\"id\":4");
    CU_ASSERT_PTR_NOT_NULL(strstr(line, "still running: execution x"));
    call(5, "wait", "\"seconds\":5", "");
    call(6, "interrupt", "", "");
    hear("interrupted: the call that waits for it gets its result");
    hear("\"verdict\":\"cancelled\"");
    CU_ASSERT_PTR_NOT_NULL(strstr(line, "\"id\":5"));
    CU_ASSERT_EQUAL(visit_loop(0).requests, 0);
    end();
}

/* Without a handle it is what runs now, also for a call that waits for its result. */
static void what_runs_can_be_interrupted(void)
{
    begin("");
    call(1, "execute", "\"code\":\"n = 7 while true do end\"", "");
    wait_for_requests(1);
    call(2, "interrupt", "", "");
    hear("interrupted: the call that waits for it gets its result");
    hear("\"verdict\":\"cancelled\"");
    call(3, "execute", "\"code\":\"return n\"", "");
    hear("\"id\":3");
    call(4, "interrupt", "", "");
    hear("no execution of this connection goes on");
    end();
}

static void one_that_is_used_does_not_expire(void)
{
    char use[200];

    begin("mcp.session_timeout=100");
    call(1, "open_session", "", "");
    hear("\"structuredContent\":{\"session\":\"s");
    snprintf(use, sizeof use, "\"code\":\"return erase()\",\"session\":\"%s\"",
             member("structuredContent\":{\"session"));
    call(2, "execute", use, "");
    hear("\"resultType\":\"input_required\"");
    CU_ASSERT_EQUAL(visit_loop(299999).sessions, 1); /* its question is open */
    char state[200];
    snprintf(
        state, sizeof state,
        ",\"requestState\":\"%s\",\"inputResponses\":{\"%s\":{\"action\":\"accept\",\"content\":"
        "{\"approve\":true}}}",
        member("requestState"), "approval-2");
    call(3, "execute", use, state);
    hear("\"value\":\"erased\"");
    end();
}

static void without_a_timeout_none_expires(void)
{
    char use[200];

    begin("mcp.session_timeout=0");
    call(1, "open_session", "", "");
    hear("\"expires_after\":0");
    snprintf(use, sizeof use, "\"code\":\"1\",\"session\":\"%s\"",
             member("structuredContent\":{\"session"));
    call(2, "execute", use, ""); /* it has started */
    hear("\"value\":1");
    CU_ASSERT_EQUAL(visit_loop((uint64_t)1000 * 86400 * 365).sessions, 1);
    end();
}

/* ---- questions ---------------------------------------------------------------------------------
 */

/* Asks for a call, and lets the question time out; the last message has the state. */
static void let_time_out(int id)
{
    call(id, "execute", "\"fresh\":true,\"code\":\"return erase()\"", "");
    hear("\"resultType\":\"input_required\"");
    (void)visit_loop(10000);
    while (!visit_loop(0).ended)
        ;
}

static void a_result_waits_for_who_was_asked(void)
{
    char state[100];

    begin("session.approval_timeout=10");
    let_time_out(1);
    (void)visit_loop(299000);
    snprintf(state, sizeof state, ",\"requestState\":\"%s\"", member("requestState"));
    call(2, "execute", "\"code\":\"\"", state);
    hear("\"verdict\":\"error\"");
    CU_ASSERT_EQUAL(visit_loop(0).requests, 0);
    call(3, "execute", "\"code\":\"\"", state);
    hear("\"code\":-32602");
    end();
}

static void it_does_not_wait_for_ever(void)
{
    char state[100];

    begin("session.approval_timeout=10");
    let_time_out(1);
    (void)visit_loop(300000);
    snprintf(state, sizeof state, ",\"requestState\":\"%s\"", member("requestState"));
    call(2, "execute", "\"code\":\"\"", state);
    hear("it has expired");
    CU_ASSERT_EQUAL(visit_loop(0).requests, 0);
    CU_ASSERT_EQUAL(visit_loop(0).sessions, 0);
    end();
}

/* The client has been asked; gives the member of the next call that answers yes. */
static void hear_question(char answer[300])
{
    char name[50];

    hear("\"resultType\":\"input_required\"");
    snprintf(name, sizeof name, "%s", strstr(line, "\"approval-") + 1);
    name[strcspn(name, "\"")] = '\0';
    snprintf(
        answer, 300,
        ",\"requestState\":\"%s\",\"inputResponses\":{\"%s\":{\"action\":\"accept\",\"content\":"
        "{\"approve\":true}}}",
        member("requestState"), name);
}

static void the_id_that_was_answered_by_a_question_cancels(void)
{
    char first[300], second[300];

    begin("session.approval_timeout=10");
    call(1, "execute", "\"fresh\":true,\"code\":\"erase() return erase()\"", "");
    hear_question(first);
    cancel(2); /* nobody's */
    call(3, "execute", "\"code\":\"\"", first);
    hear_question(second);
    cancel(1); /* it was answered under another one since */
    call(4, "execute", "\"code\":\"\"", second);
    hear("\"value\":\"erased\"");
    call(5, "execute", "\"fresh\":true,\"code\":\"return erase()\"", "");
    hear_question(first);
    cancel(5);
    wait_for_requests(0);
    CU_ASSERT_EQUAL(visit_loop(0).sessions, 0);
    call(6, "execute", "\"code\":\"\"", first);
    hear("was cancelled");
    let_time_out(7); /* its result waits */
    cancel(7);
    wait_for_requests(0);
    end();
}

static void an_id_that_is_used_again_is_that_of_the_open_request(void)
{
    char answer[300];

    begin("");
    call(1, "execute", "\"fresh\":true,\"code\":\"return erase()\"", "");
    hear_question(answer);
    call(1, "execute", "\"fresh\":true,\"code\":\"while true do end\"", "");
    cancel(1);
    wait_for_requests(1);
    call(2, "execute", "\"code\":\"\"", answer);
    hear("\"value\":\"erased\"");
    end();
}

static void an_execution_waits_five_minutes(void)
{
    char answer[300];

    begin("");
    call(1, "execute", "\"fresh\":true,\"code\":\"return erase()\"", "");
    hear_question(answer);
    CU_ASSERT_EQUAL(visit_loop(299999).requests, 1);
    (void)visit_loop(1);
    wait_for_requests(0);
    CU_ASSERT_EQUAL(visit_loop(0).sessions, 0);
    call(2, "execute", "\"code\":\"\"", answer);
    hear("it has expired");
    end();
}

/* Leaves `n` questions, one in each millisecond, of which so many may wait. */
static void leave_questions(int n, int most)
{
    char answers[20][300];

    for (int i = 0; i < n; i++) {
        call(i + 1, "execute", "\"fresh\":true,\"code\":\"return erase()\"", "");
        hear_question(answers[i]);
        (void)visit_loop(1);
    }
    wait_for_requests((size_t)most);
    CU_ASSERT_EQUAL(visit_loop(0).sessions, (size_t)most);
    for (int i = 0; i < n; i++) {
        call(100 + i, "execute", "\"code\":\"\"", answers[i]);
        hear(i < n - most ? "make room for newer ones" : "\"value\":\"erased\"");
    }
    CU_ASSERT_EQUAL(visit_loop(0).requests, 0);
}

static void the_oldest_of_too_many_that_wait_is_given_up(void)
{
    begin("");
    leave_questions(18, 16);
    end();
    begin("pool.max_sessions=7");
    leave_questions(6, 4);
    end();
    begin("pool.max_sessions=1");
    leave_questions(1, 1);
    end();
}

static void the_end_of_the_server_ends_what_is_held(void)
{
    begin("");
    for (int id = 1; id < 5; id++) {
        call(id, "execute", "\"fresh\":true,\"code\":\"return erase()\"", "");
        hear("\"resultType\":\"input_required\"");
    }
    CU_ASSERT_EQUAL(visit_loop(0).requests, 4);
    end();
}

/* ---- large answers ----------------------------------------------------------------------------
 */

static sem_t reached, passes;

static void gate_pass(void *user)
{
    (void)user;
    sem_post(&reached);
    while (sem_wait(&passes) != 0)
        ;
}

/* While its answer is made, the loop goes on. */
static void expect_held(void)
{
    while (sem_wait(&reached) != 0)
        ;
    CU_ASSERT_EQUAL(visit_loop(0).requests, 0);
    CU_ASSERT_EQUAL(visit_loop(0).requests, 0);
    sem_post(&passes);
}

static void large_answers_hold_up_nobody(void)
{
    static const char code[] = "\"code\":\"io.open('artifacts/big', 'w'):write(('x'):rep(300000))"
                               ":close() return ('y'):rep(300000)\"";

    sem_init(&reached, 0, 0);
    sem_init(&passes, 0, 0);
    begin("");
    mcp->engine->driver.before_task = gate_pass;
    call(1, "execute", code, "");
    expect_held();
    hear("\"name\":\"big\"");
    CU_ASSERT_PTR_NOT_NULL(strstr(line, "\"value_uri\":\"lazaret://result/"));
    for (int id = 2; id <= 3; id++) {
        say("{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"resources/"
            "read\",\"params\":{\"uri\":\"%s\"," META "}}",
            id, member(id == 2 ? ",\"value_uri" : "contents\":[{\"uri"));
        expect_held();
        hear("\"text\":\"\\\"yyy");
    }
    call(4, "execute", code, "");
    while (sem_wait(&reached) != 0)
        ;
    sem_post(&passes);
    end(); /* in the middle */
    sem_destroy(&reached);
    sem_destroy(&passes);
}

/* ---- by HTTP -----------------------------------------------------------------------------------
 */

/* A byte of headers that never end. */
static void drip(int fd)
{
    CU_ASSERT_EQUAL(send(fd, "x", 1, MSG_NOSIGNAL), 1);
}

static bool is_open(int fd)
{
    char byte;

    return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

/* All of an answer with a message, which is a line. */
static void hear_answer(int fd)
{
    char answer[2000] = "";
    size_t n = 0;
    ssize_t more = 1;

    while (more > 0 && !(strstr(answer, "\r\n\r\n{") && answer[n - 1] == '\n')) {
        more = recv(fd, answer + n, sizeof answer - 1 - n, 0);
        n += more > 0 ? (size_t)more : 0;
        answer[n] = '\0';
    }
    CU_ASSERT(more > 0);
}

static void ask(int fd)
{
    static const char request[] = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n"
                                  "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";

    CU_ASSERT_EQUAL(send(fd, request, sizeof request - 1, MSG_NOSIGNAL),
                    (ssize_t)sizeof request - 1);
    hear_answer(fd);
}

/* Moves the clock; what is due then is handled between the two answers. */
static void clock_moves(int fd, uint64_t ms)
{
    (void)visit_loop(ms);
    ask(fd);
    ask(fd);
}

static void headers_have_a_deadline_that_no_byte_moves(void)
{
    static const char half[] = "POST /mcp HTTP/1.1\r\nHost: local";
    char directory[] = "/tmp/lazaret-test-XXXXXX", path[60];
    int drips, other, asks; /* accepted in this order */

    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/socket", directory);
    if (begin_at(path, "")) {
        CU_ASSERT_EQUAL_FATAL(laz_os_connect(path, &drips, NULL), 0);
        CU_ASSERT_EQUAL_FATAL(laz_os_connect(path, &other, NULL), 0);
        CU_ASSERT_EQUAL_FATAL(laz_os_connect(path, &asks, NULL), 0);
        CU_ASSERT(send(drips, half, sizeof half - 1, MSG_NOSIGNAL) > 0);
        ask(asks);
        for (unsigned i = 0; i < 29; i++) {
            clock_moves(asks, 1000);
            drip(drips);
        }
        ask(other); /* its time begins anew */
        clock_moves(asks, 999);
        CU_ASSERT(is_open(drips));
        CU_ASSERT(is_open(other));
        clock_moves(asks, 1);
        CU_ASSERT(!is_open(drips));
        CU_ASSERT(is_open(other));
        clock_moves(asks, 28999);
        CU_ASSERT(is_open(other));
        clock_moves(asks, 1);
        CU_ASSERT(!is_open(other));
        close(drips);
        close(other);
        close(asks);
        end();
    }
    laz_os_remove_tree(directory);
}

static const struct unit_test tests[] = {
    UNIT(a_session_expires_when_nothing_uses_it),
    UNIT(one_of_a_connection_expires_and_it_is_told),
    UNIT(who_waits_no_more_does_not_end_the_code),
    UNIT(what_runs_can_be_interrupted),
    UNIT(one_that_is_used_does_not_expire),
    UNIT(without_a_timeout_none_expires),
    UNIT(a_result_waits_for_who_was_asked),
    UNIT(it_does_not_wait_for_ever),
    UNIT(the_id_that_was_answered_by_a_question_cancels),
    UNIT(an_id_that_is_used_again_is_that_of_the_open_request),
    UNIT(an_execution_waits_five_minutes),
    UNIT(the_oldest_of_too_many_that_wait_is_given_up),
    UNIT(the_end_of_the_server_ends_what_is_held),
    UNIT(large_answers_hold_up_nobody),
    UNIT(headers_have_a_deadline_that_no_byte_moves),
    {0},
};

static bool lua_is_there(void)
{
    const struct laz_session_options options = {
        .size = sizeof options, .runtime = "lua", .no_wait = 1};
    struct laz_settings *settings = NULL;
    struct laz_engine *engine = NULL;
    struct laz_session *session = NULL;

    (void)laz_settings_new(&settings, NULL);
    (void)laz_engine_new(settings, NULL, &engine, NULL);
    const bool is = engine && laz_session_open(engine, &options, &session, NULL) == 0;
    laz_session_free(session);
    laz_engine_free(engine);
    laz_settings_free(settings);
    return is;
}

int main(void)
{
    if (!lua_is_there() && !unit_is_needed("lua")) {
        puts("SKIP lua: no such runtime");
        return 77;
    }
    const int status = unit_run("mcp", tests);
    free(line);
    return status;
}
