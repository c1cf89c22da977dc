/* SPDX-License-Identifier: MIT */
/* carrier_contract.c - what holds for each carrier, whatever broker it has. */
#include "carrier_contract.h"

#include "base/json.h"
#include "plugin/plugin.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct laz_carrier_ops *carrier_ops;
const char *carrier_options;

/* ---- an ear ---------------------------------------------------------------------------------- */

void ear_add(struct ear *ear, const char *what, const char *text, size_t len)
{
    pthread_mutex_lock(&ear->lock);
    const size_t at = strlen(ear->text);
    snprintf(ear->text + at, sizeof ear->text - at, "%s%s%.*s", at ? "; " : "", what, (int)len,
             text);
    ear->n++;
    pthread_cond_broadcast(&ear->heard);
    pthread_mutex_unlock(&ear->lock);
}

void ear_wait(struct ear *ear, unsigned n)
{
    pthread_mutex_lock(&ear->lock);
    while (ear->n < n)
        pthread_cond_wait(&ear->heard, &ear->lock);
    pthread_mutex_unlock(&ear->lock);
}

void ear_wait_for(struct ear *ear, const char *part)
{
    pthread_mutex_lock(&ear->lock);
    while (!strstr(ear->text, part))
        pthread_cond_wait(&ear->heard, &ear->lock);
    pthread_mutex_unlock(&ear->lock);
}

static void ear_log(void *host, uint32_t level, const char *text)
{
    (void)level;
    ear_add(host, "log ", text, strlen(text));
}

static void ear_connected(void *host)
{
    ear_add(host, "connected", "", 0);
}

static void ear_disconnected(void *host, const char *why)
{
    (void)why;
    ear_add(host, "disconnected", "", 0);
}

static void ear_refused(void *host, uint32_t what, const char *subject, const char *why)
{
    (void)why;
    ear_add(host, what == LAZ_CARRIER_SEND ? "refused to send " : "refused to hear ", subject,
            strlen(subject));
}

static void ear_nobody(void *host, const char *reply)
{
    ear_add(host, "nobody ", reply, strlen(reply));
}

void ear_received(void *user, const char *subject, const char *reply, const char *data, size_t len)
{
    char what[600];

    snprintf(what, sizeof what, "%s %s ", subject, reply ? reply : "-");
    ear_add(user, what, data, len);
}

void ear_drained(void *user)
{
    ear_add(user, "drained", "", 0);
}

/* ---- connections ----------------------------------------------------------------------------- */

int connection_open(struct connection *connection, const char *options, struct laz_error *err)
{
    memset(connection, 0, sizeof *connection);
    pthread_mutex_init(&connection->ear.lock, NULL);
    pthread_cond_init(&connection->ear.heard, NULL);
    connection->services = (struct laz_carrier_services){.size = sizeof connection->services,
                                                         .json = laz_json_api(),
                                                         .host = &connection->ear,
                                                         .log = ear_log,
                                                         .connected = ear_connected,
                                                         .disconnected = ear_disconnected,
                                                         .refused = ear_refused,
                                                         .nobody = ear_nobody};
    return carrier_ops->open(&connection->services, options, strlen(options), &connection->state,
                             err);
}

void connection_close(struct connection *connection)
{
    carrier_ops->close(connection->state);
    pthread_mutex_destroy(&connection->ear.lock);
    pthread_cond_destroy(&connection->ear.heard);
}

struct laz_carrier_subscription *subscribe(struct connection *connection, const char *subject,
                                           const char *queue)
{
    struct laz_carrier_subscription *subscription = NULL;
    struct laz_error err = {0};

    CU_ASSERT(carrier_ops->subscribe(connection->state, subject, queue, ear_received,
                                     &connection->ear, &subscription, &err) == 0);
    return subscription;
}

int give(struct connection *connection, const char *subject, const char *reply, const char *text)
{
    return carrier_ops->send(connection->state, subject, reply, text, strlen(text), NULL);
}

