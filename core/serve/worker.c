/* SPDX-License-Identifier: MIT */
/* worker.c - clients of other machines that come by a bus (cluster/cluster.h).
 * Side: host.  Input trusted: no. */
#include "serve/serve_private.h"

#include "base/clock.h"
#include "cluster/cluster.h"
#include "os/descriptors.h"

static void worker_arrived(void *user, const struct laz_worker_guest *guest)
{
    struct laz_server *first = user;
    const struct laz_settings_values *values = first->engine->values;
    struct laz_quota quota = {values->serve.max_sessions, values->serve.cpu_s, values->serve.bytes,
                              values->serve.requests};
    int fd = guest->fd;

    laz_quota_narrow(&quota, &guest->quota);
    const struct serve_peer peer = {
        .identity = laz_identity_join(&first->identities, guest->identity, &quota, laz_clock_ms()),
        .expires_s = guest->expires_s,
    };
    if (peer.identity)
        serve_accept_place(first, fd, &peer);
    else
        laz_os_close(&fd);
}

static void worker_drained(void *user)
{
    laz_server_stop(user);
}

static void worker_failed(void *user, const struct laz_error *why)
{
    struct laz_server *first = user;

    first->why = *why;
    laz_server_stop(first);
}

static void worker_left_waiting(void *user)
{
    struct laz_server *first = user;

    laz_log(&first->engine->driver.log, LAZ_LOG_WARNING,
            "callers that have not left in cluster.drain_timeout lose their place");
    laz_server_stop(first);
}

static void worker_leaves(struct laz_server *first)
{
    const uint64_t wait_ms = first->engine->values->cluster.drain_timeout_ms;

    if (first->leave)
        return;
    if (wait_ms)
        first->leave = laz_timer_new(first->loop, worker_left_waiting, first);
    if (!first->leave) {
        laz_server_stop(first);
        return;
    }
    laz_timer_start(first->leave, wait_ms);
    laz_worker_drain(first->worker);
}

int serve_worker_begin(struct laz_server *first, struct laz_error *err)
{
    const struct laz_worker_owner owner = {first, worker_arrived, worker_drained, worker_failed};
    struct laz_engine *engine = first->engine;
    /* Who has no backend for several tenants learns it now. One that turns out not to work is
     * followed by none that is weaker (box_trial.c). */
    const int rc = engine->boxes.of_tenants ? laz_sessions_choose(&engine->sessions, err) : 0;

    first->leaves = worker_leaves;
    return rc ? rc
              : laz_worker_new(first->loop, &engine->driver.log, engine->registry, engine->values,
                               &owner, &first->worker, err);
}

void serve_worker_end(struct laz_server *first)
{
    laz_timer_stop(first->leave);
    first->leave = NULL;
    laz_worker_free(first->worker);
    first->worker = NULL;
}
