/* SPDX-License-Identifier: MIT */
/* nearest.h - "did you mean ...": the known word that is closest to a mistyped one.
 *
 *     struct laz_nearest nearest;
 *     laz_nearest_init(&nearest, typed);
 *     for (each known word)
 *         laz_nearest_try(&nearest, word);
 *     laz_nearest_best(&nearest);   the word, or NULL when none is close enough */
#ifndef LAZ_BASE_NEAREST_H
#define LAZ_BASE_NEAREST_H

#include <stddef.h>

struct laz_nearest {
    const char *typed;
    const char *best;
    size_t distance;
};

/* The number of edits (insert, delete, replace, swap two neighbours) from one word to the other, in
 * bytes, ignoring the case of ASCII letters. Only the first 64 bytes of a word are compared. */
size_t laz_edit_distance(const char *a, const char *b);

void laz_nearest_init(struct laz_nearest *nearest, const char *typed); /* borrows */
void laz_nearest_try(struct laz_nearest *nearest, const char *word);   /* borrows */
const char *laz_nearest_best(const struct laz_nearest *nearest);

#endif
