/* SPDX-License-Identifier: MIT */
/* mcp.c - lazaret mcp. */
#include "cli/cli.h"

int cli_mcp(struct cli *cli)
{
    if (cli->install)
        return cli_mcp_install(cli);
    if (cli->dry_run || cli->n_operands) {
        cli_problem(cli, "mcp: %s belongs to --install",
                    cli->dry_run ? "--dry-run" : cli->operands[0]);
        return CLI_USAGE;
    }
    cli_problem(cli, "mcp is not available in this version without --install");
    return CLI_USAGE;
}
