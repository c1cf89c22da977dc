/* SPDX-License-Identifier: MIT */
/* sixels.h - a decoder of sixels, written from the description of the format and not from the code
 * that is tested: it takes what terminals take, and says what would be painted. */
#ifndef TESTS_UNIT_SIXELS_H
#define TESTS_UNIT_SIXELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SIXELS_WIDE 801
#define SIXELS_HIGH 1207

struct sixels {
    uint32_t width, height;                        /* as the raster attributes say */
    uint32_t right, bottom;                        /* what was painted ends before */
    int red[256], green[256], blue[256];           /* in percent; -1: not defined */
    int16_t register_of[SIXELS_HIGH][SIXELS_WIDE]; /* of a pixel; -1: not painted */
};

/* Numbers separated by ";" behind a command. Returns how many. */
static inline int sixels_numbers(const char *text, size_t len, size_t *at, unsigned long numbers[8])
{
    int n = 0;
    bool goes_on = true;

    while (goes_on && n < 8) {
        numbers[n] = 0;
        while (*at < len && text[*at] >= '0' && text[*at] <= '9')
            numbers[n] = numbers[n] * 10 + (unsigned long)(text[(*at)++] - '0');
        n++;
        goes_on = *at < len && text[*at] == ';';
        *at += goes_on;
    }
    return n;
}

/* Paints a column of six. False: outside of the canvas. */
static inline bool sixels_paint(struct sixels *to, uint32_t x, uint32_t y, int dots, int colour)
{
    for (uint32_t i = 0; i < 6; i++) {
        if (!(dots >> i & 1))
            continue;
        if (x >= SIXELS_WIDE || y + i >= SIXELS_HIGH)
            return false;
        to->register_of[y + i][x] = (int16_t)colour;
        to->right = x + 1 > to->right ? x + 1 : to->right;
        to->bottom = y + i + 1 > to->bottom ? y + i + 1 : to->bottom;
    }
    return true;
}

/* False: a byte that is none of the format, or something outside of the canvas or the registers. */
static inline bool sixels_decode(const char *text, size_t len, struct sixels *to)
{
    uint32_t x = 0, y = 0;
    unsigned long n[8], repeat = 1;
    int colour = 0;

    memset(to, 0, sizeof *to);
    memset(to->red, -1, sizeof to->red);
    memset(to->register_of, -1, sizeof to->register_of);
    for (size_t at = 0; at < len;) {
        const char c = text[at++];
        if (c == '"') {
            if (sixels_numbers(text, len, &at, n) != 4)
                return false;
            to->width = (uint32_t)n[2];
            to->height = (uint32_t)n[3];
        } else if (c == '#') {
            const int count = sixels_numbers(text, len, &at, n);
            if (n[0] > 255)
                return false;
            colour = (int)n[0];
            if (count == 5 && n[1] == 2) {
                to->red[colour] = (int)n[2];
                to->green[colour] = (int)n[3];
                to->blue[colour] = (int)n[4];
            } else if (count != 1) {
                return false;
            }
        } else if (c == '!') {
            (void)sixels_numbers(text, len, &at, n);
            repeat = n[0];
        } else if (c == '$') {
            x = 0;
        } else if (c == '-') {
            x = 0;
            y += 6;
        } else if (c >= '?' && c <= '~') {
            if (repeat > SIXELS_WIDE)
                return false;
            for (; repeat; repeat--, x++)
                if (!sixels_paint(to, x, y, c - '?', colour))
                    return false;
            repeat = 1;
        } else {
            return false;
        }
    }
    return true;
}

#endif
