/* SPDX-License-Identifier: MIT */
/* json_write.c - writing one JSON document at the end of a buffer, front to back.
 *
 * Nothing is checked here: a caller that leaves an object open writes text that is not JSON, and
 * the tests of that caller say so. */
#include "base/json_write.h"

#include "base/json.h"

#include <inttypes.h>
#include <string.h>

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
    laz_buf_printf(write->to, "%" PRId64, value);
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
