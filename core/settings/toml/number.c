/* SPDX-License-Identifier: MIT */
/* number.c - TOML's numbers, dates and times.
 *
 * Each of them is a run of characters without a space, but for the space that may stand between a
 * date and a time.  So the run is cut out first, and then has to match one of the forms as a whole.
 * Doubles are converted as in JSON, independent of the locale. */
#include "settings/toml/parser.h"

#include "base/json.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

struct number_text {
    const char *at, *end;
};

static int number_peek(const struct number_text *t)
{
    return t->at < t->end ? (unsigned char)*t->at : -1;
}

static bool number_take(struct number_text *t, int c)
{
    if (number_peek(t) != c)
        return false;
    t->at++;
    return true;
}

/* ---- integers and floats ----------------------------------------------------------------------*/

/* Appends a run of digits to `out`, without the single underscores that may stand between them.
 * False when there is no digit, or an underscore stands elsewhere. */
static bool number_digits(struct number_text *t, unsigned base, struct laz_buf *out)
{
    bool digit = false;

    for (;;) {
        int c = number_peek(t);
        if ((unsigned)laz_hex_digit(c) < base) {
            laz_buf_putc(out, (char)c);
            digit = true;
        } else if (c == '_' && digit) {
            digit = false;
        } else {
            return digit;
        }
        t->at++;
    }
}

#define NUMBER_NONE      0 /* not of this form */
#define NUMBER_FINE      1
#define NUMBER_TOO_LARGE 2

static int number_accumulate(const struct laz_buf *digits, unsigned base, bool negative,
                             int64_t *value)
{
    uint64_t max = (uint64_t)INT64_MAX + negative;
    uint64_t sum = 0;

    for (size_t i = 0; i < digits->len; i++) {
        const unsigned digit = (unsigned)laz_hex_digit(digits->data[i]);
        if (sum > (max - digit) / base)
            return NUMBER_TOO_LARGE;
        sum = sum * base + digit;
    }
    *value = negative ? (int64_t)(0 - sum) : (int64_t)sum;
    return NUMBER_FINE;
}

static int number_integer(struct number_text t, struct laz_buf *scratch, int64_t *value)
{
    static const struct {
        char letter;
        unsigned base;
    } prefixes[] = {{'x', 16}, {'o', 8}, {'b', 2}};
    unsigned base = 10;

    laz_buf_clear(scratch);
    if (t.end - t.at > 2 && t.at[0] == '0')
        for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
            if (t.at[1] == prefixes[i].letter)
                base = prefixes[i].base;
    bool negative = false;
    if (base != 10)
        t.at += 2;
    else if (!number_take(&t, '+'))
        negative = number_take(&t, '-');
    if (!number_digits(&t, base, scratch) || t.at != t.end ||
        (base == 10 && scratch->len > 1 && scratch->data[0] == '0'))
        return NUMBER_NONE;
    return number_accumulate(scratch, base, negative, value);
}

static int number_float(struct number_text t, struct laz_buf *scratch, double *value)
{
    laz_buf_clear(scratch);
    bool negative = number_take(&t, '-');
    if (!negative)
        number_take(&t, '+');
    if (t.end - t.at == 3 && (!memcmp(t.at, "inf", 3) || !memcmp(t.at, "nan", 3))) {
        *value = copysign(*t.at == 'i' ? (double)INFINITY : (double)NAN, negative ? -1.0 : 1.0);
        return NUMBER_FINE;
    }
    if (negative)
        laz_buf_putc(scratch, '-');
    size_t start = scratch->len;
    if (!number_digits(&t, 10, scratch) ||
        (scratch->len > start + 1 && scratch->data[start] == '0'))
        return NUMBER_NONE;
    if (number_take(&t, '.')) {
        laz_buf_putc(scratch, '.');
        if (!number_digits(&t, 10, scratch))
            return NUMBER_NONE;
    }
    if (number_take(&t, 'e') || number_take(&t, 'E')) {
        laz_buf_putc(scratch, 'e');
        if (number_take(&t, '-'))
            laz_buf_putc(scratch, '-');
        else
            number_take(&t, '+');
        if (!number_digits(&t, 10, scratch))
            return NUMBER_NONE;
    }
    if (t.at != t.end)
        return NUMBER_NONE;
    if (scratch->failed || !laz_json_to_double(scratch->data, scratch->len, value) ||
        !isfinite(*value))
        return NUMBER_TOO_LARGE;
    return NUMBER_FINE;
}

/* ---- dates and times --------------------------------------------------------------------------*/

/* The value of exactly n digits, from min to max; -1: anything else. */
static int date_field(struct number_text *t, int n, int min, int max)
{
    int value = 0;

    for (int i = 0; i < n; i++) {
        int c = number_peek(t);
        if (!isdigit(c))
            return -1;
        value = value * 10 + (c - '0');
        t->at++;
    }
    return value >= min && value <= max ? value : -1;
}

static int date_days(int year, int month)
{
    static const unsigned char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return month == 2 && leap ? 29 : days[month - 1];
}

static bool date_date(struct number_text *t)
{
    int year = date_field(t, 4, 0, 9999);
    if (year < 0 || !number_take(t, '-'))
        return false;
    int month = date_field(t, 2, 1, 12);
    if (month < 0 || !number_take(t, '-'))
        return false;
    return date_field(t, 2, 1, date_days(year, month)) > 0;
}

