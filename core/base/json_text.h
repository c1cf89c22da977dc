/* SPDX-License-Identifier: MIT */
/* json_text.h - pieces of JSON text, found and converted without a tree.
 *
 * The text was scanned (json_scan.h), or made by a trusted side.  What is found points into it. */
#ifndef LAZ_BASE_JSON_TEXT_H
#define LAZ_BASE_JSON_TEXT_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A raw value as a C value; false when it is of another type. For numbers: json_number.h.
 * laz_json_to_string gives a new string (NULL for another type, or when allocation failed). */
bool laz_json_to_bool(const char *raw, size_t len, bool *value);
char *laz_json_to_string(const char *raw, size_t len, size_t *string_len);
/* The same, and why not: LAZ_EPARSE or LAZ_ENOMEM. `string_len` may be NULL. */
int laz_json_take_string(const char *raw, size_t len, char **string, size_t *string_len);

/* A scanned value appended to `buf` on one line: white space outside strings is dropped. */
void laz_json_compact(struct laz_buf *buf, const char *text, size_t len);

/* Decodes the string whose opening quote is at text[0] into `out` (appended). Returns the bytes
 * consumed, quotes included; 0 when malformed. */
size_t laz_json_decode_string(const char *text, size_t len, struct laz_buf *out);
/* The same when it has no escapes: its text, which is then valid UTF-8, stands between the quotes.
 * 0: it has some, or is malformed. */
size_t laz_json_plain_string(const char *text, size_t len);
/* Length in bytes of the value at text[0], which may not begin with white space; 0 if malformed.
 * For scanned text: only nesting and strings are looked at. */
size_t laz_json_value_span(const char *text, size_t len);

/* An escape sequence at text[0] == '\\': its code point and length. False: malformed. */
bool laz_json_escape(const char *text, size_t len, uint32_t *code_point, size_t *consumed);

/* The value of a hexadecimal digit; -1: it is none. */
int laz_hex_digit(int c);

/* ---- items and members ---------------------------------------------------------------------- */

struct laz_json_found {
    const char *key; /* between its quotes, as written */
    size_t key_len;
    const char *raw; /* the value */
    size_t len;
};

/* Finds the members of an object: as laz_json_scan_members, without the check. False: the text is
 * not an object. */
bool laz_json_find_members(const char *text, size_t len, struct laz_json_found *found, size_t max,
                           size_t *n);
/* Is it the member of this name (ASCII), however its key was written? */
bool laz_json_found_is(const struct laz_json_found *found, const char *name);
/* The member of this name (ASCII): true, and the text of the value. */
bool laz_json_member(const char *object, size_t len, const char *key, const char **raw,
                     size_t *raw_len);

/* The items of a list, or the members of an object, one after the other. */
struct laz_json_items {
    const char *at, *end;
    bool failed; /* the text is not a list, or not an object */
};
struct laz_json_items laz_json_items(const char *text, size_t len);
struct laz_json_items laz_json_members(const char *text, size_t len);
/* False at the end. */
bool laz_json_next_item(struct laz_json_items *items, const char **raw, size_t *len);
bool laz_json_next_member(struct laz_json_items *items, struct laz_json_found *found);

#endif
