/* SPDX-License-Identifier: MIT */
/* mcp.c - lazaret mcp. */
#include "cli/cli.h"

int cli_mcp(struct cli *cli)
{
    if (cli->install)
        return cli_mcp_install(cli);
    cli_problem(cli, "mcp is not available in this version without --install");
    return CLI_USAGE;
}
