/* SPDX-License-Identifier: MIT */
/* utf8.c - UTF-8 as RFC 3629 defines it. */
#include "base/utf8.h"

#include "base/wide.h"

#include <string.h>

static bool utf8_is_tail(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

size_t laz_utf8_length(char first)
{
    unsigned char c = (unsigned char)first;

    if (c < 0x80)
        return 1;
    if (c < 0xc2 || c > 0xf4)
        return 0;
    return c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

size_t laz_utf8_sequence(const char *text, size_t len)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t n = len ? laz_utf8_length(*text) : 0;

    if (n > len)
        return 0;
    for (size_t i = 1; i < n; i++)
        if (!utf8_is_tail(s[i]))
            return 0;
    if (n == 3 && ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f)))
        return 0; /* overlong, surrogate */
    if (n == 4 && ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f)))
        return 0; /* overlong, too large */
    return n;
}

size_t laz_utf8_span(const char *text, size_t len)
{
    size_t i = 0, n;

    while (i < len && (unsigned char)text[i] >= 0x80 &&
           (n = laz_utf8_sequence(text + i, len - i)) != 0)
        i += n;
    return i;
}

static bool utf8_word_is_ascii(const char *text)
{
    return !(laz_word(text) & UINT64_C(0x8080808080808080));
}

/* How many bytes from the start are ASCII: the first 8, then 32 or 8 at a time. */
static size_t utf8_ascii_span(const char *text, size_t len)
{
    size_t i = 0;

    if (len >= 8 && utf8_word_is_ascii(text)) {
        i = 8;
#ifdef LAZ_WIDE
        for (; len - i >= LAZ_WIDE; i += LAZ_WIDE) {
            const struct laz_wide w = laz_wide_load(text + i);
            if (laz_wide_any((w.first | w.second) < 0))
                break;
        }
#endif
        while (len - i >= 8 && utf8_word_is_ascii(text + i))
            i += 8;
    }
    while (i < len && (unsigned char)text[i] < 0x80)
        i++;
    return i;
}

bool laz_utf8_is_valid(const char *text, size_t len)
{
    size_t i = 0;

    while ((i += utf8_ascii_span(text + i, len - i)) < len) {
        size_t n = laz_utf8_span(text + i, len - i);
        if (!n)
            return false;
        i += n;
    }
    return true;
}

size_t laz_utf8_count(const char *text, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++)
        n += !utf8_is_tail((unsigned char)text[i]);
    return n;
}

uint32_t laz_utf8_code_point(const char *text, size_t n)
{
    static const unsigned char bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t code = (unsigned char)text[0] & bits[n];

    for (size_t i = 1; i < n; i++)
        code = code << 6 | ((unsigned char)text[i] & 0x3f);
    return code;
}

size_t laz_utf8_encode(uint32_t c, char out[4])
{
    static const unsigned char leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    const size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

    if ((c >= 0xd800 && c <= 0xdfff) || c > 0x10ffff)
        return 0;
    for (size_t i = n - 1; i; i--, c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)(leads[n] | c);
    return n;
}

/* Does the text end in the middle of a character? */
static bool utf8_is_cut_off(const char *text, size_t len)
{
    size_t at = 1;

    while (at < len && utf8_is_tail((unsigned char)text[at]))
        at++;
    return at == len && len < laz_utf8_length(*text);
}

void laz_utf8_clean(char *text)
{
    size_t len = strlen(text);

    for (size_t at = 0; at < len;) {
        unsigned char first = (unsigned char)text[at];
        size_t n = laz_utf8_sequence(text + at, len - at);
        bool control = first < 0x20 || first == 0x7f ||
                       (n == 2 && first == 0xc2 && (unsigned char)text[at + 1] < 0xa0);
        if (!n && utf8_is_cut_off(text + at, len - at)) {
            text[at] = '\0';
            return;
        }
        if (!n)
            text[at] = '?';
        else if (control)
            memset(text + at, ' ', n);
        at += n ? n : 1;
    }
}
