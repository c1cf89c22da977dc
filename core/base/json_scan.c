/* SPDX-License-Identifier: MIT */
/* json_scan.c - the strict scan that every JSON text passes first.
 * Side: host and agent.  Input trusted: no.
 *
 * The scan is one loop with a stack of its own, so no text causes recursion.  json_scan.h lists
 * what later code may rely on.  Each byte is read only a few times, whatever the text: no number is
 * converted, and repeated keys are found in linear time (json_keys.c). */
#include "base/json_scan.h"

#include "base/json_keys.h"
#include "base/json_lex.h"
#include "base/json_number.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

struct scan {
    const char *text;
    size_t len;
    size_t at;
    const char *problem;
    struct json_keys keys;
    struct {
        bool object;
        size_t first_key;
    } stack[LAZ_JSON_MAX_DEPTH];
    size_t depth;
    struct laz_json_found *found; /* the members of the outermost object; see json_scan.h */
    size_t max_found, n_found;
};

static bool scan_fail(struct scan *scan, const char *problem)
{
    if (!scan->problem)
        scan->problem = problem;
    return false;
}

static inline void scan_space(struct scan *scan)
{
    while (scan->at < scan->len && json_is_space(scan->text[scan->at]))
        scan->at++;
}

/* Checks the escape sequence at *i and moves *i behind it. */
static bool scan_escape(struct scan *scan, size_t *i)
{
    uint32_t code_point;
    size_t n;

    if (!laz_json_escape(scan->text + *i, scan->len - *i, &code_point, &n))
        return scan_fail(scan, "an escape sequence is not valid");
    if (!code_point)
        return scan_fail(scan, "a string contains \\u0000");
    *i += n;
    return true;
}

/* A string whose opening quote is at `at`; moves `at` behind the closing quote. */
static bool scan_string(struct scan *scan, bool *escaped)
{
    size_t i = scan->at + 1;

    *escaped = false;
    for (;;) {
        i += json_plain_span(scan->text + i, scan->len - i);
        if (i >= scan->len)
            return scan_fail(scan, "a string is not closed");
        unsigned char c = (unsigned char)scan->text[i];
        if (c == '"')
            break;
        scan->at = i;
        if (c == '\\') {
            *escaped = true;
            if (!scan_escape(scan, &i))
                return false;
        } else if (c >= 0x80) {
            size_t n = laz_utf8_span(scan->text + i, scan->len - i);
            if (!n)
                return scan_fail(scan, "a string is not valid UTF-8");
            i += n;
        } else {
            return scan_fail(scan, "a string contains a control character");
        }
    }
    scan->at = i + 1;
    return true;
}

/* ---- numbers: their form, and whether a double can hold them ---- */

/* The digits of 2^1024 - 2^970, halfway between the largest double and the next one if the range
 * went on: numbers from here on are rounded to infinity (IEEE 754-2008, 4.3.1). */
static const char too_large[] =
    "17976931348623158079372897140530341507993413271003782693617377898044496829276475094664901797"
    "75872070963302864166928879109465555478519404026306574886715058206819089020007083836762738548"
    "45817711531764475730270069855571366959622842914819860834936475292719074168444365510704342711"
    "559699508093042880177904174497792";

#define TOO_LARGE_EXPONENT 308

_Static_assert(sizeof too_large == TOO_LARGE_EXPONENT + 2, "all of its digits");

/* Is it less than 2^1024 - 2^970? The digits are compared one by one, because converting a number
 * costs up to a hundred times as much as reading it. */
static bool number_is_finite(const char *raw, size_t len)
{
    struct laz_json_digits number = laz_json_digits(raw, len);

    if (number.exponent != TOO_LARGE_EXPONENT)
        return number.exponent < TOO_LARGE_EXPONENT;
    for (const char *c = too_large; *c; c++) {
        int digit = laz_json_next_digit(&number);
        if (digit != *c - '0')
            return digit < *c - '0';
    }
    return false;
}

/* The end of the digits at `p`; NULL when there are none. */
static const char *number_digits(const char *p, const char *end)
{
    const char *first = p;

    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return p > first ? p : NULL;
}

static bool scan_number(struct scan *scan)
{
    const char *start = scan->text + scan->at, *end = scan->text + scan->len;
    const char *whole = start + (start < end && *start == '-'), *p = number_digits(whole, end);
    bool has_exponent;

    if (!p || (*whole == '0' && p - whole > 1))
        return scan_fail(scan, "a number is not valid");
    if (p < end && *p == '.')
        p = number_digits(p + 1, end);
    has_exponent = p && p < end && (*p == 'e' || *p == 'E');
    if (has_exponent) {
        p++;
        p = number_digits(p + (p < end && (*p == '+' || *p == '-')), end);
    }
    if (!p)
        return scan_fail(scan, "a number is not valid");
    size_t len = (size_t)(p - start);
    if ((has_exponent || len > TOO_LARGE_EXPONENT) && !number_is_finite(start, len))
        return scan_fail(scan, "a number is out of range");
    scan->at += len;
    return true;
}

/* ---- the members of the outermost object ---- */

