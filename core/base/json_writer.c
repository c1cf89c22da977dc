/* SPDX-License-Identifier: MIT */
/* json_writer.c - writing JSON text front to back, with a limit on its size.
 *
 * The writer sets commas, and writes what JSON cannot represent in the tagged forms of
 * lazaret/json.h, here for all runtimes.  After a failure (limit, memory, nesting) it writes
 * nothing more, so callers check for failure once, at the end. */
#include "base/json_writer.h"

#include "base/base64.h"
#include "base/json_lex.h"
#include "base/json_number.h"
#include "base/json_scan.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct laz_json_writer {
    struct laz_buf buf;
    size_t limit;
    size_t depth;
    bool comma; /* a value stands before, on this level */
    bool too_large;
    bool failed;
};

struct laz_json_writer *laz_json_writer_new(size_t limit)
{
    struct laz_json_writer *writer = calloc(1, sizeof *writer);

    if (writer)
        writer->limit = limit;
    return writer;
}

void laz_json_writer_free(struct laz_json_writer *writer)
{
    if (!writer)
        return;
    laz_buf_fini(&writer->buf);
    free(writer);
}

void laz_json_writer_reset(struct laz_json_writer *writer)
{
    size_t limit = writer->limit;
    struct laz_buf buf = writer->buf;

    laz_buf_clear(&buf);
    *writer = (struct laz_json_writer){.buf = buf, .limit = limit};
}

bool laz_json_writer_failed(const struct laz_json_writer *writer)
{
    return writer->failed || writer->buf.failed;
}

const char *laz_json_writer_text(struct laz_json_writer *writer, size_t *len, bool *too_large)
{
    if (too_large)
        *too_large = writer->too_large;
    laz_buf_append(&writer->buf, "", 0);
    if (laz_json_writer_failed(writer))
        return NULL;
    if (len)
        *len = writer->buf.len;
    return writer->buf.data;
}

/* Is there room for `len` more bytes under the limit? */
static bool writer_may(struct laz_json_writer *writer, size_t len)
{
    if (laz_json_writer_failed(writer))
        return false;
    if (writer->limit && (len > writer->limit || writer->buf.len > writer->limit - len)) {
        writer->too_large = true;
        writer->failed = true;
        return false;
    }
    return true;
}

/* Before a value of about `len` bytes. */
static bool writer_value(struct laz_json_writer *writer, size_t len)
{
    if (!writer_may(writer, len + 1))
        return false;
    if (writer->comma)
        laz_buf_putc(&writer->buf, ',');
    writer->comma = true;
    return true;
}

static void writer_word(struct laz_json_writer *writer, const char *text, size_t len)
{
    if (writer_value(writer, len))
        laz_buf_append(&writer->buf, text, len);
}

void laz_json_write_raw(struct laz_json_writer *writer, const char *json, size_t len)
{
    writer_word(writer, json, len);
}

void laz_json_write_null(struct laz_json_writer *writer)
{
    writer_word(writer, "null", 4);
}

void laz_json_write_bool(struct laz_json_writer *writer, bool value)
{
    writer_word(writer, value ? "true" : "false", value ? 4 : 5);
}

void laz_json_write_int(struct laz_json_writer *writer, int64_t value)
{
    const int64_t most = INT64_C(9007199254740992); /* 2^53 */
    char text[48];

    int n =
        snprintf(text, sizeof text,
                 value > most || value < -most ? "{\"$int\":\"%" PRId64 "\"}" : "%" PRId64, value);
    writer_word(writer, text, (size_t)n);
}

void laz_json_write_double(struct laz_json_writer *writer, double value, bool keep_point)
{
    if (isnan(value)) {
        writer_word(writer, "{\"$num\":\"NaN\"}", 14);
    } else if (isinf(value)) {
        writer_word(writer, value > 0 ? "{\"$num\":\"Inf\"}" : "{\"$num\":\"-Inf\"}",
                    value > 0 ? 14 : 15);
    } else if (writer_value(writer, 26)) {
        laz_json_format_double(&writer->buf, value, keep_point);
    }
}

/* Writes the escape of an ASCII character that is not plain; returns the position behind it. */
static inline char *quote_escape(char *to, char c)
{
    static const char hex[] = "0123456789abcdef";
    static const char letters[128] = {
        ['"'] = '"', ['\\'] = '\\', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};
    char letter = letters[(unsigned char)c];

    if (letter) {
        to[0] = '\\';
        to[1] = letter;
        return to + 2;
    }
    memcpy(to, "\\u00", 4);
    to[4] = hex[c >> 4];
    to[5] = hex[c & 15];
    return to + 6;
}

