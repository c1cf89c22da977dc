/* SPDX-License-Identifier: MIT */
/* server.c - a server: an engine, a loop, and its clients, which come by a socket (accept.c) or are
 * standard input and output.
 * Side: host.  Input trusted: yes (the command).
 *
 * One thread drives the engine, whose loop watches the clients too: a loop of their own around it
 * would cost each call of a tool six more system calls. */
#include "serve/serve_private.h"

#include "os/input.h"

#include <string.h>

/* ---- making --------------------------------------------------------------------------------- */

int serve_server_take_stdio(struct laz_server *server, struct laz_error *err)
{
    int in, out;
    int rc = laz_lines_take_stdio(&server->input, &in, &out, err);

    server->is_stdio = true;
    atomic_fetch_add(&server->n_clients, 1);
    return rc ? rc : serve_client_new(server, in, out, &(struct serve_peer){.identity = NULL}, err);
}

/* The loop that is to watch the clients. */
static int server_take_loop(struct laz_server *server, struct laz_error *err)
{
    if (laz_engine_fd(server->engine) < 0)
        return laz_error_set(err, LAZ_EREFUSED, 0, "serve does not work on this system yet");
    server->loop = server->engine->driver.loop;
    return 0;
}

/* A worker that is not for one tenant is for any. */
static bool server_has_tenants(const struct laz_server_options *options)
{
    return options->listen && strcmp(options->listen, LAZ_SERVER_CLUSTER) == 0 &&
           !*laz_settings_values(options->settings)->cluster.tenant;
}

int serve_server_begin(struct laz_server *server, const struct laz_server_options *options,
                       unsigned number, unsigned n, struct laz_error *err)
{
    struct laz_server *first = server->first;
    const bool is_first = server == first;
    const struct laz_engine_beside beside = {
        .first = is_first ? NULL : first->engine,
        .n = n,
        .number = number,
        .pooled = &first->pooled,
    };

    int rc =
        laz_engine_new_beside(options->settings, options->engine, &beside, &server->engine, err);
    if (!rc)
        server->engine->boxes.of_tenants = server_has_tenants(options);
    if (!rc)
        rc = server_take_loop(server, err);
    if (!rc)
        laz_health_watch(&server->engine->driver.pulse);
    if (!rc)
        rc = laz_rest_begin(&server->rest, server->loop, is_first ? NULL : &first->rest, err);
    return rc ? rc : serve_approvals_begin(server, err);
}

/* ---- running -------------------------------------------------------------------------------- */

static void server_leave(struct laz_server *server)
{
    if (server->leaves)
        server->leaves(server);
    else
        laz_server_stop(server);
}

/* Between two requests of a client the engine is stepped, and each other client has its turn: many
 * requests at once hold up nobody else. */
int laz_server_run(struct laz_server *server, struct laz_error *err)
{
    bool is_busy = false;

    while (!atomic_load(&server->is_stopped) && !server->is_over) {
        (void)laz_engine_step(server->engine, is_busy ? 0 : -1, NULL);
        laz_loop_will_step(server->loop);
        is_busy = serve_clients_work(server);
        serve_clients_sweep(server);
        laz_rest_turn(&server->rest);
        if (atomic_load(&server->is_leaving))
            server_leave(server);
    }
    if (server->why.code && err)
        *err = server->why;
    return server->why.code;
}

void laz_server_stop(struct laz_server *server)
{
    if (!server)
        return;
    atomic_store(&server->is_stopped, true);
    laz_loop_wake(server->loop);
}

void laz_server_leave(struct laz_server *server)
{
    atomic_store(&server->is_leaving, true);
    laz_loop_wake(server->loop);
}

static size_t server_unread(const void *user)
{
    const struct laz_server *server = user;
    size_t unread = 0;

    for (const struct serve_client *client = server->clients; client; client = client->next)
        unread += client->lines.is_gone ? 0 : laz_lines_unread(&client->lines);
    return unread;
}

static void server_step(void *user, uint64_t ms)
{
    struct laz_server *server = user;

    (void)laz_engine_step(server->engine, (int64_t)ms, NULL);
}

static bool server_has_answers(const struct laz_server *server)
{
    unsigned n = 0;

    for (const struct serve_client *client = server->clients; client; client = client->next)
        n += client->n_answers;
    return n;
}

void serve_server_end(struct laz_server *server)
{
    if (server->engine)
        laz_health_forget(&server->engine->driver.pulse);
    laz_rest_end(&server->rest);
    while (server_has_answers(server)) /* which take no longer than the processor needs */
        server_step(server, LAZ_LOOP_FOREVER);
    for (struct serve_client *client = server->clients; client; client = client->next) {
        client->lines.is_ending = true; /* no requests are read */
        serve_sessions_end(client);
        laz_lines_flush(&client->lines);
    }
    if (server->clients)
        laz_lines_drain(server->loop, server_unread, server_step, server);
    while (server->clients)
        serve_client_free(server->clients);
    laz_engine_free(server->engine); /* calls that are on their way end in here */
    laz_input_end(server->input);
}
