/* SPDX-License-Identifier: MIT */
/* server.c - lazaret-proxy --answer: a server that says whether a secret has come, for lazaret
 * doctor.
 * Side: proxy.  Input trusted: no (what code of a box sends).
 *
 * It has an authority of its own, another than that of the engine, so that a request which it has
 * read has passed both ends of TLS.  One connection is served after the other, one request each,
 * and no longer than SERVER_MS: whoever is slow is cut off, and the next one has its turn. */
#include "proxy/proxy_private.h"

#include "base/clock.h"
#include "os/confine.h"
#include "os/descriptors.h"
#include "os/files.h"
#include "os/inet.h"
#include "os/io.h"

#include <stdlib.h>
#include <string.h>

#define SERVER_ENGINE   0 /* the socket to who has started it */
#define SERVER_LISTENER 3
#define SERVER_MS       5000
#define SERVER_HEAD     ((size_t)8 << 10)
#define SERVER_NOTE     ((size_t)4 << 10)

struct server {
    struct proxy_authority *authority;
    char *wanted; /* value of Authorization; NULL: none has come yet */
};

/* ---- one connection -------------------------------------------------------------------------- */

struct server_guest {
    struct server *server;
    gnutls_session_t tls;
    struct proxy_leaf *leaf; /* NULL: no name was asked for yet */
    int fd;
    uint64_t end_ms;
};

static bool guest_waits(const struct server_guest *guest)
{
    const uint64_t now_ms = laz_clock_ms();

    return now_ms < guest->end_ms && laz_os_await(guest->fd, guest->end_ms - now_ms);
}

/* The certificate is that of the name that the client asks for. */
static int guest_hello(gnutls_session_t tls)
{
    struct server_guest *guest = gnutls_session_get_ptr(tls);
    char name[PROXY_NAME_MAX + 1];
    size_t len = sizeof name;
    unsigned type = 0;

    proxy_leaf_drop(guest->leaf); /* a client may have to say hello twice (RFC 8446, 4.1.4) */
    guest->leaf = NULL;
    if (gnutls_server_name_get(tls, name, &len, &type, 0) != 0 || type != GNUTLS_NAME_DNS ||
        proxy_authority_leaf(guest->server->authority, name, &guest->leaf, NULL) != 0)
        return GNUTLS_E_UNRECOGNIZED_NAME;
    return gnutls_credentials_set(tls, GNUTLS_CRD_CERTIFICATE, guest->leaf->x509);
}

static bool guest_shakes(struct server_guest *guest)
{
    static const gnutls_datum_t protocol = {(unsigned char *)(uintptr_t) "http/1.1", 8};
    int failed;

    if (gnutls_init(&guest->tls,
                    GNUTLS_SERVER | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL | GNUTLS_NO_TICKETS) != 0)
        return false;
    gnutls_session_set_ptr(guest->tls, guest);
    gnutls_handshake_set_post_client_hello_function(guest->tls, guest_hello);
    gnutls_handshake_set_timeout(guest->tls, GNUTLS_INDEFINITE_TIMEOUT); /* it has end_ms */
    gnutls_transport_set_int(guest->tls, guest->fd);
    if (gnutls_priority_set_direct(guest->tls, PROXY_TLS_BOX, NULL) != 0 ||
        gnutls_alpn_set_protocols(guest->tls, &protocol, 1, 0) != 0)
        return false;
    while ((failed = gnutls_handshake(guest->tls)) != 0)
        if (gnutls_error_is_fatal(failed) ||
            (failed == GNUTLS_E_AGAIN &&
             (gnutls_record_get_direction(guest->tls) || !guest_waits(guest))))
            return false;
    return true;
}

/* The length of the head of its request; 0: there is none, or it is not right. */
static size_t guest_reads(struct server_guest *guest, char head[SERVER_HEAD])
{
    struct laz_http_stream stream = {.part = LAZ_HTTP_HEAD};
    size_t have = 0, len = 0;

    while (!len && stream.part == LAZ_HTTP_HEAD && have < SERVER_HEAD) {
        const ssize_t n = gnutls_record_recv(guest->tls, head + have, SERVER_HEAD - have);
        if (n == GNUTLS_E_AGAIN ? !guest_waits(guest) : n != GNUTLS_E_INTERRUPTED && n <= 0)
            return 0;
        have += n > 0 ? (size_t)n : 0;
        len = laz_http_piece(&stream, head, have);
    }
    return len;
}