static inline bool scan_finds(const struct scan *scan)
{
    return scan->depth == 1 && scan->stack[0].object && scan->n_found <= scan->max_found;
}

/* A key of it, whose quotes are at `quote` and before `at`. */
static void scan_found_key(struct scan *scan, size_t quote)
{
    if (scan->n_found < scan->max_found)
        scan->found[scan->n_found] =
            (struct laz_json_found){.key = scan->text + quote + 1, .key_len = scan->at - quote - 2};
    scan->n_found++;
}

/* The value of the last key begins, or ends, at `at`. */
static void scan_found_value(struct scan *scan, bool ends)
{
    struct laz_json_found *found = scan->found + scan->n_found - 1;

    if (ends)
        found->len = (size_t)(scan->text + scan->at - found->raw);
    else
        found->raw = scan->text + scan->at;
}

/* ---- structure ---- */

static bool scan_key(struct scan *scan)
{
    scan_space(scan);
    size_t quote = scan->at;
    if (quote >= scan->len || scan->text[quote] != '"')
        return scan_fail(scan, "a key is expected");
    bool escaped;
    if (!scan_string(scan, &escaped))
        return false;
    const char *problem = json_keys_add(&scan->keys, quote + 1, scan->at - quote - 2, escaped);
    if (problem)
        return scan_fail(scan, problem);
    if (scan->depth == 1)
        scan_found_key(scan, quote);
    scan_space(scan);
    if (scan->at >= scan->len || scan->text[scan->at] != ':')
        return scan_fail(scan, "':' is expected");
    scan->at++;
    return true;
}

static bool scan_word(struct scan *scan, const char *word)
{
    size_t n = strlen(word);

    if (scan->len - scan->at < n || memcmp(scan->text + scan->at, word, n) != 0)
        return scan_fail(scan, "a value is expected");
    scan->at += n;
    return true;
}

/* A value that is no container, or the opening of one: *opened says which. */
static bool scan_value(struct scan *scan, bool *opened)
{
    *opened = false;
    scan_space(scan);
    if (scan->at >= scan->len)
        return scan_fail(scan, "a value is expected");
    if (scan_finds(scan))
        scan_found_value(scan, false);
    char c = scan->text[scan->at];
    switch (c) {
    case '{':
    case '[':
        if (scan->depth == LAZ_JSON_MAX_DEPTH)
            return scan_fail(scan, "nested deeper than 64 levels");
        scan->stack[scan->depth].object = c == '{';
        scan->stack[scan->depth].first_key = scan->keys.n;
        scan->depth++;
        scan->at++;
        *opened = true;
        return true;
    case '"':
        return scan_string(scan, &(bool){false});
    case 't':
        return scan_word(scan, "true");
    case 'f':
        return scan_word(scan, "false");
    case 'n':
        return scan_word(scan, "null");
    default:
        return scan_number(scan);
    }
}

/* After a value: closes what closes here; true with *more when another value follows. */
static bool scan_after(struct scan *scan, bool opened, bool *more)
{
    *more = true;
    for (;;) {
        if (!scan->depth) {
            *more = false;
            return true;
        }
        bool object = scan->stack[scan->depth - 1].object;
        size_t first_key = scan->stack[scan->depth - 1].first_key;
        scan_space(scan);
        if (scan->at >= scan->len)
            return scan_fail(scan, "the text ends inside a list or object");
        char c = scan->text[scan->at];
        if (c == (object ? '}' : ']')) {
            const char *problem = object ? json_keys_close(&scan->keys, first_key) : NULL;
            if (problem)
                return scan_fail(scan, problem);
            scan->at++;
            scan->depth--;
            opened = false;
            if (scan_finds(scan))
                scan_found_value(scan, true);
            continue;
        }
        if (!opened) {
            if (c != ',')
                return scan_fail(scan, "',' or the end of a list or object is expected");
            scan->at++;
        }
        return object ? scan_key(scan) : true;
    }
}

int laz_json_scan_members(const char *text, size_t len, struct laz_json_found *found, size_t max,
                          size_t *n, struct laz_error *err)
{
    struct scan scan = {
        .text = text, .len = len, .keys.text = text, .found = found, .max_found = max};
    bool more = true;

    while (more) {
        bool opened;
        if (!scan_value(&scan, &opened))
            break;
        if (!opened && scan_finds(&scan))
            scan_found_value(&scan, true);
        if (!scan_after(&scan, opened, &more))
            break;
    }
    *n = scan.n_found;
    if (!scan.problem) {
        scan_space(&scan);
        if (scan.at < len)
            scan.problem = "something follows the value";
    }
    json_keys_fini(&scan.keys);
    if (scan.keys.failed)
        return laz_error_nomem(err);
    if (scan.problem)
        return laz_error_set(err, LAZ_EPARSE, 0, "not valid JSON: %s (byte %zu)", scan.problem,
                             scan.at);
    return 0;
}

int laz_json_scan(const char *text, size_t len, struct laz_error *err)
{
    size_t n;

    return laz_json_scan_members(text, len, NULL, 0, &n, err);
}
