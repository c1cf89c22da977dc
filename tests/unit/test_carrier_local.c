/* SPDX-License-Identifier: MIT */
/* test_carrier_local.c - the carrier `local`: as a plugin, and its bus, which the simulation uses.
 */
#include "carrier_contract.h"

#include "bus.h"
#include "plugin/plugin.h"

#include <stdlib.h>
#include <string.h>

/* ---- the plugin -------------------------------------------------------------------------------
 */

/* With a clock that a test moves: `ms` later. */
static void later(struct connection *connection, const char *ms)
{
    CU_ASSERT(give(connection, "local.advance", NULL, ms) == 0);
}

#define MANUAL "{\"bus\":\"m\",\"seed\":1,\"manual\":true,\"delay\":10}"

static void messages_come_in_order_after_their_delay(void)
{
    struct connection a, b;

    CU_ASSERT_FATAL(connection_open(&a, MANUAL, NULL) == 0);
    CU_ASSERT_FATAL(connection_open(&b, MANUAL, NULL) == 0);
    subscribe(&b, "x.y", NULL);
    subscribe(&a, "x.>", NULL);
    CU_ASSERT(give(&a, "x.y", NULL, "1") == 0);
    CU_ASSERT(give(&a, "x.y", "r.1", "2") == 0);
    CU_ASSERT(give(&a, "x.y.z", NULL, "3") == 0);
    later(&a, "9");
    UNIT_TEXT(b.ear.text, "connected");
    later(&a, "1");
    UNIT_TEXT(b.ear.text, "connected; x.y - 1; x.y r.1 2");
    UNIT_TEXT(a.ear.text, "connected; x.y - 1; x.y r.1 2; x.y.z - 3");
    connection_close(&a);
    connection_close(&b);
}

static void one_of_a_queue_group_gets_a_message(void)
{
    struct connection a, b, c;

    CU_ASSERT_FATAL(connection_open(&a, MANUAL, NULL) == 0);
    CU_ASSERT_FATAL(connection_open(&b, MANUAL, NULL) == 0);
    CU_ASSERT_FATAL(connection_open(&c, MANUAL, NULL) == 0);
    subscribe(&a, "q", "w");
    struct laz_carrier_subscription *gone = subscribe(&b, "q", "w");
    subscribe(&c, "q", NULL);
    for (int i = 0; i < 40; i++)
        give(&c, "q", NULL, "m");
    later(&a, "10");
    CU_ASSERT(a.ear.n + b.ear.n == 2 + 40 && a.ear.n > 1 && b.ear.n > 1 && c.ear.n == 1 + 40);
    carrier_ops->unsubscribe(b.state, gone, NULL, NULL);
    const unsigned before = b.ear.n;
    for (int i = 0; i < 10; i++)
        give(&c, "q", NULL, "m");
    later(&a, "10");
    CU_ASSERT(a.ear.n + b.ear.n == 2 + 50 && b.ear.n == before);
    connection_close(&a);
    connection_close(&b);
    connection_close(&c);
}

static void who_sends_hears_that_nobody_is_there(void)
{
    struct connection a;

    CU_ASSERT_FATAL(connection_open(&a, MANUAL, NULL) == 0);
    CU_ASSERT(give(&a, "x", "r.1", "m") == 0);
    CU_ASSERT(give(&a, "x", NULL, "m") == 0);
    later(&a, "10");
    UNIT_TEXT(a.ear.text, "connected; nobody r.1");
    connection_close(&a);
}

static void what_has_come_is_received_before_the_end_of_a_subscription(void)
{
    struct connection a;

    CU_ASSERT_FATAL(connection_open(&a, MANUAL, NULL) == 0);
    struct laz_carrier_subscription *subscription = subscribe(&a, "x", NULL);
    give(&a, "x", NULL, "1");
    carrier_ops->unsubscribe(a.state, subscription, ear_drained, &a.ear);
    give(&a, "x", NULL, "2");
    later(&a, "20");
    UNIT_TEXT(a.ear.text, "connected; x - 1; drained");
    connection_close(&a);
}

