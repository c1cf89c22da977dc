/* SPDX-License-Identifier: MIT */
/* check.c - checks a document against the schema: which node belongs to which key, and which
 * belongs to none.
 *
 * Only the structure is checked here; whether a value is right for its key shows when it is
 * converted.  A key in a later document replaces the earlier one.  Tables with free keys (those of
 * plugins, env.set, network.hosts, [secrets]) are merged key by key, so that one option can be
 * changed alone.
 */
#include "settings/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct check {
    struct laz_toml *toml;
    struct settings_nodes *nodes;
    bool is_whole; /* each line of it could be read */
};

/* Adds the problem `what` of a node of this section ("": the top level), at its key or its value.
 * Items of lists have no key. */
static void check_problem(struct check *check, const char *section,
                          const struct laz_toml_node *node, bool at_key, const char *what)
{
    struct laz_buf name = LAZ_BUF_INIT;

    laz_buf_puts(&name, section);
    if (*section && node->key)
        laz_buf_putc(&name, '.');
    if (node->key)
        laz_toml_format_key(&name, node->key, node->key_len);
    check->toml->failed |= name.failed;
    laz_toml_add_problem(check->toml, at_key ? node->key_line : node->line,
                         at_key ? node->key_column : node->column, "%s: %s", laz_buf_text(&name),
                         what);
    laz_buf_fini(&name);
}

/* The node is not what was expected; NULL: its key is unknown. */
static void check_mismatch(struct check *check, const char *section,
                           const struct laz_toml_node *node, const char *expected)
{
    struct laz_buf what = LAZ_BUF_INIT;

    if (expected) {
        laz_buf_printf(&what, "expected %s, found ", expected);
        laz_toml_describe(&what, node);
    } else {
        laz_buf_printf(&what, "unknown %s", node->type == LAZ_TOML_TABLE ? "table" : "key");
        laz_schema_suggest(&what, section, node->key);
    }
    check->toml->failed |= what.failed;
    check_problem(check, section, node, !expected, laz_buf_text(&what));
    laz_buf_fini(&what);
}

/* Adds to `table` the keys that only `old` has. */
static void check_merge(struct check *check, struct laz_toml_node *table,
                        const struct laz_toml_node *old)
{
    if (!old || old->type != LAZ_TOML_TABLE || table->type != LAZ_TOML_TABLE)
        return;
    for (const struct laz_toml_node *child = old->first; child; child = child->next)
        if (!laz_toml_get(table, child->key) && !laz_toml_adopt(check->toml, table, child))
            check->toml->failed = true;
}

/* ---- tables of plugins ------------------------------------------------------------------------*/

static void check_plugin_table(struct check *check, const char *section, struct laz_toml_node *node)
{
    struct settings_nodes *nodes = check->nodes;

    if (!laz_is_plugin_name(node->key, node->key_len)) {
        check_problem(check, section, node, true,
                      "expected the name of a plugin (letters, digits, '_', '-')");
        return;
    }
    for (size_t i = 0; i < nodes->n_tables; i++)
        if (strcmp(nodes->tables[i].section, section) == 0 &&
            strcmp(nodes->tables[i].node->key, node->key) == 0) {
            check_merge(check, node, nodes->tables[i].node);
            nodes->tables[i].node = node;
            return;
        }
    struct settings_table *tables =
        realloc(nodes->tables, (nodes->n_tables + 1) * sizeof *nodes->tables);
    if (!tables) {
        check->toml->failed = true;
        return;
    }
    nodes->tables = tables;
    nodes->tables[nodes->n_tables++] = (struct settings_table){section, node};
}

static void check_tool_table(struct check *check, const struct laz_toml_node *table)
{
    const struct laz_toml_node *provider = laz_toml_get(table, "provider");

    const struct laz_toml_node *where = laz_toml_get(table, "where");

    if (where && !laz_toml_is(where, "caller") && !laz_toml_is(where, "worker"))
        check_mismatch(check, "tools", where,
                       "\"caller\" or \"worker\": on which side of a cluster the tools run");
    if (provider) {
        if (provider->type != LAZ_TOML_STRING || !laz_is_plugin_name(provider->text, provider->len))
            check_mismatch(check, "tools", provider,
                           "the name of a tool provider (provider = \"command\")");
    } else if (check->is_whole) { /* otherwise the line that cannot be read may contain it */
        laz_toml_add_problem(check->toml, table->line, table->column,
                             "tools.provider: expected the name of a tool provider "
                             "(provider = \"command\"), found nothing");
    }
}

