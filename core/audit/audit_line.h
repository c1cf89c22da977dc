/* SPDX-License-Identifier: MIT */
/* audit_line.h - the fields of one record of the audit log. */
#ifndef LAZ_AUDIT_AUDIT_LINE_H
#define LAZ_AUDIT_AUDIT_LINE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAZ_AUDIT_CODE_MAX ((size_t)10000) /* characters of a piece of code, as in the reference   \
                                            */
#define LAZ_AUDIT_TEXT_MAX ((size_t)2000)  /* of any other text */
#define LAZ_AUDIT_JSON_MAX ((size_t)4096)  /* bytes of a value that is kept as it is */

/* Members of a JSON object, each with a comma before it: ,"key":value */
struct laz_audit_line {
    struct laz_buf members;
};

#define LAZ_AUDIT_LINE_INIT                                                                        \
    {                                                                                              \
        .members = LAZ_BUF_INIT                                                                    \
    }

void laz_audit_line_fini(struct laz_audit_line *line);
/* At most `max` characters; what was cut off or was no UTF-8 leaves its length in bytes and its
 * digest: "KEY":"begin... [truncated]","KEY_length":N,"KEY_sha256":"...". `text` NULL: null. */
void laz_audit_text(struct laz_audit_line *line, const char *key, const char *text, size_t len,
                    size_t max);
void laz_audit_string(struct laz_audit_line *line, const char *key,
                      const char *text); /* a short one */
void laz_audit_number(struct laz_audit_line *line, const char *key, uint64_t value);
void laz_audit_seconds(struct laz_audit_line *line, const char *key, uint64_t us);
void laz_audit_bool(struct laz_audit_line *line, const char *key, bool value);
/* A scanned JSON value; over LAZ_AUDIT_JSON_MAX bytes it becomes a text that is cut. */
void laz_audit_json(struct laz_audit_line *line, const char *key, const char *json, size_t len);

/* JSON text appended with every character that a terminal or an editor might obey (C1 controls,
 * marks of writing direction, separators of lines, invisible ones) as \uXXXX. In JSON such
 * characters stand inside strings only, so the value remains the same. */
void laz_audit_harmless(struct laz_buf *out, const char *json, size_t len);

#endif
