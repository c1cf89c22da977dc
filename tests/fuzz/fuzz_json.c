/* SPDX-License-Identifier: MIT */
/* fuzz_json.c - JSON with any bytes: for text that the scan accepts, the reader reaches the end, a
 * tree can be made, compacting preserves it, and the writer writes the same values again; lists of
 * numbers are read alike one by one and together, strings in place and copied; rejected text has a
 * reason, and the reader still ends. */
#include "base/json.h"
#include "base/utf8.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool held)
{
    if (!held)
        abort();
}

/* Writes the token. */
static void write_token(struct laz_json_writer *writer, const struct laz_json_token *token)
{
    const struct laz_json_api *api = laz_json_api();

    switch (token->type) {
    case LAZ_JSON_NULL:
        api->write_null(writer);
        break;
    case LAZ_JSON_FALSE:
    case LAZ_JSON_TRUE:
        api->write_bool(writer, token->type == LAZ_JSON_TRUE);
        break;
    case LAZ_JSON_NUMBER:
        api->write_raw(writer, token->text, token->len);
        break;
    case LAZ_JSON_STRING:
        must(laz_utf8_is_valid(token->text, token->len) && !memchr(token->text, 0, token->len));
        api->write_string(writer, token->text, token->len);
        break;
    case LAZ_JSON_KEY:
        must(api->key(writer, token->text, token->len));
        break;
    case LAZ_JSON_ARRAY_BEGIN:
        api->array_begin(writer);
        break;
    case LAZ_JSON_ARRAY_END:
        api->array_end(writer);
        break;
    case LAZ_JSON_OBJECT_BEGIN:
        api->object_begin(writer);
        break;
    default:
        api->object_end(writer);
    }
}

/* Reads a valid text token by token and writes it again. */
static char *rewrite(const char *text, size_t len, size_t *out_len)
{
    const struct laz_json_api *api = laz_json_api();
    struct laz_json_reader *reader = api->reader_new(text, len);
    struct laz_json_writer *writer = api->writer_new(0);
    struct laz_json_token token;
    size_t steps = 0;

    must(reader && writer);
    for (;;) {
        uint32_t expected = api->peek(reader);
        api->peek_tag(reader);
        must(api->next(reader, &token) == expected && steps++ <= len);
        if (!token.type)
            break;
        write_token(writer, &token);
    }
    must(!api->reader_failed(reader));
    const char *written = api->writer_text(writer, out_len, NULL);
    must(written && laz_json_scan(written, *out_len, NULL) == 0);
    char *copy = laz_strndup(written, *out_len);
    must(copy != NULL);
    api->reader_free(reader);
    api->writer_free(writer);
    return copy;
}

/* Numbers that are read together are those that are read one by one. */
static void check_numbers(const char *text, size_t len)
{
    const struct laz_json_api *api = laz_json_api();
    struct laz_json_reader *one = api->reader_new(text, len), *many = api->reader_new(text, len);
    struct laz_json_number numbers[3];
    struct laz_json_token token, other;
    char whole[24];

    must(one && many);
    do {
        size_t n = api->next_numbers(many, numbers, 3);
        for (size_t i = 0; i < n; i++) {
            must(api->next(one, &token) == LAZ_JSON_NUMBER);
            double value = strtod(token.text, NULL);
            must(memcmp(&value, &numbers[i].value, sizeof value) == 0);
            must(numbers[i].is_whole == !strpbrk(token.text, ".eE"));
            snprintf(whole, sizeof whole, "%lld", (long long)numbers[i].whole);
            must(!numbers[i].is_whole || numbers[i].whole == 0 || strcmp(whole, token.text) == 0);
        }
        if (n == 3)
            continue;
        api->next(one, &token);
        must(api->next(many, &other) == token.type && other.len == token.len);
        must(memcmp(other.text, token.text, token.len) == 0);
    } while (token.type);
    must(!api->reader_failed(one) && !api->reader_failed(many));
    api->reader_free(one);
    api->reader_free(many);
}

/* Strings that stay where they are, are those that are copied, in text of any kind. */
static void check_in_place(const char *text, size_t len)
{
    const struct laz_json_api *api = laz_json_api();
    struct laz_json_reader *one = api->reader_new(text, len), *other = api->reader_new(text, len);
    struct laz_json_token token, in_place;

    must(one && other);
    do {
        api->next(one, &token);
        must(api->next_in_place(other, &in_place) == token.type && in_place.len == token.len);
        must(memcmp(in_place.text, token.text, token.len) == 0);
    } while (token.type);
    must(api->reader_failed(one) == api->reader_failed(other));
    api->reader_free(one);
    api->reader_free(other);
}

static void check_accepted(const char *text, size_t len)
{
    const struct laz_json_api *api = laz_json_api();
    struct laz_buf compact = LAZ_BUF_INIT, again = LAZ_BUF_INIT;
    size_t once_len, twice_len, compact_len, raw_len = 0;
    const char *raw;

    check_numbers(text, len);
    char *once = rewrite(text, len, &once_len);
    char *twice = rewrite(once, once_len, &twice_len);
    must(once_len == twice_len && memcmp(once, twice, once_len) == 0);
    must(laz_json_scan_compact(text, len, &compact, NULL) == 0);
    must(!compact.failed && laz_json_scan(compact.data, compact.len, NULL) == 0);
    must(!memchr(compact.data, '\n', compact.len));
    laz_json_compact(&again, compact.data, compact.len);
    must(again.len == compact.len && memcmp(again.data, compact.data, compact.len) == 0);
    char *same = rewrite(compact.data, compact.len, &compact_len);
    must(compact_len == once_len && memcmp(same, once, once_len) == 0);
    struct laz_json_reader *reader = api->reader_new(text, len);
    must(reader && api->skip(reader, &raw, &raw_len) && laz_json_scan(raw, raw_len, NULL) == 0);
    api->reader_free(reader);
    struct laz_json *tree = laz_json_parse(text, len, NULL);
    must(tree != NULL);
    laz_json_free(tree);
    free(once);
    free(twice);
    free(same);
    laz_buf_fini(&compact);
    laz_buf_fini(&again);
}

static void check_refused(const char *text, size_t len, const struct laz_error *err)
{
    const struct laz_json_api *api = laz_json_api();
    struct laz_json_reader *reader = api->reader_new(text, len);
    struct laz_json_token token;
    size_t steps = 0;

    must(err->code == LAZ_EPARSE && *err->text && reader);
    while (api->next(reader, &token))
        must(steps++ <= len);
    api->reader_free(reader);
    must(laz_json_parse(text, len, NULL) == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct laz_error err = {0};

    check_in_place(text, size);
    if (laz_json_scan(text, size, &err) == 0)
        check_accepted(text, size);
    else
        check_refused(text, size, &err);
    return 0;
}