static void what_is_wrong_is_refused(void)
{
    static const char *const wrong[] = {"", ".", "a.", ".a", "a..b", "a b", "a.*", "a.>.b", ">a"};
    struct laz_carrier_subscription *subscription;
    struct laz_error err = {0};
    char *large = calloc(1, (2 << 20) + 1), longest[300];
    struct connection a;

    CU_ASSERT_FATAL(large != NULL);
    CU_ASSERT(connection_open(&a, "[]", &err) == LAZ_EINVAL);
    CU_ASSERT(connection_open(&a, "{}", &err) == LAZ_EINVAL);
    CU_ASSERT(connection_open(&a, "{\"bus\":7}", &err) == LAZ_EINVAL);
    CU_ASSERT_FATAL(connection_open(&a, MANUAL, NULL) == 0);
    memset(longest, 'a', sizeof longest);
    longest[256] = '\0';
    for (size_t i = 0; i <= sizeof wrong / sizeof *wrong; i++) {
        const char *subject = i < sizeof wrong / sizeof *wrong ? wrong[i] : longest;
        CU_ASSERT(give(&a, subject, NULL, "m") == LAZ_EINVAL);
        CU_ASSERT(carrier_ops->subscribe(a.state, subject, NULL, ear_received, &a.ear,
                                         &subscription, &err) == LAZ_EINVAL);
    }
    CU_ASSERT(give(&a, "a.>", NULL, "m") == LAZ_EINVAL);
    CU_ASSERT(carrier_ops->send(a.state, "x", NULL, large, 2 << 20, &err) == LAZ_ETOOBIG);
    CU_ASSERT(carrier_ops->send(a.state, "x", NULL, large, LAZ_CARRIER_MESSAGE, &err) == 0);
    CU_ASSERT(give(&a, "local.advance", NULL, "") == LAZ_EINVAL);
    CU_ASSERT(give(&a, "local.advance", NULL, "-1") == LAZ_EINVAL);
    CU_ASSERT(give(&a, "local.advance", NULL, "1x") == LAZ_EINVAL);
    CU_ASSERT(give(&a, "local.advance", NULL, "1234567890123") == LAZ_EINVAL);
    connection_close(&a);
    free(large);
}

/* Without a clock of a test a thread delivers. */
static void a_thread_delivers(void)
{
    static const char options[] = "{\"bus\":\"t\",\"seed\":1,\"jitter\":1}";
    struct connection a, b;

    CU_ASSERT_FATAL(connection_open(&a, options, NULL) == 0);
    CU_ASSERT_FATAL(connection_open(&b, options, NULL) == 0);
    struct laz_carrier_subscription *subscription = subscribe(&b, "x", NULL);
    ear_wait(&a.ear, 1);
    ear_wait(&b.ear, 1);
    for (int i = 0; i < 50; i++)
        give(&a, "x", NULL, i % 2 ? "b" : "a");
    ear_wait(&b.ear, 51);
    CU_ASSERT(strncmp(b.ear.text, "connected; x - a; x - b; x - a; x - b", 37) == 0);
    give(&a, "y", "r", "m");
    ear_wait(&a.ear, 2);
    UNIT_TEXT(a.ear.text, "connected; nobody r");
    carrier_ops->unsubscribe(b.state, subscription, ear_drained, &b.ear);
    ear_wait(&b.ear, 52);
    connection_close(&b);
    connection_close(&a);
}

/* Another bus of the same process has nothing to do with it; a bus ends with its last connection.
 */
