/* SPDX-License-Identifier: MIT */
/* test_carrier_nats.c - the carrier `nats`, with a server of NATS that is started for it: on
 * loopback, at a port that was free. */
#include "carrier_contract.h"
#include "nats_server.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Options with the URL of the server and other ones, which begin with a comma. */
static const char *options_for(const struct server *server, const char *scheme, const char *others)
{
    static char text[1024];

    snprintf(text, sizeof text, "{\"url\":\"%s://127.0.0.1:%d\",\"connect_timeout\":60000%s}",
             scheme, server->port, others);
    return text;
}

static int try_open(const char *options, struct laz_error *err)
{
    struct connection connection;
    const int rc = connection_open(&connection, options, err);

    if (!rc)
        connection_close(&connection);
    return rc;
}

#define HAS(text, part) unit_has((text), (part), __LINE__)
static void unit_has(const char *text, const char *part, int line)
{
    if (!strstr(text, part))
        printf("\n    line %d: \"%s\" is not in \"%s\"\n", line, part, text);
    CU_ASSERT(strstr(text, part) != NULL);
}

/* ---- options --------------------------------------------------------------------------------- */

static void options_that_cannot_be_used_are_refused(void)
{
    static const struct {
        const char *options, *says;
    } wrong[] = {
        {"{}", "missing"},
        {"{\"url\":[]}", "missing"},
        {"{\"url\":7}", "missing"},
        {"{\"url\":[7]}", "neither"},
        {"{\"url\":\"nats://example.com:4222\"}", "needs tls://"},
        {"{\"url\":[\"nats://127.0.0.1\",\"nats://192.0.2.1\"]}", "needs tls://"},
        {"{\"url\":\"nats://127.0.0.1.example.com\"}", "needs tls://"},
        {"{\"url\":\"http://127.0.0.1:1\"}", "neither"},
        {"{\"url\":\"nats://127.0.0.1:0\"}", "neither"},
        {"{\"url\":\"nats://127.0.0.1:65536\"}", "neither"},
        {"{\"url\":\"nats://127.0.0.1:1/x\"}", "neither"},
        {"{\"url\":\"nats://[::1\"}", "neither"},
        {"{\"url\":\"nats://u:secret@127.0.0.1:1\"}", "other options"},
        {"{\"url\":\"nats://127.0.0.1:1\",\"user\":\"u\"}", "go together"},
        {"{\"url\":\"nats://127.0.0.1:1\",\"password\":\"p\"}", "go together"},
        {"{\"url\":\"nats://127.0.0.1:1\",\"user\":\"u\",\"password\":\"p\",\"token\":\"t\"}",
         "only one"},
        {"{\"url\":\"tls://127.0.0.1:1\",\"key\":\"/k\"}", "go together"},
        {"{\"url\":\"nats://127.0.0.1:1\",\"ca\":\"/ca.pem\"}", "ca: what is about TLS"},
        {"{\"url\":\"tls://127.0.0.1:1\",\"ca\":\"/nowhere/ca.pem\"}", "/nowhere/ca.pem"},
    };
    struct laz_error err = {0};

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CU_ASSERT(try_open(wrong[i].options, &err) == LAZ_ECONFIG);
        HAS(err.text, wrong[i].says);
        CU_ASSERT(!strstr(err.text, "secret"));
    }
    CU_ASSERT(try_open("[]", &err) == LAZ_EINVAL);
    CU_ASSERT(try_open("{\"url\":\"nats://127.0.0.1:1\",\"user\":7}", &err) == LAZ_EINVAL);
}

