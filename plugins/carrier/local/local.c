/* SPDX-License-Identifier: MIT */
/* local.c - the carrier `local`: a bus in memory, for the connections of one process. For tests,
 * and for trying things: what its options say goes wrong on the way, by a seed.
 *
 * Connections with the same `bus` share one; the first of them says how it fails.  So the plugin
 * has a list of them, the one thing here that is of the process and not of a connection.  A thread
 * of each bus delivers.  With `manual` there is no thread and no clock: a message to the subject
 * local.advance, whose text is a number of milliseconds, moves the time, and runs what is due
 * before it returns. */
#include "bus.h"

#include <lazaret/carrier.h>
#include <lazaret/options.h>

#include <pthread.h>
#include <time.h>

#define LOCAL_ADVANCE "local.advance"
#define LOCAL_MOST    ((size_t)1 << 20) /* bytes of a message */
#define LOCAL_FOREVER UINT64_MAX

struct local_bus {
    struct local_bus *next;
    char *name;
    unsigned users;
    struct bus *bus;
    pthread_mutex_t lock; /* of all below, and of the bus; not held while an event runs */
    pthread_cond_t changed;
    pthread_t thread;
    bool is_manual, is_ending;
    bool is_running;                /* an event, */
    pthread_t runner;               /* on this thread, */
    const struct bus_port *running; /* of this connection */
};

struct local_state {
    const struct laz_carrier_services *services;
    struct local_bus *bus;
    struct bus_port *port;
};

static pthread_mutex_t local_lock = PTHREAD_MUTEX_INITIALIZER;
static struct local_bus *local_buses; /* local_lock */

/* ---- running events -------------------------------------------------------------------------- */

static uint64_t local_clock_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* Runs one event that is due, without the lock, which the caller has. False: there is none. */
static bool local_run_one(struct local_bus *bus, uint64_t until_us)
{
    struct bus_event *event = bus_next(bus->bus, until_us);

    if (!event)
        return false;
    bus->is_running = true;
    bus->runner = pthread_self();
    bus->running = bus_event_port(event);
    pthread_mutex_unlock(&bus->lock);
    bus_run(event);
    pthread_mutex_lock(&bus->lock);
    bus_done(bus->bus, event);
    bus->is_running = false;
    bus->running = NULL;
    pthread_cond_broadcast(&bus->changed);
    return true;
}

/* Of conditions: macOS has them by the wall clock only. */
#if defined __APPLE__
#define LOCAL_CLOCK CLOCK_REALTIME
#else
#define LOCAL_CLOCK CLOCK_MONOTONIC
#endif

static void local_wait_until(struct local_bus *bus, uint64_t due_us)
{
    const uint64_t now_us = local_clock_us();
    struct timespec until;

    if (due_us == LOCAL_FOREVER) {
        pthread_cond_wait(&bus->changed, &bus->lock);
        return;
    }
    clock_gettime(LOCAL_CLOCK, &until);
    const uint64_t left_us =
        (due_us > now_us ? due_us - now_us : 0) + (uint64_t)until.tv_nsec / 1000;
    until.tv_sec += (time_t)(left_us / 1000000);
    until.tv_nsec = (long)(left_us % 1000000) * 1000;
    pthread_cond_timedwait(&bus->changed, &bus->lock, &until);
}

static void *local_deliver(void *user)
{
    struct local_bus *bus = user;

    pthread_mutex_lock(&bus->lock);
    while (!bus->is_ending) {
        bus_move(bus->bus, local_clock_us());
        if (!local_run_one(bus, bus_now(bus->bus)) && !bus->is_ending)
            local_wait_until(bus, bus_due(bus->bus));
    }
    pthread_mutex_unlock(&bus->lock);
    return NULL;
}

/* The time of a manual bus goes on. */
static int local_advance(struct local_bus *bus, const char *data, size_t len, struct laz_error *err)
{
    char text[24] = "";

    if (len < sizeof text)
        memcpy(text, data, len);
    if (!len || len > 12 || strspn(text, "0123456789") != len)
        return laz_fail(err, LAZ_EINVAL, LOCAL_ADVANCE " takes a number of milliseconds");
    if (bus->is_running && pthread_equal(bus->runner, pthread_self()))
        return laz_fail(err, LAZ_EBUSY, LOCAL_ADVANCE " was sent by what it runs");
    while (bus->is_running)
        pthread_cond_wait(&bus->changed, &bus->lock);
    const uint64_t until = bus_now(bus->bus) + strtoull(text, NULL, 10) * 1000;
    while (local_run_one(bus, until))
        ;
    bus_move(bus->bus, until);
    return 0;
}

/* ---- the buses of the process ---------------------------------------------------------------- */

struct local_options {
    char *bus;
    int64_t seed, drop, duplicate, reorder, delay, jitter;
    bool manual;
};

static void local_bus_free(struct local_bus *bus)
{
    bus_free(bus->bus);
    free(bus->name);
    free(bus);
}

static int local_bus_start(struct local_bus *bus)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
#if !defined __APPLE__
    pthread_condattr_setclock(&attributes, LOCAL_CLOCK);
