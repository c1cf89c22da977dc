/* SPDX-License-Identifier: MIT */
/* serve.c - the engine for a host in any language: standard input and output carry the messages of
 * the host protocol and nothing else. */
#include "cli/cli.h"

#include "os/interrupt.h"
#include "serve/serve.h"

static void serve_stop(void *server)
{
    laz_server_stop(server);
}

int cli_serve(struct cli *cli)
{
    const struct laz_engine_options engine = cli_engine_options(cli);
    const struct laz_server_options options = {
        .settings = cli->settings,
        .engine = &engine,
        .listen = cli->listen,
    };
    struct laz_interrupt *interrupt = NULL;
    struct laz_server *server = NULL;
    struct laz_error err = {0};
    int status = CLI_OK;

    int rc = laz_interrupt_block(&interrupt, &err);
    if (!rc)
        rc = laz_server_new(&options, &server, &err);
    if (!rc)
        rc = laz_interrupt_start(interrupt, serve_stop, server, &err);
    if (!rc && cli->listen && !cli->quiet)
        cli_say(cli, "listening at %s", cli->listen);
    if (!rc)
        rc = laz_server_run(server, &err);
    if (rc)
        status = cli_fail(cli, &err);
    else if (laz_interrupt_status(interrupt))
        status = laz_interrupt_status(interrupt);
    laz_interrupt_free(interrupt); /* nobody stops it from now on */
    laz_server_free(server);
    return status;
}
