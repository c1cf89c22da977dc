/* SPDX-License-Identifier: MIT */
/* proxy_private.h - what the files of lazaret-proxy share.
 *
 * main.c starts it, control.c hears the engine, credential.c keeps secrets, connection.c has the
 * life of a connection, which uses tls.c (both ends of it) and exchange.c: the bytes between them,
 * by request.c and answer.c (which heads go on, and as what) and echo.c (is a secret in what a
 * server sends?).  Calls go in this order.  server.c is
 * another program in the same file. */
#ifndef LAZ_PROXY_PROXY_PRIVATE_H
#define LAZ_PROXY_PROXY_PRIVATE_H

#include "base/buf.h"
#include "base/error.h"
#include "http/http.h"
#include "loop/loop.h"
#include "proxy/authority.h"
#include "proxy/proxy.h"

#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- is a secret in it? echo.c --------------------------------------------------------------- */

/* What is searched for: a secret as it is, and in base64 at each of its three alignments. */
struct proxy_pattern;
/* NULL: out of memory. */
struct proxy_pattern *proxy_pattern_new(const char *secret, size_t len);
struct proxy_pattern *proxy_pattern_hold(struct proxy_pattern *pattern); /* NULL is allowed */
void proxy_pattern_drop(struct proxy_pattern *pattern); /* the same; the last one wipes it */

#define PROXY_READINGS 3 /* of a stream: as it is, percent-encoded, with escapes of JSON */

/* One stream that is searched, in each of its readings, without line breaks. */
struct proxy_echo {
    const struct proxy_pattern *pattern; /* held by who has made it; NULL: nothing is searched */
    bool is_split;                       /* else the first reading stands for all */
    struct proxy_reading {
        uint32_t state;   /* of the automaton */
        uint32_t pending; /* of an escape that is not complete */
        uint8_t digits;   /* of it */
        uint8_t breaks;   /* bytes of line breaks before */
    } readings[PROXY_READINGS];
    /* the last bytes that may be of any secret */
    uint64_t word, signs; /* with line breaks, and without */
    uint64_t breaks;      /* bytes of these, behind all others */
};
void proxy_echo_begin(struct proxy_echo *echo, const struct proxy_pattern *pattern);
/* True: the secret was in it. Else *hold is how many of the last bytes of the stream are kept until
 * more has come, as far as they are not gone already, since a secret may have begun there. It
 * follows from what kinds of characters there are, and tells nothing of the secret. */
bool proxy_echo_feed(struct proxy_echo *echo, const char *data, size_t len, size_t *hold);
/* Is it in these bytes? */
bool proxy_echo_in(const struct proxy_pattern *pattern, const char *data, size_t len);

/* ---- secrets: credential.c ------------------------------------------------------------------- */

#define PROXY_FORMER 3 /* secrets of before that are searched for: a server may keep one */

struct proxy_credential {
    struct proxy_credential *next;
    int64_t id;
    unsigned holders; /* connections, and the list while it has it */
    char *title;
    char *field, *before, *after, *user, *query, *placeholder;
    struct laz_strv methods, paths;
    bool only, echo;
    gnutls_certificate_credentials_t x509; /* of its server; NULL: the system's authorities */
    char *secret;                          /* kept out of dumps; NULL: none was given yet */
    size_t secret_len;
    struct proxy_pattern *pattern;
    struct proxy_pattern *former[PROXY_FORMER]; /* of secrets before it, the last one first */
    char *why;     /* there is none: what the engine said; NULL: nothing yet */
    bool is_asked; /* the engine was */
};
void proxy_credential_hold(struct proxy_credential *credential);
void proxy_credential_drop(struct proxy_credential *credential); /* NULL is allowed */
/* Takes a note's words; ca: descriptor of a file of authorities, or -1; closed. */
int proxy_credential_new(const struct proxy_note *note, int ca, struct proxy_credential **made,
                         struct laz_error *err);
/* Its secret is another one from now on, or it has none. */
int proxy_credential_set(struct proxy_credential *credential, const char *secret, size_t len,
                         const char *why);

