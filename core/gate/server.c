/* SPDX-License-Identifier: MIT */
/* server.c - the gate of a server: accepts, asks who it is, hands over, and passes bytes on.
 * Side: gate.  Input trusted: no.
 *
 * A connection is a stranger until it has shown who it is, for which it has one span of time from
 * the first byte on, however it divides it.  Strangers are few at a time, in all and of one
 * address: of too many the one goes that has had the most time, so that slow ones keep nobody out.
 * Each client sends one line first, with a token or without; then the host protocol follows, of
 * which nothing is read here. */
#include "gate/gate_private.h"

#include "base/clock.h"
#include "base/container.h"
#include "base/log.h"
#include "os/confine.h"
#include "os/descriptors.h"
#include "os/fd_passing.h"
#include "os/inet.h"
#include "os/io.h"
#include "os/sockets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SERVER_STRANGERS  256               /* at a time */
#define SERVER_OF_ADDRESS 64                /* of them, from one address, or a /64 of IPv6 */
#define SERVER_LINE       ((size_t)8 << 10) /* bytes of the first line */
#define SERVER_LEAVE_MS   2000              /* in which a client reads why it was refused */
#define SERVER_AGAIN_MS   100 /* until connections are accepted again, after a shortage */
#define SERVER_NOTES      10  /* refusals that are told in a second */

enum guest_state { GUEST_HANDSHAKE, GUEST_GREETING, GUEST_OPEN, GUEST_LEAVING };

struct gate_server;

/* A connection. */
struct guest {
    struct guest *next;
    struct gate_server *server;
    enum guest_state state;
    gnutls_session_t tls;
    int fd, plain; /* our end of the connection to the server */
    struct laz_io *io;
    struct laz_timer *timer;
    char address[LAZ_OS_ADDRESS];
    struct laz_endpoint peer;
    struct laz_buf line; /* the first one, as far as it has come */
    struct laz_identity *identity;
    struct gate_pump pump;
};

struct gate_server {
    struct laz_loop *loop;
    struct gate_credentials credentials;
    const struct gate_options *options;
    struct laz_quota quota;
    uint64_t handshake_ms;
    unsigned most, most_of_one;
    struct laz_io *listener_io, *channel_io;
    struct laz_timer *again;
    struct guest *guests; /* the newest first */
    unsigned n_guests, n_strangers, n_open;
    struct laz_identities identities;
    struct laz_log_limit notes;
    bool is_retired, is_over;
};

static void guest_turn(struct guest *guest);

/* ---- notes ----------------------------------------------------------------------------------- */

static bool server_note(enum gate_note_type type, const struct gate_note *note, int fd)
{
    struct laz_buf line = LAZ_BUF_INIT;
    bool sent = false;

    gate_note_make(type, note, &line);
    if (!line.failed && line.len <= LAZ_GATE_NOTE)
        sent = fd >= 0 ? laz_os_send_fds(0, line.data, line.len, &fd, 1) == 0
                       : laz_os_send(0, line.data, line.len) == (ssize_t)line.len;
    laz_buf_fini(&line);
    return sent;
}

/* Tells the log of a refusal, unless there are so many that it would have nothing else. */
static void server_tell(struct gate_server *server, const char *address, const char *why)
{
    uint64_t before;

    if (!laz_log_may_tell(&server->notes, laz_clock_ms(), &before))
        return;
    const struct gate_note note = {.address = address, .text = why, .count = (int64_t)before};
    if (!server_note(GATE_REFUSED, &note, -1))
        server->notes.untold = before + 1;
}

/* ---- guests ---------------------------------------------------------------------------------- */

static bool guest_is_stranger(const struct guest *guest)
{
    return guest->state == GUEST_HANDSHAKE || guest->state == GUEST_GREETING;
}

static void guest_become(struct guest *guest, enum guest_state state)
{
    struct gate_server *server = guest->server;

    server->n_strangers -= guest_is_stranger(guest);
    server->n_open -= guest->state == GUEST_OPEN;
    guest->state = state;
    server->n_strangers += guest_is_stranger(guest);
    server->n_open += guest->state == GUEST_OPEN;
}

