/* SPDX-License-Identifier: MIT */
/* connection.c - one connection of a box, and the one to the server that it has for itself.
 * Side: proxy.  Input trusted: no.
 *
 * Nothing is shared between connections.  What passes between the two ends is decided in
 * exchange.c; here is when that is asked, and when both end. */
#include "proxy/proxy_private.h"

#include "base/container.h"
#include "os/descriptors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONNECTION_ROUNDS   16   /* in a turn, so that the others have theirs */
#define CONNECTION_LEAVE_MS 2000 /* in which a box reads the last words */
/* A note of the engine, which does not wait for a busy proxy, may be lost. So a secret is asked for
 * again, as seldom as the engine reads one. */
#define CONNECTION_ASK_MS 60000

struct proxy_connection {
    struct proxy_connection *next;
    struct proxy *proxy;
    char *name;
    struct proxy_leaf *leaf;
    struct proxy_end box, server;
    struct proxy_exchange exchange;
    struct laz_timer *again, *ask;
    bool is_patient; /* `ask` is started */
    bool is_leaving; /* the last words were said */
    int64_t used;    /* credential of a request, of which the engine is told next; 0: none */
    bool is_over, is_dead;
};

static void connection_turn(struct proxy_connection *c);

/* ---- its end --------------------------------------------------------------------------------- */

static void connection_free(struct proxy_connection *c)
{
    laz_timer_stop(c->again);
    laz_timer_stop(c->ask);
    proxy_end_fini(&c->box);
    proxy_end_fini(&c->server);
    proxy_leaf_drop(c->leaf);
    proxy_exchange_fini(&c->exchange);
    for (size_t i = 0; i < c->exchange.own.n; i++)
        proxy_credential_drop(c->exchange.own.items[i]);
    free(c->exchange.own.items);
    free(c->name);
    free(c);
}

/* Ends it; it is freed when no thread has it. */
static void connection_end(struct proxy_connection *c)
{
    if (!c->is_dead) {
        LAZ_LIST_REMOVE(c->proxy->connections, c);
        laz_io_stop(c->box.io);
        laz_io_stop(c->server.io);
        c->box.io = c->server.io = NULL;
    }
    c->is_dead = true;
    if (!c->box.is_shaken && !c->server.is_shaken)
        connection_free(c);
}

/* All was said. What the box is still sending is read, so that its client gets to the answer: a
 * connection that is closed on unread bytes is reset (unix(7) does as tcp(7)). */
static void connection_leave(struct proxy_connection *c)
{
    c->is_leaving = true;
    proxy_end_part(&c->box, c->exchange.is_wrong);
    proxy_end_part(&c->server, false);
    laz_timer_start(c->again, CONNECTION_LEAVE_MS);
}

/* Nothing is done any more with what comes. */
static void connection_left(struct proxy_connection *c)
{
    struct proxy_end *box = &c->box;

    laz_buf_clear(&box->bytes.in);
    box->bytes.taken = 0;
    (void)proxy_end_read(box, PROXY_WAITS);
    c->is_over |= box->ended || box->broken;
}

/* `moved`: there may be more to do. A box that has said all it has to say still gets its answers.
 */
