/* SPDX-License-Identifier: MIT */
/* test_sixels.c - pictures as sixels: what is painted is the picture, and what is not a sixel
 * string of a reasonable size is recognised. */
#include "unit.h"

#include "picture/picture.h"
#include "sixels.h"

#include <stdlib.h>
#include <string.h>

static struct sixels painted;

static struct picture picture_new(uint32_t width, uint32_t height)
{
    struct picture picture = {width, height, calloc((size_t)width * height, 3)};

    CU_ASSERT_PTR_NOT_NULL_FATAL(picture.rgb);
    return picture;
}

static unsigned char *pixel(const struct picture *picture, uint32_t x, uint32_t y)
{
    return picture->rgb + 3 * ((size_t)y * picture->width + x);
}

/* Encodes the picture, lets the checker see it, and decodes it. */
static void paint(const struct picture *picture)
{
    struct laz_buf text = LAZ_BUF_INIT;

    picture_sixels(picture, &text);
    CU_ASSERT_FALSE_FATAL(text.failed);
    CU_ASSERT_TRUE(picture_is_sixels(text.data, text.len));
    CU_ASSERT_TRUE_FATAL(sixels_decode(text.data, text.len, &painted));
    laz_buf_fini(&text);
}

/* The part of a colour that a pixel was painted with, from 0 to 255; -1: none. */
static int part_of(uint32_t x, uint32_t y, int part)
{
    const int of = painted.register_of[y][x];
    const int *const parts[] = {painted.red, painted.green, painted.blue};

    return of < 0 || parts[0][of] < 0 ? -1 : (parts[part][of] * 255 + 50) / 100;
}

/* Colours of the cube come back exactly, each pixel in its place; sizes that are no multiple of six
 * as well. */
static void colours_of_the_cube_are_kept(void)
{
    static const uint32_t sizes[][2] = {{1, 1},   {7, 6},       {216, 1},
                                        {36, 13}, {800, 5}, {3, 1200}};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct picture picture = picture_new(sizes[i][0], sizes[i][1]);
        int wrong = 0;
        for (size_t k = 0; k < (size_t)picture.width * picture.height; k++) {
            const unsigned n = (unsigned)(k * 7 + k / 5) % 216;
            picture.rgb[3 * k] = (unsigned char)(n / 36 * 51);
            picture.rgb[3 * k + 1] = (unsigned char)(n / 6 % 6 * 51);
            picture.rgb[3 * k + 2] = (unsigned char)(n % 6 * 51);
        }
        paint(&picture);
        CU_ASSERT_EQUAL(painted.width, picture.width);
        CU_ASSERT_EQUAL(painted.height, picture.height);
        CU_ASSERT_EQUAL(painted.right, picture.width);
        CU_ASSERT_EQUAL(painted.bottom, picture.height);
        for (uint32_t y = 0; y < picture.height; y++)
            for (uint32_t x = 0; x < picture.width; x++)
                for (int part = 0; part < 3; part++)
                    wrong += part_of(x, y, part) != pixel(&picture, x, y)[part];
        CU_ASSERT_EQUAL(wrong, 0);
        free(picture.rgb);
    }
}

/* Other colours are a mixture that has them as its mean, of the two nearest levels. */
static void other_colours_are_mixed(void)
{
    for (int grey = 0; grey < 256; grey += 15) {
        struct picture picture = picture_new(32, 32);
        long sum = 0, far = 0;
        memset(picture.rgb, grey, (size_t)32 * 32 * 3);
        paint(&picture);
        for (uint32_t y = 0; y < 32; y++)
            for (uint32_t x = 0; x < 32; x++) {
                sum += part_of(x, y, 1);
                far += labs(part_of(x, y, 1) - grey) > 51;
            }
        CU_ASSERT_EQUAL(far, 0);
        CU_ASSERT_TRUE(labs(sum / (32 * 32) - grey) <= 1);
        free(picture.rgb);
    }
}

