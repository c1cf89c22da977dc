/* SPDX-License-Identifier: MIT */
/* visible.h - untrusted text for a terminal, which shows it and does not act on it.
 *
 * Escape sequences move the cursor, set the title, or make the terminal answer as if keys were
 * pressed; a carriage return or a backspace hides earlier text; direction marks of Unicode reorder
 * it.  All of these, and bytes that are not UTF-8, are written as escapes such as \x1b or \u202e.
 * Tabs and newlines stay; a carriage return becomes a newline, so that progress bars are
 * readable. */
#ifndef LAZ_BASE_VISIBLE_H
#define LAZ_BASE_VISIBLE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

/* For a text that arrives in pieces; starts zeroed. */
struct laz_visible {
    bool one_line; /* set by the caller: line breaks are shown as escapes, too */
    bool json;     /* the same: the text is JSON, and stays the same JSON: \u001b and not \x1b */
    bool returned; /* the last character was a carriage return */
    char held[4];  /* the first bytes of an incomplete character */
    size_t n_held;
};

void laz_visible_add(struct laz_visible *visible, struct laz_buf *out, const char *text,
                     size_t len);
void laz_visible_end(struct laz_visible *visible, struct laz_buf *out); /* what was held back */
/* A whole text on one line. */
void laz_visible_line(struct laz_buf *out, const char *text, size_t len);

#define LAZ_VISIBLE_SHOWN 2000 /* bytes of a value that are shown */

/* For people who have to decide on untrusted JSON: appends the members of a scanned object, " name
 * = value" on a line each. Strings are shown as they read, because an escape of JSON could hide
 * what it says; and so that a terminal only shows them. Of a long value the beginning is shown, and
 * its size. */
void laz_visible_members(struct laz_buf *text, const char *object, size_t len);

#endif