/* Hours, minutes, seconds (60: a leap second), and a fraction of any length. */
static bool date_time(struct number_text *t)
{
    if (date_field(t, 2, 0, 23) < 0 || !number_take(t, ':') || date_field(t, 2, 0, 59) < 0 ||
        !number_take(t, ':') || date_field(t, 2, 0, 60) < 0)
        return false;
    if (!number_take(t, '.'))
        return true;
    const char *start = t->at;
    while (isdigit(number_peek(t)))
        t->at++;
    return t->at > start;
}

static bool date_offset(struct number_text *t)
{
    if (number_take(t, 'Z') || number_take(t, 'z'))
        return true;
    if (!number_take(t, '+') && !number_take(t, '-'))
        return false;
    return date_field(t, 2, 0, 23) >= 0 && number_take(t, ':') && date_field(t, 2, 0, 59) >= 0;
}

/* Finds out which of the four it is; false: none of them. */
static bool date_kind(struct number_text t, enum laz_toml_type *type)
{
    if (t.end - t.at > 2 && t.at[2] == ':') {
        *type = LAZ_TOML_LOCAL_TIME;
        return date_time(&t) && t.at == t.end;
    }
    if (!date_date(&t))
        return false;
    *type = LAZ_TOML_LOCAL_DATE;
    if (t.at == t.end)
        return true;
    if ((!number_take(&t, 'T') && !number_take(&t, 't') && !number_take(&t, ' ')) || !date_time(&t))
        return false;
    *type = LAZ_TOML_LOCAL_DATETIME;
    if (t.at == t.end)
        return true;
    *type = LAZ_TOML_DATETIME;
    return date_offset(&t) && t.at == t.end;
}

static bool date_looks_like(struct number_text t)
{
    ptrdiff_t n = 0;

    while (n < t.end - t.at && isdigit((unsigned char)t.at[n]))
        n++;
    return n < t.end - t.at && n > 0 && (t.at[n] == ':' || (t.at[n] == '-' && n == 4));
}

static bool date_value(struct toml_parser *p, struct number_text t, struct laz_toml_node *node)
{
    struct toml_mark mark = {node->line, node->column, node->from};

    if (!date_kind(t, &node->type))
        return toml_problem(p, mark,
                            "this is not a date or time (they are written 2024-01-31, 12:00:00, "
                            "2024-01-31T12:00:00, 2024-01-31T12:00:00Z)");
    node->len = (size_t)(t.end - t.at);
    char *text = toml_alloc(p->toml, node->len + 1);
    if (!text)
        return toml_no_memory(p);
    memcpy(text, t.at, node->len);
    for (size_t i = 0; i < node->len; i++)
        if (text[i] == 't' || text[i] == ' ')
            text[i] = 'T';
        else if (text[i] == 'z')
            text[i] = 'Z';
    node->text = text;
    return true;
}

/* ---- the run of characters --------------------------------------------------------------------*/

static bool number_is_part(int c)
{
    return laz_toml_is_bare(c) || c == '+' || c == '.' || c == ':';
}

static size_t number_run(const struct toml_parser *p)
{
    size_t n = 0;

    while (number_is_part(toml_peek_at(p, n)))
        n++;
    if (n == 10 && toml_peek_at(p, 4) == '-' && toml_peek_at(p, 10) == ' ' &&
        isdigit(toml_peek_at(p, 11)) && isdigit(toml_peek_at(p, 12)) && toml_peek_at(p, 13) == ':')
        for (n = 11; number_is_part(toml_peek_at(p, n));)
            n++;
    return n;
}

/* What cannot be read is not repeated in a message: it may be a secret without its quotes. */
static bool number_value(struct toml_parser *p, struct number_text t, struct laz_toml_node *node)
{
    struct toml_mark mark = {node->line, node->column, node->from};
    int found = number_integer(t, &p->scratch, &node->integer);

    if (found == NUMBER_TOO_LARGE)
        return toml_problem(p, mark, "this number does not fit into 64 bits");
    if (found == NUMBER_FINE)
        return true;
    node->type = LAZ_TOML_FLOAT;
    found = number_float(t, &p->scratch, &node->number);
    if (p->scratch.failed)
        return toml_no_memory(p);
    if (found == NUMBER_TOO_LARGE)
        return toml_problem(p, mark, "this number is too large for a double");
    if (found == NUMBER_FINE)
        return true;
    if (isdigit((unsigned char)*t.at) || strchr("+-.", *t.at))
        return toml_problem(p, mark, "this is not a number (text stands in quotes)");
    return toml_problem(p, mark, "expected a value, found a word (text stands in quotes)");
}

bool toml_number_or_date(struct toml_parser *p, uint32_t depth, struct laz_toml_node **node)
{
    struct number_text t = {p->text + p->at, p->text + p->at + number_run(p)};

    if (t.at == t.end)
        return toml_problem(p, toml_here(p), "expected a value, found %s", toml_found(p));
    struct laz_toml_node *made = toml_node(p, LAZ_TOML_INTEGER, toml_here(p), depth);
    if (!made)
        return false;
    size_t len = (size_t)(t.end - t.at);
    bool fine = true;
    if (laz_json_to_bool(t.at, len, &made->boolean)) /* the words are those of JSON */
        made->type = LAZ_TOML_BOOLEAN;
    else
        fine = date_looks_like(t) ? date_value(p, t, made) : number_value(p, t, made);
    toml_skip(p, len);
    *node = made;
    return fine;
}
