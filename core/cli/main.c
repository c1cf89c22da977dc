/* SPDX-License-Identifier: MIT */
/* main.c - the lazaret command.
 *
 * An application of the library, and the only part of lazaret that prints and exits. Before opening
 * anything it ensures that the three standard descriptors are open: otherwise the next file to be
 * opened would take the number of a closed one and receive the output of untrusted code. */
#include "cli/cli.h"

#include "os/heap.h"
#include "os/library.h"
#include "os/streams.h"

#include <stdlib.h>

static int main_dispatch(struct cli *cli)
{
    int status;

    if (cli->help)
        return cli_help(cli);
    if (cli->version)
        return cli_version(cli);
    if (cli->command->bit & (CLI_FOR_HELP | CLI_FOR_VERSION | CLI_FOR_TOKEN | CLI_FOR_CONNECT |
                             CLI_FOR_CLUSTER)) /* also where the settings are wrong */
        return cli->command->run(cli);
    status = cli_load(cli);
    return status ? status : cli->command->run(cli);
}

int main(int argc, char **argv)
{
    struct cli cli = {.commands = cli_commands};
    int status;

    laz_library_secure();
    laz_heap_keep(CLI_KEPT);
    if (!laz_os_secure_streams())
        return CLI_SETUP;
    cli.terminal = terminal_new(&cli);
    if (!cli.terminal)
        return CLI_SETUP;
    status = cli_parse(&cli, argc, argv);
    if (status == 0)
        status = main_dispatch(&cli);
    status = cli_answer_missing(&cli, status);
    laz_settings_free(cli.settings);
    laz_strv_fini(&cli.set);
    laz_strv_fini(&cli.tenants);
    laz_strv_fini(&cli.code);
    laz_strv_fini(&cli.read);
    laz_strv_fini(&cli.write);
    laz_strv_fini(&cli.env);
    laz_strv_fini(&cli.file);
    laz_strv_fini(&cli.problems);
    status = cli_finish(&cli, status);
    terminal_free(cli.terminal);
    return status;
}
