/* SPDX-License-Identifier: MIT */
/* json_text.c - pieces of JSON text: strings, values, items and members where they stand in it.
 * Side: host and agent.  Input trusted: no, but it was scanned or comes from a trusted side.
 *
 * So these functions do not validate it. They stay within its bounds whatever it is. */
#include "base/json_text.h"

#include "base/json_lex.h"
#include "base/utf8.h"

#include <string.h>

int laz_hex_digit(int c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The four hex digits at text[0..3] as a number; -1 if they are not hex digits. */
static int hex_four(const char *text, size_t len)
{
    int value = 0;

    if (len < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = laz_hex_digit(text[i]);
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

bool laz_json_escape(const char *text, size_t len, uint32_t *code_point, size_t *consumed)
{
    static const char letters[128] = {['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
                                      ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t'};

    if (len < 2)
        return false;
    unsigned char letter = (unsigned char)text[1];
    if (letter < sizeof letters && letters[letter]) {
        *code_point = (unsigned char)letters[letter];
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

/* How many bytes from the start are whole characters that stand for themselves; so a text in which
 * ASCII and other characters alternate is copied at once. */
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

size_t laz_json_plain_string(const char *text, size_t len)
{
    if (!len || text[0] != '"')
        return 0;
    const size_t n = 1 + text_span(text + 1, len - 1);
    return n < len && text[n] == '"' ? n + 1 : 0;
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

static size_t string_span(const char *text, size_t len)
{
    for (size_t i = 1; i < len;) {
        if (text[i] == '"')
            return i + 1;
        if (text[i] == '\\')
            i += 2;
        else
            i += json_quoted_span(text + i, len - i);
    }
    return 0;
}

/* Bytes before which a number or a word ends. */
static const bool span_ends_word[256] = {
    [','] = true, [':'] = true, ['['] = true,  [']'] = true,  ['{'] = true,  ['}'] = true,
    ['"'] = true, [' '] = true, ['\t'] = true, ['\n'] = true, ['\r'] = true,
};

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
        } else if (depth) {
            i += json_inner_span(text + i, len - i);
            continue;
        } else if (c == ',' || c == ':' || json_is_space(c)) {
            return 0;
        } else {
            while (i < len && !span_ends_word[(unsigned char)text[i]])
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

int laz_json_take_string(const char *raw, size_t len, char **string, size_t *string_len)
{
    struct laz_buf buf = LAZ_BUF_INIT;

    laz_buf_append(&buf, "", 0);
    bool taken = len && raw[0] == '"' && laz_json_decode_string(raw, len, &buf);
    if (buf.failed || !taken) {
        int rc = buf.failed ? LAZ_ENOMEM : LAZ_EPARSE;
        laz_buf_fini(&buf);
        return rc;
    }
    if (string_len)
        *string_len = buf.len;
    *string = laz_buf_steal(&buf);
    return 0;
}

char *laz_json_to_string(const char *raw, size_t len, size_t *string_len)
{
    char *string = NULL;

    return laz_json_take_string(raw, len, &string, string_len) ? NULL : string;
}

/* ---- items and members ---------------------------------------------------------------------- */

static void items_space(struct laz_json_items *items)
{
    while (items->at < items->end && json_is_space(*items->at))
        items->at++;
}

/* Behind a value: a comma, or the bracket that closes the container, behind which nothing stands.
 */
static void items_after(struct laz_json_items *items, char close)
{
    items_space(items);
    char c = '\0';
    if (items->at < items->end)
        c = *items->at++;
    items_space(items);
    items->failed = c == close ? items->at < items->end : c != ',';
    if (c == close || items->failed)
        items->at = NULL;
}

static struct laz_json_items items_begin(const char *text, size_t len, char open, char close)
{
    struct laz_json_items items = {text, text + len, false};

    items_space(&items);
    if (items.at == items.end || *items.at++ != open)
        return (struct laz_json_items){.failed = true};
    items_space(&items);
    if (items.at < items.end && *items.at == close)
        items_after(&items, close);
    return items;
}

/* The value at `at`, which is behind it afterwards. */
static bool items_value(struct laz_json_items *items, const char **raw, size_t *len)
{
    items_space(items);
    *raw = items->at;
    *len = laz_json_value_span(items->at, (size_t)(items->end - items->at));
    items->at += *len;
    return *len > 0;
}

/* The key at `at` and its colon. */
static bool items_key(struct laz_json_items *items, struct laz_json_found *found)
{
    const char *raw;
    size_t len;

    if (items->at == items->end || *items->at != '"' || !items_value(items, &raw, &len))
        return false;
    found->key = raw + 1;
    found->key_len = len - 2;
    items_space(items);
    return items->at < items->end && *items->at++ == ':';
}

static bool items_next(struct laz_json_items *items, bool good, char close)
{
    if (good)
        items_after(items, close);
    else
        *items = (struct laz_json_items){.failed = true};
    return !items->failed;
}

struct laz_json_items laz_json_items(const char *text, size_t len)
{
    return items_begin(text, len, '[', ']');
}

bool laz_json_next_item(struct laz_json_items *items, const char **raw, size_t *len)
{
    return items->at && items_next(items, items_value(items, raw, len), ']');
}

struct laz_json_items laz_json_members(const char *text, size_t len)
{
    return items_begin(text, len, '{', '}');
}

bool laz_json_next_member(struct laz_json_items *items, struct laz_json_found *found)
{
    return items->at &&
           items_next(items,
                      items_key(items, found) && items_value(items, &found->raw, &found->len), '}');
}

bool laz_json_find_members(const char *text, size_t len, struct laz_json_found *found, size_t max,
                           size_t *n)
{
    struct laz_json_items members = laz_json_members(text, len);
    struct laz_json_found one;

    for (*n = 0; laz_json_next_member(&members, &one); ++*n)
        if (*n < max)
            found[*n] = one;
    return !members.failed;
}

bool laz_json_member(const char *object, size_t len, const char *key, const char **raw,
                     size_t *raw_len)
{
    struct laz_json_items members = laz_json_members(object, len);
    struct laz_json_found one;

    while (laz_json_next_member(&members, &one))
        if (laz_json_found_is(&one, key)) {
            *raw = one.raw;
            *raw_len = one.len;
            return true;
        }
    return false;
}

bool laz_json_found_is(const struct laz_json_found *found, const char *name)
{
    const char *at = found->key, *end = at + found->key_len;

    while (at < end && *name) {
        uint32_t c = (unsigned char)*at;
        char bytes[4] = {*at};
        size_t n = 1, len = 1;
        if (c == '\\' && !laz_json_escape(at, (size_t)(end - at), &c, &n))
            return false;
        if (n > 1 && !(len = laz_utf8_encode(c, bytes)))
            return false;
        if (strncmp(name, bytes, len) != 0)
            return false;
        at += n;
        name += len;
    }
    return at == end && !*name;
}
