/* SPDX-License-Identifier: MIT */
/* limits.c - the rows of the tables in limits.h and enforce.h, and functions over them. */
#include "base/limits.h"

#include "base/enforce.h"
#include "base/json_write.h"

#include <string.h>

const struct laz_limit laz_limit_table[LAZ_N_LIMITS] = {
#define LIMIT_ROW(ID, name, field, kind, text, number, min, max, bit, verdict, kept_by, help)      \
    [LAZ_LIMIT_##ID] = {name, "limits." name, offsetof(struct laz_limit_values, field),            \
                        bit,  verdict,        kept_by},
    LAZ_LIMITS(LIMIT_ROW)
#undef LIMIT_ROW
};

const struct laz_limit *laz_limit_of_bit(uint32_t bit)
{
    for (size_t i = 0; bit && i < LAZ_N_LIMITS; i++)
        if (laz_limit_table[i].bit == bit)
            return &laz_limit_table[i];
    return NULL;
}

uint64_t laz_limit_value(const struct laz_limit_values *limits, const struct laz_limit *limit)
{
    uint64_t value;

    memcpy(&value, (const char *)limits + limit->offset, sizeof value);
    return value;
}

struct laz_limits laz_limits_of_plan(const struct laz_limit_values *values, bool reserves)
{
    return (struct laz_limits){
        .cpu_s = values->session_cpu_s,
        .memory_bytes = reserves ? LAZ_UNLIMITED : values->memory_bytes,
        .fsize_bytes = values->fsize_bytes,
        .nproc = values->nproc,
        .nofile = values->nofile,
        .stack_bytes = values->stack_bytes,
    };
}

const char *laz_default_limits(void)
{
#define LIMIT_JSON(ID, name, field, kind, text, number, ...) "\"" name "\":" #number
    return "{" LAZ_LIMITS_WITH_DEFAULT(LIMIT_JSON, ",") "}";
#undef LIMIT_JSON
}

/* ---- what a backend can enforce ---------------------------------------------------------------
 */

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
