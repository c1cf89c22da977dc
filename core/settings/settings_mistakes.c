/* SPDX-License-Identifier: MIT */
/* settings_mistakes.c - says where a setting was written that turns out to be wrong when it is
 * used, and collects such mistakes where all of them are wanted (`lazaret config --check`).
 *
 * The checks are those of the rooms that use the settings: each calls laz_settings_wrong with its
 * error.  So one implementation refuses a session at its first mistake and lists them all. */
#include "settings/state.h"

#include "settings/toml/toml.h"

#include <stdio.h>
#include <string.h>

#define MISTAKES_PLACE 512 /* bytes of "FILE:LINE:COL" */

/* The value of a key of the schema, or the table of a plugin ("runtime.lua"); NULL: not set. */
static const struct laz_toml_node *mistakes_node(const struct laz_settings *settings,
                                                 const char *key)
{
    for (size_t i = 0; i < laz_schema_count(); i++)
        if (strcmp(laz_schema[i].key, key) == 0)
            return settings->nodes.keys[i];
    for (size_t i = 0; i < settings->nodes.n_tables; i++) {
        const struct settings_table *table = &settings->nodes.tables[i];
        size_t len = strlen(table->section);
        if (strncmp(key, table->section, len) == 0 && key[len] == '.' &&
            strcmp(key + len + 1, table->node->key) == 0)
            return table->node;
    }
    return NULL;
}

/* The first text or key inside that is `item`; recursion is bounded by the depth of a document. */
static const struct laz_toml_node *mistakes_item(const struct laz_toml_node *node, const char *item)
{
    if ((node->key && strcmp(node->key, item) == 0) ||
        (node->type == LAZ_TOML_STRING && strcmp(node->text, item) == 0))
        return node;
    if (node->type != LAZ_TOML_TABLE && node->type != LAZ_TOML_ARRAY)
        return NULL;
    for (const struct laz_toml_node *child = node->first; child; child = child->next) {
        const struct laz_toml_node *found = mistakes_item(child, item);
        if (found)
            return found;
    }
    return NULL;
}

bool laz_settings_place(const struct laz_settings_values *values, const char *key, const char *item,
                        struct laz_error *err)
{
    const struct laz_toml_node *node =
        values->settings ? mistakes_node(values->settings, key) : NULL;
    const struct laz_toml_node *found = node && item ? mistakes_item(node, item) : NULL;
    char place[MISTAKES_PLACE];

    if (!node || laz_settings_is_default(node))
        return false;
    laz_settings_position(found ? found : node, place, sizeof place);
    laz_error_prefix(err, "%s: ", place);
    return true;
}

void laz_settings_blame(const struct laz_settings_values *values, const char *key, const char *item,
                        struct laz_error *err)
{
    if (err && !strstr(err->text, key))
        laz_error_prefix(err, "%s: ", key);
    laz_settings_place(values, key, item, err);
}

int laz_settings_wrong(const struct laz_settings_values *values, const char *key, const char *item,
                       int rc, struct laz_error *err)
{
    struct laz_mistakes *mistakes = values->mistakes;

    if (!rc)
        return 0;
    if (key)
        laz_settings_blame(values, key, item, err);
    if (!mistakes || !err || laz_error_is_shortage(err))
        return rc;
    if (!laz_strv_has(&mistakes->texts, err->text))
        laz_strv_add(&mistakes->texts, err->text);
    if (mistakes->texts.failed)
        return laz_error_nomem(err);
    if (!mistakes->code)
        mistakes->code = rc;
    *err = (struct laz_error){0};
    return 0;
}

void laz_settings_collect(struct laz_settings *settings, struct laz_mistakes *mistakes)
{
    settings->values.mistakes = mistakes;
}
