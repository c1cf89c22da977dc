/* SPDX-License-Identifier: MIT */
/* connection.c - one connection of a box: its requests, one after the other, and their answers.
 * Side: proxy.  Input trusted: no.
 *
 * Each has a connection to the server of its own, which ends with it: nothing is shared between
 * sessions.  A request goes out when the answer to the one before is complete, so that each answer
 * belongs to a known request, also where a client sends several at once.  Once something was
 * refused nothing more of the connection is read: where the next request would begin may be what
 * was wrong. */
#include "proxy/proxy_private.h"

#include "base/container.h"
#include "os/descriptors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONNECTION_WAITS                                                                           \
    ((size_t)64 << 10)       /* bytes that wait for an end which does not take them */
#define CONNECTION_ROUNDS 16 /* in a turn, so that the others have theirs */
#define CONNECTION_REFUSED_MS                                                                      \
    1000                         /* until the engine is told again that a secret was not taken     \
                                  */
#define CONNECTION_LEAVE_MS 2000 /* in which a box reads the last words */
#define CONNECTION_INTERIM  16   /* answers before the final one */

struct proxy_connection {
    struct proxy_connection *next;
    struct proxy *proxy;
    int64_t id;
    char *name;
    uint16_t port;
    struct proxy_credentials own;
    struct proxy_leaf *leaf;
    struct proxy_end box, server;
    struct laz_timer *again;
    struct laz_http_stream requests, answers;
    bool is_asking;   /* a request went out, and its answer is not complete */
    bool has_begun;   /* something of that was passed on */
    bool is_head;     /* the request */
    bool is_chunked;  /* the answer */
    bool closes;      /* the server closes behind it */
    unsigned interim; /* answers so far */
    struct proxy_credential *used;
    bool waits;      /* for a secret */
    bool is_ending;  /* when all is sent it closes */
    bool is_wrong;   /* and says that something is wrong */
    bool is_leaving; /* it was said */
    bool is_over, is_dead;
    struct proxy_pattern **patterns; /* of the answer; one for each credential */
    struct proxy_echo *echoes;
    struct laz_buf held; /* the last bytes of its body, which may begin a secret */
};

static void connection_turn(struct proxy_connection *c);

/* ---- words to the engine --------------------------------------------------------------------- */

static void connection_denied(const struct proxy_connection *c, const char *why)
{
    const struct proxy_note note = {
        .connection = c->id, .name = c->name, .port = c->port, .text = why};

    (void)proxy_tell(PROXY_DENIED, &note);
}

static void connection_wants(struct proxy_credential *credential)
{
    const struct proxy_note note = {.credential = credential->id};

    if (!credential->is_asked)
        (void)proxy_tell(PROXY_WANTS, &note);
    credential->is_asked = true;
}

/* A server did not take it. The engine reads it again, if it has not just now. */
static void connection_unauthorized(const struct proxy_connection *c)
{
    const struct proxy_note note = {.credential = c->used->id, .refused = true};
    const uint64_t now_ms = laz_loop_now_ms(c->proxy->loop);

    if (c->used->refused_ms && now_ms - c->used->refused_ms < CONNECTION_REFUSED_MS)
        return;
    c->used->refused_ms = now_ms;
    (void)proxy_tell(PROXY_WANTS, &note);
}

/* ---- refusing -------------------------------------------------------------------------------- */

static const char *connection_reason(int status)
{
    switch (status) {
    case 403:
        return "Forbidden";
    case 405:
        return "Method Not Allowed";
    case 417:
        return "Expectation Failed";
    case 431:
        return "Request Header Fields Too Large";
    case 501:
        return "Not Implemented";
    case 502:
        return "Bad Gateway";
    default:
        return "Bad Request";
    }
}

/* The host's own answer, after which the connection ends. */
static void connection_say(struct proxy_connection *c, int status, const char *why)
{
    struct laz_buf *out = &c->box.out;

    laz_buf_printf(out,
                   "HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: "
                   "%zu\r\nConnection: close\r\n\r\n",
                   status, connection_reason(status), strlen(why) + sizeof "lazaret: \n" - 1);
    if (!c->is_head)
        laz_buf_printf(out, "lazaret: %s\n", why);
    c->is_ending = true;
}

static void connection_refuse(struct proxy_connection *c, int status, const char *why)
{
    connection_denied(c, why);
    if (c->is_asking && c->has_begun) /* what is said now would be a part of that answer */
        c->is_ending = c->is_wrong = true;
    else
        connection_say(c, status, why);
}

/* An answer cannot go on. What was passed on of it is left as it is: the client sees an error of
 * TLS instead of its end. */
static void connection_cut(struct proxy_connection *c, const char *why)
{
    char text[256];

    snprintf(text, sizeof text, "the answer of the server: %s", why);
    if (!c->has_begun && c->is_asking) {
        connection_refuse(c, 502, text);
        return;
    }
    connection_denied(c, text);
    c->is_ending = c->is_wrong = true;
}

