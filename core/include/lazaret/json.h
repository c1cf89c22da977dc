/* SPDX-License-Identifier: MIT */
/* lazaret/json.h - reading and writing JSON, as a table of functions that the host hands to
 * plugins.
 *
 * Values cross every boundary of lazaret as JSON text (RFC 8259, UTF-8). A plugin turns that text
 * into its own values with a *reader*, and its values into text with a *writer*; neither builds a
 * tree. The host has checked the text that a plugin gets: it is one valid JSON value, at most 64
 * levels deep, valid UTF-8, without NUL characters and without repeated keys.
 *
 * What JSON cannot say has one tagged form, an object with a single key that begins with "$":
 *
 *     {"$num":"NaN"}            NaN, "Inf", "-Inf"
 *     {"$int":"9007199254740993"}  an integer beyond 2^53 in magnitude, in decimal
 *     {"$bytes":"aGk="}         bytes, base64 (RFC 4648, padded); also text that is not UTF-8
 *                               or contains NUL
 *     {"$date":"2024-01-31"}    a calendar date
 *     {"$time":"2024-01-31T12:00:00.25Z"}  an instant (RFC 3339); without an offset: local time
 *     {"$na":"double"}          R's NA: "logical", "integer", "double", "character"
 *     {"$complex":[1,-2]}       a complex number
 *     {"$factor":{"levels":["a","b"],"values":["b",null],"ordered":false}}
 *     {"$frame":{"names":["x","y"],"columns":[[1,2],["a","b"]],"rows":2}}   a data frame
 *     {"$map":[["key",1],[2,"b"]]}  a map whose keys are not all strings, or whose plain form
 *                               would be taken for one of these tags
 *     {"$repr":"<function f>"}  a value that cannot leave its runtime: how it would be printed
 *                               (only in results, never in arguments)
 *
 * docs/values.md says how each runtime maps them.
 *
 * Threads: a reader or writer belongs to one thread at a time. */
#ifndef LAZARET_JSON_H
#define LAZARET_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LAZ_JSON_END          0 /* end of the text */
#define LAZ_JSON_NULL         1
#define LAZ_JSON_FALSE        2
#define LAZ_JSON_TRUE         3
#define LAZ_JSON_NUMBER       4 /* text: as written; no '.', 'e' or 'E' in it: an integer */
#define LAZ_JSON_STRING       5 /* text: decoded UTF-8 */
#define LAZ_JSON_KEY          6 /* text: decoded UTF-8; the value follows */
#define LAZ_JSON_ARRAY_BEGIN  7
#define LAZ_JSON_ARRAY_END    8
#define LAZ_JSON_OBJECT_BEGIN 9
#define LAZ_JSON_OBJECT_END   10

struct laz_error; /* lazaret/error.h */
struct laz_json_reader;
struct laz_json_writer;

/* One step of a reader. `text` is NUL-terminated and valid until the next call on the reader. */
struct laz_json_token {
    uint32_t type; /* LAZ_JSON_* */
    const char *text;
    size_t len; /* bytes of text, without the NUL */
};

/* A number of a list (next_numbers). */
struct laz_json_number {
    double value;
    int64_t whole; /* the same, exactly, when is_whole */
    bool is_whole; /* written without '.', 'e' and 'E' */
};

/* Fields are only appended; `size` is the size of the table the host has. */
struct laz_json_api {
    size_t size;

    /* Makes a reader for `len` bytes at `text`, borrowed until reader_free. NULL: out of memory. */
    struct laz_json_reader *(*reader_new)(const char *text, size_t len);
    void (*reader_free)(struct laz_json_reader *reader);
    /* The next token. Returns its type (also in token->type); LAZ_JSON_END at the end, and from
     * then on. Malformed text ends it too: see reader_failed. */
    uint32_t (*next)(struct laz_json_reader *reader, struct laz_json_token *token);
    /* The type of the next token, which stays unread. For a key: LAZ_JSON_KEY. */
    uint32_t (*peek)(struct laz_json_reader *reader);
    /* When the next value is a tagged form (an object with a single key that begins with '$'):
     * its key, "$date" say, NUL-terminated, valid until the next call; else NULL. Reads nothing. */
    const char *(*peek_tag)(struct laz_json_reader *reader);
    /* Skips the whole next value; *raw and *raw_len, unless NULL, are its text, which lives as long
     * as the text given to reader_new. False at the end or on malformed text. */
    bool (*skip)(struct laz_json_reader *reader, const char **raw, size_t *raw_len);
    bool (*reader_failed)(const struct laz_json_reader *reader);

