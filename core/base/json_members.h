/* SPDX-License-Identifier: MIT */
/* json_members.h - where the members of an object and the items of a list stand in a JSON text.
 *
 * Nothing is copied, converted or allocated: what is found points into the text.  Text from outside
 * goes through laz_json_scan_members, which checks and finds in one pass; the others step over text
 * that was scanned, or made by a trusted side.  They stay within the text whatever it holds. */
#ifndef LAZ_BASE_JSON_MEMBERS_H
#define LAZ_BASE_JSON_MEMBERS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct laz_json_found {
    const char *key; /* between its quotes, as written */
    size_t key_len;
    const char *raw; /* the value */
    size_t len;
};

/* laz_json_scan; finds the members of the outermost object as well. The first `max` are kept, *n is
 * how many there are (0 where the value is not an object). */
int laz_json_scan_members(const char *text, size_t len, struct laz_json_found *found, size_t max,
                          size_t *n, struct laz_error *err);
/* The same without the check. False: the text is not an object. */
bool laz_json_find_members(const char *text, size_t len, struct laz_json_found *found, size_t max,
                           size_t *n);
/* Is it the member of this name (ASCII), however its key was written? */
bool laz_json_found_is(const struct laz_json_found *found, const char *name);
/* The member of this name (ASCII): true, and the text of the value. */
bool laz_json_member(const char *object, size_t len, const char *key, const char **raw,
                     size_t *raw_len);

/* The items of a list, or the members of an object, one after the other. */
struct laz_json_items {
    const char *at, *end;
    bool failed; /* the text is not a list, or not an object */
};
struct laz_json_items laz_json_items(const char *text, size_t len);
struct laz_json_items laz_json_members(const char *text, size_t len);
/* False at the end. */
bool laz_json_next_item(struct laz_json_items *items, const char **raw, size_t *len);
bool laz_json_next_member(struct laz_json_items *items, struct laz_json_found *found);

#endif
