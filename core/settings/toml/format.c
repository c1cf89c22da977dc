/* SPDX-License-Identifier: MIT */
/* format.c - nodes as text: TOML notation, descriptions and positions for messages. */
#include "settings/toml/toml.h"

#include "base/json.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define DESCRIBE_MAX 40 /* characters of a string that are shown */

void laz_toml_format_string(struct laz_buf *buf, const char *text, size_t len)
{
    laz_buf_putc(buf, '"');
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\')
            laz_buf_printf(buf, "\\%c", c);
        else if (c == '\n')
            laz_buf_puts(buf, "\\n");
        else if (c == '\t')
            laz_buf_puts(buf, "\\t");
        else if (c < 0x20 || c == 0x7f)
            laz_buf_printf(buf, "\\u%04X", c);
        else
            laz_buf_putc(buf, (char)c);
    }
    laz_buf_putc(buf, '"');
}

void laz_toml_format_key(struct laz_buf *buf, const char *key, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!laz_toml_is_bare((unsigned char)key[i])) {
            laz_toml_format_string(buf, key, len);
            return;
        }
    if (len)
        laz_buf_append(buf, key, len);
    else
        laz_buf_puts(buf, "\"\"");
}

static void format_double(struct laz_buf *buf, double value)
{
    if (isfinite(value))
        laz_json_format_double(buf, value, true); /* one that reads back the same, in any locale */
    else
        laz_buf_puts(buf, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

static void format_children(struct laz_buf *buf, const struct laz_toml_node *node)
{
    bool table = node->type == LAZ_TOML_TABLE;

    laz_buf_puts(buf, table ? "{" : "[");
    for (const struct laz_toml_node *child = node->first; child; child = child->next) {
        if (child != node->first)
            laz_buf_puts(buf, ", ");
        else if (table)
            laz_buf_putc(buf, ' ');
        if (table) {
            laz_toml_format_key(buf, child->key, child->key_len);
            laz_buf_puts(buf, " = ");
        }
        laz_toml_format(buf, child); /* as deep as the tree: LAZ_TOML_MAX_DEPTH */
    }
    laz_buf_puts(buf, !table ? "]" : node->first ? " }" : "}");
}

bool laz_toml_is_hidden(const struct laz_toml_node *node)
{
    const struct laz_toml_node *set = node->n == 1 ? laz_toml_get(node, "secret") : NULL;

    return set && laz_toml_is_text(set) && strcmp(set->text, "set") == 0;
}

void laz_toml_format(struct laz_buf *buf, const struct laz_toml_node *node)
{
    if (node->is_secret) {
        laz_buf_puts(buf, LAZ_TOML_HIDDEN);
        return;
    }
    switch (node->type) {
    case LAZ_TOML_TABLE:
    case LAZ_TOML_ARRAY:
        format_children(buf, node);
        break;
    case LAZ_TOML_STRING:
        laz_toml_format_string(buf, node->text, node->len);
        break;
    case LAZ_TOML_INTEGER:
        laz_buf_printf(buf, "%" PRId64, node->integer);
        break;
    case LAZ_TOML_FLOAT:
        format_double(buf, node->number);
        break;
    case LAZ_TOML_BOOLEAN:
        laz_buf_puts(buf, node->boolean ? "true" : "false");
        break;
    default:
        laz_buf_append(buf, node->text, node->len);
    }
}

static void json_children(struct laz_json_write *write, const struct laz_toml_node *node)
{
    const bool table = node->type == LAZ_TOML_TABLE;

    for (const struct laz_toml_node *child = node->first; child; child = child->next)
        laz_toml_json(write, table ? child->key : NULL, child); /* LAZ_TOML_MAX_DEPTH */
}

void laz_toml_json(struct laz_json_write *write, const char *key, const struct laz_toml_node *node)
{
    struct laz_buf text = LAZ_BUF_INIT;

    if (node->is_secret) {
        laz_json_begin_object(write, key);
        laz_json_add_text(write, "secret", "set");
        laz_json_end_object(write);
        return;
    }
    switch (node->type) {
    case LAZ_TOML_TABLE:
        laz_json_begin_object(write, key);
        json_children(write, node);
        laz_json_end_object(write);
        break;
    case LAZ_TOML_ARRAY:
        laz_json_begin_list(write, key);
        json_children(write, node);
        laz_json_end_list(write);
        break;
    case LAZ_TOML_INTEGER:
        laz_json_add_int(write, key, node->integer);
        break;
    case LAZ_TOML_BOOLEAN:
        laz_json_add_bool(write, key, node->boolean);
        break;
    case LAZ_TOML_FLOAT:
        format_double(&text, node->number);
        if (isfinite(node->number))
            laz_json_add_raw(write, key, laz_buf_text(&text), text.len);
        else
            laz_json_add_bytes(write, key, laz_buf_text(&text), text.len);
        break;
    default:
        laz_json_add_bytes(write, key, node->text, node->len);
    }
    write->to->failed |= text.failed;
    laz_buf_fini(&text);
}

void laz_toml_describe(struct laz_buf *buf, const struct laz_toml_node *node)
{
    static const char *const types[] = {
        [LAZ_TOML_TABLE] = "table",
        [LAZ_TOML_ARRAY] = "list",
        [LAZ_TOML_STRING] = "string",
        [LAZ_TOML_INTEGER] = "integer",
        [LAZ_TOML_FLOAT] = "number",
        [LAZ_TOML_BOOLEAN] = "boolean",
        [LAZ_TOML_DATETIME] = "date and time",
        [LAZ_TOML_LOCAL_DATETIME] = "date and time",
        [LAZ_TOML_LOCAL_DATE] = "date",
        [LAZ_TOML_LOCAL_TIME] = "time",
    };

    laz_buf_puts(buf, types[node->type]);
    if (node->type == LAZ_TOML_ARRAY || node->type == LAZ_TOML_TABLE) {
        if (!node->n)
            laz_buf_puts(buf, " without content");
        return;
    }
    if (node->is_secret) {
        laz_buf_puts(buf, " (its value is not shown)");
        return;
    }
    laz_buf_putc(buf, ' ');
    size_t cut = 0;
    if (node->type == LAZ_TOML_STRING && laz_utf8_count(node->text, node->len) > DESCRIBE_MAX)
        for (int i = 0; i < DESCRIBE_MAX; i++)
            cut += laz_utf8_sequence(node->text + cut, node->len - cut);
    if (!cut) {
        laz_toml_format(buf, node);
        return;
    }
    laz_toml_format_string(buf, node->text, cut);
    laz_buf_puts(buf, "...");
}

void laz_toml_position(struct laz_buf *buf, const struct laz_toml *toml, uint32_t line,
                       uint32_t column)
{
    if (toml->has_lines)
        laz_buf_printf(buf, "%s:%u:%u", toml->name, (unsigned)line, (unsigned)column);
    else
        laz_buf_puts(buf, toml->name);
}

void laz_toml_format_problem(struct laz_buf *buf, const struct laz_toml *toml, size_t index)
{
    const struct laz_toml_problem *problem = &toml->problems[index];

    if (toml->has_lines) {
        laz_toml_position(buf, toml, problem->line, problem->column);
        laz_buf_puts(buf, ": ");
    }
    laz_buf_puts(buf, problem->text);
}
