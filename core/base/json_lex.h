/* SPDX-License-Identifier: MIT */
/* json_lex.h - classes of bytes in JSON text. Private to json*.c. */
#ifndef LAZ_BASE_JSON_LEX_H
#define LAZ_BASE_JSON_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/* How many bytes from the start are plain: printable ASCII but '"' and '\'.
 * Tests eight bytes at a time. A byte of the word is flagged when its high bit is set, when it is
 * below 0x20, or when it equals one of the two characters (a test for a zero byte after XOR). */
static inline size_t json_plain_span(const char *text, size_t len)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t highs = UINT64_C(0x8080808080808080);
    size_t i = 0;

    while (len - i >= 8) {
        uint64_t w;
        memcpy(&w, text + i, 8);
        uint64_t quote = w ^ (ones * '"');
        uint64_t slash = w ^ (ones * '\\');
        uint64_t flags = w | (w - ones * 0x20) | (quote - ones) | (slash - ones);
        if (flags & highs)
            break;
        i += 8;
    }
    while (i < len && json_is_plain(text[i]))
        i++;
    return i;
}

#endif