#endif
    pthread_mutex_init(&bus->lock, NULL);
    pthread_cond_init(&bus->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    if (bus->is_manual)
        return 0;
    return pthread_create(&bus->thread, NULL, local_deliver, bus);
}

/* Makes one, with local_lock. */
static struct local_bus *local_bus_new(const struct local_options *options, struct laz_error *err)
{
    const struct bus_faults faults = {
        .seed = (uint64_t)options->seed,
        .drop = (uint32_t)options->drop,
        .duplicate = (uint32_t)options->duplicate,
        .reorder = (uint32_t)options->reorder,
        .delay_us = (uint64_t)options->delay * 1000,
        .jitter_us = (uint64_t)options->jitter * 1000,
    };
    struct local_bus *bus = calloc(1, sizeof *bus);
    int failed = 0;

    if (bus)
        bus->name = laz_option_copy(options->bus, strlen(options->bus));
    if (bus)
        bus->bus = bus_new(&faults);
    if (bus && bus->name && bus->bus) {
        bus->is_manual = options->manual;
        failed = local_bus_start(bus);
    }
    if (!bus || !bus->name || !bus->bus || failed) {
        if (bus)
            local_bus_free(bus);
        laz_fail(err, failed ? LAZ_EOS : LAZ_ENOMEM,
                 failed ? "a thread cannot be started" : "out of memory");
        return NULL;
    }
    bus->next = local_buses;
    local_buses = bus;
    return bus;
}

static struct local_bus *local_bus_take(const struct local_options *options, struct laz_error *err)
{
    struct local_bus *bus;

    pthread_mutex_lock(&local_lock);
    for (bus = local_buses; bus && strcmp(bus->name, options->bus) != 0;)
        bus = bus->next;
    if (!bus)
        bus = local_bus_new(options, err);
    if (bus)
        bus->users++;
    pthread_mutex_unlock(&local_lock);
    return bus;
}

static void local_bus_give(struct local_bus *bus)
{
    struct local_bus **at = &local_buses;

    pthread_mutex_lock(&local_lock);
    const bool is_last = --bus->users == 0;
    while (is_last && *at != bus)
        at = &(*at)->next;
    if (is_last)
        *at = bus->next;
    pthread_mutex_unlock(&local_lock);
    if (!is_last)
        return;
    pthread_mutex_lock(&bus->lock);
    bus->is_ending = true;
    pthread_cond_broadcast(&bus->changed);
    pthread_mutex_unlock(&bus->lock);
    if (!bus->is_manual)
        pthread_join(bus->thread, NULL);
    pthread_cond_destroy(&bus->changed);
    pthread_mutex_destroy(&bus->lock);
    local_bus_free(bus);
}

/* ---- operations ------------------------------------------------------------------------------ */

static void local_connected(void *user)
{
    const struct local_state *state = user;

    state->services->connected(state->services->host);
}

static void local_nobody(void *user, const char *reply)
{
    const struct local_state *state = user;

    state->services->nobody(state->services->host, reply);
}

static void local_close(void *data)
{
    struct local_state *state = data;
    struct local_bus *bus = state->bus;

    pthread_mutex_lock(&bus->lock);
    while (bus->is_running && bus->running == state->port)
        pthread_cond_wait(&bus->changed, &bus->lock);
    if (state->port)
        bus_port_free(state->port);
    pthread_mutex_unlock(&bus->lock);
    local_bus_give(bus);
    free(state);
}

static const struct laz_option_field local_fields[] = {
    {"bus", LAZ_OPT_STRING, offsetof(struct local_options, bus)},
    {"seed", LAZ_OPT_INTEGER, offsetof(struct local_options, seed)},
    {"drop", LAZ_OPT_INTEGER, offsetof(struct local_options, drop)},
    {"duplicate", LAZ_OPT_INTEGER, offsetof(struct local_options, duplicate)},
    {"reorder", LAZ_OPT_INTEGER, offsetof(struct local_options, reorder)},
    {"delay", LAZ_OPT_TIME, offsetof(struct local_options, delay)},
    {"jitter", LAZ_OPT_TIME, offsetof(struct local_options, jitter)},
    {"manual", LAZ_OPT_BOOLEAN, offsetof(struct local_options, manual)},
    {NULL, 0, 0},
};

static int local_open(const struct laz_carrier_services *services, const char *text, size_t len,
                      void **out, struct laz_error *err)
{
    static const struct bus_calls calls = {.connected = local_connected, .nobody = local_nobody};
    struct local_options options = {0};
    struct local_state *state = calloc(1, sizeof *state);
    int rc = state ? laz_options_read(services->json, text, len, local_fields, &options, err)
                   : laz_fail(err, LAZ_ENOMEM, "out of memory");

    if (!rc && !options.bus)
        rc = laz_fail(err, LAZ_EINVAL, "bus: its name is missing");
    if (!rc) {
        state->services = services;
        state->bus = local_bus_take(&options, err);
        rc = state->bus ? 0 : LAZ_ENOMEM;
    }
    laz_options_free(local_fields, &options);
    if (rc) {
        free(state);
        return rc;
    }
    pthread_mutex_lock(&state->bus->lock);
    state->port = bus_port_new(state->bus->bus, &calls, state);
    pthread_cond_broadcast(&state->bus->changed);
    pthread_mutex_unlock(&state->bus->lock);
    if (!state->port) {
        local_close(state);
        return laz_fail(err, LAZ_ENOMEM, "out of memory");
    }
    *out = state;
    return 0;
}

