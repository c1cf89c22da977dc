/* SPDX-License-Identifier: MIT */
/* json_number.c - numbers in JSON's notation: as doubles, and exactly as they are written.
 * Side: host and agent.  Input trusted: no.
 *
 * The process's locale has no influence.  Doubles are not enough to compare numbers: as a double
 * 9007199254740993 is 9007199254740992, and 10.000000000000000000001 is 10, so two texts that
 * another reader sees as different numbers would be equal.  Decisions about a number that is passed
 * on as text are made on its digits. */
#include "base/json_number.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_XLOCALE_H
#include <xlocale.h>
#endif

#define NUMBER_FAR                                                                                 \
    ((int64_t)1 << 50) /* larger exponents need no exact value: no text has so many digits */
#define NUMBER_INT   ((int64_t)1 << 53)
#define NUMBER_PLAIN 5000 /* digits that are written without an exponent */

/* ---- short numbers --------------------------------------------------------------------------
 *
 * Most numbers have few digits. A double holds each integer up to 2^53 exactly, and each power of
 * ten up to 10^22; so the quotient or product of two such numbers is rounded once, by the
 * processor, to the double nearest to the number that was written: the one that strtod(3) gives (W.
 * D. Clinger, How to read floating point numbers accurately, 1990). In the other direction, a
 * number of at most 15 digits can be read from its double again (DBL_DIG). Both need a processor
 * that rounds to the nearest double, and only once. */

#define NUMBER_TENS   22 /* 10^22 is the last power of ten that is a double */
#define NUMBER_DIGITS 18 /* an int64_t holds as many */