static void large_pictures_become_smaller(void)
{
    static const struct {
        uint32_t width, height, fit_width, fit_height;
    } rows[] = {
        {800, 1200, 800, 1200},  {1, 1, 1, 1},        {1600, 1000, 800, 500}, {100, 2400, 50, 1200},
        {4000, 9000, 533, 1200}, {100000, 1, 800, 1}, {1, 100000, 1, 1200},   {801, 3, 800, 2},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct picture picture = picture_new(rows[i].width, rows[i].height);
        memset(picture.rgb, 200, (size_t)rows[i].width * rows[i].height * 3);
        picture_fit(&picture);
        CU_ASSERT_EQUAL(picture.width, rows[i].fit_width);
        CU_ASSERT_EQUAL(picture.height, rows[i].fit_height);
        for (size_t k = 0; k < (size_t)picture.width * picture.height * 3; k++)
            if (picture.rgb[k] != 200) {
                CU_FAIL("another colour");
                break;
            }
        free(picture.rgb);
    }
}

/* The left half black, the right one white, above a line of the reverse. */
static void scaling_keeps_places(void)
{
    struct picture picture = picture_new(1600, 1200);

    for (uint32_t y = 0; y < 1200; y++)
        for (uint32_t x = 0; x < 1600; x++)
            memset(pixel(&picture, x, y), (x < 800) == (y < 1000) ? 0 : 255, 3);
    picture_fit(&picture);
    CU_ASSERT_EQUAL(picture.width, 800);
    CU_ASSERT_EQUAL(picture.height, 600);
    for (uint32_t y = 0; y < 600; y++)
        for (uint32_t x = 0; x < 800; x++)
            if (*pixel(&picture, x, y) != ((x < 400) == (y < 500) ? 0 : 255)) {
                CU_FAIL("a pixel in another place");
                y = 600;
                break;
            }
    free(picture.rgb);
}

/* The worst picture for the encoder still fits into what the host takes. */
static void noise_fits(void)
{
    struct picture picture = picture_new(PICTURE_WIDTH, PICTURE_HEIGHT);
    uint32_t state = 1;

    for (size_t i = 0; i < (size_t)PICTURE_WIDTH * PICTURE_HEIGHT * 3; i++) {
        state = state * 1664525u + 1013904223u;
        picture.rgb[i] = (unsigned char)(state >> 24);
    }
    paint(&picture);
    free(picture.rgb);
}

/* ---- the checker ----------------------------------------------------------------------------- */

static bool is_sixels(const char *text)
{
    return picture_is_sixels(text, strlen(text));
}

static void sixel_strings_are_accepted(void)
{
    static const char *const rows[] = {
        "\"1;1;1;1",
        "\"1;1;1;1#0;2;0;0;0#0@",
        "\"1;1;800;6#0;2;100;0;20#215;2;0;0;0#0!800~$#215!799?~",
        "\"1;1;2;12#1~~-#1~~",
        "\"1;1;2;12-#1~~",
        "\"1;1;2;12#1~~-",
        "\"1;1;2;7#1~~-#1@@",
        "\"1;1;9;3#1!4F!4@F",
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!is_sixels(rows[i]))
            printf("\n    refused: %s", rows[i]);
        CU_ASSERT_TRUE(is_sixels(rows[i]));
    }
}

static void what_is_no_sixel_string_is_refused(void)
{
    static const char *const rows[] = {
        "",
        "#0~", /* no raster: a terminal would choose one */
        "\"1;1;1",
        "\"1;1;0;1#0@",
        "\"1;1;801;1#0@",
        "\"1;1;1;1201#0@",
        "\"1;1;99999;99999",
        "\"1;1;4294967297;1#0@",
        "\"2;1;1;1#0@", /* dots that are no squares */
        "\"1;1;1;1\"1;1;1;1",
        "\"1;1;1;1#0;1;0;0;0#0@", /* another space of colours */
        "\"1;1;1;1#0;2;0;0;101#0@",
        "\"1;1;1;1#0;2;0;0#0@",
        "\"1;1;1;1#216;2;0;0;0#0@",
        "\"1;1;1;1#216@",
        "\"1;1;1;1#99999@",
        "\"1;1;1;1#@",
        "\"1;1;1;1@",    /* of no colour */
        "\"1;1;1;1#0@@", /* wider than the raster */
        "\"1;1;4;1#0!5@",
        "\"1;1;4;1#0!4@@",
        "\"1;1;4;1#0!4294967297@",
        "\"1;1;4;1#0!99999@",
        "\"1;1;4;1#0!0@",
        "\"1;1;4;1#0!@",
        "\"1;1;4;1#0!4",
        "\"1;1;4;1#0!4#0@",
        "\"1;1;1;1#0A", /* higher than the raster */
        "\"1;1;1;6#0~-",
        "\"1;1;1;6#0~-#0~",
        "\"1;1;1;7#0~", /* less than the raster has */
        "\"1;1;1;1#0@$",
        "\"1;1;1;1#0@$$#0@",
        "\"1;1;1;1#0@#0;2;0;0;0", /* a colour that is changed afterwards */
        "\"1;1;1;1#0@\033\\",
        "\"1;1;1;1#0@\033]0;title\a",
        "\"1;1;1;1#0@\x9c",
        "\"1;1;1;1#0@\x18",
        "\"1;1;1;1#0@\n",
        "\"1;1;1;1#0@ ",
        "\"1;1;1;1#0\x7f",
        "\"1;1;1;1#0\xc1",
        " \"1;1;1;1#0@",
        "\033Pq\"1;1;1;1#0@",
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (is_sixels(rows[i]))
            printf("\n    accepted: row %zu", i);
        CU_ASSERT_FALSE(is_sixels(rows[i]));
    }
    CU_ASSERT_FALSE(picture_is_sixels("\"1;1;1;1#0@\0", sizeof "\"1;1;1;1#0@"));
}

