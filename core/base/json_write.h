/* SPDX-License-Identifier: MIT */
/* json_write.h - writing one JSON document at the end of a buffer, front to back.
 *
 * It is how all parts of core write JSON; values of interpreters go through the writer of
 * lazaret/json.h, which also bounds them and knows the tagged forms.  Commas, quotes and escapes
 * are its business.  It allocates nothing but the buffer's memory, and a failure is the buffer's
 * (`failed`), so that a caller asks once, at the end. */
#ifndef LAZ_BASE_JSON_WRITE_H
#define LAZ_BASE_JSON_WRITE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Starts as {.to = &buffer}. */
struct laz_json_write {
    struct laz_buf *to;
    bool comma;    /* a value stands before, on this level */
    bool new_line; /* see laz_json_new_line */
};

/* In each function `key` is the name of the member, NULL for an item of a list and for the document
 * itself. Texts become JSON strings as laz_json_quote makes them. */
void laz_json_begin_object(struct laz_json_write *write, const char *key);
void laz_json_end_object(struct laz_json_write *write);
void laz_json_begin_list(struct laz_json_write *write, const char *key);
void laz_json_end_list(struct laz_json_write *write);
void laz_json_add_text(struct laz_json_write *write, const char *key,
                       const char *text); /* NULL: null */
void laz_json_add_bytes(struct laz_json_write *write, const char *key, const char *text,
                        size_t len);
void laz_json_add_texts(struct laz_json_write *write, const char *key,
                        const struct laz_strv *texts);
void laz_json_add_int(struct laz_json_write *write, const char *key, int64_t value);
void laz_json_add_uint(struct laz_json_write *write, const char *key, uint64_t value);
void laz_json_add_bool(struct laz_json_write *write, const char *key, bool value);
void laz_json_add_null(struct laz_json_write *write, const char *key);
/* `json` is one value. */
void laz_json_add_raw(struct laz_json_write *write, const char *key, const char *json, size_t len);
/* The next member or item begins a line, unless it is the first of its object or list. */
void laz_json_new_line(struct laz_json_write *write);
/* Writes the key only: the caller appends one value to the buffer. */
void laz_json_add_key(struct laz_json_write *write, const char *key);

/* `text` as a JSON string, quotes included. Bytes that are not UTF-8, and NUL, become U+FFFD: this
 * is for messages; values go through the writer of lazaret/json.h. */
void laz_json_quote(struct laz_buf *buf, const char *text, size_t len);
/* The same; the first `plain` bytes are known to stand for themselves. */
void laz_json_quote_from(struct laz_buf *buf, const char *text, size_t len, size_t plain);
/* Appends a list of strings as a JSON array. */
void laz_json_strings(struct laz_buf *buf, const struct laz_strv *strings);

#endif
