/* SPDX-License-Identifier: MIT */
/* caller.c - a place of another machine, as standard input and output.
 * Side: caller.  Input trusted: no (what a worker, or anybody on the bus, sends).
 *
 * Lines pass as they are.  They are looked at only as far as is needed to know which requests are
 * open: when the worker is lost, each of them is answered here, once, and nothing is sent again. */
#include "cluster/cluster.h"

#include "base/json_number.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/random.h"
#include "carrier/places.h"
#include "cluster/bus.h"
#include "cluster/stream.h"
#include "lines/lines.h"
#include "os/descriptors.h"
#include "os/input.h"
#include "os/trust.h"
#include "session/shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLER_MEMBERS 64

struct caller {
    struct laz_loop *loop;
    const struct laz_log *log;
    const struct laz_settings_values *values;
    struct laz_bus *bus;
    struct laz_bus_subscription *inbox;
    struct laz_opening opening;
    struct laz_opening_queue queue;
    struct laz_timer *timer; /* of the opening */
    struct laz_link_limits limits;
    struct laz_stream *stream; /* NULL: it is still opened, or over */
    struct laz_requests requests;
    struct laz_input *input;
    struct laz_buf token;
    char name[LAZ_CARRIER_NAME + 1], worker[LAZ_CARRIER_NAME + 1];
    struct laz_error err; /* why it has ended; code 0: as it should */
    bool is_over;
};

static void caller_over(struct caller *caller, int code, const char *text)
{
    caller->is_over = true;
    if (code && !caller->err.code)
        laz_error_set(&caller->err, code, 0, "%s", text);
}

/* ---- requests ---------------------------------------------------------------------------------
 */

/* The type and the id of a line; false: it has no id. */
static bool line_read(const char *line, size_t len, char type[32], int64_t *id)
{
    struct laz_json_found found[CALLER_MEMBERS];
    size_t n = 0;
    bool has_id = false;

    *type = '\0';
    if (laz_json_scan_members(line, len, found, CALLER_MEMBERS, &n, NULL) != 0)
        return false;
    for (size_t i = 0; i < n && i < CALLER_MEMBERS; i++) {
        if (laz_json_found_is(&found[i], "id"))
            has_id = laz_json_to_int(found[i].raw, found[i].len, id);
        else if (laz_json_found_is(&found[i], "type") && found[i].len > 2 && found[i].len < 34)
            snprintf(type, 32, "%.*s", (int)found[i].len - 2, found[i].raw + 1);
    }
    return has_id;
}

static bool caller_passes(void *user, bool to_peer, const char *line, size_t len)
{
    static const char *const answers[] = {"result", "failed",      "done",
                                          "opened", "description", "found"};
    struct caller *caller = user;
    struct laz_open_request request;
    char type[32];
    int64_t id = 0;
    bool answers_it = false;

    if (!line_read(line, len, type, &id))
        return true;
    if (to_peer) {
        request = (struct laz_open_request){.id = id, .is_execute = strcmp(type, "execute") == 0};
        (void)laz_requests_add(&caller->requests, &request, NULL); /* twice: the worker says so */
        return true;
    }
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        answers_it |= strcmp(type, answers[i]) == 0;
    if (answers_it)
        (void)laz_requests_take(&caller->requests, id, &request);
    return true;
}

static void request_fail(struct caller *caller, const struct laz_open_request *request,
                         const char *why)
{
    struct laz_buf line = LAZ_BUF_INIT;
    struct laz_json_write write = {.to = &line};
    struct laz_result *result =
        request->is_execute ? laz_result_nothing_ran(LAZ_VERDICT_WORKER_LOST, NULL, why) : NULL;
    const char *json = result ? laz_result_json(result) : NULL;

    laz_json_begin_object(&write, NULL);
    laz_json_add_text(&write, "type", json ? "result" : "failed");
    laz_json_add_int(&write, "id", request->id);
    if (json) {
        laz_json_add_raw(&write, "result", json, strlen(json));
    } else {
        laz_json_add_text(&write, "code", "LAZ_ECLOSED");
        laz_json_add_text(&write, "message", why);
    }
    laz_json_end_object(&write);
    if (!line.failed)
        laz_stream_say(caller->stream, line.data, line.len);
    laz_buf_fini(&line);
    laz_result_free(result);
}

/* ---- the link ---------------------------------------------------------------------------------
 */

static void caller_ended(void *user, enum laz_link_reason reason)
{
    struct caller *caller = user;
    struct laz_open_request request;
    char why[160];

    snprintf(why, sizeof why, "the worker %s: %s", caller->worker, laz_link_reason_text(reason));
    while (laz_requests_end(&caller->requests, &request))
        request_fail(caller, &request, why);
    caller_over(caller, reason == LAZ_LINK_CLOSED ? 0 : LAZ_ECLOSED, why);
}

