/* SPDX-License-Identifier: MIT */
/* jsonc.c - JSON with comments and last commas: one recursive reader, which keeps positions.
 * Side: host.  Input trusted: no (a project's files may come from anybody).
 *
 * Values off the path are read for their syntax only.  Recursion is bounded by LAZ_JSONC_MAX_DEPTH.
 * Nothing is allocated, and each byte is read a bounded number of times. */
#include "base/jsonc.h"

#include "base/json_lex.h"
#include "base/json_text.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

struct jsonc {
    const char *text;
    size_t len, at;
    const char *const *path;
    size_t n;
    struct laz_jsonc_place *places;
    struct laz_error *err;
};

#define OFF_PATH SIZE_MAX

void laz_jsonc_position(const char *text, size_t at, unsigned *line, unsigned *column)
{
    *line = *column = 1;
    for (size_t i = at >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; i < at; i++) {
        if (text[i] == '\n') {
            ++*line;
            *column = 1;
        } else if (((unsigned char)text[i] & 0xc0) != 0x80) {
            ++*column;
        }
    }
}

/* ---- errors ---------------------------------------------------------------------------------- */

static int jsonc_wrong(struct jsonc *jsonc, size_t at, const char *what)
{
    unsigned line, column;

    laz_jsonc_position(jsonc->text, at, &line, &column);
    return laz_error_set(jsonc->err, LAZ_EPARSE, 0, "%u:%u: %s", line, column, what);
}

/* `what`: what was expected here. */
static int jsonc_expected(struct jsonc *jsonc, const char *what)
{
    const char *here = jsonc->text + jsonc->at;
    unsigned char c = jsonc->at < jsonc->len ? (unsigned char)*here : 0;
    char found[16], sentence[160];

    if (jsonc->at >= jsonc->len)
        snprintf(found, sizeof found, "the end");
    else if (c < 0x20 || c == 0x7f)
        snprintf(found, sizeof found, "U+%04X", c);
    else
        snprintf(found, sizeof found, "'%.*s'",
                 (int)laz_utf8_sequence(here, jsonc->len - jsonc->at), here);
    snprintf(sentence, sizeof sentence, "expected %s, found %s", what,
             c == '\n' || c == '\r' ? "the end of the line" : found);
    return jsonc_wrong(jsonc, jsonc->at, sentence);
}

/* ---- between the tokens ---------------------------------------------------------------------- */

/* Where the comment that begins here ends; `at` when none begins, or it does not end. A line's end
 * is not a part of it. */
static size_t jsonc_comment(const char *text, size_t len, size_t at)
{
    if (len - at < 2 || text[at] != '/')
        return at;
    if (text[at + 1] == '/') {
        const char *end = memchr(text + at, '\n', len - at);
        size_t to = end ? (size_t)(end - text) : len;
        return end && text[to - 1] == '\r' ? to - 1 : to;
    }
    for (size_t i = at + 2; text[at + 1] == '*' && i + 1 < len; i++)
        if (text[i] == '*' && text[i + 1] == '/')
            return i + 2;
    return at;
}

size_t laz_jsonc_gap(const char *text, size_t len, size_t at, size_t *comment_to)
{
    for (;;) {
        while (at < len && json_is_space(text[at]))
            at++;
        size_t to = at < len ? jsonc_comment(text, len, at) : at;
        if (to == at)
            return at;
        at = to;
        if (comment_to)
            *comment_to = to;
    }
}

/* ---- values ---------------------------------------------------------------------------------- */

static int jsonc_string(struct jsonc *jsonc)
{
    size_t i = jsonc->at + 1;

    for (;;) {
        i += json_plain_span(jsonc->text + i, jsonc->len - i);
        if (i < jsonc->len && jsonc->text[i] == '"')
            break;
        unsigned char c = i < jsonc->len ? (unsigned char)jsonc->text[i] : '\n';
        size_t n = c >= 0x80 ? laz_utf8_span(jsonc->text + i, jsonc->len - i) : 0;
        uint32_t code_point;
        if (c == '\n' || c == '\r')
            return jsonc_wrong(jsonc, jsonc->at, "the string that begins here does not end");
        if (!n && c != '\\')
            return jsonc_wrong(jsonc, i, "a string may not contain this control character");
        if (!n && !laz_json_escape(jsonc->text + i, jsonc->len - i, &code_point, &n))
            return jsonc_wrong(jsonc, i, "this is not an escape sequence of JSON");
        i += n;
    }
    jsonc->at = i + 1;
    return 0;
}

static int jsonc_number(struct jsonc *jsonc)
{
    bool has_exponent;
    const size_t n =
        json_number_span(jsonc->text + jsonc->at, jsonc->len - jsonc->at, &has_exponent);

    jsonc->at += n;
    return n ? 0 : jsonc_wrong(jsonc, jsonc->at, "this is not a number of JSON");
}

static int jsonc_word(struct jsonc *jsonc)
{
    static const char *const words[] = {"true", "false", "null"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i]);
        if (jsonc->len - jsonc->at >= n && memcmp(jsonc->text + jsonc->at, words[i], n) == 0) {
            jsonc->at += n;
            return 0;
        }
    }
    return jsonc_expected(jsonc, "a value");
}

static int jsonc_value(struct jsonc *jsonc, size_t level, size_t depth);

