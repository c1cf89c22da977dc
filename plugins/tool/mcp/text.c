/* SPDX-License-Identifier: MIT */
/* text.c - texts and names of a server, made fit for people, terminals, models and languages.
 * Side: host.  Input trusted: no (a server's bytes). */
#include "mcp_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_INVALID UINT32_MAX

/* Bytes of the character at `text`, and its number; 1 and TEXT_INVALID where it is not UTF-8 (RFC
 * 3629: overlong forms and surrogates are none). */
static size_t text_character(const char *text, size_t len, uint32_t *number)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char first = (unsigned char)text[0];
    const size_t n = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    uint32_t code = n == 1 ? first : first & (0xffu >> (n + 1));
    bool is_valid = first < 0x80 || (first >= 0xc2 && first <= 0xf4 && n <= len);

    for (size_t i = 1; i < n && is_valid; i++) {
        is_valid = ((unsigned char)text[i] & 0xc0) == 0x80;
        code = code << 6 | ((unsigned char)text[i] & 0x3f);
    }
    is_valid = is_valid && code >= least[n] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    *number = is_valid ? code : TEXT_INVALID;
    return is_valid ? n : 1;
}

/* Characters without a picture, which hide or reorder others, or carry text that nobody sees. */
static const struct {
    uint32_t first, last;
} text_hidden[] = {
    {0xad, 0xad},     {0x61c, 0x61c},   {0x200b, 0x200f}, {0x202a, 0x202e},
    {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff},
};

static bool text_is_hidden(uint32_t number)
{
    for (size_t i = 0; i < sizeof text_hidden / sizeof *text_hidden; i++)
        if (number >= text_hidden[i].first && number <= text_hidden[i].last)
            return true;
    return false;
}

static bool text_is_control(uint32_t number)
{
    return number < 0x20 || (number >= 0x7f && number < 0xa0) || number == 0x2028 ||
           number == 0x2029;
}

char *mcp_clean(const char *text, size_t len, size_t most, bool lines)
{
    char *out = malloc((len < most ? len : most) + 4);
    size_t used = 0, step;

    if (!out)
        return NULL;
    for (size_t i = 0; i < len; i += step) {
        uint32_t number;
        step = text_character(text + i, len - i, &number);
        if (text_is_hidden(number))
            continue;
        /* What is written, and how much of it, are decided in one place. */
        const bool is_plain = !text_is_control(number) || (lines && number == '\n');
        const char *piece = number == TEXT_INVALID ? "?" : is_plain ? text + i : " ";
        const size_t n = is_plain ? step : 1;
        if (used + n > most) {
            memcpy(out + used, "...", 3);
            used += 3;
            break;
        }
        memcpy(out + used, piece, n);
        used += n;
    }
    while (used && (out[used - 1] == ' ' || out[used - 1] == '\n'))
        used--;
    out[used] = '\0';
    return out;
}

char *mcp_format(const char *format, ...)
{
    va_list args, again;
    char *text = NULL;

    va_start(args, format);
    va_copy(again, args);
    const int n = vsnprintf(NULL, 0, format, args);
    if (n >= 0 && (text = malloc((size_t)n + 1)))
        vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    va_end(args);
    return text;
}

static bool text_is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

char *mcp_legal(const char *name, size_t most)
{
    const size_t len = strlen(name);
    char *legal = malloc((len < most ? len : most) + 2);
    size_t used = 0;

    if (!legal)
        return NULL;
    for (size_t i = 0; i < len && used < most; i++) {
        const char c = name[i];
        if (text_is_word(c) || c == '_' || c == '.' || c == '-')
            legal[used++] = c;
        else if (((unsigned char)c & 0xc0) != 0x80) /* once for a character */
            legal[used++] = '_';
    }
    if (!used)
        legal[used++] = '_';
    legal[used] = '\0';
    return legal;
}

bool mcp_alike(const char *a, const char *b)
{
    while (*a && (*a == *b || (!text_is_word(*a) && *b && !text_is_word(*b)))) {
        a++;
        b++;
    }
    return !*a && !*b;
}

bool mcp_matches(const char *pattern, const char *name)
{
    const char *star = NULL, *from = NULL;

    while (*name) {
        if (*pattern == '*') {
            star = pattern++;
            from = name;
        } else if (*pattern == '?' || *pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star + 1;
            name = ++from;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

void mcp_wipe(char *text)
{
    volatile char *at = text;

    while (at && *at)
        *at++ = 0;
}
