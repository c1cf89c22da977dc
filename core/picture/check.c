/* SPDX-License-Identifier: MIT */
/* check.c - is this a sixel string that may be given to the terminal?
 * Side: host.  Input trusted: no (lazaret-picture, which may be in the hands of the PNG).
 *
 * The grammar is what picture_sixels writes, and less than what terminals take:
 *
 *     string = raster colour* band ("-" band)*
 *     raster = '"1;1;' width ";" height
 *     colour = "#" register ";2;" red ";" green ";" blue
 *     band   = [line ("$" line)*]
 *     line   = "#" register (["!" count] "?".."~")*
 *
 * No byte of it is a control character, so none ends the string or begins a command.  Terminals
 * have had errors where numbers led them outside of their memory, or let few bytes cost much time.
 * So the position is followed: no line is longer than the raster, there are as many bands as it has
 * rows for, and a band has no more lines than there are colours. */
#include "picture/picture.h"

#define CHECK_COLOURS 216u
#define CHECK_DIGITS  4 /* of a number */

struct check {
    const char *at, *end;
    uint32_t width, height;
};

static bool check_is(const struct check *check, char c)
{
    return check->at < check->end && *check->at == c;
}

static bool check_take(struct check *check, char c)
{
    if (!check_is(check, c))
        return false;
    check->at++;
    return true;
}

/* A number from `least` to `most`. */
static bool check_number(struct check *check, uint32_t least, uint32_t most, uint32_t *number)
{
    int digits = 0;

    *number = 0;
    while (check->at < check->end && *check->at >= '0' && *check->at <= '9') {
        if (++digits > CHECK_DIGITS)
            return false;
        *number = *number * 10 + (uint32_t)(*check->at++ - '0');
    }
    return digits && *number >= least && *number <= most;
}

static bool check_raster(struct check *check)
{
    uint32_t one;

    return check_take(check, '"') && check_number(check, 1, 1, &one) && check_take(check, ';') &&
           check_number(check, 1, 1, &one) && check_take(check, ';') &&
           check_number(check, 1, PICTURE_WIDTH, &check->width) && check_take(check, ';') &&
           check_number(check, 1, PICTURE_HEIGHT, &check->height);
}

/* What follows the register of a colour that is defined. */
static bool check_colour(struct check *check)
{
    uint32_t number;

    if (!check_take(check, ';') || !check_number(check, 2, 2, &number))
        return false;
    for (int i = 0; i < 3; i++)
        if (!check_take(check, ';') || !check_number(check, 0, 100, &number))
            return false;
    return true;
}

/* What follows the register of a line. `dots`: the last sixel that has no dot below the raster. */
static bool check_line(struct check *check, char dots)
{
    uint32_t x = 0;

    while (check->at < check->end && (check_is(check, '!') || *check->at >= '?')) {
        uint32_t n = 1;
        if (check_take(check, '!') && !check_number(check, 1, PICTURE_WIDTH, &n))
            return false;
        if (n > check->width - x || check->at == check->end || *check->at < '?' ||
            *check->at > dots)
            return false;
        check->at++;
        x += n;
    }
    return true;
}

static bool check_band(struct check *check, char dots)
{
    uint32_t lines = 0, number;

    if (check->at == check->end || check_is(check, '-'))
        return true;
    do {
        if (++lines > CHECK_COLOURS || !check_take(check, '#') ||
            !check_number(check, 0, CHECK_COLOURS - 1, &number) || !check_line(check, dots))
            return false;
    } while (check_take(check, '$'));
    return true;
}

/* Definitions and lines both begin with a register: the byte behind it tells them apart. */
static bool check_is_definition(const struct check *check)
{
    struct check ahead = *check;
    uint32_t number;

    return check_take(&ahead, '#') && check_number(&ahead, 0, CHECK_COLOURS - 1, &number) &&
           check_is(&ahead, ';');
}

bool picture_is_sixels(const char *text, size_t len)
{
    struct check check = {.at = text, .end = text + len};
    uint32_t definitions = 0, number;

    if (!len || len > PICTURE_SIXELS || !check_raster(&check))
        return false;
    for (; check_is_definition(&check); definitions++) {
        check_take(&check, '#');
        if (definitions == CHECK_COLOURS || !check_number(&check, 0, CHECK_COLOURS - 1, &number) ||
            !check_colour(&check))
            return false;
    }
    for (uint32_t y = 0; y < check.height; y += 6) {
        const uint32_t rows = check.height - y < 6 ? check.height - y : 6;
        if ((y && !check_take(&check, '-')) || !check_band(&check, (char)('?' + (1 << rows) - 1)))
            return false;
    }
    return check.at == check.end;
}