static void count_one(void *user, const char *subject, const char *reply, const char *data,
                      size_t len)
{
    struct ear *ear = user;

    (void)subject;
    (void)reply;
    (void)data;
    (void)len;
    pthread_mutex_lock(&ear->lock);
    ear->n++;
    pthread_cond_broadcast(&ear->heard);
    pthread_mutex_unlock(&ear->lock);
}

static void count_drained(void *user)
{
    count_one(user, NULL, NULL, NULL, 0);
}

/* A message to oneself comes after all that was asked for before it. */
void connection_settle(struct connection *connection)
{
    static _Atomic unsigned number;
    struct ear ear = {.n = 0};
    struct laz_carrier_subscription *subscription;
    char subject[40];

    pthread_mutex_init(&ear.lock, NULL);
    pthread_cond_init(&ear.heard, NULL);
    snprintf(subject, sizeof subject, "settle.%u", atomic_fetch_add(&number, 1));
    CU_ASSERT(carrier_ops->subscribe(connection->state, subject, NULL, count_one, &ear,
                                     &subscription, NULL) == 0);
    CU_ASSERT(give(connection, subject, NULL, "") == 0);
    ear_wait(&ear, 1);
    carrier_ops->unsubscribe(connection->state, subscription, count_drained, &ear);
    ear_wait(&ear, 2);
    pthread_mutex_destroy(&ear.lock);
    pthread_cond_destroy(&ear.heard);
}

/* ---- cases ----------------------------------------------------------------------------------- */

static bool two_open(struct connection *a, struct connection *b)
{
    struct laz_error err = {0};

    if (connection_open(a, carrier_options, &err) != 0) {
        printf("%s\n", err.text);
        return false;
    }
    if (connection_open(b, carrier_options, &err) != 0) {
        connection_close(a);
        return false;
    }
    ear_wait(&a->ear, 1);
    ear_wait(&b->ear, 1);
    return true;
}

void contract_order_of_one_sender(void)
{
    struct connection a, b;

    CU_ASSERT_FATAL(two_open(&a, &b));
    subscribe(&b, "x.y", NULL);
    subscribe(&a, "x.>", NULL);
    connection_settle(&b);
    CU_ASSERT(give(&a, "x.y", NULL, "1") == 0);
    CU_ASSERT(give(&a, "x.y", "r.1", "2") == 0);
    CU_ASSERT(give(&a, "x.y.z", NULL, "") == 0);
    CU_ASSERT(give(&a, "x", NULL, "4") == 0);
    ear_wait(&b.ear, 3);
    ear_wait(&a.ear, 4);
    connection_settle(&a);
    UNIT_TEXT(b.ear.text, "connected; x.y - 1; x.y r.1 2");
    UNIT_TEXT(a.ear.text, "connected; x.y - 1; x.y r.1 2; x.y.z - ");
    connection_close(&a);
    connection_close(&b);
}

void contract_one_of_a_queue_group(void)
{
    struct connection a, b;

    CU_ASSERT_FATAL(two_open(&a, &b));
    subscribe(&a, "q", "w");
    struct laz_carrier_subscription *gone = subscribe(&b, "q", "w");
    connection_settle(&a);
    connection_settle(&b);
    for (int i = 0; i < 100; i++)
        CU_ASSERT(give(&a, "q", NULL, "m") == 0);
    connection_settle(&a);
    connection_settle(&b);
    CU_ASSERT(a.ear.n + b.ear.n == 2 + 100 && a.ear.n > 1 && b.ear.n > 1);
    const unsigned before = b.ear.n;
    carrier_ops->unsubscribe(b.state, gone, ear_drained, &b.ear);
    ear_wait(&b.ear, before + 1);
    for (int i = 0; i < 10; i++)
        CU_ASSERT(give(&a, "q", NULL, "m") == 0);
    connection_settle(&a);
    CU_ASSERT(a.ear.n + b.ear.n == 3 + 110 && b.ear.n == before + 1);
    connection_close(&a);
    connection_close(&b);
}

