/* SPDX-License-Identifier: MIT */
/* nearest.c - the closest known word.
 *
 * The distance is the restricted Damerau-Levenshtein distance: swapping two neighbouring letters
 * counts as one edit, because it is the most common typing error.  Words are cut at a fixed length,
 * so the work is bounded and nothing is allocated. */
#include "base/nearest.h"

#include <string.h>

#define NEAREST_MAX_WORD 64

static char nearest_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static size_t nearest_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t laz_edit_distance(const char *a, const char *b)
{
    size_t rows[3][NEAREST_MAX_WORD + 1];
    size_t len_a = strnlen(a, NEAREST_MAX_WORD), len_b = strnlen(b, NEAREST_MAX_WORD);

    for (size_t j = 0; j <= len_b; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= len_a; i++) {
        size_t *row = rows[i % 3], *above = rows[(i - 1) % 3], *two_above = rows[(i + 1) % 3];
        char ca = nearest_lower(a[i - 1]);

        row[0] = i;
        for (size_t j = 1; j <= len_b; j++) {
            char cb = nearest_lower(b[j - 1]);
            size_t best = nearest_min(above[j], row[j - 1]) + 1;

            best = nearest_min(best, above[j - 1] + (ca != cb));
            if (i > 1 && j > 1 && ca == nearest_lower(b[j - 2]) && cb == nearest_lower(a[i - 2]))
                best = nearest_min(best, two_above[j - 2] + 1);
            row[j] = best;
        }
    }
    return rows[len_a % 3][len_b];
}

void laz_nearest_init(struct laz_nearest *nearest, const char *typed)
{
    *nearest = (struct laz_nearest){.typed = typed};
}

void laz_nearest_try(struct laz_nearest *nearest, const char *word)
{
    size_t distance = laz_edit_distance(nearest->typed, word);

    if (!nearest->best || distance < nearest->distance) {
        nearest->best = word;
        nearest->distance = distance;
    }
}

const char *laz_nearest_best(const struct laz_nearest *nearest)
{
    const size_t len = strlen(nearest->typed);

    /* One edit in a short word; in a long one, one edit for about three letters. */
    return nearest->distance <= (len < 4 ? 1 : (len + 2) / 3) ? nearest->best : NULL;
}
