/* SPDX-License-Identifier: MIT */
/* worker.c - places of this machine, which callers on a bus take: each is a client of the server
 * here, by a connection of its own.
 * Side: host.  Input trusted: no (what comes by the bus).
 *
 * Who may use the bus at all is the bus's business; who a caller is, and what it may use, says the
 * token in its opening, which is checked here.  Its link then is a right that nobody can guess. */
#include "cluster/cluster.h"

#include "base/clock.h"
#include "base/container.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/random.h"
#include "carrier/places.h"
#include "cluster/bus.h"
#include "cluster/stream.h"
#include "os/current_process.h"
#include "os/descriptors.h"
#include "os/sockets.h"
#include "os/trust.h"
#include "telemetry/metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORKER_BEAT_MS 1000
#define WORKER_KEYS    ((size_t)64 << 10)
#define WORKER_NOTES   10 /* refusals that the log has in a minute */

/* Somebody who has a place. */
struct guest {
    struct guest *next;
    struct laz_worker *worker;
    struct laz_place_grant *grant;
    struct laz_bus_subscription *subscription;
    struct laz_stream *stream; /* NULL: it has ended */
    char link[LAZ_CARRIER_ID + 1];
    char here[LAZ_SUBJECT_SIZE];
    char identity[LAZ_IDENTITY_MAX + 1];
};

struct laz_worker {
    struct laz_loop *loop;
    const struct laz_log *log;
    const struct laz_settings_values *values;
    struct laz_worker_owner owner;
    struct laz_bus *bus;
    struct laz_places *places;
    struct laz_bus_subscription *opens, *control;
    struct laz_link_limits limits;
    struct laz_keys keys;
    struct laz_timer *beat;
    struct guest *guests;
    char name[LAZ_CARRIER_NAME + 1], boot[LAZ_CARRIER_ID + 1];
    uint64_t n_opened, n_refused;
    struct laz_log_limit refusals;
    size_t shown, shown_used; /* what the counters of this process say of it */
    bool is_draining, is_ending;
};

static int worker_id(char id[LAZ_CARRIER_ID + 1], struct laz_error *err)
{
    unsigned char bytes[16];
    int rc = laz_random_bytes(bytes, sizeof bytes, err);

    if (!rc)
        laz_carrier_id(id, bytes);
    return rc;
}

static void worker_send(const struct laz_worker *worker, const char *subject, const char *reply,
                        const struct laz_carrier_frame *frame)
{
    struct laz_buf bytes = LAZ_BUF_INIT;

    laz_carrier_make(frame, &bytes);
    if (!bytes.failed)
        (void)laz_bus_send(worker->bus, subject, reply, bytes.data, bytes.len, NULL);
    laz_buf_fini(&bytes);
}

/* ---- what the table of places wants -----------------------------------------------------------
 */

static void worker_opening(void *user, const char *subject, const char *reply, const char *data,
                           size_t len);

static void worker_show(struct laz_worker *worker, size_t places, size_t used)
{
    laz_metrics_add(LAZ_METRIC_PLACES, 0, (int64_t)places - (int64_t)worker->shown);
    laz_metrics_add(LAZ_METRIC_PLACES_USED, 0, (int64_t)used - (int64_t)worker->shown_used);
    worker->shown = places;
    worker->shown_used = used;
}

static void worker_tend(struct laz_worker *worker)
{
    struct laz_places_action action;
    struct laz_error err = {0};
    char subject[LAZ_SUBJECT_SIZE];

    while (laz_places_next(worker->places, &action)) {
        if (action.type == LAZ_PLACES_UNSUBSCRIBE) {
            laz_bus_unsubscribe(worker->opens);
            worker->opens = NULL;
        } else if (action.type == LAZ_PLACES_SUBSCRIBE) {
            laz_subject_open(subject, action.pool);
            if (laz_bus_subscribe(worker->bus, subject, LAZ_SUBJECT_QUEUE, worker_opening, worker,
                                  &worker->opens, &err) != 0)
                laz_log(worker->log, LAZ_LOG_ERROR, "%s", err.text);
        } else if (!worker->is_ending) {
            worker->owner.drained(worker->owner.user);
        }
    }
    worker_show(worker, worker->is_draining ? 0 : (size_t)worker->values->cluster.places,
                laz_places_used(worker->places));
}

/* ---- guests -----------------------------------------------------------------------------------
 */

