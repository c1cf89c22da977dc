/* SPDX-License-Identifier: MIT */
/* json_plugin.c - the reader and the writer that plugins get (lazaret/json.h describes them).
 *
 * The reader pulls tokens one by one from text that was scanned before, so it need not validate it.
 * It still stops at anything that it does not understand, and reports that (reader_failed).  Its
 * state is the nesting, one byte a level, and what may come next.
 *
 * The writer sets commas, and writes what JSON cannot represent in the tagged forms of
 * lazaret/json.h, here for all runtimes.  After a failure (limit, memory, nesting) it writes
 * nothing more, so callers check for failure once, at the end. */
#include "base/json.h"

#include "base/base64.h"
#include "base/json_lex.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the reader ----------------------------------------------------------------------------- */

enum reader_state {
    READER_VALUE,       /* a value */
    READER_FIRST,       /* just after '[' or '{': a value or key, or the end of the container */
    READER_AFTER_COMMA, /* a key */
    READER_AFTER_VALUE, /* ',' or the end of the container */
    READER_DONE,
};

struct laz_json_reader {
    const char *text;
    size_t len;
    size_t at;
    enum reader_state state;
    size_t depth;
    char open[LAZ_JSON_MAX_DEPTH];
    bool failed;
    struct laz_buf string; /* the text of the last token */
};

static struct laz_json_reader *reader_new(const char *text, size_t len)
{
    struct laz_json_reader *reader = calloc(1, sizeof *reader);

    if (reader)
        *reader = (struct laz_json_reader){.text = text, .len = len};
    return reader;
}

static void reader_free(struct laz_json_reader *reader)
{
    if (!reader)
        return;
    laz_buf_fini(&reader->string);
    free(reader);
}

static uint32_t reader_fail(struct laz_json_reader *reader)
{
    reader->failed = true;
    reader->state = READER_DONE;
    return LAZ_JSON_END;
}

static void reader_space(struct laz_json_reader *reader)
{
    while (reader->at < reader->len && json_is_space(reader->text[reader->at]))
        reader->at++;
}

static bool reader_in_object(const struct laz_json_reader *reader)
{
    return reader->depth && reader->open[reader->depth - 1] == '{';
}

/* Moves to the first byte of the next token, over white space and one comma, and returns its type.
 * Another call has no further effect. */
static uint32_t reader_peek(struct laz_json_reader *reader)
{
    if (reader->state == READER_DONE)
        return LAZ_JSON_END;
    reader_space(reader);
    if (reader->at >= reader->len)
        return reader_fail(reader);
    char c = reader->text[reader->at];
    if (reader->state == READER_AFTER_VALUE && c == ',') {
        reader->at++;
        reader->state = reader_in_object(reader) ? READER_AFTER_COMMA : READER_VALUE;
        reader_space(reader);
        if (reader->at >= reader->len)
            return reader_fail(reader);
        c = reader->text[reader->at];
    }
    if (reader->state == READER_AFTER_VALUE || reader->state == READER_FIRST) {
        if (c == (reader_in_object(reader) ? '}' : ']'))
            return c == '}' ? LAZ_JSON_OBJECT_END : LAZ_JSON_ARRAY_END;
        if (reader->state == READER_AFTER_VALUE)
            return reader_fail(reader);
    }
    if (reader_in_object(reader) && reader->state != READER_VALUE)
        return c == '"' ? LAZ_JSON_KEY : reader_fail(reader);
    switch (c) {
    case '{':
        return LAZ_JSON_OBJECT_BEGIN;
    case '[':
        return LAZ_JSON_ARRAY_BEGIN;
    case '"':
        return LAZ_JSON_STRING;
    case 't':
        return LAZ_JSON_TRUE;
    case 'f':
        return LAZ_JSON_FALSE;
    case 'n':
        return LAZ_JSON_NULL;
    default:
        return c == '-' || (c >= '0' && c <= '9') ? LAZ_JSON_NUMBER : reader_fail(reader);
    }
}

