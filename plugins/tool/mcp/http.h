/* SPDX-License-Identifier: MIT */
/* http.h - what the files of a server over HTTP share. */
#ifndef LAZ_PLUGIN_MCP_HTTP_H
#define LAZ_PLUGIN_MCP_HTTP_H

#include "server.h"

#include <curl/curl.h>

#define HTTP_MAX_SESSION 256 /* bytes of Mcp-Session-Id */

/* Checks url and headers, and the scheme: http is for this machine only. LAZ_EINVAL, LAZ_ENOMEM. */
int mcp_http_check(const struct mcp_server *server, struct laz_error *err);
/* Makes the headers that are the same for all requests; their values are read now. Errors:
 * LAZ_EINVAL: a variable is not set, a file cannot be read, a value is none; LAZ_ENOMEM. */
int mcp_http_headers(const struct mcp_server *server, struct curl_slist **list,
                     struct laz_error *err);
/* Appends "Name: value"; false: out of memory, *list is as it was. A value that is not plain ASCII
 * is encoded as the protocol says. */
bool mcp_http_header(struct curl_slist **list, const char *name, const char *value);
/* May this be the value of a header? */
bool mcp_http_is_value(const char *value);

#endif
