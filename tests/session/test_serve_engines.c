/* SPDX-License-Identifier: MIT */
/* test_serve_engines.c - a server whose clients are spread over several engines: who comes where,
 * that engines keep out of each other's way, and that all of them end.
 *
 * Nothing here depends on a clock: an engine that is to be slow stands still until it is released.
 * The program is linked with fault.c, so that allocations fail. */
#include "serving.h"
#include "traces.h"

#include "audit/audit_chain.h"
#include "base/buf.h"
#include "fault.h"
#include "os/directories.h"
#include "os/files.h"
#include "serve/serve_private.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define ENGINES 3

static void servers_begin(unsigned n, const char *settings)
{
    server_engines = n;
    server_begin(settings);
    server_engines = 1;
}

static struct laz_server *server_of(unsigned number)
{
    struct laz_server *at = server;

    while (number--)
        at = at->next;
    return at;
}

/* Waits until the server of this number has so many clients, however long that takes. */
static void await_clients(unsigned number, unsigned n)
{
    while (atomic_load(&server_of(number)->n_clients) != n)
        sched_yield();
}

/* ---- who comes where ------------------------------------------------------------------------- */

/* The directory of the engine in which its session runs. */
static void client_engine(struct client *client, char directory_of[64])
{
    say(client,
        "{\"type\":\"execute\",\"id\":1,\"session\":%lld,"
        "\"code\":\"os.getenv('HOME'):match('^/tmp/[^/]*')\"}",
        client->session);
    expect(client, "\"id\":1,\"result\":{\"ok\":true,\"value\":\"/tmp/lazaret-");
    const char *begin = strstr(client->line, "/tmp/lazaret-");
    snprintf(directory_of, 64, "%.*s", (int)strcspn(begin, "\""), begin);
}

static void clients_are_spread_over_the_engines(void)
{
    struct client clients[2 * ENGINES], last;
    char engines[2 * ENGINES][64];
    unsigned others = 0;

    servers_begin(ENGINES, OPEN);
    for (unsigned i = 0; i < 2 * ENGINES; i++) {
        client_greet(&clients[i]);
        (void)client_session(&clients[i], "");
        client_engine(&clients[i], engines[i]);
        for (unsigned j = 0; j < i; j++)
            others += strcmp(engines[i], engines[j]) == 0;
    }
    CU_ASSERT_EQUAL(others, ENGINES); /* two in each */
    for (unsigned i = 0; i < ENGINES; i++)
        await_clients(i, 2);
    client_close(&clients[0]); /* who came first is in the first one */
    await_clients(0, 1);
    client_greet(&last);
    await_clients(0, 2);
    client_close(&last);
    for (unsigned i = 1; i < 2 * ENGINES; i++)
        client_close(&clients[i]);
    for (unsigned i = 0; i < ENGINES; i++)
        await_clients(i, 0);
    client_greet(&last); /* alone again: it finds what the first engine has made */
    (void)client_session(&last, "");
    char engine[64];
    client_engine(&last, engine);
    UNIT_TEXT(engine, engines[0]);
    client_close(&last);
    server_end();
}

/* The bound of clients is that of all engines together. */
static void clients_are_bounded_in_all_engines_together(void)
{
    struct client most[SERVE_CLIENTS], more;

    servers_begin(ENGINES, OPEN);
    for (unsigned i = 0; i < SERVE_CLIENTS; i++)
        client_greet(&most[i]);
    for (unsigned i = 0; i < 3; i++) {
        client_open(&more);
        expect(&more,
               "\"failed\",\"code\":\"LAZ_EREFUSED\",\"message\":\"the server has 64 clients");
        CU_ASSERT_PTR_NULL(hear(&more));
        client_close(&more);
    }
    const unsigned last = (SERVE_CLIENTS - 1) % ENGINES;
    const unsigned before = atomic_load(&server_of(last)->n_clients);
    client_close(&most[SERVE_CLIENTS - 1]);
    await_clients(last, before - 1);
    client_greet(&more);
    client_close(&more);
    for (unsigned i = 0; i < SERVE_CLIENTS - 1; i++)
        client_close(&most[i]);
    server_end();
}