static void guest_free(struct guest *guest)
{
    struct gate_server *server = guest->server;

    LAZ_LIST_REMOVE(server->guests, guest);
    server->n_guests--;
    server->n_strangers -= guest_is_stranger(guest);
    server->n_open -= guest->state == GUEST_OPEN;
    if (guest->state == GUEST_OPEN) {
        (void)gnutls_bye(guest->tls, GNUTLS_SHUT_WR);
        gate_pump_end(&guest->pump);
    }
    laz_io_stop(guest->io);
    laz_timer_stop(guest->timer);
    if (guest->tls)
        gnutls_deinit(guest->tls);
    laz_os_close(&guest->plain);
    laz_os_close(&guest->fd);
    if (guest->identity)
        laz_identity_leave(&server->identities, guest->identity, laz_clock_ms());
    if (guest->line.data)
        laz_wipe(guest->line.data, guest->line.len);
    laz_buf_fini(&guest->line);
    free(guest);
    server->is_over |= server->is_retired && !server->n_guests;
}

/* Refuses it in words, which it can read: what it sends meanwhile is read and dropped, because
 * closing before would make them be lost (RFC 9293, 3.6). */
static void guest_refuse(struct guest *guest, const struct laz_error *why)
{
    const struct gate_note note = {.text = why->text};
    struct laz_buf line = LAZ_BUF_INIT;
    struct laz_json_write write = {.to = &line};

    server_tell(guest->server, guest->address, note.text);
    laz_json_begin_object(&write, NULL);
    laz_json_add_text(&write, "type", "failed");
    laz_json_add_text(&write, "code", "LAZ_EREFUSED");
    laz_json_add_text(&write, "message", why->text);
    laz_json_end_object(&write);
    laz_buf_putc(&line, '\n');
    if (!line.failed)
        (void)gnutls_record_send(guest->tls, line.data, line.len);
    laz_buf_fini(&line);
    (void)gnutls_bye(guest->tls, GNUTLS_SHUT_WR);
    laz_os_end_sending(guest->fd);
    guest_become(guest, GUEST_LEAVING);
    laz_timer_start(guest->timer, SERVER_LEAVE_MS);
    if (!laz_io_events(guest->io, LAZ_IO_READ))
        laz_timer_start(guest->timer, 0);
}

/* Without words: what it speaks is not TLS. */
static void guest_drop(struct guest *guest, const char *why)
{
    server_tell(guest->server, guest->address, why);
    guest_free(guest);
}

static void guest_ended(void *user, const char *why)
{
    (void)why;
    guest_free(user);
}

/* ---- who it is ------------------------------------------------------------------------------- */

/* By its token, else by its certificate. */
static int guest_identify(struct guest *guest, const struct gate_note *greeting,
                          struct laz_claims *claims, struct laz_error *err)
{
    const struct gate_credentials *credentials = &guest->server->credentials;
    bool has_certificate;
    char name[LAZ_IDENTITY_MAX + 1];
    int64_t expires_s;
    int rc = gate_certificate_check(guest->tls, &has_certificate, name, &expires_s, err);

    *claims = (struct laz_claims){.expires_s = 0};
    if (rc)
        return rc;
    if (!greeting->token && !has_certificate)
        return laz_error_set(err, LAZ_EREFUSED, 0, "this server wants to know its clients: by %s",
                             !credentials->keys.n              ? "a certificate"
                             : !credentials->asks_certificates ? "a token"
                                                               : "a token or a certificate");
    if (greeting->token && !credentials->keys.n)
        return laz_error_set(err, LAZ_EREFUSED, 0, "this server takes no tokens");
    if (greeting->token)
        rc = laz_token_check(greeting->token, strlen(greeting->token), &credentials->keys,
                             guest->server->options->audience, laz_clock_unix_s(), claims, err);
    if (!rc && greeting->token && has_certificate && strcmp(name, claims->subject) != 0)
        rc = laz_error_set(err, LAZ_EREFUSED, 0,
                           "the token is of another identity than the certificate");
    if (rc)
        return rc;
    if (!greeting->token)
        memcpy(claims->subject, name, sizeof claims->subject);
    if (has_certificate && (!claims->expires_s || expires_s < claims->expires_s))
        claims->expires_s = expires_s;
    return 0;
}

