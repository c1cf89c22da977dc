/* SPDX-License-Identifier: MIT */
/* json_lex.h - classes of bytes in JSON text. Private to json*.c. */
#ifndef LAZ_BASE_JSON_LEX_H
#define LAZ_BASE_JSON_LEX_H

#include "base/wide.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool json_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Is the byte a whole character that stands for itself in a string? */
static inline bool json_is_plain(char byte)
{
    unsigned char c = (unsigned char)byte;

    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

/* ---- spans ----------------------------------------------------------------------------------
 *
 * The first eight bytes, then 32 at a time where that can be, then eight: short spans, which
 * hostile texts consist of, cost no step of 32 bytes. A byte of a word is flagged in its high bit;
 * a test for a zero byte after XOR finds a character. */

#define JSON_ONES  UINT64_C(0x0101010101010101)
#define JSON_HIGHS UINT64_C(0x8080808080808080)

/* Are eight bytes plain? Flagged are those whose high bit is set and those below 0x20 as well. */
static inline bool json_word_is_plain(uint64_t word)
{
    const uint64_t quote = word ^ (JSON_ONES * '"'), slash = word ^ (JSON_ONES * '\\');

    return !((word | (word - JSON_ONES * 0x20) | (quote - JSON_ONES) | (slash - JSON_ONES)) &
             JSON_HIGHS);
}

/* Is none of eight bytes '"' or '\'? */
static inline bool json_word_is_quoted(uint64_t word)
{
    const uint64_t quote = word ^ (JSON_ONES * '"'), slash = word ^ (JSON_ONES * '\\');

    return !((((quote - JSON_ONES) & ~quote) | ((slash - JSON_ONES) & ~slash)) & JSON_HIGHS);
}

/* How many bytes from the start are plain: printable ASCII but '"' and '\'. As a signed number, a
 * byte that is not ASCII is less than 0x20. */
static inline size_t json_plain_span(const char *text, size_t len)
{
    size_t i = 0;

    if (len >= 8 && json_word_is_plain(laz_word(text))) {
        i = 8;
#ifdef LAZ_WIDE
        for (; len - i >= LAZ_WIDE; i += LAZ_WIDE) {
            const struct laz_wide w = laz_wide_load(text + i);
            if (laz_wide_any((w.first < 0x20) | (w.second < 0x20) | (w.first == '"') |
                             (w.second == '"') | (w.first == '\\') | (w.second == '\\')))
                break;
        }
#endif
        while (len - i >= 8 && json_word_is_plain(laz_word(text + i)))
            i += 8;
    }
    while (i < len && json_is_plain(text[i]))
        i++;
    return i;
}

/* How many bytes from the start are neither brackets, braces nor '"'. '[' and '{' differ by 0x20,
 * as do the closing ones. */
static inline size_t json_inner_span(const char *text, size_t len)
{
    static const bool ends[256] = {
        ['"'] = true, ['['] = true, [']'] = true, ['{'] = true, ['}'] = true,
    };
    size_t i = 0;

    while (i < len && i < 8 && !ends[(unsigned char)text[i]])
        i++;
    if (i < 8)
        return i;
#ifdef LAZ_WIDE
    for (; len - i >= LAZ_WIDE; i += LAZ_WIDE) {
        const struct laz_wide w = laz_wide_load(text + i);
        const laz_wide_half first = w.first | 0x20, second = w.second | 0x20;
        if (laz_wide_any((w.first == '"') | (w.second == '"') | (first == '{') | (second == '{') |
                         (first == '}') | (second == '}')))
            break;
    }
#endif
    while (i < len && !ends[(unsigned char)text[i]])
        i++;
    return i;
}

/* How many bytes from the start are neither '"' nor '\'. */
static inline size_t json_quoted_span(const char *text, size_t len)
{
    size_t i = 0;

    if (len >= 8 && json_word_is_quoted(laz_word(text))) {
        i = 8;
#ifdef LAZ_WIDE
        for (; len - i >= LAZ_WIDE; i += LAZ_WIDE) {
            const struct laz_wide w = laz_wide_load(text + i);
            if (laz_wide_any((w.first == '"') | (w.second == '"') | (w.first == '\\') |
                             (w.second == '\\')))
                break;
        }
#endif
        while (len - i >= 8 && json_word_is_quoted(laz_word(text + i)))
            i += 8;
    }
    while (i < len && text[i] != '"' && text[i] != '\\')
        i++;
    return i;
}

/* ---- numbers -------------------------------------------------------------------------------- */

/* The end of the digits at `at`; NULL: there are none. */
static inline const char *json_digits_end(const char *at, const char *end)
{
    const char *first = at;

    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at > first ? at : NULL;
}

/* The length of the number at text[0], by the grammar of RFC 8259; 0: there is none. */
static inline size_t json_number_span(const char *text, size_t len, bool *has_exponent)
{
    const char *end = text + len, *whole = text + (len && *text == '-');
    const char *at = json_digits_end(whole, end);

    if (!at || (*whole == '0' && at - whole > 1))
        return 0;
    if (at < end && *at == '.')
        at = json_digits_end(at + 1, end);
    *has_exponent = at && at < end && (*at == 'e' || *at == 'E');
    if (*has_exponent) {
        at++;
        at = json_digits_end(at + (at < end && (*at == '+' || *at == '-')), end);
    }
    return at ? (size_t)(at - text) : 0;
}

#endif
