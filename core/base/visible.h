/* SPDX-License-Identifier: MIT */
/* visible.h - text of strangers for a terminal: shown, never obeyed.
 *
 * Escape sequences move the cursor, set the title, answer as if keys were pressed; a carriage
 * return or a backspace covers what was written before; direction marks of Unicode reorder it.
 * All of them, and bytes that are no UTF-8, are written as \x1b or \u202e.  Tabs and newlines stay;
 * a carriage return becomes a newline, so that progress bars can be read. */
#ifndef LAZ_BASE_VISIBLE_H
#define LAZ_BASE_VISIBLE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

/* Text that comes in pieces; zeroed at the beginning. */
struct laz_visible {
    bool one_line; /* set by the caller: line breaks are made visible, too */
    bool returned; /* the last character was a carriage return */
    char held[4];  /* the beginning of a character */
    size_t n_held;
};

void laz_visible_add(struct laz_visible *visible, struct laz_buf *out, const char *text,
                     size_t len);
void laz_visible_end(struct laz_visible *visible, struct laz_buf *out); /* what was held back */
/* A whole text on one line. */
void laz_visible_line(struct laz_buf *out, const char *text, size_t len);

#endif