static void buses_are_apart_by_their_names(void)
{
    struct connection a, b;

    CU_ASSERT_FATAL(connection_open(&a, MANUAL, NULL) == 0);
    CU_ASSERT_FATAL(connection_open(&b, "{\"bus\":\"n\",\"manual\":true}", NULL) == 0);
    subscribe(&b, "x", NULL);
    give(&a, "x", "r", "m");
    later(&a, "10");
    later(&b, "10");
    UNIT_TEXT(a.ear.text, "connected; nobody r");
    UNIT_TEXT(b.ear.text, "connected");
    connection_close(&a);
    connection_close(&b);
    CU_ASSERT_FATAL(connection_open(&a, "{\"bus\":\"m\",\"manual\":true}", NULL) == 0);
    give(&a, "x", "r", "m"); /* without the delay of the one before */
    later(&a, "0");
    UNIT_TEXT(a.ear.text, "connected; nobody r");
    connection_close(&a);
}

static void it_is_loaded_as_a_carrier_only(void)
{
    struct laz_module *other = NULL;
    struct laz_error err = {0};
    char *path = unit_built(".libs/local.so");

    CU_ASSERT(laz_module_open(path, LAZ_PLUGIN_BACKEND, NULL, &other, &err) == LAZ_EPLUGIN);
    CU_ASSERT(strstr(err.text, "this is a carrier, not a backend") != NULL);
    CU_ASSERT(other == NULL);
    UNIT_TEXT(laz_kind_name(LAZ_PLUGIN_CARRIER), "a carrier");
    free(path);
}

/* ---- the bus ----------------------------------------------------------------------------------
 */

static char seen[4096];

static void bus_seen(void *user, const char *subject, const char *reply, const char *data,
                     size_t len)
{
    (void)user;
    (void)subject;
    (void)reply;
    snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "%.*s", (int)len, data);
}

static void bus_timer(void *user)
{
    snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "%s", (const char *)user);
}

static void run(struct bus *bus, uint64_t until_us)
{
    struct bus_event *event;

    while ((event = bus_next(bus, until_us))) {
        bus_run(event);
        bus_done(bus, event);
    }
    bus_move(bus, until_us);
}

/* Ten messages of one connection to another one. */
static void sent_with(const struct bus_faults *faults, char text[64])
{
    static const struct bus_calls calls = {.connected = NULL};
    struct bus *bus = bus_new(faults);
    struct bus_port *a = bus_port_new(bus, &calls, NULL), *b = bus_port_new(bus, &calls, NULL);

    bus_subscribe(b, "x", NULL, bus_seen, NULL);
    seen[0] = '\0';
    for (int i = 0; i < 10; i++) {
        const char digit = (char)('0' + i);
        bus_send(a, "x", NULL, &digit, 1);
    }
    run(bus, 1000000);
    snprintf(text, 64, "%.63s", seen);
    bus_free(bus);
}

static void faults_follow_from_the_seed(void)
{
    char one[64], two[64], other[64];
    struct bus_faults faults = {.seed = 7, .delay_us = 100, .jitter_us = 100};

    sent_with(&faults, one);
    UNIT_TEXT(one, "0123456789");
    faults.drop = faults.duplicate = faults.reorder = 300;
    sent_with(&faults, one);
    sent_with(&faults, two);
    faults.seed = 8;
    sent_with(&faults, other);
    UNIT_TEXT(one, two);
    CU_ASSERT(strcmp(one, other) != 0 && strcmp(one, "0123456789") != 0);
    faults = (struct bus_faults){.drop = 1000};
    sent_with(&faults, one);
    UNIT_TEXT(one, "");
    faults = (struct bus_faults){.duplicate = 1000};
    sent_with(&faults, one);
    UNIT_TEXT(one, "00112233445566778899");
}

