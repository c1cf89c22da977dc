/* SPDX-License-Identifier: MIT */
/* json_lex.h - the pieces that scan, reader and writer share. Private to json*.c. */
#ifndef LAZ_BASE_JSON_LEX_H
#define LAZ_BASE_JSON_LEX_H

#include "base/buf.h"

#include <lazaret/json.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline bool json_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Does the byte stand for itself in a string, and is it all of a character? */
static inline bool json_is_plain(char byte)
{
    unsigned char c = (unsigned char)byte;

    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

/* How many bytes from the start are plain: printable ASCII but '"' and '\'.
 * Eight at a time; a byte of a word is flagged when its high bit is set, when it is below 0x20, or
 * when it equals one of the two (the carry-free test for a zero byte). */
static inline size_t json_plain_span(const char *text, size_t len)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t highs = UINT64_C(0x8080808080808080);
    size_t i = 0;

    while (len - i >= 8) {
        uint64_t w;
        memcpy(&w, text + i, 8);
        uint64_t quote = w ^ (ones * '"');
        uint64_t slash = w ^ (ones * '\\');
        uint64_t flags = w | (w - ones * 0x20) | (quote - ones) | (slash - ones);
        if (flags & highs)
            break;
        i += 8;
    }
    while (i < len && json_is_plain(text[i]))
        i++;
    return i;
}

/* An escape sequence at text[0] == '\\': its code point and length. False: malformed. */
bool laz_json_escape(const char *text, size_t len, uint32_t *code_point, size_t *consumed);

/* A double in JSON's notation, read and written without the process's locale. */
double laz_json_strtod(const char *text, size_t len);
void laz_json_format_double(struct laz_buf *buf, double value, bool keep_point);

/* Decodes the string whose opening quote is at text[0] into `out` (appended). Returns the bytes
 * consumed, quotes included; 0 when malformed. */
size_t laz_json_decode_string(const char *text, size_t len, struct laz_buf *out);
/* Length in bytes of the value at text[0], which may not begin with white space; 0 if malformed.
 * For scanned text: only nesting and strings are looked at. */
size_t laz_json_value_span(const char *text, size_t len);

/* What json_api.c puts into the table of lazaret/json.h; described there. */
struct laz_json_reader *laz_json_reader_new(const char *text, size_t len);
void laz_json_reader_free(struct laz_json_reader *reader);
uint32_t laz_json_reader_next(struct laz_json_reader *reader, struct laz_json_token *token);
uint32_t laz_json_reader_peek(struct laz_json_reader *reader);
const char *laz_json_reader_peek_tag(struct laz_json_reader *reader);
bool laz_json_reader_skip(struct laz_json_reader *reader, const char **raw, size_t *raw_len);
bool laz_json_reader_failed(const struct laz_json_reader *reader);
struct laz_json_writer *laz_json_writer_new(size_t limit);
void laz_json_writer_free(struct laz_json_writer *writer);
void laz_json_write_null(struct laz_json_writer *writer);
void laz_json_write_bool(struct laz_json_writer *writer, bool value);
void laz_json_write_int(struct laz_json_writer *writer, int64_t value);
void laz_json_write_double(struct laz_json_writer *writer, double value, bool keep_point);
void laz_json_write_string(struct laz_json_writer *writer, const char *text, size_t len);
void laz_json_write_bytes(struct laz_json_writer *writer, const void *data, size_t len);
void laz_json_write_raw(struct laz_json_writer *writer, const char *json, size_t len);
void laz_json_write_array_begin(struct laz_json_writer *writer);
void laz_json_write_array_end(struct laz_json_writer *writer);
void laz_json_write_object_begin(struct laz_json_writer *writer);
void laz_json_write_object_end(struct laz_json_writer *writer);
bool laz_json_write_key(struct laz_json_writer *writer, const char *text, size_t len);
const char *laz_json_writer_text(struct laz_json_writer *writer, size_t *len, bool *too_large);
bool laz_json_writer_failed(const struct laz_json_writer *writer);
void laz_json_writer_reset(struct laz_json_writer *writer);

#endif