/* ---- requests -------------------------------------------------------------------------------- */

static void connection_answer_begin(struct proxy_connection *c)
{
    for (size_t i = 0; i < c->own.n; i++) {
        proxy_pattern_drop(c->patterns[i]);
        c->patterns[i] = proxy_pattern_hold(c->own.items[i]->pattern);
        proxy_echo_begin(&c->echoes[i], c->patterns[i]);
    }
    laz_buf_clear(&c->held);
}

/* False: nothing more can be done with it now. */
static bool connection_request(struct proxy_connection *c, const char *head, size_t len)
{
    struct proxy_note used = {.connection = c->id, .name = c->name};
    struct proxy_request request;

    proxy_request_judge(&c->own, c->proxy->credentials, c->name, c->port, head, len, &c->server.out,
                        &request);
    if (request.wants) {
        c->waits = true;
        connection_wants(request.wants);
        return false;
    }
    c->is_head = request.is_head;
    if (request.status) {
        connection_refuse(c, request.status, request.why);
        return false;
    }
    laz_http_follow(&c->requests, request.is_chunked, request.length);
    c->is_asking = true;
    c->has_begun = false;
    c->interim = 0;
    c->used = request.used;
    if (request.used) {
        used.credential = request.used->id;
        (void)proxy_tell(PROXY_USED, &used);
    }
    return true;
}

static bool connection_requests(struct proxy_connection *c)
{
    struct proxy_end *box = &c->box, *server = &c->server;
    bool moved = false;

    while (!c->is_ending && !c->waits && box->taken < box->in.len &&
           server->out.len - server->sent < CONNECTION_WAITS) {
        const enum laz_http_part part = c->requests.part;
        const char *data = box->in.data + box->taken, *why = NULL;
        if (part == LAZ_HTTP_HEAD && c->is_asking)
            break;
        const size_t n = laz_http_piece(&c->requests, data, box->in.len - box->taken);
        if (part == LAZ_HTTP_TRAILER && n > 2)
            why = proxy_request_trailer(&c->own, data, n - 2);
        else if (!n)
            why = c->requests.why;
        if (why)
            connection_refuse(c, 400, why);
        if (!n || why || (part == LAZ_HTTP_HEAD && !connection_request(c, data, n)))
            break;
        if (part != LAZ_HTTP_HEAD)
            laz_buf_append(&server->out, data, n);
        box->taken += n;
        moved = true;
    }
    laz_buf_drop(&box->in, box->taken);
    box->taken = 0;
    return moved;
}

/* ---- answers --------------------------------------------------------------------------------- */

static void connection_emit(struct proxy_connection *c, const char *data, size_t len)
{
    struct laz_buf *out = &c->box.out;

    if (!len)
        return;
    if (c->is_chunked)
        laz_buf_printf(out, "%zx\r\n", len);
    laz_buf_append(out, data, len);
    if (c->is_chunked)
        laz_buf_puts(out, "\r\n");
}

/* Passes a piece of a body on, but for what may begin a secret. */
static bool connection_body(struct proxy_connection *c, const char *data, size_t len)
{
    size_t most = 0, hold;

    for (size_t i = 0; i < c->own.n; i++) {
        if (proxy_echo_feed(&c->echoes[i], data, len, &hold)) {
            char why[200];
            snprintf(why, sizeof why, "it has the secret of %.80s, and was cut off",
                     c->own.items[i]->title);
            connection_cut(c, why);
            return false;
        }
        most = hold > most ? hold : most;
    }
    if (!c->held.len && !most) {
        connection_emit(c, data, len);
        return true;
    }
    laz_buf_append(&c->held, data, len);
    connection_emit(c, c->held.data, c->held.len - most);
    laz_buf_drop(&c->held, c->held.len - most);
    return true;
}

static void connection_flush(struct proxy_connection *c)
{
    connection_emit(c, c->held.data, c->held.len);
    laz_buf_clear(&c->held);
}

static void connection_answered(struct proxy_connection *c)
{
    c->is_asking = false;
    c->answers.part = LAZ_HTTP_HEAD;
    if (c->closes)
        c->is_ending = true;
}

