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
    const int *descriptors; /* of the client: in and out, nonblocking, borrowed; NULL: standard
                               input and output */
};

/* Makes the engine. Everything of the options is borrowed for the call, unless it says otherwise.
 * The caller frees *mcp. Errors: as laz_engine_new; LAZ_EOS; LAZ_EREFUSED: not on this system. */
int laz_mcp_new(const struct laz_mcp_options *options, struct laz_mcp **mcp, struct laz_error *err);
/* Serves until the end of its input, or laz_mcp_stop. Errors: LAZ_ETOOBIG: a line was too long, and
 * what follows cannot be read; LAZ_ENOMEM. */
int laz_mcp_run(struct laz_mcp *mcp, struct laz_error *err);
/* Any thread: has laz_mcp_run return. NULL is allowed. */
void laz_mcp_stop(struct laz_mcp *mcp);
/* Ends all that runs, and answers its requests. NULL is allowed. */
void laz_mcp_free(struct laz_mcp *mcp);

#endif
