/* SPDX-License-Identifier: MIT */
/* config.c - shows the settings in force, in TOML notation, each with its origin.
 *
 * The text is a valid file for --config: the keys are dotted TOML keys, the origins comments. */
#include "cli/cli.h"
#include "cli/inspect.h"

#include "base/json.h"
#include "settings/settings.h"

#include <string.h>

struct config_list {
    struct cli *cli;
    struct laz_buf json;
    bool any;
};

static void config_line(void *user, const char *key, const char *value, const char *origin)
{
    struct config_list *list = user;
    size_t len = strlen(key) + strlen(value) + 3;

    cli_printf(list->cli, "%s = %s%*s  # %s\n", key, value, len < 48 ? (int)(48 - len) : 0, "",
               origin);
}

static void config_json(void *user, const char *key, const char *value, const char *origin)
{
    struct config_list *list = user;

    laz_buf_puts(&list->json, list->any ? ",\n {\"key\":" : "[{\"key\":");
    list->any = true;
    laz_json_quote(&list->json, key, strlen(key));
    laz_buf_puts(&list->json, ",\"value\":");
    laz_json_quote(&list->json, value, strlen(value));
    laz_buf_puts(&list->json, ",\"origin\":");
    laz_json_quote(&list->json, origin, strlen(origin));
    laz_buf_putc(&list->json, '}');
}

int cli_config(struct cli *cli)
{
    struct config_list list = {.cli = cli, .json = LAZ_BUF_INIT};

    if (cli->check)
        return cli_inspect(cli);
    if (!cli->json) {
        laz_settings_visit(cli->settings, config_line, &list);
        return CLI_OK;
    }
    laz_settings_visit(cli->settings, config_json, &list);
    cli_printf(cli, "%s]\n", list.any ? laz_buf_text(&list.json) : "[");
    laz_buf_fini(&list.json);
    return CLI_OK;
}
