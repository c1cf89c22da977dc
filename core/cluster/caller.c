/* SPDX-License-Identifier: MIT */
/* caller.c - places of other machines: a connection to the bus, and any number of them by it.
 * Side: caller.  Input trusted: no (what a worker, or anybody on the bus, sends).
 *
 * A place is asked for until a worker gives one or its time is over; then it is a stream
 * (stream.h), whose lines are its owner's business. */
#include "cluster/cluster.h"

#include "base/random.h"
#include "carrier/places.h"
#include "cluster/bus.h"
#include "cluster/stream.h"
#include "os/trust.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAR_LINGER_MS 5000 /* for which an answer to an opening that was given up is awaited */

struct laz_fars {
    struct laz_loop *loop;
    const struct laz_log *log;
    const struct laz_settings_values *values;
    struct laz_bus *bus;
    struct laz_bus_subscription *inbox;
    struct laz_opening_queue queue;
    struct laz_link_limits limits;
    struct laz_buf token;
    struct laz_far *fars;
    char name[LAZ_CARRIER_NAME + 1];
};

struct laz_far {
    struct laz_far *next;
    struct laz_fars *caller;
    struct laz_far_owner owner; /* zeroed: it was given up */
    struct laz_opening opening;
    struct laz_timer *timer;   /* of the opening; later: frees it */
    struct laz_stream *stream; /* NULL: it is still opened, or over */
    struct laz_error err;      /* why it has ended; code 0: as it should */
    char worker[LAZ_CARRIER_NAME + 1];
    bool is_over;
};

/* ---- its end ----------------------------------------------------------------------------------
 */

static void far_free(struct laz_far *far)
{
    struct laz_far **at = &far->caller->fars;

    while (*at != far)
        at = &(*at)->next;
    *at = far->next;
    laz_stream_free(far->stream);
    laz_timer_stop(far->timer);
    free(far);
}

/* Its owner is told in the next turn of the loop: nothing is freed in a report. */
static void far_over(struct laz_far *far, int code, const char *text)
{
    if (far->is_over)
        return;
    far->is_over = true;
    if (code)
        laz_error_set(&far->err, code, 0, "%s", text);
    laz_timer_start(far->timer, 0);
}

/* ---- the link ---------------------------------------------------------------------------------
 */

static void far_ended(void *user, enum laz_link_reason reason)
{
    struct laz_far *far = user;
    char why[160];

    snprintf(why, sizeof why, "the worker %s: %s", far->worker, laz_link_reason_text(reason));
    far_over(far, reason == LAZ_LINK_CLOSED ? 0 : LAZ_ECLOSED, why);
    if (far->owner.ending)
        far->owner.ending(far->owner.user, &far->err);
}

static bool far_passes(void *user, bool to_peer, const char *line, size_t len)
{
    const struct laz_far *far = user;

    return !far->owner.passes || far->owner.passes(far->owner.user, to_peer, line, len);
}

static bool far_input_ended(void *user)
{
    const struct laz_far *far = user;

    return !far->owner.input_ended || far->owner.input_ended(far->owner.user);
}

static bool far_line(void *user, const char *line, size_t len)
{
    const struct laz_far *far = user;

    return !far->owner.line || far->owner.line(far->owner.user, line, len);
}

/* A worker has given a place. */
static void far_begin(struct laz_far *far, const struct laz_carrier_frame *opened)
{
    struct laz_fars *caller = far->caller;
    char to[LAZ_SUBJECT_SIZE], here[LAZ_SUBJECT_SIZE], boot[LAZ_CARRIER_ID + 1];
    int in = -1, out = -1, rc = 0;

    laz_subject_link(to, far->opening.link);
    laz_subject_inbox(here, caller->name, far->opening.open);
    snprintf(boot, sizeof boot, "%.*s", (int)opened->boot_len, opened->boot);
    snprintf(far->worker, sizeof far->worker, "%.*s", (int)opened->worker_len, opened->worker);
    if (far->owner.descriptors)
        rc = far->owner.descriptors(far->owner.user, &in, &out, &far->err);
    if (!rc)
        rc = laz_stream_new(
            &(struct laz_stream_asked){.loop = caller->loop,
                                       .bus = caller->bus,
                                       .limits = &caller->limits,
                                       .link = far->opening.link,
                                       .boot = boot,
                                       .to = to,
                                       .here = here,
                                       .in = in,
                                       .out = out,
                                       .owner = {.user = far,
                                                 .passes = far_passes,
                                                 .input_ended = far_input_ended,
                                                 .line = far->owner.descriptors ? NULL : far_line,
                                                 .ended = far_ended}},
            &far->stream, &far->err);
    if (rc)
        far_over(far, 0, "");
}

