/* SPDX-License-Identifier: MIT */
/* audit_line.h - the fields of one record of the audit log. */
#ifndef LAZ_AUDIT_AUDIT_LINE_H
#define LAZ_AUDIT_AUDIT_LINE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
