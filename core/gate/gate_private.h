/* SPDX-License-Identifier: MIT */
/* gate_private.h - what the files of lazaret-gate share. */
#ifndef LAZ_GATE_GATE_PRIVATE_H
#define LAZ_GATE_GATE_PRIVATE_H

#include "base/buf.h"
#include "base/error.h"
#include "gate/gate.h"
#include "loop/loop.h"
#include "token/quota.h"

#include <gnutls/gnutls.h>
#include <stdbool.h>

#define GATE_RECORD ((size_t)16 << 10) /* bytes of a record of TLS, at most (RFC 8446, 5.1) */

/* What the command line says; paths are NULL where there is none. */
struct gate_options {
    const char *certificate, *key; /* of this end */
    const char *authorities;       /* who has signed the certificates of the other end */
    const char *revoked;           /* a list of those that are not valid any more */
    const char *keys;              /* public ones, of tokens */
    const char *audience;
    const char *token_file; /* of a client */
    const char *name;       /* that the certificate of the server is to have */
    const char *host;       /* of a client: where to, with its port */
    const char *sessions, *cpu, *bytes, *requests;
    const char *connections, *of_one, *handshake_ms;
};

/* ---- credentials.c --------------------------------------------------------------------------- */

struct gate_credentials {
    gnutls_certificate_credentials_t x509;
    bool asks_certificates;
    struct laz_keys keys; /* none: no tokens are taken */
};
int gate_credentials_read(struct gate_credentials *credentials, const struct gate_options *options,
                          bool is_server, struct laz_error *err);
void gate_credentials_free(struct gate_credentials *credentials);
/* A session that knows the other end by these. LAZ_ENOMEM. */
int gate_session_new(const struct gate_credentials *credentials, bool is_server, int fd,
                     gnutls_session_t *tls, struct laz_error *err);
/* Whose certificate it is: *has_one, and its name in `name` once it was verified. LAZ_EREFUSED with
 * why it is not good. */
int gate_certificate_check(gnutls_session_t tls, bool *has_one, char name[LAZ_IDENTITY_MAX + 1],
                           int64_t *expires_s, struct laz_error *err);

/* ---- pump.c: bytes, both ways ---------------------------------------------------------------- */

/* Bytes between TLS and a plain connection: a socket, or standard input and output. */
struct gate_pump {
    struct laz_loop *loop;
    gnutls_session_t tls;
    int net;
    int in, out; /* plain; maybe the same */
    struct laz_io *net_io, *in_io, *out_io;
    struct laz_timer *timer; /* goes on: what TLS has read already, or when bytes may flow again */
    struct laz_buf up, down; /* that wait: for the plain side, for TLS */
    size_t up_sent, down_sent;
    uint32_t net_watched, in_watched, out_watched; /* LAZ_IO_* */
    bool net_ended, in_ended;                      /* nothing more is read there */
    bool passed, passed_down;                      /* the other side has learned that */
    bool net_wants;                                /* TLS waits until it can write */
    bool is_pipe;                                  /* out */
    bool has_said, is_refusal; /* something came for the plain side, and began with a refusal */
    struct laz_identities *identities; /* NULL: bytes are not counted */
    struct laz_identity *identity;
    void (*ended)(void *user,
                  const char *why); /* once; why NULL: both ends were done. May free it */
    void *user;
};
/* Begins on a zeroed pump of which the members above `up`, but for watches, are set, and those
 * behind them. `first` bytes were read from TLS already. LAZ_ENOMEM. */
int gate_pump_begin(struct gate_pump *pump, const void *first, size_t len, struct laz_error *err);
void gate_pump_end(struct gate_pump *pump);

/* ---- server.c, connect.c --------------------------------------------------------------------- */

int gate_serve(const struct gate_options *options); /* an exit status */
int gate_connect(const struct gate_options *options);

#endif