static void connection_settle(struct proxy_connection *c, bool moved)
{
    struct proxy_end *box = &c->box, *server = &c->server;
    const bool is_idle = !moved && !c->exchange.is_asking && !c->exchange.waits &&
                         box->bytes.sent == box->bytes.out.len;
    /* all that it has sent was understood; or what is left is a part of a line, which stays one */
    const bool is_read = server->bytes.taken == server->bytes.in.len ||
                         (!moved && box->bytes.sent == box->bytes.out.len);

    if (box->broken || (box->ended && (box->was_cut || is_idle)))
        c->is_over = true;
    if (!c->exchange.is_ending && (server->broken || (server->ended && is_read)))
        proxy_exchange_ended(&c->exchange, !server->was_cut && !server->broken);
    if (c->exchange.is_ending && !c->is_over && box->bytes.sent == box->bytes.out.len)
        connection_leave(c);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void connection_shake(struct proxy_connection *c, struct proxy_end *end)
{
    if (end->io)
        (void)laz_io_events(end->io, 0);
    proxy_end_shake(c->proxy->hands, end);
}

static void connection_ready(struct proxy_connection *c, struct proxy_end *end, uint32_t events)
{
    if (end->is_shaken)
        return;
    if (!end->is_open && !end->broken) {
        connection_shake(c, end);
        return;
    }
    if (!(events & (LAZ_IO_READ | LAZ_IO_WRITE)))
        c->is_over = true;
    connection_turn(c);
}

static void connection_box_ready(void *user, uint32_t events)
{
    struct proxy_connection *c = user;

    connection_ready(c, &c->box, events);
}

static void connection_server_ready(void *user, uint32_t events)
{
    struct proxy_connection *c = user;

    connection_ready(c, &c->server, events);
}

/* The events to wait for at an end. */
static uint32_t connection_events(const struct proxy_connection *c, const struct proxy_end *end,
                                  const struct proxy_end *other)
{
    uint32_t events = 0;

    if (end->is_shaken || end->broken)
        return 0;
    if (!end->is_open)
        return gnutls_record_get_direction(end->tls) ? LAZ_IO_WRITE : LAZ_IO_READ;
    if (end->bytes.sent < end->bytes.out.len)
        events |= LAZ_IO_WRITE;
    if (end == &c->box && c->is_leaving)
        return events | LAZ_IO_READ;
    if (!end->ended && !c->exchange.is_ending && end->bytes.in.len < PROXY_WAITS &&
        other->bytes.out.len - other->bytes.sent < PROXY_WAITS)
        events |= LAZ_IO_READ;
    return events ? events : end->ended && end == &c->server ? 0 : LAZ_IO_GONE;
}

static void connection_watch_end(struct proxy_connection *c, struct proxy_end *end, uint32_t events,
                                 void (*ready)(void *user, uint32_t events))
{
    if (!end->io)
        end->io = laz_io_start(c->proxy->loop, end->fd, events, ready, c);
    else if (events != end->watched && !laz_io_events(end->io, events))
        c->is_over = true;
    c->is_over |= !end->io;
    end->watched = events;
}

/* The engine is told of a request when that is on its way: it need not wait for the note. */
static void connection_tell_used(struct proxy_connection *c)
{
    const struct proxy_note note = {
        .connection = c->exchange.id, .name = c->name, .credential = c->used};

    if (c->used)
        (void)proxy_tell(PROXY_USED, &note);
    c->used = 0;
}

static void connection_turn(struct proxy_connection *c)
{
    struct proxy_end *box = &c->box, *server = &c->server;
    bool moved = !c->is_leaving;

    if (c->is_leaving)
        connection_left(c);
    for (int i = 0; i < CONNECTION_ROUNDS && moved && !c->is_over && !c->is_leaving; i++) {
        moved = false;
        if (!c->exchange.is_ending && server->bytes.out.len - server->bytes.sent < PROXY_WAITS)
            moved |= proxy_end_read(box, PROXY_WAITS);
        moved |= proxy_exchange_requests(&c->exchange);
        moved |= proxy_end_write(server);
        connection_tell_used(c);
        if (!c->exchange.is_ending && box->bytes.out.len - box->bytes.sent < PROXY_WAITS)
            moved |= proxy_end_read(server, PROXY_WAITS);
        moved |= proxy_exchange_answers(&c->exchange);
        moved |= proxy_end_write(box);
        box->broken |= box->bytes.out.failed || box->bytes.in.failed || c->exchange.failed;
        server->broken |= server->bytes.out.failed || server->bytes.in.failed;
        connection_settle(c, moved);
    }
    if (!c->is_over) {
        connection_watch_end(c, box, connection_events(c, box, server), connection_box_ready);
        connection_watch_end(c, server, connection_events(c, server, box), connection_server_ready);
    }
    if (!c->is_over && c->exchange.waits && !c->is_patient) {
        c->is_patient = true;
        laz_timer_start(c->ask, CONNECTION_ASK_MS);
    }
    if (c->is_over)
        connection_end(c);
    else if (moved && !c->is_leaving)
        laz_timer_start(c->again, 0);
}

static void connection_again(void *user)
{
    struct proxy_connection *c = user;

    c->is_over |= c->is_leaving; /* it has had its time */
    connection_turn(c);
}

static void connection_ask(void *user)
{
    struct proxy_connection *c = user;

    c->is_patient = false;
    if (!c->exchange.waits || c->is_over)
        return;
    for (size_t i = 0; i < c->exchange.own.n; i++)
        c->exchange.own.items[i]->is_asked = false;
    c->exchange.waits = false;
    connection_turn(c);
}

/* The handshake with the box has failed. */
static void connection_box_failed(struct proxy_connection *c)
{
    if (c->box.failed == GNUTLS_E_FATAL_ALERT_RECEIVED) {
        char why[200];
        snprintf(why, sizeof why,
                 "the program does not take the certificate of the host (%s): it has a list of "
                 "authorities of its own",
                 gnutls_alert_get_name(gnutls_alert_get(c->box.tls)));
        proxy_exchange_deny(&c->exchange, why);
    }
    c->is_over = true;
}

/* Or that with the server: whoever asks is told. */
static void connection_server_failed(struct proxy_connection *c)
{
    char why[200];

    proxy_end_why(&c->server, why, sizeof why);
    c->server.broken = true;
    proxy_exchange_refuse(&c->exchange, 502, why);
}

static void connection_shaken(struct proxy_end *end)
{
    struct proxy_connection *c = end->user;

    if (c->is_dead) {
        connection_end(c);
        return;
    }
    if (end->failed == 0)
        end->is_open = true;
    else if (gnutls_error_is_fatal(end->failed) && end == &c->box)
        connection_box_failed(c);
    else if (gnutls_error_is_fatal(end->failed))
        connection_server_failed(c);
    end->watched = UINT32_MAX; /* it was changed */
    connection_turn(c);
}

/* ---- its beginning --------------------------------------------------------------------------- */

static int connection_credentials(struct proxy_connection *c, const struct laz_strv *ids,
                                  struct laz_error *err)
{
    c->exchange.own.items = calloc(ids->n + 1, sizeof(struct proxy_credential *));
    if (!c->exchange.own.items)
        return laz_error_nomem(err);
    for (size_t i = 0; i < ids->n; i++)
        for (struct proxy_credential *one = c->proxy->credentials; one; one = one->next)
            if (one->id == strtoll(ids->items[i], NULL, 10)) {
                proxy_credential_hold(one);
                c->exchange.own.items[c->exchange.own.n++] = one;
            }
    return c->exchange.own.n
               ? 0
               : laz_error_set(err, LAZ_ECONFIG, 0,
                               "its credential cannot be used: the file of authorities (ca) may "
                               "have no certificate");
}

static gnutls_certificate_credentials_t connection_authorities(const struct proxy_connection *c)
{
    for (size_t i = 0; i < c->exchange.own.n; i++)
        if (c->exchange.own.items[i]->x509)
            return c->exchange.own.items[i]->x509;
    return c->proxy->system;
}

static int connection_begin(struct proxy_connection *c, const struct proxy_note *note,
                            struct laz_error *err)
{
    int rc = laz_os_nonblock(c->box.fd, true, err);
    if (!rc)
        rc = laz_os_nonblock(c->server.fd, true, err);
    if (rc)
        return rc;
    c->name = laz_strdup(note->name);
    c->again = laz_timer_new(c->proxy->loop, connection_again, c);
    c->ask = laz_timer_new(c->proxy->loop, connection_ask, c);
    c->exchange.name = c->name;
    if (!c->name || !c->again || !c->ask)
        return laz_error_nomem(err);
    rc = connection_credentials(c, &note->credentials, err);
    if (!rc)
        rc = proxy_exchange_init(&c->exchange, err);
    if (!rc)
        rc = proxy_authority_leaf(c->proxy->authority, c->name, &c->leaf, err);
    if (!rc)
        rc = proxy_end_box(&c->box, c->box.fd, c->leaf->x509, err);
    return rc ? rc
              : proxy_end_server(&c->server, c->server.fd, connection_authorities(c), c->name, err);
}

static void connection_tell(void *user, enum proxy_note_type type, const struct proxy_note *note)
{
    struct proxy_connection *c = user;

    if (type == PROXY_USED)
        c->used = note->credential;
    else
        (void)proxy_tell(type, note); /* it is gone: that is seen where its notes are read */
}

void proxy_connection_new(struct proxy *proxy, const struct proxy_note *note, int box, int server)
{
    struct proxy_connection *c = calloc(1, sizeof *c);
    struct laz_error err = {0};

    if (!c) {
        laz_os_close(&box);
        laz_os_close(&server);
        return;
    }
    c->proxy = proxy;
    c->exchange = (struct proxy_exchange){
        .all = &proxy->credentials,
        .id = note->connection,
        .port = (uint16_t)note->port,
        .box = &c->box.bytes,
        .server = &c->server.bytes,
        .tell = connection_tell,
        .user = c,
    };
    c->box.fd = box;
    c->server.fd = server;
    c->box.user = c->server.user = c;
    c->box.shaken = c->server.shaken = connection_shaken;
    if (connection_begin(c, note, &err)) {
        if (c->name)
            proxy_exchange_deny(&c->exchange, err.text);
        connection_free(c);
        return;
    }
    c->next = proxy->connections;
    proxy->connections = c;
    connection_shake(c, &c->box);
    connection_shake(c, &c->server);
}

void proxy_connections_wake(struct proxy *proxy)
{
    struct proxy_connection *next;

    for (struct proxy_connection *c = proxy->connections; c; c = next) {
        next = c->next;
        if (!c->exchange.waits)
            continue;
        c->exchange.waits = false;
        connection_turn(c);
    }
}

void proxy_connections_end(struct proxy *proxy)
{
    while (proxy->connections)
        connection_end(proxy->connections);
}
