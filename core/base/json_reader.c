/* SPDX-License-Identifier: MIT */
/* json_reader.c - a pull reader over scanned JSON text: tokens one by one, no tree.
 *
 * The text was scanned before, so the reader need not validate it.  It still stops at anything that
 * it does not understand, and reports that (laz_json_reader_failed).  Its state is the nesting, one
 * byte a level, and what may come next. */
#include "base/json_reader.h"

#include "base/json_lex.h"
#include "base/json_scan.h"
#include "base/json_text.h"

#include <stdlib.h>
#include <string.h>

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

struct laz_json_reader *laz_json_reader_new(const char *text, size_t len)
{
    struct laz_json_reader *reader = calloc(1, sizeof *reader);

    if (reader) {
        reader->text = text;
        reader->len = len;
    }
    return reader;
}

void laz_json_reader_free(struct laz_json_reader *reader)
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
uint32_t laz_json_reader_peek(struct laz_json_reader *reader)
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

static uint32_t reader_text(struct laz_json_reader *reader, uint32_t type)
{
    size_t n;

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

uint32_t laz_json_reader_next(struct laz_json_reader *reader, struct laz_json_token *token)
{
    uint32_t type = laz_json_reader_peek(reader);

    switch (type) {
    case LAZ_JSON_KEY:
        type = reader_text(reader, type);
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
        type = reader_text(reader, type);
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
    bool has_text = type == LAZ_JSON_KEY || type == LAZ_JSON_STRING || type == LAZ_JSON_NUMBER;
    *token = (struct laz_json_token){type, has_text ? reader->string.data : "",
                                     has_text ? reader->string.len : 0};
    return type;
}

static bool reader_is_at_value(uint32_t type)
{
    return type != LAZ_JSON_END && type != LAZ_JSON_KEY && type != LAZ_JSON_ARRAY_END &&
           type != LAZ_JSON_OBJECT_END;
}

const char *laz_json_reader_peek_tag(struct laz_json_reader *reader)
{
    if (laz_json_reader_peek(reader) != LAZ_JSON_OBJECT_BEGIN)
        return NULL;
    const char *p = reader->text + reader->at + 1;
    const char *end = reader->text + reader->len;
    while (p < end && json_is_space(*p))
        p++;
    if (end - p < 3 || p[0] != '"' || p[1] != '$')
        return NULL;
    laz_buf_clear(&reader->string);
    size_t n = laz_json_decode_string(p, (size_t)(end - p), &reader->string);
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

bool laz_json_reader_skip(struct laz_json_reader *reader, const char **raw, size_t *raw_len)
{
    if (!reader_is_at_value(laz_json_reader_peek(reader)))
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

bool laz_json_reader_failed(const struct laz_json_reader *reader)
{
    return reader->failed;
}