static void check_approve_key(struct check *check, const struct laz_toml_node *node)
{
    const bool is_when = strcmp(node->key, "when") == 0;

    if (!is_when && strcmp(node->key, "tool") != 0)
        check_problem(check, "approve", node, true, "unknown key; known are tool, when");
    else if (is_when && node->type != LAZ_TOML_TABLE)
        check_mismatch(check, "approve", node,
                       "a table of patterns (when = { path = \"/etc/*\" })");
    else if (!is_when && (!laz_toml_is_text(node) || !node->len))
        check_mismatch(check, "approve", node, "the name of a tool, or a pattern (\"delete_*\")");
    for (const struct laz_toml_node *item = is_when ? node->first : NULL; item; item = item->next)
        if (!laz_toml_is_text(item))
            check_mismatch(check, "approve.when", item, "a string, a pattern for this argument");
}

static void check_approve_table(struct check *check, const struct laz_toml_node *table)
{
    for (const struct laz_toml_node *node = table->first; node; node = node->next)
        check_approve_key(check, node);
    if (!laz_toml_get(table, "tool") && check->is_whole)
        laz_toml_add_problem(check->toml, table->line, table->column,
                             "approve.tool: expected the name of a tool, or a pattern "
                             "(tool = \"delete_*\"), found nothing");
}

/* Tables begun by [[section]], each checked by `table`. */
static void check_list(struct check *check, const struct laz_toml_node *node,
                       void (*table)(struct check *check, const struct laz_toml_node *table),
                       const char *expected, const struct laz_toml_node **kept)
{
    if (node->type != LAZ_TOML_ARRAY) {
        check_mismatch(check, "", node, expected);
        return;
    }
    for (const struct laz_toml_node *item = node->first; item; item = item->next) {
        if (item->type == LAZ_TOML_TABLE)
            table(check, item);
        else
            check_mismatch(check, node->key, item, expected);
    }
    *kept = node;
}

/* ---- sections ---------------------------------------------------------------------------------*/

static void check_key(struct check *check, const struct schema_key *row, struct laz_toml_node *node)
{
    const struct laz_toml_node **slot = &check->nodes->keys[row - laz_schema];

    if (row->kind == SCHEMA_ENVIRONMENT || row->kind == SCHEMA_HOSTS || row->kind == SCHEMA_HEADERS)
        check_merge(check, node, *slot);
    if (row->is_secret)
        laz_settings_mark_secret(node);
    *slot = node;
}

static void check_section(struct check *check, const char *section, struct laz_toml_node *table);

/* A table in a section that has keys of its own: [network.host]. */
static void check_table(struct check *check, const char *section, struct laz_toml_node *table)
{
    char name[64];

    snprintf(name, sizeof name, "%s.%s", section, table->key);
    if (table->type == LAZ_TOML_TABLE)
        check_section(check, name, table); /* bounded by the dots in the schema's keys */
    else
        check_mismatch(check, section, table, "a table");
}

static void check_section(struct check *check, const char *section, struct laz_toml_node *table)
{
    bool runtime = strcmp(section, "runtime") == 0;
    bool has_plugins =
        runtime || strcmp(section, "sandbox") == 0 || strcmp(section, "cluster") == 0;

    for (struct laz_toml_node *node = table->first; node; node = node->next) {
        const struct schema_key *row = laz_schema_find(section, node->key, node->key_len);
        if (row)
            check_key(check, row, node);
        else if (laz_schema_has_table(section, node->key))
            check_table(check, section, node);
        else if (has_plugins && node->type == LAZ_TOML_TABLE)
            check_plugin_table(check, section, node);
        else if (runtime)
            check_mismatch(check, section, node, "a table of options, such as [runtime.r]");
        else
            check_mismatch(check, section, node, NULL);
    }
}

/* Its keys are names that the user has chosen. */
static void check_secrets(struct check *check, struct laz_toml_node *table)
{
    check_merge(check, table, check->nodes->secrets);
    check->nodes->secrets = table;
}

void laz_settings_check(struct laz_toml *toml, struct settings_nodes *nodes)
{
    struct check check = {toml, nodes, toml->n_problems == 0};

    for (struct laz_toml_node *node = toml->root->first; node; node = node->next) {
        const struct schema_section *section = laz_schema_section(node->key, node->key_len);
        if (!section)
            check_mismatch(&check, "", node, NULL);
        else if (strcmp(section->name, "tools") == 0)
            check_list(&check, node, check_tool_table, "a list of tables, each begun by [[tools]]",
                       &nodes->tools);
        else if (strcmp(section->name, "approve") == 0)
            check_list(&check, node, check_approve_table,
                       "a list of tables, each begun by [[approve]]", &nodes->approve);
        else if (node->type != LAZ_TOML_TABLE)
            check_mismatch(&check, "", node, "a table");
        else if (strcmp(section->name, "secrets") == 0)
            check_secrets(&check, node);
        else
            check_section(&check, section->name, node);
    }
}
