/* SPDX-License-Identifier: MIT */
/* tls.c - the two ends of a connection: TLS with the box, and with the server.
 * Side: proxy.  Input trusted: no.
 *
 * A handshake takes a hundred times as long as a record.  So it is made by threads, a step at a
 * time: while one has an end nobody else touches it, and the loop waits for the socket between two
 * steps. */
#include "proxy/proxy_private.h"

#include "os/descriptors.h"
#include "os/inet.h"
#include "os/io.h"
#include "os/thread.h"

#include <gnutls/x509.h>
#include <stdlib.h>
#include <string.h>

#define TLS_HANDS  2
#define TLS_SERVER "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:%DISABLE_TLS13_COMPAT_MODE"
#define TLS_NONE   16 /* records without bytes that are read in a row */
#define TLS_KEPT   ((size_t)4 << 10)

/* ---- threads --------------------------------------------------------------------------------- */

struct proxy_hands {
    struct laz_loop *loop;
    pthread_mutex_t lock;
    pthread_cond_t more, begun;
    unsigned n; /* threads that run */
    struct proxy_end *first, *last;
};

static void hands_done(struct laz_post *post)
{
    struct proxy_end *end =
        (struct proxy_end *)(void *)((char *)post - offsetof(struct proxy_end, post));

    end->is_shaken = false;
    end->shaken(end);
}

/* Forever. */
static void *hands_run(void *user)
{
    struct proxy_hands *hands = user;

    pthread_mutex_lock(&hands->lock);
    hands->n++;
    pthread_cond_signal(&hands->begun);
    pthread_mutex_unlock(&hands->lock);
    for (;;) {
        pthread_mutex_lock(&hands->lock);
        while (!hands->first)
            pthread_cond_wait(&hands->more, &hands->lock);
        struct proxy_end *end = hands->first;
        hands->first = end->next;
        if (!hands->first)
            hands->last = NULL;
        pthread_mutex_unlock(&hands->lock);
        end->failed = gnutls_handshake(end->tls);
        end->post.run = hands_done;
        laz_loop_post(hands->loop, &end->post);
    }
    return NULL;
}

int proxy_hands_new(struct laz_loop *loop, struct proxy_hands **hands, struct laz_error *err)
{
    struct proxy_hands *made = calloc(1, sizeof *made);
    pthread_t thread;

    if (!made)
        return laz_error_nomem(err);
    made->loop = loop;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->more, NULL);
    pthread_cond_init(&made->begun, NULL);
    for (int i = 0; i < TLS_HANDS; i++) {
        const int failed = laz_os_thread(&thread, 0, hands_run, made);
        if (failed)
            return laz_error_os(err, failed, "cannot start a thread"); /* others may use it */
    }
    /* The beginning of a thread may need calls that this process is about to lose. */
    pthread_mutex_lock(&made->lock);
    while (made->n < TLS_HANDS)
        pthread_cond_wait(&made->begun, &made->lock);
    pthread_mutex_unlock(&made->lock);
    *hands = made;
    return 0;
}

void proxy_end_shake(struct proxy_hands *hands, struct proxy_end *end)
{
    end->is_shaken = true;
    end->next = NULL;
    pthread_mutex_lock(&hands->lock);
    if (hands->last)
        hands->last->next = end;
    else
        hands->first = end;
    hands->last = end;
    pthread_cond_signal(&hands->more);
    pthread_mutex_unlock(&hands->lock);
}

/* ---- ends ------------------------------------------------------------------------------------ */

static int end_begin(struct proxy_end *end, int fd, unsigned kind, const char *priorities,
                     gnutls_certificate_credentials_t x509, struct laz_error *err)
{
    static const gnutls_datum_t protocol = {(unsigned char *)(uintptr_t) "http/1.1", 8};

    end->fd = fd;
    if (gnutls_init(&end->tls, kind | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL | GNUTLS_NO_TICKETS) != 0)
        return laz_error_nomem(err);
    if (gnutls_priority_set_direct(end->tls, priorities, NULL) != 0 ||
        gnutls_credentials_set(end->tls, GNUTLS_CRD_CERTIFICATE, x509) != 0 ||
        gnutls_alpn_set_protocols(end->tls, &protocol, 1, 0) != 0)
        return laz_error_set(err, LAZ_ESETUP, 0, "GnuTLS lacks what is needed");
    gnutls_transport_set_int(end->tls, fd);
    gnutls_handshake_set_timeout(end->tls, GNUTLS_INDEFINITE_TIMEOUT); /* the engine has one */
    return 0;
}

int proxy_end_box(struct proxy_end *end, int fd, gnutls_certificate_credentials_t x509,
                  struct laz_error *err)
{
    return end_begin(end, fd, GNUTLS_SERVER, PROXY_TLS_BOX, x509, err);
}