/* Counts it for its identity. LAZ_EREFUSED: that has too many. */
static int guest_join(struct guest *guest, const struct laz_claims *claims, struct laz_error *err)
{
    struct gate_server *server = guest->server;
    struct laz_quota quota = server->quota;

    laz_quota_narrow(&quota, &claims->quota);
    guest->identity =
        laz_identity_join(&server->identities, claims->subject, &quota, laz_clock_ms());
    if (!guest->identity)
        return laz_error_nomem(err);
    if (server->n_open >= server->most)
        return laz_error_set(err, LAZ_EREFUSED, 0, "the server has %u clients, and takes no more",
                             server->most);
    if (server->most_of_one && guest->identity->connections > server->most_of_one)
        return laz_error_set(err, LAZ_EREFUSED, 0, "%s has %u connections, and can have no more",
                             claims->subject, server->most_of_one);
    return 0;
}

/* Gives the server the other end of a connection to it. */
static int guest_hand_over(struct guest *guest, const struct laz_claims *claims,
                           struct laz_error *err)
{
    const struct laz_quota *quota = &guest->identity->quota;
    const struct gate_note note = {
        .identity = claims->subject,
        .address = guest->address,
        .expires_s = claims->expires_s,
        .sessions = (int64_t)quota->sessions,
        .cpu_s = (int64_t)quota->cpu_s,
        .bytes = (int64_t)quota->bytes,
        .requests = (int64_t)quota->requests,
    };
    int theirs = -1;
    int rc = laz_os_stream_pair(&guest->plain, &theirs, err);

    if (!rc && !server_note(GATE_CLIENT, &note, theirs))
        rc = laz_error_set(err, LAZ_EREFUSED, 0, "the server is busy: try again later");
    laz_os_close(&theirs);
    return rc;
}

/* The first line is there, and maybe more behind it. */
static int guest_admit(struct guest *guest, size_t line_len, struct laz_error *err)
{
    enum gate_note_type type;
    struct gate_note greeting;
    struct laz_claims claims;
    int rc = gate_note_parse(guest->line.data, line_len, true, &type, &greeting, err);

    if (rc)
        laz_error_set(err, LAZ_EREFUSED, 0,
                      "by TLS, the first message is 'authenticate': a newer client, or lazaret "
                      "connect, sends it");
    if (!rc)
        rc = guest_identify(guest, &greeting, &claims, err);
    gate_note_fini(type, &greeting);
    if (!rc)
        rc = guest_join(guest, &claims, err);
    if (!rc)
        rc = guest_hand_over(guest, &claims, err);
    if (rc)
        return rc;
    laz_timer_cancel(guest->timer);
    laz_io_stop(guest->io);
    guest->io = NULL;
    guest_become(guest, GUEST_OPEN);
    guest->pump = (struct gate_pump){
        .loop = guest->server->loop,
        .tls = guest->tls,
        .net = guest->fd,
        .in = guest->plain,
        .out = guest->plain,
        .identities = &guest->server->identities,
        .identity = guest->identity,
        .ended = guest_ended,
        .user = guest,
    };
    if (gate_pump_begin(&guest->pump, guest->line.data + line_len + 1,
                        guest->line.len - line_len - 1, err) != 0)
        guest_free(guest); /* its end of the connection is the server's notice */
    return 0;
}

/* Reads the first line. */
static void guest_greet(struct guest *guest)
{
    char record[GATE_RECORD];
    struct laz_error err = {0};
    const char *end = NULL;
    ssize_t n = 0;

    while (!end && guest->line.len <= SERVER_LINE &&
           (n = gnutls_record_recv(guest->tls, record, sizeof record)) > 0) {
        laz_buf_append(&guest->line, record, (size_t)n);
        end = guest->line.failed ? NULL : memchr(guest->line.data, '\n', guest->line.len);
    }
    laz_wipe(record, sizeof record);
    if (end && (size_t)(end - guest->line.data) <= SERVER_LINE) {
        if (guest_admit(guest, (size_t)(end - guest->line.data), &err) != 0)
            guest_refuse(guest, &err);
    } else if (end || guest->line.len > SERVER_LINE || guest->line.failed) {
        laz_error_set(&err, LAZ_EREFUSED, 0, "the first line has more than %zu bytes", SERVER_LINE);
        guest_refuse(guest, &err);
    } else if (n == 0 || (n < 0 && gnutls_error_is_fatal((int)n))) {
        guest_drop(guest, "the connection ended before its first line");
    }
}

