/* SPDX-License-Identifier: MIT */
/* nearest.h - "did you mean ...": the known word that is closest to a mistyped one.
 *
 *     struct laz_nearest nearest;
 *     laz_nearest_init(&nearest, typed);
 *     for (each known word)
 *         laz_nearest_try(&nearest, word);
 *     laz_nearest_best(&nearest);   the word, or NULL when nothing is close enough to be helpful */
#ifndef LAZ_BASE_NEAREST_H
#define LAZ_BASE_NEAREST_H

#include <stddef.h>

struct laz_nearest {
    const char *typed;
    const char *best;
    size_t distance;
};

/* Edits (insert, delete, replace, swap of two neighbours) from one word to the other, in bytes and
 * without regard to the case of ASCII letters. Words longer than 64 bytes are compared as far as
 * that. */
size_t laz_edit_distance(const char *a, const char *b);

void laz_nearest_init(struct laz_nearest *nearest, const char *typed); /* borrows */
void laz_nearest_try(struct laz_nearest *nearest, const char *word);   /* borrows */
const char *laz_nearest_best(const struct laz_nearest *nearest);

#endif