/* Has the head one Authorization, which is the one that is wanted? */
static bool server_came(const struct server *server, const char *head, size_t len)
{
    struct laz_http_text rest = {head, len}, name, value;
    unsigned n = 0;
    bool came = false;

    (void)laz_http_line(&rest);
    while (rest.len) {
        const struct laz_http_text line = laz_http_line(&rest);
        if (!line.len)
            break;
        if (laz_http_field(line, &name, &value))
            return false;
        if (!laz_http_is(name, "authorization"))
            continue;
        n++;
        came = server->wanted && value.len == strlen(server->wanted) &&
               memcmp(value.text, server->wanted, value.len) == 0;
    }
    return n == 1 && came;
}

static void guest_answer(struct server_guest *guest)
{
    char head[SERVER_HEAD];
    struct laz_buf answer = LAZ_BUF_INIT;
    const size_t len = guest_reads(guest, head);
    const char *text = server_came(guest->server, head, len) ? PROXY_CAME : PROXY_CAME_NOT;

    if (len)
        laz_buf_printf(&answer,
                       "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n"
                       "Connection: close\r\n\r\n%s\n",
                       strlen(text) + 1, text);
    laz_wipe(head, sizeof head);
    if (len && !answer.failed && /* it is short: a new connection takes it at once */
        gnutls_record_send(guest->tls, answer.data, answer.len) == (ssize_t)answer.len)
        (void)gnutls_bye(guest->tls, GNUTLS_SHUT_WR);
    laz_os_end_sending(guest->fd);
    laz_buf_fini(&answer);
}

/* What is left unread would make the system drop the answer (RFC 9293, 3.6). */
static void guest_leave(const struct server_guest *guest)
{
    char room[512];

    while (guest_waits(guest) && laz_os_read(guest->fd, room, sizeof room) > 0)
        ;
}

static void server_serve(struct server *server, int fd)
{
    struct server_guest guest = {.server = server, .fd = fd, .end_ms = laz_clock_ms() + SERVER_MS};

    if (guest_shakes(&guest)) {
        guest_answer(&guest);
        guest_leave(&guest);
    }
    if (guest.tls)
        gnutls_deinit(guest.tls);
    proxy_leaf_drop(guest.leaf);
    laz_os_close(&guest.fd);
}

/* ---- its life -------------------------------------------------------------------------------- */

static int server_begin(struct server *server, const char *directory, struct laz_error *err)
{
    char *path = laz_strdupf("%s/" PROXY_ANSWER_CA, directory);
    int rc = path ? proxy_authority_new(&server->authority, err) : laz_error_nomem(err);

    if (!rc) {
        const char *pem = proxy_authority_pem(server->authority);
        rc = laz_os_write_file(path, pem, strlen(pem), 0444, err);
    }
    free(path);
    return rc ? rc : laz_os_confine_helper(err);
}

/* The value that is wanted from now on. False: who has started it is gone. */
static bool server_hear(struct server *server)
{
    char line[SERVER_NOTE];
    enum proxy_note_type type;
    struct proxy_note note;
    const ssize_t n = laz_os_read(SERVER_ENGINE, line, sizeof line);

    if (n <= 0)
        return false;
    if (proxy_note_parse(line, (size_t)n, true, &type, &note, NULL) == 0 && type == PROXY_SECRET) {
        free(server->wanted);
        server->wanted = note.text ? laz_strdup(note.text) : NULL;
    }
    proxy_note_fini(type, &note);
    return true;
}

int proxy_server(const char *directory)
{
    struct server server = {NULL, NULL};
    struct laz_error err = {0};
    struct laz_awaited awaited[] = {{.fd = SERVER_ENGINE}, {.fd = SERVER_LISTENER}};
    struct laz_endpoint here;
    const int rc = server_begin(&server, directory, &err);
    const struct proxy_note note = {.text = err.text};

    if (!proxy_tell(rc ? PROXY_FAILED : PROXY_READY, &note) || rc)
        return 1;
    for (;;) {
        if (laz_os_await_any(awaited, 2, LAZ_OS_FOREVER) <= 0)
            continue;
        if (awaited[0].ready && !server_hear(&server))
            return 0; /* what it has ends with the process */
        const int fd = awaited[1].ready ? laz_os_inet_accept(SERVER_LISTENER, &here) : -1;
        if (fd >= 0)
            server_serve(&server, fd);
    }
}
