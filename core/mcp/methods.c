/* SPDX-License-Identifier: MIT */
/* methods.c - what clients ask for: the methods of both eras.
 * Side: host.  Input trusted: no. */
#include "mcp/mcp_private.h"

#include <string.h>

#define METHODS_KEEP_MS (3600 * 1000) /* what never changes while this process lives */

/* ---- who the server is ----------------------------------------------------------------------- */

static void methods_capabilities(struct laz_json_write *write)
{
    laz_json_begin_object(write, "capabilities");
    laz_json_begin_object(write, "tools");
    laz_json_end_object(write);
    laz_json_begin_object(write, "resources");
    laz_json_end_object(write);
    laz_json_end_object(write);
}

/* The version that both speak; if there is none, the client decides. */
static const char *methods_agree(const char *wanted)
{
    for (size_t i = MCP_LEGACY_FIRST; i < MCP_N_VERSIONS; i++)
        if (strcmp(mcp_versions[i], wanted) == 0)
            return mcp_versions[i];
    return mcp_versions[MCP_LEGACY_FIRST];
}

static void methods_initialize(struct mcp_asked *asked, const struct mcp_params *params)
{
    struct laz_mcp *mcp = asked->peer->mcp;
    struct mcp_peer *peer = asked->peer;
    struct laz_json_write write;

    if (peer->is_initialized || !params->version) {
        mcp_fail(asked, peer->is_initialized ? MCP_INVALID : MCP_INVALID_PARAMS,
                 peer->is_initialized ? "the connection is initialized already"
                                      : "'initialize' lacks 'protocolVersion'");
        return;
    }
    peer->is_initialized = true;
    peer->version = methods_agree(params->version);
    peer->can_ask =
        params->capabilities && mcp_can_ask(params->capabilities, params->capabilities_len);
    if (!mcp_answer_begin(asked, "complete", &write))
        return;
    laz_json_add_text(&write, "protocolVersion", peer->version);
    methods_capabilities(&write);
    mcp_answer_server(&write, "serverInfo");
    laz_json_add_text(&write, "instructions", mcp->instructions);
    mcp_answer_end(asked, &write);
}

static void methods_discover(struct mcp_asked *asked, const struct mcp_params *params)
{
    struct laz_mcp *mcp = asked->peer->mcp;
    struct laz_json_write write;

    (void)params;
    if (!mcp_answer_begin(asked, "complete", &write))
        return;
    mcp_answer_versions(&write, "supportedVersions");
    methods_capabilities(&write);
    laz_json_add_text(&write, "instructions", mcp->instructions);
    mcp_answer_keep(asked, METHODS_KEEP_MS, &write);
    mcp_answer_end(asked, &write);
}

static void methods_ping(struct mcp_asked *asked, const struct mcp_params *params)
{
    struct laz_json_write write;

    (void)params;
    if (mcp_answer_begin(asked, "complete", &write))
        mcp_answer_end(asked, &write);
}

/* ---- tools ---------------------------------------------------------------------------------- */

static void methods_list(struct mcp_asked *asked, const struct mcp_params *params)
{
    struct laz_mcp *mcp = asked->peer->mcp;
    struct laz_json_write write;

    (void)params;
    mcp_tools_refresh(mcp);
    if (!mcp_answer_begin(asked, "complete", &write))
        return;
    laz_json_add_raw(&write, "tools", mcp->tools.data, mcp->tools.len);
    mcp_answer_keep(asked, METHODS_KEEP_MS, &write);
    mcp_answer_end(asked, &write);
}

/* ---- resources ------------------------------------------------------------------------------ */

static void methods_read(struct mcp_asked *asked, const struct mcp_params *params)
{
    struct laz_mcp *mcp = asked->peer->mcp;
    const int missing = asked->era == MCP_MODERN ? MCP_INVALID_PARAMS : MCP_NO_RESOURCE;
    struct laz_error err = {0};
    struct mcp_resource *resource = mcp_resource_find(mcp, params->uri, &err);
    struct laz_json_write write;

    if (resource) {
        mcp_answer_resource(mcp, asked, resource);
    } else if (mcp_fail_begin(asked, missing, err.text, &write)) {
        laz_json_begin_object(&write, "data");
        laz_json_add_text(&write, "uri", params->uri);
        laz_json_end_object(&write);
        mcp_answer_end(asked, &write);
    }
}

/* ---- the table ------------------------------------------------------------------------------- */

#define MCP_BOTH      (MCP_LEGACY | MCP_MODERN)
#define NEEDS(member) .needs = #member, .needs_at = offsetof(struct mcp_params, member)

static const struct mcp_method methods[] = {
    {"initialize", MCP_LEGACY, .run = methods_initialize},
    {"ping", MCP_LEGACY, .run = methods_ping},
    {"server/discover", MCP_MODERN, .run = methods_discover},
    {"tools/list", MCP_BOTH, .run = methods_list},
    {"tools/call", MCP_BOTH, .run = mcp_tools_call, NEEDS(name)},
    {"resources/list", MCP_BOTH, .run = mcp_resources_list},
    {"resources/templates/list", MCP_BOTH, .run = mcp_resources_templates},
    {"resources/read", MCP_BOTH, .run = methods_read, NEEDS(uri)},
    {"subscriptions/listen", MCP_MODERN, .run = mcp_listen, NEEDS(notifications)},
};

const struct mcp_method *mcp_method_find(const char *name)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(methods[i].name, name) == 0)
            return &methods[i];
    return NULL;
}