/* ---- the opening ------------------------------------------------------------------------------
 */

static void opening_ask(const struct laz_far *far)
{
    struct laz_fars *caller = far->caller;
    struct laz_carrier_frame frame;
    struct laz_buf bytes = LAZ_BUF_INIT;
    char subject[LAZ_SUBJECT_SIZE], answer[LAZ_SUBJECT_SIZE];

    laz_opening_frame(&far->opening, caller->name, laz_loop_now_ms(caller->loop), &frame);
    frame.data = laz_buf_text(&caller->token);
    frame.len = caller->token.len;
    laz_subject_open(subject, caller->values->cluster.pool);
    laz_subject_answer(answer, caller->name, far->opening.open);
    laz_carrier_make(&frame, &bytes);
    if (!bytes.failed)
        (void)laz_bus_send(caller->bus, subject, answer, bytes.data, bytes.len, NULL);
    laz_buf_fini(&bytes);
}

/* A link that nobody here has, or wants. */
static void opening_close(struct laz_fars *caller, const struct laz_carrier_frame *stray)
{
    struct laz_carrier_frame end;
    struct laz_buf bytes = LAZ_BUF_INIT;
    char subject[LAZ_SUBJECT_SIZE], link[LAZ_CARRIER_ID + 1];

    if (!stray || !laz_opening_close(stray, &end))
        return;
    snprintf(link, sizeof link, "%.*s", (int)stray->link_len, stray->link);
    laz_subject_link(subject, link);
    laz_carrier_make(&end, &bytes);
    if (!bytes.failed)
        (void)laz_bus_send(caller->bus, subject, NULL, bytes.data, bytes.len, NULL);
    laz_buf_fini(&bytes);
}

static void opening_step(struct laz_far *far, enum laz_opening_event_type event,
                         const struct laz_carrier_frame *frame)
{
    struct laz_fars *caller = far->caller;
    uint32_t random = 0;
    char why[160];

    if (far->is_over)
        return;
    (void)laz_random_bytes(&random, sizeof random, NULL);
    const enum laz_opening_action action =
        laz_opening_step(&far->opening, laz_loop_now_ms(caller->loop), event, frame, random);
    switch (action) {
    case LAZ_OPENING_NOTHING:
        break;
    case LAZ_OPENING_ASK:
        opening_ask(far);
        break;
    case LAZ_OPENING_LINK:
        far_begin(far, frame);
        break;
    case LAZ_OPENING_CLOSE:
        opening_close(caller, frame);
        break;
    case LAZ_OPENING_FULL:
        snprintf(why, sizeof why, "no worker of the pool %s has a place",
                 caller->values->cluster.pool);
        far_over(far, LAZ_EBUSY, why);
        break;
    case LAZ_OPENING_LATE:
        snprintf(why, sizeof why, "no worker of the pool %s has answered",
                 caller->values->cluster.pool);
        far_over(far, LAZ_ETIMEOUT, why);
        break;
    case LAZ_OPENING_CANCELLED:
        far_over(far, LAZ_ECANCELLED, "cancelled");
        break;
    default:
        far_over(far, LAZ_EREFUSED,
                 frame ? "a worker has refused this caller, by its token or its tenant: "
                         "its log says why"
                       : "the bus does not let this caller ask for a place");
    }
    const uint64_t due = laz_opening_due(&far->opening), now = laz_loop_now_ms(caller->loop);
    if (!far->is_over && due != UINT64_MAX)
        laz_timer_start(far->timer, due > now ? due - now : 0);
}