/* No byte outside of the format is accepted, wherever it stands. */
static void each_other_byte_is_refused(void)
{
    static const char plain[] = "\"1;1;9;12#0;2;0;100;0#0!4~@@$#0?\?-#0~";
    char text[sizeof plain];

    CU_ASSERT_TRUE(is_sixels(plain));
    for (size_t at = 0; at < sizeof plain - 1; at++)
        for (int c = 0; c < 256; c++) {
            if (strchr("\"#0123456789;!$-", c) && c)
                continue;
            if (c >= '?' && c <= '~')
                continue;
            memcpy(text, plain, sizeof plain);
            text[at] = (char)c;
            if (picture_is_sixels(text, sizeof plain - 1)) {
                printf("\n    byte %d at %zu", c, at);
                CU_FAIL("accepted");
            }
        }
}

/* Few bytes must not cost the terminal much: one band is not painted over more often than there are
 * colours. */
static void work_and_size_are_bounded(void)
{
    struct laz_buf text = LAZ_BUF_INIT;

    for (int lines = 216; lines <= 217; lines++) {
        laz_buf_clear(&text);
        laz_buf_puts(&text, "\"1;1;800;6");
        for (int i = 0; i < lines; i++)
            laz_buf_printf(&text, "%s#%d!800~", i ? "$" : "", i % 216);
        CU_ASSERT_EQUAL(picture_is_sixels(text.data, text.len), lines == 216);
    }
    for (int colours = 216; colours <= 217; colours++) {
        laz_buf_clear(&text);
        laz_buf_puts(&text, "\"1;1;800;6");
        for (int i = 0; i < colours; i++)
            laz_buf_printf(&text, "#%d;2;0;0;0", i % 216);
        CU_ASSERT_EQUAL(picture_is_sixels(text.data, text.len), colours == 216);
    }
    laz_buf_fini(&text);
    /* within the grammar, but longer than any honest one */
    laz_buf_puts(&text, "\"1;1;800;1200");
    for (int y = 0; y < 200; y++)
        for (int line = 0; line < 216; line++) {
            laz_buf_printf(&text, "%s#%d", line ? "$" : y ? "-" : "", line);
            for (int x = 0; x < 200; x++)
                laz_buf_puts(&text, "?");
        }
    CU_ASSERT_TRUE(text.len > PICTURE_SIXELS);
    CU_ASSERT_FALSE(picture_is_sixels(text.data, text.len));
    laz_buf_fini(&text);
}

int main(void)
{
    static const struct unit_test tests[] = {
        UNIT(colours_of_the_cube_are_kept),
        UNIT(other_colours_are_mixed),
        UNIT(large_pictures_become_smaller),
        UNIT(scaling_keeps_places),
        UNIT(noise_fits),
        UNIT(sixel_strings_are_accepted),
        UNIT(what_is_no_sixel_string_is_refused),
        UNIT(each_other_byte_is_refused),
        UNIT(work_and_size_are_bounded),
        {0},
    };

    return unit_run("sixels", tests);
}