/* A broker may need a subscription to the reply subject for that. */
void contract_nobody_is_told(void)
{
    struct connection a, b;

    CU_ASSERT_FATAL(two_open(&a, &b));
    subscribe(&a, "r.>", NULL);
    struct laz_carrier_subscription *subscription = subscribe(&b, "x", NULL);
    connection_settle(&b);
    CU_ASSERT(give(&a, "x", "r.0", "m") == 0);
    ear_wait(&b.ear, 2);
    carrier_ops->unsubscribe(b.state, subscription, ear_drained, &b.ear);
    ear_wait(&b.ear, 3);
    CU_ASSERT(give(&a, "x", "r.1", "m") == 0);
    CU_ASSERT(give(&a, "x", NULL, "m") == 0);
    ear_wait(&a.ear, 2);
    connection_settle(&a);
    UNIT_TEXT(a.ear.text, "connected; nobody r.1");
    UNIT_TEXT(b.ear.text, "connected; x r.0 m; drained");
    connection_close(&a);
    connection_close(&b);
}

void contract_what_has_come_is_received_before_drained(void)
{
    struct connection a;

    CU_ASSERT_FATAL(connection_open(&a, carrier_options, NULL) == 0);
    ear_wait(&a.ear, 1);
    struct laz_carrier_subscription *subscription = subscribe(&a, "x", NULL);
    for (int i = 0; i < 20; i++)
        CU_ASSERT(give(&a, "x", NULL, i < 19 ? "m" : "last") == 0);
    carrier_ops->unsubscribe(a.state, subscription, ear_drained, &a.ear);
    ear_wait_for(&a.ear, "drained");
    CU_ASSERT(give(&a, "x", NULL, "late") == 0);
    connection_settle(&a);
    CU_ASSERT(a.ear.n == 22 && strstr(a.ear.text, "x - last; drained") &&
              !strstr(a.ear.text, "late"));
    carrier_ops->unsubscribe(a.state, subscribe(&a, "x", NULL), NULL, NULL);
    connection_close(&a);
}

void contract_no_subject_is_refused(void)
{
    static const char *const wrong[] = {"",    ".",  "a.",    ".a",     "a..b",    "a b",
                                        "a.*", ">a", "a.>.b", "a\r\nb", "\xc3\xa4"};
    struct laz_carrier_subscription *subscription;
    struct laz_error err = {0};
    char longest[300];
    struct connection a;

    CU_ASSERT_FATAL(connection_open(&a, carrier_options, NULL) == 0);
    memset(longest, 'a', sizeof longest);
    longest[256] = '\0';
    for (size_t i = 0; i <= sizeof wrong / sizeof *wrong; i++) {
        const char *subject = i < sizeof wrong / sizeof *wrong ? wrong[i] : longest;
        CU_ASSERT(give(&a, subject, NULL, "m") == LAZ_EINVAL);
        CU_ASSERT(give(&a, "x", subject, "m") == LAZ_EINVAL);
        CU_ASSERT(carrier_ops->subscribe(a.state, subject, NULL, ear_received, &a.ear,
                                         &subscription, &err) == LAZ_EINVAL);
    }
    CU_ASSERT(give(&a, "a.>", NULL, "m") == LAZ_EINVAL);
    longest[255] = '\0';
    subscribe(&a, longest, NULL);
    CU_ASSERT(give(&a, longest, NULL, "m") == 0);
    ear_wait(&a.ear, 2);
    connection_close(&a);
}

struct large {
    struct ear ear;
    const char *data;
    bool is_same;
};

static void large_received(void *user, const char *subject, const char *reply, const char *data,
                           size_t len)
{
    struct large *large = user;

    if (len != LAZ_CARRIER_MESSAGE || memcmp(data, large->data, len) != 0)
        large->is_same = false;
    count_one(&large->ear, subject, reply, data, len);
}

