/* SPDX-License-Identifier: MIT */
/* serve.c - the engine for a host in any language: standard input and output carry the messages of
 * the host protocol and nothing else. */
#include "cli/cli.h"

#include "engine/engine.h"
#include "os/heap.h"
#include "os/interrupt.h"
#include "serve/serve.h"

#include <string.h>

static void serve_stop(void *server)
{
    laz_server_leave(server);
}

/* The number of --engines. LAZ_EINVAL. */
static int serve_engines(const struct cli *cli, unsigned *engines, struct laz_error *err)
{
    uint64_t number = 1;

    if (cli->engines && !cli->listen)
        return laz_error_set(err, LAZ_EINVAL, 0,
                             "--engines needs --listen: standard input and output are one client, "
                             "and a client is served by one engine");
    if (cli->engines && !cli_number(cli->engines, LAZ_SERVER_ENGINES, &number))
        return laz_error_set(err, LAZ_EINVAL, 0,
                             "--engines: '%.100s' is not a number from 1 to %u, or 0 for one for "
                             "each processor",
                             cli->engines, LAZ_SERVER_ENGINES);
    *engines = number ? (unsigned)number : laz_engines_usual();
    if (*engines > 1) /* each thread has a heap, whose end is given back only from there on */
        laz_heap_keep(CLI_KEPT / (int)*engines);
    return 0;
}

static int serve_run(struct cli *cli);

int cli_worker(struct cli *cli)
{
    const int status = cli_be_worker(cli);

    cli->listen = LAZ_SERVER_CLUSTER;
    return status ? status : serve_run(cli);
}

int cli_serve(struct cli *cli)
{
    if (cli->listen && strcmp(cli->listen, LAZ_SERVER_CLUSTER) == 0)
        return cli_problem(cli, "--listen cluster: that is what lazaret worker does");
    return serve_run(cli);
}

static int serve_run(struct cli *cli)
{
    const struct laz_engine_options engine = cli_engine_options(cli);
    struct laz_server_options options = {
        .settings = cli->settings,
        .engine = &engine,
        .listen = cli->listen,
    };
    struct laz_interrupt *interrupt = NULL;
    struct laz_server *server = NULL;
    struct laz_error err = {0};
    int status = CLI_OK;

    if (cli->json)
        return cli_refuse_json(cli);
    int rc = serve_engines(cli, &options.engines, &err);
    if (!rc)
        rc = laz_interrupt_block(&interrupt, &err);
    if (!rc)
        rc = laz_server_new(&options, &server, &err);
    if (!rc)
        rc = laz_interrupt_start(interrupt, serve_stop, server, &err);
    if (!rc && cli->listen && !cli->quiet)
        cli_say(cli, "listening at %s", laz_server_address(server));
    if (!rc && laz_server_metrics(server) && !cli->quiet)
        cli_say(cli, "metrics at %s", laz_server_metrics(server));
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
