/* SPDX-License-Identifier: MIT */
/* load.c - what every subcommand begins with: the settings from the file and the options, and the
 * plugins.
 *
 * The order is that of precedence: defaults, file, --set in the order given, the options with a
 * name of their own. Every mistake found is reported, not only the first. */
#include "cli/cli.h"

#include "base/json_write.h"
#include "os/paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int cli_status(int code)
{
    static const struct {
        int code, status;
    } rows[] = {
        {0, CLI_OK},
        {LAZ_ECONFIG, CLI_USAGE},
        {LAZ_EINVAL, CLI_USAGE},
        {LAZ_ENOENT, CLI_USAGE},
        {LAZ_EPARSE, CLI_USAGE},
        {LAZ_EREFUSED, CLI_REFUSED},
        {LAZ_ECANCELLED, CLI_INTERRUPTED},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].code == code)
            return rows[i].status;
    return CLI_SETUP;
}

int cli_fail(struct cli *cli, const struct laz_error *err)
{
    cli_problem(cli, "%s",
                err->text[0] ? err->text : "failed without an error message (please report this)");
    return cli_status(err->code);
}

struct laz_engine_options cli_engine_options(const struct cli *cli)
{
    return (struct laz_engine_options){
        .size = sizeof(struct laz_engine_options),
        .log = cli->log.sink,
        .log_user = cli->log.user,
        .log_level = cli->log.level,
    };
}

static void load_log(void *user, uint32_t level, const char *text)
{
    struct cli *cli = user;

    cli_say(cli, "%s%s", level == LAZ_LOG_WARNING ? "warning: " : "", text);
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

    if (!value || laz_settings_set_by(cli->settings, option, key, value, &err) == 0)
        return 0;
    return cli_problem(cli, "%s: %s", option, err.text);
}

/* The same for what is a text, whatever it looks like: "[::1]:9464". */
static int load_text(struct cli *cli, const char *option, const char *key, const char *value)
{
    struct laz_buf text = LAZ_BUF_INIT;
    int status = 0;

    if (value) {
        laz_json_quote(&text, value, strlen(value));
        status = text.failed ? CLI_SETUP : load_set(cli, option, key, laz_buf_text(&text));
    }
    laz_buf_fini(&text);
    return status;
}

static int load_set_pair(struct cli *cli, const char *pair)
{
    const char *equals = strchr(pair, '=');
    char *key;
    int status;

    if (!equals || equals == pair)
        return cli_problem(cli, "--set: expected KEY=VALUE, found %.*s", (int)strcspn(pair, "=: "),
                           pair); /* what follows may be a secret */
    key = laz_strndup(pair, (size_t)(equals - pair));
    if (!key) {
        cli_problem(cli, "out of memory");
        return CLI_SETUP;
    }
    status = load_set(cli, "--set", key, equals + 1);
    free(key);
    return status;
}

static int load_extend(struct cli *cli, const char *option, const char *key,
                       const struct laz_strv *more)
{
    struct laz_error err = {0};

    if (laz_settings_extend(cli->settings, option, key, more, &err) == 0)
        return 0;
    return cli_problem(cli, "%s: %s", option, err.text);
}

int cli_choose_runtime(struct cli *cli, const char *option, const char *runtime)
{
    return load_set(cli, option, "session.runtime", runtime);
}

/* Its file may be that of callers, whose sessions are on workers. */
int cli_be_worker(struct cli *cli)
{
    return load_set(cli, "worker", "session.where", "worker");
}

int cli_show_paths(struct cli *cli, const char *option, const struct laz_strv *paths)
{
    return load_extend(cli, option, "sandbox.read", paths);
}

/* Paths as they are given on a command line: from the current directory, and through links. */
static int load_paths(struct cli *cli, const char *option, const char *key,
                      const struct laz_strv *given)
{
    struct laz_strv paths = LAZ_STRV_INIT;
    int status = 0;

    for (size_t i = 0; i < given->n && !status; i++) {
        char *path = laz_os_real_path(given->items[i]);
        if (path)
            laz_strv_add(&paths, path);
        else
            status = cli_problem(cli, "%s: %s: %s", option, given->items[i], strerror(errno));
        free(path);
    }
    if (!status && paths.n)
        status = load_extend(cli, option, key, &paths);
    laz_strv_fini(&paths);
    return status;
}