/* Numbers of sessions and calls are those of a client, also of one in another engine. */
static void what_a_client_has_is_its_own(void)
{
    struct client clients[ENGINES];
    long long calls[ENGINES];

    servers_begin(ENGINES, OPEN);
    for (unsigned i = 0; i < ENGINES; i++) {
        client_greet(&clients[i]);
        (void)client_session(&clients[i], ",\"tools\":" ADD);
        CU_ASSERT_EQUAL(clients[i].session, clients[0].session);
        say(&clients[i], "{\"type\":\"execute\",\"id\":2,\"session\":%lld,\"code\":\"add(%u)\"}",
            clients[i].session, i);
    }
    for (unsigned i = 0; i < ENGINES; i++) {
        expect(&clients[i], "\"type\":\"tool_call\"");
        char args[40];
        snprintf(args, sizeof args, "\"args\":{\"a\":%u,\"b\":1}", i);
        CU_ASSERT(has(clients[i].line, args));
        calls[i] = member(&clients[i], "call");
        CU_ASSERT_EQUAL(calls[i], calls[0]);
    }
    for (unsigned i = 0; i < ENGINES; i++) {
        say(&clients[i], "{\"type\":\"answer\",\"call\":%lld,\"value\":%u}", calls[i], 100 + i);
        char value[40];
        snprintf(value, sizeof value, "\"result\":{\"ok\":true,\"value\":%u,", 100 + i);
        expect(&clients[i], value);
    }
    for (unsigned i = 0; i < ENGINES; i++)
        client_close(&clients[i]);
    server_end();
}

static void places_in_pools_are_counted_in_all_engines(void)
{
    struct client clients[2];

    servers_begin(2, OPEN ";pool.max_sessions=3");
    for (unsigned i = 0; i < 2; i++)
        client_greet(&clients[i]);
    say(&clients[0], "{\"type\":\"open_pool\",\"id\":1,\"members\":2}");
    expect(&clients[0], "\"type\":\"opened\",\"id\":1");
    const long long pool = member(&clients[0], "pool");
    say(&clients[1], "{\"type\":\"open_pool\",\"id\":1,\"members\":2}");
    expect(&clients[1], "2 sessions of pools, and 2 more, exceed pool.max_sessions (3)");
    say(&clients[0], "{\"type\":\"close\",\"id\":2,\"pool\":%lld}", pool);
    expect(&clients[0], "{\"type\":\"done\",\"id\":2}");
    say(&clients[1], "{\"type\":\"open_pool\",\"id\":1,\"members\":2}");
    expect(&clients[1], "\"type\":\"opened\",\"id\":1");
    for (unsigned i = 0; i < 2; i++)
        client_close(&clients[i]);
    server_end();
}

static void count_finding(void *user, enum laz_audit_finding finding, uint64_t line,
                          const char *text)
{
    (void)finding;
    printf("\n    line %llu: %s", (unsigned long long)line, text);
    ++*(unsigned *)user;
}

static void all_engines_write_one_log(void)
{
    enum { EXECUTIONS = 5 };
    char logs[] = "/tmp/laz-test-XXXXXX", log[64], settings[200];
    struct client clients[ENGINES];
    struct laz_buf text = LAZ_BUF_INIT;
    struct laz_audit_verify verify;
    unsigned findings = 0;

    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(logs));
    snprintf(log, sizeof log, "%s/log", logs);
    snprintf(settings, sizeof settings, OPEN ";audit.file=%s", log);
    servers_begin(ENGINES, settings);
    for (unsigned i = 0; i < ENGINES; i++) {
        client_greet(&clients[i]);
        (void)client_session(&clients[i], "");
    }
    for (unsigned n = 0; n < EXECUTIONS; n++) { /* at the same time */
        for (unsigned i = 0; i < ENGINES; i++)
            say(&clients[i], "{\"type\":\"execute\",\"id\":1,\"session\":%lld,\"code\":\"1\"}",
                clients[i].session);
        for (unsigned i = 0; i < ENGINES; i++)
            expect(&clients[i], "\"id\":1,\"result\":{\"ok\":true");
    }
    for (unsigned i = 0; i < ENGINES; i++)
        client_close(&clients[i]);
    server_end();
    CU_ASSERT_EQUAL(laz_os_read_file(log, (size_t)16 << 20, &text, NULL), 0);
    laz_audit_verify_init(&verify, count_finding, &findings);
    laz_audit_verify_feed(&verify, laz_buf_text(&text), text.len);
    CU_ASSERT_TRUE(laz_audit_verify_end(&verify));
    CU_ASSERT_EQUAL(verify.records, ENGINES * (2 * EXECUTIONS + 2));
    CU_ASSERT_EQUAL(findings, 0);
    laz_audit_verify_fini(&verify);
    laz_buf_fini(&text);
    laz_os_remove_tree(logs);
}

