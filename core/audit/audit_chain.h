/* SPDX-License-Identifier: MIT */
/* audit_chain.h - the hash chain of the records of an audit log, and its verification.
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

#define LAZ_AUDIT_LINE_MAX ((size_t)256 << 10) /* bytes of a record; ours are shorter */

/* The end of a chain. */
struct laz_audit_link {
    uint64_t seq; /* 0: no record yet */
    char hash[LAZ_SHA256_HEX + 1];
};

/* SHA-256 of two texts, one after the other. */
void laz_audit_digest(const char *before, const char *text, size_t len,
                      char hex[LAZ_SHA256_HEX + 1]);
void laz_audit_link_init(struct laz_audit_link *link);
/* Appends a record with its newline to `out`, and sets the link to it. `members`: made by
 * audit.h. `session`: its id; NULL: the record belongs to no session. */
void laz_audit_link_add(struct laz_audit_link *link, const char *event, const char *session,
                        const char *members, size_t len, struct laz_buf *out);

/* A line, without its newline, that has the form of a record. Borrows the line. */
struct laz_audit_record {
    const char *line;
    size_t len;
    size_t hashed; /* number of bytes that the hash covers */
    struct laz_audit_link link;
};
bool laz_audit_record_parse(struct laz_audit_record *record, const char *line, size_t len);
/* True if the hash of the record fits its text and the link before it. */
bool laz_audit_record_follows(const struct laz_audit_record *record,
                              const struct laz_audit_link *before);
/* True if the record has this event. */
bool laz_audit_record_is(const struct laz_audit_record *record, const char *event);

/* What a log ends with. */
enum laz_audit_tail {
    LAZ_AUDIT_TAIL_CLEAN,   /* a record, or the file is empty */
    LAZ_AUDIT_TAIL_TORN,    /* the beginning of a record, whose writer was killed */
    LAZ_AUDIT_TAIL_FOREIGN, /* text that no writer of the log has written */
    LAZ_AUDIT_TAIL_UNKNOWN, /* there is no record in the data */
};
/* Finds the last record. `data` are the last bytes of the file; `whole`: all of its bytes. *link:
 * the last record (initialized if there is none); *rest: number of bytes after its newline. A
 * record that lacks only its newline counts as a record. */
enum laz_audit_tail laz_audit_tail(const char *data, size_t len, bool whole,
                                   struct laz_audit_link *link, size_t *rest);

/* ---- verification --------------------------------------------------------------------------- */

enum laz_audit_finding {
    LAZ_AUDIT_NO_RECORD,  /* a line that is not a record */
    LAZ_AUDIT_CHANGED,    /* this record, or the one before, was changed */
    LAZ_AUDIT_MISSING,    /* records before this one are missing */
    LAZ_AUDIT_ORDER,      /* a record was moved here, repeated or inserted */
    LAZ_AUDIT_UNFINISHED, /* the last line is incomplete */
    LAZ_AUDIT_CUT,        /* a writer noticed that records at the end were gone */
    LAZ_AUDIT_FOREIGN,    /* a writer noticed foreign text */
    LAZ_AUDIT_TORN,       /* note: an unfinished line, accounted for by the next record */
    LAZ_AUDIT_LOST,       /* note: a writer could not write records */
    LAZ_AUDIT_ROTATED,    /* note: earlier records are in another file */
};
extern const struct laz_audit_finding_kind {
    const char *name; /* "changed" */
    bool is_note;     /* no defect of the chain */
} laz_audit_findings[];

struct laz_audit_verify {
    /* `line` counts from 1; `text` is a sentence, borrowed for the call. */
    void (*report)(void *user, enum laz_audit_finding finding, uint64_t line, const char *text);
    void *user;
    struct laz_audit_link last;
    uint64_t lines, records, findings, lost; /* findings: without notes */
    /* private */
    struct laz_buf partial;
    bool too_long;                 /* the current line is too long; its text was discarded */
    uint64_t odd_first, odd_bytes; /* lines that are not records and not yet accounted for */
    struct laz_sha256 odd_digest;
};

void laz_audit_verify_init(struct laz_audit_verify *verify,
                           void (*report)(void *user, enum laz_audit_finding finding, uint64_t line,
                                          const char *text),
                           void *user);
/* Takes the bytes of the file, in order, in pieces of any size. */
void laz_audit_verify_feed(struct laz_audit_verify *verify, const char *data, size_t len);
/* Ends the verification after the last byte. True: there were no findings but notes. */
bool laz_audit_verify_end(struct laz_audit_verify *verify);
void laz_audit_verify_fini(struct laz_audit_verify *verify);

/* ---- text for people ------------------------------------------------------------------------ */

/* Appends a record as one line of text: time, session, event, and its fields, shortened. False: the
 * line is not a record, and was appended with unsafe characters escaped. */
bool laz_audit_show(const char *line, size_t len, struct laz_buf *out);

#endif