static void caller_begin(struct caller *caller, const struct laz_carrier_frame *opened)
{
    char to[LAZ_SUBJECT_SIZE], here[LAZ_SUBJECT_SIZE], boot[LAZ_CARRIER_ID + 1];
    const struct laz_stream_owner owner = {
        .user = caller, .passes = caller_passes, .ended = caller_ended};
    int in = -1, out = -1;

    laz_subject_link(to, caller->opening.link);
    laz_subject_inbox(here, caller->name, caller->opening.open);
    snprintf(boot, sizeof boot, "%.*s", (int)opened->boot_len, opened->boot);
    snprintf(caller->worker, sizeof caller->worker, "%.*s", (int)opened->worker_len,
             opened->worker);
    int rc = laz_lines_take_stdio(&caller->input, &in, &out, &caller->err);
    if (!rc)
        rc = laz_os_nonblock(in, true, &caller->err);
    if (!rc)
        rc = laz_stream_new(&(struct laz_stream_asked){.loop = caller->loop,
                                                       .bus = caller->bus,
                                                       .limits = &caller->limits,
                                                       .link = caller->opening.link,
                                                       .boot = boot,
                                                       .to = to,
                                                       .here = here,
                                                       .in = in,
                                                       .out = out,
                                                       .owner = owner},
                            &caller->stream, &caller->err);
    if (rc)
        caller->is_over = true;
}

/* ---- the opening ------------------------------------------------------------------------------
 */

static void opening_ask(struct caller *caller)
{
    struct laz_carrier_frame frame;
    struct laz_buf bytes = LAZ_BUF_INIT;
    char subject[LAZ_SUBJECT_SIZE], answer[LAZ_SUBJECT_SIZE];

    laz_opening_frame(&caller->opening, caller->name, laz_loop_now_ms(caller->loop), &frame);
    frame.data = laz_buf_text(&caller->token);
    frame.len = caller->token.len;
    laz_subject_open(subject, caller->values->cluster.pool);
    laz_subject_answer(answer, caller->name, caller->opening.open);
    laz_carrier_make(&frame, &bytes);
    if (!bytes.failed)
        (void)laz_bus_send(caller->bus, subject, answer, bytes.data, bytes.len, NULL);
    laz_buf_fini(&bytes);
}

static void opening_close(struct caller *caller, const struct laz_carrier_frame *stray)
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

static void opening_step(struct caller *caller, enum laz_opening_event_type event,
                         const struct laz_carrier_frame *frame)
{
    uint32_t random = 0;

    (void)laz_random_bytes(&random, sizeof random, NULL);
    const enum laz_opening_action action =
        laz_opening_step(&caller->opening, laz_loop_now_ms(caller->loop), event, frame, random);
    switch (action) {
    case LAZ_OPENING_NOTHING:
        break;
    case LAZ_OPENING_ASK:
        opening_ask(caller);
        break;
    case LAZ_OPENING_LINK:
        caller_begin(caller, frame);
        break;
    case LAZ_OPENING_CLOSE:
        opening_close(caller, frame);
        break;
    case LAZ_OPENING_FULL:
        caller_over(caller, LAZ_EBUSY, "no worker of the pool has a place");
        break;
    case LAZ_OPENING_LATE:
        caller_over(caller, LAZ_ETIMEOUT, "no worker of the pool has answered");
        break;
    default:
        caller_over(caller, LAZ_EREFUSED,
                    frame ? "a worker has refused this caller, by its token or its tenant"
                          : "the bus does not let this caller ask for a place");
    }
    const uint64_t due = laz_opening_due(&caller->opening), now = laz_loop_now_ms(caller->loop);
    if (due != UINT64_MAX)
        laz_timer_start(caller->timer, due > now ? due - now : 0);
}

static void opening_due(void *user)
{
    opening_step(user, LAZ_OPENING_ON_TICK, NULL);
}

/* ---- the bus ----------------------------------------------------------------------------------
 */

static void caller_received(void *user, const char *subject, const char *reply, const char *data,
                            size_t len)
{
    struct caller *caller = user;
    struct laz_carrier_frame frame;
    bool is_answer = false;
    const char *open = laz_subject_opening(subject, caller->name, &is_answer);

    (void)reply;
    if (!open || !laz_carrier_is_same(caller->opening.open, open, LAZ_CARRIER_ID))
        return;
    if (!is_answer) {
        if (caller->stream)
            laz_stream_take(caller->stream, data, len);
    } else if (laz_carrier_parse(data, len, &frame, NULL) == 0) {
        opening_step(caller, LAZ_OPENING_ON_ANSWER, &frame);
    }
}

static void caller_connected(void *user)
{
    const struct caller *caller = user;

    if (caller->stream)
        laz_stream_tell(caller->stream, LAZ_LINK_ON_CONNECTED);
}

