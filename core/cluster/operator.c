/* SPDX-License-Identifier: MIT */
/* operator.c - the workers of a bus, as an operator sees them: by their heartbeats.
 * Side: operator.  Input trusted: no (what anybody says who may send heartbeats). */
#include "cluster/cluster.h"

#include "base/clock.h"
#include "base/json_fields.h"
#include "base/json_scan.h"
#include "base/random.h"
#include "carrier/carrier.h"
#include "cluster/bus.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPERATOR_WORKERS 10000 /* more are not kept */
#define OPERATOR_GONE_MS 3500  /* without a heartbeat, of which there is one a second */
#define OPERATOR_SUBJECT "lz.1.w.>"
#define OPERATOR_ID      12
#define OPERATOR_PING_US 900000 /* between two questions to a worker */

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))
#define AT(field)   .at = offsetof(struct beat, field)

struct beat {
    const char *worker, *version, *pool, *tenant, *echo;
    int64_t places, used, opened, refused;
    bool draining;
};

#define NUMBER(field)                                                                              \
    {                                                                                              \
#field, LAZ_FIELD_INTEGER, AT(field), .min = 0, .max = LAZ_CARRIER_INT                     \
    }
static const struct laz_field beat_rows[] = {
    {"worker", LAZ_FIELD_TEXT, .flags = LAZ_FIELD_REQUIRED, AT(worker)},
    {"version", LAZ_FIELD_TEXT, AT(version)},
    {"pool", LAZ_FIELD_TEXT, AT(pool)},
    {"tenant", LAZ_FIELD_TEXT, AT(tenant)},
    NUMBER(places),
    NUMBER(used),
    NUMBER(opened),
    NUMBER(refused),
    {"draining", LAZ_FIELD_BOOLEAN, AT(draining)},
    {"echo", LAZ_FIELD_TEXT, AT(echo)},
};
static const struct laz_fields beat_fields = {
    .name = "a heartbeat", .size = sizeof(struct beat), .items = beat_rows, .n = COUNT(beat_rows)};

struct laz_operator {
    struct laz_loop *loop;
    struct laz_bus *bus;
    struct laz_bus_subscription *beats;
    struct laz_worker_seen *items;
    size_t n;
    char id[OPERATOR_ID + 1]; /* of what it asks */
    uint64_t n_asked;
    bool has_told;     /* a worker to do something */
    char refused[256]; /* what the bus does not let this operator do; "": nothing */
};

/* Takes what a terminal may show as it is. */
static void operator_take(char *to, size_t size, const char *text)
{
    snprintf(to, size, "%s", text ? text : "");
    for (; *to; to++)
        if (*to <= ' ' || *to > '~')
            *to = '?';
}

/* ---- latency: a word that the worker says again -----------------------------------------------
 */

static void operator_word(const struct laz_operator *op, uint64_t n, char word[48])
{
    snprintf(word, 48, "%s-%" PRIu64, op->id, n);
}

static void operator_ping(struct laz_operator *op, struct laz_worker_seen *seen)
{
    const uint64_t now_us = laz_clock_us();
    char subject[LAZ_SUBJECT_SIZE], word[48], text[64];

    if (seen->ping.sent_us && now_us - seen->ping.sent_us < OPERATOR_PING_US)
        return;
    seen->ping.n = ++op->n_asked;
    seen->ping.sent_us = now_us;
    operator_word(op, seen->ping.n, word);
    snprintf(text, sizeof text, "ping %s", word);
    laz_subject_control(subject, seen->name);
    (void)laz_bus_send(op->bus, subject, NULL, text, strlen(text), NULL);
}

/* An answer counts once, and only that to the last question: a heartbeat of anybody else's says
 * nothing about this operator. */
static void operator_echo(const struct laz_operator *op, struct laz_worker_seen *seen,
                          const char *echo)
{
    char word[48];

    operator_word(op, seen->ping.n, word);
    if (!seen->ping.n || strcmp(echo, word) != 0)
        return;
    const uint64_t us = laz_clock_us() - seen->ping.sent_us;
    seen->latency_us = us ? us : 1;
    seen->ping.n = 0;
}

/* The subject says which worker it is, and the text says no more than that. Who may send
 * heartbeats, as workers of any tenant may, can send those of others: it is shown, and nothing
 * follows from it. */
