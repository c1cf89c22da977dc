/* SPDX-License-Identifier: MIT */
/* box_far.c - the kind of a box that is on another machine: the session of a worker.
 * Side: host.  Input trusted: no (what a worker sends; box_far_lines.c reads it).
 *
 * It has no process here, no channel and no plan: a place of a worker (core/cluster), where it
 * opens one session by the host protocol.  box_far_lines.c makes messages of an agent of what comes
 * from there, and requests of what the session sends, so to a session it is a box like any other:
 * its calls of tools, files, clocks, limits of output and records are those of this host.  What the
 * worker alone knows it has said: the verdict, what is enforced, what was used. */
#include "box/box_private.h"

#include "base/enforce.h"
#include "base/json_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is owed -----------------------------------------------------------------------------
 */

/* Nothing is reported from within a call of the session: it comes in the next turn of the loop. */
static void far_owes(void *user)
{
    struct laz_box_far *far = user;

    if (far->ends && !laz_box_is_ended(far->box)) {
        laz_box_far_follow(far);
        laz_box_end(far->box);
    } else if (far->refuses) {
        far->refuses = false;
        laz_box_far_refuse(far, "a file of a session on another machine cannot be removed");
    }
}

/* ---- its end ----------------------------------------------------------------------------------
 */

void laz_box_far_over(struct laz_box_far *far, const char *why)
{
    if (!*far->why)
        snprintf(far->why, sizeof far->why, "%s", why);
    if (!laz_box_was_up(far->box))
        laz_box_kill(far->box); /* it does not come */
    else if (!laz_box_is_ended(far->box))
        laz_box_end(far->box);
}

/* The place is gone, and with it all that was there. */
static void far_ended(void *user, const struct laz_error *why)
{
    struct laz_box_far *far = user;

    far->far = NULL;
    laz_box_far_lost(far, why->code ? why->text : "the worker has ended the session");
}

static bool far_line(void *user, const char *line, size_t len)
{
    struct laz_box_far *far = user;

    if (laz_box_was_killed(far->box) || laz_box_is_ended(far->box))
        return true; /* it is given up in this turn */
    return laz_box_far_take(far, line, len);
}

/* ---- the kind ---------------------------------------------------------------------------------
 */

static int far_prepare(struct laz_box_far *far, const struct laz_box_purpose *purpose,
                       struct laz_error *err)
{
    struct laz_box *box = far->box;

    for (int i = 0; purpose->lent && i < 3; i++)
        if (purpose->lent[i])
            return laz_error_set(err, LAZ_EINVAL, 0,
                                 "a session on another machine has no streams of this one");
    if (!(far->timer = laz_timer_new(box->shared->driver->loop, far_owes, far)))
        return laz_error_nomem(err);
    laz_frame_init(&far->sent, SIZE_MAX);
    laz_box_far_open(far, purpose);
    return far->open.failed ? laz_error_nomem(err) : 0;
}

static int far_start(struct laz_box *box, const struct laz_box_purpose *purpose,
                     struct laz_error *err)
{
    struct laz_box_shared *shared = box->shared;

    box->far = calloc(1, sizeof *box->far);
    if (!box->far)
        return laz_error_nomem(err);
    box->far->box = box;
    const struct laz_far_owner owner = {.user = box->far, .line = far_line, .ended = far_ended};
    int rc = far_prepare(box->far, purpose, err);
    if (!rc && !shared->fars)
        rc = laz_fars_new(shared->driver->loop, &shared->driver->log, shared->registry,
                          shared->values, &shared->fars, err);
    if (!rc)
        rc = laz_far_open(shared->fars, &owner, &box->far->far, err);
    if (!rc)
        laz_box_step(box, LAZ_BOX_EVENT_WAIT);
    return rc;
}

static bool far_send(struct laz_box *box, const char *data, size_t len)
{
    return laz_box_far_send(box->far, data, len);
}

static size_t far_unread(const struct laz_box *box)
{
    return box->far->far ? laz_far_unread(box->far->far) : 0;
}

static void far_usage(const struct laz_box *box, uint64_t *cpu_us, uint64_t *max_rss_bytes)
{
    *cpu_us = box->far->said.cpu_us;
    *max_rss_bytes = box->far->said.max_rss_bytes;
}

/* What is there ends with the place, which is given up when the box is freed. */
static void far_kill(struct laz_box *box)
{
    (void)box;
}

static bool far_is_over(struct laz_box *box)
{
    return !box->far->far;
}

static bool far_interrupt(const struct laz_box *box, uint32_t number)
{
    return laz_box_far_interrupt(box->far, number);
}

static bool far_agent_end(const struct laz_box *box, int *signal, int *status)
{
    (void)box;
    (void)signal;
    (void)status;
    return false;
}

static const char *far_why(struct laz_box *box)
{
    return *box->far->why ? box->far->why : NULL;
}

static void far_leave(struct laz_box *box)
{
    struct laz_box_far *far = box->far;

    if (!far)
        return;
    laz_far_close(far->far);
    laz_timer_stop(far->timer);
    laz_frame_fini(&far->sent);
    laz_buf_fini(&far->open);
    laz_box_far_forget(far);
    free(far->said.isolation);
    free(far);
}

const struct laz_box_kind laz_box_far = {
    .name = "on another machine",
    .start = far_start,
    .send = far_send,
    .unread = far_unread,
    .usage = far_usage,
    .kill = far_kill,
    .interrupt = far_interrupt,
    .is_over = far_is_over,
    .agent_end = far_agent_end,
    .why = far_why,
    .leave = far_leave,
};

/* ---- for sessions -----------------------------------------------------------------------------
 */

bool laz_box_is_far(const struct laz_box *box)
{
    return box && box->far;
}

const char *laz_box_lost(const struct laz_box *box)
{
    return laz_box_is_far(box) && *box->far->why ? box->far->why : NULL;
}

const struct laz_box_said *laz_box_said(const struct laz_box *box)
{
    return laz_box_is_far(box) ? &box->far->said : NULL;
}

bool laz_box_set_far_network(struct laz_box *box, const char *allow)
{
    return laz_box_far_network(box->far, allow);
}

void laz_box_end_fars(struct laz_box_shared *shared)
{
    laz_fars_free(shared->fars);
    shared->fars = NULL;
}

/* ---- what is in force there -------------------------------------------------------------------
 */

/* True: all that the settings of this side require. */
bool laz_box_far_suffices(struct laz_box_far *far)
{
    const struct laz_settings_values *values = far->box->shared->values;
    const uint32_t missing = values->sandbox.require & ~far->said.enforces;
    struct laz_buf words = LAZ_BUF_INIT;
    struct laz_json_write write = {.to = &words};
    char why[300] = "";

    laz_enforce_json(&write, NULL, missing);
    if (missing)
        snprintf(why, sizeof why,
                 "the worker %s does not enforce what sandbox.require asks for: %.200s",
                 laz_far_worker(far->far), laz_buf_text(&words));
    else if (values->sandbox.strict && !far->said.is_sandbox)
        snprintf(why, sizeof why, "the worker %s has no sandbox (sandbox.strict)",
                 laz_far_worker(far->far));
    laz_buf_fini(&words);
    if (*why)
        laz_box_far_over(far, why);
    return !*why;
}
