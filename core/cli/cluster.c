/* SPDX-License-Identifier: MIT */
/* cluster.c - lazaret cluster: what operators of sessions on many machines do. A row for each word.
 */
#include "cli/cli.h"

#include "cluster/cluster.h"
#include "os/descriptors.h"
#include "os/interrupt.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLUSTER_LISTEN_MS 2500  /* in which each worker has said something */
#define CLUSTER_DRAIN_MS  10000 /* in which one that was told to drain says so */
#define CLUSTER_TOP_MS    1000

/* ---- who is there ---------------------------------------------------------------------------- */

static int cluster_open(struct cli *cli, struct laz_operator **op, struct laz_registry **registry)
{
    struct laz_error err = {0};
    int status = cli_load(cli);

    if (!status)
        status = cli_registry(cli, false, registry);
    if (!status && laz_operator_new(&cli->log, *registry, cli->values, op, &err) != 0)
        status = cli_fail(cli, &err);
    return status;
}

static void cluster_json(struct laz_json_write *write, const struct laz_worker_seen *workers,
                         size_t n)
{
    laz_json_begin_list(write, "workers");
    for (size_t i = 0; i < n; i++) {
        laz_json_begin_object(write, NULL);
        laz_json_add_text(write, "worker", workers[i].name);
        laz_json_add_text(write, "pool", workers[i].pool);
        laz_json_add_text(write, "tenant", workers[i].tenant);
        laz_json_add_text(write, "version", workers[i].version);
        laz_json_add_uint(write, "places", workers[i].places);
        laz_json_add_uint(write, "used", workers[i].used);
        laz_json_add_uint(write, "opened", workers[i].opened);
        laz_json_add_uint(write, "refused", workers[i].refused);
        laz_json_add_bool(write, "draining", workers[i].is_draining);
        if (workers[i].latency_us)
            laz_json_add_uint(write, "latency_us", workers[i].latency_us);
        else
            laz_json_add_null(write, "latency_us");
        laz_json_end_object(write);
    }
    laz_json_end_list(write);
}

/* Milliseconds, from a word to a worker until it came back. */
static void cluster_latency(char text[16], uint64_t us)
{
    if (us)
        snprintf(text, 16, us < 100000 ? "%.1f ms" : "%.0f ms", (double)us / 1000);
    else
        snprintf(text, 16, "-");
}

static void cluster_table(struct laz_buf *text, const struct laz_worker_seen *workers, size_t n)
{
    uint64_t places = 0, used = 0;

    char latency[16];

    laz_buf_printf(text, "%-20s %-16s %-16s %8s %8s %10s %10s %10s\n", "WORKER", "POOL", "TENANT",
                   "USED", "PLACES", "OPENED", "REFUSED", "LATENCY");
    for (size_t i = 0; i < n; i++) {
        const struct laz_worker_seen *one = &workers[i];
        cluster_latency(latency, one->latency_us);
        laz_buf_printf(
            text,
            "%-20s %-16s %-16s %8" PRIu64 " %8" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10s%s\n",
            one->name, one->pool, *one->tenant ? one->tenant : "-", one->used, one->places,
            one->opened, one->refused, latency, one->is_draining ? "  draining" : "");
        used += one->used;
        places += one->is_draining ? one->used : one->places;
    }
    laz_buf_printf(text, "%zu worker%s, %" PRIu64 " of %" PRIu64 " places used\n", n,
                   n == 1 ? "" : "s", used, places);
}

static int cluster_show(struct cli *cli, struct laz_operator *op, int status)
{
    const struct laz_worker_seen *workers;
    const size_t n = laz_operator_workers(op, &workers);
    struct laz_buf text = LAZ_BUF_INIT;
    struct cli_answer answer;

    if (cli->json) {
        cli_answer_begin(&answer, status == CLI_OK);
        cluster_json(&answer.write, workers, n);
        return cli_answer_end(cli, &answer, status);
    }
    cluster_table(&text, workers, n);
    cli_print(cli, &text);
    return status;
}

