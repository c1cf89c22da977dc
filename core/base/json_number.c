/* SPDX-License-Identifier: MIT */
/* json_number.c - numbers in JSON's notation: as doubles, and exactly as they are written.
 * Side: host and agent.  Input trusted: no.
 *
 * The process's locale has no influence.  Doubles are not enough to compare numbers: as a double
 * 9007199254740993 is 9007199254740992, and 10.000000000000000000001 is 10, so two texts that
 * another reader sees as different numbers would be equal.  Decisions about a number that is passed
 * on as text are made on its digits. */
#include "base/json_number.h"

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
#define NUMBER_INT ((int64_t)1 << 53)

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
    char copy[512];
    char *big = NULL;
    char *use = copy;

    if (len >= sizeof copy) {
        big = laz_strndup(text, len);
        if (!big)
            return NAN;
        use = big;
    } else {
        memcpy(copy, text, len);
        copy[len] = '\0';
    }
    double value = number_read(use);
    free(big);
    return value;
}

void laz_json_format_double(struct laz_buf *buf, double value, bool keep_point)
{
    char text[64];
    size_t n = 0;

    if (fabs(value) < 1e15 && value == floor(value)) {
        n = (size_t)snprintf(text, sizeof text, value == 0 && signbit(value) ? "-%.0f" : "%.0f",
                             value == 0 ? 0.0 : value);
    } else {
        for (int digits = 15; digits <= 17; digits++) {
            n = (size_t)snprintf(text, sizeof text, "%.*g", digits, value);
            for (size_t i = 0; i < n; i++) /* the locale's decimal point */
                if (!strchr("+-0123456789e.", text[i]))
                    text[i] = '.';
            if (digits == 17 || laz_json_strtod(text, n) == value)
                break;
        }
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