    /* Makes a writer whose text may grow to `limit` bytes (0: no limit). NULL: out of memory. */
    struct laz_json_writer *(*writer_new)(size_t limit);
    void (*writer_free)(struct laz_json_writer *writer);
    /* The writer adds commas and colons. Numbers are written so that they read back bit for bit; a
     * whole double is written without a point ("2"), unless keep_point. */
    void (*write_null)(struct laz_json_writer *writer);
    void (*write_bool)(struct laz_json_writer *writer, bool value);
    void (*write_int)(struct laz_json_writer *writer, int64_t value); /* beyond 2^53: $int */
    void (*write_double)(struct laz_json_writer *writer, double value, bool keep_point); /* $num */
    /* Text that is not valid UTF-8 or contains NUL is written as $bytes. */
    void (*write_string)(struct laz_json_writer *writer, const char *text, size_t len);
    void (*write_bytes)(struct laz_json_writer *writer, const void *data, size_t len); /* $bytes */
    void (*write_raw)(struct laz_json_writer *writer, const char *json, size_t len); /* one value */
    void (*array_begin)(struct laz_json_writer *writer);
    void (*array_end)(struct laz_json_writer *writer);
    void (*object_begin)(struct laz_json_writer *writer);
    void (*object_end)(struct laz_json_writer *writer);
    /* Writes a key, which must be valid UTF-8 without NUL; false, and nothing is written, when it
     * is not. */
    bool (*key)(struct laz_json_writer *writer, const char *text, size_t len);
    /* The text so far, NUL-terminated, borrowed until the next call on the writer. NULL when the
     * writer failed: *too_large is true for the limit, false for lack of memory. */
    const char *(*writer_text)(struct laz_json_writer *writer, size_t *len, bool *too_large);
    /* True once the writer has failed (limit, memory, more than 64 levels): further writes have no
     * effect; a loop over much data should stop. */
    bool (*writer_failed)(const struct laz_json_writer *writer);
    /* Empties the writer for a new text. */
    void (*writer_reset)(struct laz_json_writer *writer);

    /* Decodes a $bytes text. Writes at most len / 4 * 3 bytes to `out`; the count is returned, or
     * -1 when `text` is not base64. */
    ptrdiff_t (*base64_decode)(const char *text, size_t len, void *out);

    /* Checks text that comes from outside, as the host has checked what it gives to plugins: one
     * value, at most 64 levels, UTF-8, no NUL, no lone surrogate, no repeated key, numbers that a
     * double can hold. 0, LAZ_EPARSE with the place, LAZ_ENOMEM. Takes time linear in `len`. */
    int (*scan)(const char *text, size_t len, struct laz_error *err);

    /* Reads the numbers that come next in the array that is open, up to `max`, into `numbers`, and
     * returns how many. It stops before anything else, and before an integer of more than 18
     * digits, which `next` reads; so 0 says nothing about the end. A double is the one nearest to
     * the number that was written, whatever locale is set. */
    size_t (*next_numbers)(struct laz_json_reader *reader, struct laz_json_number *numbers,
                           size_t max);
    /* As `next`, but the text of a string or of a key has no NUL behind it, and is not copied where
     * it has no escapes: then it is a part of the text given to reader_new. */
    uint32_t (*next_in_place)(struct laz_json_reader *reader, struct laz_json_token *token);
    /* Writes `n` doubles, each as write_double does, until the writer fails. */
    void (*write_doubles)(struct laz_json_writer *writer, const double *values, size_t n,
                          bool keep_point);
};

#ifdef __cplusplus
}
#endif
#endif