static int cluster_status(struct cli *cli)
{
    struct laz_operator *op = NULL;
    struct laz_registry *registry = NULL;
    struct laz_error err = {0};
    int status = cluster_open(cli, &op, &registry);

    if (!status && laz_operator_listen(op, CLUSTER_LISTEN_MS, &err) != 0)
        status = cli_fail(cli, &err);
    else if (!status)
        status = cluster_show(cli, op, CLI_OK);
    laz_operator_free(op);
    laz_registry_free(registry);
    return status;
}

/* ---- drain ----------------------------------------------------------------------------------- */

static bool cluster_drains(struct laz_operator *op, const char *name)
{
    const struct laz_worker_seen *workers;
    const size_t n = laz_operator_workers(op, &workers);
    bool drains = false;

    for (size_t i = 0; i < n && !drains; i++)
        drains = strcmp(workers[i].name, name) == 0 && workers[i].is_draining;
    return drains;
}

static int cluster_drain(struct cli *cli)
{
    const char *name = cli->operands[1];
    struct laz_operator *op = NULL;
    struct laz_registry *registry = NULL;
    struct laz_error err = {0};
    int status = cluster_open(cli, &op, &registry), rc = 0;

    if (!status)
        rc = laz_operator_drain(op, name, &err);
    for (int ms = 0; !status && !rc && ms < CLUSTER_DRAIN_MS && !cluster_drains(op, name);
         ms += 100)
        rc = laz_operator_listen(op, 100, &err);
    if (!status && !rc && !cluster_drains(op, name))
        rc =
            laz_error_set(&err, LAZ_ENOENT, 0,
                          "no worker %.64s says that it drains: lazaret cluster status lists those "
                          "that are there",
                          name);
    if (rc)
        status = cli_fail(cli, &err);
    laz_operator_free(op);
    laz_registry_free(registry);
    return status;
}

/* ---- top ------------------------------------------------------------------------------------- */

static void cluster_stop(void *user)
{
    atomic_store((atomic_bool *)user, true);
}

static int cluster_top(struct cli *cli)
{
    struct laz_interrupt *interrupt = NULL;
    struct laz_operator *op = NULL;
    struct laz_registry *registry = NULL;
    struct laz_error err = {0};
    atomic_bool is_over = false;
    int rc = laz_interrupt_block(&interrupt, &err);
    int status = rc ? cli_fail(cli, &err) : cluster_open(cli, &op, &registry);

    if (!status && (rc = laz_interrupt_start(interrupt, cluster_stop, &is_over, &err)))
        status = cli_fail(cli, &err);
    while (!status && !atomic_load(&is_over)) {
        if (laz_operator_listen(op, CLUSTER_TOP_MS, &err) != 0)
            status = cli_fail(cli, &err);
        else if (!cli->json && laz_os_is_terminal(1))
            cli_puts(cli, "\033[H\033[2J"); /* the screen is this table's */
        if (!status)
            status = cluster_show(cli, op, CLI_OK);
        if (cli->output_errno)
            break;
    }
    laz_interrupt_free(interrupt);
    laz_operator_free(op);
    laz_registry_free(registry);
    return status;
}

/* ---- the words ------------------------------------------------------------------------------- */

static const struct cluster_word {
    const char *word;
    int n_operands; /* behind it */
    const char *usage;
    int (*run)(struct cli *cli); /* its operands begin at cli->operands[1] */
} cluster_words[] = {
    {"init", 1, "init DIR [--tenant NAME]... [--url URL]", cli_cluster_init},
    {"status", 0, "status", cluster_status},
    {"drain", 1, "drain WORKER", cluster_drain},
    {"top", 0, "top", cluster_top},
};

int cli_cluster(struct cli *cli)
{
    const char *word = cli->n_operands ? cli->operands[0] : "";

    for (size_t i = 0; i < sizeof cluster_words / sizeof *cluster_words; i++)
        if (strcmp(cluster_words[i].word, word) == 0)
            return cli->n_operands == 1 + cluster_words[i].n_operands
                       ? cluster_words[i].run(cli)
                       : cli_problem(cli, "usage: lazaret cluster %s", cluster_words[i].usage);
    return cli_problem(cli, "usage: lazaret cluster init DIR, status, drain WORKER, or top");
}