/* ---- heads: request.c, answer.c -------------------------------------------------------------- */

#define PROXY_FIELDS 100 /* of a head */

struct proxy_credentials { /* of a connection; borrowed, in the order in which they are asked */
    struct proxy_credential **items;
    size_t n;
};

/* What becomes of a request. */
struct proxy_request {
    int status;                     /* 0: it goes out; else the answer that the host gives */
    char why[200];                  /* status: printable */
    bool is_denial;                 /* of which the host's user is told */
    struct proxy_credential *used;  /* whose secret is in it; NULL: none */
    struct proxy_credential *wants; /* whose secret is missing: nothing was decided */
    bool is_head;                   /* its answer has no body */
    bool is_chunked;
    uint64_t length;
};
/* Judges a whole head and appends to `out` what goes to the server. `all`: credentials of the
 * engine, whose placeholders belong to other hosts. */
void proxy_request_judge(const struct proxy_credentials *own, const struct proxy_credential *all,
                         const char *name, uint16_t port, const char *head, size_t len,
                         struct laz_buf *out, struct proxy_request *request);
/* May this line stand among the trailers of a request? NULL, or why not. */
const char *proxy_request_trailer(const struct proxy_credentials *own, const char *line,
                                  size_t len);

struct proxy_answer {
    const char *why; /* it is refused; NULL: it goes on */
    int status;
    bool is_interim; /* another one follows */
    bool is_chunked;
    bool has_length, has_body;
    bool closes;
    uint64_t length;
};
struct proxy_searches { /* what must not be in an answer; borrowed. NULL among them is nothing */
    struct proxy_pattern **items;
    size_t n;
};
/* The same of an answer, for the box. */
void proxy_answer_judge(const struct proxy_searches *searches, bool is_head, const char *head,
                        size_t len, struct laz_buf *out, struct proxy_answer *answer);
/* The same of a line of its trailers: false, it is left out. */
bool proxy_answer_trailer(const struct proxy_searches *searches, const char *line, size_t len);

/* ---- requests and their answers, as bytes: exchange.c ---------------------------------------- */

/* Bytes that wait for an end which does not take them. */
#define PROXY_WAITS ((size_t)64 << 10)

struct proxy_bytes { /* of one end, in clear */
    struct laz_buf in, out;
    size_t sent, taken; /* of out, of in */
};

#define PROXY_SOUGHT                                                                               \
    (PROXY_FORMER + 2) /* patterns of a credential that an answer is searched for */

struct proxy_exchange {
    /* to be set */
    struct proxy_credentials own; /* borrowed */
    struct proxy_credential *const *all;
    int64_t id;
    const char *name;
    uint16_t port;
    struct proxy_bytes *box, *server;
    void (*tell)(void *user, enum proxy_note_type type, const struct proxy_note *note);
    void *user;
    /* how it stands */
    bool is_asking; /* a request went out, and its answer is not complete */
    bool waits;     /* for a secret */
    bool is_ending; /* when all is sent it closes */
    bool is_wrong;  /* and says that something is wrong */
    bool failed;    /* out of memory */
    /* private */
    struct laz_http_stream requests, answers;
    bool has_begun;   /* something of the answer was passed on */
    bool is_head;     /* the request */
    bool is_chunked;  /* the answer */
    bool closes;      /* the server closes behind it */
    unsigned interim; /* answers so far */
    struct proxy_credential *used;
    struct proxy_searches searches; /* PROXY_SOUGHT of each credential: its secret, those of before,
                                       and the last one that it has got since its request */
    struct proxy_echo *echoes;
    struct laz_buf held; /* the last bytes of a body, which may begin a secret */
};
/* LAZ_ENOMEM; proxy_exchange_fini in any case. */
int proxy_exchange_init(struct proxy_exchange *exchange, struct laz_error *err);
void proxy_exchange_fini(struct proxy_exchange *exchange);
/* Takes what has come of the box, of the server. True: something moved. */
bool proxy_exchange_requests(struct proxy_exchange *exchange);
bool proxy_exchange_answers(struct proxy_exchange *exchange);
/* The server sends no more; `is_whole`: it has said so. */
void proxy_exchange_ended(struct proxy_exchange *exchange, bool is_whole);
/* Something is refused, of which the engine is told. The box gets an answer of the host. */
void proxy_exchange_refuse(struct proxy_exchange *exchange, int status, const char *why);
void proxy_exchange_deny(const struct proxy_exchange *exchange, const char *why);

