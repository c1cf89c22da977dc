/* SPDX-License-Identifier: MIT */
/* json.c - the strict scan that every JSON text passes first, and trees by cJSON.
 * Side: host and agent.  Input trusted: no.
 *
 * The scan is one loop with a stack of its own: it cannot be driven into recursion, and what it
 * accepts cannot surprise the code behind it (see json.h for the list).  Repeated keys are found
 * per object by hashes of the decoded keys, in n log n.  cJSON never sees text that was not
 * scanned, and nothing but this file calls it. */
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

/* ---- scan ----------------------------------------------------------------------------------- */

struct scan_key {
    uint32_t hash;
    uint32_t len; /* bytes as written, between the quotes */
    size_t at;
};

struct scan {
    const char *text;
    size_t len;
    size_t at;
    const char *problem;
    struct scan_key *keys; /* of all open objects, innermost last */
    size_t n_keys, cap_keys;
    struct {
        bool object;
        size_t first_key;
    } stack[LAZ_JSON_MAX_DEPTH];
    size_t depth;
};

static bool scan_fail(struct scan *scan, const char *problem)
{
    if (!scan->problem)
        scan->problem = problem;
    return false;
}

static void scan_space(struct scan *scan)
{
    while (scan->at < scan->len && json_is_space(scan->text[scan->at]))
        scan->at++;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The four hex digits at text[0..3] as a number, -1 when they are not. */
static int hex_four(const char *text, size_t len)
{
    int value = 0;

    if (len < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(text[i]);
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* An escape sequence at text[0] == '\\': its code point and length. False: malformed. */
static bool lex_escape(const char *text, size_t len, uint32_t *code_point, size_t *consumed)
{
    static const char from[] = "\"\\/bfnrt";
    static const char to[] = "\"\\/\b\f\n\r\t";

    if (len < 2)
        return false;
    const char *found = text[1] ? strchr(from, text[1]) : NULL;
    if (found) {
        *code_point = (unsigned char)to[found - from];
        *consumed = 2;
        return true;
    }
    if (text[1] != 'u')
        return false;
    int high = hex_four(text + 2, len - 2);
    if (high < 0 || (high >= 0xdc00 && high <= 0xdfff))
        return false;
    *code_point = (uint32_t)high;
    *consumed = 6;
    if (high >= 0xd800) {
        if (high > 0xdbff)
            return true; /* 0xe000 and above */
        if (len < 12 || text[6] != '\\' || text[7] != 'u')
            return false;
        int low = hex_four(text + 8, len - 8);
        if (low < 0xdc00 || low > 0xdfff)
            return false;
        *code_point = 0x10000u + (((uint32_t)high - 0xd800u) << 10) + ((uint32_t)low - 0xdc00u);
        *consumed = 12;
    }
    return true;
}

/* A string whose opening quote is at `at`; leaves `at` after the closing one. */
static bool scan_string(struct scan *scan)
{
    size_t i = scan->at + 1;

    for (;;) {
        i += json_plain_span(scan->text + i, scan->len - i);
        if (i >= scan->len)
            return scan_fail(scan, "a string is not closed");
        unsigned char c = (unsigned char)scan->text[i];
        if (c == '"')
            break;
        scan->at = i;
        if (c == '\\') {
            uint32_t code_point;
            size_t n;
            if (!lex_escape(scan->text + i, scan->len - i, &code_point, &n))
                return scan_fail(scan, "an escape sequence is not valid");
            if (!code_point)
                return scan_fail(scan, "a string contains \\u0000");
            i += n;
        } else if (c >= 0x80) {
            size_t n = laz_utf8_sequence(scan->text + i, scan->len - i);
            if (!n)
                return scan_fail(scan, "a string is not valid UTF-8");
            i += n;
        } else {
            return scan_fail(scan, "a string contains a control character");
        }
    }
    scan->at = i + 1;
    return true;
}

static bool scan_number(struct scan *scan)
{
    const char *start = scan->text + scan->at;
    const char *end = scan->text + scan->len;
    const char *p = start;
    const char *digits;

    if (p < end && *p == '-')
        p++;
    digits = p;
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    if (p == digits || (*digits == '0' && p - digits > 1))
        return scan_fail(scan, "a number is not valid");
    bool check_range = p - digits > 300;
    if (p < end && *p == '.') {
        digits = ++p;
        while (p < end && *p >= '0' && *p <= '9')
            p++;
        if (p == digits)
            return scan_fail(scan, "a number is not valid");
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        check_range = true;
        p++;
        if (p < end && (*p == '+' || *p == '-'))
            p++;
        digits = p;
        while (p < end && *p >= '0' && *p <= '9')
            p++;
        if (p == digits)
            return scan_fail(scan, "a number is not valid");
    }
    if (check_range && !isfinite(laz_json_strtod(start, (size_t)(p - start))))
        return scan_fail(scan, "a number is out of range");
    scan->at += (size_t)(p - start);
    return true;
}

/* FNV-1a of the decoded key, so that "a" and "\u0061" are the same. */
static uint32_t key_hash(const char *text, size_t len)
{
    uint32_t hash = 2166136261u;
    size_t i = 0;

    while (i < len) {
        char bytes[4] = {text[i]};
        size_t n = 1, consumed = 1;
        if (text[i] == '\\') {
            uint32_t code_point = 0;
            if (!lex_escape(text + i, len - i, &code_point, &consumed))
                return 0;
            n = laz_utf8_encode(code_point, bytes);
        }
        for (size_t k = 0; k < n; k++)
            hash = (hash ^ (unsigned char)bytes[k]) * 16777619u;
        i += consumed;
    }
    return hash;
}

static int key_order(const void *a, const void *b)
{
    uint32_t x = ((const struct scan_key *)a)->hash;
    uint32_t y = ((const struct scan_key *)b)->hash;

    return x < y ? -1 : x > y;
}

static bool keys_equal(struct scan *scan, const struct scan_key *a, const struct scan_key *b)
{
    struct laz_buf x = LAZ_BUF_INIT, y = LAZ_BUF_INIT;

    laz_json_decode_string(scan->text + a->at, a->len + 2, &x);
    laz_json_decode_string(scan->text + b->at, b->len + 2, &y);
    bool equal = x.failed || y.failed ||
                 (x.len == y.len && memcmp(laz_buf_text(&x), laz_buf_text(&y), x.len) == 0);
    laz_buf_fini(&x);
    laz_buf_fini(&y);
    return equal;
}

static bool scan_add_key(struct scan *scan, size_t quote, size_t len)
{
    if (scan->n_keys == scan->cap_keys) {
        size_t cap = scan->cap_keys ? scan->cap_keys * 2 : 32;
        struct scan_key *keys = realloc(scan->keys, cap * sizeof *keys);
        if (!keys)
            return scan_fail(scan, "out of memory");
        scan->keys = keys;
        scan->cap_keys = cap;
    }
    if (len > UINT32_MAX - 2)
        return scan_fail(scan, "a key is too long");
    scan->keys[scan->n_keys++] =
        (struct scan_key){key_hash(scan->text + quote + 1, len), (uint32_t)len, quote};
    return true;
}

/* The innermost object ends: no two of its keys may be equal. */
static bool scan_close_object(struct scan *scan)
{
    size_t n = scan->n_keys - scan->stack[scan->depth - 1].first_key;

    if (n > 1) {
        struct scan_key *keys = scan->keys + scan->stack[scan->depth - 1].first_key;
        qsort(keys, n, sizeof *keys, key_order);
        for (size_t i = 0; i + 1 < n; i++)
            for (size_t k = i + 1; k < n && k < i + 64 && keys[k].hash == keys[i].hash; k++)
                if (keys_equal(scan, &keys[i], &keys[k]))
                    return scan_fail(scan, "a key is repeated");
        for (size_t i = 0; i + 64 < n; i++) /* equal hashes in such number are an attack */
            if (keys[i].hash == keys[i + 64].hash)
                return scan_fail(scan, "a key is repeated");
    }
    scan->n_keys = scan->stack[scan->depth - 1].first_key;
    return true;
}

static bool scan_key(struct scan *scan)
{
    scan_space(scan);
    size_t quote = scan->at;
    if (quote >= scan->len || scan->text[quote] != '"')
        return scan_fail(scan, "a key is expected");
    if (!scan_string(scan) || !scan_add_key(scan, quote, scan->at - quote - 2))
        return false;
    scan_space(scan);
    if (scan->at >= scan->len || scan->text[scan->at] != ':')
        return scan_fail(scan, "':' is expected");
    scan->at++;
    return true;
}

static bool scan_word(struct scan *scan, const char *word)
{
    size_t n = strlen(word);

    if (scan->len - scan->at < n || memcmp(scan->text + scan->at, word, n) != 0)
        return scan_fail(scan, "a value is expected");
    scan->at += n;
    return true;
}

/* A value that is no container, or the opening of one: *opened says which. */
static bool scan_value(struct scan *scan, bool *opened)
{
    *opened = false;
    scan_space(scan);
    if (scan->at >= scan->len)
        return scan_fail(scan, "a value is expected");
    char c = scan->text[scan->at];
    switch (c) {
    case '{':
    case '[':
        if (scan->depth == LAZ_JSON_MAX_DEPTH)
            return scan_fail(scan, "nested deeper than 64 levels");
        scan->stack[scan->depth].object = c == '{';
        scan->stack[scan->depth].first_key = scan->n_keys;
        scan->depth++;
        scan->at++;
        *opened = true;
        return true;
    case '"':
        return scan_string(scan);
    case 't':
        return scan_word(scan, "true");
    case 'f':
        return scan_word(scan, "false");
    case 'n':
        return scan_word(scan, "null");
    default:
        return scan_number(scan);
    }
}

/* After a value: closes what closes here; true with *more when another value follows. */
static bool scan_after(struct scan *scan, bool opened, bool *more)
{
    *more = true;
    for (;;) {
        if (!scan->depth) {
            *more = false;
            return true;
        }
        bool object = scan->stack[scan->depth - 1].object;
        scan_space(scan);
        if (scan->at >= scan->len)
            return scan_fail(scan, "the text ends inside a list or object");
        char c = scan->text[scan->at];
        if (c == (object ? '}' : ']')) {
            if (object && !scan_close_object(scan))
                return false;
            scan->at++;
            scan->depth--;
            opened = false;
            continue;
        }
        if (!opened) {
            if (c != ',')
                return scan_fail(scan, "',' or the end of a list or object is expected");
            scan->at++;
        }
        return object ? scan_key(scan) : true;
    }
}

int laz_json_scan(const char *text, size_t len, struct laz_error *err)
{
    struct scan scan = {.text = text, .len = len};
    bool more = true;

    while (more) {
        bool opened;
        if (!scan_value(&scan, &opened) || !scan_after(&scan, opened, &more))
            break;
    }
    if (!scan.problem) {
        scan_space(&scan);
        if (scan.at < len)
            scan.problem = "something follows the value";
    }
    free(scan.keys);
    if (scan.problem)
        return laz_error_set(err, LAZ_EPARSE, 0, "not valid JSON: %s (byte %zu)", scan.problem,
                             scan.at);
    return 0;
}

/* ---- pieces --------------------------------------------------------------------------------- */

size_t laz_json_decode_string(const char *text, size_t len, struct laz_buf *out)
{
    size_t i = 1;

    if (!len || text[0] != '"')
        return 0;
    while (i < len) {
        size_t n = json_plain_span(text + i, len - i);
        laz_buf_append(out, text + i, n);
        i += n;
        if (i >= len)
            break;
        if (text[i] == '"')
            return i + 1;
        if (text[i] == '\\') {
            uint32_t code_point;
            char bytes[4];
            if (!lex_escape(text + i, len - i, &code_point, &n))
                return 0;
            laz_buf_append(out, bytes, laz_utf8_encode(code_point, bytes));
        } else {
            n = laz_utf8_sequence(text + i, len - i);
            if (!n || (unsigned char)text[i] < 0x20)
                return 0;
            laz_buf_append(out, text + i, n);
        }
        i += n;
    }
    return 0;
}

static size_t string_span(const char *text, size_t len)
{
    for (size_t i = 1; i < len; i++) {
        i += json_plain_span(text + i, len - i);
        if (i >= len)
            return 0;
        if (text[i] == '"')
            return i + 1;
        if (text[i] == '\\')
            i++;
    }
    return 0;
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
            while (i < len && !strchr(",:]}\"[{ \t\r\n", text[i]))
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