/* ---- neighbours ------------------------------------------------------------------------------ */

/* The thread of an engine stands still between two events. */
struct halt {
    struct laz_post post;
    sem_t stands, goes_on;
};

static void halt_stand(struct laz_post *post)
{
    struct halt *halt = (struct halt *)(void *)post;

    sem_post(&halt->stands);
    while (sem_wait(&halt->goes_on) != 0) {
    }
}

static void halt_begin(struct halt *halt, unsigned number)
{
    *halt = (struct halt){.post.run = halt_stand};
    sem_init(&halt->stands, 0, 0);
    sem_init(&halt->goes_on, 0, 0);
    laz_loop_post(server_of(number)->loop, &halt->post);
    while (sem_wait(&halt->stands) != 0) {
    }
}

/* After halt_end the server has to be ended before the halt is gone. */
static void halt_end(struct halt *halt)
{
    sem_post(&halt->goes_on);
}

static void an_engine_that_stands_still_holds_up_its_clients_only(void)
{
    struct client here, there, more, gone, late;
    struct halt halt;

    servers_begin(2, OPEN);
    client_greet(&here);
    (void)client_session(&here, "");
    is_served(&here);
    client_greet(&there);
    (void)client_session(&there, "");
    is_served(&there);
    halt_begin(&halt, 1);
    say(&there, "{\"type\":\"execute\",\"id\":2,\"session\":%lld,\"code\":\"6 * 7\"}",
        there.session);
    client_greet(&more); /* of equal ones the first engine */
    client_open(&gone);
    await_clients(1, 2);
    client_close(&gone); /* it is gone before its server has it */
    is_served(&here);
    client_open(&late); /* both have two: the first engine */
    expect(&late, "{\"type\":\"hello\"");
    client_close(&late);
    await_clients(0, 2);
    client_close(&more);
    await_clients(0, 1);
    is_served(&here);
    halt_end(&halt);
    expect(&there, "\"id\":2,\"result\":{\"ok\":true,\"value\":42");
    await_clients(1, 1);
    client_close(&here);
    client_close(&there);
    server_end();
}

static void clients_that_flood_and_calls_that_wait_hold_up_nobody(void)
{
    enum { REQUESTS = 300 };
    struct client clients[ENGINES];

    servers_begin(ENGINES, OPEN);
    for (unsigned i = 0; i < ENGINES; i++) {
        client_greet(&clients[i]);
        (void)client_session(&clients[i], ",\"tools\":" ADD);
    }
    say(&clients[0], "{\"type\":\"execute\",\"id\":2,\"session\":%lld,\"code\":\"add(1)\"}",
        clients[0].session);
    expect(&clients[0], "\"type\":\"tool_call\""); /* it is not answered for now */
    for (int id = 1; id <= REQUESTS; id++) {       /* and nothing is read for now */
        say(&clients[1], "{\"type\":\"cancel\",\"id\":%d,\"request\":9999}", id);
        if (id % 50 == 0)
            is_served(&clients[2]);
    }
    for (int id = 1; id <= REQUESTS; id++) {
        expect(&clients[1], "{\"type\":\"done\"");
        CU_ASSERT_EQUAL(member(&clients[1], "id"), id);
    }
    is_served(&clients[1]);
    say(&clients[0], "{\"type\":\"answer\",\"call\":%lld,\"value\":5}",
        member(&clients[0], "call"));
    expect(&clients[0], "\"id\":2,\"result\":{\"ok\":true,\"value\":5");
    for (unsigned i = 0; i < ENGINES; i++)
        client_close(&clients[i]);
    server_end();
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Executes something that does not end. Returns the process of its session. */
static pid_t client_runs(struct client *client)
{
    say(client, "{\"type\":\"describe\",\"id\":3,\"session\":%lld}", client->session);
    expect(client, "\"type\":\"description\"");
    const char *pid = strstr(client->line, " pid=");
    CU_ASSERT_PTR_NOT_NULL_FATAL(pid);
    const pid_t process = (pid_t)atoi(pid + 5);
    say(client,
        "{\"type\":\"execute\",\"id\":2,\"session\":%lld,\"output\":true,"
        "\"code\":\"print(1) io.flush() while true do end\"}",
        client->session);
    expect(client, "\"type\":\"output\",\"id\":2");
    return process;
}

static void is_ended(struct client *client)
{
    expect(client, "\"id\":2,\"result\":{\"ok\":false");
    CU_ASSERT(has(client->line, "\"reason\":\"cancelled\""));
    CU_ASSERT_PTR_NULL(hear(client));
}

static void *free_server(void *user)
{
    laz_server_free(user);
    return NULL;
}

/* What runs is cancelled in all of them, and reported, while one of them stands still. */
static void engines_end_at_the_same_time(void)
{
    const int threads = trace_threads(), descriptors = trace_descriptors();
    struct client clients[ENGINES];
    pid_t processes[ENGINES];
    struct halt halt;
    pthread_t thread;

    servers_begin(ENGINES, OPEN);
    for (unsigned i = 0; i < ENGINES; i++) {
        client_greet(&clients[i]);
        (void)client_session(&clients[i], "");
        is_served(&clients[i]);
        processes[i] = client_runs(&clients[i]);
    }
    halt_begin(&halt, 1);
    server_stop();
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, free_server, server), 0);
    is_ended(&clients[0]);
    is_ended(&clients[2]);
    halt_end(&halt);
    is_ended(&clients[1]);
    pthread_join(thread, NULL);
    server_is_gone();
    for (unsigned i = 0; i < ENGINES; i++) {
        CU_ASSERT(kill(processes[i], 0) == -1 && errno == ESRCH);
        client_close(&clients[i]);
    }
    CU_ASSERT_EQUAL(trace_threads(), threads);
    CU_ASSERT_EQUAL(trace_descriptors(), descriptors);
    CU_ASSERT_EQUAL(trace_children(), 0);
}