static void guest_handshake(struct guest *guest)
{
    const int rc = gnutls_handshake(guest->tls);

    if (rc == 0) {
        guest_become(guest, GUEST_GREETING);
        if (laz_io_events(guest->io, LAZ_IO_READ))
            guest_greet(guest);
        else
            guest_free(guest);
        return;
    }
    if (!gnutls_error_is_fatal(rc)) {
        if (!laz_io_events(guest->io,
                           gnutls_record_get_direction(guest->tls) ? LAZ_IO_WRITE : LAZ_IO_READ))
            guest_free(guest);
        return;
    }
    (void)gnutls_alert_send_appropriate(guest->tls, rc);
    guest_drop(guest, gnutls_strerror(rc));
}

static void guest_leave(struct guest *guest)
{
    char bytes[4096];
    ssize_t n;
    int rounds = 16;

    while (rounds-- && (n = laz_os_read(guest->fd, bytes, sizeof bytes)) > 0)
        ;
    if (rounds >= 0 && n < 0)
        guest_free(guest);
}

static void guest_turn(struct guest *guest)
{
    if (guest->state == GUEST_HANDSHAKE)
        guest_handshake(guest);
    else if (guest->state == GUEST_GREETING)
        guest_greet(guest);
    else if (guest->state == GUEST_LEAVING)
        guest_leave(guest);
}

static void guest_ready(void *user, uint32_t events)
{
    (void)events;
    guest_turn(user);
}

static void guest_due(void *user)
{
    struct guest *guest = user;

    if (guest->state == GUEST_LEAVING)
        guest_free(guest);
    else
        guest_drop(guest, "it has not shown who it is in time");
}

/* ---- accepting ------------------------------------------------------------------------------- */

/* Makes room for one more stranger of this address, or of its network of IPv6. */
static void server_make_room(struct gate_server *server, const struct laz_endpoint *peer)
{
    struct guest *oldest = NULL, *oldest_there = NULL;
    unsigned there = 0;

    for (struct guest *guest = server->guests; guest; guest = guest->next) {
        if (!guest_is_stranger(guest))
            continue;
        oldest = guest; /* the newest come first */
        if (laz_endpoint_is_of_one(&guest->peer, peer)) {
            oldest_there = guest;
            there++;
        }
    }
    if (there >= SERVER_OF_ADDRESS)
        guest_drop(oldest_there,
                   "too many connections from there that have not shown who they are");
    else if (server->n_strangers >= SERVER_STRANGERS)
        guest_drop(oldest, "too many connections that have not shown who they are");
}

static void server_take(struct gate_server *server, int fd)
{
    struct guest *guest = calloc(1, sizeof *guest);
    struct laz_error err = {0};

    if (!guest) {
        laz_os_close(&fd);
        return;
    }
    guest->server = server;
    guest->fd = fd;
    guest->plain = -1;
    laz_os_inet_peer(fd, guest->address, &guest->peer);
    server_make_room(server, &guest->peer);
    guest->next = server->guests;
    server->guests = guest;
    server->n_guests++;
    server->n_strangers++;
    guest->timer = laz_timer_new(server->loop, guest_due, guest);
    guest->io = laz_io_start(server->loop, fd, LAZ_IO_READ, guest_ready, guest);
    if (!guest->timer || !guest->io ||
        gate_session_new(&server->credentials, true, fd, &guest->tls, &err) != 0) {
        guest_free(guest);
        return;
    }
    laz_timer_start(guest->timer, server->handshake_ms);
}