static void far_due(void *user)
{
    struct laz_far *far = user;

    if (!far->is_over) {
        opening_step(far, LAZ_OPENING_ON_TICK, NULL);
        return;
    }
    const struct laz_far_owner owner = far->owner;
    const struct laz_error err = far->err;
    far_free(far);
    if (owner.ended)
        owner.ended(owner.user, &err);
}

/* ---- the bus ----------------------------------------------------------------------------------
 */

/* NULL: there is none with this opening. */
static struct laz_far *caller_find(const struct laz_fars *caller, const char *open)
{
    for (struct laz_far *far = caller->fars; far && open; far = far->next)
        if (laz_carrier_is_same(far->opening.open, open, LAZ_CARRIER_ID))
            return far;
    return NULL;
}

static void caller_received(void *user, const char *subject, const char *reply, const char *data,
                            size_t len)
{
    struct laz_fars *caller = user;
    struct laz_carrier_frame frame;
    bool is_answer = false;
    const char *open = laz_subject_opening(subject, caller->name, &is_answer);
    struct laz_far *far = caller_find(caller, open);

    (void)reply;
    if (far && !is_answer) {
        if (far->stream)
            laz_stream_take(far->stream, data, len);
    } else if (far && laz_carrier_parse(data, len, &frame, NULL) == 0) {
        if (!far->is_over)
            opening_step(far, LAZ_OPENING_ON_ANSWER, &frame);
        else
            opening_close(caller, &frame); /* it was given up meanwhile */
    }                                      /* else it is for another process of this name */
}

static void caller_connected(void *user)
{
    const struct laz_fars *caller = user;

    for (struct laz_far *far = caller->fars; far; far = far->next)
        if (far->stream)
            laz_stream_tell(far->stream, LAZ_LINK_ON_CONNECTED);
}

static void caller_disconnected(void *user)
{
    (void)user;
}

/* The bus does not say which message it has refused: all that asked are told. */
static void caller_refused(void *user, uint32_t what, const char *subject)
{
    struct laz_fars *caller = user;
    char open[LAZ_SUBJECT_SIZE];

    laz_subject_open(open, caller->values->cluster.pool);
    const bool is_open = strcmp(subject, open) == 0;
    for (struct laz_far *far = caller->fars; far; far = far->next) {
        if (what == LAZ_CARRIER_SUBSCRIBE)
            far_over(far, LAZ_EREFUSED,
                     "the bus does not let this caller listen to its own messages: is "
                     "cluster.caller the name that its account is for?");
        else if (is_open)
            opening_step(far, LAZ_OPENING_ON_REFUSED, NULL);
        else if (far->stream)
            laz_stream_tell(far->stream, LAZ_LINK_ON_REFUSED);
    }
}

static void caller_nobody(void *user, const char *reply)
{
    struct laz_fars *caller = user;
    bool is_answer = false;
    struct laz_far *far = caller_find(caller, laz_subject_opening(reply, caller->name, &is_answer));

    if (far && is_answer)
        opening_step(far, LAZ_OPENING_ON_NOBODY, NULL);
    else if (far && far->stream)
        laz_stream_tell(far->stream, LAZ_LINK_ON_NOBODY);
}

/* ---- making and freeing -----------------------------------------------------------------------
 */

static int caller_token(struct laz_fars *caller, struct laz_error *err)
{
    const char *file = caller->values->cluster.token;
    int rc = *file ? laz_trust_secret(file, LAZ_CARRIER_TOKEN, &caller->token, err) : 0;

    if (rc)
        laz_error_prefix(err, "cluster.token: ");
    else
        caller->token.len = strcspn(laz_buf_text(&caller->token), " \t\r\n");
    return rc;
}

static int caller_name(struct laz_fars *caller, struct laz_error *err)
{
    const char *name = caller->values->cluster.caller;
    char random[13];

    if (*name) {
        snprintf(caller->name, sizeof caller->name, "%s", name);
        return 0;
    }
    int rc = laz_random_name(random, 12, err);
    snprintf(caller->name, sizeof caller->name, "c-%s", rc ? "" : random);
    return rc;
}