int proxy_end_server(struct proxy_end *end, int fd, gnutls_certificate_credentials_t x509,
                     const char *name, struct laz_error *err)
{
    int rc = end_begin(end, fd, GNUTLS_CLIENT, TLS_SERVER, x509, err);

    if (!rc && gnutls_server_name_set(end->tls, GNUTLS_NAME_DNS, name, strlen(name)) != 0)
        rc = laz_error_nomem(err);
    if (!rc)
        gnutls_session_set_verify_cert(end->tls, name, 0); /* the name is the connection's */
    return rc;
}

void proxy_end_why(const struct proxy_end *end, char *why, size_t size)
{
    gnutls_datum_t words = {NULL, 0};
    const unsigned status = gnutls_session_get_verify_cert_status(end->tls);

    const bool is_refused = end->failed == GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR;

    if (is_refused && (status & GNUTLS_CERT_SIGNER_NOT_FOUND))
        snprintf(why, size,
                 "the authority of the server's certificate is unknown (`ca` of the "
                 "credential names a file with one)");
    else if (is_refused &&
             gnutls_certificate_verification_status_print(status, GNUTLS_CRT_X509, &words, 0) == 0)
        snprintf(why, size, "the certificate of the server is not accepted: %s",
                 (const char *)words.data);
    else
        snprintf(why, size, "no TLS with the server: %s", gnutls_strerror(end->failed));
    gnutls_free(words.data);
    for (char *c = why + strlen(why); c > why && c[-1] == ' ';)
        *--c = '\0';
}

bool proxy_end_read(struct proxy_end *end, size_t most)
{
    char record[PROXY_RECORD];
    bool moved = false;
    unsigned none = 0;

    while (end->is_open && !end->ended && !end->broken &&
           end->bytes.in.len - end->bytes.taken < most) {
        const ssize_t n = gnutls_record_recv(end->tls, record, sizeof record);
        if (n == GNUTLS_E_AGAIN)
            break;
        moved = true;
        if (n == GNUTLS_E_INTERRUPTED || n == GNUTLS_E_WARNING_ALERT_RECEIVED) {
            if (++none == TLS_NONE)
                break;
            continue;
        }
        if (n > 0) {
            laz_buf_append(&end->bytes.in, record, (size_t)n);
            end->broken |= end->bytes.in.failed;
        } else {
            end->ended = true; /* another handshake is not made either */
            end->was_cut = n != 0;
        }
    }
    return moved;
}

static void end_empty(struct laz_buf *buf, size_t *at)
{
    if (*at < buf->len)
        return;
    if (buf->cap > TLS_KEPT)
        laz_buf_fini(buf);
    else
        laz_buf_clear(buf);
    *at = 0;
}

bool proxy_end_write(struct proxy_end *end)
{
    bool moved = false;

    while (end->is_open && !end->broken && end->bytes.sent < end->bytes.out.len) {
        const size_t left = end->bytes.out.len - end->bytes.sent;
        const ssize_t n = gnutls_record_send(end->tls, end->bytes.out.data + end->bytes.sent,
                                             left < PROXY_RECORD ? left : PROXY_RECORD);
        if (n == GNUTLS_E_AGAIN)
            break;
        if (n == GNUTLS_E_INTERRUPTED)
            continue;
        moved = true;
        if (n < 0)
            end->broken = true;
        else
            end->bytes.sent += (size_t)n;
    }
    if (end->bytes.out.len && end->bytes.sent == end->bytes.out.len && end->bytes.out.data)
        laz_wipe(end->bytes.out.data, end->bytes.out.len); /* a secret was in it */
    end_empty(&end->bytes.out, &end->bytes.sent);
    return moved;
}

void proxy_end_part(struct proxy_end *end, bool is_wrong)
{
    if (!end->is_open || end->is_shaken || end->broken)
        return;
    if (is_wrong)
        (void)gnutls_alert_send(end->tls, GNUTLS_AL_FATAL, GNUTLS_A_INTERNAL_ERROR);
    else
        (void)gnutls_bye(end->tls, GNUTLS_SHUT_WR);
    laz_os_end_sending(end->fd);
}

void proxy_end_fini(struct proxy_end *end)
{
    laz_io_stop(end->io);
    end->io = NULL;
    if (end->tls)
        gnutls_deinit(end->tls);
    end->tls = NULL;
    laz_os_close(&end->fd);
    if (end->bytes.out.data)
        laz_wipe(end->bytes.out.data, end->bytes.out.len);
    laz_buf_fini(&end->bytes.out);
    laz_buf_fini(&end->bytes.in);
}