static void operator_heard(void *user, const char *subject, const char *reply, const char *data,
                           size_t len)
{
    struct laz_operator *op = user;
    struct laz_fields_problem wrong;
    struct beat beat = {.worker = NULL};
    char own[LAZ_SUBJECT_SIZE];
    size_t i = 0;

    (void)reply;
    if (len > LAZ_CARRIER_HEADER || laz_json_scan(data, len, NULL) != 0 ||
        laz_fields_read(&beat_fields, data, len, &beat, &wrong) != 0)
        return;
    if (laz_carrier_is_name(beat.worker, strlen(beat.worker))) {
        laz_subject_heartbeat(own, beat.worker);
        while (i < op->n && strcmp(op->items[i].name, beat.worker) != 0)
            i++;
        if (strcmp(own, subject) == 0 &&
            (i < op->n ||
             (op->n < OPERATOR_WORKERS && laz_grow(&op->items, &op->n, sizeof *op->items)))) {
            struct laz_worker_seen *seen = &op->items[i];
            operator_take(seen->name, sizeof seen->name, beat.worker);
            operator_take(seen->version, sizeof seen->version, beat.version);
            operator_take(seen->pool, sizeof seen->pool, beat.pool);
            operator_take(seen->tenant, sizeof seen->tenant, beat.tenant);
            seen->places = (uint64_t)beat.places;
            seen->used = (uint64_t)beat.used;
            seen->opened = (uint64_t)beat.opened;
            seen->refused = (uint64_t)beat.refused;
            seen->is_draining = beat.draining;
            seen->heard_ms = laz_loop_now_ms(op->loop);
            if (beat.echo)
                operator_echo(op, seen, beat.echo);
            else
                operator_ping(op, seen);
        }
    }
    laz_fields_free(&beat_fields, &beat);
}

static void operator_nothing(void *user)
{
    (void)user;
}

static void operator_nobody(void *user, const char *reply)
{
    (void)user, (void)reply;
}

static void operator_refused(void *user, uint32_t what, const char *subject)
{
    struct laz_operator *op = user;

    if (what == LAZ_CARRIER_SEND && !op->has_told)
        return; /* it may listen, and no more: latencies are not known */
    snprintf(op->refused, sizeof op->refused, "the bus does not let this operator %s %.200s",
             what == LAZ_CARRIER_SEND ? "send to" : "listen to", subject);
}

int laz_operator_new(const struct laz_log *log, struct laz_registry *registry,
                     const struct laz_settings_values *values, struct laz_operator **out,
                     struct laz_error *err)
{
    struct laz_operator *op = calloc(1, sizeof *op);
    const struct laz_bus_owner owner = {op, operator_nothing, operator_nothing, operator_refused,
                                        operator_nobody};
    int rc = op ? laz_loop_new(&op->loop, err) : laz_error_nomem(err);

    *out = NULL;
    if (!rc)
        rc = laz_random_name(op->id, OPERATOR_ID, err);
    if (!rc)
        rc = laz_bus_open(op->loop, log, registry, values, &owner, &op->bus, err);
    if (!rc)
        rc =
            laz_bus_subscribe(op->bus, OPERATOR_SUBJECT, NULL, operator_heard, op, &op->beats, err);
    if (rc)
        laz_operator_free(op);
    else
        *out = op;
    return rc;
}

void laz_operator_free(struct laz_operator *op)
{
    if (!op)
        return;
    laz_bus_close(op->bus);
    if (op->loop)
        laz_loop_free(op->loop);
    free(op->items);
    free(op);
}

int laz_operator_listen(struct laz_operator *op, uint64_t ms, struct laz_error *err)
{
    const uint64_t until = laz_loop_now_ms(op->loop) + ms;

    for (uint64_t now; (now = laz_loop_now_ms(op->loop)) < until && !*op->refused;)
        laz_loop_step(op->loop, until - now);
    return *op->refused ? laz_error_set(err, LAZ_EREFUSED, 0, "%s", op->refused) : 0;
}

int laz_operator_drain(struct laz_operator *op, const char *worker, struct laz_error *err)
{
    char subject[LAZ_SUBJECT_SIZE];

    if (!laz_carrier_is_name(worker, strlen(worker)))
        return laz_error_set(err, LAZ_EINVAL, 0, "'%.100s' is not the name of a worker", worker);
    laz_subject_control(subject, worker);
    op->has_told = true;
    return laz_bus_send(op->bus, subject, NULL, "drain", 5, err);
}

size_t laz_operator_workers(struct laz_operator *op, const struct laz_worker_seen **workers)
{
    const uint64_t now = laz_loop_now_ms(op->loop);
    size_t n = 0;

    for (size_t i = 0; i < op->n; i++)
        if (now - op->items[i].heard_ms < OPERATOR_GONE_MS)
            op->items[n++] = op->items[i];
    op->n = n;
    *workers = op->items;
    return n;
}
