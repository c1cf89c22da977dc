/* SPDX-License-Identifier: MIT */
/* tables.c - checks the plugin tables of the configuration against the installed plugins.
 * Side: host.  Input trusted: yes, but a mistake must not be silent.
 *
 * Settings are read before plugins are known, so a misspelt [sandbox.bwarp] looks like the table of
 * an unknown plugin.  Here the plugins are known.  Tables of plugins that are not in use are
 * checked too, since their mistakes would show only when the plugin is chosen. */
#include "engine/engine.h"

#include "os/programs.h"
#include "settings/toml/toml.h"

#include <stdlib.h>
#include <string.h>

/* Finds the options that a table is checked against. LAZ_ENOENT: no such plugin. *options stays
 * NULL if the table cannot be checked. */
static int tables_find(struct laz_registry *registry, const char *section, const char *name,
                       const struct laz_option **options, struct laz_error *err)
{
    const bool runtime = strcmp(section, "runtime") == 0;
    const uint32_t kind =
        strcmp(section, "cluster") == 0 ? LAZ_PLUGIN_CARRIER : LAZ_PLUGIN_BACKEND;
    const struct laz_runtime_info *info;
    const struct laz_plugin *plugin;
    int rc;

    if (runtime) {
        rc = laz_registry_runtime(registry, name, &info, err);
        if (rc == 0)
            *options = info->options;
    } else {
        rc = laz_registry_find(registry, kind, name, &plugin, err);
        if (rc == 0)
            *options = plugin->options;
    }
    /* a broken plugin is reported when it is used */
    if (rc == LAZ_EPLUGIN ||
        (rc == LAZ_ENOENT && runtime && laz_registry_can_be_installed(registry, name)))
        return 0;
    return rc;
}

/* The option `program` of a backend is one, unless it is secret. If it is named it has to be there,
 * also where another backend comes first, or comes instead: what the operator has named may be the
 * stronger box. */
static int tables_check_program(const struct laz_toml_node *table, const struct laz_option *option,
                                struct laz_error *err)
{
    const struct laz_toml_node *program = laz_toml_get(table, "program");
    struct laz_buf text = LAZ_BUF_INIT;
    char *path = NULL;

    while (option->key && strcmp(option->key, "program") != 0)
        option++;
    if (!program || program->type != LAZ_TOML_STRING || (option->flags & LAZ_OPT_SECRET))
        return 0;
    int rc = laz_os_find_program(program->text, &path, err);
    free(path);
    if (rc == LAZ_ENOENT) {
        laz_toml_position(&text, program->toml, program->key_line, program->key_column);
        laz_error_prefix(err, "%s: backend %s: ", laz_buf_text(&text), table->key);
        rc = laz_error_as(err, LAZ_ECONFIG);
        laz_buf_fini(&text);
    }
    return rc;
}

/* A package of pool.preload may be one of a single language: "python:numpy". */
static int tables_check_preload(struct laz_registry *registry,
                                const struct laz_settings_values *values, const char *item,
                                struct laz_error *err)
{
    const struct laz_runtime_info *info;
    const char *colon = strchr(item, ':');
    char *name = colon ? laz_strndup(item, (size_t)(colon - item)) : NULL;
    int rc = 0;

    if (colon)
        rc = name ? laz_registry_runtime(registry, name, &info, err) : laz_error_nomem(err);
    if (rc == LAZ_EPLUGIN || (rc == LAZ_ENOENT && laz_registry_can_be_installed(registry, name)))
        rc = 0; /* such sessions are refused */
    if (rc == LAZ_ENOENT)
        rc = laz_error_as(err, LAZ_ECONFIG);
    free(name);
    return laz_settings_wrong(values, "pool.preload", item, rc, err);
}

static int tables_check_one(struct laz_registry *registry, const char *section,
                            const struct laz_toml_node *table, struct laz_error *err)
{
    const struct laz_option *options = NULL;
    struct laz_buf text = LAZ_BUF_INIT;
    int rc = tables_find(registry, section, table->key, &options, err);

    if (rc == LAZ_ENOENT) {
        laz_toml_position(&text, table->toml, table->key_line, table->key_column);
        laz_error_prefix(err, "%s: %s.%s: ", laz_buf_text(&text), section, table->key);
        err->code = rc = LAZ_ECONFIG;
    } else if (rc == 0 && options) {
        char *where = laz_strdupf("%s.%s", section, table->key);
        rc = where ? laz_settings_check_options(table, options, where, NULL, &text, err)
                   : laz_error_nomem(err);
        free(where);
    }
    if (!rc && options && strcmp(section, "sandbox") == 0)
        rc = tables_check_program(table, options, err);
    laz_buf_fini(&text);
    return rc;
}

int laz_tables_check(struct laz_registry *registry, const struct laz_settings *settings,
                     struct laz_error *err)
{
    const struct laz_settings_values *values = laz_settings_values(settings);
    const struct laz_toml_node *table;
    const char *section;
    int rc = 0;

    for (size_t i = 0; !rc && (table = laz_settings_plugin_table_at(settings, i, &section)); i++) {
        struct laz_error why = {0};
        rc = tables_check_one(registry, section, table, &why);
        rc = laz_settings_wrong(values, NULL, NULL, rc, &why);
        if (rc && err)
            *err = why;
    }
    for (size_t i = 0; !rc && i < values->pool.preload.n; i++) {
        struct laz_error why = {0};
        rc = tables_check_preload(registry, values, values->pool.preload.items[i], &why);
        if (rc && err)
            *err = why;
    }
    return rc;
}