static void guest_free(struct guest *guest)
{
    struct laz_worker *worker = guest->worker;

    LAZ_LIST_REMOVE(worker->guests, guest);
    laz_stream_free(guest->stream);
    laz_bus_unsubscribe(guest->subscription);
    laz_places_ended(worker->places, laz_loop_now_ms(worker->loop), guest->grant);
    free(guest);
}

static void guest_ended(void *user, enum laz_link_reason reason)
{
    struct guest *guest = user;
    struct laz_worker *worker = guest->worker;

    laz_log(worker->log, LAZ_LOG_INFO, "%s has left: %s", guest->identity,
            laz_link_reason_text(reason));
    guest_free(guest);
    worker_tend(worker);
}

static void guest_received(void *user, const char *subject, const char *reply, const char *data,
                           size_t len)
{
    const struct guest *guest = user;

    (void)subject, (void)reply;
    laz_stream_take(guest->stream, data, len);
}

/* ---- openings ---------------------------------------------------------------------------------
 */

/* Who it is, and what it may use. */
static int opening_identify(const struct laz_worker *worker, const struct laz_carrier_frame *open,
                            struct laz_claims *claims, struct laz_error *err)
{
    const char *tenant = worker->values->cluster.tenant;
    const size_t len = strlen(tenant);
    int rc = 0;

    *claims = (struct laz_claims){.expires_s = 0};
    if (worker->keys.n)
        rc = laz_token_check(open->data, open->len, &worker->keys, worker->values->serve.audience,
                             laz_clock_unix_s(), claims, err);
    else
        snprintf(claims->subject, sizeof claims->subject, "%.*s", (int)open->caller_len,
                 open->caller);
    if (!rc && len && (strncmp(claims->subject, tenant, len) != 0 || claims->subject[len] != '.'))
        rc = laz_error_set(err, LAZ_EREFUSED, 0, "this worker is for the tenant %s", tenant);
    return rc;
}

/* Has who it is as many places as it may? Without tokens anybody could be anybody. */
static bool opening_is_one_too_many(const struct laz_worker *worker,
                                    const struct laz_claims *claims)
{
    const uint64_t most = worker->keys.n ? worker->values->serve.max_connections : 0;
    uint64_t n = 0;

    for (const struct guest *guest = worker->guests; most && guest; guest = guest->next)
        n += strcmp(guest->identity, claims->subject) == 0;
    return most && n >= most;
}

static void opening_refuse(struct laz_worker *worker, const char *answer,
                           const struct laz_carrier_frame *open, enum laz_place_code code)
{
    const char *word = laz_place_code_word(code);

    worker->n_refused++;
    worker_send(worker, answer, NULL,
                &(struct laz_carrier_frame){.kind = LAZ_CARRIER_REFUSED,
                                            .open = open->open,
                                            .open_len = open->open_len,
                                            .worker = worker->name,
                                            .worker_len = strlen(worker->name),
                                            .code = word,
                                            .code_len = strlen(word)});
}

/* Who may use the bus may be refused as often as it likes. */
static void opening_note(struct laz_worker *worker, const char *caller, const char *why)
{
    uint64_t before;

    if (!laz_log_may_tell(&worker->refusals, laz_loop_now_ms(worker->loop), &before))
        return;
    if (before)
        laz_log(worker->log, LAZ_LOG_WARNING, "%s was refused: %s (and %" PRIu64 " others before)",
                caller, why, before);
    else
        laz_log(worker->log, LAZ_LOG_WARNING, "%s was refused: %s", caller, why);
}

static void opening_answer(struct laz_worker *worker, const char *answer,
                           const struct laz_carrier_frame *open, const char *link)
{
    char here[LAZ_SUBJECT_SIZE];

    laz_subject_link(here, link);
    worker_send(worker, answer, here,
                &(struct laz_carrier_frame){.kind = LAZ_CARRIER_OPENED,
                                            .open = open->open,
                                            .open_len = open->open_len,
                                            .link = link,
                                            .link_len = LAZ_CARRIER_ID,
                                            .worker = worker->name,
                                            .worker_len = strlen(worker->name),
                                            .boot = worker->boot,
                                            .boot_len = LAZ_CARRIER_ID,
                                            .lease_ms = worker->limits.lease_ms});
}

/* A place is taken: the link begins, and a client arrives at the server. */
static int opening_begin(struct laz_worker *worker, const char *inbox, const char *link,
                         struct laz_place_grant *grant, const struct laz_claims *claims,
                         struct laz_error *err)
{
    struct guest *guest = calloc(1, sizeof *guest);
    int ours = -1, theirs = -1;

