/* SPDX-License-Identifier: MIT */
/* json.h - JSON inside lazaret: a strict scan, a pull reader, a writer, and trees.
 *
 * Text from anywhere outside is scanned first; the reader and the trees take scanned text only.
 * Trees are cJSON's, and json.c is the only file that calls it: cJSON alone accepts repeated keys,
 * invalid UTF-8 and trailing text, compares keys without case and prints doubles with 15 digits. */
#ifndef LAZ_BASE_JSON_H
#define LAZ_BASE_JSON_H

#include "base/buf.h"
#include "base/error.h"

#include <lazaret/json.h>

#define LAZ_JSON_MAX_DEPTH 64

/* The functions that plugins get. */
const struct laz_json_api *laz_json_api(void);

/* 0 when `text` is exactly one JSON value (white space around it allowed) that lazaret accepts:
 * at most 64 levels, valid UTF-8, no NUL byte or \u0000, no lone surrogate, no repeated key in an
 * object, every number within a double's range. Else LAZ_EPARSE, with the byte position. */
int laz_json_scan(const char *text, size_t len, struct laz_error *err);

/* A scanned value appended to `buf` on one line: white space outside strings is dropped. */
void laz_json_compact(struct laz_buf *buf, const char *text, size_t len);

/* `text` as a JSON string, quotes included. Bytes that are not UTF-8 become U+FFFD, NUL too: for
 * messages to people; values go through the writer. */
void laz_json_quote(struct laz_buf *buf, const char *text, size_t len);
/* Appends a list of strings. */
void laz_json_strings(struct laz_buf *buf, const struct laz_strv *strings);

/* Members of a scanned object by name, without a tree: true, and the raw text of the value. */
bool laz_json_member(const char *object, size_t len, const char *key, const char **raw,
                     size_t *raw_len);
/* A raw value as a C value; false when it is of another type (or, for int, not whole or beyond
 * 2^53). laz_json_to_string gives a new string (NULL for another type or without memory). */
bool laz_json_to_bool(const char *raw, size_t len, bool *value);
bool laz_json_to_int(const char *raw, size_t len, int64_t *value);
bool laz_json_to_double(const char *raw, size_t len, double *value);
/* A raw number by its digits, d.ddd * 10^exponent, where they stand: from the first that is not 0
 * to behind the last, a point among them perhaps. Zero has none. */
struct laz_json_digits {
    const char *from, *to;
    int64_t exponent;
    bool is_negative;
};
struct laz_json_digits laz_json_digits(const char *raw, size_t len);
/* Are they the same number, exactly: 10, 1e1 and 10.0 are? */
bool laz_json_is_same_number(struct laz_json_digits a, struct laz_json_digits b);
/* False for a raw number that languages with doubles can never give: as one it is another, and
 * written of it is the shortest text that is that one. */
bool laz_json_is_kept(const char *raw, size_t len);
char *laz_json_to_string(const char *raw, size_t len, size_t *string_len);

/* Trees, for documents put together or taken apart in no fixed order. */
struct laz_json; /* a node; freeing a root frees all of it */

struct laz_json *laz_json_parse(const char *text, size_t len, struct laz_error *err); /* scans */
void laz_json_free(struct laz_json *root);
uint32_t
laz_json_type(const struct laz_json *node); /* LAZ_JSON_NULL ... _ARRAY_BEGIN, _OBJECT_BEGIN */
const struct laz_json *laz_json_get(const struct laz_json *object, const char *key); /* or NULL */
const struct laz_json *laz_json_first(const struct laz_json *container); /* first child or NULL */
const struct laz_json *laz_json_next(const struct laz_json *node);
const char *laz_json_key(const struct laz_json *node);    /* name of a member; NULL elsewhere */
const char *laz_json_string(const struct laz_json *node); /* NULL for other types, and for NULL */
double laz_json_number(const struct laz_json *node);      /* 0 for other types */
bool laz_json_is_true(const struct laz_json *node);

#endif
