/* SPDX-License-Identifier: MIT */
/* engines.c - one server, or several beside each other: making and ending them.
 * Side: host.  Input trusted: yes (the command).
 *
 * The first one runs on the thread of its caller, each other one on a thread of its own, from the
 * time when all are made.  They share the audit log, the nest of control groups and one counter of
 * sessions of pools, as the engines of a group, and nothing else: a client belongs to one of them.
 *
 * Only the first one is stopped from outside.  When it is freed it accepts no more, then tells the
 * others to end: by a post, which comes after those of all clients that were handed over. */
#include "serve/serve_private.h"

#include "base/container.h"
#include "cluster/cluster.h"
#include "os/thread.h"

#include <stdlib.h>

/* ---- threads -------------------------------------------------------------------------------- */

static void beside_ends(struct laz_post *post)
{
    struct laz_server *server = LAZ_CONTAINER(post, struct laz_server, end);

    atomic_store(&server->is_stopped, true);
}

static void *beside_thread(void *user)
{
    struct laz_server *server = user;

    (void)laz_server_run(server, NULL);
    pthread_mutex_lock(&server->lock); /* who told it to end has woken the loop */
    pthread_mutex_unlock(&server->lock);
    serve_server_end(server);
    return NULL;
}

static int beside_start(struct laz_server *server, struct laz_error *err)
{
    const int failed = laz_os_thread(&server->thread, 0, beside_thread, server);

    server->has_thread = !failed;
    return failed ? laz_error_start(err, failed, "cannot start the thread of an engine") : 0;
}

static void beside_tell(struct laz_server *server)
{
    if (!server->has_thread)
        return;
    pthread_mutex_lock(&server->lock);
    laz_loop_post(server->loop, &server->end);
    pthread_mutex_unlock(&server->lock);
}

/* Waits for its end. */
static void beside_join(struct laz_server *server)
{
    if (server->has_thread)
        pthread_join(server->thread, NULL);
    else
        serve_server_end(server);
}

/* ---- making and freeing --------------------------------------------------------------------- */

static int beside_number(const struct laz_server_options *options, unsigned *n,
                         struct laz_error *err)
{
    *n = options->engines ? options->engines : laz_engines_usual();
    if (*n > LAZ_SERVER_ENGINES)
        return laz_error_set(err, LAZ_EINVAL, 0, "a server has 1 to %u engines, not %u",
                             LAZ_SERVER_ENGINES, *n);
    if (!options->listen && options->engines != 1)
        return laz_error_set(err, LAZ_EINVAL, 0,
                             "a server on standard input and output has one client, and so one "
                             "engine");
    return 0;
}

/* NULL: out of memory. */
static struct laz_server *beside_new(struct laz_server *first)
{
    struct laz_server *server = calloc(1, sizeof *server);

    if (!server)
        return NULL;
    server->first = first ? first : server;
    server->listener = -1;
    server->end.run = beside_ends;
    pthread_mutex_init(&server->lock, NULL);
    laz_identities_init(&server->identities);
    server->most_unread = SERVE_UNREAD_OF_ONE;
    return server;
}

/* The port at which the process is watched, if the settings name one. */
static int beside_watch(struct laz_server *first, struct laz_error *err)
{
    const struct laz_settings_values *values = first->engine->values;

    if (!*values->telemetry.listen)
        return 0;
    int rc = laz_endpoint_new(values->telemetry.listen, &first->endpoint, err);
    if (rc)
        laz_settings_blame(values, "telemetry.listen", NULL, err);
    return rc;
}

const char *laz_server_address(const struct laz_server *server)
{
    return server->path     ? server->path
           : server->worker ? laz_worker_name(server->worker)
                            : serve_gate_address(server);
}

const char *laz_server_metrics(const struct laz_server *server)
{
    return server->endpoint ? laz_endpoint_address(server->endpoint) : NULL;
}

int laz_server_new(const struct laz_server_options *options, struct laz_server **out,
                   struct laz_error *err)
{
    struct laz_server *first = NULL, **at = &first;
    unsigned n = 0;
    int rc = beside_number(options, &n, err);

    *out = NULL;
    for (unsigned i = 0; i < n && !rc; i++, at = &(*at)->next) {
        *at = beside_new(first);
        rc = *at ? serve_server_begin(*at, options, i, n, err) : laz_error_nomem(err);
        if (rc)
            break;
    }
    if (!rc)
        rc = beside_watch(first, err);
    if (!rc)
        rc = options->listen ? serve_accept_begin(first, options->listen, err)
                             : serve_server_take_stdio(first, err);
    for (struct laz_server *other = first ? first->next : NULL; other && !rc; other = other->next)
        rc = beside_start(other, err);
    if (rc)
        laz_server_free(first);
    else
        *out = first;
    return rc;
}

void laz_server_free(struct laz_server *first)
{
    if (!first)
        return;
    serve_accept_end(first);
    for (struct laz_server *other = first->next; other; other = other->next)
        beside_tell(other);
    serve_server_end(first);
    for (struct laz_server *other = first->next; other; other = other->next)
        beside_join(other);
    laz_endpoint_free(first->endpoint);
    for (struct laz_server *next; first; first = next) {
        next = first->next;
        pthread_mutex_destroy(&first->lock);
        laz_identities_fini(&first->identities);
        free(first);
    }
}
