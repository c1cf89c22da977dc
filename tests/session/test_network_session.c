/* SPDX-License-Identifier: MIT */
/* test_network_session.c - sessions with a network list: what code reaches, what is refused, how
 * the list changes, and what results and the audit log say of it.
 *
 * The server is a thread of the test, on the host's loopback, which code knows as host.lazaret. */
#include "live.h"

#include "base/buf.h"
#include "os/directories.h"
#include "os/files.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static char base[] = "/tmp/laz-test-network-XXXXXX"; /* removed by main */

/* ---- the server: says "hello", then sends back what comes ------------------------------------ */

static int server = -1;
static unsigned port;
/* Code that connects to the server, and has what it says as its value. */
static char code_connects[160];

static void *serve_one(void *user)
{
    char data[256];
    const int fd = (int)(intptr_t)user;
    ssize_t n = write(fd, "hello\n", 6);

    while (n > 0 && (n = read(fd, data, sizeof data)) > 0)
        n = write(fd, data, (size_t)n);
    close(fd);
    return NULL;
}

static void *serve(void *user)
{
    pthread_t thread;

    (void)user;
    for (int fd; (fd = accept(server, NULL, NULL)) >= 0;)
        if (pthread_create(&thread, NULL, serve_one, (void *)(intptr_t)fd) == 0)
            pthread_detach(thread);
        else
            close(fd);
    return NULL;
}

static bool server_begin(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof address;
    pthread_t thread;

    server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (server < 0 || bind(server, (struct sockaddr *)&address, len) || listen(server, 16) ||
        getsockname(server, (struct sockaddr *)&address, &len) ||
        pthread_create(&thread, NULL, serve, NULL))
        return false;
    port = ntohs(address.sin_port);
    snprintf(code_connects, sizeof code_connects,
             "import socket\n"
             "s = socket.create_connection(('host.lazaret', %u), 10)\n"
             "s.recv(6).decode()",
             port);
    return pthread_detach(thread) == 0;
}

/* ---- sessions -------------------------------------------------------------------------------- */

/* Settings whose list has the server; `more` begins with ';' or is empty. */
static struct laz_engine *network_engine(const char *more)
{
    char *text = laz_strdupf("sandbox.backend=bwrap;network.host.ports=[%u]%s", port, more);
    struct laz_engine *engine = test_engine(text);

    free(text);
    return engine;
}

static int set_port(struct laz_session *session, unsigned number, struct laz_error *err)
{
    char rule[40];
    const char *allow[] = {rule};

    snprintf(rule, sizeof rule, "host.lazaret:%u", number);
    return laz_session_set_network(session, allow, 1, err);
}

/* A session with this list, from a template where TEST_WARM says so; NULL: of the settings. */
static struct laz_session *open_with(struct laz_engine *engine, const char *const *allow, size_t n)
{
    const struct laz_network_list list = {.size = sizeof list, .allow = allow, .n = n};
    const struct laz_session_options options = {
        .size = sizeof options,
        .runtime = "python",
        .warm = getenv("TEST_WARM") != NULL,
        .network = &list,
    };
    struct laz_session *session = NULL;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL(laz_session_open(engine, &options, &session, &err), 0);
    UNIT_TEXT(err.text, "");
    return session;
}

static void what_is_listed_is_reached_and_the_rest_refused(void)
{
    struct laz_engine *engine = network_engine("");
    struct laz_session *session = test_session(engine, "python");

    if (session) {
        test_expect(session, code_connects, LAZ_VERDICT_OK, "\"hello\\n\"");
        CU_ASSERT(strstr(laz_session_describe(session), " network=listed>") != NULL);
        CU_ASSERT(strstr(laz_session_isolation(session),
                         "\"network\":\"only what is listed: network namespace\"") != NULL);
        struct laz_result *result =
            test_run(session,
                     "s.sendall(b'x' * 65536)\n"
                     "n = 0\n"
                     "while n < 65536: n += len(s.recv(65536))\n"
                     "s.close()\n"
                     "print('no newline', end='', file=__import__('sys').stderr)\n"
                     "try: socket.create_connection(('other.example', 443))\n"
                     "except OSError: pass\n"
                     "n",
                     NULL);
        CU_ASSERT_STRING_EQUAL(laz_result_value(result), "65536");
        CU_ASSERT_EQUAL(laz_result_denials(result), 1);
        const char *denial = laz_result_denial(result, 0);
        CU_ASSERT(denial && strstr(denial, "\"what\":\"name\"") &&
                  strstr(denial, "\"name\":\"other.example\"") &&
                  strstr(denial, "\"retry\":\"useless\"") &&
                  strstr(denial,
                         "\"allow\":\"allow = [\\\"https://other.example\\\"] below [network]\"") &&
                  strstr(denial, "\"source\":\"network\""));
        CU_ASSERT_TRUE(test_result_has(result, "\"denials\":[{\"what\":\"name\""));
        char *errors = test_output(result, LAZ_STDERR);
        CU_ASSERT(errors && strstr(errors, "no newline\nlazaret: network: other.example") != NULL);
        free(errors);
        laz_result_free(result);

        result = test_run(session, "1", NULL);
        CU_ASSERT_EQUAL(laz_result_denials(result), 0);
        laz_result_free(result);
    }
    laz_session_free(session);
    laz_engine_free(engine);
}

