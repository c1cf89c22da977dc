/* SPDX-License-Identifier: MIT */
/* enforce.c - looking up bits and words of the table in enforce.h. */
#include "base/enforce.h"

#include "base/json_write.h"

#include <stddef.h>
#include <string.h>

static const struct {
    uint32_t bit;
    const char *name;
} enforce_words[] = {
#define ENFORCE_ROW(bit, word) {bit, word},
    LAZ_ENFORCE_WORDS(ENFORCE_ROW, )
#undef ENFORCE_ROW
};

#define ENFORCE_WORDS (sizeof enforce_words / sizeof enforce_words[0])

const char *laz_enforce_name(uint32_t bit)
{
    for (size_t i = 0; i < ENFORCE_WORDS; i++)
        if (enforce_words[i].bit == bit)
            return enforce_words[i].name;
    return NULL;
}

uint32_t laz_enforce_bit(const char *name)
{
    for (size_t i = 0; name && i < ENFORCE_WORDS; i++)
        if (strcmp(enforce_words[i].name, name) == 0)
            return enforce_words[i].bit;
    return 0;
}

void laz_enforce_json(struct laz_json_write *write, const char *key, uint32_t bits)
{
    laz_json_begin_list(write, key);
    for (uint32_t bit = 1; laz_enforce_name(bit); bit <<= 1)
        if (bits & bit)
            laz_json_add_text(write, NULL, laz_enforce_name(bit));
    laz_json_end_list(write);
}
