/* SPDX-License-Identifier: MIT */
/* config.c - shows the settings in force, in TOML notation, each with its origin; or all that is
 * wrong with them.
 *
 * The text is a valid file for --config: the keys are dotted TOML keys, the origins comments. */
#include "cli/cli.h"

#include "engine/engine.h"

#include <string.h>

static void config_line(void *user, const struct laz_settings_shown *shown)
{
    size_t len = strlen(shown->key) + strlen(shown->value) + 3;

    cli_printf(user, "%s = %s%*s  # %s\n", shown->key, shown->value, len < 48 ? (int)(48 - len) : 0,
               "", shown->origin);
}

static void config_json(void *user, const struct laz_settings_shown *shown)
{
    struct laz_json_write *write = user;

    laz_json_new_line(write);
    laz_json_begin_object(write, NULL);
    laz_json_add_text(write, "key", shown->key);
    laz_json_add_raw(write, "value", shown->json, strlen(shown->json));
    laz_json_add_text(write, "origin", shown->origin);
    laz_json_end_object(write);
}

int cli_inspect(struct cli *cli, struct laz_engine **engine)
{
    const struct laz_engine_options options = cli_engine_options(cli);
    struct laz_mistakes mistakes = {.texts = LAZ_STRV_INIT};
    struct laz_error err = {0};

    laz_settings_collect(cli->settings, &mistakes);
    int rc = laz_engine_inspect(cli->settings, &options, engine, &err);
    laz_settings_collect(cli->settings, NULL);
    for (size_t i = 0; i < mistakes.texts.n; i++)
        cli_problem(cli, "%s", mistakes.texts.items[i]);
    int status = rc ? cli_fail(cli, &err) : cli_status(mistakes.code);
    laz_strv_fini(&mistakes.texts);
    return status;
}

static int config_check(struct cli *cli)
{
    struct laz_engine *engine;
    int status = cli_inspect(cli, &engine);

    if (engine)
        cli_notices(cli, engine, NULL);
    laz_engine_free(engine);
    return status;
}

/* What a plugin declares of its options. */
static bool config_options(void *user, const char *section, const char *name,
                           const struct laz_option **options)
{
    struct laz_registry *registry = user;
    const struct laz_runtime_info *runtime;
    const struct laz_plugin *plugin;

    if (strcmp(section, "runtime") == 0) {
        if (laz_registry_runtime(registry, name, &runtime, NULL) != 0)
            return false;
        *options = runtime->options;
        return true;
    }
    const uint32_t kind = strcmp(section, "tools") == 0     ? LAZ_PLUGIN_TOOL
                          : strcmp(section, "cluster") == 0 ? LAZ_PLUGIN_CARRIER
                                                            : LAZ_PLUGIN_BACKEND;
    if (laz_registry_find(registry, kind, name, &plugin, NULL) != 0)
        return false;
    *options = plugin->options;
    return true;
}

int cli_config(struct cli *cli)
{
    struct cli_answer answer;
    struct laz_registry *registry = NULL;

    if (cli->check)
        return config_check(cli);
    int status = cli_registry(cli, true, &registry);
    if (status)
        return status;
    laz_settings_mark_secrets(cli->settings, config_options, registry);
    laz_registry_free(registry);
    if (!cli->json) {
        laz_settings_visit(cli->settings, config_line, cli);
        return CLI_OK;
    }
    cli_answer_begin(&answer, true);
    laz_json_add_text(&answer.write, "file", laz_settings_file(cli->settings));
    laz_json_begin_list(&answer.write, "settings");
    laz_settings_visit(cli->settings, config_json, &answer.write);
    laz_json_end_list(&answer.write);
    return cli_answer_end(cli, &answer, CLI_OK);
}
