/* SPDX-License-Identifier: MIT */
/* convert.c - converts sizes, times and words of a configuration to C values. */
#include "settings/schema.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct convert_unit {
    const char *name;
    uint64_t factor;
};

static const struct convert_unit size_units[] = {
    {"B", 1},
    {"KiB", UINT64_C(1) << 10},
    {"MiB", UINT64_C(1) << 20},
    {"GiB", UINT64_C(1) << 30},
    {"TiB", UINT64_C(1) << 40},
    {"kB", 1000},
    {"MB", 1000 * 1000},
    {"GB", 1000 * 1000 * 1000},
    {"TB", UINT64_C(1000) * 1000 * 1000 * 1000},
    {NULL, 0},
};

/* In microseconds, so that fractions of a millisecond are noticed and rounded up. */
static const struct convert_unit time_units[] = {
    {"ms", 1000},
    {"s", UINT64_C(1000) * 1000},
    {"m", UINT64_C(60) * 1000 * 1000},
    {"h", UINT64_C(3600) * 1000 * 1000},
    {"d", UINT64_C(86400) * 1000 * 1000},
    {NULL, 0},
};

/* A number with at most three decimals, and a unit. The result is in thousandths of the unit of the
 * factors. Fractions of bytes are accepted here. */
static bool convert_text(const char *text, size_t len, const struct convert_unit *units,
                         uint64_t *thousandths)
{
    uint64_t number = 0, scale = 1000;
    size_t i = 0;

    for (; i < len && text[i] >= '0' && text[i] <= '9'; i++) {
        if (number > UINT64_MAX / 10 / 1000 - 1)
            return false;
        number = number * 10 + (uint64_t)(text[i] - '0');
    }
    if (i == 0)
        return false;
    number *= 1000;
    if (i < len && text[i] == '.') {
        size_t start = ++i;
        for (; i < len && text[i] >= '0' && text[i] <= '9' && scale > 1; i++) {
            scale /= 10;
            number += (uint64_t)(text[i] - '0') * scale;
        }
        if (i == start)
            return false;
    }
    if (i < len && text[i] == ' ')
        i++;
    for (; units->name; units++)
        if (strlen(units->name) == len - i && memcmp(units->name, text + i, len - i) == 0) {
            if (number > UINT64_MAX / units->factor)
                return false;
            *thousandths = number * units->factor;
            return true;
        }
    return false;
}

bool laz_convert_size(const struct laz_toml_node *node, uint64_t *bytes)
{
    uint64_t thousandths;

    if (node->type == LAZ_TOML_INTEGER && node->integer >= 0) {
        *bytes = (uint64_t)node->integer;
        return true;
    }
    if (node->type != LAZ_TOML_STRING ||
        !convert_text(node->text, node->len, size_units, &thousandths))
        return false;
    *bytes = thousandths / 1000 + (thousandths % 1000 != 0);
    return true;
}

void laz_suggest_size(struct laz_buf *buf, const struct laz_toml_node *node)
{
    static const char letters[] = "kmgt";
    const char *text = laz_toml_is_text(node) ? node->text : "";
    size_t digits = strspn(text, "0123456789."), at = digits + (text[digits] == ' ');
    const char *unit = text[at] ? strchr(letters, text[at] | 0x20) : NULL;

    if (digits && unit && strspn(text + at + 1, "iIbB") == strlen(text + at + 1))
        laz_buf_printf(buf, " (did you mean %.*s%ciB?)", (int)digits, text, *unit & ~0x20);
}

void laz_suggest_quotes(struct laz_buf *buf, const struct laz_toml_node *node, const char *table)
{
    const bool is_here = node->toml->has_lines;

    if (node->type == LAZ_TOML_STRING || node->type == LAZ_TOML_TABLE ||
        node->type == LAZ_TOML_ARRAY)
        return;
    laz_buf_puts(buf, is_here ? " (write " : " (write '");
    if (!is_here)
        laz_buf_printf(buf, "%s.", table);
    laz_toml_format_key(buf, node->key, node->key_len);
    laz_buf_puts(buf, is_here ? " = \"...\")" : "=\"...\"')");
}

bool laz_convert_time(const struct laz_toml_node *node, uint64_t *ms)
{
    const uint64_t per_ms = 1000 * 1000;
    uint64_t thousandths;

    if (node->type == LAZ_TOML_INTEGER && node->integer >= 0 && node->integer < INT64_MAX / 1000) {
        *ms = (uint64_t)node->integer * 1000;
        return true;
    }
    if (node->type == LAZ_TOML_FLOAT && node->number >= 0 && node->number < 1e12) {
        *ms = (uint64_t)ceil(node->number * 1000);
        return true;
    }
    if (node->type != LAZ_TOML_STRING ||
        !convert_text(node->text, node->len, time_units, &thousandths))
        return false;
    *ms = thousandths / per_ms + (thousandths % per_ms != 0);
    return true;
}

/* A text as on a command line: digits alone, or with a unit. */
static void convert_node(const char *text, struct laz_toml_node *node)
{
    const size_t len = strlen(text);

    memset(node, 0, sizeof *node);
    node->type = LAZ_TOML_STRING;
    node->text = (char *)(uintptr_t)text;
    node->len = len;
    if (len && len < 16 && strspn(text, "0123456789") == len) {
        node->type = LAZ_TOML_INTEGER;
        node->integer = strtoll(text, NULL, 10);
    }
}

bool laz_settings_size(const char *text, uint64_t *bytes)
{
    struct laz_toml_node node;

    convert_node(text, &node);
    return laz_convert_size(&node, bytes);
}

bool laz_settings_time(const char *text, uint64_t *ms)
{
    struct laz_toml_node node;

    convert_node(text, &node);
    return laz_convert_time(&node, ms);
}

/* Uses the largest unit of which the value is a multiple. */
static void convert_format(struct laz_buf *buf, uint64_t value, const struct convert_unit *units)
{
    const struct convert_unit *best = units;

    for (; units->name && value; units++)
        if (value % units->factor == 0 && units->factor > best->factor)
            best = units;
    laz_buf_printf(buf, "%" PRIu64 "%s", value / best->factor, best->name);
}

void laz_format_size(struct laz_buf *buf, uint64_t bytes)
{
    convert_format(buf, bytes, size_units);
}

void laz_format_time(struct laz_buf *buf, uint64_t ms)
{
    convert_format(buf, ms > UINT64_MAX / 1000 ? UINT64_MAX : ms * 1000, time_units);
}

bool laz_is_plugin_name(const char *text, size_t len)
{
    size_t n = 0;

    while (n < len && laz_toml_is_bare((unsigned char)text[n]))
        n++;
    return n == len && len >= 1 && len <= 64;
}