/* One connection after the other, until nobody listens. */
struct storm {
    pthread_t thread;
    sem_t came; /* after each */
    char place[sizeof path];
};

static void *storm_connect(void *user)
{
    struct storm *storm = user;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int rc = 0;

    snprintf(address.sun_path, sizeof address.sun_path, "%s", storm->place);
    while (!rc) {
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        rc = connect(fd, (struct sockaddr *)&address, sizeof address);
        close(fd);
        sem_post(&storm->came);
    }
    return NULL;
}

static void clients_that_come_while_the_server_ends_leave_nothing(void)
{
    const unsigned rounds = getenv("LAZARET_TEST_FULL") ? 50 : 4;
    const int threads = trace_threads(), descriptors = trace_descriptors();

    for (unsigned round = 0; round < rounds; round++) {
        struct storm storms[3];
        servers_begin(ENGINES, OPEN);
        for (unsigned i = 0; i < 3; i++) {
            memcpy(storms[i].place, path, sizeof path);
            sem_init(&storms[i].came, 0, 0);
            CU_ASSERT_EQUAL_FATAL(
                pthread_create(&storms[i].thread, NULL, storm_connect, &storms[i]), 0);
        }
        for (unsigned n = 0; n < 50 + 7 * round; n++)
            while (sem_wait(&storms[n % 3].came) != 0) {
            }
        server_end();
        for (unsigned i = 0; i < 3; i++) {
            pthread_join(storms[i].thread, NULL);
            sem_destroy(&storms[i].came);
        }
        CU_ASSERT_EQUAL(trace_threads(), threads);
        CU_ASSERT_EQUAL(trace_descriptors(), descriptors);
    }
}

static void clients_that_go_at_once_leave_nothing(void)
{
    const unsigned most = getenv("LAZARET_TEST_FULL") ? 10000 : 1000;
    struct client client, neighbours[ENGINES];

    servers_begin(ENGINES, OPEN);
    for (unsigned i = 0; i < ENGINES; i++) {
        client_greet(&neighbours[i]);
        (void)client_session(&neighbours[i], "");
    }
    for (unsigned n = 0; n < most; n++) {
        client_open(&client);
        if (n % 3 == 0)
            say(&client, "{\"type\":\"execute\",\"id\":1,\"cod");
        if (n % 250 == 1)
            say(&client, "{\"type\":\"execute\",\"id\":1,\"code\":\"while true do end\"}");
        client_close(&client);
        if (n % 200 == 0)
            for (unsigned i = 0; i < ENGINES; i++)
                is_served(&neighbours[i]);
    }
    for (unsigned i = 0; i < ENGINES; i++) {
        await_clients(i, 1);
        is_served(&neighbours[i]);
        client_close(&neighbours[i]);
    }
    server_end();
}

/* ---- making, and what is used up --------------------------------------------------------------
 */