static void reader_value_done(struct laz_json_reader *reader)
{
    reader->state = reader->depth ? READER_AFTER_VALUE : READER_DONE;
}

/* Reads the text of the next token, which it copies unless it may stay and has no escapes. */
static uint32_t reader_text(struct laz_json_reader *reader, struct laz_json_token *token,
                            uint32_t type, bool may_stay)
{
    size_t n;

    if (may_stay && type != LAZ_JSON_NUMBER) {
        n = laz_json_plain_string(reader->text + reader->at, reader->len - reader->at);
        if (n) {
            *token = (struct laz_json_token){type, reader->text + reader->at + 1, n - 2};
            reader->at += n;
            return type;
        }
    }
    laz_buf_clear(&reader->string);
    if (type == LAZ_JSON_NUMBER) {
        n = laz_json_value_span(reader->text + reader->at, reader->len - reader->at);
        laz_buf_append(&reader->string, reader->text + reader->at, n);
    } else {
        n = laz_json_decode_string(reader->text + reader->at, reader->len - reader->at,
                                   &reader->string);
    }
    if (!n || reader->string.failed)
        return reader_fail(reader);
    *token = (struct laz_json_token){type, reader->string.data, reader->string.len};
    reader->at += n;
    return type;
}

static uint32_t reader_word(struct laz_json_reader *reader, uint32_t type)
{
    static const char *const words[] = {
        [LAZ_JSON_NULL] = "null", [LAZ_JSON_FALSE] = "false", [LAZ_JSON_TRUE] = "true"};
    size_t n = strlen(words[type]);

    if (reader->len - reader->at < n || memcmp(reader->text + reader->at, words[type], n) != 0)
        return reader_fail(reader);
    reader->at += n;
    return type;
}

static uint32_t reader_take(struct laz_json_reader *reader, struct laz_json_token *token,
                            bool may_stay)
{
    uint32_t type = reader_peek(reader);

    *token = (struct laz_json_token){.text = ""};
    switch (type) {
    case LAZ_JSON_KEY:
        type = reader_text(reader, token, type, may_stay);
        reader_space(reader);
        if (type && (reader->at >= reader->len || reader->text[reader->at++] != ':'))
            type = reader_fail(reader);
        if (type)
            reader->state = READER_VALUE;
        break;
    case LAZ_JSON_OBJECT_BEGIN:
    case LAZ_JSON_ARRAY_BEGIN:
        if (reader->depth == LAZ_JSON_MAX_DEPTH) {
            type = reader_fail(reader);
            break;
        }
        reader->open[reader->depth++] = reader->text[reader->at++];
        reader->state = READER_FIRST;
        break;
    case LAZ_JSON_OBJECT_END:
    case LAZ_JSON_ARRAY_END:
        reader->at++;
        reader->depth--;
        reader_value_done(reader);
        break;
    case LAZ_JSON_STRING:
    case LAZ_JSON_NUMBER:
        type = reader_text(reader, token, type, may_stay);
        if (type)
            reader_value_done(reader);
        break;
    case LAZ_JSON_END:
        break;
    default:
        type = reader_word(reader, type);
        if (type)
            reader_value_done(reader);
    }
    if (!type)
        *token = (struct laz_json_token){.text = ""};
    token->type = type;
    return type;
}

static uint32_t reader_next(struct laz_json_reader *reader, struct laz_json_token *token)
{
    return reader_take(reader, token, false);
}

static uint32_t reader_next_in_place(struct laz_json_reader *reader, struct laz_json_token *token)
{
    return reader_take(reader, token, true);
}

static size_t reader_next_numbers(struct laz_json_reader *reader, struct laz_json_number *numbers,
                                  size_t max)
{
    size_t n = 0;

    if (!reader->depth || reader_in_object(reader))
        return 0;
    while (n < max && reader_peek(reader) == LAZ_JSON_NUMBER) {
        size_t len =
            laz_json_read_number(reader->text + reader->at, reader->len - reader->at, &numbers[n]);
        if (!len)
            break;
        reader->at += len;
        reader->state = READER_AFTER_VALUE;
        n++;
    }
    return n;
}

