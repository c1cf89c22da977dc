/* SPDX-License-Identifier: MIT */
/* json_write.c - writing one JSON document at the end of a buffer, front to back.
 *
 * Nothing is checked here: a caller that leaves an object open writes text that is not JSON, and
 * the tests of that caller say so. */
#include "base/json_write.h"

#include "base/json_lex.h"
#include "base/json_number.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <string.h>

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
    size_t n = laz_utf8_span(text, len);
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

void laz_json_quote_from(struct laz_buf *buf, const char *text, size_t len, size_t plain)
{
    size_t i = plain;

    if (!laz_buf_reserve(buf, len + 2))
        return;
    laz_buf_putc(buf, '"');
    laz_buf_append(buf, text, plain);
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

void laz_json_quote(struct laz_buf *buf, const char *text, size_t len)
{
    laz_json_quote_from(buf, text, len, 0);
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

void laz_json_add_key(struct laz_json_write *write, const char *key)
{
    if (write->comma)
        laz_buf_puts(write->to, write->new_line ? ",\n " : ",");
    write->new_line = false;
    write->comma = true;
    if (!key)
        return;
    laz_json_quote(write->to, key, strlen(key));
    laz_buf_putc(write->to, ':');
}

static void write_open(struct laz_json_write *write, const char *key, char bracket)
{
    laz_json_add_key(write, key);
    laz_buf_putc(write->to, bracket);
    write->comma = false;
}

static void write_close(struct laz_json_write *write, char bracket)
{
    laz_buf_putc(write->to, bracket);
    write->comma = true;
}

void laz_json_begin_object(struct laz_json_write *write, const char *key)
{
    write_open(write, key, '{');
}

void laz_json_end_object(struct laz_json_write *write)
{
    write_close(write, '}');
}

void laz_json_begin_list(struct laz_json_write *write, const char *key)
{
    write_open(write, key, '[');
}

void laz_json_end_list(struct laz_json_write *write)
{
    write_close(write, ']');
}

void laz_json_add_bytes(struct laz_json_write *write, const char *key, const char *text, size_t len)
{
    laz_json_add_key(write, key);
    laz_json_quote(write->to, text, len);
}

void laz_json_add_text(struct laz_json_write *write, const char *key, const char *text)
{
    if (text)
        laz_json_add_bytes(write, key, text, strlen(text));
    else
        laz_json_add_null(write, key);
}

void laz_json_add_texts(struct laz_json_write *write, const char *key, const struct laz_strv *texts)
{
    laz_json_add_key(write, key);
    laz_json_strings(write->to, texts);
}

void laz_json_add_int(struct laz_json_write *write, const char *key, int64_t value)
{
    laz_json_add_key(write, key);
    laz_json_format_int(write->to, value);
}

void laz_json_add_uint(struct laz_json_write *write, const char *key, uint64_t value)
{
    laz_json_add_key(write, key);
    laz_buf_printf(write->to, "%" PRIu64, value);
}

void laz_json_add_bool(struct laz_json_write *write, const char *key, bool value)
{
    laz_json_add_key(write, key);
    laz_buf_puts(write->to, value ? "true" : "false");
}

void laz_json_add_null(struct laz_json_write *write, const char *key)
{
    laz_json_add_key(write, key);
    laz_buf_puts(write->to, "null");
}

void laz_json_add_raw(struct laz_json_write *write, const char *key, const char *json, size_t len)
{
    laz_json_add_key(write, key);
    laz_buf_append(write->to, json, len);
}

void laz_json_new_line(struct laz_json_write *write)
{
    write->new_line = true;
}