static void who_does_not_answer_is_not_waited_for(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    struct laz_error err = {0};
    const int silent = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char options[128];

    CU_ASSERT_FATAL(bind(silent, (struct sockaddr *)&address, len) == 0);
    CU_ASSERT_FATAL(getsockname(silent, (struct sockaddr *)&address, &len) == 0);
    snprintf(options, sizeof options, "{\"url\":\"nats://127.0.0.1:%d\",\"connect_timeout\":200}",
             ntohs(address.sin_port));
    CU_ASSERT(try_open(options, &err) == LAZ_ETIMEOUT); /* nobody listens */
    CU_ASSERT_FATAL(listen(silent, 5) == 0);
    CU_ASSERT(try_open(options, &err) == LAZ_ETIMEOUT);
    HAS(err.text, "nats://127.0.0.1");
    close(silent);
}

/* ---- who may do what ------------------------------------------------------------------------- */

static void who_is_not_known_is_refused(void)
{
    static const char conf[] =
        "authorization { timeout: 600, users: [ {user: u, password: right} ] }\n";
    struct laz_error err = {0};
    struct server server;

    server_begin(&server, "users", conf);
    CU_ASSERT(try_open(options_for(&server, "nats", ",\"user\":\"u\",\"password\":\"wrong\""),
                       &err) == LAZ_ECONFIG);
    HAS(err.text, "Authorization Violation");
    CU_ASSERT(!strstr(err.text, "wrong"));
    CU_ASSERT(try_open(options_for(&server, "nats", ""), &err) == LAZ_ECONFIG);
    CU_ASSERT(try_open(options_for(&server, "nats", ",\"token\":\"right\""), &err) == LAZ_ECONFIG);
    CU_ASSERT(try_open(options_for(&server, "nats", ",\"user\":\"u\",\"password\":\"right\""),
                       &err) == 0);
    server_kill(&server);
}

static void a_token_lets_in(void)
{
    struct server server;

    server_begin(&server, "token", "authorization { timeout: 600, token: good }\n");
    CU_ASSERT(try_open(options_for(&server, "nats", ",\"token\":\"bad\""), NULL) == LAZ_ECONFIG);
    CU_ASSERT(try_open(options_for(&server, "nats", ",\"token\":\"good\""), NULL) == 0);
    server_kill(&server);
}

static void what_is_not_permitted_is_told(void)
{
    static const char conf[] = "authorization { timeout: 600, users: [ {user: u, password: p, "
                               "permissions: { publish: [\"a.*\"], "
                               "subscribe: [\"b.>\", \"settle.*\", \"q w\"] } } ] }\n";
    struct connection a;
    struct server server;

    server_begin(&server, "permissions", conf);
    CU_ASSERT_FATAL(
        connection_open(&a, options_for(&server, "nats", ",\"user\":\"u\",\"password\":\"p\""),
                        NULL) == 0);
    ear_wait(&a.ear, 1);
    CU_ASSERT(give(&a, "a.b", NULL, "m") == 0);
    CU_ASSERT(give(&a, "b.secret", "b.reply", "m") == 0);
    ear_wait(&a.ear, 2);
    subscribe(&a, "a.b", NULL);
    ear_wait(&a.ear, 3);
    struct laz_carrier_subscription *subscription = subscribe(&a, "c.>", "w");
    ear_wait(&a.ear, 4);
    UNIT_TEXT(a.ear.text, "connected; refused to send b.secret; refused to hear a.b; "
                          "refused to hear c.>");
    carrier_ops->unsubscribe(a.state, subscription, ear_drained, &a.ear);
    ear_wait_for(&a.ear, "drained");
    connection_close(&a);
    server_kill(&server);
}

/* ---- TLS ------------------------------------------------------------------------------------- */

static void shell(const char *command)
{
    char text[2048];

    snprintf(text, sizeof text, "cd '%s' && { %s; } >openssl.log 2>&1", server_work, command);
    CU_ASSERT_FATAL(system(text) == 0);
}