static bool reader_is_at_value(uint32_t type)
{
    return type != LAZ_JSON_END && type != LAZ_JSON_KEY && type != LAZ_JSON_ARRAY_END &&
           type != LAZ_JSON_OBJECT_END;
}

static const char *reader_peek_tag(struct laz_json_reader *reader)
{
    if (reader_peek(reader) != LAZ_JSON_OBJECT_BEGIN)
        return NULL;
    const char *p = reader->text + reader->at + 1;
    const char *end = reader->text + reader->len;
    while (p < end && json_is_space(*p))
        p++;
    if (end - p < 3 || p[0] != '"' || p[1] != '$')
        return NULL;
    laz_buf_clear(&reader->string);
    size_t n = laz_json_decode_string(p, (size_t)(end - p), &reader->string);
    if (reader->string.failed) /* without memory for the tag it would be an object like any */
        reader_fail(reader);
    if (!n || reader->string.failed)
        return NULL;
    p += n;
    while (p < end && (json_is_space(*p) || *p == ':'))
        p++;
    n = laz_json_value_span(p, (size_t)(end - p));
    if (!n)
        return NULL;
    p += n;
    while (p < end && json_is_space(*p))
        p++;
    return p < end && *p == '}' ? reader->string.data : NULL;
}

static bool reader_skip(struct laz_json_reader *reader, const char **raw, size_t *raw_len)
{
    if (!reader_is_at_value(reader_peek(reader)))
        return false;
    const char *start = reader->text + reader->at;
    size_t n = laz_json_value_span(start, reader->len - reader->at);
    if (!n) {
        reader_fail(reader);
        return false;
    }
    if (raw)
        *raw = start;
    if (raw_len)
        *raw_len = n;
    reader->at += n;
    reader_value_done(reader);
    return true;
}

static bool reader_failed(const struct laz_json_reader *reader)
{
    return reader->failed;
}

/* ---- the writer ----------------------------------------------------------------------------- */

struct laz_json_writer {
    struct laz_buf buf;
    size_t limit;
    size_t depth;
    bool comma; /* a value stands before, on this level */
    bool too_large;
    bool failed;
};

#define WRITER_KEPT ((size_t)256 << 10) /* of memory that a reset keeps for the next text */

static struct laz_json_writer *writer_new(size_t limit)
{
    struct laz_json_writer *writer = calloc(1, sizeof *writer);

    if (writer)
        writer->limit = limit;
    return writer;
}

static void writer_free(struct laz_json_writer *writer)
{
    if (!writer)
        return;
    laz_buf_fini(&writer->buf);
    free(writer);
}

static void writer_reset(struct laz_json_writer *writer)
{
    size_t limit = writer->limit;
    struct laz_buf buf = writer->buf;

    if (buf.cap > WRITER_KEPT)
        laz_buf_fini(&buf);
    laz_buf_clear(&buf);
    *writer = (struct laz_json_writer){.buf = buf, .limit = limit};
}

static bool writer_failed(const struct laz_json_writer *writer)
{
    return writer->failed || writer->buf.failed;
}

static const char *writer_text(struct laz_json_writer *writer, size_t *len, bool *too_large)
{
    if (too_large)
        *too_large = writer->too_large;
    laz_buf_append(&writer->buf, "", 0);
    if (writer_failed(writer))
        return NULL;
    if (len)
        *len = writer->buf.len;
    return writer->buf.data;
}

