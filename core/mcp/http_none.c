/* SPDX-License-Identifier: MIT */
/* http_none.c - in place of http/ where libmicrohttpd is missing. */
#include "mcp/mcp_private.h"

int mcp_http_new(struct laz_mcp *mcp, const char *listen, const char *token_file,
                 struct mcp_http **http, struct laz_error *err)
{
    (void)mcp, (void)listen, (void)token_file;
    *http = NULL;
    return laz_error_set(
        err, LAZ_EREFUSED, 0,
        "this lazaret was built without libmicrohttpd: there is no --listen of mcp");
}

const char *mcp_http_address(const struct mcp_http *http)
{
    (void)http;
    return NULL;
}

void mcp_http_work(struct mcp_http *http)
{
    (void)http;
}

size_t mcp_http_unread(const struct mcp_http *http)
{
    (void)http;
    return 0;
}

void mcp_http_free(struct mcp_http *http)
{
    (void)http;
}