static bool connection_head(struct proxy_connection *c, const char *data, size_t len)
{
    struct laz_buf head = LAZ_BUF_INIT;
    struct proxy_answer answer;

    proxy_answer_judge(&c->own, c->is_head, data, len, &head, &answer);
    if (!answer.why && answer.is_interim && ++c->interim > CONNECTION_INTERIM)
        answer.why = "there are too many interim answers";
    if (answer.why)
        connection_cut(c, answer.why);
    else
        laz_buf_append(&c->box.out, head.data, head.len);
    c->box.broken |= head.failed;
    laz_buf_fini(&head);
    if (answer.why)
        return false;
    if (answer.status == 401 && c->used)
        connection_unauthorized(c);
    if (answer.is_interim)
        return true;
    c->has_begun = true;
    c->closes = answer.closes;
    c->is_chunked = answer.has_body && answer.is_chunked;
    connection_answer_begin(c);
    if (answer.has_body && !answer.is_chunked && !answer.has_length)
        c->answers.part = LAZ_HTTP_REST;
    else if (answer.has_body)
        laz_http_follow(&c->answers, answer.is_chunked, answer.length);
    if (c->answers.part == LAZ_HTTP_HEAD)
        connection_answered(c);
    return true;
}

static bool connection_trailer(struct proxy_connection *c, const char *data, size_t n)
{
    if (n == 2 || proxy_answer_trailer(&c->own, data, n - 2))
        laz_buf_append(&c->box.out, data, n);
    if (n == 2)
        connection_answered(c);
    return true;
}

/* A piece of an answer. */
static bool connection_piece(struct proxy_connection *c, enum laz_http_part part, const char *data,
                             size_t n)
{
    switch (part) {
    case LAZ_HTTP_HEAD:
        return connection_head(c, data, n);
    case LAZ_HTTP_BODY:
    case LAZ_HTTP_REST:
    case LAZ_HTTP_CHUNK_DATA:
        if (!connection_body(c, data, n))
            return false;
        if (c->answers.part == LAZ_HTTP_HEAD) {
            connection_flush(c);
            connection_answered(c);
        }
        return true;
    case LAZ_HTTP_CHUNK:
        if (c->answers.part == LAZ_HTTP_TRAILER) {
            connection_flush(c);
            laz_buf_puts(&c->box.out, "0\r\n");
        }
        return true;
    case LAZ_HTTP_TRAILER:
        return connection_trailer(c, data, n);
    case LAZ_HTTP_CHUNK_END:
    case LAZ_HTTP_REFUSED:
        break;
    }
    return true;
}

static bool connection_answers(struct proxy_connection *c)
{
    struct proxy_end *box = &c->box, *server = &c->server;
    bool moved = false;

    while (!c->is_ending && server->taken < server->in.len &&
           box->out.len - box->sent < CONNECTION_WAITS) {
        const enum laz_http_part part = c->answers.part;
        const char *data = server->in.data + server->taken;
        if (!c->is_asking) { /* nobody has asked: a last word before it closes */
            c->is_ending = true;
            break;
        }
        const size_t n = laz_http_piece(&c->answers, data, server->in.len - server->taken);
        if (!n && c->answers.part == LAZ_HTTP_REFUSED)
            connection_cut(c, c->answers.why);
        if (!n || !connection_piece(c, part, data, n))
            break;
        server->taken += n;
        moved = true;
    }
    laz_buf_drop(&server->in, server->taken);
    server->taken = 0;
    return moved;
}

/* ---- its end --------------------------------------------------------------------------------- */

