/* SPDX-License-Identifier: MIT */
/* visible_json.h - untrusted JSON for people who have to decide on it. */
#ifndef LAZ_BASE_VISIBLE_JSON_H
#define LAZ_BASE_VISIBLE_JSON_H

#include "base/buf.h"

#define LAZ_VISIBLE_SHOWN 2000 /* bytes of a value that are shown */

/* Appends the members of a scanned object, "    name = value" on a line each. Strings are shown as
 * they read, because an escape of JSON could hide what it says; and so that a terminal only shows
 * them. Of a long value the beginning is shown, and its size. */
void laz_visible_members(struct laz_buf *text, const char *object, size_t len);

#endif