int laz_fars_new(struct laz_loop *loop, const struct laz_log *log, struct laz_registry *registry,
                 const struct laz_settings_values *values, struct laz_fars **out,
                 struct laz_error *err)
{
    struct laz_fars *caller = calloc(1, sizeof *caller);
    char subject[LAZ_SUBJECT_SIZE];

    *out = NULL;
    if (!caller)
        return laz_error_nomem(err);
    caller->loop = loop;
    caller->log = log;
    caller->values = values;
    caller->queue.most = SIZE_MAX; /* each is a session's, or the only one */
    caller->limits = (struct laz_link_limits){.part = LAZ_CARRIER_PART,
                                              .window = LAZ_LINK_WINDOW,
                                              .max_line = values->session.max_value_size * 2,
                                              .most = 4 * values->session.max_value_size,
                                              .keepalive_ms = LAZ_LINK_KEEPALIVE_MS,
                                              .lease_ms = LAZ_LINK_LEASE_MS};
    const struct laz_bus_owner owner = {caller, caller_connected, caller_disconnected,
                                        caller_refused, caller_nobody};
    int rc = caller_token(caller, err);
    if (!rc)
        rc = caller_name(caller, err);
    if (!rc)
        rc = laz_bus_open(loop, log, registry, values, &owner, &caller->bus, err);
    laz_subject_caller(subject, caller->name);
    if (!rc)
        rc = laz_bus_subscribe(caller->bus, subject, NULL, caller_received, caller, &caller->inbox,
                               err);
    if (rc)
        laz_fars_free(caller);
    else
        *out = caller;
    return rc;
}

void laz_fars_free(struct laz_fars *caller)
{
    if (!caller)
        return;
    while (caller->fars)
        far_free(caller->fars);
    laz_bus_close(caller->bus);
    if (caller->token.data)
        laz_wipe(caller->token.data, caller->token.cap);
    laz_buf_fini(&caller->token);
    free(caller);
}

int laz_far_open(struct laz_fars *caller, const struct laz_far_owner *owner, struct laz_far **out,
                 struct laz_error *err)
{
    struct laz_far *far = calloc(1, sizeof *far);
    const uint64_t now = laz_loop_now_ms(caller->loop);
    char open[LAZ_CARRIER_ID + 1];
    unsigned char bytes[16];

    *out = NULL;
    if (!far || !(far->timer = laz_timer_new(caller->loop, far_due, far))) {
        free(far);
        return laz_error_nomem(err);
    }
    far->caller = caller;
    far->owner = *owner;
    far->next = caller->fars;
    caller->fars = far;
    int rc = laz_random_bytes(bytes, sizeof bytes, err);
    laz_carrier_id(open, bytes);
    if (!rc)
        rc = laz_opening_begin(&far->opening, &laz_opening_usual, &caller->queue, open, now,
                               now + caller->values->cluster.open_timeout_ms, err);
    if (rc) {
        far_free(far);
        return rc;
    }
    opening_ask(far);
    opening_step(far, LAZ_OPENING_ON_TICK, NULL);
    *out = far;
    return 0;
}

const char *laz_far_worker(const struct laz_far *far)
{
    return far ? far->worker : "";
}

int laz_far_write(struct laz_far *far, const char *line, size_t len)
{
    return far->stream && !far->is_over ? laz_stream_write(far->stream, line, len) : LAZ_ECLOSED;
}

void laz_far_say(struct laz_far *far, const char *line, size_t len)
{
    if (far->stream)
        laz_stream_say(far->stream, line, len);
}

size_t laz_far_unread(const struct laz_far *far)
{
    return far->stream ? laz_stream_unread(far->stream) : 0;
}

void laz_far_finish(struct laz_far *far)
{
    if (far->stream)
        laz_stream_end(far->stream, LAZ_LINK_CLOSED, true);
}

void laz_far_close(struct laz_far *far)
{
    if (!far)
        return;
    far->owner = (struct laz_far_owner){0};
    if (far->stream) /* what waits to be sent is of no use there any more */
        laz_stream_end(far->stream, LAZ_LINK_CLOSED, false);
    else
        opening_step(far, LAZ_OPENING_ON_CANCEL, NULL);
    if (!far->stream) /* a worker may have given it already: it is told then */
        laz_timer_start(far->timer, FAR_LINGER_MS);
}
