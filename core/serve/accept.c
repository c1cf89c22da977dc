/* SPDX-License-Identifier: MIT */
/* accept.c - who connects to the socket: asked who they are, and placed on one of the servers.
 * Side: host.  Input trusted: no (who connects is asked from the kernel).
 *
 * The first server accepts, on its loop.  A client stays where it is placed: all that it has
 * belongs to one engine.  So it is placed by what is known when it comes, the number of clients;
 * only where these are equal, by what the engines have to do at the moment. */
#include "serve/serve_private.h"

#include "base/clock.h"
#include "base/container.h"
#include "os/descriptors.h"
#include "os/io.h"
#include "os/peer.h"
#include "os/sockets.h"
#include "os/users.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ACCEPT_AGAIN_MS 100 /* until a connection is accepted for which there was no descriptor */

/* May this process use the engines? It must be one of the same user. */
static int accept_check_peer(int fd, struct laz_error *err)
{
    struct laz_peer peer;
    int rc = laz_os_peer(fd, &peer, err);

    if (!rc && (peer.inherited || peer.uid != laz_os_uid()))
        rc = laz_error_set(err, LAZ_EREFUSED, 0, "a process of user %u may not connect", peer.uid);
    return rc;
}

/* Tells a peer why it is disconnected; a fresh connection has room for a line. */
static void accept_refuse(int fd, const struct laz_error *err)
{
    struct laz_buf line = LAZ_BUF_INIT;

    serve_message_make(
        SERVE_FAILED,
        &(struct serve_message){.code = laz_error_name(err->code), .message = err->text}, &line);
    if (!line.failed)
        (void)laz_os_send(fd, line.data, line.len);
    laz_buf_fini(&line);
    laz_os_close(&fd);
}

/* ---- placing -------------------------------------------------------------------------------- */

/* A client on its way to the thread of its server. */
struct accept_arrival {
    struct laz_post post;
    struct laz_server *server;
    int fd;
    struct serve_peer peer;
};

static void accept_forget(struct laz_server *first, const struct serve_peer *peer)
{
    if (peer->identity)
        laz_identity_leave(&first->identities, peer->identity, laz_clock_ms());
}

/* On the thread of the server, which has counted the client. */
static void accept_take(struct laz_server *server, int fd, const struct serve_peer *peer)
{
    struct laz_error err = {0};

    if (serve_client_new(server, fd, fd, peer, &err) == 0)
        return;
    atomic_fetch_sub(&server->n_clients, 1);
    accept_forget(server->first, peer);
    accept_refuse(fd, &err);
}

static void accept_arrived(struct laz_post *post)
{
    struct accept_arrival *arrival = LAZ_CONTAINER(post, struct accept_arrival, post);

    accept_take(arrival->server, arrival->fd, &arrival->peer);
    free(arrival);
}

/* Does `a` come before `b`? Of two that are equal the earlier one: what its templates have loaded
 * is there already, and an engine that nobody needs has none. */
static bool accept_is_less(struct laz_server *a, unsigned clients_a, struct laz_server *b,
                           unsigned clients_b)
{
    if (clients_a != clients_b)
        return clients_a < clients_b;
    return atomic_load(&a->engine->driver.busy) < atomic_load(&b->engine->driver.busy);
}

/* The server for the next client, which counts it. LAZ_EREFUSED: there are too many. */
static int accept_choose(struct laz_server *first, unsigned most, struct laz_server **chosen,
                         struct laz_error *err)
{
    struct laz_server *best = NULL;
    unsigned all = 0, least = 0;

    for (struct laz_server *server = first; server; server = server->next) {
        const unsigned clients = atomic_load(&server->n_clients); /* others only take away */
        all += clients;
        if (best && !accept_is_less(server, clients, best, least))
            continue;
        best = server;
        least = clients;
    }
    if (all >= most)
        return laz_error_set(err, LAZ_EREFUSED, 0, "the server has %u clients, and takes no more",
                             most);
    atomic_fetch_add(&best->n_clients, 1);
    *chosen = best;
    return 0;
}

static int accept_place(struct laz_server *first, int fd, const struct serve_peer *peer,
                        struct laz_error *err)
{
    const unsigned most =
        peer->identity ? (unsigned)first->engine->values->serve.max_clients : SERVE_CLIENTS;
    struct laz_server *server = NULL;
    int rc = accept_choose(first, most, &server, err);

    if (rc)
        return rc;
    if (server == first) {
        accept_take(first, fd, peer);
        return 0;
    }
    struct accept_arrival *arrival = malloc(sizeof *arrival);
    if (!arrival) {
        atomic_fetch_sub(&server->n_clients, 1);
        return laz_error_nomem(err);
    }
    *arrival = (struct accept_arrival){{.run = accept_arrived}, server, fd, *peer};
    laz_loop_post(server->loop, &arrival->post);
    return 0;
}

void serve_accept_place(struct laz_server *first, int fd, const struct serve_peer *peer)
{
    struct laz_error err = {0};

    if (accept_place(first, fd, peer, &err) == 0)
        return;
    accept_forget(first, peer);
    accept_refuse(fd, &err);
}

/* ---- the socket ----------------------------------------------------------------------------- */

static void accept_connected(void *user, uint32_t events)
{
    struct laz_server *first = user;
    struct laz_error err = {0};
    int fd = laz_os_accept(first->listener);

    (void)events;
    if (fd < 0 && laz_errno_is_shortage(errno) && laz_io_events(first->listener_io, 0))
        laz_timer_start(first->again, ACCEPT_AGAIN_MS); /* the loop must not spin meanwhile */
    if (fd < 0)
        return;
    if (accept_check_peer(fd, &err) != 0)
        laz_os_close(&fd);
    else
        serve_accept_place(first, fd, &(struct serve_peer){.identity = NULL});
}

static void accept_again(void *user)
{
    struct laz_server *first = user;

    (void)laz_io_events(first->listener_io, LAZ_IO_READ);
}

int serve_accept_begin(struct laz_server *first, const char *path, struct laz_error *err)
{
    static const char tls[] = "tls://";

    if (strncmp(path, tls, sizeof tls - 1) == 0)
        return serve_gate_begin(first, path + sizeof tls - 1, err);
    if (strcmp(path, LAZ_SERVER_CLUSTER) == 0)
        return serve_worker_begin(first, err);
    int rc = laz_os_remove_dead_socket(path, err);

    if (!rc)
        rc = laz_os_listen(path, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, &first->listener, err);
    if (!rc)
        rc = laz_os_let_wait(first->listener, SERVE_CLIENTS, err);
    if (rc)
        return rc;
    first->path = laz_strdup(path); /* from now on it is removed at the end */
    first->again = laz_timer_new(first->loop, accept_again, first);
    first->listener_io =
        laz_io_start(first->loop, first->listener, LAZ_IO_READ, accept_connected, first);
    return first->path && first->again && first->listener_io ? 0 : laz_error_nomem(err);
}

void serve_accept_end(struct laz_server *first)
{
    serve_gate_end(first);
    serve_worker_end(first);
    laz_io_stop(first->listener_io);
    laz_timer_stop(first->again);
    laz_os_close(&first->listener);
    if (first->path)
        (void)laz_os_remove_socket(first->path, NULL);
    free(first->path);
}
