/* SPDX-License-Identifier: MIT */
/* connect_cluster.c - a place of another machine, as standard input and output.
 * Side: caller.  Input trusted: no (what a worker sends).
 *
 * Lines pass as they are.  They are looked at only as far as is needed to know which requests are
 * open: when the worker is lost, each of them is answered here, once, and nothing is sent again. */
#include "cli/cli.h"

#include "base/json_number.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "carrier/carrier.h"
#include "cluster/cluster.h"
#include "lines/lines.h"
#include "os/descriptors.h"
#include "os/input.h"
#include "session/shared.h"

#include <stdio.h>
#include <string.h>

#define BRIDGE_MEMBERS  64
#define BRIDGE_LEAVE_MS 2000 /* for answers that are still on their way when the input has ended   \
                              */

struct bridge {
    struct laz_loop *loop;
    struct laz_far *far;
    struct laz_requests requests;
    struct laz_input *input;
    struct laz_timer *leave; /* ends the link */
    bool is_greeted, is_leaving;
    struct laz_error err; /* why it has ended; code 0: as it should */
    bool is_over;
};

/* The type and the id of a line; false: it has no id. */
static bool line_read(const char *line, size_t len, char type[32], int64_t *id)
{
    struct laz_json_found found[BRIDGE_MEMBERS];
    size_t n = 0;
    bool has_id = false;

    *type = '\0';
    if (laz_json_scan_members(line, len, found, BRIDGE_MEMBERS, &n, NULL) != 0)
        return false;
    for (size_t i = 0; i < n && i < BRIDGE_MEMBERS; i++) {
        if (laz_json_found_is(&found[i], "id"))
            has_id = laz_json_to_int(found[i].raw, found[i].len, id);
        else if (laz_json_found_is(&found[i], "type") && found[i].len > 2 && found[i].len < 34)
            snprintf(type, 32, "%.*s", (int)found[i].len - 2, found[i].raw + 1);
    }
    return has_id;
}

static void bridge_may_leave(const struct bridge *bridge)
{
    if (bridge->is_leaving && bridge->is_greeted && !bridge->requests.n)
        laz_timer_start(bridge->leave, 0); /* not within a report of the link */
}

static bool bridge_passes(void *user, bool to_peer, const char *line, size_t len)
{
    static const char *const answers[] = {"result", "failed",      "done",
                                          "opened", "description", "found"};
    struct bridge *bridge = user;
    struct laz_open_request request;
    char type[32];
    int64_t id = 0;
    bool answers_it = false;
    const bool has_id = line_read(line, len, type, &id);

    bridge->is_greeted |= !to_peer && strcmp(type, "hello") == 0;
    if (!has_id) {
        bridge_may_leave(bridge);
        return true;
    }
    if (to_peer) {
        request = (struct laz_open_request){.id = id, .is_execute = strcmp(type, "execute") == 0};
        (void)laz_requests_add(&bridge->requests, &request, NULL); /* twice: the worker says so */
        return true;
    }
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        answers_it |= strcmp(type, answers[i]) == 0;
    if (answers_it)
        (void)laz_requests_take(&bridge->requests, id, &request);
    bridge_may_leave(bridge);
    return true;
}

/* As a server: what was asked for is answered, if that does not take long. */
static bool bridge_input_ended(void *user)
{
    struct bridge *bridge = user;

    bridge->is_leaving = true;
    laz_timer_start(bridge->leave, BRIDGE_LEAVE_MS);
    bridge_may_leave(bridge);
    return false;
}

static void bridge_leaves(void *user)
{
    const struct bridge *bridge = user;

    if (!bridge->is_over)
        laz_far_finish(bridge->far);
}

static void request_fail(struct bridge *bridge, const struct laz_open_request *request,
                         const char *why)
{
    struct laz_buf line = LAZ_BUF_INIT;
    struct laz_json_write write = {.to = &line};
    struct laz_result *result =
        request->is_execute
            ? laz_result_nothing_ran(
                  bridge->is_leaving ? LAZ_VERDICT_CANCELLED : LAZ_VERDICT_WORKER_LOST, NULL, why)
            : NULL;
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
        laz_far_say(bridge->far, line.data, line.len);
    laz_buf_fini(&line);
    laz_result_free(result);
}

/* The link has ended: what was open is answered before the end is told. */
static void bridge_ending(void *user, const struct laz_error *why)
{
    struct bridge *bridge = user;
    struct laz_open_request request;

    while (laz_requests_end(&bridge->requests, &request))
        request_fail(bridge, &request,
                     why->code            ? why->text
                     : bridge->is_leaving ? "the input of this client has ended"
                                          : "the worker has ended the link");
}

static void bridge_ended(void *user, const struct laz_error *why)
{
    struct bridge *bridge = user;

    bridge->err = *why;
    bridge->is_over = true;
}

static int bridge_descriptors(void *user, int *in, int *out, struct laz_error *err)
{
    struct bridge *bridge = user;
    int rc = laz_lines_take_stdio(&bridge->input, in, out, err);

    return rc ? rc : laz_os_nonblock(*in, true, err);
}

int cli_connect_cluster(const struct laz_log *log, struct laz_registry *registry,
                        const struct laz_settings_values *values, struct laz_error *err)
{
    struct bridge bridge = {.is_over = false};
    const struct laz_far_owner owner = {.user = &bridge,
                                        .descriptors = bridge_descriptors,
                                        .passes = bridge_passes,
                                        .input_ended = bridge_input_ended,
                                        .ending = bridge_ending,
                                        .ended = bridge_ended};
    struct laz_fars *caller = NULL;
    int rc = laz_loop_new(&bridge.loop, err);

    if (!rc && !(bridge.leave = laz_timer_new(bridge.loop, bridge_leaves, &bridge)))
        rc = laz_error_nomem(err);
    if (!rc)
        rc = laz_fars_new(bridge.loop, log, registry, values, &caller, err);
    if (!rc)
        rc = laz_far_open(caller, &owner, &bridge.far, err);
    while (!rc && !bridge.is_over)
        laz_loop_step(bridge.loop, LAZ_LOOP_FOREVER);
    if (!rc && bridge.err.code) {
        rc = bridge.err.code;
        if (err)
            *err = bridge.err;
    }
    laz_fars_free(caller);
    laz_requests_fini(&bridge.requests);
    laz_timer_stop(bridge.leave);
    if (bridge.loop)
        laz_loop_free(bridge.loop);
    laz_input_end(bridge.input);
    return rc;
}