/* Writes the first character of `text`, which is not plain, and moves *to behind it. Returns how
 * many bytes of the text were used; each of them becomes up to six. */
static inline size_t quote_some(char **to, const char *text, size_t len)
{
    unsigned char c = (unsigned char)text[0];

    if (c && c < 0x80) {
        *to = quote_escape(*to, text[0]);
        return 1;
    }
    size_t n = c < 0xc2 || c > 0xf4 ? 0 : laz_utf8_span(text, len);
    if (!n) {
        memcpy(*to, "\xef\xbf\xbd", 3); /* U+FFFD */
        *to += 3;
        return 1;
    }
    memcpy(*to, text, n);
    *to += n;
    return n;
}

#define QUOTE_PIECE 1024 /* bytes; room is reserved for the longest form of each */

void laz_json_quote(struct laz_buf *buf, const char *text, size_t len)
{
    size_t i = 0;

    laz_buf_putc(buf, '"');
    while (i < len) {
        size_t end = len - i < QUOTE_PIECE ? len : i + QUOTE_PIECE;
        size_t whole = len - end < 3 ? len : end + 3; /* the last character may end there */
        if (!laz_buf_reserve(buf, 6 * (end - i)))
            return;
        char *to = buf->data + buf->len;
        while (i < end) {
            size_t n = json_plain_span(text + i, end - i);
            if (n)
                memcpy(to, text + i, n);
            to += n;
            i += n;
            while (i < end && !json_is_plain(text[i]))
                i += quote_some(&to, text + i, whole - i);
        }
        buf->len = (size_t)(to - buf->data);
    }
    laz_buf_putc(buf, '"');
}

void laz_json_write_string(struct laz_json_writer *writer, const char *text, size_t len)
{
    if (!laz_utf8_is_valid(text, len) || (len && memchr(text, 0, len))) {
        laz_json_write_bytes(writer, text, len);
        return;
    }
    if (!writer_value(writer, len + 2))
        return;
    laz_json_quote(&writer->buf, text, len);
    writer_may(writer, 0); /* escapes may have made it longer */
}

void laz_json_write_bytes(struct laz_json_writer *writer, const void *data, size_t len)
{
    if (!writer_value(writer, len / 3 * 4 + 16))
        return;
    laz_buf_puts(&writer->buf, "{\"$bytes\":\"");
    laz_base64_encode(&writer->buf, data, len);
    laz_buf_puts(&writer->buf, "\"}");
}

static void writer_open(struct laz_json_writer *writer, char c)
{
    if (writer->depth >= LAZ_JSON_MAX_DEPTH)
        writer->failed = true;
    if (!writer_value(writer, 2))
        return;
    laz_buf_putc(&writer->buf, c);
    writer->depth++;
    writer->comma = false;
}

static void writer_close(struct laz_json_writer *writer, char c)
{
    if (!writer_may(writer, 1))
        return;
    laz_buf_putc(&writer->buf, c);
    if (writer->depth)
        writer->depth--;
    writer->comma = true;
}

void laz_json_write_array_begin(struct laz_json_writer *writer)
{
    writer_open(writer, '[');
}

void laz_json_write_array_end(struct laz_json_writer *writer)
{
    writer_close(writer, ']');
}

void laz_json_write_object_begin(struct laz_json_writer *writer)
{
    writer_open(writer, '{');
}

void laz_json_write_object_end(struct laz_json_writer *writer)
{
    writer_close(writer, '}');
}

bool laz_json_write_key(struct laz_json_writer *writer, const char *text, size_t len)
{
    if (!laz_utf8_is_valid(text, len) || (len && memchr(text, 0, len)))
        return false;
    if (writer_value(writer, len + 3)) {
        laz_json_quote(&writer->buf, text, len);
        laz_buf_putc(&writer->buf, ':');
        writer->comma = false;
    }
    return true;
}

void laz_json_strings(struct laz_buf *buf, const struct laz_strv *strings)
{
    laz_buf_putc(buf, '[');
    for (size_t i = 0; i < strings->n; i++) {
        laz_buf_puts(buf, i ? "," : "");
        laz_json_quote(buf, strings->items[i], strlen(strings->items[i]));
    }
    laz_buf_putc(buf, ']');
}