/* Is there room for `len` more bytes under the limit? */
static bool writer_may(struct laz_json_writer *writer, size_t len)
{
    if (writer_failed(writer))
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

static void write_raw(struct laz_json_writer *writer, const char *json, size_t len)
{
    if (writer_value(writer, len))
        laz_buf_append(&writer->buf, json, len);
}

static void write_null(struct laz_json_writer *writer)
{
    write_raw(writer, "null", 4);
}

static void write_bool(struct laz_json_writer *writer, bool value)
{
    write_raw(writer, value ? "true" : "false", value ? 4 : 5);
}

static void write_int(struct laz_json_writer *writer, int64_t value)
{
    const int64_t most = INT64_C(9007199254740992); /* 2^53 */
    char text[48];

    if (value > most || value < -most) {
        int n = snprintf(text, sizeof text, "{\"$int\":\"%" PRId64 "\"}", value);
        write_raw(writer, text, (size_t)n);
    } else if (writer_value(writer, 1)) {
        laz_json_format_int(&writer->buf, value);
        writer_may(writer, 0);
    }
}

static void write_double(struct laz_json_writer *writer, double value, bool keep_point)
{
    if (isnan(value)) {
        write_raw(writer, "{\"$num\":\"NaN\"}", 14);
    } else if (isinf(value)) {
        write_raw(writer, value > 0 ? "{\"$num\":\"Inf\"}" : "{\"$num\":\"-Inf\"}",
                  value > 0 ? 14 : 15);
    } else if (writer_value(writer, 26)) {
        laz_json_format_double(&writer->buf, value, keep_point);
    }
}

static void writer_doubles(struct laz_json_writer *writer, const double *values, size_t n,
                           bool keep_point)
{
    for (size_t i = 0; i < n && !writer_failed(writer); i++)
        write_double(writer, values[i], keep_point);
}

static void write_bytes(struct laz_json_writer *writer, const void *data, size_t len)
{
    if (!writer_value(writer, len / 3 * 4 + 16))
        return;
    laz_buf_puts(&writer->buf, "{\"$bytes\":\"");
    laz_base64_encode(&writer->buf, data, len);
    laz_buf_puts(&writer->buf, "\"}");
}

static void write_string(struct laz_json_writer *writer, const char *text, size_t len)
{
    const size_t plain = json_plain_span(text, len), rest = len - plain;

    if (rest && (!laz_utf8_is_valid(text + plain, rest) || memchr(text + plain, 0, rest))) {
        write_bytes(writer, text, len);
        return;
    }
    if (!writer_value(writer, len + 2))
        return;
    laz_json_quote_from(&writer->buf, text, len, plain);
    writer_may(writer, 0); /* escapes may have made it longer */
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

static void write_array_begin(struct laz_json_writer *writer)
{
    writer_open(writer, '[');
}

static void write_array_end(struct laz_json_writer *writer)
{
    writer_close(writer, ']');
}

static void write_object_begin(struct laz_json_writer *writer)
{
    writer_open(writer, '{');
}

static void write_object_end(struct laz_json_writer *writer)
{
    writer_close(writer, '}');
}

static bool write_key(struct laz_json_writer *writer, const char *text, size_t len)
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

/* ---- the table ------------------------------------------------------------------------------ */

static const struct laz_json_api json_api = {
    .size = sizeof json_api,
    .reader_new = reader_new,
    .reader_free = reader_free,
    .next = reader_next,
    .peek = reader_peek,
    .peek_tag = reader_peek_tag,
    .skip = reader_skip,
    .reader_failed = reader_failed,
    .writer_new = writer_new,
    .writer_free = writer_free,
    .write_null = write_null,
    .write_bool = write_bool,
    .write_int = write_int,
    .write_double = write_double,
    .write_string = write_string,
    .write_bytes = write_bytes,
    .write_raw = write_raw,
    .array_begin = write_array_begin,
    .array_end = write_array_end,
    .object_begin = write_object_begin,
    .object_end = write_object_end,
    .key = write_key,
    .writer_text = writer_text,
    .writer_failed = writer_failed,
    .writer_reset = writer_reset,
    .base64_decode = laz_base64_decode,
    .scan = laz_json_scan,
    .next_numbers = reader_next_numbers,
    .next_in_place = reader_next_in_place,
    .write_doubles = writer_doubles,
};

const struct laz_json_api *laz_json_api(void)
{
    return &json_api;
}
