/* SPDX-License-Identifier: MIT */
/* proxy.h - what this room offers: what lazaret-proxy and an engine tell each other.
 *
 * lazaret-proxy is a program of its own, one for an engine that has credentials.  It ends TLS of
 * boxes with an authority that exists in its memory alone, adds secrets to requests, and passes
 * them on by TLS of its own.  What code and servers send is parsed there, in a process that can
 * open nothing; which names code may reach, and where they are, the engine decides before, as for
 * any connection.
 *
 * Descriptor 0 of it is a socket that keeps messages apart, with notes. */
#ifndef LAZ_PROXY_PROXY_H
#define LAZ_PROXY_PROXY_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

#define LAZ_PROXY_PROGRAM "lazaret-proxy"
#define LAZ_PROXY_NOTE    ((size_t)160 << 10) /* bytes of a note, at most */
#define LAZ_PROXY_SECRET  ((size_t)16 << 10)  /* bytes of a secret, at most */
/* lazaret-proxy --answer DIRECTORY: a server that tries a credential, for lazaret doctor. Its
 * descriptor 0 is as above, for PROXY_READY or PROXY_FAILED from it, and PROXY_SECRET to it, the
 * value that Authorization has to have; descriptor 3 listens. It answers each request with one of
 * the texts. */
#define PROXY_ANSWER    "--answer"
#define PROXY_ANSWER_CA "ca.pem" /* in the directory: its authority */
#define PROXY_CAME      "the secret has come"
#define PROXY_CAME_NOT  "no secret was there"

/* A shorter secret is no sign: it may stand in any answer. */
#define LAZ_PROXY_SECRET_LEAST 8

enum proxy_note_type {
    /* to the engine */
    PROXY_READY,  /* boxes trust it when they see its directory */
    PROXY_FAILED, /* it does not start: `text` says why */
    PROXY_WANTS,  /* the secret of `credential`; `refused`: the one that it has was not taken */
    PROXY_USED,   /* a request of `connection` went out with the secret of `credential` */
    PROXY_DENIED, /* something of `connection` was refused: `text` */

    /* to the proxy */
    PROXY_CREDENTIAL, /* a new one; with the file of authorities of its server, or without */
    PROXY_SECRET,     /* what it wanted: `text`, or `why` there is none */
    PROXY_FORGET,     /* `credential` is used no more */
    PROXY_CONNECTION, /* two sockets come along: from the box, and to the server */
    PROXY_NOTE_TYPES,
};

/* Where the secret goes. */
struct proxy_note {
    int64_t credential, connection;
    const char *text, *why;
    size_t text_len;
    bool refused;
    /* of PROXY_CREDENTIAL */
    const char *title;          /* for messages */
    const char *field;          /* of the header that is set; NULL: none */
    const char *before, *after; /* the secret, in its value */
    const char *user;           /* of Basic; NULL: it is not that */
    const char *query;          /* the parameter that is set; NULL: none */
    const char *placeholder;    /* what stands for it inside; NULL: nothing */
    struct laz_strv methods, paths;
    bool only, echo;
    /* of PROXY_CONNECTION */
    const char *name;
    int64_t port;
    struct laz_strv credentials; /* numbers; in the order in which they are asked */
};

/* Appends the line of a note. */
void proxy_note_make(enum proxy_note_type type, const struct proxy_note *note,
                     struct laz_buf *line);
/* Reads one. proxy_note_fini frees what was read, in any case; the line must outlive it.
 * LAZ_EPROTO, LAZ_ENOMEM. */
int proxy_note_parse(const char *line, size_t len, bool to_proxy, enum proxy_note_type *type,
                     struct proxy_note *note, struct laz_error *err);
void proxy_note_fini(enum proxy_note_type type, struct proxy_note *note);

#endif
