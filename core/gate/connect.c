/* SPDX-License-Identifier: MIT */
/* connect.c - the gate of a client: standard input and output are a server of another machine.
 * Side: client.  Input trusted: no (what the server sends is passed on).
 *
 * It shows who its client is, and is a pipe from then on: whoever speaks the host protocol to
 * `lazaret serve` speaks it to this program in the same way. */
#include "gate/gate_private.h"

#include "base/host_port.h"
#include "lines/lines.h"
#include "os/confine.h"
#include "os/descriptors.h"
#include "os/inet.h"
#include "os/input.h"
#include "os/io.h"
#include "os/trust.h"

#include <gnutls/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONNECT_MS 10000

struct connection {
    struct laz_loop *loop;
    struct gate_credentials credentials;
    gnutls_session_t tls;
    int net;
    struct laz_input *input;
    struct gate_pump pump;
    bool is_over, has_heard;
    char why[256];
};

static void connect_say(const char *text)
{
    fprintf(stderr, "lazaret: %s\n", text);
}

/* ---- the first line -------------------------------------------------------------------------- */

static int connect_token(const char *file, struct laz_buf *token, struct laz_error *err)
{
    int rc = laz_trust_secret(file, LAZ_JWT_MAX + 2, token, err);

    if (!rc) {
        token->len = strcspn(laz_buf_text(token), " \t\r\n");
        if (token->data)
            token->data[token->len] = '\0';
    }
    return rc;
}

static int connect_greet(struct connection *connection, const struct gate_options *options,
                         struct laz_error *err)
{
    struct laz_buf token = LAZ_BUF_INIT, line = LAZ_BUF_INIT;
    int rc = options->token_file ? connect_token(options->token_file, &token, err) : 0;

    if (!rc) {
        gate_note_make(GATE_AUTHENTICATE,
                       &(struct gate_note){.token = options->token_file ? token.data : NULL},
                       &line);
        ssize_t n = GNUTLS_E_AGAIN;
        while (n == GNUTLS_E_AGAIN || n == GNUTLS_E_INTERRUPTED)
            n = gnutls_record_send(connection->tls, line.data, line.len);
        if (n != (ssize_t)line.len)
            rc = laz_error_set(err, LAZ_EOS, 0, "the server has closed the connection");
    }
    if (token.data)
        laz_wipe(token.data, token.len);
    if (line.data)
        laz_wipe(line.data, line.len);
    laz_buf_fini(&token);
    laz_buf_fini(&line);
    return rc;
}

/* ---- the server ------------------------------------------------------------------------------ */

/* Why its certificate was not accepted, with what helps. */
static int connect_not_trusted(const struct connection *connection, const char *host,
                               struct laz_error *err)
{
    gnutls_datum_t words = {NULL, 0};
    const unsigned status = gnutls_session_get_verify_cert_status(connection->tls);

    (void)gnutls_certificate_verification_status_print(status, GNUTLS_CRT_X509, &words, 0);
    laz_error_set(err, LAZ_EREFUSED, 0, "%s: the certificate of the server is not accepted: %s%s",
                  host, words.data ? (const char *)words.data : "it is not valid",
                  status & GNUTLS_CERT_SIGNER_NOT_FOUND
                      ? " Name the authority that has signed it with --ca FILE."
                      : "");
    gnutls_free(words.data);
    return LAZ_EREFUSED;
}

static int connect_handshake(struct connection *connection, const char *host, struct laz_error *err)
{
    int failed;

    while ((failed = gnutls_handshake(connection->tls)) != 0 && !gnutls_error_is_fatal(failed)) {
        const bool writes = gnutls_record_get_direction(connection->tls);
        if (!writes && !laz_os_await(connection->net, CONNECT_MS))
            return laz_error_set(err, LAZ_ETIMEOUT, 0, "%s does not answer by TLS", host);
    }
    if (failed == GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR)
        return connect_not_trusted(connection, host, err);
    return failed ? laz_error_set(err, LAZ_EREFUSED, 0, "%s: TLS: %s", host,
                                  failed == GNUTLS_E_FATAL_ALERT_RECEIVED
                                      ? gnutls_alert_get_name(gnutls_alert_get(connection->tls))
                                      : gnutls_strerror(failed))
                  : 0;
}

static int connect_reach(struct connection *connection, const struct gate_options *options,
                         struct laz_error *err)
{
    char host[LAZ_HOST_MAX + 1];
    uint16_t port;

    if (!laz_host_port(options->host, host, &port))
        return laz_error_set(err, LAZ_EINVAL, 0, "'%.100s' is not HOST:PORT", options->host);
    int rc = gate_credentials_read(&connection->credentials, options, false, err);
    if (!rc)
        rc = laz_os_inet_reach(host, port, CONNECT_MS, &connection->net, err);
    if (!rc)
        rc = gate_session_new(&connection->credentials, false, connection->net, &connection->tls,
                              err);
    if (rc)
        return rc;
    const char *name = options->name ? options->name : host;
    if (strspn(name, "0123456789.") != strlen(name) && !strchr(name, ':'))
        (void)gnutls_server_name_set(connection->tls, GNUTLS_NAME_DNS, name, strlen(name));
    gnutls_session_set_verify_cert(connection->tls, name, 0);
    rc = connect_handshake(connection, options->host, err);
    return rc ? rc : connect_greet(connection, options, err);
}

/* ---- the pipe -------------------------------------------------------------------------------- */

static void connect_ended(void *user, const char *why)
{
    struct connection *connection = user;

    connection->is_over = true;
    snprintf(connection->why, sizeof connection->why, "%s", why ? why : "");
}

static int connect_pass(struct connection *connection, struct laz_error *err)
{
    int in, out;
    int rc = laz_loop_new(&connection->loop, err);

    if (!rc)
        rc = laz_lines_take_stdio(&connection->input, &in, &out, err);
    if (!rc)
        rc = laz_os_nonblock(in, true, err);
    if (rc)
        return rc;
    connection->pump = (struct gate_pump){
        .loop = connection->loop,
        .tls = connection->tls,
        .net = connection->net,
        .in = in,
        .out = out,
        .is_pipe = laz_os_is_pipe(out),
        .ended = connect_ended,
        .user = connection,
    };
    rc = gate_pump_begin(&connection->pump, NULL, 0, err);
    if (!rc)
        rc = laz_os_confine_helper(err);
    while (!rc && !connection->is_over)
        laz_loop_step(connection->loop, LAZ_LOOP_FOREVER);
    if (!rc && *connection->why)
        rc = laz_error_set(err, LAZ_EOS, 0, "the connection to the server has ended: %s",
                           connection->why);
    return rc;
}

int gate_connect(const struct gate_options *options)
{
    struct connection connection = {.net = -1};
    struct laz_error err = {0};
    int rc = connect_reach(&connection, options, &err);

    if (!rc)
        rc = connect_pass(&connection, &err);
    if (rc)
        connect_say(err.text);
    const bool is_refused = connection.pump.is_refusal;
    gate_pump_end(&connection.pump);
    if (connection.tls)
        gnutls_deinit(connection.tls);
    laz_os_close(&connection.net);
    laz_input_end(connection.input);
    if (connection.loop)
        laz_loop_free(connection.loop);
    gate_credentials_free(&connection.credentials);
    return rc ? 125 : is_refused ? 126 : 0;
}
