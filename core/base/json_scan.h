/* SPDX-License-Identifier: MIT */
/* json_scan.h - the strict check of text that claims to be JSON. */
#ifndef LAZ_BASE_JSON_SCAN_H
#define LAZ_BASE_JSON_SCAN_H

#include "base/error.h"
#include "base/json_text.h"

#include <stddef.h>

#define LAZ_JSON_MAX_DEPTH 64

/* 0 when `text` is exactly one JSON value (white space around it allowed) that lazaret accepts:
 * at most 64 levels, valid UTF-8, no NUL byte or \u0000, no lone surrogate, no repeated key in an
 * object, every number within a double's range. Else LAZ_EPARSE, with the byte position, or
 * LAZ_ENOMEM. */
int laz_json_scan(const char *text, size_t len, struct laz_error *err);

/* laz_json_scan; appends the value to `buf` on one line (laz_json_compact). */
int laz_json_scan_compact(const char *text, size_t len, struct laz_buf *buf, struct laz_error *err);

/* laz_json_scan; finds the members of the outermost object as well. The first `max` are kept, *n is
 * how many there are (0 where the value is not an object). */
int laz_json_scan_members(const char *text, size_t len, struct laz_json_found *found, size_t max,
                          size_t *n, struct laz_error *err);

#endif
