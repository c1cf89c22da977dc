/* SPDX-License-Identifier: MIT */
/* audit.h - the audit log of an engine, or of the engines of a group: one file, one record per
 * line, in a hash chain. */
#ifndef LAZ_AUDIT_AUDIT_H
#define LAZ_AUDIT_AUDIT_H

#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- the fields of a record ----------------------------------------------------------------- */

#define LAZ_AUDIT_CODE_MAX ((size_t)10000) /* characters of code */
#define LAZ_AUDIT_TEXT_MAX ((size_t)2000)  /* characters of any other text */
#define LAZ_AUDIT_JSON_MAX ((size_t)4096)  /* bytes of a JSON value; a longer one is cut */

/* Members of a JSON object, each with a comma before it: ,"key":value. An allocation failure is
 * recorded in members.failed. */
struct laz_audit_line {
    struct laz_buf members;
};

#define LAZ_AUDIT_LINE_INIT                                                                        \
    {                                                                                              \
        .members = LAZ_BUF_INIT                                                                    \
    }

void laz_audit_line_fini(struct laz_audit_line *line);
/* Adds a text of at most `max` characters. A text that was cut or is not UTF-8 gets its length in
 * bytes and its digest: "KEY":"beginning... [truncated]","KEY_length":N,"KEY_sha256":"...". `text`
 * NULL: null. */
void laz_audit_text(struct laz_audit_line *line, const char *key, const char *text, size_t len,
                    size_t max);
void laz_audit_string(struct laz_audit_line *line, const char *key,
                      const char *text); /* at most LAZ_AUDIT_TEXT_MAX characters */
void laz_audit_number(struct laz_audit_line *line, const char *key, uint64_t value);
void laz_audit_seconds(struct laz_audit_line *line, const char *key, uint64_t us);
void laz_audit_bool(struct laz_audit_line *line, const char *key, bool value);
/* Adds a scanned JSON value (NULL: null); over LAZ_AUDIT_JSON_MAX bytes it becomes a string that is
 * cut. */
void laz_audit_json(struct laz_audit_line *line, const char *key, const char *json, size_t len);

/* Appends JSON text with all characters as \uXXXX that could affect a terminal or an editor (C1
 * controls, marks of writing direction, line separators, invisible characters). JSON allows these
 * characters in strings only, so the value stays the same. */
void laz_audit_harmless(struct laz_buf *out, const char *json, size_t len);

/* ---- the log -------------------------------------------------------------------------------- */

/* Any thread. What appends blocks for the lock and the disk. */
struct laz_audit;

struct laz_audit_options {
    const char *file; /* copied */
    bool refuse;      /* refuse an event whose record cannot be written */
    bool sync;        /* each record is on the disk before its event goes on */
    uint64_t lock_ms; /* how long to wait for the lock of other writers; 0: half a second */
    const struct laz_log *log; /* copied */
};

/* Opens the log and finds the end of its chain. LAZ_ECONFIG, with or without `refuse`: the file
 * cannot be an audit log (a link, a device, in a directory that others can write, or with other
 * content). LAZ_EOS, LAZ_ETIMEOUT: only with `refuse`; without it a warning is logged, and the next
 * record tries again. */
int laz_audit_new(const struct laz_audit_options *options, struct laz_audit **audit,
                  struct laz_error *err);
/* For one more engine, which frees it as well; its last holder ends it. NULL: NULL. */
struct laz_audit *laz_audit_share(struct laz_audit *audit);
/* Of its last holder: records how many records were lost, if possible, and frees the log. NULL is
 * allowed. */
void laz_audit_free(struct laz_audit *audit);

/* Appends a record; takes the fields of the line, which is empty afterwards. `session`: its id, or
 * NULL. 0: the record was written, or could not be written and `refuse` is not set, or `audit` is
 * NULL. Else LAZ_EREFUSED, and the text says why. Records that could not be written are counted; a
 * record of their number comes before the next one that is written. */
int laz_audit_write(struct laz_audit *audit, const char *event, const char *session,
                    struct laz_audit_line *line, struct laz_error *err);
/* Says which records could not be written since the last one that was; a new string. NULL: none. */
char *laz_audit_trouble(struct laz_audit *audit);

#endif
