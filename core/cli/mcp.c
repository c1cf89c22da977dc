/* SPDX-License-Identifier: MIT */
/* mcp.c - an MCP server for the client that has started it: standard output carries its messages
 * and nothing else. */
#include "cli/cli.h"

#include "mcp/mcp.h"
#include "os/interrupt.h"

static void mcp_stop(void *mcp)
{
    laz_mcp_stop(mcp);
}

static int mcp_serve(struct cli *cli)
{
    const struct laz_engine_options engine = cli_engine_options(cli);
    const struct laz_mcp_options options = {
        .settings = cli->settings,
        .engine = &engine,
        .listen = cli->listen,
        .token_file = cli->token_file,
    };
    struct laz_interrupt *interrupt = NULL;
    struct laz_mcp *mcp = NULL;
    struct laz_error err = {0};
    int status = CLI_OK;

    if (cli->json)
        return cli_refuse_json(cli);
    int rc = laz_interrupt_block(&interrupt, &err);
    if (!rc)
        rc = laz_mcp_new(&options, &mcp, &err);
    if (!rc)
        rc = laz_interrupt_start(interrupt, mcp_stop, mcp, &err);
    if (!rc && cli->listen && !cli->quiet)
        cli_say(cli, "listening at %s", laz_mcp_address(mcp));
    if (!rc && laz_mcp_metrics(mcp) && !cli->quiet)
        cli_say(cli, "metrics at %s", laz_mcp_metrics(mcp));
    if (!rc)
        rc = laz_mcp_run(mcp, &err);
    if (rc)
        status = cli_fail(cli, &err);
    else if (laz_interrupt_status(interrupt))
        status = laz_interrupt_status(interrupt);
    laz_interrupt_free(interrupt); /* nobody stops it from now on */
    laz_mcp_free(mcp);
    return status;
}

int cli_mcp(struct cli *cli)
{
    if (cli->install)
        return cli_mcp_install(cli);
    if (!cli->dry_run && !cli->n_operands)
        return mcp_serve(cli);
    return cli_problem(cli, "mcp: %s belongs to --install",
                       cli->dry_run ? "--dry-run" : cli->operands[0]);
}