static void make_certificates(void)
{
    shell("for name in ca other; do openssl req -x509 -newkey ec -pkeyopt "
          "ec_paramgen_curve:P-256 -nodes -days 30 -subj /CN=$name -keyout $name.key -out "
          "$name.pem || exit 1; done; "
          "for name in server client; do openssl req -newkey ec -pkeyopt "
          "ec_paramgen_curve:P-256 -nodes -subj /CN=$name -keyout $name.key -out $name.csr && "
          "printf 'subjectAltName = DNS:bus.test, IP:127.0.0.1\\n' >names && openssl x509 -req -in "
          "$name.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 20 -extfile names -out "
          "$name.pem || exit 1; done");
}

static int tls_open(const struct server *server, const char *format, struct laz_error *err)
{
    char others[600];
    size_t len = 0;

    for (const char *at = format; *at && len + 80 < sizeof others; at++)
        if (*at == '@')
            len += (size_t)sprintf(others + len, "%s", server_work);
        else
            others[len++] = *at;
    others[len] = '\0';
    return try_open(options_for(server, "tls", others), err);
}

static void tls_is_what_it_should_be(void)
{
    char conf[400];
    struct laz_error err = {0};
    struct server server, plain;

    make_certificates();
    snprintf(conf, sizeof conf,
             "tls { cert_file: \"%s/server.pem\", key_file: \"%s/server.key\", ca_file: "
             "\"%s/ca.pem\", verify: true, timeout: 600 }\n",
             server_work, server_work, server_work);
    server_begin(&server, "tls", conf);
    server_begin(&plain, "plain", "");
#define CLIENT ",\"certificate\":\"@/client.pem\",\"key\":\"@/client.key\""
    CU_ASSERT(tls_open(&server, ",\"ca\":\"@/ca.pem\"" CLIENT, &err) == 0);
    CU_ASSERT(tls_open(&server, ",\"ca\":\"@/ca.pem\",\"server_name\":\"bus.test\"" CLIENT, &err) ==
              0);
    CU_ASSERT(tls_open(&server, ",\"ca\":\"@/ca.pem\",\"server_name\":\"else.test\"" CLIENT,
                       &err) == LAZ_ECONFIG);
    HAS(err.text, "mismatch");
    CU_ASSERT(tls_open(&server, ",\"ca\":\"@/other.pem\"" CLIENT, &err) == LAZ_ECONFIG);
    HAS(err.text, "certificate");
    CU_ASSERT(tls_open(&server, CLIENT, &err) == LAZ_ECONFIG);       /* authorities of the system */
    CU_ASSERT(tls_open(&server, ",\"ca\":\"@/ca.pem\"", &err) != 0); /* it wants a certificate */
    CU_ASSERT(tls_open(&plain, ",\"ca\":\"@/ca.pem\"", &err) == LAZ_ECONFIG);
    CU_ASSERT(try_open(options_for(&server, "nats", ""), &err) == LAZ_ECONFIG);
    server_kill(&plain);

    struct connection a;
    char options[900];
    snprintf(options, sizeof options,
             "{\"url\":[\"tls://127.0.0.1:%d\"],\"ca\":\"%s/ca.pem\",\"certificate\":\"%s/"
             "client.pem\",\"key\":\"%s/client.key\",\"connect_timeout\":60000}",
             server.port, server_work, server_work, server_work);
    CU_ASSERT_FATAL(connection_open(&a, options, &err) == 0);
    ear_wait(&a.ear, 1);
    connection_close(&a);
    const char *before = carrier_options;
    carrier_options = options;
    contract_order_of_one_sender();
    contract_nobody_is_told();
    contract_largest_messages();
    contract_threads_keep_their_order();
    carrier_options = before;
    server_kill(&server);
}

/* ---- a server that goes ---------------------------------------------------------------------- */