static void server_accept(void *user, uint32_t events)
{
    struct gate_server *server = user;
    struct laz_endpoint wanted;

    (void)events;
    for (int i = 0; i < 16; i++) {
        if (server->n_guests >=
            server->most + 2 * SERVER_STRANGERS) { /* whoever waits stays in the kernel's queue */
            (void)laz_io_events(server->listener_io, 0);
            laz_timer_start(server->again, SERVER_AGAIN_MS);
            return;
        }
        const int fd = laz_os_inet_accept(LAZ_GATE_LISTENER, &wanted);
        if (fd < 0 && errno != EAGAIN && laz_errno_is_shortage(errno)) {
            (void)laz_io_events(server->listener_io, 0);
            laz_timer_start(server->again, SERVER_AGAIN_MS);
        }
        if (fd < 0)
            return;
        server_take(server, fd);
    }
}

static void server_again(void *user)
{
    struct gate_server *server = user;

    (void)laz_io_events(server->listener_io, LAZ_IO_READ);
}

/* Another gate accepts. */
static void server_retire(struct gate_server *server)
{
    int listener = LAZ_GATE_LISTENER;

    if (server->is_retired)
        return;
    server->is_retired = true;
    laz_io_stop(server->listener_io);
    server->listener_io = NULL;
    laz_timer_cancel(server->again);
    laz_os_close(&listener);
    server->is_over |= !server->n_guests;
}

/* The server has said that this gate retires, or has ended. */
static void server_channel(void *user, uint32_t events)
{
    struct gate_server *server = user;
    char byte;
    const ssize_t n = laz_os_read(0, &byte, 1);

    (void)events;
    if (n < 0)
        server->is_over = true;
    else if (n > 0)
        server_retire(server);
}

/* ---- making ---------------------------------------------------------------------------------- */

static uint64_t server_number(const char *text)
{
    return text ? strtoull(text, NULL, 10) : 0;
}

static int server_begin(struct gate_server *server, struct laz_error *err)
{
    const struct gate_options *options = server->options;
    int rc = gate_credentials_read(&server->credentials, options, true, err);

    server->quota =
        (struct laz_quota){server_number(options->sessions), server_number(options->cpu),
                           server_number(options->bytes), server_number(options->requests)};
    server->handshake_ms = server_number(options->handshake_ms);
    server->most = (unsigned)server_number(options->connections);
    server->most_of_one = (unsigned)server_number(options->of_one);
    if (!rc && !server->credentials.asks_certificates && !server->credentials.keys.n)
        rc = laz_error_set(err, LAZ_EREFUSED, 0,
                           "nobody could connect: neither certificates nor tokens are accepted");
    if (!rc)
        rc = laz_loop_new(&server->loop, err);
    if (rc)
        return rc;
    server->again = laz_timer_new(server->loop, server_again, server);
    server->listener_io =
        laz_io_start(server->loop, LAZ_GATE_LISTENER, LAZ_IO_READ, server_accept, server);
    server->channel_io = laz_io_start(server->loop, 0, LAZ_IO_READ, server_channel, server);
    if (!server->again || !server->listener_io || !server->channel_io)
        return laz_error_nomem(err);
    rc = laz_os_nonblock(0, true, err);
    return rc ? rc : laz_os_confine_helper(err);
}

int gate_serve(const struct gate_options *options)
{
    struct gate_server server = {.options = options,
                                 .notes = {.most = SERVER_NOTES, .span_ms = 1000}};
    struct laz_error err = {0};

    laz_identities_init(&server.identities);
    const int rc = server_begin(&server, &err);
    (void)server_note(rc ? GATE_FAILED : GATE_READY, &(struct gate_note){.text = err.text}, -1);
    while (!rc && !server.is_over)
        laz_loop_step(server.loop, LAZ_LOOP_FOREVER);
    while (server.guests)
        guest_free(server.guests);
    if (server.loop) {
        laz_io_stop(server.listener_io);
        laz_io_stop(server.channel_io);
        laz_timer_stop(server.again);
        laz_loop_free(server.loop);
    }
    gate_credentials_free(&server.credentials);
    laz_identities_fini(&server.identities);
    return rc ? 1 : 0;
}
