/* SPDX-License-Identifier: MIT */
/* settings_secrets.c - which values of a configuration are secret, and are shown as set only.
 *
 * A mark on the node is all that the writers of texts look at (toml/format.c), so messages, lists
 * and documents agree.  Keys of the schema are marked when a document is checked; those of plugins
 * when somebody who knows their options wants to show them. */
#include "settings/schema.h"

#include <stdlib.h>
#include <string.h>

void laz_settings_mark_secret(struct laz_toml_node *node)
{
    if (node->type == LAZ_TOML_TABLE)
        for (struct laz_toml_node *child = node->first; child; child = child->next)
            child->is_secret = true;
    else
        node->is_secret = true;
}

const struct laz_option *laz_settings_option(const struct laz_option *options, const char *prefix,
                                             const char *key)
{
    const size_t len = strlen(prefix);

    for (; options && options->key; options++)
        if (strncmp(options->key, prefix, len) == 0 && strcmp(options->key + len, key) == 0)
            return options;
    return NULL;
}

/* Marks what is secret in the table of a plugin; the keys of its options begin with `prefix`. */
static void secrets_table(struct laz_toml_node *table, const struct laz_option *options,
                          const char *prefix)
{
    for (struct laz_toml_node *node = table->first; node; node = node->next) {
        const struct laz_option *option = laz_settings_option(options, prefix, node->key);
        if (!option || (option->flags & LAZ_OPT_SECRET)) {
            laz_settings_mark_secret(node);
            continue;
        }
        char *inside = option->type == LAZ_OPT_TABLES ? laz_strdupf("%s.", option->key) : NULL;
        for (struct laz_toml_node *item = node->first; item && option->type == LAZ_OPT_TABLES;
             item = item->next)
            if (inside && item->type == LAZ_TOML_TABLE)
                secrets_table(item, options, inside); /* bounded by the dots in the option's key */
            else
                item->is_secret = true;
        free(inside);
    }
}

/* What stands for a name in a credential and is none of [secrets] may be a secret itself. */
static void secrets_names(struct laz_settings *settings)
{
    const struct schema_key *row = laz_schema_find("network", "credential", 10);
    const struct laz_toml_node *list = row ? settings->nodes.keys[row - laz_schema] : NULL;

    for (struct laz_toml_node *item = list ? list->first : NULL; item; item = item->next) {
        struct laz_toml_node *name = laz_toml_get(item, "secret");
        if (name && laz_toml_is_text(name) &&
            !(settings->nodes.secrets && laz_toml_get(settings->nodes.secrets, name->text)))
            name->is_secret = true;
    }
}

void laz_settings_mark_secrets(struct laz_settings *settings,
                               bool (*options)(void *user, const char *section, const char *name,
                                               const struct laz_option **options),
                               void *user)
{
    struct settings_nodes *nodes = &settings->nodes;

    secrets_names(settings);
    for (size_t i = 0; i < nodes->n_tables; i++) {
        const struct laz_option *found = NULL;
        struct laz_toml_node *table = (struct laz_toml_node *)nodes->tables[i].node;
        if (!options(user, nodes->tables[i].section, table->key, &found))
            found = NULL;
        secrets_table(table, found, "");
    }
    for (struct laz_toml_node *table = nodes->tools ? nodes->tools->first : NULL; table;
         table = table->next) {
        const struct laz_option *found = NULL;
        struct laz_toml_node *provider = laz_toml_get(table, "provider");
        const bool is_name = provider && laz_toml_is_text(provider);
        if (!is_name || !options(user, "tools", provider->text, &found))
            found = NULL;
        secrets_table(table, found, "");
        if (is_name)
            provider->is_secret = false;
        struct laz_toml_node *where = laz_toml_get(table, "where");
        if (where)
            where->is_secret = false;
    }
}