static void a_server_that_is_killed_comes_back(void)
{
    struct connection a, b;
    struct server server;

    server_begin(&server, "killed", "");
    CU_ASSERT_FATAL(connection_open(&a, options_for(&server, "nats", ""), NULL) == 0);
    CU_ASSERT_FATAL(connection_open(&b, options_for(&server, "nats", ""), NULL) == 0);
    subscribe(&a, "x.>", NULL);
    subscribe(&a, "q", "w");
    struct laz_carrier_subscription *ends = subscribe(&a, "y", NULL);
    connection_settle(&a);
    server_kill(&server);
    ear_wait(&a.ear, 2);
    ear_wait(&b.ear, 2);
    static const char lost[] =
        "connected; disconnected"; /* attempts to come back are logged next */
    CU_ASSERT(strncmp(a.ear.text, lost, sizeof lost - 1) == 0);
    CU_ASSERT(give(&b, "x.1", NULL, "meanwhile") == LAZ_ECLOSED);
    CU_ASSERT(give(&a, "x.1", NULL, "meanwhile") == LAZ_ECLOSED);
    carrier_ops->unsubscribe(a.state, ends, ear_drained, &a.ear);
    ear_wait_for(&a.ear, "drained");
    subscribe(&a, "z", NULL); /* begins with the next connection */
    server_start(&server);
    /* what it says of attempts in between is logged */
    ear_wait_for(&b.ear, "; connected");
    ear_wait_for(&a.ear, "; connected");
    connection_settle(&a);
    CU_ASSERT(give(&b, "x.1", NULL, "1") == 0);
    CU_ASSERT(give(&b, "y", NULL, "2") == 0);
    CU_ASSERT(give(&b, "z", NULL, "3") == 0);
    CU_ASSERT(give(&b, "q", NULL, "4") == 0);
    ear_wait_for(&a.ear, "q - 4");
    HAS(a.ear.text, "; x.1 - 1; z - 3; q - 4");
    CU_ASSERT(!strstr(a.ear.text, "meanwhile") && !strstr(a.ear.text, "y - "));
    connection_close(&a);
    server_kill(&server);
    ear_wait_for(&b.ear, "connected; disconnected");
    connection_close(&b); /* without a server */
}

static void a_server_of_small_messages_is_refused(void)
{
    struct laz_error err = {0};
    struct connection a;
    struct server server;

    server_begin(&server, "small", "max_payload: 1000\n");
    CU_ASSERT(try_open(options_for(&server, "nats", ""), &err) == LAZ_ECONFIG);
    HAS(err.text, "max_payload");
    server_kill(&server);
    server_configure(&server, "small", "max_payload: 600000\n");
    server_start(&server);
    CU_ASSERT_FATAL(connection_open(&a, options_for(&server, "nats", ""), &err) == 0);
    server_kill(&server);
    server_configure(&server, "small", "max_payload: 1000\n");
    server_start(&server);
    ear_wait_for(&a.ear, "max_payload");
    CU_ASSERT(give(&a, "x", NULL, "m") == LAZ_ECLOSED);
    server_kill(&server);
    server_configure(&server, "small", "");
    server_start(&server);
    ear_wait_for(&a.ear, "; connected");
    connection_close(&a);
    server_kill(&server);
}

/* A password that is not right any more ends nothing: it may be right again. */
static void a_server_that_refuses_for_a_while_is_tried_again(void)
{
    static const char right[] =
        "authorization { timeout: 600, users: [ {user: u, password: p} ] }\n";
    struct connection a;
    struct server server;

    server_begin(&server, "again", right);
    CU_ASSERT_FATAL(
        connection_open(&a, options_for(&server, "nats", ",\"user\":\"u\",\"password\":\"p\""),
                        NULL) == 0);
    server_kill(&server);
    server_configure(&server, "again",
                     "authorization { timeout: 600, users: [ {user: u, password: q} ] }\n");
    server_start(&server);
    ear_wait_for(&a.ear, "Authorization Violation");
    server_kill(&server);
    server_configure(&server, "again", right);
    server_start(&server);
    ear_wait_for(&a.ear, "; connected");
    connection_close(&a);
    server_kill(&server);
}