    if (!guest)
        return laz_error_nomem(err);
    guest->worker = worker;
    guest->grant = grant;
    memcpy(guest->link, link, sizeof guest->link);
    memcpy(guest->identity, claims->subject, sizeof guest->identity);
    laz_subject_link(guest->here, link);
    const struct laz_stream_owner owner = {.user = guest, .ended = guest_ended};
    int rc = laz_os_stream_pair(&ours, &theirs, err);
    if (!rc)
        rc = laz_os_nonblock(theirs, true, err);
    if (!rc)
        rc = laz_stream_new(&(struct laz_stream_asked){.loop = worker->loop,
                                                       .bus = worker->bus,
                                                       .limits = &worker->limits,
                                                       .is_worker = true,
                                                       .link = link,
                                                       .boot = worker->boot,
                                                       .to = inbox,
                                                       .here = guest->here,
                                                       .in = ours,
                                                       .out = ours,
                                                       .owner = owner},
                            &guest->stream, err);
    if (!rc)
        ours = -1;
    if (!rc)
        rc = laz_bus_subscribe(worker->bus, guest->here, NULL, guest_received, guest,
                               &guest->subscription, err);
    if (rc) {
        laz_stream_free(guest->stream);
        free(guest);
        laz_os_close(&ours);
        laz_os_close(&theirs);
        return rc;
    }
    guest->next = worker->guests;
    worker->guests = guest;
    worker->n_opened++;
    worker->owner.arrived(worker->owner.user,
                          &(struct laz_worker_guest){.identity = guest->identity,
                                                     .quota = claims->quota,
                                                     .expires_s = claims->expires_s,
                                                     .fd = theirs});
    return 0;
}

static void worker_opening(void *user, const char *subject, const char *reply, const char *data,
                           size_t len)
{
    struct laz_worker *worker = user;
    struct laz_carrier_frame open;
    struct laz_places_given given;
    struct laz_claims claims;
    struct laz_error err = {0};
    char link[LAZ_CARRIER_ID + 1], caller[LAZ_CARRIER_NAME + 1], id[LAZ_CARRIER_ID + 1],
        answer[LAZ_SUBJECT_SIZE], inbox[LAZ_SUBJECT_SIZE];

    (void)subject, (void)reply;
    if (laz_carrier_parse(data, len, &open, NULL) != 0 || open.kind != LAZ_CARRIER_OPEN ||
        !laz_carrier_is_name(open.caller, open.caller_len) ||
        !laz_carrier_is_id(open.open, open.open_len) || worker_id(link, NULL) != 0)
        return;
    /* The subjects are made here, of checked names: a caller can have nothing answered
     * but inboxes of callers; whose, the bus says (its permissions), and not the token. */
    snprintf(caller, sizeof caller, "%.*s", (int)open.caller_len, open.caller);
    snprintf(id, sizeof id, "%.*s", (int)open.open_len, open.open);
    laz_subject_answer(answer, caller, id);
    laz_subject_inbox(inbox, caller, id);
    if (opening_identify(worker, &open, &claims, &err) != 0) {
        opening_note(worker, caller, err.text);
        opening_refuse(worker, answer, &open, LAZ_PLACE_DENIED);
        return;
    }
    if (laz_places_open(worker->places, laz_loop_now_ms(worker->loop), worker->values->cluster.pool,
                        &open, link, &given) != 0)
        return;
    if (given.answer == LAZ_PLACES_REFUSED) {
        opening_refuse(worker, answer, &open, given.code);
    } else if (given.answer == LAZ_PLACES_NEW && opening_is_one_too_many(worker, &claims)) {
        laz_log(worker->log, LAZ_LOG_WARNING, "%s was refused: it has as many places as it may",
                claims.subject);
        laz_places_ended(worker->places, laz_loop_now_ms(worker->loop), given.grant);
        opening_refuse(worker, answer, &open, LAZ_PLACE_QUOTA);
    } else if (given.answer == LAZ_PLACES_AGAIN ||
               opening_begin(worker, inbox, given.link, given.grant, &claims, &err) == 0) {
        opening_answer(worker, answer, &open, given.link);
        if (given.answer == LAZ_PLACES_NEW)
            laz_log(worker->log, LAZ_LOG_INFO, "%s has come, by the bus", claims.subject);
    } else {
        laz_log(worker->log, LAZ_LOG_ERROR, "%s", err.text);
        laz_places_ended(worker->places, laz_loop_now_ms(worker->loop), given.grant);
        opening_refuse(worker, answer, &open, LAZ_PLACE_FULL);
    }
    worker_tend(worker);
}

/* ---- heartbeats and control -------------------------------------------------------------------
 */

