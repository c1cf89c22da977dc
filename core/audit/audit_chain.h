/* SPDX-License-Identifier: MIT */
/* audit_chain.h - the chain that ties the records of an audit log together, and its verification.
 *
 * A record is one line:
 *
 *     {"seq":N,"timestamp":"...","event":"...","session_id":...,...,"hash":"H"}
 *
 * H is the SHA-256, in 64 lower-case hexadecimal digits, of the 64 digits of the record before (64
 * zeros before the first) followed by the bytes of this line up to and without `,"hash":`.  N is
 * one more than that of the record before. */
#ifndef LAZ_AUDIT_AUDIT_CHAIN_H
#define LAZ_AUDIT_AUDIT_CHAIN_H

#include "base/buf.h"
#include "base/digest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAZ_AUDIT_LINE_MAX ((size_t)256 << 10) /* bytes of a record; ours are well below */

/* The end of a chain. */
struct laz_audit_link {
    uint64_t seq; /* 0: nothing yet */
    char hash[LAZ_SHA256_HEX + 1];
};

void laz_audit_link_init(struct laz_audit_link *link);
/* Appends a record with its newline to `out`, and moves the link to it. `members`: as
 * audit_line.h makes them. `session`: NULL for what belongs to no session. */
void laz_audit_link_add(struct laz_audit_link *link, const char *event, const char *session,
                        const char *members, size_t len, struct laz_buf *out);

/* A line, without its newline, that has the form of a record. Borrows the line. */
struct laz_audit_record {
    const char *line;
    size_t len;
    size_t hashed; /* bytes the hash is over */
    struct laz_audit_link link;
};
bool laz_audit_record_parse(struct laz_audit_record *record, const char *line, size_t len);
/* Is its hash that of its own text after this link? */
bool laz_audit_record_follows(const struct laz_audit_record *record,
                              const struct laz_audit_link *before);
/* Is it of this event? */
bool laz_audit_record_is(const struct laz_audit_record *record, const char *event);

/* What stands at the end of a log. */
enum laz_audit_tail {
    LAZ_AUDIT_TAIL_CLEAN,   /* a record, or nothing at all */
    LAZ_AUDIT_TAIL_TORN,    /* after it the begin of a record, whose writer was ended */
    LAZ_AUDIT_TAIL_FOREIGN, /* after it something that nobody who keeps the log has written */
    LAZ_AUDIT_TAIL_UNKNOWN, /* no record, within what was given */
};
/* `data` are the last bytes of the file, `whole`: all of them. *link: the last record (the begin of
 * the chain without one); *rest: bytes after its newline. A record that lacks nothing but its
 * newline counts as one. */
enum laz_audit_tail laz_audit_tail(const char *data, size_t len, bool whole,
                                   struct laz_audit_link *link, size_t *rest);

/* ---- verification --------------------------------------------------------------------------- */

enum laz_audit_finding {
    LAZ_AUDIT_NO_RECORD,  /* a line that is none */
    LAZ_AUDIT_CHANGED,    /* this record, or the one before, is not as it was written */
    LAZ_AUDIT_MISSING,    /* records before this one are gone */
    LAZ_AUDIT_ORDER,      /* a record that came before stands here, or one was put in */
    LAZ_AUDIT_UNFINISHED, /* the last line has no end */
    LAZ_AUDIT_CUT,        /* the writer noticed that records at the end had gone */
    LAZ_AUDIT_FOREIGN,    /* the writer noticed what others had written */
    LAZ_AUDIT_TORN,       /* a note: a line that its writer could not finish, sealed by the next */
    LAZ_AUDIT_LOST,       /* a note: the writer could not write records */
    LAZ_AUDIT_ROTATED,    /* a note: earlier records are in another file */
};
/* Is it only a note, and no mistake of the chain? */
bool laz_audit_is_note(enum laz_audit_finding finding);
const char *laz_audit_finding_name(enum laz_audit_finding finding); /* "changed" */

struct laz_audit_verify {
    /* `line` counts from 1; `text` is a sentence, borrowed for the call. */
    void (*report)(void *user, enum laz_audit_finding finding, uint64_t line, const char *text);
    void *user;
    struct laz_audit_link last;
    uint64_t lines, records, findings, notes, lost;
    /* private */
    struct laz_buf partial;
    bool too_long;                 /* the present line; what came of it was dropped */
    uint64_t odd_first, odd_bytes; /* lines that are no records, not yet explained */
    struct laz_sha256 odd_digest;
};

void laz_audit_verify_init(struct laz_audit_verify *verify,
                           void (*report)(void *user, enum laz_audit_finding finding, uint64_t line,
                                          const char *text),
                           void *user);
/* The bytes of the file, in order, in pieces of any size. */
void laz_audit_verify_feed(struct laz_audit_verify *verify, const char *data, size_t len);
/* After the last byte: true when there was no finding but notes. */
bool laz_audit_verify_end(struct laz_audit_verify *verify);
void laz_audit_verify_fini(struct laz_audit_verify *verify);

/* ---- for people ----------------------------------------------------------------------------- */

/* One line as text on one line: time, session, event, and its fields, shortened. False: it is no
 * record, and was appended as harmless text. */
bool laz_audit_show(const char *line, size_t len, struct laz_buf *out);

#endif