/* The directory in which the code starts; it is shown, unless the settings do that. */
static int load_cwd(struct cli *cli)
{
    char *path = cli->cwd ? laz_os_real_path(cli->cwd) : NULL;
    struct laz_strv paths = LAZ_STRV_INIT;

    if (!cli->cwd)
        return 0;
    if (!path)
        return cli_problem(cli, "--cwd: %s: %s", cli->cwd, strerror(errno));
    int status = load_set(cli, "--cwd", "session.directory", path);
    laz_strv_add(&paths, path);
    if (!status && !laz_settings_shows(cli->values, path))
        status = cli_show_paths(cli, "--cwd", &paths);
    laz_strv_fini(&paths);
    free(path);
    return status;
}

static int load_variable(struct cli *cli, const char *pair)
{
    const char *equals = strchr(pair, '=');
    struct laz_strv name = LAZ_STRV_INIT;
    struct laz_buf value = LAZ_BUF_INIT;
    int status;

    if (equals == pair || !*pair)
        return cli_problem(cli, "--env: expected NAME or NAME=VALUE, found no name");
    laz_strv_addf(&name, "%.*s", equals ? (int)(equals - pair) : (int)strlen(pair), pair);
    if (!equals) {
        status = load_extend(cli, "--env", "env.allow", &name);
    } else {
        char *key = laz_strdupf("env.set.%s", name.n ? name.items[0] : "");
        laz_json_quote(&value, equals + 1, strlen(equals + 1));
        status =
            key && !value.failed ? load_set(cli, "--env", key, laz_buf_text(&value)) : CLI_SETUP;
        free(key);
    }
    laz_strv_fini(&name);
    laz_buf_fini(&value);
    return status;
}

/* What is asked for of boxes of this machine, where sessions are not. */
static int load_elsewhere(struct cli *cli)
{
    if (cli->values->session.where != LAZ_WHERE_CLUSTER ||
        !(cli->read.n || cli->write.n || cli->env.n || cli->cwd || cli->backend))
        return 0;
    return cli_problem(cli, "--read, --write, --cwd, --env and --backend are about boxes of this "
                            "machine, and sessions are on workers (session.where)");
}

int cli_load(struct cli *cli)
{
    struct laz_error err = {0};

    cli->log = (struct laz_log){
        .sink = load_log,
        .user = cli,
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
    status |= load_text(cli, "--metrics", "telemetry.listen", cli->metrics);
    status |= load_paths(cli, "--read", "sandbox.read", &cli->read);
    status |= load_paths(cli, "--write", "sandbox.write", &cli->write);
    if (cli->allow.n)
        status |= load_extend(cli, "--allow", "network.allow", &cli->allow);
    status |= load_cwd(cli);
    for (size_t i = 0; i < cli->env.n; i++)
        status |= load_variable(cli, cli->env.items[i]);
    status |= load_elsewhere(cli);
    if (cli->verbose)
        status |= load_set(cli, "--verbose", "session.verbose", "true");
    return status ? CLI_USAGE : 0;
}

int cli_registry(struct cli *cli, bool quiet, struct laz_registry **registry)
{
    static const struct laz_log silent = {0};
    struct laz_error err = {0};

    if (laz_registry_new(cli->values, quiet ? &silent : &cli->log, registry, &err) != 0)
        return cli_fail(cli, &err);
    return 0;
}

int cli_backend_options(struct cli *cli, const struct laz_plugin *backend, struct laz_buf *json,
                        struct laz_error *err)
{
    char *where = laz_strdupf("sandbox.%s", backend->name);
    int rc = where ? laz_settings_show_options(
                         laz_settings_plugin_table(cli->settings, "sandbox", backend->name),
                         backend->options, where, json, err)
                   : laz_error_nomem(err);

    free(where);
    return rc;
}

int cli_needs_boxes(struct cli *cli)
{
    struct laz_error err = {0};

    if (cli->values->session.where != LAZ_WHERE_CLUSTER)
        return CLI_OK;
    laz_error_set(&err, LAZ_EREFUSED, 0,
                  "sessions are on workers, which have boxes of their own: ask there, with the "
                  "worker's configuration, or here with --set session.where=here; `lazaret cluster "
                  "status` shows the workers");
    laz_settings_place(cli->values, "session.where", NULL, &err);
    return cli_fail(cli, &err);
}
