/* SPDX-License-Identifier: MIT */
/* cluster.c - lazaret cluster: what operators of sessions on many machines do. A row for each word.
 */
#include "cli/cli.h"

#include <string.h>

static const struct cluster_word {
    const char *word;
    int n_operands; /* behind it */
    const char *usage;
    int (*run)(struct cli *cli); /* its operands begin at cli->operands[1] */
} cluster_words[] = {
    {"init", 1, "init DIR", cli_cluster_init},
};

int cli_cluster(struct cli *cli)
{
    const char *word = cli->n_operands ? cli->operands[0] : "";

    for (size_t i = 0; i < sizeof cluster_words / sizeof *cluster_words; i++)
        if (strcmp(cluster_words[i].word, word) == 0)
            return cli->n_operands == 1 + cluster_words[i].n_operands
                       ? cluster_words[i].run(cli)
                       : cli_problem(cli, "usage: lazaret cluster %s", cluster_words[i].usage);
    return cli_problem(cli, "usage: lazaret cluster init DIR [--tenant NAME]... [--url URL]");
}
