/* SPDX-License-Identifier: MIT */
/* server.c - the server: an engine, a loop, and the clients that come by a socket or are standard
 * input and output.
 * Side: host.  Input trusted: no (who connects is asked from the kernel).
 *
 * One thread drives the engine, whose loop watches the clients too: a loop of their own around it
 * would cost each call of a tool six more system calls. */
#include "serve/serve_parts.h"

#include "engine/engine.h"
#include "os/descriptors.h"
#include "os/input.h"
#include "os/io.h"
#include "os/peer.h"
#include "os/sockets.h"
#include "os/users.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SERVER_AGAIN_MS 100 /* until a connection is accepted for which there was no descriptor */

/* ---- clients that connect -------------------------------------------------------------------- */

/* May this process use the engine? It must be one of the same user. */
static int server_check_peer(int fd, struct laz_error *err)
{
    struct laz_peer peer;
    int rc = laz_os_peer(fd, &peer, err);

    if (!rc && (peer.inherited || peer.uid != laz_os_uid()))
        rc = laz_error_set(err, LAZ_EREFUSED, 0, "a process of user %u may not connect", peer.uid);
    return rc;
}

/* Tells a peer why it is disconnected; a fresh connection has room for a line. */
static void server_turn_away(int fd, const struct laz_error *err)
{
    struct laz_buf line = LAZ_BUF_INIT;

    serve_message_make(
        SERVE_FAILED,
        &(struct serve_message){.code = laz_error_name(err->code), .message = err->text}, &line);
    if (!line.failed)
        (void)laz_os_send(fd, line.data, line.len);
    laz_buf_fini(&line);
}

static void server_connected(void *user, uint32_t events)
{
    struct laz_server *server = user;
    struct laz_error err = {0};
    int fd = laz_os_accept(server->listener);

    (void)events;
    if (fd < 0 && laz_errno_is_shortage(errno) && laz_io_events(server->listener_io, 0))
        laz_timer_start(server->again, SERVER_AGAIN_MS); /* the loop must not spin meanwhile */
    if (fd < 0)
        return;
    int rc = server_check_peer(fd, &err);
    if (!rc && server->n_clients >= SERVE_CLIENTS) {
        rc = laz_error_set(&err, LAZ_EREFUSED, 0, "the server has %d clients, and takes no more",
                           SERVE_CLIENTS);
        server_turn_away(fd, &err);
    }
    if (!rc)
        rc = serve_client_new(server, fd, fd, &err);
    if (rc)
        laz_os_close(&fd);
}

static void server_accepts_again(void *user)
{
    struct laz_server *server = user;

    (void)laz_io_events(server->listener_io, LAZ_IO_READ);
}

/* ---- making --------------------------------------------------------------------------------- */

/* Removes a socket at which nobody listens any more. */
static int server_clear_path(const char *path, struct laz_error *err)
{
    return laz_os_is_listening(path)
               ? laz_error_set(err, LAZ_EREFUSED, 0, "%s: another process listens there", path)
               : laz_os_remove_socket(path, err);
}

static int server_listen(struct laz_server *server, const char *path, struct laz_error *err)
{
    int rc = server_clear_path(path, err);

    if (!rc)
        rc = laz_os_listen(path, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, &server->listener, err);
    if (!rc)
        rc = laz_os_let_wait(server->listener, SERVE_CLIENTS, err);
    if (rc)
        return rc;
    server->path = laz_strdup(path); /* from now on it is removed at the end */
    server->again = laz_timer_new(server->loop, server_accepts_again, server);
    server->listener_io =
        laz_io_start(server->loop, server->listener, LAZ_IO_READ, server_connected, server);
    return server->path && server->again && server->listener_io ? 0 : laz_error_nomem(err);
}

static int server_take_stdio(struct laz_server *server, struct laz_error *err)
{
    int in, out;
    int rc = laz_lines_take_stdio(&server->input, &in, &out, err);

    server->is_stdio = true;
    return rc ? rc : serve_client_new(server, in, out, err);
}

/* The loop that is to watch the clients. */
static int server_take_loop(struct laz_server *server, struct laz_error *err)
{
    if (laz_engine_fd(server->engine) < 0)
        return laz_error_set(err, LAZ_EREFUSED, 0, "serve does not work on this system yet");
    server->loop = server->engine->driver.loop;
    return 0;
}

static void server_take_limits(struct serve_limits *limits, const struct laz_settings *settings)
{
    const struct laz_settings_values *values = laz_settings_values(settings);

    *limits = (struct serve_limits){
        .timeout_ms = values->session.timeout_ms,
        .deadline_ms = values->session.deadline_ms,
        .max_tool_calls = values->session.max_tool_calls,
        .max_output_lines = values->session.max_output_lines,
        .max_sessions = values->pool.max_sessions,
        .pool_size = values->pool.size,
        .max_line = values->session.max_value_size,
    };
}

int laz_server_new(const struct laz_server_options *options, struct laz_server **out,
                   struct laz_error *err)
{
    struct laz_server *server = calloc(1, sizeof *server);

    *out = NULL;
    if (!server)
        return laz_error_nomem(err);
    server->listener = -1;
    server_take_limits(&server->limits, options->settings);
    int rc = laz_engine_new(options->settings, options->engine, &server->engine, err);
    if (!rc)
        rc = server_take_loop(server, err);
    if (!rc)
        rc = laz_rest_begin(&server->rest, server->loop, NULL, err);
    if (!rc)
        rc = serve_approvals_begin(server, err);
    if (!rc)
        rc = options->listen ? server_listen(server, options->listen, err)
                             : server_take_stdio(server, err);
    if (rc)
        laz_server_free(server);
    else
        *out = server;
    return rc;
}

/* ---- running -------------------------------------------------------------------------------- */

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

void laz_server_free(struct laz_server *server)
{
    if (!server)
        return;
    laz_io_stop(server->listener_io);
    laz_timer_stop(server->again);
    laz_rest_end(&server->rest);
    laz_os_close(&server->listener);
    if (server->path)
        (void)laz_os_remove_socket(server->path, NULL);
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
    free(server->path);
    free(server);
}
