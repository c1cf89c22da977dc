/* SPDX-License-Identifier: MIT */
/* inspect.h - a look at everything a configuration leads to, without starting anything. */
#ifndef LAZ_CLI_INSPECT_H
#define LAZ_CLI_INSPECT_H

struct cli;

/* Checks the tables of backends, runtimes and tools against the plugins; each mistake is printed.
 * 0 or CLI_USAGE. */
int cli_inspect(struct cli *cli);

#endif
