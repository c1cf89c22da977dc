/* SPDX-License-Identifier: MIT */
/* json.c - numbers, pieces of scanned JSON text, and trees by cJSON.
 * Side: host and agent.  Input trusted: no.
 *
 * cJSON never sees text that was not scanned (json_scan.c), and nothing but this file calls it. */
#include "base/json.h"

#include "base/json_lex.h"
#include "base/utf8.h"

#include <cJSON.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_XLOCALE_H
#include <xlocale.h>
#endif

/* ---- numbers -------------------------------------------------------------------------------- */

/* All of `text` as a number, whatever the locale of the application has for a decimal point. */
static double number_read(char *text)
{
#ifdef HAVE_NEWLOCALE
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* glibc: a constant, no memory */
    double value = c_locale ? strtod_l(text, NULL, c_locale) : strtod(text, NULL);
    if (c_locale)
        freelocale(c_locale);
    return value;
#else
    char *end, *point = strchr(text, '.');
    double value = strtod(text, &end);
    if (*end && point) {
        *point = localeconv()->decimal_point[0];
        value = strtod(text, NULL);
    }
    return value;
#endif
}

double laz_json_strtod(const char *text, size_t len)
{
    char copy[512];
    char *big = NULL;
    char *use = copy;

    if (len >= sizeof copy) {
        big = laz_strndup(text, len);
        if (!big)
            return NAN;
        use = big;
    } else {
        memcpy(copy, text, len);
        copy[len] = '\0';
    }
    double value = number_read(use);
    free(big);
    return value;
}

void laz_json_format_double(struct laz_buf *buf, double value, bool keep_point)
{
    char text[64];
    size_t n = 0;

    if (fabs(value) < 1e15 && value == floor(value)) {
        n = (size_t)snprintf(text, sizeof text, value == 0 && signbit(value) ? "-%.0f" : "%.0f",
                             value == 0 ? 0.0 : value);
    } else {
        for (int digits = 15; digits <= 17; digits++) {
            n = (size_t)snprintf(text, sizeof text, "%.*g", digits, value);
            for (size_t i = 0; i < n; i++) /* the locale's decimal point */
                if (!strchr("+-0123456789e.", text[i]))
                    text[i] = '.';
            if (digits == 17 || laz_json_strtod(text, n) == value)
                break;
        }
    }
    laz_buf_append(buf, text, n);
    if (keep_point && !strpbrk(text, ".e"))
        laz_buf_puts(buf, ".0");
}

/* ---- pieces --------------------------------------------------------------------------------- */

/* How many bytes from the start stand for themselves: whole characters. */
static size_t text_span(const char *text, size_t len)
{
    size_t i = 0;

    while (i < len) {
        size_t n = (unsigned char)text[i] < 0x80 ? json_plain_span(text + i, len - i)
                                                 : laz_utf8_span(text + i, len - i);
        if (!n)
            break;
        i += n;
    }
    return i;
}

size_t laz_json_decode_string(const char *text, size_t len, struct laz_buf *out)
{
    size_t i = 1;

    if (!len || text[0] != '"')
        return 0;
    while (i < len && text[i] != '"') {
        uint32_t code_point;
        size_t n;
        if (text[i] != '\\') {
            n = text_span(text + i, len - i);
            if (!n)
                return 0;
            laz_buf_append(out, text + i, n);
        } else {
            if (!laz_json_escape(text + i, len - i, &code_point, &n) || !laz_buf_reserve(out, 4))
                return 0;
            out->len += laz_utf8_encode(code_point, out->data + out->len);
        }
        i += n;
    }
    laz_buf_append(out, "", 0);
    return i < len ? i + 1 : 0;
}

/* How many bytes from the start are neither '"' nor '\\'; see json_plain_span. */
static inline size_t quoted_span(const char *text, size_t len)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t highs = UINT64_C(0x8080808080808080);
    size_t i = 0;

    for (; len - i >= 8; i += 8) {
        uint64_t w;
        memcpy(&w, text + i, 8);
        uint64_t quote = w ^ (ones * '"');
        uint64_t slash = w ^ (ones * '\\');
        if ((((quote - ones) & ~quote) | ((slash - ones) & ~slash)) & highs)
            break;
    }
    while (i < len && text[i] != '"' && text[i] != '\\')
        i++;
    return i;
}

static size_t string_span(const char *text, size_t len)
{
    for (size_t i = 1; i < len;) {
        if (text[i] == '"')
            return i + 1;
        if (text[i] == '\\')
            i += 2;
        else
            i += quoted_span(text + i, len - i);
    }
    return 0;
}

/* Does a number or a word end before `c`? */
static bool span_ends_word(char c)
{
    switch (c) {
    case ',':
    case ':':
    case ']':
    case '}':
    case '"':
    case '[':
    case '{':
        return true;
    default:
        return json_is_space(c);
    }
}

