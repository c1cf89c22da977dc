/* SPDX-License-Identifier: MIT */
/* server.c - the server: an engine, its loop, and the one client, which gets lines.
 * Side: host.  Input trusted: no.
 *
 * One thread drives the engine, whose loop watches the client too (as in core/serve).  Between two
 * lines of the client the engine is stepped. */
#include "mcp/mcp_private.h"

#include "os/input.h"

#include <stdlib.h>
#include <string.h>

/* ---- the client on standard input and output ------------------------------------------------- */

static struct laz_mcp *out_mcp(const struct mcp_out *out)
{
    return LAZ_CONTAINER((uintptr_t)out, struct laz_mcp, out);
}

static struct laz_buf *out_add(struct mcp_out *out)
{
    return laz_lines_add(&out_mcp(out)->lines);
}

static void out_send(struct mcp_out *out, bool is_answer)
{
    (void)is_answer;
    laz_lines_send(&out_mcp(out)->lines);
}

static bool out_is_full(const struct mcp_out *out)
{
    return laz_lines_is_full(&out_mcp(out)->lines);
}

/* ---- making --------------------------------------------------------------------------------- */

/* The loop that is to watch the client, and the settings. */
static int mcp_take_loop(struct laz_mcp *mcp, struct laz_error *err)
{
    if (laz_engine_fd(mcp->engine) < 0)
        return laz_error_set(err, LAZ_EREFUSED, 0, "mcp does not work on this system yet");
    mcp->loop = mcp->engine->driver.loop;
    mcp->values = mcp->engine->values;
    return 0;
}

/* The port at which the process is watched, if the settings name one. */
static int mcp_watch(struct laz_mcp *mcp, struct laz_error *err)
{
    const char *listen = mcp->values->telemetry.listen;

    laz_health_watch(&mcp->engine->driver.pulse);
    if (!*listen)
        return 0;
    int rc = laz_endpoint_new(listen, &mcp->endpoint, err);
    if (rc)
        laz_settings_blame(mcp->values, "telemetry.listen", NULL, err);
    return rc;
}

static void mcp_timer_due(void *user)
{
    (void)user; /* the step ends, and mcp_tend looks at what has expired */
}

static int mcp_take_client(struct laz_mcp *mcp, const int *descriptors, struct laz_error *err)
{
    int in = descriptors ? descriptors[0] : -1, out = descriptors ? descriptors[1] : -1;
    int rc = descriptors ? 0 : laz_lines_take_stdio(&mcp->input, &in, &out, err);

    if (!rc)
        rc = laz_lines_begin(&mcp->lines, mcp->loop, in, out,
                             (size_t)mcp->values->session.max_value_size, MCP_QUIET, MCP_UNREAD,
                             err);
    mcp->is_watched = !rc;
    return rc;
}

int laz_mcp_new(const struct laz_mcp_options *options, struct laz_mcp **out, struct laz_error *err)
{
    struct laz_mcp *mcp = calloc(1, sizeof *mcp);

    *out = NULL;
    if (!mcp)
        return laz_error_nomem(err);
    mcp->last_resource = &mcp->resources;
    mcp->peer.mcp = mcp;
    mcp->out = (struct mcp_out){.add = out_add, .send = out_send, .is_full = out_is_full};
    int rc = laz_random_bytes(&mcp->key, sizeof mcp->key, err);
    if (!rc)
        rc = laz_engine_new(options->settings, options->engine, &mcp->engine, err);
    if (!rc)
        laz_engine_close_tools(mcp->engine);
    if (!rc)
        rc = mcp_take_loop(mcp, err);
    if (!rc)
        rc = mcp_watch(mcp, err);
    if (!rc && !(mcp->timer = laz_timer_new(mcp->loop, mcp_timer_due, mcp)))
        rc = laz_error_nomem(err);
    if (!rc)
        rc = laz_rest_begin(&mcp->rest, mcp->loop, NULL, err);
    if (!rc)
        rc = mcp_approvals_begin(mcp, err);
    if (!rc)
        rc = mcp_tools_init(mcp, err);
    if (!rc)
        rc = options->listen
                 ? mcp_http_new(mcp, options->listen, options->token_file, &mcp->http, err)
                 : mcp_take_client(mcp, options->descriptors, err);
    if (rc)
        laz_mcp_free(mcp);
    else
        *out = mcp;
    return rc;
}

/* ---- running -------------------------------------------------------------------------------- */