void contract_largest_messages(void)
{
    struct laz_carrier_subscription *subscription;
    char *data = malloc(2 * LAZ_CARRIER_MESSAGE);
    struct large large = {.data = data, .is_same = true};
    struct connection a, b;

    CU_ASSERT_FATAL(data != NULL && two_open(&a, &b));
    pthread_mutex_init(&large.ear.lock, NULL);
    pthread_cond_init(&large.ear.heard, NULL);
    for (size_t i = 0; i < 2 * LAZ_CARRIER_MESSAGE; i++)
        data[i] = (char)(i * 7 + i / 251);
    CU_ASSERT(carrier_ops->subscribe(b.state, "large", NULL, large_received, &large, &subscription,
                                     NULL) == 0);
    connection_settle(&b);
    for (int i = 0; i < 20; i++)
        CU_ASSERT(carrier_ops->send(a.state, "large", "r", data, LAZ_CARRIER_MESSAGE, NULL) == 0);
    CU_ASSERT(carrier_ops->send(a.state, "large", NULL, data, 2 * LAZ_CARRIER_MESSAGE, NULL) ==
              LAZ_ETOOBIG);
    ear_wait(&large.ear, 20);
    CU_ASSERT(large.is_same);
    connection_close(&a);
    connection_close(&b);
    free(data);
}

/* ---- traffic --------------------------------------------------------------------------------- */

#define SENDERS  4
#define MESSAGES 25000 /* of each */

struct sender {
    pthread_t thread;
    struct connection *connection;
    unsigned number;
    _Atomic bool *stop; /* NULL: so many messages */
    bool is_failed;
};

static void *sender_main(void *user)
{
    struct sender *sender = user;
    char text[40];

    for (unsigned i = 0; sender->stop ? !*sender->stop : i < MESSAGES; i++) {
        const int len = snprintf(text, sizeof text, "%u %u", sender->number, i);
        const int rc =
            carrier_ops->send(sender->connection->state, "traffic", NULL, text, (size_t)len, NULL);
        if (rc && !(sender->stop && rc == LAZ_ECLOSED))
            sender->is_failed = true;
        if (sender->stop && i % 20 == 0) /* not faster than it is taken */
            usleep(1000);
    }
    return NULL;
}

struct traffic {
    struct ear ear;
    unsigned next[SENDERS];
    unsigned n_wrong;
};

static void traffic_received(void *user, const char *subject, const char *reply, const char *data,
                             size_t len)
{
    struct traffic *traffic = user;
    char text[40], *end;

    snprintf(text, sizeof text, "%.*s", (int)len, data);
    const unsigned long number = strtoul(text, &end, 10), i = strtoul(end, NULL, 10);
    if (number >= SENDERS || traffic->next[number] != i)
        traffic->n_wrong++;
    else
        traffic->next[number]++;
    count_one(&traffic->ear, subject, reply, data, len);
}

void contract_threads_keep_their_order(void)
{
    struct laz_carrier_subscription *subscription;
    struct traffic traffic = {.n_wrong = 0};
    struct sender senders[SENDERS];
    struct connection a, b;

    CU_ASSERT_FATAL(two_open(&a, &b));
    pthread_mutex_init(&traffic.ear.lock, NULL);
    pthread_cond_init(&traffic.ear.heard, NULL);
    CU_ASSERT(carrier_ops->subscribe(b.state, "traffic", NULL, traffic_received, &traffic,
                                     &subscription, NULL) == 0);
    connection_settle(&b);
    for (unsigned i = 0; i < SENDERS; i++) {
        senders[i] = (struct sender){.connection = &a, .number = i};
        CU_ASSERT(pthread_create(&senders[i].thread, NULL, sender_main, &senders[i]) == 0);
    }
    for (unsigned i = 0; i < SENDERS; i++) {
        pthread_join(senders[i].thread, NULL);
        CU_ASSERT(!senders[i].is_failed);
    }
    ear_wait(&traffic.ear, SENDERS * MESSAGES);
    CU_ASSERT(!traffic.n_wrong);
    connection_close(&a);
    connection_close(&b);
}

