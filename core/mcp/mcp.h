/* SPDX-License-Identifier: MIT */
/* mcp.h - what this room offers: an MCP server (Model Context Protocol), which lets a model run
 * code (docs/mcp.md). One client talks to it by lines on standard input and output. */
#ifndef LAZ_MCP_MCP_H
#define LAZ_MCP_MCP_H

#include "base/error.h"
#include "settings/settings.h"

#include <lazaret/lazaret.h>

struct laz_mcp;

struct laz_mcp_options {
    const struct laz_settings *settings;
    const struct laz_engine_options *engine;
    const char *listen;     /* HOST:PORT, or a path, for clients by HTTP; NULL: the one client is */
    const char *token_file; /* with a port: what clients have to show; made if it is missing */
    const int *descriptors; /* of the client: in and out, nonblocking, borrowed; NULL: standard
                               input and output */
};

/* Makes the engine. Everything of the options is borrowed for the call, unless it says otherwise.
 * The caller frees *mcp. Errors: as laz_engine_new; LAZ_EOS; LAZ_EINVAL: `listen`; LAZ_EREFUSED:
 * not on this system, or not built. */
int laz_mcp_new(const struct laz_mcp_options *options, struct laz_mcp **mcp, struct laz_error *err);
/* Where clients by HTTP connect: a URL, or a path. NULL: there are none. Borrowed. */
const char *laz_mcp_address(const struct laz_mcp *mcp);
/* Where its counters are read (telemetry.listen): a URL. NULL: nowhere. Borrowed. */
const char *laz_mcp_metrics(const struct laz_mcp *mcp);
/* Serves until the end of its input (by HTTP: never), or laz_mcp_stop. Errors: LAZ_ETOOBIG: a line
 * was too long, and what follows cannot be read; LAZ_ENOMEM. */
int laz_mcp_run(struct laz_mcp *mcp, struct laz_error *err);
/* Any thread: has laz_mcp_run return. NULL is allowed. */
void laz_mcp_stop(struct laz_mcp *mcp);
/* Ends all that runs, and answers its requests. NULL is allowed. */
void laz_mcp_free(struct laz_mcp *mcp);

#endif
