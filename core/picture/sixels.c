/* SPDX-License-Identifier: MIT */
/* sixels.c - makes a sixel string of a picture.
 * Side: lazaret-picture.  Input trusted: no (pixels of a decoded PNG; any are allowed).
 *
 * The colours are a cube of 6x6x6, which every terminal with sixels has registers for; what lies
 * between them is shown by an ordered pattern of dots (Bayer's), which needs no memory of errors.
 * The string has the picture in bands of six rows.  Of each colour of a band it has one line, in
 * which a byte stands for a column of six dots; "!" repeats the byte behind its number. */
#include "picture/picture.h"

#include <stdlib.h>

#define SIXELS_LEVELS  6 /* of red, green and blue */
#define SIXELS_COLOURS (SIXELS_LEVELS * SIXELS_LEVELS * SIXELS_LEVELS)
#define SIXELS_BAND    6   /* rows */
#define SIXELS_NONE    '?' /* no dot of six */

/* ---- scaling --------------------------------------------------------------------------------- */

/* The mean of the pixels that one of the smaller picture stands for. */
static void scale_pixel(const struct picture *from, uint32_t left, uint32_t right, uint32_t top,
                        uint32_t bottom, unsigned char *to)
{
    uint64_t sum[3] = {0}, n = (uint64_t)(right - left) * (bottom - top);

    for (uint32_t y = top; y < bottom; y++) {
        const unsigned char *at = from->rgb + 3 * ((size_t)y * from->width + left);
        for (uint32_t x = left; x < right; x++, at += 3)
            for (int i = 0; i < 3; i++)
                sum[i] += at[i];
    }
    for (int i = 0; i < 3; i++)
        to[i] = (unsigned char)((sum[i] + n / 2) / n);
}

/* In place: a pixel is written where all before it have been read. */
void picture_fit(struct picture *picture)
{
    const uint64_t w = picture->width, h = picture->height;
    uint64_t width = w, height = h;
    unsigned char *to = picture->rgb;

    if (width > PICTURE_WIDTH) {
        height = height * PICTURE_WIDTH / width;
        width = PICTURE_WIDTH;
    }
    if (height > PICTURE_HEIGHT) {
        width = width * PICTURE_HEIGHT / height;
        height = PICTURE_HEIGHT;
    }
    width += !width;
    height += !height;
    if (width == w && height == h)
        return;
    for (uint64_t y = 0; y < height; y++)
        for (uint64_t x = 0; x < width; x++, to += 3)
            scale_pixel(picture, (uint32_t)(x * w / width), (uint32_t)((x + 1) * w / width),
                        (uint32_t)(y * h / height), (uint32_t)((y + 1) * h / height), to);
    picture->width = (uint32_t)width;
    picture->height = (uint32_t)height;
}

/* ---- colours --------------------------------------------------------------------------------- */

static const unsigned char colour_pattern[8][8] = {
    {0, 32, 8, 40, 2, 34, 10, 42},  {48, 16, 56, 24, 50, 18, 58, 26},
    {12, 44, 4, 36, 14, 46, 6, 38}, {60, 28, 52, 20, 62, 30, 54, 22},
    {3, 35, 11, 43, 1, 33, 9, 41},  {51, 19, 59, 27, 49, 17, 57, 25},
    {15, 47, 7, 39, 13, 45, 5, 37}, {63, 31, 55, 23, 61, 29, 53, 21},
};

/* The number of the colour in the cube. The pattern decides between the two nearest levels. */
static unsigned char colour_of(const unsigned char *rgb, uint32_t x, uint32_t y)
{
    const unsigned threshold = colour_pattern[y % 8][x % 8] * 4 + 2; /* below 255 */
    unsigned colour = 0;

    for (int i = 0; i < 3; i++)
        colour = colour * SIXELS_LEVELS + (rgb[i] * (SIXELS_LEVELS - 1u) + threshold) / 255;
    return (unsigned char)colour;
}

static void colours_define(struct laz_buf *out, const bool *used)
{
    for (int i = 0; i < SIXELS_COLOURS; i++)
        if (used[i])
            laz_buf_printf(out, "#%d;2;%d;%d;%d", i, i / 36 * 20, i / 6 % 6 * 20, i % 6 * 20);
}

/* ---- bands ----------------------------------------------------------------------------------- */

static void band_run(struct laz_buf *out, char sixel, uint32_t n)
{
    if (n > 3)
        laz_buf_printf(out, "!%u", (unsigned)n);
    for (uint32_t i = 0; i < (n > 3 ? 1 : n); i++)
        laz_buf_putc(out, sixel);
}

/* The dots of one colour in a band. */
static void band_line(struct laz_buf *out, const unsigned char *colours, uint32_t width,
                      uint32_t rows, unsigned char colour)
{
    char last = SIXELS_NONE;
    uint32_t n = 0;

    laz_buf_printf(out, "#%d", colour);
    for (uint32_t x = 0; x < width; x++) {
        unsigned dots = 0;
        for (uint32_t y = 0; y < rows; y++)
            dots |= (unsigned)(colours[(size_t)y * width + x] == colour) << y;
        const char sixel = (char)(SIXELS_NONE + dots);
        if (sixel != last) {
            band_run(out, last, n);
            n = 0;
        }
        last = sixel;
        n++;
    }
    if (last != SIXELS_NONE)
        band_run(out, last, n);
}

static void band_write(struct laz_buf *out, const unsigned char *colours, uint32_t width,
                       uint32_t rows)
{
    bool used[SIXELS_COLOURS] = {false}, is_first = true;

    for (size_t i = 0; i < (size_t)width * rows; i++)
        used[colours[i]] = true;
    for (int i = 0; i < SIXELS_COLOURS; i++) {
        if (!used[i])
            continue;
        if (!is_first)
            laz_buf_putc(out, '$');
        is_first = false;
        band_line(out, colours, width, rows, (unsigned char)i);
    }
}

void picture_sixels(const struct picture *picture, struct laz_buf *out)
{
    const uint32_t width = picture->width, height = picture->height;
    unsigned char *colours = malloc((size_t)width * height);
    bool used[SIXELS_COLOURS] = {false};
    size_t at = 0;

    if (!colours) {
        out->failed = true;
        return;
    }
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++, at++) {
            colours[at] = colour_of(picture->rgb + 3 * at, x, y);
            used[colours[at]] = true;
        }
    laz_buf_printf(out, "\"1;1;%u;%u", (unsigned)width, (unsigned)height);
    colours_define(out, used);
    for (uint32_t y = 0; y < height; y += SIXELS_BAND) {
        if (y)
            laz_buf_putc(out, '-');
        band_write(out, colours + (size_t)y * width, width,
                   height - y < SIXELS_BAND ? height - y : SIXELS_BAND);
    }
    free(colours);
}