/* CUnit is for one thread. */
static void echo_received(void *user, const char *subject, const char *reply, const char *data,
                          size_t len)
{
    struct connection *connection = user;
    struct laz_carrier_subscription *subscription;
    char inner[80];

    (void)subject;
    snprintf(inner, sizeof inner, "%s.again", reply);
    if (carrier_ops->subscribe(connection->state, inner, NULL, ear_received, &connection->ear,
                               &subscription, NULL) != 0 ||
        carrier_ops->send(connection->state, inner, NULL, data, len, NULL) != 0)
        abort();
    carrier_ops->unsubscribe(connection->state, subscription, ear_drained, &connection->ear);
}

void contract_operations_in_a_callback(void)
{
    struct laz_carrier_subscription *subscription;
    struct connection a, b;

    CU_ASSERT_FATAL(two_open(&a, &b));
    CU_ASSERT(
        carrier_ops->subscribe(b.state, "echo", NULL, echo_received, &b, &subscription, NULL) == 0);
    connection_settle(&b);
    CU_ASSERT(give(&a, "echo", "r", "hello") == 0);
    ear_wait(&b.ear, 3);
    UNIT_TEXT(b.ear.text, "connected; r.again - hello; drained");
    connection_close(&a);
    connection_close(&b);
}

/* Nothing is called after `close` has returned: the sanitizers see who touches what was freed. */
void contract_close_in_the_middle(void)
{
    _Atomic bool stop = false;
    struct sender senders[2];
    struct connection a;

    CU_ASSERT_FATAL(connection_open(&a, carrier_options, NULL) == 0);
    for (unsigned i = 0; i < 2; i++) {
        senders[i] = (struct sender){.connection = &a, .stop = &stop};
        CU_ASSERT(pthread_create(&senders[i].thread, NULL, sender_main, &senders[i]) == 0);
    }
    for (int i = 0; i < 8; i++) {
        struct connection *b = calloc(1, sizeof *b);
        CU_ASSERT_FATAL(b != NULL && connection_open(b, carrier_options, NULL) == 0);
        struct laz_carrier_subscription *first, *second;
        CU_ASSERT(carrier_ops->subscribe(b->state, "traffic", NULL, count_one, &b->ear, &first,
                                         NULL) == 0);
        CU_ASSERT(carrier_ops->subscribe(b->state, "traffic", NULL, count_one, &b->ear, &second,
                                         NULL) == 0);
        ear_wait(&b->ear, 50);
        carrier_ops->unsubscribe(b->state, second, ear_drained, &b->ear);
        if (i % 2)
            ear_wait_for(&b->ear, "drained");
        connection_close(b);
        memset(b, 0xee, sizeof *b);
        free(b);
    }
    stop = true;
    for (unsigned i = 0; i < 2; i++) {
        pthread_join(senders[i].thread, NULL);
        CU_ASSERT(!senders[i].is_failed);
    }
    connection_close(&a);
}

/* ---- the program ----------------------------------------------------------------------------- */

int carrier_run(const char *name, const char *suite, const struct unit_test *tests)
{
    struct laz_error err = {0};
    struct laz_module *module;
    char file[64];

    snprintf(file, sizeof file, ".libs/%s.so", name);
    char *path = unit_built(file);
    if (!path || laz_module_open(path, LAZ_PLUGIN_CARRIER, NULL, &module, &err) != 0) {
        printf("%s: %s\n", path ? path : file, err.text);
        free(path);
        return 1;
    }
    carrier_ops = laz_module_plugin(module)->ops;
    const int status = unit_run(suite, tests);
    laz_module_close(module);
    free(path);
    return status;
}
