/* SPDX-License-Identifier: MIT */
/* gate.h - what this room offers: what lazaret-gate and a server tell each other.
 *
 * lazaret-gate is a program of its own, in front of `lazaret serve` (clients of other machines, by
 * TLS) and in front of a client (`lazaret connect`).  What strangers send is parsed there and
 * nowhere else: a process that has the key of the server and its sockets, and nothing more
 * (os/confine.h).  The server learns of a client when that has shown who it is, and gets the end of a
 * connection to it by a socket that keeps messages apart, with a note.
 *
 * Descriptors of the gate of a server: 0 is that socket, 3 listens. */
#ifndef LAZ_GATE_GATE_H
#define LAZ_GATE_GATE_H

#include "token/token.h"
#include "wire/message.h"

#define LAZ_GATE_PROGRAM  "lazaret-gate"
#define LAZ_GATE_NOTE     4096 /* bytes of a note, at most */
#define LAZ_GATE_LISTENER 3
/* All that a server ever tells its gate: accept no more, and end with the last client. */
#define LAZ_GATE_RETIRE "retire"
#define LAZ_GATE_PORT   8443 /* where an address names none */

enum gate_note_type {
    GATE_READY,        /* it accepts clients */
    GATE_FAILED,       /* it does not: `text` says why */
    GATE_CLIENT,       /* one has come, and its connection comes along */
    GATE_REFUSED,      /* one was refused, or several: for the log */
    GATE_AUTHENTICATE, /* the first line of a client: to the gate, by TLS */
    GATE_NOTE_TYPES,
};

struct gate_note {
    const char *text;
    const char *identity, *address; /* who, from where */
    const char *token;
    int64_t expires_s; /* seconds since 1970; 0: never */
    int64_t sessions, cpu_s, bytes, requests;
    int64_t count; /* that were refused for such reasons since the last note */
};

extern const struct laz_wire_protocol gate_protocol;

/* The path of the program, which lies beside the agent: a new string; NULL: out of memory. */
char *gate_program(const char *agent);

/* Appends the line of a note. */
void gate_note_make(enum gate_note_type type, const struct gate_note *note, struct laz_buf *line);
/* Reads one. gate_note_fini frees what was read, in any case; the line must outlive it. LAZ_EPROTO,
 * LAZ_ENOMEM. */
int gate_note_parse(const char *line, size_t len, bool of_client, enum gate_note_type *type,
                    struct gate_note *note, struct laz_error *err);
void gate_note_fini(enum gate_note_type type, struct gate_note *note);

struct laz_quota gate_note_quota(const struct gate_note *note);

#endif