/* Handles the next line. True: there may be another. While a large answer is made none is read:
 * what this client leaves unread has a bound. */
static bool mcp_work(struct laz_mcp *mcp)
{
    char *line;
    size_t len;

    if (mcp->answers)
        return false;
    int rc = laz_lines_next(&mcp->lines, &line, &len);

    if (rc == 1)
        mcp_line(&mcp->peer, &mcp->out, line, len);
    if (rc < 0) {
        const struct mcp_asked asked = {.out = &mcp->out};
        laz_error_set(&mcp->why, LAZ_ETOOBIG, 0,
                      "a line has more than %zu bytes (session.max_value_size)",
                      mcp->lines.frame.max);
        mcp_fail(&asked, MCP_INVALID, mcp->why.text);
        mcp->lines.is_ending = true;
    }
    return laz_lines_handled(&mcp->lines);
}

/* Between two steps of the engine, when everything may be freed. */
static void mcp_tend(struct laz_mcp *mcp)
{
    const uint64_t of_requests = mcp_requests_tend(mcp), of_sessions = mcp_sessions_tend(mcp);
    const uint64_t next = of_requests < of_sessions ? of_requests : of_sessions;

    if (next != UINT64_MAX)
        laz_timer_start(mcp->timer, next);
}

int laz_mcp_run(struct laz_mcp *mcp, struct laz_error *err)
{
    bool is_busy = false;

    mcp_tend(mcp);
    while (!atomic_load(&mcp->is_stopped) && !mcp->is_over) {
        (void)laz_engine_step(mcp->engine, is_busy ? 0 : -1, NULL);
        laz_loop_will_step(mcp->loop);
        mcp_tend(mcp); /* before a request that uses what has expired */
        if (mcp->http)
            mcp_http_work(mcp->http);
        else
            is_busy = mcp_work(mcp);
        mcp->is_over = mcp->lines.is_ending;
        laz_rest_turn(&mcp->rest);
    }
    if (mcp->why.code && err)
        *err = mcp->why;
    return mcp->why.code;
}

void laz_mcp_stop(struct laz_mcp *mcp)
{
    if (!mcp)
        return;
    atomic_store(&mcp->is_stopped, true);
    laz_loop_wake(mcp->loop);
}

static size_t mcp_unread(const void *user)
{
    const struct laz_mcp *mcp = user;

    if (mcp->http)
        return mcp_http_unread(mcp->http);
    return mcp->lines.is_gone ? 0 : laz_lines_unread(&mcp->lines);
}

static void mcp_step(void *user, uint64_t ms)
{
    struct laz_mcp *mcp = user;

    (void)laz_engine_step(mcp->engine, (int64_t)ms, NULL);
    if (mcp->http)
        mcp_http_work(mcp->http);
}

const char *laz_mcp_metrics(const struct laz_mcp *mcp)
{
    return mcp->endpoint ? laz_endpoint_address(mcp->endpoint) : NULL;
}

const char *laz_mcp_address(const struct laz_mcp *mcp)
{
    return mcp->http ? mcp_http_address(mcp->http) : NULL;
}

void laz_mcp_free(struct laz_mcp *mcp)
{
    if (!mcp)
        return;
    if (mcp->engine)
        laz_health_forget(&mcp->engine->driver.pulse);
    laz_endpoint_free(mcp->endpoint);
    if (mcp->is_watched || mcp->http) {
        mcp->lines.is_ending = true; /* no requests are read */
        while (mcp->answers)         /* which take no longer than the processor needs */
            mcp_step(mcp, LAZ_LOOP_FOREVER);
        mcp_sessions_end(mcp);
        mcp_requests_end(mcp);
        mcp_listens_end(mcp);
        if (mcp->is_watched)
            laz_lines_flush(&mcp->lines);
        laz_lines_drain(mcp->loop, mcp_unread, mcp_step, mcp);
    }
    mcp_approvals_end(mcp);
    mcp_http_free(mcp->http);
    if (mcp->is_watched)
        laz_lines_end(&mcp->lines);
    laz_timer_stop(mcp->timer);
    laz_rest_end(&mcp->rest);
    laz_engine_free(mcp->engine); /* questions that are on their way end in here */
    laz_input_end(mcp->input);
    mcp_resources_end(mcp);
    laz_buf_fini(&mcp->tools);
    free(mcp->instructions);
    laz_wipe(&mcp->key, sizeof mcp->key);
    free(mcp);
}