static void a_session_has_a_list_of_its_own(void)
{
    struct laz_engine *engine = network_engine("");
    struct laz_session *session = test_session(engine, "python");
    struct laz_error err = {0};
    char rule[40];
    const char *allow[] = {rule, "b..com"};

    snprintf(rule, sizeof rule, "host.lazaret:%u", port);
    if (session) {
        laz_session_free(session);
        session = open_with(engine, NULL, 0);
        test_expect(session, code_connects, LAZ_VERDICT_ERROR, NULL);
        CU_ASSERT_EQUAL(set_port(session, port, &err), LAZ_EINVAL); /* nothing listens */
        laz_session_free(session);

        session = open_with(engine, allow, 1);
        test_expect(session, code_connects, LAZ_VERDICT_OK, "\"hello\\n\"");
        laz_session_free(session);

        const struct laz_network_list wrong = {.size = sizeof wrong, .allow = allow, .n = 2};
        const struct laz_session_options options = {
            .size = sizeof options, .runtime = "python", .network = &wrong};
        session = NULL;
        CU_ASSERT_EQUAL(laz_session_open(engine, &options, &session, &err), LAZ_EINVAL);
        CU_ASSERT(strstr(err.text, "b..com") != NULL);
    }
    laz_engine_free(engine);
}

static void a_list_changes_within_the_declared_ports(void)
{
    struct laz_engine *engine = network_engine("");
    struct laz_session *session = test_session(engine, "python");
    struct laz_error err = {0};
    const char *other[] = {"https://a.example"};

    if (session) {
        test_expect(session, code_connects, LAZ_VERDICT_OK, "\"hello\\n\"");
        CU_ASSERT_EQUAL(laz_session_set_network(session, NULL, 0, &err), 0);
        /* The connection was closed: it ends, or is reset. */
        test_expect(session,
                    "try: r = s.recv(1)\n"
                    "except OSError: r = b''\n"
                    "len(r)",
                    LAZ_VERDICT_OK, "0");
        test_expect(session, code_connects, LAZ_VERDICT_ERROR, NULL);
        CU_ASSERT_EQUAL(laz_session_restart(session, &err), 0);
        test_expect(session, code_connects, LAZ_VERDICT_ERROR, NULL); /* it keeps the list */

        CU_ASSERT_EQUAL(laz_session_set_network(session, other, 1, &err), LAZ_EINVAL);
        CU_ASSERT(strstr(err.text, "port 443") != NULL);
        CU_ASSERT_EQUAL(set_port(session, port, &err), 0);
        test_expect(session, code_connects, LAZ_VERDICT_OK, "\"hello\\n\"");
    }
    laz_session_free(session);
    laz_engine_free(engine);
}

static void further_ports_can_be_declared(void)
{
    struct laz_engine *engine = test_engine("sandbox.backend=bwrap;network.ports=[443]");
    struct laz_session *session = test_session(engine, "python");
    struct laz_error err = {0};
    const char *other[] = {"https://a.example"};

    if (session) {
        CU_ASSERT_EQUAL(laz_session_set_network(session, other, 1, &err), 0);
        test_expect(session, "import socket\nsocket.gethostbyname('a.example')[:7]", LAZ_VERDICT_OK,
                    "\"198.18.\"");
    }
    laz_session_free(session);
    laz_engine_free(engine);
}

struct busy {
    struct laz_session *session;
    int rc;
};

static void line_came(void *user, int stream, const char *text, size_t len)
{
    struct busy *busy = user;

    (void)stream;
    (void)text;
    (void)len;
    busy->rc = laz_session_set_network(busy->session, NULL, 0, NULL);
}

static void a_list_does_not_change_while_code_runs(void)
{
    struct laz_engine *engine = network_engine("");
    struct laz_session *session = test_session(engine, "python");
    struct busy busy = {.session = session};
    const struct laz_execute_options options = {
        .size = sizeof options, .line = line_came, .user = &busy};

    if (session) {
        test_expect_with(session, "print('x')", &options, LAZ_VERDICT_OK, NULL);
        CU_ASSERT_EQUAL(busy.rc, LAZ_EBUSY);
        test_expect(session, code_connects, LAZ_VERDICT_OK, "\"hello\\n\"");
    }
    laz_session_free(session);
    laz_engine_free(engine);
}