static void a_cut_loses_and_a_pause_keeps(void)
{
    static const struct bus_faults faults = {.delay_us = 10};
    static const struct bus_calls calls = {.connected = NULL};
    struct bus *bus = bus_new(&faults);
    struct bus_port *a = bus_port_new(bus, &calls, NULL), *b = bus_port_new(bus, &calls, NULL);
    char timer[] = "T";

    bus_subscribe(b, "x", NULL, bus_seen, NULL);
    seen[0] = '\0';
    bus_port_cut(a, true, false);
    bus_send(a, "x", NULL, "1", 1);
    bus_port_cut(a, false, true); /* what it hears does not matter */
    bus_send(a, "x", NULL, "2", 1);
    bus_port_cut(b, false, true);
    run(bus, 100);
    bus_port_cut(b, false, false);
    UNIT_TEXT(seen, "");
    bus_send(a, "x", NULL, "3", 1);
    bus_port_pause(b, true);
    bus_at(bus, b, 105, bus_timer, timer);
    run(bus, 200);
    bus_send(a, "x", NULL, "4", 1);
    run(bus, 300);
    UNIT_TEXT(seen, "");
    bus_port_pause(b, false);
    run(bus, 300);
    UNIT_TEXT(seen, "34T"); /* messages before timers */
    bus_port_connect(b, false);
    bus_send(a, "x", NULL, "5", 1);
    run(bus, 400);
    bus_port_connect(b, true);
    bus_send(a, "x", NULL, "6", 1);
    run(bus, 500);
    UNIT_TEXT(seen, "34T6");
    bus_send(a, "x", NULL, "7", 1);
    bus_port_free(b);
    run(bus, 600);
    UNIT_TEXT(seen, "34T6");
    CU_ASSERT(bus_counts(bus).sent == 7 && bus_counts(bus).delivered == 3);
    bus_free(bus);
}

static void many_subjects_and_events_are_found(void)
{
    static const struct bus_faults faults = {.delay_us = 5, .jitter_us = 1000};
    static const struct bus_calls calls = {.connected = NULL};
    struct bus *bus = bus_new(&faults);
    struct bus_port *port = bus_port_new(bus, &calls, NULL);
    struct bus_sub *subs[500];
    char subject[32];
    uint64_t before = 0;

    for (unsigned i = 0; i < 500; i++) {
        snprintf(subject, sizeof subject, "a.%u.b", i);
        subs[i] = bus_subscribe(port, subject, NULL, bus_seen, NULL);
    }
    seen[0] = '\0';
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(subject, sizeof subject, "a.%u.b", i);
        bus_send(port, subject, NULL, "x", 1);
    }
    for (struct bus_event *event; (event = bus_next(bus, UINT64_MAX));) {
        CU_ASSERT(bus_now(bus) >= before);
        before = bus_now(bus);
        bus_run(event);
        bus_done(bus, event);
    }
    CU_ASSERT(strlen(seen) == 500);
    for (unsigned i = 0; i < 500; i++)
        bus_unsubscribe(subs[i], NULL, NULL);
    bus_send(port, "a.7.b", NULL, "x", 1);
    run(bus, UINT64_MAX / 2);
    CU_ASSERT(strlen(seen) == 500);
    bus_free(bus);
    bus_free(NULL);
}

static const struct unit_test tests[] = {
    CONTRACT_TESTS,
    UNIT(messages_come_in_order_after_their_delay),
    UNIT(one_of_a_queue_group_gets_a_message),
    UNIT(who_sends_hears_that_nobody_is_there),
    UNIT(what_has_come_is_received_before_the_end_of_a_subscription),
    UNIT(what_is_wrong_is_refused),
    UNIT(a_thread_delivers),
    UNIT(buses_are_apart_by_their_names),
    UNIT(it_is_loaded_as_a_carrier_only),
    UNIT(faults_follow_from_the_seed),
    UNIT(a_cut_loses_and_a_pause_keeps),
    UNIT(many_subjects_and_events_are_found),
    {0},
};

int main(void)
{
    carrier_options = "{\"bus\":\"contract\",\"seed\":1,\"delay\":0}";
    return carrier_run("local", "carrier_local", tests);
}
