/* SPDX-License-Identifier: MIT */
/* inspect.h - checks everything that a configuration names, without starting anything. */
#ifndef LAZ_CLI_INSPECT_H
#define LAZ_CLI_INSPECT_H

struct cli;

/* Checks the tables of backends, runtimes and tools against the plugins; prints each mistake. 0 or
 * CLI_USAGE. */
int cli_inspect(struct cli *cli);

#endif