/* Reads the value of a member of `object`, whose key begins at `key`. */
static int jsonc_member(struct jsonc *jsonc, size_t key, size_t level, size_t depth)
{
    const struct laz_json_found found = {.key = jsonc->text + key + 1,
                                         .key_len = jsonc->at - key - 2};
    size_t below =
        level < jsonc->n && laz_json_found_is(&found, jsonc->path[level]) ? level + 1 : OFF_PATH;

    jsonc->at = laz_jsonc_gap(jsonc->text, jsonc->len, jsonc->at, NULL);
    if (jsonc->at >= jsonc->len || jsonc->text[jsonc->at] != ':')
        return jsonc_expected(jsonc, "':' after the key");
    jsonc->at = laz_jsonc_gap(jsonc->text, jsonc->len, jsonc->at + 1, NULL);
    if (below != OFF_PATH && jsonc->places[below].found)
        return jsonc_wrong(jsonc, key, "this key is there a second time; remove one of the two");
    int rc = jsonc_value(jsonc, below, depth);
    if (!rc && below != OFF_PATH)
        jsonc->places[below].key = key;
    return rc;
}

/* Reads the items up to the closing bracket, which is behind the cursor then. `place`: of an object
 * on the path, else what is not used. */
static int jsonc_items(struct jsonc *jsonc, size_t level, size_t depth,
                       struct laz_jsonc_place *place)
{
    const bool is_object = jsonc->text[jsonc->at] == '{';
    const char close = is_object ? '}' : ']';
    int rc = 0;

    jsonc->at++;
    for (;;) {
        jsonc->at = laz_jsonc_gap(jsonc->text, jsonc->len, jsonc->at, &place->comments_to);
        char c = jsonc->at < jsonc->len ? jsonc->text[jsonc->at] : '\0';
        if (c == close)
            break;
        if (place->n && !place->comma_to)
            return jsonc_expected(jsonc, is_object ? "',' or '}'" : "',' or ']'");
        if (is_object && c != '"')
            return jsonc_expected(jsonc, "a key in double quotes, or '}'");
        place->last_key = jsonc->at;
        if (is_object)
            rc = jsonc_string(jsonc);
        if (!rc)
            rc = is_object ? jsonc_member(jsonc, place->last_key, level, depth + 1)
                           : jsonc_value(jsonc, OFF_PATH, depth + 1);
        if (rc)
            return rc;
        place->n++;
        place->last_to = jsonc->at;
        place->comma_to = 0;
        jsonc->at = laz_jsonc_gap(jsonc->text, jsonc->len, jsonc->at, &place->comments_to);
        if (jsonc->at < jsonc->len && jsonc->text[jsonc->at] == ',')
            place->comma_to = ++jsonc->at;
    }
    jsonc->at++;
    return 0;
}

/* Reads the value at the cursor; `level`: which place it is, or OFF_PATH. */
static int jsonc_value(struct jsonc *jsonc, size_t level, size_t depth)
{
    struct laz_jsonc_place place = {.found = true, .from = jsonc->at};
    char c = jsonc->at < jsonc->len ? jsonc->text[jsonc->at] : '\0';
    int rc;

    if (depth > LAZ_JSONC_MAX_DEPTH)
        return jsonc_wrong(jsonc, jsonc->at, "values are nested more than 64 deep");
    place.is_object = c == '{';
    if (c == '{' || c == '[')
        rc = jsonc_items(jsonc, place.is_object ? level : OFF_PATH, depth, &place);
    else if (c == '"')
        rc = jsonc_string(jsonc);
    else if (c == '-' || (c >= '0' && c <= '9'))
        rc = jsonc_number(jsonc);
    else
        rc = jsonc_word(jsonc);
    place.to = jsonc->at;
    if (!rc && level != OFF_PATH)
        jsonc->places[level] = place;
    return rc;
}

/* ---- the whole text -------------------------------------------------------------------------- */

static int jsonc_encoding(struct jsonc *jsonc)
{
    const char *text = jsonc->text;
    size_t at = 0;

    if (jsonc->len >= 2 && (!memcmp(text, "\xff\xfe", 2) || !memcmp(text, "\xfe\xff", 2)))
        return jsonc_wrong(jsonc, 0, "the text is UTF-16; save it as UTF-8");
    if (laz_utf8_is_valid(text, jsonc->len))
        return 0;
    for (size_t n; (n = laz_utf8_sequence(text + at, jsonc->len - at)) != 0;)
        at += n;
    return jsonc_wrong(jsonc, at, "this byte is not UTF-8");
}

int laz_jsonc_find(const char *text, size_t len, const char *const *path, size_t n,
                   struct laz_jsonc_place *places, struct laz_error *err)
{
    struct jsonc jsonc = {
        .text = text, .len = len, .path = path, .n = n, .places = places, .err = err};

    memset(places, 0, (n + 1) * sizeof *places);
    int rc = jsonc_encoding(&jsonc);
    if (rc)
        return rc;
    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        jsonc.at = 3;
    jsonc.at = laz_jsonc_gap(text, len, jsonc.at, NULL);
    if (jsonc.at == len)
        return 0;
    rc = jsonc_value(&jsonc, 0, 0);
    if (rc)
        return rc;
    jsonc.at = laz_jsonc_gap(text, len, jsonc.at, NULL);
    return jsonc.at == len ? 0 : jsonc_expected(&jsonc, "nothing after the value");
}

void laz_jsonc_plain(struct laz_buf *buf, const char *text, size_t len)
{
    for (size_t at = laz_jsonc_gap(text, len, 0, NULL); at < len;) {
        size_t n = text[at] == '"' ? laz_json_value_span(text + at, len - at) : 1;
        size_t next = laz_jsonc_gap(text, len, at + n, NULL);
        bool is_last = text[at] == ',' && next < len && (text[next] == '}' || text[next] == ']');

        if (!n)
            return; /* it was not checked */
        if (!is_last)
            laz_buf_append(buf, text + at, n);
        at = next;
    }
}
