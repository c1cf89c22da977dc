/* SPDX-License-Identifier: MIT */
/* value.c - TOML's values: strings, lists and inline tables; the rest is in number.c.
 *
 * Nested values are read by recursion.  Every node has its depth, which bounds the recursion:
 * toml_node refuses a node that is too deep before its content is read. */
#include "settings/toml/parser.h"

#include <string.h>

static bool value_string(struct toml_parser *p, uint32_t depth, struct laz_toml_node **node)
{
    struct laz_toml_node *made = toml_node(p, LAZ_TOML_STRING, toml_here(p), depth);

    if (!made || !toml_string(p))
        return false;
    made->text = toml_keep(p, p->scratch.data, p->scratch.len);
    made->len = p->scratch.len;
    *node = made;
    return made->text != NULL;
}

/* Skips space and, which may stand between the items of a list, newlines and comments. */
static bool value_gap(struct toml_parser *p, bool is_list)
{
    do {
        toml_space(p);
        if (is_list && !toml_comment(p))
            return false;
    } while (is_list && toml_newline(p));
    return true;
}

/* Reads what is between the brackets, and skips these. Only a list may go over several lines, and
 * end with a comma. */
static bool value_items(struct toml_parser *p, struct laz_toml_node *node)
{
    const bool is_list = node->type == LAZ_TOML_ARRAY;
    const int close = is_list ? ']' : '}';

    toml_skip(p, 1);
    for (;;) {
        struct laz_toml_node *item = NULL;
        if (!value_gap(p, is_list))
            return false;
        if (toml_peek(p) == close && (is_list || !node->n))
            break;
        if (is_list ? !toml_value(p, node->depth + 1, &item) : !toml_pair(p, node))
            return false;
        if (is_list)
            toml_append(node, item);
        if (!value_gap(p, is_list))
            return false;
        if (toml_peek(p) == close)
            break;
        if (toml_peek(p) != ',' && is_list)
            return toml_problem(p, toml_here(p),
                                "expected ',' or ']' in the list that begins in line %u, found %s",
                                (unsigned)node->line, toml_found(p));
        if (toml_peek(p) != ',')
            return toml_problem(p, toml_here(p),
                                "expected ',' or '}' in a table written in braces, found %s "
                                "(it stands on one line)",
                                toml_found(p));
        toml_skip(p, 1);
    }
    toml_skip(p, 1);
    return true;
}

static bool value_array(struct toml_parser *p, uint32_t depth, struct laz_toml_node **node)
{
    struct laz_toml_node *array = toml_node(p, LAZ_TOML_ARRAY, toml_here(p), depth);

    if (!array)
        return false;
    array->flags = TOML_CLOSED;
    if (value_items(p, array)) {
        *node = array;
        return true;
    }
    /* The end of a broken list is known only if it is on this line. */
    const char *rest = p->text + p->at;
    const char *newline = memchr(rest, '\n', p->len - p->at);
    if (!memchr(rest, ']', newline ? (size_t)(newline - rest) : p->len - p->at))
        p->lost = true;
    return false;
}

static bool value_inline_table(struct toml_parser *p, uint32_t depth, struct laz_toml_node **node)
{
    struct laz_toml_node *table = toml_node(p, LAZ_TOML_TABLE, toml_here(p), depth);

    if (!table)
        return false;
    table->flags = TOML_CLOSED;
    *node = table;
    return value_items(p, table);
}

static bool value_any(struct toml_parser *p, uint32_t depth, struct laz_toml_node **node)
{
    switch (toml_peek(p)) {
    case '"':
    case '\'':
        return value_string(p, depth, node);
    case '[':
        return value_array(p, depth, node);
    case '{':
        return value_inline_table(p, depth, node);
    default:
        return toml_number_or_date(p, depth, node);
    }
}

bool toml_value(struct toml_parser *p, uint32_t depth, struct laz_toml_node **node)
{
    bool is_read = value_any(p, depth, node);

    if (*node)
        (*node)->to = p->at;
    return is_read;
}