static void caller_disconnected(void *user)
{
    (void)user;
}

static void caller_refused(void *user, uint32_t what, const char *subject)
{
    struct caller *caller = user;
    char open[LAZ_SUBJECT_SIZE];

    laz_subject_open(open, caller->values->cluster.pool);
    if (what == LAZ_CARRIER_SUBSCRIBE)
        caller_over(
            caller, LAZ_EREFUSED,
            "the bus does not let this caller listen to its own messages: is cluster.caller "
            "the name that its account is for?");
    else if (strcmp(subject, open) == 0)
        opening_step(caller, LAZ_OPENING_ON_REFUSED, NULL);
    else if (caller->stream)
        laz_stream_tell(caller->stream, LAZ_LINK_ON_REFUSED);
}

static void caller_nobody(void *user, const char *reply)
{
    struct caller *caller = user;
    bool is_answer = false;
    const char *open = laz_subject_opening(reply, caller->name, &is_answer);

    if (!open || !laz_carrier_is_same(caller->opening.open, open, LAZ_CARRIER_ID))
        return;
    if (is_answer)
        opening_step(caller, LAZ_OPENING_ON_NOBODY, NULL);
    else if (caller->stream)
        laz_stream_tell(caller->stream, LAZ_LINK_ON_NOBODY);
}

/* ---- all of it --------------------------------------------------------------------------------
 */

static int caller_token(struct caller *caller, struct laz_error *err)
{
    const char *file = caller->values->cluster.token;
    int rc = *file ? laz_trust_secret(file, LAZ_CARRIER_TOKEN, &caller->token, err) : 0;

    if (rc)
        laz_error_prefix(err, "cluster.token: ");
    else
        caller->token.len = strcspn(laz_buf_text(&caller->token), " \t\r\n");
    return rc;
}

static int caller_name(struct caller *caller, struct laz_error *err)
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

static int caller_open(struct caller *caller, struct laz_registry *registry, struct laz_error *err)
{
    const struct laz_settings_values *values = caller->values;
    const struct laz_bus_owner owner = {caller, caller_connected, caller_disconnected,
                                        caller_refused, caller_nobody};
    char subject[LAZ_SUBJECT_SIZE], open[LAZ_CARRIER_ID + 1];
    unsigned char bytes[16];
    int rc = laz_bus_open(caller->loop, caller->log, registry, values, &owner, &caller->bus, err);

    laz_subject_caller(subject, caller->name);
    if (!rc)
        rc = laz_bus_subscribe(caller->bus, subject, NULL, caller_received, caller, &caller->inbox,
                               err);
    if (!rc)
        rc = laz_random_bytes(bytes, sizeof bytes, err);
    if (rc)
        return rc;
    laz_carrier_id(open, bytes);
    const uint64_t now = laz_loop_now_ms(caller->loop);
    caller->queue.most = 1;
    rc = laz_opening_begin(&caller->opening, &laz_opening_usual, &caller->queue, open, now,
                           now + values->cluster.open_timeout_ms, err);
    if (!rc) {
        opening_ask(caller);
        opening_step(caller, LAZ_OPENING_ON_TICK, NULL);
    }
    return rc;
}

int laz_cluster_call(const struct laz_log *log, struct laz_registry *registry,
                     const struct laz_settings_values *values, struct laz_error *err)
{
    struct caller caller = {.log = log, .values = values};
    int rc = laz_loop_new(&caller.loop, err);

    caller.limits = (struct laz_link_limits){.part = LAZ_CARRIER_PART,
                                             .window = LAZ_LINK_WINDOW,
                                             .max_line = values->session.max_value_size * 2,
                                             .most = 4 * values->session.max_value_size,
                                             .keepalive_ms = LAZ_LINK_KEEPALIVE_MS,
                                             .lease_ms = LAZ_LINK_LEASE_MS};
    if (!rc && !(caller.timer = laz_timer_new(caller.loop, opening_due, &caller)))
        rc = laz_error_nomem(err);
    if (!rc)
        rc = caller_token(&caller, err);
    if (!rc)
        rc = caller_name(&caller, err);
    if (!rc)
        rc = caller_open(&caller, registry, err);
    while (!rc && !caller.is_over)
        laz_loop_step(caller.loop, LAZ_LOOP_FOREVER);
    if (!rc && caller.err.code) {
        rc = caller.err.code;
        if (err)
            *err = caller.err;
    }
    laz_stream_free(caller.stream);
    laz_bus_close(caller.bus);
    laz_requests_fini(&caller.requests);
    laz_timer_stop(caller.timer);
    if (caller.loop)
        laz_loop_free(caller.loop);
    laz_input_end(caller.input);
    if (caller.token.data)
        laz_wipe(caller.token.data, caller.token.cap);
    laz_buf_fini(&caller.token);
    return rc;
}