/* ---- TLS: tls.c ------------------------------------------------------------------------------ */

#define PROXY_RECORD ((size_t)16 << 10) /* bytes of a record of TLS, at most (RFC 8446, 5.1) */

/* With boxes: TLS 1.2 or newer, with authenticated ciphers and forward secrecy; what GnuTLS takes
 * for good. The group comes first that most clients begin with: with another they say hello twice.
 */
#define PROXY_TLS_BOX                                                                              \
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:-CIPHER-ALL:+AES-128-GCM:+AES-256-GCM:+"      \
    "CHACHA20-POLY1305:-GROUP-ALL:+GROUP-X25519:+GROUP-SECP256R1:+GROUP-SECP384R1:+GROUP-X448:+"   \
    "GROUP-SECP521R1:%SERVER_PRECEDENCE"

/* Threads that make handshakes. */
struct proxy_hands;
int proxy_hands_new(struct laz_loop *loop, struct proxy_hands **hands, struct laz_error *err);

/* One end of a connection, over a socket of its own. */
struct proxy_end {
    gnutls_session_t tls;
    int fd;
    struct laz_io *io;
    uint32_t watched;
    bool is_open;   /* the handshake is done */
    bool is_shaken; /* it is in the hands of a thread, and nobody else touches it */
    bool ended;     /* nothing more comes */
    bool was_cut;   /* and that without a goodbye */
    bool broken;
    struct proxy_bytes bytes;
    struct laz_post post; /* for the threads */
    struct proxy_end *next;
    int failed;                            /* of the handshake */
    void (*shaken)(struct proxy_end *end); /* a step of it was made; is_shaken is false again */
    struct laz_loop *loop;
    void *user;
};
int proxy_end_box(struct proxy_end *end, int fd, gnutls_certificate_credentials_t x509,
                  struct laz_error *err);
int proxy_end_server(struct proxy_end *end, int fd, gnutls_certificate_credentials_t x509,
                     const char *name, struct laz_error *err);
/* Goes on with the handshake, in a thread. */
void proxy_end_shake(struct proxy_hands *hands, struct proxy_end *end);
/* Reads what has come, up to `most` bytes; writes what is to be sent. True: something moved. */
bool proxy_end_read(struct proxy_end *end, size_t most);
bool proxy_end_write(struct proxy_end *end);
/* Its last words: a goodbye, or that something is wrong. Nothing is waited for. */
void proxy_end_part(struct proxy_end *end, bool is_wrong);
void proxy_end_fini(struct proxy_end *end);
/* Why its handshake failed, for people. */
void proxy_end_why(const struct proxy_end *end, char *why, size_t size);

/* ---- connections: connection.c --------------------------------------------------------------- */

struct proxy {
    struct laz_loop *loop;
    struct proxy_hands *hands;
    struct proxy_authority *authority;
    gnutls_certificate_credentials_t system; /* the authorities of this system */
    struct proxy_credential *credentials;
    struct proxy_connection *connections;
    struct laz_io *control;
    bool is_over;
};

void proxy_connection_new(struct proxy *proxy, const struct proxy_note *note, int box, int server);
/* Secrets have come: whoever waits for one goes on. */
void proxy_connections_wake(struct proxy *proxy);
void proxy_connections_end(struct proxy *proxy);

/* ---- the engine: control.c ------------------------------------------------------------------- */

/* Tells the engine; false: it is gone. */
bool proxy_tell(enum proxy_note_type type, const struct proxy_note *note);
int proxy_control_begin(struct proxy *proxy, struct laz_error *err);

/* ---- --answer: server.c ---------------------------------------------------------------------- */

/* Serves until who has started it is gone; the status of the process. */
int proxy_server(const char *directory);

#endif