/* `echo`: what an operator asked to hear again; NULL: nobody asked. */
static void worker_describe(const struct laz_worker *worker, const char *echo, struct laz_buf *json)
{
    struct laz_json_write write = {.to = json};

    laz_json_begin_object(&write, NULL);
    laz_json_add_text(&write, "worker", worker->name);
    laz_json_add_text(&write, "boot", worker->boot);
    laz_json_add_text(&write, "version", LAZ_VERSION);
    laz_json_add_text(&write, "pool", worker->values->cluster.pool);
    laz_json_add_text(&write, "tenant", worker->values->cluster.tenant);
    laz_json_add_uint(&write, "places", worker->values->cluster.places);
    laz_json_add_uint(&write, "used", laz_places_used(worker->places));
    laz_json_add_uint(&write, "opened", worker->n_opened);
    laz_json_add_uint(&write, "refused", worker->n_refused);
    laz_json_add_bool(&write, "draining", worker->is_draining);
    if (echo)
        laz_json_add_text(&write, "echo", echo);
    laz_json_end_object(&write);
}

static void worker_say(const struct laz_worker *worker, const char *echo)
{
    struct laz_buf json = LAZ_BUF_INIT;
    char subject[LAZ_SUBJECT_SIZE];

    worker_describe(worker, echo, &json);
    laz_subject_heartbeat(subject, worker->name);
    if (!json.failed)
        (void)laz_bus_send(worker->bus, subject, NULL, json.data, json.len, NULL);
    laz_buf_fini(&json);
}

static void worker_beat(void *user)
{
    struct laz_worker *worker = user;

    worker_say(worker, NULL);
    laz_timer_start(worker->beat, WORKER_BEAT_MS);
}

/* "ping WORD": a heartbeat with that word, at once. It goes where heartbeats go, so that operators
 * of other accounts hear it, and nobody chooses where a worker sends. */
static bool worker_pinged(const struct laz_worker *worker, const char *data, size_t len)
{
    static const char ping[] = "ping ";
    const size_t n = sizeof ping - 1;
    char word[LAZ_CARRIER_NAME + 1];

    if (len <= n || memcmp(data, ping, n) != 0 || !laz_carrier_is_name(data + n, len - n))
        return false;
    snprintf(word, sizeof word, "%.*s", (int)(len - n), data + n);
    worker_say(worker, word);
    return true;
}

static void worker_controlled(void *user, const char *subject, const char *reply, const char *data,
                              size_t len)
{
    struct laz_worker *worker = user;
    struct laz_buf json = LAZ_BUF_INIT;

    (void)subject;
    if (worker_pinged(worker, data, len))
        return;
    if (len == 5 && memcmp(data, "drain", 5) == 0)
        laz_worker_drain(worker);
    worker_describe(worker, NULL, &json);
    if (reply && !json.failed)
        (void)laz_bus_send(worker->bus, reply, NULL, json.data, json.len, NULL);
    laz_buf_fini(&json);
}

/* ---- what the bus says ------------------------------------------------------------------------
 */

static void worker_tell_all(struct laz_worker *worker, enum laz_link_event_type event)
{
    for (struct guest *guest = worker->guests, *next; guest; guest = next) {
        next = guest->next;
        laz_stream_tell(guest->stream, event);
    }
}

static void worker_connected(void *user)
{
    worker_tell_all(user, LAZ_LINK_ON_CONNECTED);
}

static void worker_disconnected(void *user)
{
    (void)user; /* links notice by their leases */
}

static struct guest *worker_guest(const struct laz_worker *worker, const char *subject)
{
    struct guest *guest = worker->guests;

    while (guest && strcmp(guest->here, subject) != 0)
        guest = guest->next;
    return guest;
}

static void worker_nobody(void *user, const char *reply)
{
    const struct guest *guest = worker_guest(user, reply);

    if (guest)
        laz_stream_tell(guest->stream, LAZ_LINK_ON_NOBODY);
}

static void worker_refused(void *user, uint32_t what, const char *subject)
{
    struct laz_worker *worker = user;
    struct laz_error err = {0};
    char open[LAZ_SUBJECT_SIZE];

    laz_subject_open(open, worker->values->cluster.pool);
    if (what != LAZ_CARRIER_SUBSCRIBE || strcmp(subject, open) != 0)
        return; /* it was logged; the lease ends a link */
    laz_error_set(&err, LAZ_EREFUSED, 0,
                  "the bus does not let this process take callers of the pool %s: is this the "
                  "configuration of a worker?",
                  worker->values->cluster.pool);
    worker->owner.failed(worker->owner.user, &err);
}