/* The second of two servers is taken where the first is not there. */
static void another_server_of_the_list_is_taken(void)
{
    struct connection a;
    struct server one, two;
    char options[256];

    server_begin(&one, "one", "");
    server_begin(&two, "two", "");
    snprintf(
        options, sizeof options,
        "{\"url\":[\"nats://127.0.0.1:%d\",\"nats://localhost:%d\"],\"connect_timeout\":60000}",
        one.port, two.port);
    server_kill(&one);
    CU_ASSERT_FATAL(connection_open(&a, options, NULL) == 0);
    connection_settle(&a);
    server_start(&one);
    server_kill(&two);
    ear_wait_for(&a.ear, "; connected");
    connection_settle(&a);
    connection_close(&a);
    server_kill(&one);
}

/* A server that takes nothing: `send` does not wait for it, and `close` not for ever. */
static void send_does_not_wait(void)
{
    const size_t len = (size_t)512 << 10;
    char *data = calloc(1, len);
    struct laz_error err = {0};
    struct connection a;
    struct server server;
    int rc = 0, n = 0;

    CU_ASSERT_FATAL(data != NULL);
    server_begin(&server, "stopped", "");
    CU_ASSERT_FATAL(connection_open(&a, options_for(&server, "nats", ""), NULL) == 0);
    connection_settle(&a);
    kill(server.pid, SIGSTOP);
    while (!rc && n++ < 1000)
        rc = carrier_ops->send(a.state, "x", NULL, data, len, &err);
    CU_ASSERT(rc == LAZ_ECLOSED && n > 100);
    HAS(err.text, "that wait");
    connection_close(&a);
    server_kill(&server);
    free(data);
}

/* What was sent before `close` arrives. */
static void what_waits_is_sent_before_the_end(void)
{
    struct connection a, b;

    CU_ASSERT_FATAL(connection_open(&b, carrier_options, NULL) == 0);
    subscribe(&b, "end", NULL);
    connection_settle(&b);
    CU_ASSERT_FATAL(connection_open(&a, carrier_options, NULL) == 0);
    for (int i = 0; i < 100; i++)
        CU_ASSERT(give(&a, "end", NULL, i < 99 ? "m" : "last") == 0);
    connection_close(&a);
    ear_wait_for(&b.ear, "last");
    CU_ASSERT(b.ear.n == 101);
    connection_close(&b);
}

/* libnats would have the process ignore it. */
static void signals_stay_as_they_are(void)
{
    struct sigaction pipe;

    sigaction(SIGPIPE, NULL, &pipe);
    CU_ASSERT(pipe.sa_handler == SIG_DFL);
}

static const struct unit_test tests[] = {
    CONTRACT_TESTS,
    UNIT(options_that_cannot_be_used_are_refused),
    UNIT(who_does_not_answer_is_not_waited_for),
    UNIT(who_is_not_known_is_refused),
    UNIT(a_token_lets_in),
    UNIT(what_is_not_permitted_is_told),
    UNIT(tls_is_what_it_should_be),
    UNIT(a_server_that_is_killed_comes_back),
    UNIT(a_server_of_small_messages_is_refused),
    UNIT(a_server_that_refuses_for_a_while_is_tried_again),
    UNIT(another_server_of_the_list_is_taken),
    UNIT(send_does_not_wait),
    UNIT(what_waits_is_sent_before_the_end),
    UNIT(signals_stay_as_they_are),
    {0},
};

int main(void)
{
    struct server server;
    char options[128];

    signal(SIGPIPE, SIG_DFL);
    if (system("command -v nats-server >/dev/null 2>&1") != 0)
        return unit_skip("nats", "nats-server is not installed") ? 77 : 1;
    if (!server_directory())
        return 1;
    server_begin(&server, "contract", "");
    snprintf(options, sizeof options, "%s", options_for(&server, "nats", ""));
    carrier_options = options;
    const int status = carrier_run("nats", "carrier_nats", tests);
    server_kill(&server);
    server_directory_remove();
    return status;
}
