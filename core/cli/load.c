/* SPDX-License-Identifier: MIT */
/* load.c - what every subcommand begins with: the settings from the file and the options, and the
 * plugins.
 *
 * The order is that of precedence: defaults, file, --set in the order given, the options with a
 * name of their own. Every mistake found is reported, not only the first. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

int cli_fail(struct cli *cli, const struct laz_error *err)
{
    static const struct {
        int code, status;
    } rows[] = {
        {LAZ_ECONFIG, CLI_USAGE}, {LAZ_EINVAL, CLI_USAGE},     {LAZ_ENOENT, CLI_USAGE},
        {LAZ_EPARSE, CLI_USAGE},  {LAZ_EREFUSED, CLI_REFUSED}, {LAZ_ECANCELLED, CLI_INTERRUPTED},
    };

    cli_problem(cli, "%s",
                err->text[0] ? err->text : "failed without an error message (please report this)");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].code == err->code)
            return rows[i].status;
    return CLI_SETUP;
}

static void load_log(void *user, uint32_t level, const char *text)
{
    (void)user;
    cli_say("%s%s", level == LAZ_LOG_WARNING ? "warning: " : "", text);
}

static int load_file(struct cli *cli)
{
    struct laz_error err = {0};

    if (laz_settings_load(cli->settings, cli->config, &err) == 0)
        return 0;
    size_t n = laz_settings_problems(cli->settings);
    for (size_t i = 0; i < n; i++)
        cli_problem(cli, "%s", laz_settings_problem(cli->settings, i));
    if (n == 0)
        cli_problem(cli, "%s", err.text);
    return CLI_USAGE;
}

static int load_set(struct cli *cli, const char *option, const char *key, const char *value)
{
    struct laz_error err = {0};

    if (!value || laz_settings_set(cli->settings, key, value, &err) == 0)
        return 0;
    cli_problem(cli, "%s: %s", option, err.text);
    return CLI_USAGE;
}

static int load_set_pair(struct cli *cli, const char *pair)
{
    const char *equals = strchr(pair, '=');
    char *key;
    int status;

    if (!equals || equals == pair) {
        cli_problem(cli, "--set: expected KEY=VALUE, found %s", pair);
        return CLI_USAGE;
    }
    key = laz_strndup(pair, (size_t)(equals - pair));
    if (!key) {
        cli_problem(cli, "out of memory");
        return CLI_SETUP;
    }
    status = load_set(cli, "--set", key, equals + 1);
    free(key);
    return status;
}

int cli_load(struct cli *cli)
{
    struct laz_error err = {0};

    cli->log = (struct laz_log){
        .sink = load_log,
        .level = cli->verbose ? LAZ_LOG_INFO
                 : cli->quiet ? LAZ_LOG_ERROR
                              : LAZ_LOG_WARNING,
    };
    if (laz_settings_new(&cli->settings, &err) != 0)
        return cli_fail(cli, &err);
    cli->values = laz_settings_values(cli->settings);
    int status = load_file(cli);
    for (size_t i = 0; i < cli->set.n; i++)
        status |= load_set_pair(cli, cli->set.items[i]);
    status |= load_set(cli, "--backend", "sandbox.backend", cli->backend);
    status |= load_set(cli, "--runtime", "session.runtime", cli->runtime);
    status |= load_set(cli, "--timeout", "session.timeout", cli->timeout);
    if (cli->verbose)
        status |= load_set(cli, "--verbose", "session.verbose", "true");
    return status ? CLI_USAGE : 0;
}

int cli_registry(struct cli *cli, bool quiet, struct laz_registry **registry)
{
    static const struct laz_log silent = {0};
    struct laz_error err = {0};

    if (laz_registry_new(&cli->values->plugins.path, quiet ? &silent : &cli->log, registry, &err) !=
        0)
        return cli_fail(cli, &err);
    return 0;
}

int cli_backend_options(struct cli *cli, const struct laz_plugin *backend, struct laz_buf *json,
                        struct laz_error *err)
{
    char *where = laz_strdupf("sandbox.%s", backend->name);
    int rc = where ? laz_settings_check_options(
                         laz_settings_plugin_table(cli->settings, "sandbox", backend->name),
                         backend->options, where, NULL, json, err)
                   : laz_error_nomem(err);

    free(where);
    return rc;
}
