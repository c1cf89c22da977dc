/* SPDX-License-Identifier: MIT */
/* json_number.h - numbers in JSON's notation: as doubles, and exactly as they are written. */
#ifndef LAZ_BASE_JSON_NUMBER_H
#define LAZ_BASE_JSON_NUMBER_H

#include "base/buf.h"

#include <lazaret/json.h> /* struct laz_json_number */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A double, read and written without the process's locale. */
double laz_json_strtod(const char *text, size_t len);
void laz_json_format_double(struct laz_buf *buf, double value, bool keep_point);
void laz_json_format_int(struct laz_buf *buf, int64_t value);

/* The number at text[0], and its length: 0 when there is none, or an integer of more digits than
 * `whole` holds. */
size_t laz_json_read_number(const char *text, size_t len, struct laz_json_number *number);

/* A raw value as a C number; false when it is none (or, for int, not whole or beyond 2^53). */
bool laz_json_to_int(const char *raw, size_t len, int64_t *value);
bool laz_json_to_double(const char *raw, size_t len, double *value);

/* The digits of a raw number, d.ddd * 10^exponent, as a part of its text: from the first digit that
 * is not 0 to behind the last such; a point may stand among them. Zero has none. */
struct laz_json_digits {
    const char *from, *to;
    int64_t exponent;
    bool is_negative;
};
struct laz_json_digits laz_json_digits(const char *raw, size_t len);
/* The next digit, -1 at the end, or -2 for a byte that is not a digit: the agent does not scan the
 * lines of its host. */
int laz_json_next_digit(struct laz_json_digits *number);
/* Appends the number without an exponent and without needless zeros: "-0.05", "1200". False: that
 * would have more than some 5000 digits, or a byte is not a digit. */
bool laz_json_format_plain(struct laz_buf *buf, struct laz_json_digits number);
/* Are they exactly the same number? 10, 1e1 and 10.0 are. */
bool laz_json_is_same_number(struct laz_json_digits a, struct laz_json_digits b);
/* Does a double keep the raw number exactly? False when reading it as a double and writing that
 * double again gives another number: a language with doubles can never return such a number. */
bool laz_json_is_kept(const char *raw, size_t len);

#endif
