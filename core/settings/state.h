/* SPDX-License-Identifier: MIT */
/* state.h - what a struct laz_settings is made of. Private to core/settings.
 *
 * Settings are the nodes in force, one for each key of the schema, and the values made from them.
 * Reading a document makes a new set of nodes beside the old one, which replaces it only when every
 * node could be converted. */
#ifndef LAZ_SETTINGS_STATE_H
#define LAZ_SETTINGS_STATE_H

#include "settings/schema.h"
#include "settings/settings.h"

struct settings_table {
    const char *section;              /* "sandbox", "runtime"; static */
    const struct laz_toml_node *node; /* its key is the plugin's name */
};

/* What is in force. Nodes are borrowed from the documents of the settings. */
struct settings_nodes {
    const struct laz_toml_node **keys; /* as many as the schema has rows; NULL: not set */
    struct settings_table *tables;
    size_t n_tables;
    const struct laz_toml_node *tools, *approve; /* the lists, or NULL */
};

struct laz_settings {
    struct laz_settings_values values;
    struct settings_nodes nodes;
    struct laz_toml **documents; /* the defaults, then each document that was read */
    size_t n_documents;
    struct laz_strv problems; /* problems of the last load or set */
};

/* Is the node one of the defaults? */
bool laz_settings_is_default(const struct laz_toml_node *node);

/* settings_secrets.c: marks the value, or each value of a table. */
void laz_settings_mark_secret(struct laz_toml_node *node);
/* check.c: puts the nodes of a document into `nodes`, which has the nodes in force so far; adds a
 * problem to it for each unknown key and each table of the wrong form. Tables of a plugin and
 * env.set are merged with those that they replace, so `toml` must not be shared yet. */
void laz_settings_check(struct laz_toml *toml, struct settings_nodes *nodes);

#endif