/* Tokens with dots between them; the last one may be ">" in a subscription. */
static bool local_is_subject(const char *subject, bool may_be_open)
{
    static const char token[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

    if (strlen(subject) > LAZ_CARRIER_SUBJECT)
        return false;
    for (const char *at = subject;; at++) {
        if (may_be_open && strcmp(at, ">") == 0)
            return true;
        const size_t len = strspn(at, token);
        if (!len)
            return false;
        at += len;
        if (!*at)
            return true;
        if (*at != '.')
            return false;
    }
}

static int local_subscribe(void *data, const char *subject, const char *queue,
                           laz_carrier_received received, void *user,
                           struct laz_carrier_subscription **subscription, struct laz_error *err)
{
    struct local_state *state = data;

    if (!local_is_subject(subject, true))
        return laz_fail(err, LAZ_EINVAL, "\"%s\" is no subject", subject);
    pthread_mutex_lock(&state->bus->lock);
    struct bus_sub *sub = bus_subscribe(state->port, subject, queue, received, user);
    *subscription = (struct laz_carrier_subscription *)sub;
    pthread_mutex_unlock(&state->bus->lock);
    return sub ? 0 : laz_fail(err, LAZ_ENOMEM, "out of memory");
}

static void local_unsubscribe(void *data, struct laz_carrier_subscription *subscription,
                              void (*drained)(void *user), void *user)
{
    struct local_state *state = data;

    pthread_mutex_lock(&state->bus->lock);
    bus_unsubscribe((struct bus_sub *)subscription, drained, user);
    pthread_cond_broadcast(&state->bus->changed);
    pthread_mutex_unlock(&state->bus->lock);
}

static int local_send(void *data, const char *subject, const char *reply, const char *bytes,
                      size_t len, struct laz_error *err)
{
    struct local_state *state = data;
    struct local_bus *bus = state->bus;
    int rc = 0;

    if (!local_is_subject(subject, false) || (reply && !local_is_subject(reply, false)))
        return laz_fail(err, LAZ_EINVAL, "\"%s\" is no subject", subject);
    if (len > LOCAL_MOST)
        return laz_fail(err, LAZ_ETOOBIG, "a message of more than %zu bytes", LOCAL_MOST);
    pthread_mutex_lock(&bus->lock);
    if (!bus->is_manual)
        bus_move(bus->bus, local_clock_us());
    if (bus->is_manual && strcmp(subject, LOCAL_ADVANCE) == 0)
        rc = local_advance(bus, bytes, len, err);
    else if (!bus_send(state->port, subject, reply, bytes, len))
        rc = laz_fail(err, LAZ_ENOMEM, "out of memory");
    pthread_cond_broadcast(&bus->changed);
    pthread_mutex_unlock(&bus->lock);
    return rc;
}

/* ---- the plugin ------------------------------------------------------------------------------ */

static const struct laz_option options[] = {
    LAZ_OPTION("bus", LAZ_OPT_STRING, "\"local\"", "its name: connections of the process share it"),
    LAZ_OPTION("seed", LAZ_OPT_INTEGER, "1", "of chance"),
    LAZ_OPTION("drop", LAZ_OPT_INTEGER, "0", "messages of 1000 that are lost", .min = "0",
               .max = "1000"),
    LAZ_OPTION("duplicate", LAZ_OPT_INTEGER, "0", "messages of 1000 that come twice", .min = "0",
               .max = "1000"),
    LAZ_OPTION("reorder", LAZ_OPT_INTEGER, "0", "messages of 1000 that others overtake", .min = "0",
               .max = "1000"),
    LAZ_OPTION("delay", LAZ_OPT_TIME, "0", "how long a message takes", .min = "0"),
    LAZ_OPTION("jitter", LAZ_OPT_TIME, "0", "and how much longer, by chance", .min = "0"),
    LAZ_OPTION("manual", LAZ_OPT_BOOLEAN, "false",
               "time stands still but for messages to " LOCAL_ADVANCE),
    LAZ_OPTIONS_END,
};

static const struct laz_carrier_ops ops = {
    .size = sizeof ops,
    .open = local_open,
    .subscribe = local_subscribe,
    .unsubscribe = local_unsubscribe,
    .send = local_send,
    .close = local_close,
};

LAZ_PLUGIN(local) = {
    LAZ_PLUGIN_HEAD(LAZ_PLUGIN_CARRIER),
    .name = "local",
    .version = "0.1.0",
    .summary = "messages within one process, for tests",
    .options = options,
    .ops = &ops,
};