static void lists_and_denials_are_on_record(void)
{
    char *more = laz_strdupf(";audit.file=%s/log", base);
    struct laz_engine *engine = network_engine(more);
    struct laz_session *session = test_session(engine, "python");
    struct laz_buf text = LAZ_BUF_INIT;
    char path[64];

    snprintf(path, sizeof path, "%s/log", base);
    free(more);
    if (session) {
        CU_ASSERT_EQUAL(laz_session_set_network(session, NULL, 0, NULL), 0);
        struct laz_result *result = test_run(session,
                                             "import socket\n"
                                             "for i in range(3):\n"
                                             "  try: socket.gethostbyname('a.example')\n"
                                             "  except OSError: pass\n",
                                             NULL);
        CU_ASSERT_EQUAL(laz_result_denials(result), 1);
        laz_result_free(result);
    }
    laz_session_free(session);
    laz_engine_free(engine);
    if (session) {
        CU_ASSERT_EQUAL(laz_os_read_file(path, (size_t)1 << 20, &text, NULL), 0);
        CU_ASSERT(strstr(laz_buf_text(&text), "\"allow\":[\"host.lazaret:") != NULL);
        const char *set = strstr(laz_buf_text(&text), "\"network_set\"");
        CU_ASSERT(set && strstr(set, "\"allow\":[]"));
        const char *denied = set ? strstr(set, "\"network_denied\"") : NULL;
        CU_ASSERT(denied && strstr(denied, "\"name\":\"a.example\"") &&
                  strstr(denied, "\"execute_complete\""));
        laz_buf_fini(&text);
    }
}

static void a_pool_gives_sessions_with_its_list(void)
{
    struct laz_engine *engine = network_engine(";pool.reset=false");
    char rule[40];
    const char *allow[] = {rule};
    const struct laz_network_list list = {.size = sizeof list, .allow = allow, .n = 1};
    const struct laz_pool_options options = {
        .size = sizeof options, .runtime = "python", .members = 1, .network = &list};
    struct laz_session *session = test_session(engine, "python");
    struct laz_pool *pool = NULL;

    snprintf(rule, sizeof rule, "host.lazaret:%u", port);
    if (session) {
        CU_ASSERT_EQUAL_FATAL(laz_pool_new(engine, &options, &pool, NULL), 0);
        laz_session_free(session);
        CU_ASSERT_EQUAL_FATAL(laz_pool_acquire(pool, LAZ_NO_LIMIT, &session, NULL), 0);
        const int64_t pid = laz_session_pid(session);
        CU_ASSERT_EQUAL(laz_session_set_network(session, NULL, 0, NULL), 0);
        test_expect(session, code_connects, LAZ_VERDICT_ERROR, NULL);
        CU_ASSERT_EQUAL(laz_pool_release(pool, session, NULL), 0);
        CU_ASSERT_EQUAL_FATAL(laz_pool_acquire(pool, LAZ_NO_LIMIT, &session, NULL), 0);
        CU_ASSERT_EQUAL(laz_session_pid(session), pid);
        test_expect(session, code_connects, LAZ_VERDICT_OK, "\"hello\\n\"");
    }
    laz_pool_free(pool);
    laz_engine_free(engine);
}

/* What code and programs say where there is no list, and the host that is read from it. */
static void an_error_of_a_missing_network_is_a_denial(void)
{
    static const struct {
        const char *code, *says;
    } rows[] = {
        {"import urllib.request\nurllib.request.urlopen('https://a.example/x')",
         "\"name\":\"a.example\",\"count\":1,\"allow\":\"allow = [\\\"a.example\\\"] below "
         "[network]\""},
        {"import socket\nsocket.socket()", "\"denials\":[{\"what\":\"network\",\"count\":1,"},
        {"raise OSError('curl: (6) Could not resolve host: b.example')", "\"name\":\"b.example\","},
        {"print('psql: error: could not translate host name \"c.example\" to address')",
         "\"name\":\"c.example\","},
        {"raise OSError('getaddrinfo ENOTFOUND d.example')", "\"name\":\"d.example\","},
        {"raise OSError('Could not resolve host: <script>')", "\"what\":\"network\",\"count\":1,"},
        {"open('/proc/1/root')", "\"denials\":[]"},
    };
    struct laz_engine *engine = test_engine("sandbox.backend=bwrap");
    struct laz_session *session = test_session(engine, "python");

    for (size_t i = 0; session && i < sizeof rows / sizeof *rows; i++) {
        struct laz_result *result = test_run(session, rows[i].code, NULL);
        CU_ASSERT(test_result_has(result, rows[i].says));
        laz_result_free(result);
    }
    laz_session_free(session);
    laz_engine_free(engine);

    engine = network_engine(""); /* what it refuses is told by itself */
    if (session && (session = test_session(engine, "python"))) {
        struct laz_result *result = test_run(session, rows[2].code, NULL);
        CU_ASSERT_EQUAL(laz_result_denials(result), 0);
        laz_result_free(result);
        laz_session_free(session);
    }
    laz_engine_free(engine);
}

static const struct unit_test tests[] = {
    UNIT(what_is_listed_is_reached_and_the_rest_refused),
    UNIT(a_session_has_a_list_of_its_own),
    UNIT(a_list_changes_within_the_declared_ports),
    UNIT(further_ports_can_be_declared),
    UNIT(a_list_does_not_change_while_code_runs),
    UNIT(lists_and_denials_are_on_record),
    UNIT(an_error_of_a_missing_network_is_a_denial),
    UNIT(a_pool_gives_sessions_with_its_list),
    {0},
};

int main(void)
{
    if (!mkdtemp(base) || !server_begin())
        return 1;
    int rc = unit_run("sessions with a network list", tests);
    laz_os_remove_tree(base);
    return rc;
}