static void connection_free(struct proxy_connection *c)
{
    laz_timer_stop(c->again);
    proxy_end_fini(&c->box);
    proxy_end_fini(&c->server);
    proxy_leaf_drop(c->leaf);
    for (size_t i = 0; i < c->own.n; i++) {
        if (c->patterns)
            proxy_pattern_drop(c->patterns[i]);
        proxy_credential_drop(c->own.items[i]);
    }
    if (c->held.data)
        laz_wipe(c->held.data, c->held.len);
    laz_buf_fini(&c->held);
    free(c->own.items);
    free(c->patterns);
    free(c->echoes);
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

/* The server has ended. */
static void connection_server_ended(struct proxy_connection *c)
{
    struct proxy_end *server = &c->server;

    if (c->is_asking && c->answers.part == LAZ_HTTP_REST && !server->was_cut && !server->broken) {
        connection_flush(c);
        connection_answered(c);
    } else if (c->is_asking && c->has_begun) {
        c->is_wrong = true; /* it has told its client less than it meant to */
    }
    c->is_ending = true;
}

/* All was said. What the box is still sending is read, so that its client gets to the answer: a
 * connection that is closed on unread bytes is reset (unix(7) does as tcp(7)). */
static void connection_leave(struct proxy_connection *c)
{
    c->is_leaving = true;
    proxy_end_part(&c->box, c->is_wrong);
    proxy_end_part(&c->server, false);
    laz_timer_start(c->again, CONNECTION_LEAVE_MS);
}

static void connection_settle(struct proxy_connection *c)
{
    struct proxy_end *box = &c->box, *server = &c->server;

    if (!c->is_ending && (server->broken || (server->ended && server->taken == server->in.len)))
        connection_server_ended(c);
    const bool is_sent = box->sent == box->out.len;
    if (box->broken || (box->ended && is_sent && (c->is_ending || !c->is_asking)))
        c->is_over = true;
    if (c->is_ending && is_sent && !c->is_leaving)
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
    if (end->sent < end->out.len)
        events |= LAZ_IO_WRITE;
    if (end == &c->box && c->is_leaving)
        return events | LAZ_IO_READ;
    if (!end->ended && !c->is_ending && end->in.len < CONNECTION_WAITS &&
        other->out.len - other->sent < CONNECTION_WAITS)
        events |= LAZ_IO_READ;
    return events ? events : end->ended ? 0 : LAZ_IO_GONE;
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

/* Nothing is done any more with what comes. */
static void connection_left(struct proxy_connection *c)
{
    struct proxy_end *box = &c->box;

    laz_buf_clear(&box->in);
    box->taken = 0;
    (void)proxy_end_read(box, CONNECTION_WAITS);
    c->is_over |= box->ended || box->broken;
}

static void connection_turn(struct proxy_connection *c)
{
    struct proxy_end *box = &c->box, *server = &c->server;
    bool moved = !c->is_leaving;

    if (c->is_leaving)
        connection_left(c);

    for (int i = 0; i < CONNECTION_ROUNDS && moved && !c->is_over; i++) {
        moved = false;
        if (!c->is_ending && server->out.len - server->sent < CONNECTION_WAITS)
            moved |= proxy_end_read(box, CONNECTION_WAITS);
        moved |= connection_requests(c);
        moved |= proxy_end_write(server);
        if (!c->is_ending && box->out.len - box->sent < CONNECTION_WAITS)
            moved |= proxy_end_read(server, CONNECTION_WAITS);
        moved |= connection_answers(c);
        moved |= proxy_end_write(box);
        box->broken |= box->out.failed || box->in.failed || c->held.failed;
        server->broken |= server->out.failed || server->in.failed;
        connection_settle(c);
    }
    if (!c->is_over) {
        connection_watch_end(c, box, connection_events(c, box, server), connection_box_ready);
        connection_watch_end(c, server, connection_events(c, server, box), connection_server_ready);
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

/* The handshake with the box has failed. */
static void connection_box_failed(struct proxy_connection *c)
{
    if (c->box.failed == GNUTLS_E_FATAL_ALERT_RECEIVED) {
        char why[200];
        snprintf(why, sizeof why,
                 "the program does not take the certificate of the host (%s): it has a list of "
                 "authorities of its own",
                 gnutls_alert_get_name(gnutls_alert_get(c->box.tls)));
        connection_denied(c, why);
    }
    c->is_over = true;
}

/* Or that with the server: whoever asks is told. */
static void connection_server_failed(struct proxy_connection *c)
{
    char why[200];

    proxy_end_why(&c->server, why, sizeof why);
    c->server.broken = true;
    connection_refuse(c, 502, why);
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

static bool connection_credentials(struct proxy_connection *c, const struct laz_strv *ids)
{
    c->own.items = calloc(ids->n + 1, sizeof *c->own.items);
    c->patterns = calloc(ids->n + 1, sizeof *c->patterns);
    c->echoes = calloc(ids->n + 1, sizeof *c->echoes);
    if (!c->own.items || !c->patterns || !c->echoes)
        return false;
    for (size_t i = 0; i < ids->n; i++)
        for (struct proxy_credential *one = c->proxy->credentials; one; one = one->next)
            if (one->id == strtoll(ids->items[i], NULL, 10)) {
                proxy_credential_hold(one);
                c->own.items[c->own.n++] = one;
            }
    return c->own.n > 0;
}

static gnutls_certificate_credentials_t connection_authorities(const struct proxy_connection *c)
{
    for (size_t i = 0; i < c->own.n; i++)
        if (c->own.items[i]->x509)
            return c->own.items[i]->x509;
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
    if (!c->name || !c->again || !connection_credentials(c, &note->credentials))
        return laz_error_nomem(err);
    rc = proxy_authority_leaf(c->proxy->authority, c->name, &c->leaf, err);
    if (!rc)
        rc = proxy_end_box(&c->box, c->box.fd, c->leaf->x509, err);
    return rc ? rc
              : proxy_end_server(&c->server, c->server.fd, connection_authorities(c), c->name, err);
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
    c->id = note->connection;
    c->port = (uint16_t)note->port;
    c->box.fd = box;
    c->server.fd = server;
    c->box.user = c->server.user = c;
    c->box.shaken = c->server.shaken = connection_shaken;
    c->requests.is_plain = c->answers.is_plain = true;
    if (connection_begin(c, note, &err)) {
        if (c->name)
            connection_denied(c, err.text);
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
        if (!c->waits)
            continue;
        c->waits = false;
        connection_turn(c);
    }
}

void proxy_connections_end(struct proxy *proxy)
{
    while (proxy->connections)
        connection_end(proxy->connections);
}
