/* SPDX-License-Identifier: MIT */
/* connect.c - standard input and output become a server of another machine.
 *
 * This process becomes lazaret-gate, which speaks TLS (core/gate): nothing stays in between. */
#include "cli/cli.h"

#include "base/host_port.h"
#include "gate/gate.h"
#include "os/programs.h"
#include "os/trust.h"

#include <stdlib.h>
#include <string.h>

static void connect_option(struct laz_strv *argv, const char *name, const char *value)
{
    if (!value)
        return;
    laz_strv_add(argv, name);
    laz_strv_add(argv, value);
}

/* HOST:PORT of a server, "tls://HOST[:PORT]". NULL: it is none, or out of memory. */
static char *connect_address(const char *url)
{
    static const char scheme[] = "tls://";
    char host[LAZ_HOST_MAX + 1];
    uint16_t port;

    if (strncmp(url, scheme, sizeof scheme - 1) != 0)
        return NULL;
    url += sizeof scheme - 1;
    if (laz_host_port(url, host, &port))
        return laz_strdup(url);
    char *usual = laz_strdupf("%s:%u", url, LAZ_GATE_PORT);
    if (usual && laz_host_port(usual, host, &port))
        return usual;
    free(usual);
    return NULL;
}

/* A place of another machine, by the bus. */
static int connect_cluster(struct cli *cli)
{
    struct laz_registry *registry = NULL;
    struct laz_error err = {0};
    int status = cli_load(cli);

    if (!status)
        status = cli_registry(cli, false, &registry);
    if (!status && cli_connect_cluster(&cli->log, registry, cli->values, &err) != 0)
        status = cli_fail(cli, &err);
    laz_registry_free(registry);
    return status;
}

int cli_connect(struct cli *cli)
{
    if (cli->n_operands == 1 && strcmp(cli->operands[0], "cluster") == 0)
        return connect_cluster(cli);
    struct laz_strv argv = LAZ_STRV_INIT;
    struct laz_error err = {0};
    char *address = cli->n_operands == 1 ? connect_address(cli->operands[0]) : NULL;
    char *agent = laz_installed_agent(), *program = gate_program(agent);
    int rc = 0;

    if (cli->json)
        return cli_refuse_json(cli);
    if (!address)
        rc = laz_error_set(&err, LAZ_EINVAL, 0,
                           "usage: lazaret connect tls://HOST[:PORT], or lazaret connect cluster");
    else if (!cli->certificate != !cli->key)
        rc = laz_error_set(&err, LAZ_EINVAL, 0, "--cert and --key go together");
    laz_strv_add(&argv, program ? program : "");
    laz_strv_add(&argv, "--connect");
    connect_option(&argv, "--host", address);
    connect_option(&argv, "--token-file", cli->token_file);
    connect_option(&argv, "--authorities", cli->authorities);
    connect_option(&argv, "--certificate", cli->certificate);
    connect_option(&argv, "--key", cli->key);
    connect_option(&argv, "--name", cli->server_name);
    if (!rc && (argv.failed || !program))
        rc = laz_error_nomem(&err);
#ifdef LAZ_TLS
    if (!rc)
        rc = laz_trust_file(program, &err);
    if (!rc)
        rc = laz_os_become(program, (const char *const *)argv.items, &err);
#else
    if (!rc)
        rc = laz_error_set(&err, LAZ_EREFUSED, 0, "this lazaret was built without TLS");
#endif
    laz_strv_fini(&argv);
    free(address);
    free(program);
    free(agent);
    return cli_fail(cli, &err);
}
