/* SPDX-License-Identifier: MIT */
/* option_bounds.c - the least and the greatest value of an option of a plugin, and the list of all.
 *
 * They are texts in TOML notation, as defaults are, and are read like a user's values: "10MiB" is a
 * bound of a size.  A declaration that cannot be read is the plugin's mistake, and refuses every
 * value. */
#include "settings/option_bounds.h"

#include "settings/convert.h"

#include <string.h>

void laz_option_expected(const struct laz_option *option, const char *type, struct laz_buf *text)
{
    if (option->one_of) {
        const size_t len = strlen(option->one_of);
        laz_buf_printf(text, "%sone of %.*s",
                       option->type == LAZ_OPT_STRINGS ? "a list, each " : "",
                       len > 2 ? (int)len - 2 : 0, option->one_of + (len > 0));
        return;
    }
    laz_buf_puts(text, type);
    if (option->min)
        laz_buf_printf(text, option->max ? " from %s" : " of at least %s", option->min);
    if (option->max)
        laz_buf_printf(text, option->min ? " to %s" : " of at most %s", option->max);
}

/* The number that a value stands for. */
static bool bounds_number(const struct laz_option *option, const struct laz_toml_node *node,
                          int64_t *number)
{
    uint64_t quantity;

    if (option->type == LAZ_OPT_INTEGER) {
        *number = node->integer;
        return node->type == LAZ_TOML_INTEGER;
    }
    if (option->type == LAZ_OPT_SIZE ? !laz_convert_size(node, &quantity)
                                     : !laz_convert_time(node, &quantity))
        return false;
    *number = quantity > INT64_MAX ? INT64_MAX : (int64_t)quantity;
    return true;
}

static bool bounds_are_same(const struct laz_toml_node *a, const struct laz_toml_node *b)
{
    if (a->type != b->type)
        return false;
    return a->type == LAZ_TOML_STRING    ? a->len == b->len && memcmp(a->text, b->text, a->len) == 0
           : a->type == LAZ_TOML_INTEGER ? a->integer == b->integer
                                         : false;
}

static bool bounds_list(const struct laz_toml_node *list, const struct laz_toml_node *node)
{
    for (const struct laz_toml_node *item = list->first; item; item = item->next)
        if (bounds_are_same(item, node))
            return true;
    return false;
}

/* Reads a text of the declaration. */
static int bounds_read(const char *text, struct laz_toml **toml, const struct laz_toml_node **node,
                       struct laz_error *err)
{
    struct laz_error why = {0};
    int rc = laz_toml_parse_pair(NULL, text, "the plugin's bound", toml, &why);

    *node = rc ? NULL : laz_toml_get((*toml)->root, "value");
    return rc && rc != LAZ_ENOMEM ? laz_error_set(err, LAZ_EPLUGIN, 0,
                                                  "the plugin's bound cannot be read: %s", why.text)
                                  : rc;
}

static int bounds_unfit(const char *text, struct laz_error *err)
{
    return laz_error_set(err, LAZ_EPLUGIN, 0, "the plugin's bound %s does not fit its type", text);
}

/* Compares the value with a bound; `sign`: -1 for the least one, 1 for the greatest. */
static int bounds_compare(const struct laz_option *option, const char *text, int sign,
                          const struct laz_toml_node *node, struct laz_error *err)
{
    const struct laz_toml_node *bound;
    struct laz_toml *toml = NULL;
    int64_t limit, number;

    int rc = text ? bounds_read(text, &toml, &bound, err) : 0;
    if (!rc && text) {
        if (option->type != LAZ_OPT_INTEGER && option->type != LAZ_OPT_SIZE &&
            option->type != LAZ_OPT_TIME)
            rc = bounds_unfit(text, err);
        else if (!bounds_number(option, bound, &limit))
            rc = bounds_unfit(text, err);
        else if (!bounds_number(option, node, &number) ||
                 (sign < 0 ? number < limit : number > limit))
            rc = LAZ_EINVAL;
    }
    laz_toml_free(toml);
    return rc;
}

/* Compares a value, or each item of a list, with those that are allowed. */
static int bounds_choose(const struct laz_option *option, const struct laz_toml_node *node,
                         const struct laz_toml_node **wrong, struct laz_error *err)
{
    const struct laz_toml_node *list;
    struct laz_toml *toml = NULL;

    int rc = bounds_read(option->one_of, &toml, &list, err);
    if (!rc && (list->type != LAZ_TOML_ARRAY ||
                (option->type != LAZ_OPT_STRING && option->type != LAZ_OPT_INTEGER &&
                 option->type != LAZ_OPT_STRINGS)))
        rc = bounds_unfit(option->one_of, err);
    const bool is_list = !rc && option->type == LAZ_OPT_STRINGS;
    for (const struct laz_toml_node *item = is_list ? node->first : node; !rc && item;
         item = is_list ? item->next : NULL)
        if (!bounds_list(list, item)) {
            *wrong = item;
            rc = LAZ_EINVAL;
        }
    laz_toml_free(toml);
    return rc;
}

int laz_option_check(const struct laz_option *option, const struct laz_toml_node *node,
                     const struct laz_toml_node **wrong, struct laz_error *err)
{
    *wrong = node;
    int rc = bounds_compare(option, option->min, -1, node, err);

    if (!rc)
        rc = bounds_compare(option, option->max, 1, node, err);
    if (!rc && option->one_of)
        rc = bounds_choose(option, node, wrong, err);
    return rc;
}