/* ---- making -----------------------------------------------------------------------------------
 */

static int worker_keys(struct laz_worker *worker, struct laz_error *err)
{
    const char *file = worker->values->serve.token_keys;
    struct laz_buf text = LAZ_BUF_INIT;
    int rc = *file ? laz_trust_read(file, WORKER_KEYS, &text, err) : 0;

    if (!rc && *file && (rc = laz_keys_read(laz_buf_text(&text), &worker->keys, err))) {
        laz_error_prefix(err, "%s: ", file);
        rc = laz_error_as(err, LAZ_ECONFIG);
    }
    laz_buf_fini(&text);
    return rc;
}

static int worker_listen(struct laz_worker *worker, struct laz_error *err)
{
    char subject[LAZ_SUBJECT_SIZE];

    laz_subject_control(subject, worker->name);
    int rc = laz_bus_subscribe(worker->bus, subject, NULL, worker_controlled, worker,
                               &worker->control, err);
    if (!rc)
        rc = laz_places_pool(worker->places, worker->values->cluster.pool,
                             (size_t)worker->values->cluster.places)
                 ? laz_error_nomem(err)
                 : 0;
    if (rc)
        return rc;
    worker_tend(worker);
    return worker->opens ? 0 : laz_error_set(err, LAZ_EOS, 0, "openings cannot be subscribed to");
}

int laz_worker_new(struct laz_loop *loop, const struct laz_log *log, struct laz_registry *registry,
                   const struct laz_settings_values *values, const struct laz_worker_owner *owner,
                   struct laz_worker **out, struct laz_error *err)
{
    struct laz_worker *worker = calloc(1, sizeof *worker);
    struct laz_siphash_key key;
    char random[13];

    *out = NULL;
    if (!worker)
        return laz_error_nomem(err);
    worker->loop = loop;
    worker->log = log;
    worker->values = values;
    worker->owner = *owner;
    worker->refusals = (struct laz_log_limit){.most = WORKER_NOTES, .span_ms = 60000};
    worker->limits = (struct laz_link_limits){.part = LAZ_CARRIER_PART,
                                              .window = LAZ_LINK_WINDOW,
                                              .max_line = values->session.max_value_size,
                                              .most = 4 * values->session.max_value_size,
                                              .keepalive_ms = LAZ_LINK_KEEPALIVE_MS,
                                              .lease_ms = LAZ_LINK_LEASE_MS};
    int rc = worker_keys(worker, err);
    if (!rc)
        rc = laz_random_bytes(&key, sizeof key, err);
    if (!rc)
        rc = worker_id(worker->boot, err);
    if (!rc)
        rc = laz_random_name(random, 12, err);
    if (!rc) {
        snprintf(worker->name, sizeof worker->name, "w-%s", random);
        worker->places = laz_places_new(&key);
        worker->beat = laz_timer_new(loop, worker_beat, worker);
        rc = worker->places && worker->beat ? 0 : laz_error_nomem(err);
    }
    const struct laz_bus_owner bus = {worker, worker_connected, worker_disconnected, worker_refused,
                                      worker_nobody};
    if (!rc)
        rc = laz_bus_open(loop, log, registry, values, &bus, &worker->bus, err);
    if (!rc)
        rc = worker_listen(worker, err);
    if (rc) {
        laz_worker_free(worker);
        return rc;
    }
    laz_timer_start(worker->beat, 0);
    *out = worker;
    return 0;
}

void laz_worker_drain(struct laz_worker *worker)
{
    if (worker->is_draining)
        return;
    worker->is_draining = true;
    worker_show(worker, 0, laz_places_used(worker->places)); /* before anybody is told */
    laz_log(worker->log, LAZ_LOG_INFO, "%s drains", worker->name);
    worker_beat(worker); /* at once: one that has no callers is gone before the next */
    laz_places_drain(worker->places);
    worker_tend(worker);
}

const char *laz_worker_name(const struct laz_worker *worker)
{
    return worker->name;
}

void laz_worker_free(struct laz_worker *worker)
{
    if (!worker)
        return;
    worker->is_ending = true;
    while (worker->guests) {
        struct guest *guest = worker->guests;
        laz_stream_end(guest->stream, LAZ_LINK_DRAINED, false); /* frees it */
        if (worker->guests == guest)
            guest_free(guest);
    }
    worker_show(worker, 0, 0);
    laz_timer_stop(worker->beat);
    laz_bus_close(worker->bus);
    laz_places_free(worker->places);
    free(worker);
}
