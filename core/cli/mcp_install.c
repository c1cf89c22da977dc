/* SPDX-License-Identifier: MIT */
/* mcp_install.c - lazaret mcp --install: makes this program a server of a client, by an entry in
 * the client's configuration.
 *
 * The entry repeats the options of this command line, with absolute paths: a client starts its
 * servers in a directory of its own choice. */
#include "cli/cli.h"

#include "base/nearest.h"
#include "edit/edit.h"
#include "os/current_process.h"
#include "os/paths.h"
#include "os/system.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct install {
    const struct laz_edit_client *client;
    struct laz_edit_program program;
    char *command;
    struct laz_strv args;
    char *place; /* the file, as it was named */
    struct laz_edit_file file;
    struct laz_buf after;
    bool changed;
    char *backup;
};

static int install_usage(struct cli *cli)
{
    struct laz_nearest nearest;
    struct laz_buf names = LAZ_BUF_INIT;

    laz_nearest_init(&nearest, cli->install);
    for (const struct laz_edit_client *client = laz_edit_clients; client->name; client++) {
        laz_nearest_try(&nearest, client->name);
        laz_buf_printf(&names, "%s%s", names.len ? client[1].name ? ", " : " or " : "",
                       client->name);
    }
    const char *best = laz_nearest_best(&nearest);
    if (best)
        cli_problem(cli, "--install: there is no client %s; did you mean %s?", cli->install, best);
    else
        cli_problem(cli, "--install: there is no client %s; expected %s", cli->install,
                    laz_buf_text(&names));
    laz_buf_fini(&names);
    return CLI_USAGE;
}

/* A client gives its servers few variables of its environment: a configuration that was found by
 * one of the others is named. */
static void install_name_config(struct cli *cli)
{
    static const char *const variables[] = {"LAZARET_CONFIG", "XDG_CONFIG_HOME"};

    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = laz_os_getenv(variables[i]);
        if (!cli->config && value && *value)
            cli->config = laz_settings_file(cli->settings);
    }
}

/* What the client shall run. */
static int install_program(struct cli *cli, struct install *install, struct laz_error *err)
{
    install->command = laz_os_own_program();
    if (!install->command)
        return laz_error_os(err, errno, "the file of this program is not known");
    laz_os_native_path(install->command);
    laz_strv_add(&install->args, "mcp");
    install_name_config(cli);
    if (!cli_repeat(cli, &install->args))
        return laz_error_nomem(err);
    install->program =
        (struct laz_edit_program){.command = install->command, .args = &install->args};
    return 0;
}

static int install_place(struct cli *cli, struct install *install, struct laz_error *err)
{
    const char *given = cli->n_operands ? cli->operands[0] : NULL;

    if (!given)
        return laz_edit_place(install->client, laz_os_platform(), &install->place, err);
    char *here = laz_os_is_absolute(given) ? laz_strdup("") : laz_os_real_path(".");
    if (!here)
        return laz_error_os(err, errno, "the working directory cannot be used");
    install->place =
        *here ? laz_strdupf("%s/%s", strcmp(here, "/") == 0 ? "" : here, given) : laz_strdup(given);
    free(here);
    return install->place ? 0 : laz_error_nomem(err);
}

/* Says which file it is. `has_place`: the error begins with "LINE:COL: ". */
static void install_blame(const char *path, bool has_place, struct laz_error *err)
{
    const struct laz_error why = *err;
    const size_t place = has_place ? strcspn(why.text, " ") : 0;

    laz_error_set(err, why.code, why.os_errno, "%s:%.*s nothing was written:%s%s", path, (int)place,
                  why.text, has_place ? "" : " ", why.text + place);
}

/* Reads the file and makes its new text. */
static int install_edit(struct install *install, struct laz_error *err)
{
    int rc = laz_edit_file_read(&install->file, install->place, err);

    if (rc)
        return rc;
    rc = laz_edit_text(install->client, &install->program, laz_buf_text(&install->file.text),
                       install->file.text.len, &install->after, err);
    if (rc)
        install_blame(install->file.path, rc == LAZ_EPARSE, err);
    install->changed =
        !rc && (!install->file.exists || install->after.len != install->file.text.len ||
                memcmp(laz_buf_text(&install->after), laz_buf_text(&install->file.text),
                       install->after.len) != 0);
    return rc;
}

static int install_answer_json(struct cli *cli, const struct install *install)
{
    struct laz_buf diff = LAZ_BUF_INIT;
    struct cli_answer answer;

    laz_edit_diff(&diff, install->file.path, &install->file.text, &install->after);
    cli_answer_begin(&answer, true);
    laz_json_add_text(&answer.write, "client", install->client->name);
    laz_json_add_text(&answer.write, "path", install->file.path);
    laz_json_add_bool(&answer.write, "changes", install->changed);
    laz_json_add_bool(&answer.write, "written", install->changed && !cli->dry_run);
    laz_json_add_text(&answer.write, "backup", install->backup);
    laz_json_add_text(&answer.write, "command", install->command);
    laz_json_add_texts(&answer.write, "args", &install->args);
    laz_json_add_text(&answer.write, "diff", laz_buf_text(&diff));
    answer.json.failed |= diff.failed;
    laz_buf_fini(&diff);
    return cli_answer_end(cli, &answer, CLI_OK);
}

static int install_answer(struct cli *cli, const struct install *install)
{
    struct laz_buf out = LAZ_BUF_INIT;

    if (cli->json)
        return install_answer_json(cli, install);
    laz_edit_diff(&out, install->file.path, &install->file.text, &install->after);
    laz_visible_line(&out, install->file.path, strlen(install->file.path));
    if (!install->changed)
        laz_buf_puts(&out, ": has this entry already, nothing was written");
    else if (cli->dry_run)
        laz_buf_puts(&out, ": would be changed so, nothing was written");
    else
        laz_buf_printf(&out, ": written%s", install->backup ? ", what was there is in " : "");
    if (install->backup)
        laz_visible_line(&out, install->backup, strlen(install->backup));
    cli_print(cli, &out);
    return CLI_OK;
}

int cli_mcp_install(struct cli *cli)
{
    struct install install = {.client = laz_edit_client(cli->install)};
    struct laz_error err = {0};

    if (!install.client)
        return install_usage(cli);
    if (cli->listen || cli->token_file)
        return cli_problem(
            cli,
            "--install is for a client that starts its server, --listen for one that does not");
    int rc = install_program(cli, &install, &err);
    if (!rc)
        rc = install_place(cli, &install, &err);
    if (!rc)
        rc = install_edit(&install, &err);
    if (!rc && install.changed && !cli->dry_run)
        rc = laz_edit_file_write(&install.file, &install.after, install.client->is_project,
                                 &install.backup, &err);
    const int status = rc ? cli_fail(cli, &err) : install_answer(cli, &install);
    free(install.command);
    free(install.place);
    free(install.backup);
    laz_strv_fini(&install.args);
    laz_buf_fini(&install.after);
    laz_edit_file_fini(&install.file);
    return status;
}