/* However far the descriptors reach. */
static void a_server_is_made_as_a_whole_or_not_at_all(void)
{
    const int threads = trace_threads(), descriptors = trace_descriptors();
    struct laz_error err = {0};
    struct rlimit limit;
    unsigned failed = 0;

    snprintf(directory, sizeof directory, "/tmp/serve-test.XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/socket", directory);
    server_engines = LAZ_SERVER_ENGINES + 1;
    CU_ASSERT_PTR_NULL(server_make(OPEN, &err));
    CU_ASSERT_EQUAL(err.code, LAZ_EINVAL);
    UNIT_TEXT(err.text, "a server has 1 to 16 engines, not 17");
    CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
    server_engines = ENGINES;
    server = NULL;
    for (rlim_t n = (rlim_t)descriptors + 2; !server && failed < 300; n++) {
        const struct rlimit few = {n, limit.rlim_max};
        err = (struct laz_error){0};
        CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &few), 0);
        server = server_make(OPEN, &err);
        CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
        failed += !server;
        if (server)
            break;
        CU_ASSERT(err.code && *err.text);
        CU_ASSERT_EQUAL(trace_threads(), threads);
        CU_ASSERT_EQUAL(trace_descriptors(), descriptors);
        CU_ASSERT_EQUAL(access(path, F_OK), -1);
    }
    CU_ASSERT(server && failed > 10);
    server_engines = 1;
    laz_server_free(server); /* one that never ran */
    server_is_gone();
    CU_ASSERT_EQUAL(trace_threads(), threads);
    CU_ASSERT_EQUAL(trace_descriptors(), descriptors);
}

/* The one client of standard input and output has one engine. */
static void standard_input_has_one_engine(void)
{
    struct laz_settings *settings = NULL;
    struct laz_server *made = NULL;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL_FATAL(laz_settings_new(&settings, &err), 0);
    for (unsigned n = 0; n < 3; n += 2) {
        const struct laz_server_options options = {.settings = settings, .engines = n};
        CU_ASSERT_EQUAL(laz_server_new(&options, &made, &err), LAZ_EINVAL);
        CU_ASSERT_PTR_NULL(made);
    }
    laz_settings_free(settings);
}

/* Who cannot be served is told why, and does not count; the engines go on. */
static void a_client_for_whom_there_is_no_memory_is_turned_away(void)
{
    struct client client, neighbours[2];
    unsigned refused = 0, greeted = 0;

    servers_begin(2, OPEN);
    for (unsigned i = 0; i < 2; i++) {
        client_greet(&neighbours[i]);
        (void)client_session(&neighbours[i], "");
        is_served(&neighbours[i]);
    }
    for (unsigned n = 1; n < 40 && greeted < 4; n++) {
        for (unsigned i = 0; i < 2;
             i++) { /* the first is placed on one engine, then on the other */
            struct client other;
            if (i)
                client_greet(&other);
            fault_begin(n, false);
            client_open(&client);
            struct pollfd told = {.fd = client.fd, .events = POLLIN};
            while (poll(&told, 1, -1) < 0) {
            }
            fault_end();
            if (!hear(&client))
                refused++; /* no memory for the reason either */
            else if (has(client.line, "\"failed\",\"code\":\"LAZ_ENOMEM\""))
                refused++;
            else
                greeted += has(client.line, "{\"type\":\"hello\"");
            client_close(&client);
            if (i)
                client_close(&other);
            await_clients(0, 1);
            await_clients(1, 1);
        }
    }
    CU_ASSERT(refused >= 3);
    CU_ASSERT(greeted >= 4);
    for (unsigned i = 0; i < 2; i++) {
        is_served(&neighbours[i]);
        client_close(&neighbours[i]);
    }
    server_end();
}

static const struct unit_test tests[] = {
    UNIT(clients_are_spread_over_the_engines),
    UNIT(clients_are_bounded_in_all_engines_together),
    UNIT(what_a_client_has_is_its_own),
    UNIT(places_in_pools_are_counted_in_all_engines),
    UNIT(all_engines_write_one_log),
    UNIT(an_engine_that_stands_still_holds_up_its_clients_only),
    UNIT(clients_that_flood_and_calls_that_wait_hold_up_nobody),
    UNIT(engines_end_at_the_same_time),
    UNIT(clients_that_come_while_the_server_ends_leave_nothing),
    UNIT(clients_that_go_at_once_leave_nothing),
    UNIT(a_server_is_made_as_a_whole_or_not_at_all),
    UNIT(standard_input_has_one_engine),
    UNIT(a_client_for_whom_there_is_no_memory_is_turned_away),
    {0},
};

int main(void)
{
    return server_test("serve_engines", tests);
}