static const double number_tens[NUMBER_TENS + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

/* Code in the same process may have changed the mode. */
static bool number_rounds_once_to_nearest(void)
{
#if FLT_EVAL_METHOD == 0
    volatile float least = FLT_MIN;
    return least + 1.0f == 1.0f - least;
#else
    return false;
#endif
}

static inline bool number_is_digit(const char *at, const char *end)
{
    return at < end && *at >= '0' && *at <= '9';
}

/* A number of text as it is written. */
struct number_written {
    uint64_t digits; /* all of them, as far as NUMBER_DIGITS */
    int64_t exponent;
    bool is_negative, is_whole; /* whole: without a point and an exponent */
    bool is_long;               /* it has more digits */
};

/* Adds the digits at `at`; returns what stands behind them. */
static inline const char *number_add(struct number_written *number, const char *at, const char *end)
{
    const uint64_t full = UINT64_C(100000000000000000); /* NUMBER_DIGITS digits from here on */

    for (; number_is_digit(at, end); at++) {
        if (number->digits >= full)
            number->is_long = true;
        else
            number->digits = number->digits * 10 + (uint64_t)(*at - '0');
    }
    return at;
}

/* The length of the number at text[0], which is taken apart; 0: there is none. */
static inline size_t number_take(const char *text, size_t len, struct number_written *number)
{
    const char *end = text + len, *first = text + (len && *text == '-');

    *number = (struct number_written){.is_negative = len && *text == '-', .is_whole = true};
    const char *at = number_add(number, first, end);
    if (at == first)
        return 0;
    if (at < end && *at == '.') {
        const char *point = at++;
        at = number_add(number, at, end);
        if (at == point + 1)
            return 0;
        number->exponent = point + 1 - at;
        number->is_whole = false;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        const bool is_negative = at + 1 < end && at[1] == '-';
        int64_t exponent = 0;
        at += at + 1 < end && (at[1] == '-' || at[1] == '+') ? 2 : 1;
        if (!number_is_digit(at, end))
            return 0;
        for (; number_is_digit(at, end); at++)
            exponent = exponent < NUMBER_FAR ? exponent * 10 + (*at - '0') : exponent;
        number->exponent += is_negative ? -exponent : exponent;
        number->is_whole = false;
    }
    return (size_t)(at - text);
}

/* The double of a number, if it is a short one. */
static inline bool number_is_short(const struct number_written *number, double *value)
{
    const int64_t exponent = number->exponent;
    /* From a signed number: for another, some compilers subtract, and 0 - 0 may be -0 here. */
    double digits = (double)(int64_t)number->digits;

    if (number->is_long || number->digits > (uint64_t)NUMBER_INT || exponent > NUMBER_TENS ||
        exponent < -NUMBER_TENS || (exponent && !number_rounds_once_to_nearest()))
        return false;
    digits = exponent < 0 ? digits / number_tens[-exponent] : digits * number_tens[exponent];
    *value = number->is_negative ? -digits : digits;
    return true;
}

/* ---- doubles -------------------------------------------------------------------------------- */

/* All of `text` as a number, whatever decimal point the application's locale has. */
static double number_read(char *text)
{
#ifdef HAVE_NEWLOCALE
    locale_t c_locale =
        newlocale(LC_ALL_MASK, "C", (locale_t)0); /* in glibc a constant: nothing is allocated */
    double value = c_locale ? strtod_l(text, NULL, c_locale) : strtod(text, NULL);
    if (c_locale)
        freelocale(c_locale);
    return value;
#else
    char *end, *point = strchr(text, '.');
    double value = strtod(text, &end);
    if (*end && point) {
        *point = localeconv()->decimal_point[0];
        value = strtod(text, NULL);
    }
    return value;
#endif
}

double laz_json_strtod(const char *text, size_t len)
{
    struct number_written number;
    char copy[512], *big = NULL;
    double value;

    if (len && number_take(text, len, &number) == len && number_is_short(&number, &value))
        return value;
    if (len >= sizeof copy) {
        big = laz_strndup(text, len);
        value = big ? number_read(big) : NAN;
    } else {
        memcpy(copy, text, len);
        copy[len] = '\0';
        value = number_read(copy);
    }
    free(big);
    return value;
}

size_t laz_json_read_number(const char *text, size_t len, struct laz_json_number *number)
{
    struct number_written written;
    size_t n = number_take(text, len, &written);

    if (!n || (written.is_whole && written.is_long))
        return 0;
    number->is_whole = written.is_whole;
    number->whole = written.is_whole ? (int64_t)written.digits : 0;
    number->whole = written.is_negative ? -number->whole : number->whole;
    if (!number_is_short(&written, &number->value))
        number->value = laz_json_strtod(text, n);
    return n;
}

/* Appends digits * 10^-places. */
static void number_put(struct laz_buf *buf, bool is_negative, uint64_t digits, int places,
                       bool keep_point)
{
    char text[64], *end = text + sizeof text, *at = end;

    if (keep_point && !places) {
        *--at = '0';
        *--at = '.';
    }
    for (int i = 0; digits || i <= places; i++) {
        if (i && i == places)
            *--at = '.';
        *--at = (char)('0' + digits % 10);
        digits /= 10;
    }
    if (is_negative)
        *--at = '-';
    laz_buf_append(buf, at, (size_t)(end - at));
}

void laz_json_format_int(struct laz_buf *buf, int64_t value)
{
    number_put(buf, value < 0, value < 0 ? -(uint64_t)value : (uint64_t)value, 0, false);
}

/* Appends a number without an exponent, if it has at most 15 digits: what "%.15g" prints. False,
 * and the least digits that it may have. */
static bool number_put_short(struct laz_buf *buf, double value, bool keep_point, int *least)
{
    const double size = fabs(value), most = 1e15;
    int places = 0;

    *least = 15;
    if (!(size < most))
        return false;
    uint64_t digits = (uint64_t)(int64_t)size;
    if ((double)(int64_t)digits != size) {
        if (size < 1e-4 || !number_rounds_once_to_nearest())
            return false;
        while (size * number_tens[places + 1] < most)
            places++;
        digits = (uint64_t)(int64_t)(size * number_tens[places] + 0.5);
        *least = 16; /* if it had 15, they would be these */
        if ((double)(int64_t)digits / number_tens[places] != size)
            return false;
        for (; places && digits % 10 == 0; digits /= 10)
            places--;
    }
    number_put(buf, signbit(value), digits, places, keep_point);
    return true;
}

void laz_json_format_double(struct laz_buf *buf, double value, bool keep_point)
{
    char text[64];
    size_t n = 0;
    int digits;

    if (number_put_short(buf, value, keep_point, &digits))
        return;
    for (; digits <= 17; digits++) {
        n = (size_t)snprintf(text, sizeof text, "%.*g", digits, value);
        for (size_t i = 0; i < n; i++) /* the locale's decimal point */
            if (!strchr("+-0123456789e.", text[i]))
                text[i] = '.';
        if (digits == 17 || laz_json_strtod(text, n) == value)
            break;
    }
    laz_buf_append(buf, text, n);
    if (keep_point && !strpbrk(text, ".e"))
        laz_buf_puts(buf, ".0");
}

bool laz_json_to_double(const char *raw, size_t len, double *value)
{
    if (!len || !(raw[0] == '-' || (raw[0] >= '0' && raw[0] <= '9')))
        return false;
    *value = laz_json_strtod(raw, len);
    return true;
}

/* ---- digits --------------------------------------------------------------------------------- */

static int64_t number_exponent(const char *text, const char *end)
{
    const bool is_negative = text < end && *text == '-';
    int64_t value = 0;

    for (text += text < end && (*text == '-' || *text == '+'); text < end; text++)
        if (*text < '0' || *text > '9')
            value = NUMBER_FAR; /* no number, and none that fits anything */
        else if (value < NUMBER_FAR)
            value = value * 10 + (*text - '0');
    return is_negative ? -value : value;
}

struct laz_json_digits laz_json_digits(const char *raw, size_t len)
{
    const char *end = raw + len, *at = raw + (*raw == '-');
    struct laz_json_digits number = {.is_negative = *raw == '-'};
    int64_t digits = 0, before_point = -1, before_first = 0;

    for (; at < end && *at != 'e' && *at != 'E'; at++) {
        if (*at == '.') {
            before_point = digits;
            continue;
        }
        if (*at != '0' && !number.from) {
            number.from = at;
            before_first = digits;
        }
        if (*at != '0')
            number.to = at + 1;
        digits++;
    }
    if (!number.from)
        return (struct laz_json_digits){.exponent = 0};
    number.exponent = (before_point < 0 ? digits : before_point) - 1 - before_first;
    if (at < end)
        number.exponent += number_exponent(at + 1, end);
    return number;
}

int laz_json_next_digit(struct laz_json_digits *number)
{
    if (number->from < number->to && *number->from == '.')
        number->from++;
    if (number->from >= number->to)
        return -1;
    const char c = *number->from++;
    return c >= '0' && c <= '9' ? c - '0' : -2;
}

bool laz_json_format_plain(struct laz_buf *buf, struct laz_json_digits number)
{
    int64_t place = number.exponent; /* of the next digit; 0: before the point */
    const bool is_long = number.to && number.to - number.from > NUMBER_PLAIN;
    int digit = laz_json_next_digit(&number);

    if (is_long || place > NUMBER_PLAIN || place < -NUMBER_PLAIN)
        return false;
    if (number.is_negative)
        laz_buf_putc(buf, '-');
    if (digit < 0 || place < 0)
        laz_buf_puts(buf, digit < 0 ? "0" : "0.");
    for (int64_t at = -1; at > place; at--)
        laz_buf_putc(buf, '0');
    for (; digit >= 0; digit = laz_json_next_digit(&number), place--) {
        if (place == -1 && number.exponent >= 0)
            laz_buf_putc(buf, '.');
        laz_buf_putc(buf, (char)('0' + digit));
    }
    for (; number.to && place >= 0; place--)
        laz_buf_putc(buf, '0');
    return digit == -1 && !buf->failed;
}

bool laz_json_is_same_number(struct laz_json_digits a, struct laz_json_digits b)
{
    int digit;

    if (a.is_negative != b.is_negative || a.exponent != b.exponent)
        return false;
    do {
        digit = laz_json_next_digit(&a);
        if (digit != laz_json_next_digit(&b))
            return false;
    } while (digit >= 0);
    return true;
}

bool laz_json_is_kept(const char *raw, size_t len)
{
    struct laz_buf text = LAZ_BUF_INIT;
    double number;

    if (!laz_json_to_double(raw, len, &number))
        return true;
    laz_json_format_double(&text, number, false);
    bool same = text.failed || laz_json_is_same_number(laz_json_digits(text.data, text.len),
                                                       laz_json_digits(raw, len));
    laz_buf_fini(&text);
    return same;
}

bool laz_json_to_int(const char *raw, size_t len, int64_t *value)
{
    int64_t whole = 0;

    if (!len || !(raw[0] == '-' || (raw[0] >= '0' && raw[0] <= '9')))
        return false;
    struct laz_json_digits number = laz_json_digits(raw, len);
    if (number.exponent < 0 || number.exponent > 15) /* 2^53 has 16 digits */
        return false;
    for (int64_t i = 0; number.to && i <= number.exponent; i++) {
        int digit = laz_json_next_digit(&number);
        if (digit < -1)
            return false;
        whole = whole * 10 + (digit > 0 ? digit : 0);
    }
    if (laz_json_next_digit(&number) != -1 || whole > NUMBER_INT)
        return false;
    *value = number.is_negative ? -whole : whole;
    return true;
}