size_t laz_json_value_span(const char *text, size_t len)
{
    size_t depth = 0;
    size_t i = 0;

    while (i < len) {
        char c = text[i];
        if (c == '"') {
            size_t n = string_span(text + i, len - i);
            if (!n)
                return 0;
            i += n;
        } else if (c == '{' || c == '[') {
            depth++;
            i++;
            continue;
        } else if (c == '}' || c == ']') {
            if (!depth)
                return 0;
            depth--;
            i++;
        } else if (c == ',' || c == ':' || json_is_space(c)) {
            if (!depth)
                return 0;
            i++;
            continue;
        } else {
            while (i < len && !span_ends_word(text[i]))
                i++;
        }
        if (!depth)
            return i;
    }
    return 0;
}

void laz_json_compact(struct laz_buf *buf, const char *text, size_t len)
{
    size_t i = 0;

    if (!laz_buf_reserve(buf, len))
        return;
    while (i < len) {
        size_t start = i;
        if (text[i] == '"') {
            size_t n = string_span(text + i, len - i);
            i += n ? n : len - i;
        } else {
            while (i < len && text[i] != '"' && !json_is_space(text[i]))
                i++;
        }
        laz_buf_append(buf, text + start, i - start);
        while (i < len && json_is_space(text[i]))
            i++;
    }
}

bool laz_json_member(const char *object, size_t len, const char *key, const char **raw,
                     size_t *raw_len)
{
    const struct laz_json_api *api = laz_json_api();
    struct laz_json_reader *reader = api->reader_new(object, len);
    struct laz_json_token token;
    bool found = false;

    if (!reader)
        return false;
    if (api->next(reader, &token) == LAZ_JSON_OBJECT_BEGIN) {
        while (!found && api->next(reader, &token) == LAZ_JSON_KEY) {
            found = strcmp(token.text, key) == 0;
            if (!api->skip(reader, raw, raw_len))
                found = false;
        }
    }
    api->reader_free(reader);
    return found;
}

bool laz_json_to_bool(const char *raw, size_t len, bool *value)
{
    if (len == 4 && memcmp(raw, "true", 4) == 0)
        *value = true;
    else if (len == 5 && memcmp(raw, "false", 5) == 0)
        *value = false;
    else
        return false;
    return true;
}

bool laz_json_to_double(const char *raw, size_t len, double *value)
{
    if (!len || !(raw[0] == '-' || (raw[0] >= '0' && raw[0] <= '9')))
        return false;
    *value = laz_json_strtod(raw, len);
    return true;
}

char *laz_json_to_string(const char *raw, size_t len, size_t *string_len)
{
    struct laz_buf buf = LAZ_BUF_INIT;

    laz_buf_append(&buf, "", 0);
    if (!len || raw[0] != '"' || !laz_json_decode_string(raw, len, &buf)) {
        laz_buf_fini(&buf);
        return NULL;
    }
    if (string_len)
        *string_len = buf.len;
    return laz_buf_steal(&buf);
}

/* ---- trees ---------------------------------------------------------------------------------- */

/* struct laz_json is never defined: a node is a cJSON. */
static const cJSON *tree_node(const struct laz_json *node)
{
    return (const cJSON *)(const void *)node;
}

struct laz_json *laz_json_parse(const char *text, size_t len, struct laz_error *err)
{
    if (laz_json_scan(text, len, err))
        return NULL;
    cJSON *root = cJSON_ParseWithLength(text, len);
    if (!root)
        laz_error_nomem(err);
    return (struct laz_json *)(void *)root;
}

void laz_json_free(struct laz_json *root)
{
    cJSON_Delete((cJSON *)(void *)root);
}

uint32_t laz_json_type(const struct laz_json *node)
{
    const cJSON *item = tree_node(node);

    if (cJSON_IsObject(item))
        return LAZ_JSON_OBJECT_BEGIN;
    if (cJSON_IsArray(item))
        return LAZ_JSON_ARRAY_BEGIN;
    if (cJSON_IsString(item))
        return LAZ_JSON_STRING;
    if (cJSON_IsNumber(item))
        return LAZ_JSON_NUMBER;
    if (cJSON_IsBool(item))
        return cJSON_IsTrue(item) ? LAZ_JSON_TRUE : LAZ_JSON_FALSE;
    return item ? LAZ_JSON_NULL : LAZ_JSON_END;
}

const struct laz_json *laz_json_get(const struct laz_json *object, const char *key)
{
    return (const struct laz_json *)(const void *)cJSON_GetObjectItemCaseSensitive(
        tree_node(object), key);
}

const struct laz_json *laz_json_first(const struct laz_json *container)
{
    return container ? (const struct laz_json *)(const void *)tree_node(container)->child : NULL;
}

const struct laz_json *laz_json_next(const struct laz_json *node)
{
    return node ? (const struct laz_json *)(const void *)tree_node(node)->next : NULL;
}

const char *laz_json_key(const struct laz_json *node)
{
    return node ? tree_node(node)->string : NULL;
}

const char *laz_json_string(const struct laz_json *node)
{
    return cJSON_GetStringValue(tree_node(node));
}

double laz_json_number(const struct laz_json *node)
{
    return cJSON_IsNumber(tree_node(node)) ? tree_node(node)->valuedouble : 0;
}

bool laz_json_is_true(const struct laz_json *node)
{
    return cJSON_IsTrue(tree_node(node));
}
